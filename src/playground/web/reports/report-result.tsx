import { lazy, Suspense, useMemo, useState } from 'react';
import { createPortal } from 'react-dom';
import { Tab, TabList, TabPanel, Tabs, type Key } from 'react-aria-components';
import { DownloadDialog } from '../dialogs/download-dialog';
import { describeBooks, NotePrint } from '../tables/print-sheet';
import { DataTable, type TableView } from '../tables/data-table';
import type { NoticeSlots } from '../tables/table-toolbar';
import type { KeptView } from '../rows/filter-text';
import type { TableClient } from '../rows/table-client';
import type { LoadProgress, Row } from '../values/table-types';
import { describeFigures, describeNotes, FigureCards } from './figure-cards';
import { toConditions, toPrintLines, writeValue } from '../choices/choice-texts';
import { isOfDonor, OWN_COSTS } from './donor-lines';
import { describeEqualGifts } from '../values/equal-gifts';
import { describeCrossings } from './period-crossings';
import { BridgeChart, BridgeTable, describeBridge } from './change-bridge';
import { ReportChart } from './report-chart';
import { defaultChoices, toAddress, withoutConditions, type ReportChoices } from '../choices/report-choices';
import { definitionOf, hasChart, reportDefinitions, type ReportDefinition, type ReportId } from '../choices/report-definitions';
import { hasGifts, toTotals } from './report-figures';
import type { ReportColumn } from './report-columns';
import { toDownload, toFileName } from './report-download';
import { ShapeField, usePivot, type ShownTable } from './report-pivot';
import type { Names } from '../choices/report-names';
import { describeLate } from './late-changes';
import { ComparisonNote, describeCautions, LateNote } from './report-notes';
import { describeProgress, STILL_READING } from './state-note';
import { toListSource, type ReportResult } from './use-report';
import type { KeptTie } from '../bank/use-bank-tie';

// Few reports are tied, so that the script of a report does not have it.
const BankPanel = lazy(() => import('../bank/bank-panel'));

/** The most gifts that the report of the largest ones shows. */
const MAX_GIFTS = Math.max(...reportDefinitions.largest.top.limits);

const ALL_ROWS_DRAWN = 'The chart draws all rows. The search and the filters are of the table and its files alone.';

interface ReportOutcomeProps {
  readonly provision: string;
  readonly onSessionChange: () => void;
  readonly client: TableClient;
  readonly result: ReportResult;
  /** The rows that have come so far; undefined once all are there. Until then the result is shown, and leaves the page by no way. */
  readonly coming: LoadProgress | undefined;
  readonly names: Names;
  readonly organization: string;
  readonly mayOpenDonors: boolean;
  readonly onChange: (choices: ReportChoices) => void;
  readonly tab: Key;
  readonly kept: { current: KeptView };
  readonly onTab: (tab: Key) => void;
  /** Holds the statement that the report is tied to. */
  readonly keptTie: { current: KeptTie | undefined };
  /** The places of the page that a result fills: its news, its standing notices, and the button that downloads it. */
  readonly slots: NoticeSlots & { readonly download: Element | null };
}

/** The outcome of a report: its figures, its rows as a table or a chart, and what there is to say of them. */
export function ReportOutcome({
  provision,
  client,
  result,
  coming,
  names,
  organization,
  mayOpenDonors,
  onChange,
  onSessionChange,
  tab,
  onTab,
  kept,
  keptTie,
  slots,
}: ReportOutcomeProps) {
  const [shape, setShape] = useState(kept.current.shape ?? '');
  const onShape = (next: string): void => {
    kept.current = { ...kept.current, shape: next };
    setShape(next);
  };
  // The figures give their height to the rows while somebody reads these.
  const [isScrolled, setIsScrolled] = useState(false);
  const [seen, setSeen] = useState<{ readonly of: ShownTable; readonly view: TableView }>();
  const { plan, table, figures, bridge, crossings, donor, equal, late } = result;
  const isWhole = coming === undefined;
  const { choices } = plan;
  const unshown = describeEqualGifts(equal, plan.currency);
  const notes = figures ? describeNotes(plan, figures, unshown) : '';
  const crossed = useMemo(() => describeCrossings(plan, crossings), [plan, crossings]);
  const isKnown = figures?.all.byAllocation.unknown === 0;
  // A column that counts nothing but zeros would only take room.
  const columns = useMemo(
    () => plan.columns.map((column) => (isKnown && column.id === 'all.byAllocation.unknown' ? { ...column, isHidden: true } : column)),
    [plan, isKnown],
  );
  const { title, opens, tiesToBank = false, isLargestFirst = false } = definitionOf(choices.report);
  const { nameOf } = names;
  const conditions = useMemo(() => toConditions(choices, nameOf).map(({ text }) => text), [choices, nameOf]);
  const lines = useMemo(() => {
    const shown = toConditions(choices, nameOf, writeValue).map(({ text }) => text);
    const told = figures
      ? hasGifts(figures)
        ? [...describeCautions(plan), describeFigures(plan, figures)]
        : []
      : bridge
        ? [describeBridge({ choices, bridge })]
        : [];
    // When the books were closed is the organization's own affair.
    const found = [...told, ...[unshown, crossed, isOfDonor(plan) ? undefined : describeLate(late)].filter((each) => each !== undefined)];
    const [whose = organization, ...others] = toPrintLines(plan, organization);
    return [whose, ...donor, ...others, ...shown, ...found];
  }, [plan, organization, donor, choices, nameOf, figures, bridge, unshown, crossed, late]);
  const totals = useMemo(() => (figures && choices.limit === 0 ? toTotals(figures, columns) : undefined), [figures, columns, choices]);
  const { figures: pivoted, shown, tooMany } = usePivot({ client, table, isWhole, choices, columns, totals, shape });
  // A view of a table that is shown no more is of other rows.
  const view = shown && seen?.of === shown ? seen.view : undefined;
  const setView = useMemo(() => shown && ((now: TableView) => setSeen({ of: shown, view: now })), [shown]);
  const sortedBy = useMemo(() => {
    const amount = isLargestFirst ? columns.find(({ kind, adds, isHidden }) => kind === 'money' && adds && !isHidden) : undefined;
    return amount && { column: amount.id, isDescending: true };
  }, [isLargestFirst, columns]);
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
      // Those who have not given since gave in the other period.
      const { compared } = plan;
      const then = choices.who === 'lapsed' && compared ? `${compared.startDate}..${compared.endDate}` : period;
      const kept = { period: then, dateBasis, pending, funds, giftDateFrom, giftDateTo, state };
      return (row: Row) => onChange({ ...defaultChoices('donor'), ...kept, donor: Number(cellOf(row, 'key.donorId')) });
    }
    if (opens === 'version')
      return (row: Row) => {
        const state = String(cellOf(row, 'number'));
        if (isKept(columns, row)) onChange({ ...defaultChoices('deposits'), period: 'all-time', state });
      };
    return undefined;
  }, [columns, opens, choices, plan, mayOpenDonors, onChange]);
  const nameRow = useMemo(() => {
    const id = opens && { deposit: 'key.depositId', donor: 'key.donorId', version: 'number' }[opens];
    const place = columns.findIndex((column) => column.id === id);
    return opens && ((row: Row) => (isKept(columns, row) ? `${opens} ${String(row[place])}` : undefined));
  }, [columns, opens]);
  const tied = useMemo(
    () =>
      tiesToBank && {
        ...{ provision, columns: plan.columns, source: toListSource(plan), period: plan.period },
        // A period such as the last month has other days on another day.
        address: `${toAddress(choices)} ${plan.period.startDate ?? ''}..${plan.period.endDate ?? ''}`,
        ...{ version: table.version, isPast: choices.state !== '' },
      },
    [tiesToBank, provision, table.version, plan, choices],
  );
  const books = describeBooks(table.version, choices.state !== '');
  const print = useMemo(
    () => ({ title, lines, books, timeZone: plan.timeZone, ...(isOfDonor(plan) && { leftOut: OWN_COSTS }) }),
    [title, lines, books, plan],
  );
  const isPart = shown !== undefined && view !== undefined && view.arranged.count < shown.table.count;
  const fileName = toFileName(plan);
  const nothing = toNothing(choices, names);
  const chartPrint = isPart ? { ...print, lines: [...lines, ALL_ROWS_DRAWN] } : print;
  return (
    <>
      {slots.notices &&
        createPortal(
          <>
            {coming && <p role="status">{describeProgress(coming)}</p>}
            <LateNote {...{ choices, late, onChange }} />
            {crossed !== undefined && <p role="note">{crossed}</p>}
            {notes !== '' && <p role="note">{notes}</p>}
          </>,
          slots.notices,
        )}
      {coming && <NotePrint {...{ title, lines }} note={STILL_READING} />}
      {slots.download &&
        isWhole &&
        shown &&
        view &&
        createPortal(
          <>
            <DownloadDialog
              {...{ provision, onSessionChange }}
              report={toDownload({ result, shown, view, conditions, client, provision })}
            />
            {tied && (
              <button type="button" onClick={() => onTab('bank')}>
                Tie to a bank statement…
              </button>
            )}
          </>,
          slots.download,
        )}
      {figures && hasGifts(figures) && (
        <>
          <ComparisonNote {...{ plan, onChange }} />
          <FigureCards {...{ plan, figures }} isBrief={isScrolled} />
        </>
      )}
      {bridge && <BridgeTable {...{ choices, bridge }} />}
      {table.count === 0 ? (
        <>
          <NothingNote {...{ choices, onChange }} nothing={nothing} />
          <NotePrint {...{ title, lines }} note={nothing} />
        </>
      ) : (
        <Tabs className="views" selectedKey={hasTab(choices.report, tab) ? tab : 'table'} onSelectionChange={onTab}>
          <TabList aria-label="Views" className="view-tabs">
            <Tab id="table">Table</Tab>
            {hasChart(choices.report) && <Tab id="chart">Chart</Tab>}
            {tied && <Tab id="bank">Bank statement</Tab>}
          </TabList>
          {/* The table stays while the chart is shown, with its search and its columns: a file is of what it shows. */}
          <TabPanel id="table" className="view" shouldForceMount>
            <ShapeField {...{ choices, tooMany, shape, onShape }} figures={pivoted} />
            {shown && (
              <DataTable
                key={shown.table.id}
                {...{ client, kept }}
                table={shown.table}
                coming={coming}
                columns={shown.columns}
                totals={shown.totals}
                sortedBy={shown.figure ? undefined : sortedBy}
                label={title}
                layoutName={shown.figure ? undefined : layoutOf(choices)}
                onOpenRow={shown.figure ? undefined : open}
                toRowName={nameRow}
                onView={setView}
                onScrolled={setIsScrolled}
                {...{ slots }}
                print={shown.figure ? { ...print, lines: [...lines, `Figure: ${shown.figure.title}`] } : print}
              />
            )}
          </TabPanel>
          <TabPanel id="chart" className="view">
            {isPart && <p className="note">{ALL_ROWS_DRAWN}</p>}
            {coming ? (
              <p className="note">The chart is of all rows. {describeProgress(coming)}</p>
            ) : bridge ? (
              <BridgeChart {...{ choices, bridge, fileName }} print={chartPrint} />
            ) : (
              <ReportChart {...{ client, table, columns, title, fileName }} print={chartPrint} />
            )}
          </TabPanel>
          {tied && (
            <TabPanel id="bank" className="view">
              {coming ? (
                <p className="note">A statement is tied to all deposits. {describeProgress(coming)}</p>
              ) : (
                <Suspense fallback={<p className="note">Loading…</p>}>
                  <BankPanel report={tied} currency={plan.currency} kept={keptTie} {...{ organization, fileName }} />
                </Suspense>
              )}
            </TabPanel>
          )}
        </Tabs>
      )}
    </>
  );
}

const hasTab = (report: ReportId, tab: Key): boolean =>
  tab === 'chart' ? hasChart(report) : tab !== 'bank' || definitionOf(report).tiesToBank === true;

interface NothingNoteProps {
  readonly nothing: string;
  readonly choices: ReportChoices;
  readonly onChange: (choices: ReportChoices) => void;
}

/** Says that a report has no rows, and takes away what narrows it. */
function NothingNote({ nothing, choices, onChange }: NothingNoteProps) {
  const wider = withoutConditions(choices);
  return (
    <p className="note">
      {nothing}{' '}
      {toAddress(wider) !== toAddress(choices) && (
        <button
          type="button"
          onClick={(event) => {
            // The button goes with the conditions, and the focus would go with it.
            event.currentTarget.closest('main')?.focus();
            onChange(wider);
          }}
        >
          Clear the conditions
        </button>
      )}
    </p>
  );
}

const NO_LINES = 'Nothing came in that fits these choices. Try another period or fewer conditions.';
const nothings: Readonly<Record<ReportDefinition['rows'], string>> = {
  groups: NO_LINES,
  lines: NO_LINES,
  changes: 'Nothing changed between the two versions in what fits these choices.',
  versions: 'The books have not changed yet: nothing has been imported.',
};

/** The name of the kept columns. A city that somebody hides beside a name is still a part of an address. */
const layoutOf = ({ report, addresses }: ReportChoices): string => (addresses === 'WITH' ? `${report}-addresses` : report);

function toNothing({ report, who, donor, state }: ReportChoices, { isMissing }: Names): string {
  // Otherwise a mistyped number would read as a person who gave nothing.
  // 0 stands for gifts of nobody.
  if (donor !== undefined && donor !== 0 && isMissing('donor', donor))
    return `No donor has the number ${String(donor)}${state === '' ? '' : ' in the newest books'}. Choose another one.`;
  return who === 'everybody' ? nothings[definitionOf(report).rows] : 'No donor fits these choices. Try another period or fewer conditions.';
}

/** False for a change of the books whose state was pruned, so that it cannot be opened. */
const isKept = (columns: readonly ReportColumn[], row: Row): boolean =>
  !/^no$/i.test(String(row[columns.findIndex(({ id }) => id === 'isKept')]));
