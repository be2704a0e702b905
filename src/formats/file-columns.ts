import type { RowColumn } from '../rows/row-template';
import type { FileColumns } from './file-format';
import { groupColumns, type GroupBy } from './line-groups';
import { v2Columns, v2Fields } from './v2-line';

const text = (field: string) => ({ field, kind: 'text' }) as const;
const freeText = (field: string) => ({ field, kind: 'text', freeText: true }) as const;
const number = (field: string) => ({ field, kind: 'number' }) as const;
const nullable = (field: string) => ({ field, kind: 'nullable' }) as const;

/** The columns of lines that v2 lacks. An import reads each of them too: the build fails until its schema has the field. */
export const extraColumns = {
  deposit_status: { field: 'depositStatus', kind: 'text', isLowerCase: true },
  allocation_amount: nullable('allocationAmount'),
  allocation_amount_inferred: { field: 'allocationAmountInferred', kind: 'boolean' },
} as const satisfies FileColumns;

export const allLineColumns: FileColumns = { ...v2Columns, ...extraColumns };

/** The columns that files of one kind can have. */
export interface ColumnChoice {
  readonly all: FileColumns;
  /** The columns of a file when the caller chooses none. */
  readonly usual: FileColumns;
  /** Words that stand for several columns. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** The columns of a file of lines. With pending lines the status is usual: without it, an import would take pending money for posted. */
export const lineColumns = (hasPending: boolean): ColumnChoice => ({
  all: allLineColumns,
  usual: hasPending ? { ...v2Columns, deposit_status: extraColumns.deposit_status } : v2Columns,
  groups: { all: Object.keys(allLineColumns), v2: v2Fields },
});

/** The columns of a group's key. */
const keyColumns = (by: GroupBy): FileColumns =>
  Object.fromEntries(groupColumns(by).map(([name, { field, type }]) => [name, TYPES[type](`key.${field}`)]));
const TYPES = {
  date: text,
  number,
  text: freeText,
  status: (field: string) => ({ field, kind: 'text', isLowerCase: true }) as const,
};

const COUNTS = {
  lines: 'lines',
  transactions: 'transactions',
  deposits: 'deposits',
  donors: 'donors',
  split_transactions: 'splitTransactions',
  known_allocations: 'byAllocation.known',
  inferred_allocations: 'byAllocation.inferred',
  unknown_allocations: 'byAllocation.unknown',
};
const AMOUNTS = {
  line_amount: 'byLine.amount',
  line_fee_amount: 'byLine.feeAmount',
  line_net_amount: 'byLine.netAmount',
  transaction_amount: 'byTransaction.amount',
  transaction_fee_amount: 'byTransaction.feeAmount',
  transaction_net_amount: 'byTransaction.netAmount',
};
const SHARES = { allocation_amount: 'byAllocation.amount' };

function figures(part: 'all' | 'posted' | 'pending', prefix = ''): FileColumns {
  const columns = (of: Readonly<Record<string, string>>, column: (field: string) => RowColumn) =>
    Object.entries(of).map(([name, field]) => [prefix + name, column(`${part}.${field}`)] as const);
  return Object.fromEntries([...columns(COUNTS, number), ...columns(AMOUNTS, text), ...columns(SHARES, nullable)]);
}

const FIGURES = figures('all');
const PARTS = { ...figures('posted', 'posted_'), ...figures('pending', 'pending_') };

/** The columns of a summary's file. The usual ones count posted and pending deposits together. */
export function summaryColumns(groupBy: readonly GroupBy[]): ColumnChoice {
  const keys = groupBy.map(keyColumns);
  const usual = Object.assign({}, ...keys, FIGURES) as FileColumns;
  const all = { ...usual, ...PARTS };
  return { usual, all, groups: { all: Object.keys(all) } };
}
