import { useMemo, useRef, type ReactNode } from 'react';
import { ChartDrawing, ChartFigure, createWriting } from '../charts/chart-figure';
import { layOutChart } from '../charts/chart-layout';
import { BESIDE, stack, type DrawnChart } from '../charts/drawn-chart';
import { describePeriod, toPrintLines, type PlannedPeriods } from '../choices/choice-texts';
import { defaultChoices, toAddress, type ReportChoices } from '../choices/report-choices';
import type { ReportId } from '../choices/report-definitions';
import { describeBooks, describePrint, NotePrint, PrintSheet, usePrinting } from '../tables/print-sheet';
import { createCellFormat } from '../values/cell-format';
import { describeEqualGifts } from '../values/equal-gifts';
import { subtract, toPercentage } from '../values/exact-decimal';
import { toPeriodDates, type Today } from '../../../values/periods';
import { endOfDay } from '../values/states';
import type { BoardFigures, FundRow } from './board-figures';

interface BoardSheetProps {
  readonly title: string;
  readonly organization: string;
  /** The time zone of the organization, in which the sheet is dated. */
  readonly timeZone: string;
  readonly now: Today;
  readonly plan: PlannedPeriods;
}

/** The sheet for a board: on the page with links to the reports of its figures, and in a print on its own. */
export function BoardSheet({ figures, ...props }: BoardSheetProps & { readonly figures: BoardFigures | undefined }) {
  return figures ? (
    <FilledSheet {...props} figures={figures} />
  ) : (
    <>
      <p className="note">{EMPTY}</p>
      <NotePrint title={props.title} lines={toPrintLines(props.plan, props.organization)} note={EMPTY} />
    </>
  );
}

const EMPTY = 'The books are empty: nothing has been imported yet.';

interface FilledProps extends BoardSheetProps {
  readonly figures: BoardFigures;
}

function FilledSheet(props: FilledProps) {
  const { title, organization, timeZone, plan, figures } = props;
  const place = useRef<HTMLDivElement>(null);
  const isPrinting = usePrinting(place);
  const chart = useMemo(() => toChart(figures, plan), [figures, plan]);
  const { format } = createCellFormat(navigator.languages);
  const { number, recordedAt } = figures.version;
  const books = `${describeBooks(number, plan.choices.state !== '')} They are of ${format(recordedAt, 'instant', timeZone)}.`;
  const [whose = '', ...others] = toPrintLines(plan, organization);
  return (
    <div ref={place} className="board">
      <Figures {...props} chart={<ChartFigure chart={chart} />} isLinked />
      <p className="board-notes">{books}</p>
      {isPrinting && (
        <PrintSheet title={title} lines={[whose, others.join('. ').concat('.'), describePrint({ title, lines: [], books, timeZone })]}>
          <div className="board">
            <Figures {...props} chart={<PaperChart chart={chart} />} />
          </div>
        </PrintSheet>
      )}
    </div>
  );
}

const PAPER_WIDTH = 700;
const CHART_HEIGHT = 150;
/** The most months whose amounts stand under the chart. */
const MAX_TABLE_MONTHS = 24;

function PaperChart({ chart }: { readonly chart: DrawnChart }) {
  const layout = useMemo(() => layOutChart(chart, PAPER_WIDTH, createWriting()), [chart]);
  return <ChartDrawing {...{ chart, layout }} />;
}

/** The months of the period as pairs of bars, that of the year before as an outline beside each. */
function toChart({ months }: BoardFigures, { currency }: PlannedPeriods): DrawnChart {
  const { format } = createCellFormat(navigator.languages, currency);
  const series = [
    { name: 'Received', color: 1 },
    { name: 'Year before', color: BESIDE },
  ];
  const rows = months.map(({ month, received, before }) => {
    const label = format(month, 'month');
    const bars = [received, before].map((value, at) => {
      const { name, color } = series[at]!;
      const text = format(value, 'money');
      return { text, marks: stack([{ value, mark: { color, reading: `${label}, ${name}: ${text}` } }]) };
    });
    return { label, shortLabel: label, bars };
  });
  return {
    ...{ rows, series, isUpright: true, height: CHART_HEIGHT, valueKind: 'money', notes: [] },
    summary: `Bar chart of what was received by month, ${rows[0]?.label ?? ''} to ${rows.at(-1)?.label ?? ''}, beside the year before.`,
  };
}

interface FiguresProps extends FilledProps {
  readonly chart: ReactNode;
  readonly isLinked?: boolean;
}

function Figures({ now, plan, timeZone, figures, chart, isLinked = false }: FiguresProps) {
  const { choices, period, compared, currency } = plan;
  const { format, sign } = createCellFormat(navigator.languages, currency);
  const { received, before, toDate, budget, funds, largest, pending } = figures;
  const { startDate = '', endDate = '' } = period;
  const countOf = (count: number, thing: string): string => `${format(count, 'count')} ${thing}${count === 1 ? '' : 's'}`;
  const differ = (value: string, other: string): string =>
    `${sign(subtract(value, other), 'money')} (${sign(toPercentage(subtract(value, other), other, 1) ?? null, 'percent')})`;
  const link = (text: string, report: ReportId, more: Partial<ReportChoices> = {}): ReactNode => {
    const { dateBasis, state } = choices;
    const same = { ...defaultChoices(report), dateBasis, state, period: choices.period, pending: 'WITHOUT' as const };
    return isLinked ? <a href={toAddress({ ...same, ...more })}>{text}</a> : <strong>{text}</strong>;
  };
  const { startDate: yearStart, endDate: yearEnd } = toPeriodDates('this-fiscal-year', {
    today: endDate,
    fiscalYearStart: now.fiscalYearStart,
  });
  const isWholeYear = startDate === yearStart;
  const isOver = endDate >= yearEnd && now.today >= yearEnd;
  const yearDates = describePeriod(choices, { startDate: yearStart, endDate });
  const beforeDates = describePeriod(choices, compared ?? {});
  const ofBudget = (
    <span>
      {budget === undefined
        ? 'No budget of this fiscal year is saved.'
        : `Budget to date: ${format(budget.toDate, 'money')}, ${differ(toDate, budget.toDate)}`}
    </span>
  );
  const equal = describeEqualGifts(figures.equal, currency);
  const hasNames = choices.donorNames === 'WITH';
  const endsBefore = choices.state !== '' && figures.version.recordedAt < endOfDay(endDate, timeZone);
  return (
    <>
      <dl className="board-cards">
        <Card title={`Received without pending${isWholeYear ? `, fiscal year${isOver ? '' : ' to date'}` : ''}`}>
          {link(format(received, 'money'), 'deposits')}
          <span>{countOf(figures.gifts, 'gift')}</span>
          <span>
            Year before: {format(before, 'money')}, {differ(received, before)}
          </span>
          {isWholeYear && ofBudget}
        </Card>
        {!isWholeYear && (
          <Card title="Fiscal year to date, without pending">
            {link(format(toDate, 'money'), 'deposits', { period: `${yearStart}..${endDate}` })}
            <span>{yearDates}</span>
            {ofBudget}
          </Card>
        )}
        <Card title="Donors">
          {link(`${format(figures.newDonors, 'count')} new`, 'donors', { who: 'first-time' })}
          <span>gave for the first time</span>
          {link(`${format(figures.lapsedDonors, 'count')} lapsed`, 'donors', { who: 'lapsed', compare: 'last-year' })}
          <span>gave in the year before, not now</span>
        </Card>
        <Card title="Pending, in no other figure">
          {link(format(pending.amount, 'money'), 'deposits', { pending: 'ONLY' })}
          <span>{countOf(pending.gifts, 'gift')} of the period, not at the bank yet</span>
        </Card>
      </dl>
      <section aria-label="Received by month" className="board-chart">
        {chart}
        <MonthTable {...{ figures, currency }} />
      </section>
      <FundTable {...{ funds, figures, isWholeYear, currency }} />
      <div
        className="board-frame"
        tabIndex={isLinked ? 0 : undefined}
        role={isLinked ? 'region' : undefined}
        aria-label={isLinked ? 'Largest gifts' : undefined}
      >
        <table>
          <caption>Largest gifts</caption>
          <thead>
            <tr>
              <th scope="col">Date</th>
              {hasNames && <th scope="col">Donor</th>}
              <th scope="col">Fund</th>
              <th scope="col" className="money">
                Amount
              </th>
            </tr>
          </thead>
          <tbody>
            {largest.map(({ id, date, donor, funds: to, amount }) => (
              <tr key={id}>
                <td className="board-date">{format(date, 'date')}</td>
                {hasNames && (
                  <td>
                    <span className="board-name">{donor || '(no donor)'}</span>
                  </td>
                )}
                <td>
                  <span className="board-name">{to}</span>
                </td>
                <td className="money">{format(amount, 'money')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {equal !== undefined && <p className="board-notes">{equal}</p>}
      {figures.isLargestCut && (
        <p className="board-notes">These gifts are split over so many funds that the list has no place for the ones after them.</p>
      )}
      <p className="board-notes">
        Year before: {beforeDates}. {endDate > now.today && 'This period is not over, and all of the year before stands beside it. '}
        {endsBefore && 'This version of the books was recorded before the period was over, so that what came later is in no figure. '}
        {budget && (
          <>
            Budget to date: a twelfth of the year for each month, and for a month that is not over by its days.{' '}
            {endDate > now.today && 'The period is not over yet, and the budget is that of its last day. '}A fund without a budget differs
            by all that it received. The budget is number {format(budget.number, 'count')}, saved
            {budget.savedBy !== null && ` by ${budget.savedBy}`} on {format(budget.savedAt, 'instant', timeZone)}
            {choices.state !== '' && ', and not one of this version of the books'}.
          </>
        )}
      </p>
    </>
  );
}

const Card = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="card">
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

interface MonthTableProps {
  readonly figures: BoardFigures;
  readonly currency: string | null;
}

/** The values of the chart. More months would take the room of the funds, and a report has them. */
function MonthTable({ figures, currency }: MonthTableProps) {
  const { format, sign } = createCellFormat(navigator.languages);
  const { months, received, before } = figures;
  if (months.length > MAX_TABLE_MONTHS)
    return (
      <p className="board-notes">
        The sheet writes the amounts of at most {format(MAX_TABLE_MONTHS, 'count')} months. Money received, divided by month, without
        pending and compared with a year before, has all of them.
      </p>
    );
  const toCells = (now: string, earlier: string): string[] => [
    format(now, 'money'),
    format(earlier, 'money'),
    sign(subtract(now, earlier), 'money'),
  ];
  const rows = months.map(({ month, received: now, before: earlier }) => ({ name: format(month, 'month'), cells: toCells(now, earlier) }));
  return (
    <div className="board-frame" tabIndex={0} role="region" aria-label="Amounts by month">
      <table className="board-months">
        <caption>By month{currency === null ? '' : `, in ${currency}`}</caption>
        <thead>
          <tr>
            <th scope="col">Month</th>
            {['Received', 'Year before', 'Change'].map((title) => (
              <th key={title} scope="col" className="money">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, cells }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {cells.map((text, at) => (
                <td key={at} className="money">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            {toCells(received, before).map((text, at) => (
              <td key={at} className="money">
                {text}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface FundTableProps {
  readonly funds: readonly FundRow[];
  readonly figures: BoardFigures;
  /** True where the period is the fiscal year to date, so that one column has both. */
  readonly isWholeYear: boolean;
  readonly currency: string | null;
}

function FundTable({ funds, figures, isWholeYear, currency }: FundTableProps) {
  const { format, sign } = createCellFormat(navigator.languages);
  const hasBudget = figures.budget !== undefined;
  const columns = [
    'Received',
    'Year before',
    'Change',
    ...(isWholeYear ? [] : ['Fiscal year to date']),
    ...(hasBudget ? ['Budget to date', 'Difference'] : []),
  ];
  const toCells = ({ received, before, toDate, budget }: Omit<FundRow, 'name'>): string[] => [
    format(received, 'money'),
    format(before, 'money'),
    sign(subtract(received, before), 'money'),
    ...(isWholeYear ? [] : [format(toDate, 'money')]),
    ...(hasBudget ? [budget === undefined ? 'none' : format(budget, 'money'), sign(subtract(toDate, budget ?? '0.00'), 'money')] : []),
  ];
  const { received, before, toDate, budget } = figures;
  return (
    <div className="board-frame" tabIndex={0} role="region" aria-label="By fund">
      <table className="board-funds">
        <caption>By fund, without pending{currency === null ? '' : `, in ${currency}`}</caption>
        <thead>
          <tr>
            <th scope="col">Fund</th>
            {columns.map((title) => (
              <th key={title} scope="col" className="money">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {funds.map((fund, place) => (
            <tr key={place}>
              <th scope="row">
                <span className="board-name">{fund.name}</span>
              </th>
              {toCells(fund).map((text, at) => (
                <td key={columns[at]} className="money">
                  {text}
                </td>
              ))}
            </tr>
          ))}
          <tr className="board-total">
            <th scope="row">Total</th>
            {toCells({ received, before, toDate, budget: budget?.toDate }).map((text, at) => (
              <td key={columns[at]} className="money">
                {text}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}
