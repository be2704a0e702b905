import { getLocalTimeZone, parseDate, today } from '@internationalized/date';
import { createCellFormat } from '../tables/cell-format';
import type { ColumnKind } from '../tables/table-types';
import type { ReportPlan } from './use-report';
import type { Change, Figures, ReportFigures } from './report-figures';

interface FigureCardsProps {
  readonly plan: ReportPlan;
  readonly figures: ReportFigures;
}

interface Card {
  readonly title: string;
  readonly value: string | number | null;
  readonly kind: ColumnKind;
  readonly note?: string | undefined;
  readonly before?: string | number | null | undefined;
  readonly change?: Change | null | undefined;
}

/** Shows the totals of a report, large, each with what it counts. Every gift is counted once. */
export function FigureCards({ plan, figures }: FigureCardsProps) {
  const { format } = createCellFormat(navigator.languages);
  const { all } = figures;
  const notes = [
    ...(all.splitTransactions > 0
      ? [
          `${format(all.splitTransactions, 'count')} ${all.splitTransactions === 1 ? 'gift is' : 'gifts are'} split over several funds. Received counts each of them once.`,
        ]
      : []),
    ...(isUnderWay(plan) ? ['This period is not over yet. Compare a period “to date” to compare as many days.'] : []),
    ...(plan.choices.pending === 'WITHOUT' ? ['Pending deposits are left out.'] : []),
  ];
  return (
    <section className="cards" aria-label="Totals">
      <dl>
        {toCards(plan, figures).map(({ title, value, kind, note, before, change }) => (
          <div key={title} className="card">
            <dt>{title}</dt>
            <dd>
              <strong>{format(value, kind)}</strong>
              {note && <span>{note}</span>}
              {before !== undefined && (
                <span>
                  {format(before, kind)} {plan.choices.compare === 'before' ? 'in the period before' : 'in the year before'}
                  {change && `: ${sign(change.difference)}${format(change.difference, kind)}`}
                  {change && change.percentage !== null && ` (${sign(change.percentage)}${format(change.percentage, 'percent')})`}
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {notes.length > 0 && <p role="note">{notes.join(' ')}</p>}
    </section>
  );
}

/** True for a period that is compared although days of it are still to come. */
const isUnderWay = ({ compared, period }: ReportPlan): boolean =>
  compared !== undefined && period.endDate !== undefined && parseDate(period.endDate).compare(today(getLocalTimeZone())) > 0;

const sign = (value: string | number): string => (Number(value) > 0 ? '+' : '');

function toCards({ choices, compared }: ReportPlan, { all, pending, compared: other, change }: ReportFigures): Card[] {
  const before = <Value,>(read: (figures: Figures) => Value): Value | undefined => (compared && other ? read(other.all) : undefined);
  const isShare = choices.funds.length > 0;
  const ofPending = choices.pending === 'WITH';
  const unknown = all.byAllocation.unknown;
  return [
    ...(isShare
      ? [
          {
            title: choices.funds.length === 1 ? 'To this fund' : 'To these funds',
            value: all.byAllocation.amount,
            kind: 'money' as const,
            note: unknown > 0 ? `without ${String(unknown)} unknown ${unknown === 1 ? 'share' : 'shares'}` : undefined,
            before: before(({ byAllocation }) => byAllocation.amount),
            change: change?.amountByAllocation,
          },
        ]
      : []),
    {
      title: choices.pending === 'ONLY' ? 'Pending' : isShare ? 'Whole gifts' : 'Received',
      value: all.byTransaction.amount,
      kind: 'money',
      note: choices.pending === 'WITH' ? 'pending included' : choices.pending === 'ONLY' ? 'not at the bank yet' : 'at the bank',
      before: before(({ byTransaction }) => byTransaction.amount),
      change: change?.amountByTransaction,
    },
    ...(ofPending ? [{ title: 'Of which pending', value: pending.byTransaction.amount, kind: 'money' as const }] : []),
    { title: 'Fees', value: all.byTransaction.feeAmount, kind: 'money', before: before(({ byTransaction }) => byTransaction.feeAmount) },
    {
      title: 'Net',
      value: all.byTransaction.netAmount,
      kind: 'money',
      before: before(({ byTransaction }) => byTransaction.netAmount),
      change: change?.netAmountByTransaction,
    },
    {
      title: 'Gifts',
      value: all.transactions,
      kind: 'count',
      note: `in ${createCellFormat(navigator.languages).format(all.deposits, 'count')} ${all.deposits === 1 ? 'deposit' : 'deposits'}`,
      before: before(({ transactions }) => transactions),
      change: change?.transactions,
    },
  ];
}
