import { parse } from 'papaparse';
import { StatementFault } from './bank-statement';
import type { TableHead } from './table-columns';

export interface TableRow {
  /** The line of the file on which it begins. */
  readonly line: number;
  readonly values: readonly string[];
}

interface TableRows extends TableHead {
  readonly rows: readonly TableRow[];
}

const SAMPLES = 3;

/** The forms of dates: the year first, or last after two numbers. */
export const YEAR_FIRST = /^(\d{4})([-/.]?)(\d{2})\2(\d{2})$/;
export const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})$/;

const isDate = (value: string): boolean => YEAR_FIRST.test(value.trim()) || YEAR_LAST.test(value.trim());
const isDateOrAmount = (value: string): boolean => isDate(value) || AMOUNT.test(stripAmount(value));
const isRow = ({ values }: TableRow): boolean => values.some(isDate) && values.some((value) => isDateOrAmount(value) && !isDate(value));

/** A number with its sign before or after it, or in brackets. */
export const AMOUNT = /^(\()?([+-]?)([\d.,]+)([+-]?)(\))?$/;

export const CURRENCY_CODE = /\b[A-Z]{3}\b/g;
export const CURRENCY_SYMBOL = /\p{Sc}/gu;

/** Takes what stands beside the number away: its currency, and blanks and apostrophes between thousands. */
export const stripAmount = (value: string): string =>
  value
    .replace(CURRENCY_CODE, '')
    .replace(/(?<=^|[-+−(\s])\p{Sc}|\p{Sc}(?=$|[-+−)\s])/gu, '')
    .replace(/[\s'’]/g, '')
    .replace('−', '-');

/**
 * Finds the rows below the header. A table whose first record has a date or an amount has no header, and a fault names a record that has
 * more or fewer values than the others.
 */
export function readRows(text: string): TableRows {
  const records = readRecords(text);
  const header = findHeader(records);
  const width = header?.values.length ?? commonWidth(records);
  const place = header ? records.indexOf(header) : records.findIndex(({ values }) => values.length === width);
  const first = records[place];
  const isHeader = header !== undefined || !first?.values.some(isDateOrAmount);
  const rows = isHeader ? records.slice(place + 1) : records;
  if (!first || width < 2) throw new StatementFault('The file is neither CAMT.053 nor BAI2, and no table with columns either.');
  if (rows.length === 0) throw new StatementFault('The table has a header and no line.');
  const odd = rows.find(({ values }) => values.length !== width);
  if (odd)
    throw new StatementFault(
      `Line ${String(odd.line)} has ${String(odd.values.length)} values, and ${isHeader ? 'the header has' : 'most lines have'} ${String(width)}.`,
    );
  const names = first.values.map((name, n) => (isHeader && name.trim()) || `Column ${String(n + 1)}`);
  return { names, isNamed: isHeader, rows, samples: rows.slice(0, SAMPLES).map(({ values }) => values) };
}

/** Splits a text into the records that are not empty, each with the line of the file on which it begins. */
function readRecords(text: string): TableRow[] {
  const { data, errors } = parse<string[]>(text, { skipEmptyLines: false });
  let next = 1;
  const records = data.map((values): TableRow => {
    const line = next;
    // A value in quotes may hold line breaks.
    next += 1 + (values.join('').match(/\r\n|\r|\n/g)?.length ?? 0);
    return { line, values };
  });
  const quotes = errors.find(({ type }) => type === 'Quotes');
  if (quotes) throw new StatementFault(`Line ${String(records[quotes.row ?? 0]?.line)}: a quote is not closed or stands within a value.`);
  return records.filter(({ values }) => values.some((value) => value.trim() !== ''));
}

/**
 * Finds the header: the first record of names that stands directly above a row and is as wide as most records below it. Banks write lines of
 * their own above it, of any width. A note between rows is no header: a row or a record that is as full as it stands above it.
 */
function findHeader(records: readonly TableRow[]): TableRow | undefined {
  const header = records.find(({ values }, n) => {
    const next = records[n + 1];
    return (
      next?.values.length === values.length &&
      !values.some(isDateOrAmount) &&
      isRow(next) &&
      commonWidth(records.slice(n + 1)) === values.length
    );
  });
  if (!header) return undefined;
  const above = records.slice(0, records.indexOf(header));
  const filled = ({ values }: TableRow): number => values.filter((value) => value.trim() !== '').length;
  const isNote = above.some(
    (record) => record.values.length === header.values.length && (isRow(record) || filled(record) >= filled(header)),
  );
  return isNote ? undefined : header;
}

/** The number of values that most records have; of two, that which comes first. */
function commonWidth(records: readonly TableRow[]): number {
  const counts = new Map<number, number>();
  for (const { values } of records) counts.set(values.length, (counts.get(values.length) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}
