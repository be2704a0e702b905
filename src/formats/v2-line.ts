import type { RowColumn } from '../rows/row-template';
import { createFileLayout } from './file-format';

// Answers take the names of v2's fields from here. Imports, which read them, have a list of their own.

const text = (field: string) => ({ field, kind: 'text' }) as const;
const freeText = (field: string) => ({ field, kind: 'text', freeText: true }) as const;
const number = (field: string) => ({ field, kind: 'number' }) as const;

/** The 26 fields of a deposit detail line in the contract's order (section 2.1), each with its column of the report. */
export const v2Columns = {
  deposit_id: freeText('depositId'),
  transaction_date: text('transactionDate'),
  deposit_date: text('depositDate'),
  transaction_id: freeText('transactionId'),
  allocation_id: freeText('allocationId'),
  donor_id: number('donorId'),
  donor_first_name: freeText('donorFirstName'),
  donor_last_name: freeText('donorLastName'),
  address1: freeText('address1'),
  address2: freeText('address2'),
  address3: freeText('address3'),
  city: freeText('city'),
  state: freeText('state'),
  zip: freeText('zip'),
  phone: freeText('phone'),
  email_address: freeText('emailAddress'),
  amount: text('amount'),
  fee_amount: text('feeAmount'),
  net_amount: text('netAmount'),
  status: freeText('status'),
  account_type: freeText('accountType'),
  payment_type: freeText('paymentType'),
  designation_id: number('designationId'),
  designation: freeText('designation'),
  designation_memo: freeText('designationMemo'),
  main_memo: freeText('mainMemo'),
} as const satisfies Record<string, RowColumn>;

export type V2Field = keyof typeof v2Columns;

export const v2Fields = Object.keys(v2Columns) as readonly V2Field[];

/** The layouts of a file with all v2 fields. `json` is the v2 answer (contract section 4.3). */
export const v2Layouts = {
  json: createFileLayout('json', v2Columns),
  ndjson: createFileLayout('ndjson', v2Columns),
  csv: createFileLayout('csv', v2Columns),
} as const;
