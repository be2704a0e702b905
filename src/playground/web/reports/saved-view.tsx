import { useEffect, useState } from 'react';
import { SavedReportList } from '../files/saved-report-list';
import { listSavedReports, type SavedReport } from '../files/saved-reports';

interface SavedViewProps {
  readonly provision: string;
  /** The name of the report to open; empty for the list of all. */
  readonly name: string;
  readonly onOpen: (report: SavedReport) => void;
}

/** Lists the saved reports, or opens the one that a link names. */
export function SavedView({ provision, name, onOpen }: SavedViewProps) {
  const [problem, setProblem] = useState('');
  useEffect(() => {
    setProblem('');
    if (name === '') return undefined;
    let isGone = false;
    listSavedReports(provision, [name]).then(
      ([report]) => {
        if (isGone) return;
        if (report) onOpen(report);
        else setProblem(`There is no saved report “${name}”. It may have been deleted.`);
      },
      (error: unknown) => isGone || setProblem((error as Error).message),
    );
    return () => {
      isGone = true;
    };
  }, [provision, name, onOpen]);
  return (
    <main className="report">
      <h2>Saved reports</h2>
      <p className="problem" role="alert">
        {problem}
      </p>
      {(name === '' || problem !== '') && <SavedReportList {...{ provision, onOpen }} />}
    </main>
  );
}
