import { InputError } from '../errors';
import { AS_OF_FORM, formatAsOf, parseAsOf, type AsOf } from './as-of';
import { describeDateFault, isLocalDate } from '../values/dates';
import { isCurrency } from '../values/currencies';
import { journalLayouts } from '../values/journal-layouts';
import { describeMoneyFault, isMoney } from '../values/money';
import { valueAt } from '../values/paths';

/**
 * A text in an address. Nothing is no text, because a script writes it where a value is missing. Quotes around a text are taken off, so
 * that `""` stands for the empty text. `writeText` writes one.
 */
export function readText(text: string): string | undefined {
  if (text === '') return undefined;
  return isQuoted(text) ? text.slice(1, -1) : text;
}
export const writeText = (text: string): string => (text === '' || isQuoted(text) ? `"${text}"` : text);
const isQuoted = (text: string): boolean => /^".*"$/s.test(text);

/** True for a text that may begin a donor's name. Nothing is left of any other one. */
export const isName = (text: string | undefined): boolean => text !== undefined && /[\p{L}\p{M}\p{N}]/u.test(text);

/** A parameter of a file's address, and the path of its value in a FileQuery. */
export interface Parameter {
  readonly path: readonly string[];
  readonly read: (text: string) => unknown;
  /** Writes a value that is no text, number or truth value. */
  readonly write?: (value: unknown) => string;
  readonly expected: string;
  /** Describes the fault of a single value, when that says more than `expected`. */
  readonly describeFault?: (text: string) => string;
  readonly isList?: boolean;
}

const parameter =
  (expected: string, read: (text: string) => unknown) =>
  (...path: string[]): Parameter => ({ path, read, expected });
export const list = (parameter: Parameter): Parameter => ({ ...parameter, isList: true });

export const word = parameter('a text; "" stands for the empty one', readText);
export const id = parameter('an id', (value) => readText(value) || undefined);
export const name = parameter('given once, with a letter or a digit', (value) => [readText(value)].find(isName));
export const date = (...path: string[]): Parameter => ({
  path,
  read: (value) => (isLocalDate(value) ? value : undefined),
  expected: 'a date YYYY-MM-DD',
  describeFault: describeDateFault,
});
export const amount = (...path: string[]): Parameter => ({
  path,
  read: (value) => (isMoney(value) ? value : undefined),
  expected: 'an amount like 10.00',
  describeFault: describeMoneyFault,
});
export const number = parameter('a number', (value) =>
  /^-?[0-9]{1,16}$/.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : undefined,
);
export const month = parameter('a month from 1 to 12', (value) => (/^([1-9]|1[0-2])$/.test(value) ? Number(value) : undefined));
export const flag = parameter('true or false', (value) => (value === 'true' ? true : value === 'false' ? false : undefined));
export const choice = (...choices: readonly string[]) =>
  parameter(`${choices.slice(0, -1).join(', ')} or ${choices.at(-1)!}`, (value) => choices.find((each) => each === value));
const currency = parameter('a code of a currency like EUR', (value) => (isCurrency(value) ? value : undefined));
const label = parameter('a text of 1 to 100 characters', (value) => (/^[^\p{Cc}]{1,100}$/u.test(value) ? value : undefined));
export const state = (...path: string[]): Parameter => ({
  path,
  read: parseAsOf,
  write: (value) => formatAsOf(value as AsOf),
  expected: AS_OF_FORM,
});
/** The stamp of a data version. */
const PLACE = /^(?:0|[1-9][0-9]{0,14}\.[0-9]{1,18})$/;

/** The state of a journal that was booked. Its place is of these books alone; a restored backup goes on with the same numbers. */
export type BookedState = AsOf & { readonly place?: string };

const bookedState = (...path: string[]): Parameter => ({
  path,
  read: (text) => (PLACE.test(text) ? { version: Number.parseInt(text, 10), place: text } : parseAsOf(text)),
  write: (value) => formatBookedState(value as BookedState),
  expected: `the X-Export-Place of a journal, ${AS_OF_FORM}`,
});
const formatBookedState = (state: BookedState): string => state.place ?? formatAsOf(state);

/** The number of a saving of accounts, as the database has it. */
const saving = parameter('a number from 1 to 2147483647', (text) =>
  /^[1-9][0-9]{0,9}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined,
);
/** The dates of a journal that was booked. One of them alone would be of no period. */
const BOOKED_DATES = ['since_start_date', 'since_end_date'] as const;
const BOOKED: Readonly<Record<string, Parameter>> = {
  [BOOKED_DATES[0]]: date('journal', 'booked', 'startDate'),
  [BOOKED_DATES[1]]: date('journal', 'booked', 'endDate'),
  since_accounts: saving('journal', 'bookedAccounts'),
};
const SINCE = 'since';
const ACCOUNTS = 'accounts';
/** The parameters of a journal beside its dates and its state. */
export const JOURNAL_PARAMETERS: Readonly<Record<string, Parameter>> = {
  [SINCE]: bookedState('journal', 'since'),
  ...BOOKED,
  layout: choice(...journalLayouts)('journal', 'layout'),
  [ACCOUNTS]: saving('journal', 'accounts'),
  currency: currency('journal', 'currency'),
  tax_rate: label('journal', 'taxRate'),
  journal_id: label('journal', 'journalId'),
};

/** Throws INVALID_PARAMETERS for a journal that was booked without its state, and for one of its dates without the other. */
export function assertBooked(given: Readonly<Record<string, unknown>>): void {
  const [first] = Object.keys(BOOKED).filter((name) => given[name] !== undefined);
  if (first !== undefined && given[SINCE] === undefined)
    throw new InputError(`${first} is of the journal that ${SINCE} names: give it too`);
  const lacking = BOOKED_DATES.find((name) => given[name] === undefined);
  if (lacking !== undefined && BOOKED_DATES.some((name) => given[name] !== undefined))
    throw new InputError(`${lacking} is missing: a period has two dates`);
}

/** The conditions by which a receipt tells what its journal is of, so that the next one can say what was booked. */
export const toJournalConditions = (query: object): string[] =>
  Object.entries({ [SINCE]: JOURNAL_PARAMETERS[SINCE]!, ...BOOKED, [ACCOUNTS]: JOURNAL_PARAMETERS[ACCOUNTS]! }).flatMap(
    ([name, { path, write = String }]) => {
      const value = valueAt(query, path);
      return value === undefined ? [] : [`${name}=${write(value)}`];
    },
  );

/** The parameters of a follower: the version that it has, and the seconds that it waits for another one. */
export const FOLLOWING = {
  since: parameter('the X-Export-Place of an export, or the `next` of the last answer', (text) => (PLACE.test(text) ? text : undefined))(
    'since',
  ),
  wait: parameter('seconds from 0 to 50', (text) => (/^([0-9]|[1-4][0-9]|50)$/.test(text) ? Number(text) : undefined))('wait'),
};

/** Reads the value of a parameter; undefined where it is not given. Throws INVALID_PARAMETERS with its name and what it must be. */
export function readValue(name: string, { read, expected, describeFault, isList }: Parameter, given: unknown): unknown {
  if (given === undefined) return undefined;
  const texts = [given].flat().map(String);
  const values = texts.map(read);
  if (describeFault && texts.length === 1 && values[0] === undefined) throw new InputError(`${name}: ${describeFault(texts[0]!)}`);
  if (values.includes(undefined) || (values.length !== 1 && !isList)) throw new InputError(`${name} must be ${expected}`);
  return isList ? values : values[0];
}
