import { parseAbsolute, toCalendarDateTime } from '@internationalized/date';
import { convertDateToSerialNumber, getCellAddress, sanitizeTextContent } from 'write-excel-file/utility';
import type { Cell, ColumnKind, TableColumn } from '../values/table-types';

/** The formats of a spreadsheet's cells. A text has none. */
const cellFormats: Readonly<Partial<Record<ColumnKind, string>>> = {
  money: '#,##0.00',
  count: '#,##0',
  percent: '0.00%',
  date: 'yyyy-mm-dd',
  month: 'mmm yyyy',
  instant: 'yyyy-mm-dd hh:mm:ss "UTC"',
};

/** The format of a column's cells. The title of a column with a time zone names it. */
export function formatOf({ kind, timeZone }: Pick<TableColumn, 'kind' | 'timeZone'>): { readonly format?: string } {
  const format = kind === 'instant' && timeZone !== undefined ? 'yyyy-mm-dd hh:mm:ss' : cellFormats[kind];
  return format === undefined ? {} : { format };
}

/** Excel keeps 15 digits of a number, all of which a double holds exactly. It replaces further ones by zeros. */
const MAX_DIGITS = 15;
const DECIMAL = /^-?\d+(\.\d+)?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
/** Excel counts days from 1900 and takes that year for a leap year, so that the days before March of it are one off. */
const FIRST_DATE = '1900-03-01';
/** Excel takes a file for damaged when a cell holds more characters. */
const MAX_TEXT = 32_767;
const CUT = '… (cut: a cell holds no more)';
/** Excel reads this form as the code of a character. */
const CHARACTER_CODE = /_(?=x[0-9A-Fa-f]{4}_)/g;
/** A parser of XML would turn the character itself into a line feed. */
const CARRIAGE_RETURN = '_x000D_';

/** Converts a value to the number that its cell holds; undefined for one that is text, or that a number does not hold exactly. */
export function toCellNumber(value: Cell, kind: ColumnKind, timeZone?: string): number | undefined {
  if (value === null || typeof value === 'boolean' || kind === 'text' || kind === 'word') return undefined;
  const text = String(value);
  if (kind === 'date' || kind === 'month') return DATE.test(text) ? toSerial(text) : undefined;
  if (kind === 'instant') return INSTANT.test(text) && !Number.isNaN(Date.parse(text)) ? toSerial(toClock(text, timeZone)) : undefined;
  if (!DECIMAL.test(text) || countDigits(text) > MAX_DIGITS) return undefined;
  // A cell of 12.5 % holds 0.125. Writing the exponent moves the point without rounding twice.
  return Number(kind === 'percent' ? `${text}e-2` : text);
}

/** Counts the digits of a decimal without the zeros before it and the zeros that end its decimals. */
function countDigits(text: string): number {
  const [whole = '', decimals = ''] = text.replace('-', '').split('.');
  return (whole + decimals.replace(/0+$/, '')).replace(/^0+/, '').length;
}

/** The time that a clock of a time zone shows at an instant, as if it were UTC: a cell has no time zone. */
const toClock = (instant: string, timeZone = 'UTC'): string => `${toCalendarDateTime(parseAbsolute(instant, timeZone)).toString()}Z`;

/** Date.parse reads a date without a time as midnight in UTC, so the computer's time zone does not move it. */
function toSerial(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) || text < FIRST_DATE ? undefined : convertDateToSerialNumber(new Date(time));
}

/**
 * Writes a cell. An unknown value and a percentage that cannot be have no cell. `row` and `column` begin with 0; `style` is the number of the
 * column's style in the file.
 */
export function writeCell(
  value: Cell,
  { kind, timeZone }: Pick<TableColumn, 'kind' | 'timeZone'>,
  row: number,
  column: number,
  style: string | undefined,
): string {
  if (value === null) return '';
  const address = getCellAddress(row, column);
  const number = toCellNumber(value, kind, timeZone);
  if (number !== undefined) return `<c r="${address}"${style === undefined ? '' : ` s="${style}"`}><v>${number}</v></c>`;
  if (typeof value === 'boolean') return `<c r="${address}" t="b"><v>${value ? 1 : 0}</v></c>`;
  return `<c r="${address}" t="inlineStr"><is><t xml:space="preserve">${toTextContent(String(value))}</t></is></c>`;
}

/** Makes a text safe for a cell: it is cut where it is too long, and escaped for XML and for Excel. */
function toTextContent(text: string): string {
  const cut = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT - CUT.length) + CUT : text;
  return sanitizeTextContent(cut).replace(CHARACTER_CODE, '_x005F_').replaceAll('\r', CARRIAGE_RETURN);
}
