import { stringify, type Options } from 'csv-stringify/browser/esm/sync';
import { guardFormula } from '../../../values/formula-guard';
import type { Cell, Row, TableColumn } from '../values/table-types';

/** Excel reads a CSV file as UTF-8 only when it starts with a byte order mark. */
const BYTE_ORDER_MARK = '\uFEFF';

const options: Options = {
  record_delimiter: 'windows',
  // The gateway quotes texts, dates and amounts, and an empty text too, which differs so from an unknown value.
  quoted_string: true,
  cast: { boolean: (value) => ({ value: String(value), quoted_string: false }) },
};

/** Writes the titles of the columns as a record of CSV, after a byte order mark. */
export function writeCsvHeader(columns: readonly TableColumn[]): string {
  const titles = columns.map(({ title }) => guardFormula(title));
  return BYTE_ORDER_MARK + stringify([titles], { ...options, quoted_string: false });
}

/** Writes rows as records of CSV, as the gateway does: RFC 4180 with CRLF, and an unknown value or a percentage that cannot be is empty. */
export function writeCsvRows(rows: readonly Row[], columns: readonly TableColumn[]): string {
  // An amount such as -5.00 is text too, but no formula, so the library's own guard is not used.
  const guarded = rows.map((row) => columns.map(({ kind }, position) => guard(row[position] ?? null, kind === 'text')));
  return stringify(guarded, options);
}

const guard = (cell: Cell, isFreeText: boolean): Cell => (isFreeText && typeof cell === 'string' ? guardFormula(cell) : cell);
