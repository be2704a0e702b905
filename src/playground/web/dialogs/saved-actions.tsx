import { useState } from 'react';
import { SaveDialog, type SaveDialogProps } from './save-dialog';
import { saveReport, type SavedReport } from './saved-reports';

interface SavedActionsProps extends Pick<SaveDialogProps, 'provision' | 'current' | 'note' | 'lost'> {
  /** The saved report that is open; undefined for a report as it begins. */
  readonly saved: SavedReport | undefined;
  /** True when the choices on the screen are other ones than those that were saved. */
  readonly isChanged: boolean;
  /** The title that is proposed for a report that is saved for the first time. */
  readonly proposed: string;
  /** Called with the name of the report that was saved, and with undefined when the list may be out of date. */
  readonly onSaved: (name: string | undefined) => void;
}

interface Outcome {
  readonly text: string;
  readonly isFault: boolean;
}

/** Saves a report: under a new title, or in the place of the saved report that is open. */
export function SavedActions({ saved, isChanged, proposed, onSaved, ...dialog }: SavedActionsProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome & { readonly of: string }>();
  const update = async ({ name, title, updatedAt }: SavedReport): Promise<void> => {
    setIsBusy(true);
    try {
      await saveReport(dialog.provision, { ...dialog.current(), name, title, replaces: updatedAt });
      setOutcome({ of: name, text: `Updated “${title}”.`, isFault: false });
      onSaved(name);
    } catch (error) {
      setOutcome({ of: name, text: (error as Error).message, isFault: true });
      // A colleague may have saved the report meanwhile: the next press replaces what is listed then.
      onSaved(undefined);
    }
    setIsBusy(false);
  };
  const told = outcome && outcome.of === saved?.name && (outcome.isFault || !isChanged) ? outcome : undefined;
  return (
    <>
      {saved && (
        <button type="button" onClick={() => void update(saved)} disabled={!isChanged || isBusy}>
          Update
        </button>
      )}
      <SaveDialog {...dialog} {...{ onSaved }} label={saved ? 'Save as' : 'Save'} title={saved ? `${saved.title} (copy)` : proposed} />
      {told && (
        <span className={told.isFault ? 'problem' : undefined} role={told.isFault ? 'alert' : 'status'}>
          {told.text}
        </span>
      )}
    </>
  );
}
