import { toCents, toMoney, type Money } from '../values/money';
import type { SummaryTotals } from './deposit-summary-service';

/** The change of a figure. The percentage has two decimals, and is null where the figure was zero before. */
interface Change<Difference> {
  readonly difference: Difference;
  readonly percentage: number | null;
}
export type CountChange = Change<number>;
export type AmountChange = Change<Money>;

/** The change of a set's figures from one period to another. */
export interface SummaryChange {
  readonly lines: CountChange;
  readonly transactions: CountChange;
  readonly amountByLine: AmountChange;
  readonly amountByTransaction: AmountChange;
  readonly netAmountByTransaction: AmountChange;
  /** Null where a share of one of the periods is not known: the sums would not be of the same money. */
  readonly amountByAllocation: AmountChange | null;
}

export function toChange(before: SummaryTotals, after: SummaryTotals): SummaryChange {
  const areKnown = before.byAllocation.unknown === 0 && after.byAllocation.unknown === 0;
  return {
    lines: toCountChange(before.lines, after.lines),
    transactions: toCountChange(before.transactions, after.transactions),
    amountByLine: toAmountChange(before.byLine.amount, after.byLine.amount),
    amountByTransaction: toAmountChange(before.byTransaction.amount, after.byTransaction.amount),
    netAmountByTransaction: toAmountChange(before.byTransaction.netAmount, after.byTransaction.netAmount),
    amountByAllocation: areKnown ? toAmountChange(before.byAllocation.amount!, after.byAllocation.amount!) : null,
  };
}

const toCountChange = (before: number, after: number): CountChange => ({
  difference: after - before,
  percentage: toPercentage(BigInt(after - before), BigInt(before)),
});

function toAmountChange(before: Money, after: Money): AmountChange {
  const [from, to] = [toCents(before)!, toCents(after)!];
  return { difference: toMoney(to - from), percentage: toPercentage(to - from, from) };
}

/** The part of a whole in percent, rounded to two decimals, halves away from zero. A loss is negative, also where the whole is. */
function toPercentage(part: bigint, whole: bigint): number | null {
  if (whole === 0n) return null;
  const size = whole < 0n ? -whole : whole;
  const doubled = (part < 0n ? -part : part) * 20_000n;
  const hundredths = Number((doubled + size) / (size * 2n));
  return (part < 0n ? -hundredths : hundredths) / 100 || 0;
}
