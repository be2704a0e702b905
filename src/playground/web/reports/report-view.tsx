import { useEffect, useMemo, useRef, useState } from 'react';
import { Disclosure, DisclosurePanel, Button, Heading, Tab, TabList, TabPanel, Tabs, type Key } from 'react-aria-components';
import { findToday, isPeriodName } from '../../../values/periods';
import { copyText } from '../look/clipboard';
import { DownloadDialog } from '../dialogs/download-dialog';
import type { SavedReport } from '../dialogs/saved-reports';
import { FaultBoundary } from '../look/fault-boundary';
import { describeBooks, NotePrint } from '../tables/print-sheet';
import { mayReadDonors, type Viewer } from '../session/gateway-client';
import { DataTable, type TableView } from '../tables/data-table';
import { describeLost, toArrangement, type KeptView } from '../rows/filter-text';
import type { TableClient } from '../rows/table-client';
import type { Row } from '../values/table-types';
import type { ViewParameters } from '../tables/view-link';
import { describeFigures, FigureCards } from './figure-cards';
import { describeFetched, proposeTitle, toConditions, toPrintLines, writeValue } from '../choices/choice-texts';
import { toViewAddress, useLinkedView } from '../choices/linked-view';
import { describeCrossings } from './period-crossings';
import { presets, toKnownZone } from '../values/periods';
import { BridgeChart, BridgeTable, describeBridge } from './change-bridge';
import { ReportChart } from './report-chart';
import { defaultChoices, findUnread, toAddress, type ReportChoices } from '../choices/report-choices';
import { definitionOf, hasChart, reportDefinitions, type ReportDefinition } from '../choices/report-definitions';
import { toTotals } from './report-figures';
import type { ReportColumn } from './report-columns';
import { toDownload, toFileName } from './report-download';
import { ShapeField, toLinkedColumns, usePivot, type ShownTable } from './report-pivot';
import { ReportForm } from '../choices/report-form';
import { useNames, type Names } from '../choices/report-names';
import { SavedActions } from './saved-actions';
import { readSavedChoices, toSavedContent } from './saved-choices';
import { StateNote } from './state-note';
import { describeLate } from './late-changes';
import { LateNote } from './late-note';
import { planReport, useReport, type ReportPlan, type ReportResult } from './use-report';

interface ReportViewProps {
  readonly provision: string;
  readonly viewer: Viewer;
  readonly client: TableClient;
  readonly choices: ReportChoices;
  /** The rows that a followed link names. */
  readonly linked: ViewParameters | undefined;
  readonly onChange: (choices: ReportChoices) => void;
  readonly onSessionChange: () => void;
  /** The saved report that is open, if any. */
  readonly saved: SavedReport | undefined;
  /** Called with the name of the report that was saved, and with undefined when the list may be out of date. */
  readonly onSaved: (name: string | undefined) => void;
  readonly onShowGraphql: (texts: { readonly query: string; readonly variables: string }) => void;
}

/** A report: its form, its totals, its rows as a table or a chart, and the GraphQL that asks for all of them. */
export function ReportView({
  provision,
  viewer,
  client,
  choices,
  linked,
  saved,
  onChange,
  onSessionChange,
  onSaved,
  onShowGraphql,
}: ReportViewProps) {
  const { title, answers, rows, needs } = definitionOf(choices.report);
  const readsDonors = mayReadDonors(viewer);
  const maySave = readsDonors && rows !== 'versions';
  const savedChoices = saved && readSavedChoices(saved);
  const isChanged = savedChoices !== undefined && toAddress(savedChoices) !== toAddress(choices);
  // A page may stay open over midnight: the next render plans “last month” anew, like the dates that the form shows. The day is that of the
  // organization, as in the gateway's files.
  const timeZone = toKnownZone(viewer.timeZone);
  const now = findToday({ ...viewer, timeZone });
  const { today, fiscalYearStart } = now;
  // The viewer itself is a new object each time the gateway is asked who is logged in. A plan of it would run the report again each time.
  const plan = useMemo(
    () => planReport(choices, { today, fiscalYearStart, timeZone }, readsDonors),
    [choices, today, fiscalYearStart, timeZone, readsDonors],
  );
  const { state, run, stop } = useReport(plan, { provision, client, onSessionChange });
  const named = { fund: choices.funds, donor: choices.donor === undefined ? [] : [choices.donor] };
  const names = useNames(provision, named, state.kind === 'done' ? state.result.table : undefined);
  const [copied, setCopied] = useState('');
  // The chart stays in front when another period is chosen.
  const [tab, setTab] = useState<Key>('table');
  const kept = useRef<KeptView>({});
  useEffect(() => setCopied(''), [choices]);
  const linkable = useMemo(
    () => plan && [...plan.columns, ...(linked ? toLinkedColumns(linked, plan.choices, plan.columns) : [])],
    [plan, linked],
  );
  const unreadView = useLinkedView(linked, linkable, kept);
  const unread = [...new Set([...findUnread(location.hash, choices).keys(), ...unreadView])];
  /** The search and the filters that a saved report and programs go without, in words. */
  const toLost = () => {
    const { columns = plan?.columns ?? [] } = kept.current;
    return describeLost(toArrangement(columns, kept.current, navigator.languages), columns, navigator.languages);
  };
  const share = async (): Promise<void> => {
    try {
      await copyText(
        location.origin + location.pathname + toViewAddress(choices, kept.current.columns ?? plan?.columns ?? [], kept.current),
      );
      const view = toLost() === undefined ? '' : ', the search and the filters of its table';
      setCopied(`The link is copied. It holds the choices of this report${view} and nothing of its results.`);
    } catch (error) {
      setCopied((error as Error).message);
    }
  };
  return (
    <main className="report" tabIndex={-1}>
      <header className="report-head">
        <div>
          <h2>{saved?.title ?? title}</h2>
          <p>
            {saved && `${title}. `}
            {isChanged ? 'The choices differ from those that were saved.' : answers}
          </p>
        </div>
        <div className="report-actions">
          <button type="button" onClick={() => void share()}>
            Copy link
          </button>
          {plan && maySave && (
            <SavedActions
              {...{ provision, saved, isChanged, onSaved }}
              proposed={proposeTitle(choices, names.nameOf)}
              current={() => toSavedContent(choices, plan.fileDocument)}
              note={toSavingNote(plan, viewer)}
              lost={toLost}
            />
          )}
          {state.kind === 'running' ? (
            <button type="button" className="main-button" onClick={stop}>
              Stop
            </button>
          ) : (
            <button type="button" className="main-button" onClick={run} disabled={!plan}>
              Run again
            </button>
          )}
        </div>
        <p role="status">{copied}</p>
      </header>
      <ReportForm {...{ provision, choices, names, onChange, now, timeZone, readsDonors }} />
      {unread.length > 0 && (
        <p className="problem" role="alert">
          A part of this link or saved report cannot be read: {unread.join(', ')}. The report is of its usual choices there.
        </p>
      )}
      {timeZone !== viewer.timeZone && (
        <p className="problem" role="alert">
          This browser does not know the time zone {viewer.timeZone}. Periods such as “Last month” go by this computer’s day here.
        </p>
      )}
      {state.kind !== 'done' && (
        <StateNote {...{ title, state }} onTryAgain={run} needs={needs} lines={plan ? toPrintLines(plan, viewer.organization) : []} />
      )}
      {state.kind === 'done' && (
        <FaultBoundary part="The results" resetKeys={[state.result]}>
          <Result
            {...{ provision, client, names, onChange, onSessionChange, tab, kept }}
            onTab={setTab}
            result={state.result}
            organization={viewer.organization}
            mayOpenDonors={readsDonors}
          />
        </FaultBoundary>
      )}
      {plan && <GraphqlPanel plan={plan} onShowGraphql={onShowGraphql} />}
    </main>
  );
}

/** The most gifts that the report of the largest ones shows. */
const MAX_GIFTS = Math.max(...reportDefinitions.largest.top.limits);

/** Says which period is saved, and where a program gets other figures than a colleague on this page. */
function toSavingNote(plan: ReportPlan, { timeZone }: Viewer): string | undefined {
  const {
    choices: { period: name },
    period: { startDate, endDate },
  } = plan;
  const isMoving = isPeriodName(name) && startDate !== undefined && endDate !== undefined;
  const notes = [
    ...(isMoving
      ? [
          `The period is “${presets[name].title}”, anew each time, here and for programs. Today that is ${startDate} to ${endDate} (${timeZone}).`,
        ]
      : []),
    ...describeFetched(plan),
  ];
  return notes.length > 0 ? notes.join(' ') : undefined;
}

const ALL_ROWS_DRAWN = 'The chart draws all rows. The search and the filters are of the table and its files alone.';

interface ResultProps {
  readonly provision: string;
  readonly onSessionChange: () => void;
  readonly client: TableClient;
  readonly result: ReportResult;
  readonly names: Names;
  readonly organization: string;
  readonly mayOpenDonors: boolean;
  readonly onChange: (choices: ReportChoices) => void;
  readonly tab: Key;
  readonly kept: { current: KeptView };
  readonly onTab: (tab: Key) => void;
}

function Result({
  provision,
  client,
  result,
  names,
  organization,
  mayOpenDonors,
  onChange,
  onSessionChange,
  tab,
  onTab,
  kept,
}: ResultProps) {
  const [shape, setShape] = useState(kept.current.shape ?? '');
  const onShape = (next: string): void => {
    kept.current = { ...kept.current, shape: next };
    setShape(next);
  };
  const [seen, setSeen] = useState<{ readonly of: ShownTable; readonly view: TableView }>();
  const { plan, table, figures, bridge, crossings, late } = result;
  const { choices } = plan;
  const crossed = useMemo(() => describeCrossings(plan, crossings), [plan, crossings]);
  const isKnown = figures?.all.byAllocation.unknown === 0;
  // A column that counts nothing but zeros would only take room.
  const columns = useMemo(
    () => plan.columns.map((column) => (isKnown && column.id === 'all.byAllocation.unknown' ? { ...column, isHidden: true } : column)),
    [plan, isKnown],
  );
  const { title, rows, opens } = definitionOf(choices.report);
  const { nameOf } = names;
  const conditions = useMemo(() => toConditions(choices, nameOf).map(({ text }) => text), [choices, nameOf]);
  const lines = useMemo(() => {
    const shown = toConditions(choices, nameOf, writeValue).map(({ text }) => text);
    const told = figures ? [describeFigures(plan, figures)] : bridge ? [describeBridge({ choices, bridge })] : [];
    const found = [...told, ...[crossed, describeLate(late)].filter((each) => each !== undefined)];
    return [...toPrintLines(plan, organization), ...shown, ...found];
  }, [plan, organization, choices, nameOf, figures, bridge, crossed, late]);
  const totals = useMemo(() => (figures && choices.limit === 0 ? toTotals(figures, columns) : undefined), [figures, columns, choices]);
  const { figures: pivoted, shown, tooMany } = usePivot({ client, table, choices, columns, totals, shape });
  // A view of a table that is shown no more is of other rows.
  const view = shown && seen?.of === shown ? seen.view : undefined;
  const setView = useMemo(() => shown && ((now: TableView) => setSeen({ of: shown, view: now })), [shown]);
  const open = useMemo(() => {
    const cellOf = (row: Row, id: string) => row[columns.findIndex((column) => column.id === id)];
    if (opens === 'deposit') {
      // Whoever may not read donors sees the gifts of a deposit without them.
      const gifts = mayOpenDonors ? defaultChoices('gifts') : { ...defaultChoices('largest'), limit: MAX_GIFTS };
      const kept = { period: 'all-time', pending: 'WITH', state: choices.state } as const;
      return (row: Row) => onChange({ ...gifts, ...kept, deposit: String(cellOf(row, 'key.depositId')) });
    }
    if (opens === 'donor') {
      // The conditions that both reports have stay, so that the money is the same.
      const { period, dateBasis, pending, funds, giftDateFrom, giftDateTo, state } = choices;
      const kept = { period, dateBasis, pending, funds, giftDateFrom, giftDateTo, state };
      return (row: Row) => onChange({ ...defaultChoices('donor'), ...kept, donor: Number(cellOf(row, 'key.donorId')) });
    }
    if (opens === 'version')
      return (row: Row) => {
        const state = String(cellOf(row, 'number'));
        if (isKept(columns, row)) onChange({ ...defaultChoices('deposits'), period: 'all-time', state });
      };
    return undefined;
  }, [columns, opens, choices, mayOpenDonors, onChange]);
  const nameRow = useMemo(() => {
    const id = opens && { deposit: 'key.depositId', donor: 'key.donorId', version: 'number' }[opens];
    const place = columns.findIndex((column) => column.id === id);
    return opens && ((row: Row) => (isKept(columns, row) ? `${opens} ${String(row[place])}` : undefined));
  }, [columns, opens]);
  const books = describeBooks(table.version, choices.state !== '');
  const print = useMemo(() => ({ title, lines, books, timeZone: plan.timeZone }), [title, lines, books, plan]);
  const isPart = shown !== undefined && view !== undefined && view.arranged.count < shown.table.count;
  const fileName = toFileName(plan);
  const chartPrint = isPart ? { ...print, lines: [...lines, ALL_ROWS_DRAWN] } : print;
  return (
    <>
      {figures && <FigureCards {...{ plan, figures }} />}
      {bridge && <BridgeTable {...{ choices, bridge }} />}
      <LateNote {...{ choices, late, onChange }} />
      {crossed !== undefined && (
        <p className="report-crossings" role="note">
          {crossed}
        </p>
      )}
      {table.count === 0 ? (
        <>
          <p className="note">{nothings[rows]}</p>
          <NotePrint {...{ title, lines }} note={nothings[rows]} />
        </>
      ) : (
        <Tabs className="views" selectedKey={hasChart(choices.report) ? tab : 'table'} onSelectionChange={onTab}>
          <div className="view-head">
            <TabList aria-label="Views" className="view-tabs">
              <Tab id="table">Table</Tab>
              {hasChart(choices.report) && <Tab id="chart">Chart</Tab>}
            </TabList>
            {shown && view && (
              <DownloadDialog
                {...{ provision, onSessionChange }}
                report={toDownload({ result, shown, view, conditions, client, provision })}
              />
            )}
          </div>
          {/* The table stays while the chart is shown, with its search and its columns: a file is of what it shows. */}
          <TabPanel id="table" className="view" shouldForceMount>
            <ShapeField {...{ choices, tooMany, shape, onShape }} figures={pivoted} />
            {shown && (
              <DataTable
                key={shown.table.id}
                {...{ client, kept }}
                table={shown.table}
                columns={shown.columns}
                totals={shown.totals}
                label={title}
                layoutName={shown.figure ? undefined : choices.report}
                onOpenRow={shown.figure ? undefined : open}
                toRowName={nameRow}
                onView={setView}
                print={shown.figure ? { ...print, lines: [...lines, `Figure: ${shown.figure.title}`] } : print}
              />
            )}
          </TabPanel>
          <TabPanel id="chart" className="view">
            {isPart && <p className="note view-note">{ALL_ROWS_DRAWN}</p>}
            {bridge ? (
              <BridgeChart {...{ choices, bridge, fileName }} print={chartPrint} />
            ) : (
              <ReportChart {...{ client, table, columns, title, fileName }} print={chartPrint} />
            )}
          </TabPanel>
        </Tabs>
      )}
      <p className="report-grain">
        One row is {definitionOf(choices.report).grain}. {table.version > 0 && books}
      </p>
    </>
  );
}

const NO_LINES = 'Nothing came in that fits these choices. Try another period or fewer conditions.';
const nothings: Readonly<Record<ReportDefinition['rows'], string>> = {
  groups: NO_LINES,
  lines: NO_LINES,
  changes: 'Nothing changed between the two states in what fits these choices.',
  versions: 'The books have not changed yet: nothing has been imported.',
};

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

/** False for a change of the books whose state was pruned, so that it cannot be opened. */
const isKept = (columns: readonly ReportColumn[], row: Row): boolean =>
  !/^no$/i.test(String(row[columns.findIndex(({ id }) => id === 'isKept')]));
