import { useEffect, useState } from 'react';
import { SavedReportList } from '../files/saved-report-list';
import { listSavedReports, type SavedReport } from '../files/saved-reports';
import { describeChoices } from './choice-texts';
import type { ReportChoices } from './report-choices';
import { useNames } from './report-names';
import { readSavedChoices } from './saved-choices';

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
      {(name === '' || problem !== '') && (
        <SavedReportList
          {...{ provision, onOpen }}
          describe={(report) => {
            const choices = readSavedChoices(report);
            return choices && <ChoiceWords {...{ provision, choices }} />;
          }}
        />
      )}
    </main>
  );
}

interface ChoiceWordsProps {
  readonly provision: string;
  readonly choices: ReportChoices;
}

/** The choices of a saved report in a line of words. */
function ChoiceWords({ provision, choices }: ChoiceWordsProps) {
  const { funds, donor } = choices;
  const { nameOf } = useNames(provision, { fund: funds, donor: donor === undefined ? [] : [donor] });
  return <p>{describeChoices(choices, nameOf).join(' · ')}</p>;
}
