import { ALL_TIME, type LocalDate } from './dates';

/** The calendar of an organization, by which named periods have their dates. */
export interface OrganizationCalendar {
  /** IANA name of the time zone, such as `America/New_York`. */
  readonly timeZone: string;
  /** The month with which the fiscal year begins, 1 to 12. */
  readonly fiscalYearStart: number;
}

/** The day from which named periods are counted. */
export interface Today {
  readonly today: LocalDate;
  readonly fiscalYearStart: number;
}

/** The first and the last day of a period. */
export interface PeriodDates {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
}

interface Day {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  /** The days since Monday, with which weeks begin, as those of the gateway's groups do (ISO 8601). */
  readonly daysSinceMonday: number;
  readonly fiscalYearStart: number;
}

/** Writes a day. Months and days beyond their ends count on into the next or the one before: day 0 is the last of the month before. */
function toDate(year: number, month: number, day: number): LocalDate {
  // Date.UTC takes the years 0 to 99 for those of the 20th century.
  return new Date(new Date(0).setUTCFullYear(year, month - 1, day)).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
const days = ({ year, month, day }: Day, from: number, count: number): PeriodDates => ({
  startDate: toDate(year, month, day + from),
  endDate: toDate(year, month, day + from + count - 1),
});
const months = (year: number, month: number, count: number): PeriodDates => ({
  startDate: toDate(year, month, 1),
  endDate: toDate(year, month + count, 0),
});
const upTo = ({ year, month, day }: Day, { startDate }: PeriodDates): PeriodDates => ({ startDate, endDate: toDate(year, month, day) });

/** The date so many days after another one, or before it. */
export const addDays = (date: LocalDate, count: number): LocalDate =>
  toDate(Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8)) + count);

/** The months from one date to another; the first and the last of them may be parts. */
export function toMonths(from: LocalDate, to: LocalDate): PeriodDates[] {
  const found: PeriodDates[] = [];
  for (let startDate = from; startDate <= to;) {
    const { endDate } = months(Number(startDate.slice(0, 4)), Number(startDate.slice(5, 7)), 1);
    found.push({ startDate, endDate: endDate < to ? endDate : to });
    if (endDate >= to) break;
    startDate = addDays(endDate, 1);
  }
  return found;
}

const thisWeek = (now: Day): PeriodDates => days(now, -now.daysSinceMonday, 7);
const thisMonth = ({ year, month }: Day): PeriodDates => months(year, month, 1);
const firstOfQuarter = ({ month }: Day): number => month - ((month - 1) % 3);
const thisQuarter = (now: Day): PeriodDates => months(now.year, firstOfQuarter(now), 3);
const thisYear = ({ year }: Day): PeriodDates => months(year, 1, 12);
const fiscalYear = ({ year, month, fiscalYearStart }: Day, step = 0): PeriodDates =>
  months(year + step - (month < fiscalYearStart ? 1 : 0), fiscalYearStart, 12);

/** The periods that have a name, with their dates on a day. */
const periods = {
  today: (now) => days(now, 0, 1),
  yesterday: (now) => days(now, -1, 1),
  'this-week': thisWeek,
  'last-week': (now) => days(now, -now.daysSinceMonday - 7, 7),
  'this-month': thisMonth,
  'last-month': ({ year, month }) => months(year, month - 1, 1),
  'this-quarter': thisQuarter,
  'last-quarter': (now) => months(now.year, firstOfQuarter(now) - 3, 3),
  'this-year': thisYear,
  'last-year': ({ year }) => months(year - 1, 1, 12),
  'last-12-months': ({ year, month }) => months(year, month - 11, 12),
  'week-to-date': (now) => upTo(now, thisWeek(now)),
  'month-to-date': (now) => upTo(now, thisMonth(now)),
  'quarter-to-date': (now) => upTo(now, thisQuarter(now)),
  'year-to-date': (now) => upTo(now, thisYear(now)),
  'this-fiscal-year': (now) => fiscalYear(now),
  'last-fiscal-year': (now) => fiscalYear(now, -1),
  'fiscal-year-to-date': (now) => upTo(now, fiscalYear(now)),
  'all-time': () => ALL_TIME,
} as const satisfies Readonly<Record<string, (now: Day) => PeriodDates>>;

export type PeriodName = keyof typeof periods;

export const periodNames = Object.keys(periods) as readonly PeriodName[];

export const isPeriodName = (text: string): text is PeriodName => Object.hasOwn(periods, text);

/** The name of a period as GraphQL's enum has it: `LAST_MONTH`. */
export const toPeriodEnum = (name: PeriodName): string => name.toUpperCase().replaceAll('-', '_');

/** The period of a name of GraphQL's enum; undefined for none. */
export const fromPeriodEnum = (name: string | null): PeriodName | undefined => periodNames.find((each) => toPeriodEnum(each) === name);

/** The dates that a named period has on a day. */
export function toPeriodDates(name: PeriodName, { today, fiscalYearStart }: Today): PeriodDates {
  const [year, month, day] = [Number(today.slice(0, 4)), Number(today.slice(5, 7)), Number(today.slice(8))];
  const sundayIsZero = new Date(`${today}T00:00:00Z`).getUTCDay();
  return periods[name]({ year, month, day, fiscalYearStart, daysSinceMonday: (sundayIsZero + 6) % 7 });
}

/** Finds the dates of a named period. */
export type FindDates = (name: PeriodName) => PeriodDates;

/** The dates of named periods in an organization at an instant. */
export const datesAt =
  (calendar: OrganizationCalendar, instant: Date): FindDates =>
  (name) =>
    toPeriodDates(name, findToday(calendar, instant));

/** The day of an organization's calendar at an instant. */
export function findToday({ timeZone, fiscalYearStart }: OrganizationCalendar, instant = new Date()): Today {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', year: 'numeric', month: '2-digit', day: '2-digit' });
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  return { today: `${parts.year!}-${parts.month!}-${parts.day!}`, fiscalYearStart };
}

const DAY_MS = 86_400_000;

/** The first moment of a day by the clock of a calendar. It is not midnight where clocks are put forward at midnight. */
export function startOfDay(date: LocalDate, calendar: OrganizationCalendar): Date {
  let [before, after] = [-DAY_MS, DAY_MS].map((distance) => Date.parse(date) + distance) as [number, number];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (findToday(calendar, new Date(middle)).today < date) before = middle;
    else after = middle;
  }
  return new Date(after);
}

/** True for an IANA name of a time zone. An offset such as `+02:00` is none: it knows no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
