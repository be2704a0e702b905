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
import type { BoardFigures } from './board-figures';
import { FundTable, LargestGifts, MonthTable } from './board-tables';

interface BoardSheetProps {
  readonly title: string;
  readonly organization: string;
  /** The time zone of the organization, in which the sheet is dated. */
  readonly timeZone: string;
  readonly now: Today;
  readonly plan: PlannedPeriods;
}

/** The sheet for a board: on the page with links to the reports of its figures, and in a print on its own. */
export default function BoardSheet({ figures, ...props }: BoardSheetProps & { readonly figures: BoardFigures | undefined }) {
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
  const { received, before, toDate, budget, largest, pending } = figures;
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
  const year = isOver ? 'fiscal year' : endDate < now.today ? `fiscal year through ${format(endDate, 'date')}` : 'fiscal year to date';
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
        <Card title={`Received without pending${isWholeYear ? `, ${year}` : ''}`}>
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
        <MonthTable {...{ figures, currency, isLinked }} />
      </section>
      <FundTable {...{ figures, isWholeYear, currency, isLinked }} />
      <LargestGifts {...{ largest, currency, hasNames, isLinked }} />
      {equal !== undefined && <p className="board-notes">{equal}</p>}
      {figures.isLargestCut && <p className="board-notes">Gifts after these were not read, because these are split over so many funds.</p>}
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
