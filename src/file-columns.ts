import type { RowColumn } from './row-template';
import { v2Columns } from './v2-line';

/** Columns of a file by their names in it. Of a summary, `field` is the way into a group, its steps joined by dots. */
export type FileColumns = Readonly<Record<string, RowColumn>>;

const text = (field: string) => ({ field, kind: 'text' }) as const;
const freeText = (field: string) => ({ field, kind: 'text', freeText: true }) as const;
const number = (field: string) => ({ field, kind: 'number' }) as const;

/** What a file of lines can have: the fields of v2, and the allocation's own share, which v2 does not know. */
export const lineColumns: FileColumns = { ...v2Columns, allocation_amount: { field: 'allocationAmount', kind: 'nullable' } };

const KEY_COLUMNS = {
  DAY: { day: text('key.day') },
  WEEK: { week: text('key.week') },
  MONTH: { month: text('key.month') },
  DESIGNATION: { designation_id: number('key.designationId'), designation: freeText('key.designation') },
  STATUS: { status: freeText('key.status') },
  ACCOUNT_TYPE: { account_type: freeText('key.accountType') },
  PAYMENT_TYPE: { payment_type: freeText('key.paymentType') },
} as const satisfies Record<string, FileColumns>;

/** What lines can be grouped by. */
export type FileGroupBy = keyof typeof KEY_COLUMNS;
export const fileGroupBys = Object.keys(KEY_COLUMNS) as readonly FileGroupBy[];

const COUNTS = {
  lines: 'lines',
  transactions: 'transactions',
  deposits: 'deposits',
  donors: 'donors',
  split_transactions: 'splitTransactions',
  known_allocations: 'byAllocation.known',
  unknown_allocations: 'byAllocation.unknown',
};
const AMOUNTS = {
  line_amount: 'byLine.amount',
  line_fee_amount: 'byLine.feeAmount',
  line_net_amount: 'byLine.netAmount',
  transaction_amount: 'byTransaction.amount',
  transaction_fee_amount: 'byTransaction.feeAmount',
  transaction_net_amount: 'byTransaction.netAmount',
  allocation_amount: 'byAllocation.amount',
};

function figures(part: 'all' | 'posted' | 'pending', prefix = ''): FileColumns {
  const columns = (of: Readonly<Record<string, string>>, column: (field: string) => RowColumn) =>
    Object.entries(of).map(([name, field]) => [prefix + name, column(`${part}.${field}`)] as const);
  return Object.fromEntries([...columns(COUNTS, number), ...columns(AMOUNTS, text)]);
}

const FIGURES = figures('all');
const PARTS = { ...figures('posted', 'posted_'), ...figures('pending', 'pending_') };

/** What a file of a summary can have, and which of it it has where none are chosen: posted and pending together. */
export function summaryColumns(groupBy: readonly FileGroupBy[]): { readonly all: FileColumns; readonly usual: FileColumns } {
  const keys = groupBy.map((by): FileColumns => KEY_COLUMNS[by]);
  const usual = Object.assign({}, ...keys, FIGURES) as FileColumns;
  return { usual, all: { ...usual, ...PARTS } };
}
