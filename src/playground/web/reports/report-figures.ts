import type { ChangeClass } from '../../../values/change-classes';
import type { GivenTotals } from '../tables/table-rows';
import type { Cell, ColumnSum, TableColumn } from '../values/table-types';

/** The totals of a report, as its document selects them. Each gift is counted once. */
export interface Figures {
  readonly transactions: number;
  readonly deposits: number;
  readonly splitTransactions: number;
  readonly byTransaction: { readonly amount: string; readonly feeAmount: string; readonly netAmount: string };
  /** The shares that go where the report looks. `unknown` shares are not in the amount, which is null where all are unknown. */
  readonly byAllocation: { readonly amount: string | null; readonly unknown: number };
}

export interface Change {
  readonly difference: string | number;
  /** Null where the compared figure is zero or negative. */
  readonly percentage: number | null;
}

export interface ReportFigures {
  /** The version of the state that the report is of; null before the first. */
  readonly dataVersion: { readonly number: number } | null;
  readonly all: Figures;
  readonly pending: Figures;
  readonly compared?: { readonly all: Figures } | null;
  readonly change?: {
    readonly transactions: Change;
    readonly amountByTransaction: Change;
    readonly netAmountByTransaction: Change;
    readonly amountByAllocation: Change | null;
  } | null;
}

/** False where nothing came in, in the period that the report is compared with either: zeros would say nothing. */
export const hasGifts = ({ all, compared }: ReportFigures): boolean => all.transactions > 0 || (compared?.all.transactions ?? 0) > 0;

/** The steps that lead from the figures of an earlier state to those of a later one. */
export interface ChangeBridge {
  readonly before: BridgeEnd;
  readonly after: BridgeEnd;
  /** The changes of each class that has any. */
  readonly classes: readonly BridgeStep[];
}

interface BridgeEnd {
  readonly dataVersion: { readonly number: number } | null;
  readonly all: Figures;
}

export interface BridgeStep {
  readonly class: ChangeClass;
  readonly changes: number;
  readonly effect: {
    readonly transactions: number;
    readonly byTransaction: { readonly amount: string };
    readonly byAllocation: { readonly amount: string; readonly unknown: number };
  };
}

interface Answer {
  readonly depositChanges?: {
    readonly summaryBefore: BridgeEnd;
    readonly summaryAfter: BridgeEnd;
    readonly classes: readonly BridgeStep[];
  } | null;
  readonly depositSummary?: ReportFigures | null;
  readonly depositDetailsConnection?: { readonly totalCount?: number; readonly summary?: ReportFigures | null } | null;
}

/** Finds the totals in the answer to a report's document; undefined for a report without any. */
export function findFigures(data: unknown): ReportFigures | undefined {
  const { depositSummary, depositDetailsConnection } = (data ?? {}) as Answer;
  return depositSummary ?? depositDetailsConnection?.summary ?? undefined;
}

/** The number of the lines of a report, in the answer to its document. */
export const countRows = (data: unknown): number | undefined => ((data ?? {}) as Answer).depositDetailsConnection?.totalCount;

/** Finds what leads from one state to the other in the answer to a report of changes; undefined for any other report. */
export function findBridge(data: unknown): ChangeBridge | undefined {
  const { depositChanges } = (data ?? {}) as Answer;
  if (!depositChanges) return undefined;
  const { summaryBefore, summaryAfter, classes } = depositChanges;
  return { before: summaryBefore, after: summaryAfter, classes };
}

/**
 * The totals of all rows by the ids of the columns. A column whose rows do not add up has none: the gateway's total, which counts each gift
 * once, would pass for their sum. Gifts and deposits are no money, and have their number, each once. A sum of which a part is unknown says
 * how many values it lacks.
 */
export function toTotals(figures: ReportFigures, columns: readonly TableColumn[]): GivenTotals {
  const totals: Record<string, Cell | ColumnSum> = {};
  for (const { id } of columns.filter(({ adds, kind }) => adds || kind === 'percent' || kind === 'count')) {
    const value = id.split('.').reduce<unknown>((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], figures);
    if (id === 'allocationAmount' || id === 'all.byAllocation.amount') totals[id] = toShares(figures.all);
    else if (id === 'pending.byAllocation.amount') totals[id] = toShares(figures.pending);
    else if (id === 'compared.all.byAllocation.amount' && figures.compared) totals[id] = toShares(figures.compared.all);
    else if (value !== undefined) totals[id] = value as Cell;
  }
  return totals;
}

const toShares = ({ byAllocation: { amount, unknown } }: Figures): ColumnSum => ({ sum: amount, unknown });
