import { useEffect, useState } from 'react';
import type { ReceiptsQuery } from '../../../generated/operations/graphql';
import { ALL_TIME } from '../../../values/dates';
import receiptsQuery from '../queries/receipts.graphql?raw';
import { askGateway } from '../session/gateway-client';
import { createCellFormat } from '../values/cell-format';
import { FIRST_DAY } from '../values/periods';
import { filterTitles } from './choice-texts';
import { fetchCloses, useClosesChanges, type Close } from './closes';
import type { ReportChoices } from './report-choices';
import { StateField } from './state-field';

interface SinceFieldProps {
  readonly provision: string;
  readonly choices: ReportChoices;
  readonly today: string;
  /** The time zone in which closes and files are dated. */
  readonly timeZone: string;
  readonly onChange: (choices: ReportChoices) => void;
}

/** Asks for the version that changes begin with: that of a file that the person took, of a day's end, or one by its number. */
export function SinceField({ provision, choices, today, timeZone, onChange }: SinceFieldProps) {
  const [files, setFiles] = useState<readonly TakenFile[]>();
  const [closes, setCloses] = useState<readonly Close[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const controller = new AbortController();
    askGateway<ReceiptsQuery>(provision, { query: receiptsQuery }, controller.signal).then(
      ({ receipts, history }) => setFiles(toTakenFiles(receipts?.nodes ?? [], history?.earliest.number ?? 0, timeZone)),
      (error: unknown) => {
        if (!controller.signal.aborted) setProblem((error as Error).message);
      },
    );
    return () => controller.abort();
  }, [provision, timeZone]);
  const changes = useClosesChanges();
  useEffect(() => {
    const controller = new AbortController();
    fetchCloses(provision, { signal: controller.signal }).then(
      (found) => setCloses(found.filter(({ isKept }) => isKept)),
      () => undefined,
    );
    return () => controller.abort();
  }, [provision, changes]);
  const { format } = createCellFormat(navigator.languages);
  return (
    <div className="since">
      <StateField
        key={choices.since}
        title={filterTitles.since}
        {...{ today }}
        state={choices.since}
        onChange={(since) => onChange({ ...choices, since })}
      />
      {problem !== '' && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {closes.length > 0 && (
        <section aria-label="Closes">
          <h3>or the close of a month</h3>
          <ul>
            {closes.map(({ version, startDate, through, closedAt }) => (
              <li key={version}>
                <button
                  type="button"
                  onClick={() =>
                    // A close covers dates of deposits.
                    onChange({ ...choices, since: String(version), period: `${startDate}..${through}`, dateBasis: 'DEPOSIT_DATE' })
                  }
                >
                  <strong>
                    {startDate === FIRST_DAY ? 'Through' : `${format(startDate, 'date')} –`} {format(through, 'date')}
                  </strong>
                  <span>
                    closed {format(closedAt, 'instant', timeZone)} ({timeZone})
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {files && (
        <section aria-label="Files that you took">
          <h3>{files.length > 0 ? 'or when you took this file' : 'The gateway has sent you no file of lines yet.'}</h3>
          <p className="note">A spreadsheet that this page wrote names its version of the books on its second sheet: type it above.</p>
          <ul>
            {files.map((file) => (
              <li key={file.id}>
                <button type="button" onClick={() => onChange({ ...choices, ...file.choices })}>
                  <strong>{file.name}</strong>
                  <span>{file.about}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** A file that the person took, with the choices that it stands for. */
interface TakenFile {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  readonly choices: Partial<ReportChoices>;
}

type Receipt = NonNullable<ReceiptsQuery['receipts']>['nodes'][number];

/** The files that arrived whole and whose state is kept. Of those of one range and one state, the newest stands for all. */
function toTakenFiles(receipts: readonly Receipt[], earliest: number, timeZone: string): TakenFile[] {
  const { format } = createCellFormat(navigator.languages);
  const known = new Map<string, TakenFile>();
  for (const { id, operation, startedAt, outcome, startDate, endDate, pending, conditions, dataVersion } of receipts) {
    // A file of changes is of all days, whatever it was asked for.
    if (
      outcome !== 'WHOLE' ||
      dataVersion === null ||
      // Version 0 is that of books without a change.
      dataVersion < Math.max(earliest, 1) ||
      !startDate ||
      !endDate ||
      conditions.some((name) => name.startsWith('from=')) ||
      // A journal has no lines.
      operation.startsWith('export/journal.')
    )
      continue;
    const isAllTime = startDate === ALL_TIME.startDate && endDate === ALL_TIME.endDate;
    const isOfGifts = conditions.includes('date_basis=TRANSACTION_DATE');
    const range = isAllTime ? 'All time' : `${format(startDate, 'date')} – ${format(endDate, 'date')}`;
    const isNarrowed = conditions.some((name) => !name.includes('=') && name !== 'pending');
    const key = JSON.stringify([startDate, endDate, isOfGifts, pending, isNarrowed, dataVersion]);
    if (known.has(key)) continue;
    known.set(key, {
      id,
      name: isOfGifts ? `${range}, by gift date` : range,
      about: [
        `${format(startedAt, 'instant', timeZone)} (${timeZone}), version ${format(dataVersion, 'count')}`,
        toReport(operation),
        ...(isNarrowed ? ['narrowed by filters, which are not kept'] : []),
      ].join(' · '),
      choices: {
        since: String(dataVersion),
        period: isAllTime ? 'all-time' : `${startDate}..${endDate}`,
        dateBasis: isOfGifts ? 'TRANSACTION_DATE' : 'DEPOSIT_DATE',
        ...(pending && { pending }),
      },
    });
  }
  return [...known.values()];
}

/** The report of a file in words. The page reads the lines of its own reports as such a file. */
function toReport(operation: string): string {
  const name = operation.slice(operation.lastIndexOf('/') + 1);
  if (operation.startsWith('reports/')) return name;
  return name.startsWith('deposit-summary') ? 'totals' : 'lines';
}
