import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { Disclosure, DisclosurePanel, Button, Heading, type Key } from 'react-aria-components';
import { ALL_TIME } from '../../../values/dates';
import { findToday, isPeriodName } from '../../../values/periods';
import { SheetActions } from '../board/sheet-actions';
import { toReading, useBoard } from '../board/use-board';
import { copyText } from '../look/clipboard';
import type { KeptTie } from '../bank/use-bank-tie';
import { JournalDialog } from '../dialogs/journal-dialog';
import type { SavedReport } from '../dialogs/saved-reports';
import type { OpenedReport } from '../values/saved-names';
import type { SavedReports } from '../dialogs/use-saved-reports';
import { FaultBoundary, ReloadButton } from '../look/fault-boundary';
import { NoticeLine } from '../look/notice-line';
import { describeBooks } from '../tables/print-sheet';
import { mayClose, mayReadDonors, type Viewer } from '../session/gateway-client';
import { describeLost, toArrangement, type KeptView } from '../rows/filter-text';
import type { TableClient } from '../rows/table-client';
import type { ViewParameters } from '../tables/view-link';
import { describeCurrency, describeDonors, describeFetched, proposeTitle, toPrintLines } from '../choices/choice-texts';
import { toViewAddress, useLinkedView } from '../choices/linked-view';
import { presets, toKnownZone } from '../values/periods';
import { toStateText } from '../values/states';
import { findLack, findUnread, type ReportChoices } from '../choices/report-choices';
import { definitionOf, donorChoices } from '../choices/report-definitions';
import { toLinkedColumns } from './report-pivot';
import { ReportForm } from '../choices/report-form';
import { useLastDay } from '../choices/last-day';
import { ReportOutcome } from './report-result';
import { useNames } from '../choices/report-names';
import { SavedActions } from '../dialogs/saved-actions';
import { isChangedFrom, toSavedChoices, toSavedContent } from './saved-choices';
import { StateNote } from './state-note';
import {
  comparesWhole,
  explainState,
  planReport,
  useReport,
  usesLastDay,
  type ReportPlan,
  type ReportResult,
  type ReportState,
} from './use-report';

// The script of other reports does not have the sheet.
const loadSheet = () => import('../board/board-sheet');
const BoardSheet = lazy(loadSheet);

interface ReportViewProps {
  readonly provision: string;
  readonly viewer: Viewer;
  readonly client: TableClient;
  /** Holds the statement that a report is tied to, while another report is open too. */
  readonly keptTie: { current: KeptTie | undefined };
  readonly choices: ReportChoices;
  /** The rows that a followed link names. */
  readonly linked: ViewParameters | undefined;
  readonly onChange: (choices: ReportChoices) => void;
  readonly onSessionChange: () => void;
  /** The saved report that is open, if any. */
  readonly saved: SavedReport | undefined;
  /** When the open report had last been saved as its reader knows it. */
  readonly replaces: string | undefined;
  /** The name of the saved report that the address named and that is none of this kind. */
  readonly lost: string | undefined;
  readonly list: SavedReports;
  readonly onSaved: (saved: OpenedReport) => void;
  readonly onConflict: (newer: OpenedReport) => void;
  readonly onShowGraphql: (texts: { readonly query: string; readonly variables: string }) => void;
}

/** The state while the gateway is asked for the last day of a version. */
const READING: ReportState = { kind: 'running', progress: undefined };

/** A report: its form, its totals, its rows as a table or a chart, and the GraphQL that asks for all of them. */
export function ReportView({
  provision,
  viewer,
  client,
  keptTie,
  choices,
  linked,
  saved,
  replaces,
  lost,
  list,
  onChange,
  onSessionChange,
  onSaved,
  onConflict,
  onShowGraphql,
}: ReportViewProps) {
  const { title, answers, rows, tiesToBank, isSheet = false } = definitionOf(choices.report);
  const readsDonors = mayReadDonors(viewer);
  const maySave = readsDonors && rows !== 'versions';
  // A page may stay open over midnight: the next render plans “last month” anew, like the dates that the form shows. The day is that of the
  // organization, as in the gateway's files.
  const timeZone = toKnownZone(viewer.timeZone);
  const now = findToday({ ...viewer, timeZone });
  const { today, fiscalYearStart } = now;
  const { currency } = viewer;
  // The viewer itself is a new object each time the gateway is asked who is logged in. A plan of it would run the report again each time.
  const {
    lastDay,
    fault: dayFault,
    readAgain,
  } = useLastDay(provision, choices.state, { today, fiscalYearStart, timeZone }, onSessionChange);
  const needsDay = usesLastDay(choices);
  const planDay = needsDay ? lastDay : today;
  const fault = needsDay ? dayFault : '';
  const waitsForDay = planDay === undefined && fault === '';
  const plan = useMemo(
    () =>
      planDay === undefined
        ? undefined
        : planReport(choices, { today, fiscalYearStart, timeZone, currency, lastDay: planDay }, readsDonors),
    [choices, today, fiscalYearStart, timeZone, currency, planDay, readsDonors],
  );
  const savable = plan ? toSavedChoices(plan) : choices;
  const isChanged = saved !== undefined && isChangedFrom(saved, savable);
  const donors = plan && describeDonors(choices, plan);
  const told = [
    ...(isChanged ? ['The choices differ from those that were saved.'] : []),
    ...(donors !== undefined ? [donors] : isChanged ? [] : [answers]),
    ...describeCurrency(currency),
  ];
  const report = useReport(isSheet ? undefined : plan, { provision, client, onSessionChange });
  const readSheet = useMemo(
    () =>
      isSheet && plan ? toReading(provision, plan, { explain: (error) => explainState(error, provision, plan), loadSheet }) : undefined,
    [isSheet, provision, plan],
  );
  const board = useBoard(readSheet, onSessionChange);
  const { stop } = isSheet ? board : report;
  const run = fault !== '' ? readAgain : isSheet ? board.run : report.run;
  const { state } = report;
  const noted = fault !== '' ? ({ kind: 'failed', message: fault } as const) : waitsForDay ? READING : isSheet ? board.state : state;
  const result = state.kind === 'done' ? state.result : state.kind === 'running' ? state.begun : undefined;
  const named = { fund: choices.funds, donor: choices.donor === undefined ? [] : [choices.donor] };
  const names = useNames(provision, named, state.kind === 'done' ? state.result.table : undefined);
  const [copied, setCopied] = useState({ text: '', isFault: false });
  const [downloadSlot, setDownloadSlot] = useState<Element | null>(null);
  const [newsSlot, setNewsSlot] = useState<Element | null>(null);
  const [noticeSlot, setNoticeSlot] = useState<Element | null>(null);
  const slots = { download: downloadSlot, news: newsSlot, notices: noticeSlot };
  // The chart stays in front when another period is chosen.
  const [tab, setTab] = useState<Key>('table');
  const kept = useRef<KeptView>({});
  useEffect(() => setCopied({ text: '', isFault: false }), [choices]);
  const linkable = useMemo(
    () => plan && [...plan.columns, ...(linked ? toLinkedColumns(linked, plan.choices, plan.columns) : [])],
    [plan, linked],
  );
  // Rows that a link names are read by the columns, which a plan alone has.
  const unreadView = useLinkedView(planDay === undefined ? undefined : linked, linkable, kept);
  const unread = [...new Set([...findUnread(location.hash, choices).keys(), ...unreadView])];
  /** The search and the filters that a saved report and programs go without, in words. */
  const toLost = () => {
    const { columns = plan?.columns ?? [] } = kept.current;
    return describeLost(toArrangement(columns, kept.current, navigator.languages), columns, navigator.languages);
  };
  const share = async (): Promise<void> => {
    try {
      await copyText(
        location.origin +
          location.pathname +
          toViewAddress(choices, kept.current.columns ?? plan?.columns ?? [], kept.current, saved?.name),
      );
      const view = toLost() === undefined ? '' : ', the search and the filters of its table';
      setCopied({ text: `The link is copied. It holds the choices of this report${view} and nothing of its results.`, isFault: false });
    } catch (error) {
      setCopied({ text: (error as Error).message, isFault: true });
    }
  };
  return (
    <main className="report" tabIndex={-1}>
      <header className="report-head">
        <h2>{saved?.title ?? title}</h2>
        <p className={donors === undefined ? undefined : 'report-whom'}>
          {saved && `${title}. `}
          {told.join(' ')}
        </p>
        <div className="report-actions">
          {/* The result brings its button. */}
          <span ref={setDownloadSlot} className="slot" />
          {plan && maySave && (
            <SavedActions
              {...{ provision, list, saved, replaces, choices, isChanged, onSaved, onConflict }}
              proposed={proposeTitle(savable, names.nameOf)}
              current={() => toSavedContent(savable, plan.fileDocument)}
              note={toSavingNote(plan, viewer)}
              lost={toLost}
            />
          )}
          {isSheet && plan?.period.endDate !== undefined && (
            <SheetActions
              {...{ provision, fiscalYearStart }}
              endDate={plan.period.endDate}
              mayChange={mayClose(viewer)}
              isReady={board.state.kind === 'done' && board.state.figures !== undefined}
              onSaved={run}
            />
          )}
          {plan && readsDonors && tiesToBank && (
            <JournalDialog
              {...{ provision, timeZone }}
              startDate={plan.period.startDate ?? ALL_TIME.startDate}
              endDate={plan.period.endDate ?? ALL_TIME.endDate}
              asOf={toStateText(choices.state, timeZone)}
              mayChange={mayClose(viewer)}
            />
          )}
          <button type="button" onClick={() => void share()}>
            Copy link
          </button>
          {noted.kind === 'running' ? (
            <button type="button" onClick={stop}>
              Stop
            </button>
          ) : (
            <button type="button" onClick={run} disabled={!plan && fault === ''}>
              Run again
            </button>
          )}
        </div>
      </header>
      <ReportForm
        {...{ provision, choices, names, onChange, now, timeZone, readsDonors }}
        lastDay={comparesWhole(choices) ? undefined : (lastDay ?? today)}
      />
      <NoticeLine>
        {/* What has just happened is in sight before what stands. */}
        <span ref={setNewsSlot} className="slot" />
        <p className="problem" role="alert">
          {copied.isFault && copied.text}
        </p>
        <p role="status">{!copied.isFault && copied.text}</p>
        {unread.length > 0 && (
          <p className="problem" role="alert">
            A part of this link or saved report cannot be read: {unread.join(', ')}. The report is of its usual choices there.
          </p>
        )}
        {lost !== undefined && (
          <p className="problem" role="alert">
            The saved report “{lost}” is gone, or its name is that of another report now. The choices stay as they are here.
          </p>
        )}
        {timeZone !== viewer.timeZone && (
          <p className="problem" role="alert">
            This browser does not know the time zone {viewer.timeZone}. Periods such as “Last month” go by this computer’s day here.
          </p>
        )}
        <span ref={setNoticeSlot} className="slot" />
      </NoticeLine>
      {plan && board.state.kind === 'done' && (
        <FaultBoundary part="The sheet" resetKeys={[board.state]} wayBack={<ReloadButton />}>
          <Suspense fallback={<p className="note">Loading…</p>}>
            <BoardSheet
              {...{ plan, timeZone, now }}
              title={saved && !isChanged ? saved.title : title}
              organization={viewer.organization}
              figures={board.state.figures}
            />
          </Suspense>
        </FaultBoundary>
      )}
      {noted.kind !== 'done' && !result && (
        <StateNote
          {...{ title }}
          state={noted}
          onTryAgain={run}
          lack={findLack(choices)}
          lines={plan ? toPrintLines(plan, viewer.organization) : []}
        />
      )}
      {result && (
        <FaultBoundary part="The results" resetKeys={[result]}>
          <ReportOutcome
            {...{ provision, client, names, onChange, onSessionChange, tab, kept, keptTie, slots }}
            onTab={setTab}
            result={result}
            coming={state.kind === 'running' ? state.progress : undefined}
            organization={viewer.organization}
            mayOpenDonors={readsDonors}
          />
        </FaultBoundary>
      )}
      <div className="report-foot">
        {state.kind === 'done' && <p>{describeRows(state.result)}</p>}
        {plan && <GraphqlPanel plan={plan} onShowGraphql={onShowGraphql} />}
      </div>
    </main>
  );
}

/** Says what a row stands for, and of which books the rows are. */
function describeRows({ plan: { choices }, table: { version } }: ReportResult): string {
  const books = version > 0 ? ` ${describeBooks(version, choices.state !== '')}` : '';
  return `One row is ${definitionOf(choices.report).grain}.${books}`;
}

/** Says which period is saved, and where a program gets other figures than a colleague on this page. */
function toSavingNote(plan: ReportPlan, { timeZone }: Viewer): string | undefined {
  const {
    choices: { period: name, who },
    period: { startDate, endDate },
    compared,
  } = plan;
  const isNamed = isPeriodName(name) && startDate !== undefined && endDate !== undefined;
  const isOfBoth = donorChoices[who].isCompared;
  const isMoving = isNamed && !isOfBoth;
  const notes = [
    ...(isNamed && isOfBoth && compared
      ? [
          `The dates of both periods are saved as they are today: ${startDate} to ${endDate}, and ${compared.startDate} to ${compared.endDate}. Save the report anew for others.`,
        ]
      : []),
    ...(isMoving
      ? [
          `The period is “${presets[name].title}”, anew each time, here and for programs. Today that is ${startDate} to ${endDate} (${timeZone}).`,
        ]
      : []),
    ...describeFetched(plan),
  ];
  return notes.length > 0 ? notes.join(' ') : undefined;
}

interface GraphqlPanelProps {
  readonly plan: ReportPlan;
  readonly onShowGraphql: ReportViewProps['onShowGraphql'];
}

/** Shows the query of a report to those who write GraphQL. */
function GraphqlPanel({ plan, onShowGraphql }: GraphqlPanelProps) {
  const { query, variables } = plan.document;
  const text = JSON.stringify(variables, null, 2);
  return (
    <Disclosure className="graphql-panel">
      <Heading level={3}>
        <Button slot="trigger" className="field-button">
          Show as GraphQL
        </Button>
      </Heading>
      <DisclosurePanel>
        <button type="button" onClick={() => onShowGraphql({ query, variables: text })}>
          Open in a tab of GraphQL
        </button>
        <pre tabIndex={0} aria-label="Query">
          {query}
        </pre>
        <pre tabIndex={0} aria-label="Variables">
          {text}
        </pre>
      </DisclosurePanel>
    </Disclosure>
  );
}
