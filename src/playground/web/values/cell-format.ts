import { NO_PERCENTAGE, UNKNOWN } from './figures';
import { toPair, valuesOf, withArrows } from './pairs';
import type { Cell, ColumnKind, TableColumn } from './table-types';

export interface CellFormat {
  /** The text of a value in a column: of a difference with its sign. */
  readonly cell: (value: Cell, column: Pick<TableColumn, 'kind' | 'timeZone' | 'isSigned'>) => string;
  /** The text of a difference. It has a plus where it is more than zero. */
  readonly sign: (value: Cell, kind: ColumnKind) => string;
  /** The text of a cell on the screen. A value that cannot be read is shown as it is. Without a time zone, instants are in this computer's. */
  readonly format: (value: Cell, kind: ColumnKind, timeZone?: string) => string;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** The most decimals that every browser writes. The books have two. */
const MAX_DECIMALS = 20;
const PERCENT = { style: 'unit', unit: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 } as const;

/** Writes a word of an enum, such as `POSTED` or `posted`, as people do: “Posted”. Each of the two words of a pair is written so. */
export const toWord = (text: string): string =>
  valuesOf(text)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase().replaceAll('_', ' '))
    .reduce(toPair);

const formats = new Map<string, CellFormat>();

/**
 * Writes values as people of a locale do, amounts with the currency that is given. Amounts and numbers are written from their exact text,
 * without a float in between.
 */
export function createCellFormat(locales: readonly string[], currency?: string | null): CellFormat {
  const key = [...locales, currency ?? ''].join();
  const known = formats.get(key);
  if (known) return known;
  const tags = [...locales];
  // Amounts have the decimals of the books, also those of a currency that people write without any.
  const amount = {
    minimumFractionDigits: 2,
    maximumFractionDigits: MAX_DECIMALS,
    ...(currency && ({ style: 'currency', currency } as const)),
  };
  const money = new Intl.NumberFormat(tags, amount);
  const count = new Intl.NumberFormat(tags, { maximumFractionDigits: MAX_DECIMALS });
  // A percentage that is nearly nothing has no sign.
  const percent = new Intl.NumberFormat(tags, { ...PERCENT, signDisplay: 'negative' });
  const signed: Readonly<Partial<Record<ColumnKind, Intl.NumberFormat>>> = {
    money: new Intl.NumberFormat(tags, { ...amount, signDisplay: 'exceptZero' }),
    count: new Intl.NumberFormat(tags, { maximumFractionDigits: MAX_DECIMALS, signDisplay: 'exceptZero' }),
    percent: new Intl.NumberFormat(tags, { ...PERCENT, signDisplay: 'exceptZero' }),
  };
  // A date is a day of the calendar. In any other time zone than the one it is read in, it could become the day before.
  const date = new Intl.DateTimeFormat(tags, { dateStyle: 'medium', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(tags, { month: 'short', year: 'numeric', timeZone: 'UTC' });
  const months = (text: string, count: number): string => {
    const first = new Date(`${text}T00:00:00Z`);
    return month.formatRange(first, new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + count - 1, 1)));
  };
  const instants = new Map<string | undefined, Intl.DateTimeFormat>();
  const instantIn = (timeZone: string | undefined): Intl.DateTimeFormat => {
    const instant = instants.get(timeZone) ?? new Intl.DateTimeFormat(tags, { dateStyle: 'medium', timeStyle: 'short', timeZone });
    instants.set(timeZone, instant);
    return instant;
  };
  const writeNumber = (text: string, format: Intl.NumberFormat): string =>
    DECIMAL.test(text) ? format.format(text as Intl.StringNumericLiteral) : text;
  const format = (value: Cell, kind: ColumnKind, timeZone?: string): string => {
    if (typeof value === 'string' && kind !== 'text')
      return withArrows(
        valuesOf(value)
          .map((each) => formatOne(each, kind, timeZone))
          .reduce(toPair),
      );
    return formatOne(value, kind, timeZone);
  };
  const formatOne = (value: Cell, kind: ColumnKind, timeZone: string | undefined): string => {
    if (value === null) return kind === 'money' ? UNKNOWN : kind === 'percent' ? NO_PERCENTAGE : '';
    const text = String(value);
    switch (kind) {
      case 'money':
        return writeNumber(text, money);
      case 'count':
        return writeNumber(text, count);
      case 'percent':
        return writeNumber(text, percent);
      case 'month':
        return DATE.test(text) ? month.format(new Date(`${text}T00:00:00Z`)) : text;
      case 'quarter':
        return DATE.test(text) ? months(text, 3) : text;
      case 'year':
        // A year from January on is known by its number.
        return /^\d{4}-01-01$/.test(text) ? text.slice(0, 4) : DATE.test(text) ? months(text, 12) : text;
      case 'date':
        return DATE.test(text) ? date.format(new Date(`${text}T00:00:00Z`)) : text;
      case 'instant':
        return Number.isNaN(Date.parse(text)) ? text : instantIn(timeZone).format(new Date(text));
      case 'word':
        return text;
      case 'text':
        return withArrows(text);
    }
  };
  const sign = (value: Cell, kind: ColumnKind): string => {
    const numbers = signed[kind];
    return value === null || !numbers ? format(value, kind) : writeNumber(String(value), numbers);
  };
  const cell: CellFormat['cell'] = (value, { kind, timeZone, isSigned }) => (isSigned ? sign(value, kind) : format(value, kind, timeZone));
  const made: CellFormat = { cell, sign, format };
  formats.set(key, made);
  return made;
}

const dateParts: { readonly [Type in Intl.DateTimeFormatPartTypes]?: string } = {
  ...{ day: '\\d{1,2}', month: '[\\p{L}\\p{M}\\d]+\\.?', year: '\\d{4}' },
};

/** A number of rows in words, such as “1,401 rows”. */
export const formatRows = (rows: number, locales: readonly string[]): string =>
  `${createCellFormat(locales).format(rows, 'count')} ${rows === 1 ? 'row' : 'rows'}`;

/** A part between two of a date that has neither a letter nor a space, such as the points of “03.10.2026”. */
const MARKS = /^[^\p{L}\s]+$/u;

/** The form of a date as the page writes it, such as “Oct 3, 2026”, for finding one in a text. */
export function datePattern(locales: readonly string[]): RegExp {
  const parts = new Intl.DateTimeFormat([...locales], { dateStyle: 'medium', timeZone: 'UTC' }).formatToParts(new Date(0));
  const pattern = parts.map(({ type, value }, n) => {
    // Without marks between its parts, any six digits of an id or an amount would be a date.
    if (MARKS.test(value) && type === 'literal' && n < parts.length - 1) return '[^\\p{L}\\d\\s]+';
    // A person may leave a comma or a point out.
    return dateParts[type] ?? value.replace(/[^\p{L}\s]/gu, '[^\\p{L}\\d\\s]?').replace(/\s+/g, '\\s+');
  });
  return new RegExp(`(?<![\\p{L}\\d])${pattern.join('')}(?![\\p{L}\\d])`, 'giu');
}

/** The digits of a date as the fields of the page have them, such as “10/03/2026”. */
export const writeDigits = (date: string, locales: readonly string[], timeZone = 'UTC'): string =>
  new Intl.DateTimeFormat([...locales], { year: 'numeric', month: '2-digit', day: '2-digit', timeZone }).format(new Date(date));
