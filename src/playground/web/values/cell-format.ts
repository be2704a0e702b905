import { NO_PERCENTAGE, UNKNOWN } from './figures';
import { toPair, valuesOf, withArrows } from './pairs';
import type { Cell, ColumnKind } from './table-types';

export interface CellFormat {
  /** The text of a cell on the screen. A value that cannot be read is shown as it is. Without a time zone, instants are in this computer's. */
  readonly format: (value: Cell, kind: ColumnKind, timeZone?: string) => string;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** The most decimals that every browser writes. The books have two. */
const MAX_DECIMALS = 20;

/** Writes a word of an enum, such as `POSTED` or `posted`, as people do: “Posted”. Each of the two words of a pair is written so. */
export const toWord = (text: string): string =>
  valuesOf(text)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase().replaceAll('_', ' '))
    .reduce(toPair);

/** Writes a number with its sign, which zero has none of. */
export function writeSigned(value: string | number, kind: 'money' | 'count', locales: readonly string[]): string {
  const digits = kind === 'money' ? 2 : 0;
  const signed = new Intl.NumberFormat([...locales], { minimumFractionDigits: digits, signDisplay: 'exceptZero' });
  return signed.format(String(value) as Intl.StringNumericLiteral);
}

const formats = new Map<string, CellFormat>();

/** Writes values as people of a locale do. Amounts and numbers are written from their exact text, without a float in between. */
export function createCellFormat(locales: readonly string[]): CellFormat {
  const key = locales.join();
  const known = formats.get(key);
  if (known) return known;
  const tags = [...locales];
  const money = new Intl.NumberFormat(tags, { minimumFractionDigits: 2, maximumFractionDigits: MAX_DECIMALS });
  const count = new Intl.NumberFormat(tags, { maximumFractionDigits: MAX_DECIMALS });
  const percent = new Intl.NumberFormat(tags, { style: 'unit', unit: 'percent', maximumFractionDigits: 2 });
  // A date is a day of the calendar. In any other time zone than the one it is read in, it could become the day before.
  const date = new Intl.DateTimeFormat(tags, { dateStyle: 'medium', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(tags, { month: 'short', year: 'numeric', timeZone: 'UTC' });
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
  formats.set(key, { format });
  return { format };
}
