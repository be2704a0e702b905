import { useEffect, useMemo, useState } from 'react';
import type { HomeQuery } from '../../../generated/operations/graphql';
import { findToday } from '../../../values/periods';
import { defaultChoices, toAddress, type ReportChoices } from '../choices/report-choices';
import type { ReportId } from '../choices/report-definitions';
import { useClosesChanges } from '../choices/closes';
import type { SavedReports } from '../dialogs/use-saved-reports';
import { TryAgain } from '../look/try-again';
import { isStopped } from '../rows/gateway-faults';
import { mayClose, mayReadDonors, type Viewer } from '../session/gateway-client';
import { createCellFormat, toWord } from '../values/cell-format';
import { toKnownZone, type ComparedPeriod } from '../values/periods';
import { fetchHome, toDifference, toHomeDays, type Difference, type HomeDays } from './home-figures';

interface HomePageProps {
  readonly provision: string;
  readonly viewer: Viewer;
  /** The saved reports, which the menu names too. */
  readonly list: SavedReports;
  /** Opens the dialog in which months are closed. */
  readonly onClose: () => void;
  /** Called when the figures could not be read: the session may have ended. */
  readonly onSessionChange: () => void;
}

type HomeState =
  | { readonly kind: 'reading' }
  | { readonly kind: 'done'; readonly of: unknown; readonly figures: HomeQuery }
  | { readonly kind: 'failed'; readonly message: string };

/** More saved reports than these are in the list of all. */
const MAX_SAVED = 6;

const linkTo = (report: ReportId, choices: Partial<ReportChoices> = {}): string => toAddress({ ...defaultChoices(report), ...choices });

/** The home says where the books stand today. Each figure is a link to the report that shows it. */
export function HomePage({ provision, viewer, list, onClose, onSessionChange }: HomePageProps) {
  const timeZone = toKnownZone(viewer.timeZone);
  const { today, fiscalYearStart } = findToday({ ...viewer, timeZone });
  const question = useMemo(() => ({ provision, days: toHomeDays({ today, fiscalYearStart }) }), [provision, today, fiscalYearStart]);
  const { days } = question;
  const [turn, setTurn] = useState(0);
  const changes = useClosesChanges();
  const { reports: saved, problem, read } = list;
  const [state, setState] = useState<HomeState>({ kind: 'reading' });
  useEffect(() => {
    const controller = new AbortController();
    // Figures that are read again because a month was closed stay until then, and with them the focus.
    setState((before) => (before.kind === 'done' && before.of === question ? before : { kind: 'reading' }));
    fetchHome(question.provision, question.days, controller.signal).then(
      (figures) => controller.signal.aborted || setState({ kind: 'done', of: question, figures }),
      (error: unknown) => {
        if (controller.signal.aborted || isStopped(error)) return;
        setState({ kind: 'failed', message: (error as Error).message });
        onSessionChange();
      },
    );
    return () => controller.abort();
  }, [question, turn, changes, onSessionChange]);
  const readsDonors = mayReadDonors(viewer);
  const tryAgain = (): void => {
    setTurn(turn + 1);
    void read();
  };
  return (
    <main className="report home" tabIndex={-1}>
      <header>
        <h2>The books today</h2>
        <p>
          {longDate.format(toTime(today))}, by the clock of {timeZone}. Each gift counts once, and pending deposits are included.
        </p>
      </header>
      {state.kind === 'reading' && <p role="status">Reading…</p>}
      {state.kind === 'failed' && <TryAgain message={state.message} onTryAgain={tryAgain} />}
      {state.kind === 'done' &&
        (state.figures.dataVersion ? (
          <Figures
            {...{ days, timeZone, readsDonors }}
            currency={viewer.currency}
            figures={state.figures}
            onClose={mayClose(viewer) ? onClose : undefined}
          />
        ) : (
          <p>The books are empty: nothing has been imported yet. Ask your administrator for an import.</p>
        ))}
      <section aria-label="Saved reports">
        <h3>Saved reports</h3>
        {!readsDonors && <p>Saved reports may show donors, which you may not read. Ask your administrator for the right.</p>}
        {/* A gateway that cannot be reached has said so above. */}
        {readsDonors && problem !== '' && state.kind !== 'failed' && <TryAgain message={problem} onTryAgain={() => void read()} />}
        {list.isRead && saved.length === 0 && <p>None yet. “Save” on a report gives it a title, an address and a place here.</p>}
        {saved.length > 0 && (
          <ul className="home-saved">
            {saved.slice(0, MAX_SAVED).map(({ name, title }) => (
              <li key={name}>
                <a href={`#saved/${name}`}>{title}</a>
              </li>
            ))}
            {saved.length > MAX_SAVED && (
              <li>
                <a href="#saved/">All {saved.length} saved reports</a>
              </li>
            )}
          </ul>
        )}
      </section>
    </main>
  );
}

const longDate = new Intl.DateTimeFormat(navigator.languages, { dateStyle: 'full', timeZone: 'UTC' });
const mediumDate = new Intl.DateTimeFormat(navigator.languages, { dateStyle: 'medium', timeZone: 'UTC' });
const toTime = (date: string): Date => new Date(`${date}T00:00:00Z`);
const writeDates = (start: string, end: string): string => mediumDate.formatRange(toTime(start), toTime(end));

interface FiguresProps {
  readonly days: HomeDays;
  readonly timeZone: string;
  readonly readsDonors: boolean;
  /** The currency of all amounts. Cells of the table of deposits go without it. */
  readonly currency: string | null;
  readonly figures: HomeQuery;
  /** Opens the dialog of closes; undefined for a person who may not close months. */
  readonly onClose: (() => void) | undefined;
}

function Figures({ days, timeZone, readsDonors, currency, figures, onClose }: FiguresProps) {
  const { format } = createCellFormat(navigator.languages, currency);
  const { month, againstYear, pending, dataVersion, closedThrough } = figures;
  const { startDate, today, monthBefore, yearBefore } = days;
  return (
    <>
      <dl className="home-cards">
        {month && (
          <div className="card">
            <dt>This month so far, pending included</dt>
            <dd>
              <a href={linkTo('deposits', { period: 'month-to-date' })}>{format(month.all.byTransaction.amount, 'money')}</a>
              <span>
                {countOf(month.all.transactions, 'gift')} of {writeDates(startDate, today)}
              </span>
              <span>{format(month.pending.byTransaction.amount, 'money')} of it is pending</span>
              <Against
                href={linkTo('deposits', { period: 'month-to-date', compare: 'before' })}
                period={monthBefore}
                currency={currency}
                of={toDifference(month)}
              />
              <Against
                href={linkTo('deposits', { period: 'month-to-date', compare: 'last-year' })}
                period={yearBefore}
                currency={currency}
                of={toDifference(againstYear)}
              />
            </dd>
          </div>
        )}
        {pending && (
          <div className="card">
            <dt>Pending: not at the bank yet</dt>
            <dd>
              <a href={linkTo('pending')}>{format(pending.all.byTransaction.amount, 'money')}</a>
              <span>
                {countOf(pending.all.transactions, 'gift')} in {countOf(pending.all.deposits, 'deposit')}, of all dates
              </span>
            </dd>
          </div>
        )}
        {dataVersion && (
          <div className="card">
            <dt>Last change of the books</dt>
            <dd>
              <a href={linkTo('history')}>{format(dataVersion.recordedAt, 'instant', timeZone)}</a>
              <span>
                Version {format(dataVersion.number, 'count')}, {toWord(dataVersion.cause).toLowerCase()}: {describeChange(dataVersion)}
              </span>
              <span>{closedThrough ? `Closed through ${format(closedThrough, 'date')}` : 'No month is closed'}</span>
              {onClose ? (
                <button type="button" className="home-door" onClick={onClose}>
                  {closedThrough ? 'Close another, or reopen…' : 'Close a month…'}
                </button>
              ) : (
                !closedThrough && <span>Ask your administrator who may close months.</span>
              )}
            </dd>
          </div>
        )}
      </dl>
      <RecentDeposits {...{ days, readsDonors, currency, figures }} />
    </>
  );
}

interface AgainstProps extends Pick<FiguresProps, 'currency'> {
  /** The report that compares both. */
  readonly href: string;
  readonly period: ComparedPeriod;
  readonly of: Difference | undefined;
}

/** Says what came in on the same days of another month, and how much more or less it is now. */
function Against({ href, period: { startDate, endDate }, currency, of }: AgainstProps) {
  if (!of) return null;
  const { format, sign } = createCellFormat(navigator.languages, currency);
  return (
    <span>
      <a href={href}>
        {sign(of.difference, 'money')} ({of.percentage === undefined ? 'no percentage' : sign(of.percentage, 'percent')})
      </a>{' '}
      against {format(of.amount, 'money')} of {writeDates(startDate, endDate)}
    </span>
  );
}

function RecentDeposits({ days, readsDonors, currency, figures: { deposits, recent } }: Omit<FiguresProps, 'timeZone' | 'onClose'>) {
  const { format } = createCellFormat(navigator.languages);
  if (!deposits || !recent) return null;
  const isCut = recent.all.deposits > deposits.nodes.length;
  const all = linkTo('bank-tie-out', { period: `${days.recentDate}..${days.today}`, pending: 'WITH' });
  /** The gifts of a deposit: with donors for those who may read them. */
  const giftsOf = (deposit: string): string => linkTo(readsDonors ? 'gifts' : 'largest', { period: 'all-time', pending: 'WITH', deposit });
  return (
    <section aria-label="Deposits of the last ten days">
      <h3>Deposits of the last ten days</h3>
      {deposits.nodes.length === 0 ? (
        <p>
          None since {format(days.recentDate, 'date')}. <a href={linkTo('bank-tie-out')}>Deposits of last month</a>
        </p>
      ) : (
        <>
          <table className="home-deposits">
            <thead>
              <tr>
                <th scope="col">Date</th>
                <th scope="col">Deposit</th>
                <th scope="col">Status</th>
                <th scope="col">Gifts</th>
                <th scope="col">Received</th>
              </tr>
            </thead>
            <tbody>
              {deposits.nodes.map(({ depositId, depositDate, status, totals }) => (
                <tr key={depositId}>
                  <td>
                    <a href={giftsOf(depositId)} aria-label={`Open deposit ${depositId}, ${format(depositDate, 'date')}`}>
                      {format(depositDate, 'date')}
                    </a>
                  </td>
                  <td>{depositId}</td>
                  <td>{toWord(status)}</td>
                  <td>{format(totals?.transactions ?? null, 'count')}</td>
                  <td>{format(totals?.byTransaction.amount ?? null, 'money')}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p>
            {isCut && `The newest ${format(deposits.nodes.length, 'count')} of ${format(recent.all.deposits, 'count')} are shown. `}
            <a href={all}>{`${isCut ? 'All ' : ''}${countOf(recent.all.deposits, 'deposit')}`}</a> since {format(days.recentDate, 'date')}:{' '}
            {createCellFormat(navigator.languages, currency).format(recent.all.byTransaction.amount, 'money')} in{' '}
            {countOf(recent.all.transactions, 'gift')}
          </p>
        </>
      )}
    </section>
  );
}

const countOf = (count: number, thing: string): string =>
  `${createCellFormat(navigator.languages).format(count, 'count')} ${thing}${count === 1 ? '' : 's'}`;

function describeChange({ linesAdded, linesChanged, linesRemoved }: NonNullable<HomeQuery['dataVersion']>): string {
  const { format } = createCellFormat(navigator.languages);
  const parts = [
    [linesAdded, 'added'],
    [linesChanged, 'changed'],
    [linesRemoved, 'removed'],
  ] as const;
  const told = parts.filter(([count]) => count > 0);
  if (told.length === 0) return 'no line is different';
  return told.map(([count, verb], n) => `${n === 0 ? countOf(count, 'line') : format(count, 'count')} ${verb}`).join(', ');
}
