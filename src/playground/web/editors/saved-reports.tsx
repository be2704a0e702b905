import { Button, DialogTrigger } from 'react-aria-components';
import type { ReportQuery } from '../files/file-url';
import { ModalDialog } from '../dialogs/modal-dialog';
import { SaveDialog } from '../dialogs/save-dialog';
import { SavedReportList } from '../dialogs/saved-report-list';
import { useSavedReports } from '../dialogs/use-saved-reports';
import { withoutChoices } from '../reports/saved-choices';

interface SavedReportsProps {
  readonly provision: string;
  /** Reads the query in the editors. Throws an Error whose message the page shows. */
  readonly current: () => ReportQuery;
  readonly onOpen: (query: ReportQuery) => void;
  /** Says what of the screen is not saved. */
  readonly lost: () => string | undefined;
  readonly isReady: boolean;
  /** Called when the saved reports could not be read: the session may have ended. */
  readonly onFailure: () => void;
}

/** Saves the query in the editors as a report, and opens saved reports in them. */
export function SavedReports({ provision, current, onOpen, lost, isReady, onFailure }: SavedReportsProps) {
  // The gateway refuses whoever may not read them, and says why.
  const list = useSavedReports(provision, true, onFailure);
  /** A report that is saved here opens here: the form of Reports mode would show other figures than the file. */
  const toSave = (): ReportQuery => {
    const { query, variables } = current();
    return { query: withoutChoices(query), variables };
  };
  return (
    <>
      <SaveDialog {...{ provision, list }} current={toSave} lost={lost} isDisabled={!isReady} />
      <DialogTrigger>
        <Button isDisabled={!isReady}>Saved reports</Button>
        <ModalDialog title="Saved reports" isWide>
          {(close) => (
            <>
              <SavedReportList
                {...{ provision, list }}
                onOpen={(report) => {
                  close();
                  onOpen(report);
                }}
              />
              <div className="dialog-buttons">
                <Button onPress={close}>Close</Button>
              </div>
            </>
          )}
        </ModalDialog>
      </DialogTrigger>
    </>
  );
}
