import { useEffect, useState } from 'react';
import { SaveDialog, type SaveDialogProps } from './save-dialog';
import { proposeCopy, type OpenedReport } from '../values/saved-names';
import { isConflict, saveReport, type SavedReport } from './saved-reports';

interface SavedActionsProps extends Pick<SaveDialogProps, 'provision' | 'list' | 'current' | 'note' | 'lost'> {
  /** The saved report that is open; undefined for a report as it begins. */
  readonly saved: SavedReport | undefined;
  /** When the open report had last been saved as its reader knows it. Update replaces that one alone. */
  readonly replaces: string | undefined;
  /** The choices on the screen: another object whenever they change. */
  readonly choices: object;
  /** True when the choices on the screen are other ones than those that were saved. */
  readonly isChanged: boolean;
  /** The title that is proposed for a report that is saved for the first time. */
  readonly proposed: string;
  /** Called with the report that was saved, when the list has it. */
  readonly onSaved: (saved: OpenedReport) => void;
  /** Called with the report as it is now, when its reader has read that somebody else saved it. */
  readonly onConflict: (newer: OpenedReport) => void;
}

interface Outcome {
  readonly of: string;
  readonly text: string;
  readonly isFault: boolean;
}

/** Saves a report: under a new title, or in the place of the saved report that is open. */
export function SavedActions({ saved, replaces, choices, isChanged, proposed, onSaved, onConflict, ...dialog }: SavedActionsProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => setOutcome(undefined), [choices]);
  const { provision, current, list } = dialog;
  const update = async ({ name, title }: SavedReport): Promise<void> => {
    setIsBusy(true);
    try {
      const next = await saveReport(provision, { ...current(), name, title, replaces });
      setOutcome({ of: name, text: `Updated “${title}”.`, isFault: false });
      await list.read();
      onSaved(next);
    } catch (error) {
      setOutcome({ of: name, text: (error as Error).message, isFault: true });
      const newer = (await list.read())?.find((each) => each.name === name);
      if (newer && isConflict(error)) onConflict(newer);
    }
    setIsBusy(false);
  };
  // The reason of a failure stays although the report is gone from the list.
  const told = outcome && (outcome.isFault || (outcome.of === saved?.name && !isChanged)) ? outcome : undefined;
  return (
    <>
      {saved && (
        <button type="button" onClick={() => void update(saved)} disabled={!isChanged || isBusy || replaces === undefined}>
          Update
        </button>
      )}
      <SaveDialog {...dialog} {...{ onSaved }} label={saved ? 'Save as' : 'Save'} title={saved ? proposeCopy(saved.title) : proposed} />
      {told && (
        <span className={told.isFault ? 'problem' : undefined} role={told.isFault ? 'alert' : 'status'}>
          {told.text}
        </span>
      )}
    </>
  );
}
