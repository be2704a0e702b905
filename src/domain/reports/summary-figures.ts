import type { ExtraFigure, SummaryQuestion, SummaryRow } from '../../data/reports/deposit-summary-store';
import type { LineSet } from '../../data/books/line-set';
import type { LocalDate } from '../../values/dates';
import { toCents, toMoney, type Money } from '../../values/money';

/** Sums of transactions' amounts. A transaction counts either once or once for each of its lines. */
export interface SummaryAmounts {
  readonly amount: Money;
  readonly feeAmount: Money;
  readonly netAmount: Money;
}

export interface SummaryTotals {
  readonly lines: number;
  readonly transactions: number;
  /** Null where it was not asked for. */
  readonly deposits: number | null;
  /**
   * Null where it was not asked for, and for callers who may not read donors: counted over few gifts, donors would show which gifts have
   * the same giver.
   */
  readonly donors: number | null;
  /** Transactions with several lines in the set. */
  readonly splitTransactions: number;
  /** A split transaction counts once for each of its lines. */
  readonly byLine: SummaryAmounts;
  /** Each transaction counts once. */
  readonly byTransaction: SummaryAmounts;
  /** The shares of the allocations. */
  readonly byAllocation: AllocationAmounts;
  /** The first and the last date of the lines, by the date basis of the line set; null where there are no lines, and where they were not asked for. */
  readonly firstGift: LocalDate | null;
  readonly lastGift: LocalDate | null;
}

/** The sum of the shares, and the numbers of shares that the books state, that were inferred and that are unknown. */
export interface AllocationAmounts {
  /** Null when there are shares, but none is known or inferred. */
  readonly amount: Money | null;
  readonly known: number;
  readonly inferred: number;
  readonly unknown: number;
}

/** The totals of posted and pending deposits, together and apart. */
export interface SummaryParts {
  readonly all: SummaryTotals;
  readonly posted: SummaryTotals;
  readonly pending: SummaryTotals;
}

/** The change of a figure. The percentage has two decimals, and is null where the figure was zero or negative before. */
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

/** The figures of a set of lines, beside those of the period that is compared. */
export interface SummaryFigures extends SummaryParts {
  /** Null when no period is compared. */
  readonly compared: SummaryParts | null;
  /** The change of `all` since the compared period; null when none is compared. */
  readonly change: SummaryChange | null;
}

const ZERO = { amount: '0.00', feeAmount: '0.00', netAmount: '0.00' };
/** The totals of no lines. */
export const NO_TOTALS: SummaryTotals = {
  lines: 0,
  transactions: 0,
  deposits: 0,
  donors: 0,
  splitTransactions: 0,
  byLine: ZERO,
  byTransaction: ZERO,
  byAllocation: { amount: '0.00', known: 0, inferred: 0, unknown: 0 },
  firstGift: null,
  lastGift: null,
};

/** The figures of the rows of one set or group. An extra figure that was not asked for is null. */
export function toFigures(
  rows: readonly SummaryRow[],
  { lineSet, compareWith }: SummaryQuestion,
  extras: readonly ExtraFigure[],
): SummaryFigures {
  const toSide = (isCompared: boolean): SummaryParts =>
    toParts(
      rows.filter((row) => row.isCompared === isCompared),
      lineSet,
      extras,
    );
  const parts = toSide(false);
  if (!compareWith) return { ...parts, compared: null, change: null };
  const compared = toSide(true);
  return { ...parts, compared, change: toChange(compared.all, parts.all) };
}

function toParts(rows: readonly SummaryRow[], { pending }: LineSet, extras: readonly ExtraFigure[]): SummaryParts {
  const read = (part: SummaryRow['part']): SummaryTotals => {
    const row = rows.find((each) => each.part === part);
    if (row) return toTotals(row, extras);
    return { ...NO_TOTALS, deposits: extras.includes('deposits') ? 0 : null, donors: extras.includes('donors') ? 0 : null };
  };
  const all = read('ALL');
  return {
    all,
    posted: pending === 'WITHOUT' ? all : read('POSTED'),
    pending: pending === 'ONLY' ? all : read('PENDING'),
  };
}

/** The totals of a row. An extra figure that was not asked for is null. */
export function toTotals(row: SummaryRow, extras: readonly ExtraFigure[]): SummaryTotals {
  const { lines, transactions, deposits = null, donors = null, splitTransactions } = row;
  const { allocationAmount, knownAllocations: known, inferredAllocations: inferred } = row;
  return {
    lines,
    transactions,
    splitTransactions,
    deposits: extras.includes('deposits') ? deposits : null,
    donors: extras.includes('donors') ? donors : null,
    byLine: { amount: row.lineAmount, feeAmount: row.lineFeeAmount, netAmount: row.lineNetAmount },
    byTransaction: { amount: row.transactionAmount, feeAmount: row.transactionFeeAmount, netAmount: row.transactionNetAmount },
    byAllocation: { amount: lines === 0 ? ZERO.amount : allocationAmount, known, inferred, unknown: lines - known - inferred },
    firstGift: row.firstGift ?? null,
    lastGift: row.lastGift ?? null,
  };
}

function toChange(before: SummaryTotals, after: SummaryTotals): SummaryChange {
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

/**
 * The part of a whole in percent, rounded to two decimals, halves away from zero. Null where the whole is not positive: of a loss, a part of
 * 220 % would be read as growth.
 */
function toPercentage(part: bigint, whole: bigint): number | null {
  if (whole <= 0n) return null;
  const hundredths = Number(((part < 0n ? -part : part) * 20_000n + whole) / (whole * 2n));
  return (part < 0n ? -hundredths : hundredths) / 100 || 0;
}
