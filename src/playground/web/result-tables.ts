import { UNKNOWN } from './figures';

/** A list of an answer as a table. */
export interface ResultTable {
  /** Where it stands in the answer. */
  readonly name: string;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly ResultRow[];
}

export interface ResultColumn {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'decimal';
}

/** The values of a row by the names of its columns. Null of the answer is undefined; what the row does not have is missing. */
export type ResultRow = Readonly<Record<string, Value | undefined>>;
type Value = string | number | boolean;

type Json = Readonly<Record<string, unknown>>;

const DECIMAL = /^-?\d+\.\d+$/;
/** Where all money of a column is unknown, its name alone tells that it is money. */
const MONEY_NAME = /amount$/i;

/**
 * Every list of records in an answer. Records in records become columns like `key.month`; lists in rows are tables of their own, of all
 * rows together, in which a column `of …` tells the row that each belongs to: its id, or its number. In an answer without lists, such as
 * totals, each record is a table of one row.
 */
export function findTables(data: unknown): ResultTable[] {
  const lists = new Map<string, Json[]>();
  gather(data, '', lists);
  if (lists.size === 0 && isRecord(data)) {
    for (const [name, value] of Object.entries(data)) if (isRecord(value)) lists.set(name, [value]);
  }
  return [...lists].filter(([, records]) => records.length > 0).map(([name, records]) => toTable(name, records));
}

function gather(value: unknown, name: string, lists: Map<string, Json[]>, of: Json = {}): void {
  if (Array.isArray(value)) {
    const records = value.map((each: unknown) => (isRecord(each) && isRecord(each.node) ? each.node : each)).filter(isRecord);
    // A list of scalars is no table; an empty one might have been.
    if (records.length === 0 && value.length > 0) return;
    const list = lists.get(name) ?? [];
    lists.set(name, list);
    for (const record of records) {
      list.push({ ...of, ...record });
      const { id } = record;
      gatherBelow(record, name, lists, { [`of ${name}`]: typeof id === 'string' || typeof id === 'number' ? id : list.length });
    }
  } else if (isRecord(value)) gatherBelow(value, name, lists, of);
}

function gatherBelow(record: Json, name: string, lists: Map<string, Json[]>, of: Json): void {
  for (const [key, value] of Object.entries(record)) gather(value, name === '' ? key : `${name}.${key}`, lists, of);
}

function toTable(name: string, records: readonly Json[]): ResultTable {
  const rows = records.map((record) => flatten(record));
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  // Null for a record, where another row has one, is no column of its own.
  const columns = [...names].filter((column) => ![...names].some((other) => other.startsWith(`${column}.`)));
  return { name, rows, columns: columns.map((column) => ({ name: column, kind: kindOf(column, rows) })) };
}

function flatten(record: Json, prefix = ''): ResultRow {
  const entries = Object.entries(record).flatMap(([key, value]): [string, Value | undefined][] => {
    const name = prefix + key;
    if (isRecord(value)) return Object.entries(flatten(value, `${name}.`));
    if (value === null) return [[name, undefined]];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : [];
  });
  return Object.fromEntries(entries);
}

function kindOf(name: string, rows: readonly ResultRow[]): ResultColumn['kind'] {
  const given = rows.map((row) => row[name]).filter((value) => value !== undefined);
  if (given.length === 0) return MONEY_NAME.test(name) ? 'decimal' : 'text';
  if (given.every((value) => typeof value === 'number')) return 'number';
  return given.every((value) => typeof value === 'string' && DECIMAL.test(value)) ? 'decimal' : 'text';
}

/** The text of a cell: null for money says that it is unknown, in every other column it is nothing. */
export function toCell(row: ResultRow, { name, kind }: ResultColumn): string {
  const isUnknown = kind === 'decimal' && name in row && row[name] === undefined;
  return isUnknown ? UNKNOWN : String(row[name] ?? '');
}

/** The rows in the order of a column; equal ones stay as they were, and missing values come last. */
export function sortRows(rows: readonly ResultRow[], { name, kind }: ResultColumn, isDescending: boolean): ResultRow[] {
  // Each value is made comparable once: that takes longer than to compare it.
  const keyed = rows.map((row) => {
    const value = row[name];
    return { row, key: value !== undefined && kind === 'decimal' ? toUnits(String(value)) : value };
  });
  const compare = (a: Value | bigint, b: Value | bigint): number => (a < b ? -1 : a > b ? 1 : 0);
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
    return isDescending ? compare(b, a) : compare(a, b);
  });
  return keyed.map(({ row }) => row);
}

const DECIMALS = 20;

/** Exact, for any number of decimals that money has. */
function toUnits(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(DECIMALS, '0'));
}

/** First characters by which a spreadsheet takes text for a formula. */
const FORMULA = /^[=+\-@]/;

/**
 * Cells for a spreadsheet: tabs between them, a line for each row. Text that it would run as a formula gets an apostrophe, as in CSV. What
 * is unknown is an empty cell, because a column with words does not add up.
 */
export function toCells({ columns }: ResultTable, rows: readonly ResultRow[]): string {
  const toText = ({ name, kind }: ResultColumn, row: ResultRow): string => {
    const text = String(row[name] ?? '').replace(/[\t\r\n]+/g, ' ');
    return kind === 'text' && FORMULA.test(text) ? `'${text}` : text;
  };
  const lines = rows.map((row) => columns.map((column) => toText(column, row)).join('\t'));
  return [columns.map(({ name }) => name).join('\t'), ...lines].join('\n');
}

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
