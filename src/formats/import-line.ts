import { z } from 'zod';
import { isLocalDate } from '../values/dates';
import { toCents, toMoney, type Money } from '../values/money';
import { allLineColumns, extraColumns } from './file-columns';
import { v2Fields, type V2Field } from './v2-line';

/** The columns that an import file may have beside the 26 fields of a v2 line. */
export const optionalFields: readonly string[] = Object.keys(extraColumns);

type OptionalField = keyof typeof extraColumns;
type ImportField = V2Field | OptionalField;

/** A line as it stands in the file: an object of values by field name, which is not checked yet. */
export interface RawLine {
  /** The number of the line in a text file, or its position in the array `response`, from 1. */
  readonly line: number;
  readonly values: unknown;
}

/** A checked line, which the report can return byte for byte. */
export type ImportLine = Omit<z.output<typeof lineSchema>, OptionalField> & {
  /** Undefined when the file does not state it; the same holds for the share. */
  readonly deposit_status?: ImportStatus | undefined;
  readonly allocation_amount?: Money | undefined;
};

export const importStatuses = ['posted', 'pending'] as const;
export type ImportStatus = (typeof importStatuses)[number];

export interface LineFault {
  readonly line: number;
  readonly field: string;
  readonly reason: string;
}

const MAX_ID_LENGTH = 200;
const MAX_SAFE = Number.MAX_SAFE_INTEGER;

const text = z
  .string('must be text')
  .refine((value) => !value.includes('\0'), 'contains a NUL character')
  .refine((value) => value.isWellFormed(), 'contains half of a surrogate pair');
const id = text.min(1, 'must not be empty').max(MAX_ID_LENGTH, `is longer than ${MAX_ID_LENGTH} characters`);
const DATE_FAULT = 'must be a calendar date YYYY-MM-DD';
const date = z
  .string(DATE_FAULT)
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, { error: DATE_FAULT, abort: true })
  .refine(isLocalDate, 'is no day of the calendar');
/** The limit of the column type numeric(14,2), in cents. */
const CENTS_LIMIT = 10n ** 14n;
const MONEY_FAULT = 'must be an amount as text with two decimals, like "10.50"';
const money = z.custom<string>((value) => {
  const cents = typeof value === 'string' ? toCents(value) : undefined;
  return cents !== undefined && cents > -CENTS_LIMIT && cents < CENTS_LIMIT;
}, MONEY_FAULT);
const number = z
  .number(`must be a whole number from 0 to ${MAX_SAFE}`)
  .refine((value) => Number.isSafeInteger(value) && value >= 0, `must be a whole number from 0 to ${MAX_SAFE}`);

const lineSchema = z.strictObject({
  deposit_id: id,
  transaction_date: date,
  deposit_date: date,
  transaction_id: id,
  allocation_id: id,
  donor_id: number,
  donor_first_name: text,
  donor_last_name: text,
  address1: text,
  address2: text,
  address3: text,
  city: text,
  state: text,
  zip: text,
  phone: text,
  email_address: text,
  amount: money,
  fee_amount: money,
  // A net amount may have a digit more than the amount and the fee, so their limit does not hold for it.
  net_amount: z.string(MONEY_FAULT),
  status: text,
  account_type: text,
  payment_type: text,
  designation_id: number,
  designation: text,
  designation_memo: text,
  main_memo: text,
  deposit_status: z.enum(importStatuses, 'must be posted or pending').nullish(),
  allocation_amount: money.nullish(),
  allocation_amount_inferred: z.boolean('must be true or false').nullish(),
} satisfies Record<ImportField, z.ZodType>);

const donorFields = v2Fields.slice(v2Fields.indexOf('donor_first_name'), v2Fields.indexOf('amount'));

/** Checks a line. Returns it, or its faults. A fault does not repeat the value, which may be personal. */
export function parseImportLine({ line, values }: RawLine): ImportLine | LineFault[] {
  const result = lineSchema.safeParse(values, { reportInput: true });
  if (!result.success) return result.error.issues.flatMap((issue) => toFaults(line, issue));
  const parsed = result.data;
  const faults: LineFault[] = [];
  const net = toMoney(toCents(parsed.amount)! - toCents(parsed.fee_amount)!);
  if (parsed.net_amount !== net) faults.push({ line, field: 'net_amount', reason: `is not amount minus fee_amount, ${net}` });
  if (parsed.donor_id === 0) {
    const filled = donorFields.filter((field) => parsed[field] !== '');
    faults.push(...filled.map((field) => ({ line, field, reason: 'must be empty where donor_id is 0' })));
  }
  const { deposit_status, allocation_amount, allocation_amount_inferred: isInferred, ...fields } = parsed;
  if (isInferred && typeof allocation_amount === 'string' && allocation_amount !== parsed.amount) {
    faults.push({ line, field: 'allocation_amount', reason: 'is said to be inferred, and is not the amount' });
  }
  if (faults.length > 0) return faults;
  // An inferred share is not imported, because the books did not state it. The report infers it again.
  return {
    ...fields,
    deposit_status: deposit_status ?? undefined,
    allocation_amount: isInferred ? undefined : (allocation_amount ?? undefined),
  };
}

function toFaults(line: number, issue: z.core.$ZodIssue): LineFault[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((field) => ({ line, field, reason: 'is not a field of a deposit line' }));
  const [field] = issue.path;
  if (field === undefined) return [{ line, field: '', reason: 'it must be an object with the fields of a deposit line' }];
  return [{ line, field: String(field), reason: issue.input === undefined ? 'is missing' : issue.message }];
}

const FORMULA_GUARD = /^'(?='*[=+\-@\t\r])/;

/**
 * Turns the texts of a CSV record into the values of a line: numbers become numbers, the guard against formulas is taken off, and empty
 * optional fields are left out.
 */
export function toLineValues(record: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([field, value]): [string, unknown][] => {
      if (value === '' && optionalFields.includes(field)) return [];
      const column = allLineColumns[field];
      if (column?.kind === 'boolean') return [[field, BOOLEANS.get(value) ?? value]];
      if (column?.kind === 'number') return [[field, /^[0-9]{1,16}$/.test(value) ? Number(value) : value]];
      return [[field, column?.freeText ? value.replace(FORMULA_GUARD, '') : value]];
    }),
  );
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
