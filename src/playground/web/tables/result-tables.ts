import { UNKNOWN } from '../look/figures';

/** A list of an answer as a table. */
export interface ResultTable {
  /** The path of the list in the answer, such as `depositSummary.groups.nodes`. */
  readonly name: string;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly ResultRow[];
}

export interface ResultColumn {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'decimal';
}

/** A row's values by column name. Null in the answer becomes undefined; a column that the row does not have is missing. */
export type ResultRow = Readonly<Record<string, Value | undefined>>;
type Value = string | number | boolean;

type Json = Readonly<Record<string, unknown>>;

const DECIMAL = /^-?\d+\.\d+$/;
/** When every amount of a column is unknown, only the column's name shows that it holds money. */
const MONEY_NAME = /amount$/i;

/**
 * Finds every list of objects in an answer and makes a table of it. Objects inside a row become columns like `key.month`. Lists inside rows
 * become one table together; its column `of …` holds the books' id, or else the number, of the row that the list was in. In an answer without
 * lists, such as totals, each object becomes a table of one row.
 */
export function findTables(data: unknown): ResultTable[] {
  const lists = new Map<string, Json[]>();
  gather(data, '', lists);
  if (lists.size === 0 && isObject(data)) {
    for (const [name, value] of Object.entries(data)) if (isObject(value)) lists.set(name, [value]);
  }
  return [...lists].filter(([, objects]) => objects.length > 0).map(([name, objects]) => toTable(name, objects));
}

function gather(value: unknown, name: string, lists: Map<string, Json[]>, of: Json = {}): void {
  if (Array.isArray(value)) {
    const objects = value.map((each: unknown) => (isObject(each) && isObject(each.node) ? each.node : each)).filter(isObject);
    // A list of scalars is no table. An empty list still counts as a list, so that the answer is not taken for totals.
    if (objects.length === 0 && value.length > 0) return;
    const list = lists.get(name) ?? [];
    lists.set(name, list);
    for (const object of objects) {
      list.push({ ...of, ...object });
      gatherBelow(object, name, lists, { [`of ${name}`]: bookIdOf(object) ?? list.length });
    }
  } else if (isObject(value)) gatherBelow(value, name, lists, of);
}

/** The first value of a row that is an id of the books, such as `depositId`. The field `id` is opaque. */
function bookIdOf(object: Json): string | number | undefined {
  const id = Object.entries(object).find(([name]) => name.endsWith('Id'))?.[1];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function gatherBelow(object: Json, name: string, lists: Map<string, Json[]>, of: Json): void {
  for (const [key, value] of Object.entries(object)) gather(value, name === '' ? key : `${name}.${key}`, lists, of);
}

function toTable(name: string, objects: readonly Json[]): ResultTable {
  const rows = objects.map((object) => flatten(object));
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  // An object that is null in one row and has columns like `donor.id` in another gets no column `donor`.
  const columns = [...names].filter((column) => ![...names].some((other) => other.startsWith(`${column}.`)));
  return { name, rows, columns: columns.map((column) => ({ name: column, kind: kindOf(column, rows) })) };
}

function flatten(object: Json, prefix = ''): ResultRow {
  const entries = Object.entries(object).flatMap(([key, value]): [string, Value | undefined][] => {
    const name = prefix + key;
    if (isObject(value)) return Object.entries(flatten(value, `${name}.`));
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

/** The text of a cell. Null is “unknown” in a column of money, and empty in every other column. */
export function toCell(row: ResultRow, { name, kind }: ResultColumn): string {
  const isUnknown = kind === 'decimal' && name in row && row[name] === undefined;
  return isUnknown ? UNKNOWN : String(row[name] ?? '');
}

/** Sorts the rows by a column. Rows with equal values keep their order; rows without a value come last. */
export function sortRows(rows: readonly ResultRow[], { name, kind }: ResultColumn, isDescending: boolean): ResultRow[] {
  // Each value is converted once, because the conversion takes longer than a comparison.
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

/** Converts a decimal to a whole number of its smallest unit, so that the comparison is exact. */
function toUnits(text: string): bigint {
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole + decimals.padEnd(DECIMALS, '0'));
}

/** Characters at the start of a text that make a spreadsheet run it as a formula. */
const FORMULA = /^[=+\-@]/;

/**
 * Writes the rows for pasting into a spreadsheet: tabs between cells, one line per row. Text that would run as a formula gets an apostrophe,
 * as in CSV. An unknown amount becomes an empty cell, because a spreadsheet cannot add up a column that holds words.
 */
export function toCells({ columns }: ResultTable, rows: readonly ResultRow[]): string {
  const toText = ({ name, kind }: ResultColumn, row: ResultRow): string => {
    const text = String(row[name] ?? '').replace(/[\t\r\n]+/g, ' ');
    return kind === 'text' && FORMULA.test(text) ? `'${text}` : text;
  };
  const lines = rows.map((row) => columns.map((column) => toText(column, row)).join('\t'));
  return [columns.map(({ name }) => name).join('\t'), ...lines].join('\n');
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
