/** The columns of a gateway's file of lines as the v2 interface has them: the parameter `columns=v2`. */
const v2Columns = [
  ...['deposit_id', 'transaction_date', 'deposit_date', 'transaction_id', 'allocation_id', 'donor_id', 'donor_first_name'],
  ...['donor_last_name', 'address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'email_address', 'amount', 'fee_amount'],
  ...['net_amount', 'status', 'account_type', 'payment_type', 'designation_id', 'designation', 'designation_memo', 'main_memo'],
];

/** The choices of columns that the gateway has for its files of lines, by the values of its parameter `columns`. */
export const lineFileColumns = {
  v2: v2Columns,
  all: [...v2Columns, 'deposit_status', 'allocation_amount', 'allocation_amount_inferred'],
} as const;
export type LineFileColumns = keyof typeof lineFileColumns;

export type FileColumnKind = 'money' | 'date' | 'count' | 'boolean' | 'text';

const DATES = ['deposit_date', 'transaction_date', 'day', 'week', 'month', 'quarter', 'year'];
const NUMBERS = ['donor_id', 'designation_id'];
const COUNTS = /^(posted_|pending_)?(lines|transactions|deposits|donors|split_transactions|(known|inferred|unknown)_allocations)$/;

/** Tells from the name of a column of a gateway's file what its values are. */
export function kindOfFileColumn(name: string): FileColumnKind {
  if (name.endsWith('amount')) return 'money';
  if (name.endsWith('_inferred')) return 'boolean';
  if (DATES.includes(name)) return 'date';
  return NUMBERS.includes(name) || COUNTS.test(name) ? 'count' : 'text';
}
