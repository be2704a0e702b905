import { useCallback, useEffect, useState } from 'react';
import { TryAgain } from '../look/try-again';
import { SavedReportList } from '../dialogs/saved-report-list';
import { listSavedReports, type SavedReport } from '../dialogs/saved-reports';
import { describeChoices } from '../choices/choice-texts';
import { useNames } from '../choices/report-names';
import { findUnreadSaved, readSavedChoices } from './saved-choices';

interface SavedViewProps {
  readonly provision: string;
  /** The name of the report to open; empty for the list of all. */
  readonly name: string;
  readonly onOpen: (report: SavedReport) => void;
  /** Called with the reports whenever the list was read. */
  readonly onListed: (reports: readonly SavedReport[]) => void;
}

/** Lists the saved reports, or opens the one that a link names. */
export function SavedView({ provision, name, onOpen, onListed }: SavedViewProps) {
  const [listed, setListed] = useState<readonly SavedReport[]>([]);
  const choices = listed.flatMap((report) => readSavedChoices(report) ?? []);
  const donors = choices.flatMap(({ donor }) => (donor === undefined ? [] : [donor]));
  const { nameOf } = useNames(provision, { fund: [...new Set(choices.flatMap(({ funds }) => funds))], donor: [...new Set(donors)] });
  const take = useCallback(
    (reports: readonly SavedReport[]) => {
      setListed(reports);
      onListed(reports);
    },
    [onListed],
  );
  const [problem, setProblem] = useState<{ readonly text: string; readonly isMissing: boolean }>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    setProblem(undefined);
    if (name === '') return undefined;
    let isGone = false;
    listSavedReports(provision, [name]).then(
      ([report]) => {
        if (isGone) return;
        if (report) onOpen(report);
        else setProblem({ text: `There is no saved report “${name}”. It may have been deleted.`, isMissing: true });
      },
      (error: unknown) => isGone || setProblem({ text: (error as Error).message, isMissing: false }),
    );
    return () => {
      isGone = true;
    };
  }, [provision, name, onOpen, turn]);
  return (
    <main className="report" tabIndex={-1}>
      <h2>Saved reports</h2>
      {problem?.isMissing === false && <TryAgain message={problem.text} onTryAgain={() => setTurn(turn + 1)} />}
      {problem?.isMissing && (
        <p className="problem" role="alert">
          {problem.text}
        </p>
      )}
      {(name === '' || problem?.isMissing) && (
        <SavedReportList
          {...{ provision, onOpen }}
          onListed={take}
          describe={(report) => {
            const its = readSavedChoices(report);
            const unread = [...new Set(findUnreadSaved(report.query).keys())];
            const lacks = unread.length > 0 ? [`cannot be read: ${unread.join(', ')}`] : [];
            return its && <p>{[...describeChoices(its, nameOf), ...lacks].join(' · ')}</p>;
          }}
        />
      )}
    </main>
  );
}
