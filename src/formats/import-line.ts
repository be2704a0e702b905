import {
  extraNames,
  isExtraName,
  isLineName,
  lineFields,
  namesOf,
  v2Names,
  type ExtraName,
  type FieldType,
  type FileValues,
  type LineName,
  type StoredName,
  type V2Name,
} from '../line/line-fields';
import { isLocalDate } from '../values/dates';
import { unguardFormula } from '../values/formula-guard';
import { isMoney, isTooLong, toCents, toMoney, type Money } from '../values/money';
import { allLineColumns } from './file-columns';

/** A line as it stands in the file: an object of values by field name, which is not checked yet. */
export interface RawLine {
  /** The number of the line in a text file, or its position in the array `response`, from 1. */
  readonly line: number;
  readonly values: unknown;
  /** The object as an answer writes it, where answers are read as texts. It holds the memory of the piece that it was read from. */
  readonly text?: string;
}

/** The values of the fields that v2 has. */
type V2Values = Pick<FileValues, V2Name>;

/** A checked line, which the report can return byte for byte. A value beyond v2 is undefined or null where the file does not state it. */
export interface ImportLine extends V2Values, Given<ExtraName & StoredName> {
  /** True when the file says that nobody knows the share, false when it states or infers it, undefined when it says nothing. */
  readonly allocation_amount_unknown?: boolean | undefined;
}
type Given<Name extends ExtraName> = { readonly [Each in Name]?: FileValues[Each] | null | undefined };

/** A line as the file has it, whose fields are good. */
interface CheckedLine extends V2Values, Given<ExtraName> {}

export type ImportStatus = FileValues['deposit_status'];
export const importStatuses = ['posted', 'pending'] as const satisfies readonly ImportStatus[];

interface FieldFault {
  readonly field: string;
  readonly reason: string;
}

export interface LineFault extends FieldFault {
  readonly line: number;
}

/** The faults of a value, in words that follow the field's name; empty when it is good. */
type Check = (value: unknown) => readonly string[];

const GOOD: readonly string[] = [];
const check = (isGood: (value: unknown) => boolean, reason: string): Check => {
  const faults = [reason];
  return (value) => (isGood(value) ? GOOD : faults);
};
const optional =
  (present: Check): Check =>
  (value) =>
    value === undefined || value === null ? GOOD : present(value);

const NO_TEXT = ['must be text'];
const text = ({ minBytes = 0, maxBytes = Infinity } = {}): Check => {
  // A unit of UTF-16 has at most three bytes of UTF-8, so the bytes of a short text need not be counted.
  const fits = (value: string): boolean => value.length * 3 <= maxBytes || Buffer.byteLength(value) <= maxBytes;
  return (value) => {
    if (typeof value !== 'string') return NO_TEXT;
    if (!value.includes('\0') && value.isWellFormed() && value.length >= minBytes && fits(value)) return GOOD;
    return [
      ...(value.includes('\0') ? ['contains a NUL character'] : []),
      ...(value.isWellFormed() ? [] : ['contains half of a surrogate pair']),
      ...(value.length >= minBytes ? [] : ['must not be empty']),
      ...(fits(value) ? [] : [`is longer than ${maxBytes} bytes of UTF-8`]),
    ];
  };
};
/** An entry of an index has at most 2,704 bytes, whatever the server. Three ids, or one id and two names, fit with numbers and a date. */
const idText = text({ minBytes: 1, maxBytes: 600 });
/** The characters at an end of an id that nobody sees: blanks, controls, and what takes no place. */
const UNSEEN = '[\\p{White_Space}\\p{Default_Ignorable_Code_Point}\\p{Cc}\\p{Cf}\\u2800]';
let unseenText: string | undefined;
/** All characters of `UNSEEN` in a text, for the database; it stores no NUL. A million are tried, once. */
export function unseenCharacters(): string {
  return (unseenText ??= findUnseen());
}
function findUnseen(): string {
  const unseen = new RegExp(UNSEEN, 'u');
  let found = '';
  for (let point = 1; point <= 0x10_ffff; point++) {
    const character = String.fromCodePoint(point);
    if (unseen.test(character)) found += character;
  }
  return found;
}
/** A text in quotes, with escapes in the place of what nobody sees. */
export const toSeen = (text: string): string =>
  JSON.stringify(text).replace(new RegExp(`(?! )${UNSEEN}`, 'gu'), (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
const PADDED = new RegExp(`^${UNSEEN}|${UNSEEN}$`, 'u');
/** Nearly all ids begin and end with a character of these, in which nothing is unseen. */
const PLAIN_ENDS = /^[!-~](?:.*[!-~])?$/s;
const PADDED_FAULT = 'begins or ends with a blank or a character that nobody sees';
const id: Check = (value) => {
  const faults = idText(value);
  return typeof value !== 'string' || PLAIN_ENDS.test(value) || !PADDED.test(value) ? faults : [...faults, PADDED_FAULT];
};
const name = text({ maxBytes: 500 });

const DATE_FAULT = ['must be a calendar date YYYY-MM-DD'];
const DAY_FAULT = ['is no day of the calendar'];
const date: Check = (value) => {
  if (isLocalDate(value)) return GOOD;
  return typeof value === 'string' && /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value) ? DAY_FAULT : DATE_FAULT;
};

/** The limit of the column type numeric(14,2), in cents. */
const CENTS_LIMIT = 10n ** 14n;
/** The number of characters that no amount beyond the limit has, with its sign. The cents of two such amounts are exact as numbers. */
const SHORT_MONEY = 15;
const MONEY_FAULT = 'must be an amount as text with two decimals, like "10.50"';
const NO_MONEY = [MONEY_FAULT];
const BEYOND_RANGE = ['is beyond the range of amounts, which is from -999999999999.99 to 999999999999.99'];
const money: Check = (value) => {
  if (typeof value !== 'string') return NO_MONEY;
  if (value.length <= SHORT_MONEY) return isMoney(value) ? GOOD : NO_MONEY;
  if (isTooLong(value)) return BEYOND_RANGE;
  const cents = toCents(value);
  if (cents === undefined) return NO_MONEY;
  return cents > -CENTS_LIMIT && cents < CENTS_LIMIT ? GOOD : BEYOND_RANGE;
};

const number = check(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, without leading zeros`,
);

const CHECKS: Readonly<Record<FieldType, Check>> = {
  ...{ id, number, text: text(), name, code: text(), date, money },
  status: check((value) => value === 'posted' || value === 'pending', 'must be posted or pending'),
  boolean: check((value) => typeof value === 'boolean', 'must be true or false'),
};
/** A net amount may have a digit more than the amount and the fee, so their limit does not hold for it. */
const net = check((value) => typeof value === 'string', MONEY_FAULT);

const checkOf = (name: LineName): Check => (name === 'net_amount' ? net : CHECKS[lineFields[name].type]);
/** The fields of a line in the order in which their faults are told. */
const CHECK_LIST: readonly (readonly [LineName, Check])[] = [
  ...v2Names.map((name) => [name, checkOf(name)] as const),
  ...extraNames.map((name) => [name, optional(checkOf(name))] as const),
];
const donorNames = namesOf('donor').filter((name) => name !== 'donor_id');

/** Checks a line. Returns it, or its faults. A fault does not repeat the value, which may be personal. */
export function parseImportLine({ line, values }: RawLine): ImportLine | LineFault[] {
  if (!isObject(values)) return [{ line, field: '', reason: 'it must be an object with the fields of a deposit line' }];
  const fieldFaults = findFieldFaults(values);
  if (fieldFaults.length > 0) return fieldFaults.map((fault) => ({ line, ...fault }));
  const checked = values as unknown as CheckedLine;
  const contradictions = findContradictions(checked);
  if (contradictions.length > 0) return contradictions.map((fault) => ({ line, ...fault }));
  const { allocation_amount: share, allocation_amount_inferred: inferred } = checked;
  if (share === undefined && inferred === undefined) return values as unknown as ImportLine;
  // An inferred share is not imported, because the books did not state it. The report infers it again. V8 is slow to copy an object that
  // gets more members afterwards, so `fields` stands last.
  const { allocation_amount, allocation_amount_inferred: isInferred, ...fields } = checked;
  const isStated = isInferred === true || typeof allocation_amount === 'string';
  return {
    allocation_amount: (isInferred ? undefined : allocation_amount) ?? undefined,
    // A file that infers shares, and has none here, does not know it. Only a file without that column leaves it to the books.
    allocation_amount_unknown: isStated ? false : isInferred === undefined ? undefined : true,
    ...fields,
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The faults of each field by itself, and the fields that no line has. */
function findFieldFaults(values: Readonly<Record<string, unknown>>): FieldFault[] {
  const faults: FieldFault[] = [];
  let known = 0;
  for (const [field, check] of CHECK_LIST) {
    const value = values[field];
    if (value !== undefined) known++;
    const reasons = check(value);
    if (reasons.length > 0) faults.push(...(value === undefined ? ['is missing'] : reasons).map((reason) => ({ field, reason })));
  }
  const fields = Object.keys(values);
  if (fields.length === known) return faults;
  const unknown = fields.filter((field) => !isLineName(field));
  return [...faults, ...unknown.map((field) => ({ field, reason: 'is not a field of a deposit line' }))];
}

/** The contradictions between the fields of a line. */
function findContradictions(line: CheckedLine): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!isNet(line.net_amount, line.amount, line.fee_amount)) {
    const net = toMoney(toCents(line.amount)! - toCents(line.fee_amount)!);
    if (line.net_amount !== net) faults.push({ field: 'net_amount', reason: `is not amount minus fee_amount, ${net}` });
  }
  if (line.donor_id === 0) {
    const filled = donorNames.filter((field) => line[field]);
    faults.push(...filled.map((field) => ({ field, reason: 'must be empty where donor_id is 0' })));
  }
  const { allocation_amount: share, allocation_amount_inferred: isInferred } = line;
  if (isInferred && typeof share === 'string' && share !== line.amount) {
    faults.push({ field: 'allocation_amount', reason: 'is said to be inferred, and is not the amount' });
  }
  return faults;
}

/** True when the amounts, which are good, are surely amount, fee and net. It makes no big numbers, because files have many lines. */
function isNet(net: string, amount: Money, fee: Money): boolean {
  if (fee === '0.00') return net === amount;
  if (net.length > SHORT_MONEY || amount.length > SHORT_MONEY || fee.length > SHORT_MONEY || !isMoney(net)) return false;
  return wholeCents(amount) - wholeCents(fee) === wholeCents(net);
}

/** The cents of a short amount, a whole number. */
const wholeCents = (text: Money): number => Number(text.slice(0, -3) + text.slice(-2));

type FieldReader = (text: string) => unknown;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const readText: FieldReader = (text) => text;
/** A number with leading zeros would go out in another form than it came in. */
const readNumber: FieldReader = (text) => (/^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : text);
/** Excel writes TRUE and FALSE. */
const readBoolean: FieldReader = (text) => BOOLEANS.get(text.toLowerCase()) ?? text;

function fieldReader(field: string): FieldReader {
  if (!isLineName(field)) return readText;
  const column = allLineColumns[field];
  const read =
    column.kind === 'boolean' ? readBoolean : column.kind === 'number' ? readNumber : column.freeText ? unguardFormula : readText;
  return isExtraName(field) ? (text) => (text === '' ? null : read(text)) : read;
}

/**
 * Creates the function that turns the texts of a CSV record into the values of a line: numbers become numbers, the guard against formulas
 * is taken off, and empty optional fields are null.
 */
export function createLineReader(header: readonly string[]): (record: readonly string[]) => Record<string, unknown> {
  const readers = header.map(fieldReader);
  // A copy of an object with all members is quicker than a new object that gets one member after the other.
  const blank: Record<string, unknown> = Object.fromEntries(header.map((field) => [field, undefined]));
  return (record) => {
    const values = { ...blank };
    for (let position = 0; position < header.length; position++) values[header[position]!] = readers[position]!(record[position]!);
    return values;
  };
}
