import type { LineSelectionArgs } from '../resolvers/deposit-detail-types';
import { isLocalDate, type LocalDate } from '../dates';
import { InputError } from '../errors';
import { toCents, type Money } from '../money';
import { v2Fields, type V2Field } from '../v2-line';

/** A query string as Express gives it: each name once or more than once. */
export type QueryString = Readonly<Record<string, unknown>>;

/** What an export is asked for. */
export interface ExportQuery {
  readonly lines: LineSelectionArgs;
  /** In the order of the file. */
  readonly columns: readonly V2Field[];
  /** Whether CSV begins with a byte order mark, by which Excel knows UTF-8. */
  readonly hasBom: boolean;
  /** Whether control totals and digest are worked out before the first line leaves. */
  readonly hasTotals: boolean;
}

const LISTS = ['deposit_id', 'transaction_id', 'designation_id', 'donor_id', 'status', 'account_type', 'payment_type'] as const;
const SINGLE = [
  ...['start_date', 'end_date', 'include_pending', 'pending', 'columns', 'bom', 'totals'],
  ...['transaction_date_from', 'transaction_date_to', 'amount_min', 'amount_max', 'donor_name'],
] as const;
type Single = (typeof SINGLE)[number];
type List = (typeof LISTS)[number];

/** Reads the query of an export. Throws INVALID_PARAMETERS that names what is wrong. */
export function parseExportQuery(query: QueryString): ExportQuery {
  const unknown = Object.keys(query).find((name) => ![...SINGLE, ...LISTS].some((known) => known === name));
  if (unknown !== undefined) throw new InputError(`there is no parameter ${unknown}`);
  const one = <Value>(name: Single, read: (text: string) => Value | undefined, expected: string): Value | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const value = typeof text === 'string' ? read(text) : undefined;
    if (value === undefined) throw new InputError(`${name} must be ${expected}`);
    return value;
  };
  const many = (name: List): string[] | undefined => {
    const texts = query[name];
    return texts === undefined ? undefined : ([texts].flat() as string[]);
  };
  const ids = (name: List): number[] | undefined =>
    many(name)?.map((text) => {
      if (!/^[0-9]{1,15}$/.test(text)) throw new InputError(`${name} must be a number`);
      return Number(text);
    });
  const date = (name: Single): LocalDate | undefined => one(name, (text) => (isLocalDate(text) ? text : undefined), 'a date YYYY-MM-DD');
  const amount = (name: Single): Money | undefined =>
    one(name, (text) => (toCents(text) === undefined ? undefined : text), 'an amount like 10.00');
  const flag = (name: Single): boolean => one(name, (text) => FLAGS.get(text), 'true or false') ?? false;
  const needed = (name: 'start_date' | 'end_date'): LocalDate => {
    const value = date(name);
    if (value === undefined) throw new InputError(`${name} is missing`);
    return value;
  };

  const filter = {
    transactionDate: { from: date('transaction_date_from'), to: date('transaction_date_to') },
    amount: { min: amount('amount_min'), max: amount('amount_max') },
    depositIds: many('deposit_id'),
    transactionIds: many('transaction_id'),
    designationIds: ids('designation_id'),
    donorIds: ids('donor_id'),
    statuses: many('status'),
    accountTypes: many('account_type'),
    paymentTypes: many('payment_type'),
    pending: one('pending', (text) => PENDING.find((choice) => choice === text), 'WITH, WITHOUT or ONLY'),
    donorName: one('donor_name', (text) => text, 'given once'),
  };
  return {
    lines: { startDate: needed('start_date'), endDate: needed('end_date'), includePending: flag('include_pending'), filter },
    columns: one('columns', toColumns, 'names of fields of the report, each once, separated by commas') ?? v2Fields,
    hasBom: flag('bom'),
    hasTotals: one('totals', (text) => TOTALS.get(text), 'headers or skip') ?? true,
  };
}

/** The conditions that a query narrows by, without their values: those may be of persons. */
export const namesOfConditions = (query: QueryString): string[] => Object.keys(query).filter((name) => !NO_CONDITIONS.has(name));
const NO_CONDITIONS: ReadonlySet<string> = new Set(['start_date', 'end_date', 'include_pending', 'columns', 'bom', 'totals']);

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const TOTALS: ReadonlyMap<string, boolean> = new Map([
  ['headers', true],
  ['skip', false],
]);
const PENDING = ['WITH', 'WITHOUT', 'ONLY'] as const;

function toColumns(text: string): readonly V2Field[] | undefined {
  const columns = text.split(',').map((name) => v2Fields.find((field) => field === name));
  const known = columns.filter((column) => column !== undefined);
  return known.length === columns.length && new Set(known).size === known.length ? known : undefined;
}
