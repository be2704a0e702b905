import { endOfMonth, parseDate } from '@internationalized/date';
import { isPeriodName, isTimeZone, toPeriodDates, type PeriodName, type Today } from '../../../values/periods';

/** A period of dates as `YYYY-MM-DD`. Both ends are included; an end that is missing does not bound it. */
export interface Period {
  readonly startDate?: string;
  readonly endDate?: string;
  /** The way from a period “to date” back to the same days of the one before. */
  readonly step?: Step | undefined;
}

/** A period with both of its ends. */
type Dates = Required<Omit<Period, 'step'>>;

/** Only one of the two is given. */
interface Step {
  readonly months?: number;
  readonly days?: number;
}

interface Preset {
  readonly title: string;
  readonly step?: Step;
}

/** The periods that have a name, in words. The name stays in links and saved reports, so that “last month” is another month in a month. */
export const presets: Readonly<Record<PeriodName, Preset>> = {
  today: { title: 'Today' },
  yesterday: { title: 'Yesterday' },
  'this-week': { title: 'This week' },
  'last-week': { title: 'Last week' },
  'this-month': { title: 'This month' },
  'last-month': { title: 'Last month' },
  'this-quarter': { title: 'This quarter' },
  'last-quarter': { title: 'Last quarter' },
  'this-year': { title: 'This year' },
  'last-year': { title: 'Last year' },
  'last-12-months': { title: 'Last 12 months' },
  'week-to-date': { title: 'Week to date', step: { days: 7 } },
  'month-to-date': { title: 'Month to date', step: { months: 1 } },
  'quarter-to-date': { title: 'Quarter to date', step: { months: 3 } },
  'year-to-date': { title: 'Year to date', step: { months: 12 } },
  'this-fiscal-year': { title: 'This fiscal year' },
  'last-fiscal-year': { title: 'Last fiscal year' },
  'fiscal-year-to-date': { title: 'Fiscal year to date', step: { months: 12 } },
  'all-time': { title: 'All time' },
};

/** The first day that a period may have. Two digits typed as a year are a year of the first century, of which the books know nothing. */
export const FIRST_DAY = '1900-01-01';

/** Finds the dates of a period's text: the name of a preset, or two dates such as `2026-10-01..2026-10-31`. Undefined for other texts. */
export function findPeriod(text: string, now: Today): Period | undefined {
  // All time has no ends here, so that nothing compares it or writes its first year.
  if (text === 'all-time') return {};
  if (isPeriodName(text)) return { ...toPeriodDates(text, now), step: presets[text].step };
  return findDates(text);
}

/** The dates of a text such as `2026-10-01..2026-10-31`; undefined for other texts. */
export function findDates(text: string): Dates | undefined {
  const [startDate, endDate, ...others] = text.split('..');
  if (!isDate(startDate) || !isDate(endDate) || others.length > 0 || startDate > endDate) return undefined;
  return { startDate, endDate };
}

/** True for a date of the calendar as `YYYY-MM-DD`. */
export const isDate = (text: string | undefined): text is string => {
  try {
    return text !== undefined && parseDate(text).toString() === text;
  } catch {
    return false;
  }
};

/** A time zone that this browser knows: that of the organization, or else this computer's. */
export const toKnownZone = (timeZone: string): string =>
  isTimeZone(timeZone) ? timeZone : new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The ways to compare a period with another one that have a name. */
export const comparisons = { off: 'Off', before: 'The period before', 'last-year': 'A year before' } as const;
/** A way that has a name, or the two dates of the other period, such as `2025-10-01..2025-10-31`. */
export type Comparison = keyof typeof comparisons | `${string}..${string}`;

const isNamed = (text: string): text is keyof typeof comparisons => Object.hasOwn(comparisons, text);
export const isComparison = (text: string): text is Comparison => isNamed(text) || findDates(text) !== undefined;

/** The period that a report is compared with, in words: its name, and “The other period” for two dates. */
export const titleOfCompared = (comparison: Comparison): string => (isNamed(comparison) ? comparisons[comparison] : 'The other period');

/** A title as a part of a sentence: “The period before” becomes “the period before”. */
export const toMidSentence = (title: string): string => title.charAt(0).toLowerCase() + title.slice(1);

/** A comparison in words that say which period it is. */
export const describeComparison = (comparison: Comparison): string =>
  isNamed(comparison) ? comparisons[comparison] : comparison.replace('..', ' to ');

/** The dates of a period that another one is compared with. */
export interface ComparedPeriod {
  readonly startDate: string;
  readonly endDate: string;
  /** True when it lies whole months before the other, so that each month has its own one to be compared with. */
  readonly isByMonths: boolean;
  /** True when it has the days that the other one has had so far, and not those to come. */
  readonly isSoFar?: true;
}

/**
 * Finds the period to compare with. The period before one “to date” has the same days of the week, month, quarter or year before; that of whole months has
 * as many whole months; any other has as many days. A shorter month ends with its last day. A period that is not over on `lastDay`, the last
 * day of which the books can tell, is compared with the same days until then: against all of the other one it would read as a fall. A period
 * without both ends has none.
 */
export function findCompared({ startDate, endDate, step }: Period, comparison: Comparison, lastDay?: string): ComparedPeriod | undefined {
  if (comparison === 'off' || startDate === undefined || endDate === undefined) return undefined;
  const dates = findDates(comparison);
  if (dates) return { ...dates, isByMonths: haveSameMonths({ startDate, endDate }, dates) };
  const isSoFar = lastDay !== undefined && startDate <= lastDay && lastDay < endDate;
  const [start, last] = [parseDate(startDate), parseDate(endDate)];
  const end = isSoFar ? parseDate(lastDay) : last;
  const months = findWholeMonths({ startDate, endDate });
  // The last day of a month ends it, and yet a period to date that ends with it has the same days of other months.
  const isToDate = isSoFar || step?.months !== undefined;
  const move = (by: Step): ComparedPeriod => {
    const [from, to] = [start.subtract(by), end.subtract(by)];
    const isByMonths = by.months !== undefined;
    return {
      startDate: from.toString(),
      endDate: (months !== undefined && isByMonths && !isToDate ? endOfMonth(to) : to).toString(),
      isByMonths,
      ...(isSoFar && { isSoFar }),
    };
  };
  if (comparison === 'last-year') return move({ months: 12 });
  if (step !== undefined) return move(step);
  if (months !== undefined) return move({ months });
  return move({ days: last.compare(start) + 1 });
}

/** The number of months that two dates are whole ones of; undefined for other dates. */
export function findWholeMonths(dates: Dates): number | undefined {
  const [start, end] = [parseDate(dates.startDate), parseDate(dates.endDate)];
  return start.day === 1 && end.compare(endOfMonth(end)) === 0 ? countMonths(dates) : undefined;
}

/** The number of months that two dates are in or between. */
function countMonths(dates: Dates): number {
  const [start, end] = [parseDate(dates.startDate), parseDate(dates.endDate)];
  return (end.year - start.year) * 12 + end.month - start.month + 1;
}

/** True for periods that begin on the same day of a month and are of as many months, so that each month has its own one in the other. */
const haveSameMonths = (one: Dates, other: Dates): boolean =>
  one.startDate.slice(-2) === other.startDate.slice(-2) && countMonths(one) === countMonths(other);
