/** A calendar date as text, `YYYY-MM-DD` (RFC 3339 full-date), years 0001 to 9999. It is not an instant, so no time zone can shift it. */
export type LocalDate = string;

/** The first and the last date that there are. */
export const ALL_TIME = { startDate: '0001-01-01', endDate: '9999-12-31' } as const;

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const FORM = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** A date whose day every month has. */
const COMMON = /^(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])$/;

/** Describes why a value is not a date, in a sentence that begins with the value. */
export function describeDateFault(value: unknown): string {
  const shown = JSON.stringify(value);
  if (typeof value === 'string' && FORM.test(value)) return `${shown} is no day of the calendar`;
  return `${shown} is not a date: write ${typeof value === 'string' ? '' : 'text, '}YYYY-MM-DD, such as "2026-01-31"`;
}

/** True for a real calendar date. False for 2024-02-30, for year 0, for a date with a time, and for digits other than 0 to 9. */
export function isLocalDate(value: unknown): value is LocalDate {
  if (typeof value !== 'string') return false;
  if (COMMON.test(value)) return true;
  if (!FORM.test(value)) return false;
  const [year, month, day] = [Number(value.slice(0, 4)), Number(value.slice(5, 7)), Number(value.slice(8))];
  const days = month === 2 && isLeapYear(year) ? 29 : DAYS_IN_MONTH[month - 1];
  return year >= 1 && days !== undefined && day >= 1 && day <= days;
}

const DAY_MS = 86_400_000;
const dayNumber = (date: LocalDate): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
const monthNumber = (date: LocalDate): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7));

/** The days from one date to another; negative when the other is earlier. */
export const daysBetween = (from: LocalDate, to: LocalDate): number => dayNumber(to) - dayNumber(from);

/** The months from the month of one date to that of another, whatever the days. */
export const monthsBetween = (from: LocalDate, to: LocalDate): number => monthNumber(to) - monthNumber(from);

const DATE_LENGTH = 10;
/** A time with its zone (RFC 3339 section 5.6), of which seconds may be left out. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** The forms of an instant, for help texts and messages. */
export const instantForms = ['a date such as 2027-01-31 (its first moment in UTC)', 'a time such as 2027-01-31T17:00Z'] as const;

/** The milliseconds of the Unix time for a date or for a time with its zone; undefined for any other text. */
export function toInstant(text: string): number | undefined {
  const date: string = text.slice(0, DATE_LENGTH);
  const time = isLocalDate(date) && (text.length === DATE_LENGTH || TIME.test(text)) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
