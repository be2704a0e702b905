import { createCellFormat } from '../values/cell-format';
import { subtract, toPercentage } from '../values/exact-decimal';
import type { ColumnKind } from '../values/table-types';
import { describeBasis, describePeriod } from '../choices/choice-texts';
import { titleOfCompared, toMidSentence } from '../values/periods';
import { definitionOf, type PendingChoice } from '../choices/report-definitions';
import { isOfDonor } from './donor-lines';
import type { Change, Figures, ReportFigures } from './report-figures';
import type { ReportPlan } from './use-report';

interface FigureCardsProps {
  readonly plan: ReportPlan;
  readonly figures: ReportFigures;
  readonly isBrief: boolean;
}

interface Card {
  readonly title: string;
  readonly value: string | number | null;
  readonly kind: ColumnKind;
  /** True for a figure of the organization's own costs. */
  readonly isCost?: boolean;
  readonly note?: string | undefined;
  readonly before?: string | number | null | undefined;
  readonly change?: Pick<Change, 'difference'> | null | undefined;
}

/** Shows the totals of a report, large, each with what it counts. Every gift is counted once. They are a line high while they are brief. */
export function FigureCards({ plan, figures, isBrief }: FigureCardsProps) {
  const { format, sign } = createCellFormat(navigator.languages, plan.currency);
  const then = titleOfCompared(plan.choices.compare);
  return (
    <section className="cards" aria-label="Totals">
      <dl data-brief={isBrief ? '' : undefined}>
        {toCards(plan, figures).map(({ title, value, kind, note, before, change }) => (
          <div key={title} className="card">
            <dt>{title}</dt>
            <dd>
              <strong>{format(value, kind)}</strong>
              {note && <span className="card-note">{note}</span>}
              {before !== undefined && (
                <span>
                  {then}: {format(before, kind)}
                </span>
              )}
              {change && (
                <span>
                  {sign(change.difference, kind)} ({sign(toPercentage(String(change.difference), String(before), 1) ?? null, 'percent')})
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The sentences that the reader of the figures must know, with the one about gifts that are not shown; empty where there are none. */
export function describeNotes(plan: ReportPlan, figures: ReportFigures, unshown?: string): string {
  const { choices, compared } = plan;
  const { all } = figures;
  const { format } = createCellFormat(navigator.languages);
  const received = choices.funds.length > 0 ? WHOLE_GIFTS : choices.pending === 'ONLY' ? 'Pending' : 'Received';
  return [
    ...(hasOtherGifts(plan, figures)
      ? [
          `The figures are of all ${format(all.transactions, 'count')} gifts. The rows are the ${format(choices.limit, 'count')} largest of them.`,
        ]
      : []),
    ...(unshown === undefined ? [] : [unshown]),
    ...(compared
      ? [`${titleOfCompared(choices.compare)}${compared.isSoFar ? ', the same days so far' : ''}: ${describePeriod(choices, compared)}.`]
      : []),
    ...(choices.compare !== 'off' && !compared ? ['All time has no period before it to compare with.'] : []),
    ...describeBasis(choices),
    ...(choices.pending === 'WITHOUT' ? ['Pending deposits are left out.'] : []),
    ...(all.splitTransactions > 0
      ? [
          `${format(all.splitTransactions, 'count')} ${all.splitTransactions === 1 ? 'gift is' : 'gifts are'} split over several funds. ${received} counts each of them once.`,
        ]
      : []),
  ].join(' ');
}

/** The cards of a report. Those beside rows of the largest gifts say that they are of all gifts. */
function toCards(plan: ReportPlan, figures: ReportFigures): Card[] {
  const cards = toOwnCards(plan, figures);
  if (!hasOtherGifts(plan, figures)) return cards;
  return cards.map((card) => ({ ...card, title: toOfAll(card.title) }));
}

const WHOLE_GIFTS = 'Whole gifts';
const OF_WHOLE_GIFTS = ' of the whole gifts';

/** The title of a figure that is of all gifts, beside rows that are some of them. */
function toOfAll(title: string): string {
  if (title === GIFTS) return 'All gifts';
  if (title === WHOLE_GIFTS) return 'All whole gifts';
  return title.endsWith(OF_WHOLE_GIFTS) ? title.replace(OF_WHOLE_GIFTS, ' of all whole gifts') : `${title}, all gifts`;
}

/** True where the rows are some of the gifts, and the figures are of all. */
const hasOtherGifts = ({ choices: { limit } }: ReportPlan, { all }: ReportFigures): boolean => limit > 0 && all.transactions > limit;

const GIFTS = 'Gifts';

function toOwnCards({ choices, compared }: ReportPlan, { all: own, pending, compared: other, change: changed }: ReportFigures): Card[] {
  // Those who have not given since have figures in the other period alone.
  const lapsed = choices.who === 'lapsed' ? other?.all : undefined;
  const [all, change] = lapsed ? [lapsed, undefined] : [own, changed];
  const before = <Value,>(read: (figures: Figures) => Value): Value | undefined =>
    compared && other && !lapsed ? read(other.all) : undefined;
  const isShare = choices.funds.length > 0;
  const isByNet = definitionOf(choices.report).leads === 'net';
  const pendingNote = joinNotes(pendingNotes[choices.pending], lapsed ? toMidSentence(titleOfCompared(choices.compare)) : undefined);
  const received: Card = {
    title: isShare ? WHOLE_GIFTS : choices.pending === 'ONLY' ? 'Pending' : 'Received',
    value: all.byTransaction.amount,
    kind: 'money',
    // The bank has what is left after the fees.
    note: isShare ? 'to all funds' : isByNet ? 'before fees' : pendingNote,
    before: before(({ byTransaction }) => byTransaction.amount),
    change: change?.amountByTransaction,
  };
  const shares: Card = {
    title: choices.funds.length === 1 ? 'To this fund' : 'To these funds',
    value: all.byAllocation.amount,
    kind: 'money',
    note: joinNotes(pendingNote, noteUnknown(all)),
    before: before(({ byAllocation }) => byAllocation.amount),
    change: change?.amountByAllocation,
  };
  // The pending part is of the figure before it: of the shares where the report looks at funds, as in the table.
  const ofPending: Card = isShare
    ? { title: 'Of which pending', value: pending.byAllocation.amount, kind: 'money', note: noteUnknown(pending) }
    : { title: 'Of which pending', value: pending.byTransaction.amount, kind: 'money' };
  const ofGifts = isShare ? OF_WHOLE_GIFTS : '';
  const net: Card = {
    title: `Net${ofGifts}`,
    value: all.byTransaction.netAmount,
    kind: 'money',
    isCost: true,
    note: isByNet ? (choices.pending === 'WITHOUT' ? 'at the bank' : pendingNote) : undefined,
    before: before(({ byTransaction }) => byTransaction.netAmount),
    change: change?.netAmountByTransaction,
  };
  return [
    ...(isByNet ? [net] : []),
    isShare ? shares : received,
    ...(choices.pending === 'WITH' && !lapsed ? [ofPending] : []),
    ...(isShare ? [received] : []),
    {
      title: `Fees${ofGifts}`,
      value: all.byTransaction.feeAmount,
      kind: 'money',
      isCost: true,
      before: before(({ byTransaction }) => byTransaction.feeAmount),
      change: change && other && toChange(all.byTransaction.feeAmount, other.all.byTransaction.feeAmount),
    },
    ...(isByNet ? [] : [net]),
    {
      title: GIFTS,
      value: all.transactions,
      kind: 'count',
      note: `in ${createCellFormat(navigator.languages).format(all.deposits, 'count')} ${all.deposits === 1 ? 'deposit' : 'deposits'}`,
      before: before(({ transactions }) => transactions),
      change: change?.transactions,
    },
  ];
}

/** The change of a figure that the gateway compares in no field of its own. */
const toChange = (now: string, then: string): Pick<Change, 'difference'> => ({ difference: subtract(now, then) });

const pendingNotes: Readonly<Record<PendingChoice, string>> = {
  WITH: 'pending included',
  WITHOUT: 'pending left out',
  ONLY: 'not at the bank yet',
};

function noteUnknown({ byAllocation: { unknown } }: Figures): string | undefined {
  if (unknown === 0) return undefined;
  return `without ${createCellFormat(navigator.languages).format(unknown, 'count')} unknown ${unknown === 1 ? 'share' : 'shares'}`;
}

const joinNotes = (...notes: readonly (string | undefined)[]): string => notes.filter((note) => note !== undefined).join(', ');

/** The figures of a report in one line, such as “Received: 1,234.50 (pending included)”, for a print. A sheet for a donor says no fees. */
export function describeFigures(plan: ReportPlan, figures: ReportFigures): string {
  const { format } = createCellFormat(navigator.languages, plan.currency);
  return toCards(plan, figures)
    .filter(({ isCost = false }) => !isCost || !isOfDonor(plan))
    .map(({ title, value, kind, note }) => `${title}: ${format(value, kind)}${note === undefined ? '' : ` (${note})`}`)
    .join('; ');
}
