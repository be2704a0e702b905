import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { fromPeriodEnum, type PeriodName } from '../../../values/periods';
import { copyText } from '../look/clipboard';
import { TryAgain } from '../look/try-again';
import { presets } from '../values/periods';
import { copyAdvice, toCopyText } from '../files/address-text';
import { DeleteQuestion } from './delete-question';
import { takeFile } from '../files/download';
import { feedAdvice, toSavedConnection, type FeedEnding } from '../files/feed-connection';
import { ScheduleDialog } from './schedule-dialog';
import { fetchMailing, type Mailing } from './schedules';
import {
  deleteSavedReport,
  describeSaving,
  fetchSavedAddress,
  ownParametersOf,
  toParameterTexts,
  toParameterUrl,
  toSavedLink,
  type SavedReport,
} from './saved-reports';
import type { SavedReports } from './use-saved-reports';

interface SavedReportListProps {
  readonly provision: string;
  readonly list: SavedReports;
  readonly onOpen: (report: SavedReport) => void;
  /** Says in words what a report asks for. Undefined for one that says it in its query alone. */
  readonly describe?: (report: SavedReport) => ReactNode;
  /** The time zone of the organization, with which reports can be sent on a schedule. */
  readonly timeZone?: string;
}

/** The organization's saved reports. Each is a query with a title and a lasting address, for colleagues, spreadsheets and BI tools. */
export function SavedReportList({ provision, list, onOpen, describe, timeZone }: SavedReportListProps) {
  const { reports, isRead, problem, read } = list;
  const [message, setMessage] = useState<{ readonly text: string; readonly isFault: boolean }>();
  const [doomed, setDoomed] = useState<SavedReport>();
  const section = useRef<HTMLElement>(null);
  useEffect(() => void read(), [read]);
  const [mailing, setMailing] = useState<Mailing>();
  // A page that cannot tell offers no schedules.
  const readMailing = useCallback(
    () =>
      fetchMailing(provision).then(setMailing, () => {
        setMailing(undefined);
      }),
    [provision],
  );
  useEffect(() => void readMailing(), [readMailing]);
  const scheduled = mailing?.schedules.filter(({ report }) => report === doomed?.name).length ?? 0;
  /** Does some work, and shows the text that it returns or its fault. */
  const run = async (work: () => Promise<string>): Promise<void> => {
    try {
      setMessage({ text: await work(), isFault: false });
    } catch (error) {
      setMessage({ text: (error as Error).message, isFault: true });
    }
  };
  const remove = (report: SavedReport): void => {
    setDoomed(undefined);
    void run(async () => {
      await deleteSavedReport(provision, report);
      await read();
      // The focus was on the deleted report's button.
      section.current?.focus();
      return `Deleted “${report.title}”.`;
    });
  };
  const copies = [
    ['Copy link', copyLink],
    ['Copy curl', copyCurl],
    ['Copy for Power Query', (report: SavedReport) => copyPowerQuery(provision, report)],
    ['Open in Excel', openSaved('odc')],
    ['Open in Power BI', openSaved('pbids')],
  ] as const;
  return (
    <section ref={section} className="saved-reports" aria-label="List of saved reports" tabIndex={-1}>
      {problem !== '' && <TryAgain message={problem} onTryAgain={() => void read()} />}
      <p role={message?.isFault ? 'alert' : 'status'}>{message?.text}</p>
      {isRead && reports.length === 0 && (
        <p>
          None yet. A saved report has an address that stays the same. Colleagues open it here; spreadsheets and BI tools read its rows with
          an API provision.
        </p>
      )}
      <ul>
        {reports.map((report) => (
          <li key={report.name}>
            <SavedReportFacts report={report} words={describe?.(report)} />
            <div className="dialog-buttons">
              <Button aria-label={`Open ${report.name}`} onPress={() => onOpen(report)}>
                Open
              </Button>
              {copies.map(([title, copy]) => (
                <Button key={title} aria-label={`${title}: ${report.name}`} onPress={() => void run(() => copy(report))}>
                  {title}
                </Button>
              ))}
              {mailing?.isOn && timeZone !== undefined && takesPeriod(report) && <ScheduleDialog {...{ provision, report, timeZone }} />}
              <Button
                className="delete-button"
                aria-label={`Delete ${report.title}`}
                onPress={() => {
                  setDoomed(report);
                  // Schedules may have come since the list was opened.
                  void readMailing();
                }}
              >
                Delete
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <DeleteQuestion
        title={`Delete “${doomed?.title ?? ''}”?`}
        isOpen={doomed !== undefined}
        onKeep={() => setDoomed(undefined)}
        onDelete={() => doomed && remove(doomed)}
      >
        Programs that read <code>{doomed?.path}</code> will find nothing, and colleagues cannot open it any more.
        {scheduled > 0 &&
          ` It is mailed by ${scheduled === 1 ? 'a schedule' : `${scheduled} schedules`}, deleted with it and with the log.`}
      </DeleteQuestion>
    </section>
  );
}

/** True for a report whose query can be of another period each time. Dates that it compares with would not move along. */
const takesPeriod = ({ parameters }: SavedReport): boolean =>
  ['startDate', 'endDate'].every((date) => parameters.some(({ name }) => name === date)) &&
  !parameters.some(({ name, value }) => name === 'compareWith' && value !== null);

interface SavedReportFactsProps {
  readonly report: SavedReport;
  readonly words: ReactNode;
}

function SavedReportFacts({ report, words }: SavedReportFactsProps) {
  const { title, name, path } = report;
  const period = fromPeriodEnum(report.period);
  // A file has all rows, so that the place of a page changes nothing.
  const parameters = ownParametersOf(report).filter((parameter) => !['first', 'last', 'after', 'before'].includes(parameter.name));
  return (
    <div>
      {title !== name && <strong>{title}</strong>}
      <code>{path}</code>
      <span>{describeSaving(report)}</span>
      {words}
      {period && <span>{describePeriod(report, period)}</span>}
      {parameters.length > 0 && (
        // Only programs need the parameters of a report that words describe.
        <details open={words === undefined}>
          <summary>Parameters of its address</summary>
          <dl aria-label={`Parameters of ${name}`}>
            {parameters.map((parameter) => (
              <div key={parameter.name}>
                <dt>{parameter.name}</dt>
                <dd>{toParameterTexts(parameter.value).join(', ') || 'any'}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}

/** Says a saved period, and the dates that it has today. */
function describePeriod({ parameters }: SavedReport, period: PeriodName): string {
  const dateOf = (name: string): string => toParameterTexts(parameters.find((each) => each.name === name)?.value).join('');
  if (period === 'all-time') return presets[period].title;
  return `“${presets[period].title}”, anew each time; now ${dateOf('startDate')} to ${dateOf('endDate')}`;
}

async function copyLink(report: SavedReport): Promise<string> {
  await copyText(toSavedLink(report));
  return `${report.name}: The link is copied. A colleague opens it after logging in.`;
}

async function copyCurl(report: SavedReport): Promise<string> {
  await copyText(toCopyText('curl', { url: toParameterUrl(report), columns: [] }));
  return `${report.name}: ${copyAdvice.curl}`;
}

async function copyPowerQuery(provision: string, report: SavedReport): Promise<string> {
  await copyText(toCopyText('powerQuery', await fetchSavedAddress(provision, report)));
  return `${report.name}: ${copyAdvice.powerQuery}`;
}

const openSaved =
  (ending: FeedEnding) =>
  (report: SavedReport): Promise<string> => {
    takeFile(toSavedConnection(report.name, ending));
    return Promise.resolve(`${report.name}: ${feedAdvice(ending)}`);
  };
