import { guardPastedFormula } from '../../../values/formula-guard';
import { toPair, valuesOf } from '../values/pairs';
import { isNumber, type Cell, type ColumnKind, type TableColumn } from '../values/table-types';

/**
 * Writes cells for pasting into a spreadsheet, with tabs between them. Text that would run as a formula gets an apostrophe, as in CSV. Text
 * that begins with a quote is quoted, because the quote would swallow the cells up to the next one. An unknown amount and a
 * percentage that cannot be become empty cells, because a spreadsheet cannot reckon with words.
 */
export function toCellLine(cells: readonly { readonly kind: ColumnKind; readonly value: Cell }[], point: string): string {
  return cells.map(({ kind, value }) => toSafeText(toPasted(String(value ?? ''), kind, point), kind)).join('\t');
}

/**
 * The sign between a number and its decimals. A spreadsheet of the same locale reads a pasted number by it, and others as text or a date.
 */
export const decimalPoint = (locales: readonly string[]): string =>
  new Intl.NumberFormat([...locales]).formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';

const toPasted = (text: string, kind: ColumnKind, point: string): string =>
  isNumber(kind)
    ? valuesOf(text)
        .map((each) => each.replace('.', point))
        .reduce(toPair)
    : text;

/** The first line: the titles of the columns. */
export const toNameLine = (columns: readonly TableColumn[]): string => columns.map(({ title }) => toSafeText(title, 'text')).join('\t');

function toSafeText(text: string, kind: ColumnKind): string {
  const line = text.replace(/[\t\r\n]+/g, ' ');
  const safe = kind === 'text' ? guardPastedFormula(line) : line;
  return safe.startsWith('"') ? `"${safe.replaceAll('"', '""')}"` : safe;
}
