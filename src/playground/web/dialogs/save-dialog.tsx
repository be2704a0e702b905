import { useEffect, useState, type SubmitEvent } from 'react';
import { Button, DialogTrigger, FieldError, Input, Label, Text, TextField } from 'react-aria-components';
import { ModalDialog } from './modal-dialog';
import { fromPeriodEnum } from '../../../values/periods';
import { MAX_NAME_LENGTH, MAX_TITLE_LENGTH } from '../../../values/saved-report-limits';
import { presets } from '../values/periods';
import { NAME_PATTERN, proposeName, type OpenedReport } from '../values/saved-names';
import { describeSaving, saveReport, type SavedContent } from './saved-reports';
import type { SavedReports } from './use-saved-reports';

export interface SaveDialogProps {
  readonly provision: string;
  /** The reports whose names are taken. */
  readonly list: SavedReports;
  /** The text of the button. */
  readonly label?: string;
  /** The title that the dialog proposes. */
  readonly title?: string;
  /** Reads the query to save. Throws an Error whose message the dialog shows. */
  readonly current: () => SavedContent;
  /** A sentence about what is saved. */
  readonly note?: string | undefined;
  /** Says what of the screen is not saved, when the dialog opens. */
  readonly lost?: () => string | undefined;
  readonly isDisabled?: boolean;
  /** Called with the report that was saved, when the list has it. */
  readonly onSaved?: (saved: OpenedReport) => void;
}

/** A button, and the dialog in which somebody gives a report a title and a lasting address. */
export function SaveDialog({ isDisabled, label = 'Save', ...props }: SaveDialogProps) {
  return (
    <DialogTrigger>
      <Button isDisabled={isDisabled}>{label}</Button>
      <ModalDialog title="Save the report">{(close) => <SaveForm {...props} onClose={close} />}</ModalDialog>
    </DialogTrigger>
  );
}

function SaveForm({
  provision,
  list,
  title: proposed = '',
  current,
  note,
  lost,
  onSaved,
  onClose,
}: SaveDialogProps & { readonly onClose: () => void }) {
  const [title, setTitle] = useState(proposed);
  const [warning] = useState(lost);
  const [ownName, setOwnName] = useState<string>();
  const [isSaving, setIsSaving] = useState(false);
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly isFault: boolean }>();
  const name = ownName ?? proposeName(title);
  const { problem, read } = list;
  const earlier = list.reports.find((report) => report.name === name);
  const earlierPeriod = earlier && fromPeriodEnum(earlier.period);
  const isSaved = outcome?.isFault === false;
  useEffect(() => void read(), [read]);
  const save = async (): Promise<void> => {
    const input = { ...current(), name, title: title.trim() || earlier?.title || name, replaces: earlier?.updatedAt };
    const saved = await saveReport(provision, input);
    setOutcome({ text: earlier ? `Replaced ${name}.` : `Saved as ${name}.`, isFault: false });
    await read();
    onSaved?.(saved);
  };
  const tellFault = async (error: unknown): Promise<void> => {
    setOutcome({ text: (error as Error).message, isFault: true });
    // A colleague may have saved the report meanwhile: the next press replaces what is listed then.
    await read();
  };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setIsSaving(true);
    void save()
      .catch(tellFault)
      .finally(() => setIsSaving(false));
  };
  const change = (apply: () => void): void => {
    setOutcome(undefined);
    apply();
  };
  return (
    <form onSubmit={submit}>
      <TextField
        value={title}
        onChange={(value) => change(() => setTitle(value))}
        maxLength={MAX_TITLE_LENGTH}
        autoFocus
        autoComplete="off"
      >
        <Label>Title</Label>
        <Input placeholder="Gifts of January" />
      </TextField>
      <TextField
        value={name}
        onChange={(value) => change(() => setOwnName(value))}
        isRequired
        pattern={NAME_PATTERN}
        maxLength={MAX_NAME_LENGTH}
        autoComplete="off"
      >
        <Label>Name in the address</Label>
        <Input placeholder="gifts-of-january" />
        <Text slot="description">
          Spreadsheets and programs find its rows at <code>/reports/{name === '' ? 'NAME' : name}.csv</code>
        </Text>
        {/* The message has room of its own: it goes when the pointer leaves the field for Save, which must not move away under it. */}
        <div className="dialog-room">
          <FieldError>{({ validationDetails }) => (validationDetails.valueMissing ? 'Give it a name.' : NAME_ADVICE)}</FieldError>
        </div>
      </TextField>
      {warning !== undefined && <p role="alert">{warning}</p>}
      {note !== undefined && <p>{note}</p>}
      {earlier && !isSaved && (
        <p role="alert">
          This name is taken: “{earlier.title}”, saved by {describeSaving(earlier)}. A new one takes its place for everybody.
          {earlierPeriod && ` The one that is there has “${presets[earlierPeriod].title}” anew each time.`}
        </p>
      )}
      <p role={(outcome?.isFault ?? problem !== '') ? 'alert' : 'status'}>{outcome?.text ?? problem}</p>
      <div className="dialog-buttons">
        {/* A second click would find its own report, and ask whether to replace it. */}
        <Button type="submit" className="main-button" isPending={isSaving}>
          {earlier && !isSaved ? 'Replace' : 'Save'}
        </Button>
        <Button onPress={onClose}>Close</Button>
      </div>
    </form>
  );
}

const NAME_ADVICE = 'Write lower-case letters and digits, with single hyphens between them.';
