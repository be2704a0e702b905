import { createCsvTemplate, createJsonTemplate, type JsonMember, type RowColumn, type RowTemplate } from './row-template';

// The only file that knows the fields of v2.

const text = (field: string) => ({ field, kind: 'text' }) as const;
const freeText = (field: string) => ({ field, kind: 'text', freeText: true }) as const;
const number = (field: string) => ({ field, kind: 'number' }) as const;

/** The 26 fields of a deposit detail line in the contract's order (section 2.1), with the report's column of each. */
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

/** What stands before the first row, between, and after the last. */
export interface LineFormat {
  readonly head: string;
  readonly template: RowTemplate;
  readonly tail: string;
}

/** Rows of these columns, in this order, in one of the forms that files have. */
export function createLineFormat(format: 'json' | 'ndjson' | 'csv', columns: Readonly<Record<string, RowColumn>>): LineFormat {
  const members: readonly JsonMember[] = Object.entries(columns).map(([key, column]) => ({ key, ...column }));
  switch (format) {
    case 'json':
      return { head: '{"response":[', template: createJsonTemplate(members, ','), tail: ']}' };
    case 'ndjson':
      return { head: '', template: createJsonTemplate(members, '', '\n'), tail: '' };
    case 'csv':
      return { head: `${Object.keys(columns).join(',')}\r\n`, template: createCsvTemplate(Object.values(columns)), tail: '' };
  }
}

/** All fields: the v2 answer (contract section 4.3), one line of it to a line of text, and RFC 4180 with a header record. */
export const v2Formats = {
  json: createLineFormat('json', v2Columns),
  ndjson: createLineFormat('ndjson', v2Columns),
  csv: createLineFormat('csv', v2Columns),
} as const;
