import { useEffect, useState } from 'react';
import { TryAgain } from '../look/try-again';
import { SavedReportList } from '../dialogs/saved-report-list';
import type { SavedReport } from '../dialogs/saved-reports';
import type { SavedReports } from '../dialogs/use-saved-reports';
import { describeChoices } from '../choices/choice-texts';
import { useNames } from '../choices/report-names';
import { findUnreadSaved, readSavedChoices } from './saved-choices';

interface SavedViewProps {
  readonly provision: string;
  /** The name of the report to open; empty for the list of all. */
  readonly name: string;
  readonly list: SavedReports;
  readonly timeZone: string;
  /** Called with the report as it is now. It must stay the same from render to render. */
  readonly onOpen: (report: SavedReport) => void;
  /** Called with the name of a report that somebody chose from the list. */
  readonly onChoose: (name: string) => void;
}

/** Lists the saved reports, or opens the one of a name as it is now. */
export function SavedView({ provision, name, list, timeZone, onOpen, onChoose }: SavedViewProps) {
  const { reports, problem, read } = list;
  const choices = reports.flatMap((report) => readSavedChoices(report) ?? []);
  const donors = choices.flatMap(({ donor }) => (donor === undefined ? [] : [donor]));
  const { nameOf } = useNames(provision, { fund: [...new Set(choices.flatMap(({ funds }) => funds))], donor: [...new Set(donors)] });
  const [isMissing, setIsMissing] = useState(false);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    setIsMissing(false);
    if (name === '') return undefined;
    let isLeft = false;
    void read().then((found) => {
      if (isLeft || !found) return;
      const report = found.find((each) => each.name === name);
      if (report) onOpen(report);
      else setIsMissing(true);
    });
    return () => {
      isLeft = true;
    };
  }, [name, read, onOpen, turn]);
  const isList = name === '' || isMissing;
  return (
    <main className="report" tabIndex={-1}>
      <h2>Saved reports</h2>
      {!isList && problem !== '' && <TryAgain message={problem} onTryAgain={() => setTurn(turn + 1)} />}
      {isMissing && (
        <p className="problem" role="alert">
          There is no saved report “{name}”. It may have been deleted.
        </p>
      )}
      {isList && (
        <SavedReportList
          {...{ provision, list, timeZone }}
          onOpen={(report) => onChoose(report.name)}
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
