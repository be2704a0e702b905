import { CalendarDate, endOfMonth, parseDate, startOfMonth, startOfWeek } from '@internationalized/date';

/** A period of deposit dates as `YYYY-MM-DD`. Both ends are included; an end that is missing does not bound it. */
export interface Period {
  readonly startDate?: string;
  readonly endDate?: string;
  /** The months from a period “to date” back to the same days of the one before. */
  readonly stepMonths?: number;
}

interface Today {
  readonly today: CalendarDate;
  /** The month with which the organization's fiscal year begins, 1 to 12. */
  readonly fiscalYearStart: number;
}

interface Preset {
  readonly title: string;
  readonly find: (today: Today) => Period;
}

const toPeriod = (start: CalendarDate, end: CalendarDate): Period => ({ startDate: start.toString(), endDate: end.toString() });

/** Weeks begin on Monday, as those of the gateway's groups do (ISO 8601). */
const weekOf = (date: CalendarDate): Period => {
  const monday = startOfWeek(date, 'en', 'mon');
  return toPeriod(monday, monday.add({ days: 6 }));
};
const monthOf = (date: CalendarDate): Period => toPeriod(startOfMonth(date), endOfMonth(date));
const quarterOf = (date: CalendarDate): Period => {
  const first = date.set({ month: date.month - ((date.month - 1) % 3), day: 1 });
  return toPeriod(first, endOfMonth(first.add({ months: 2 })));
};
const yearFrom = (first: CalendarDate): Period => toPeriod(first, endOfMonth(first.add({ months: 11 })));
const yearOf = (date: CalendarDate): Period => yearFrom(new CalendarDate(date.year, 1, 1));
const firstOfFiscalYear = ({ today, fiscalYearStart }: Today): CalendarDate => {
  const first = new CalendarDate(today.year, fiscalYearStart, 1);
  return first.compare(today) > 0 ? first.subtract({ years: 1 }) : first;
};

/** The periods that have a name. The name stays in links and saved reports, so that “last month” is another month in a month. */
export const presets = {
  today: { title: 'Today', find: ({ today }) => toPeriod(today, today) },
  yesterday: { title: 'Yesterday', find: ({ today }) => toPeriod(today.subtract({ days: 1 }), today.subtract({ days: 1 })) },
  'this-week': { title: 'This week', find: ({ today }) => weekOf(today) },
  'last-week': { title: 'Last week', find: ({ today }) => weekOf(today.subtract({ weeks: 1 })) },
  'this-month': { title: 'This month', find: ({ today }) => monthOf(today) },
  'last-month': { title: 'Last month', find: ({ today }) => monthOf(startOfMonth(today).subtract({ months: 1 })) },
  'this-quarter': { title: 'This quarter', find: ({ today }) => quarterOf(today) },
  'last-quarter': { title: 'Last quarter', find: ({ today }) => quarterOf(startOfMonth(today).subtract({ months: 3 })) },
  'this-year': { title: 'This year', find: ({ today }) => yearOf(today) },
  'last-year': { title: 'Last year', find: ({ today }) => yearOf(today.subtract({ years: 1 })) },
  'last-12-months': {
    title: 'Last 12 months',
    find: ({ today }) => toPeriod(startOfMonth(today).subtract({ months: 11 }), endOfMonth(today)),
  },
  'month-to-date': { title: 'Month to date', find: ({ today }) => ({ ...toPeriod(startOfMonth(today), today), stepMonths: 1 }) },
  'year-to-date': {
    title: 'Year to date',
    find: ({ today }) => ({ ...toPeriod(new CalendarDate(today.year, 1, 1), today), stepMonths: 12 }),
  },
  'this-fiscal-year': { title: 'This fiscal year', find: (now) => yearFrom(firstOfFiscalYear(now)) },
  'last-fiscal-year': { title: 'Last fiscal year', find: (now) => yearFrom(firstOfFiscalYear(now).subtract({ years: 1 })) },
  'fiscal-year-to-date': {
    title: 'Fiscal year to date',
    find: (now) => ({ ...toPeriod(firstOfFiscalYear(now), now.today), stepMonths: 12 }),
  },
  'all-time': { title: 'All time', find: () => ({}) },
} as const satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof presets;

export const isPreset = (text: string): text is PresetName => Object.hasOwn(presets, text);

/** Finds the dates of a period's text: the name of a preset, or two dates such as `2026-10-01..2026-10-31`. Undefined for other texts. */
export function findPeriod(text: string, now: Today): Period | undefined {
  if (isPreset(text)) return presets[text].find(now);
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

/** The ways to compare a period with another one. */
export const comparisons = { off: 'Off', before: 'The period before', 'last-year': 'The same of last year' } as const;
export type Comparison = keyof typeof comparisons;

/** The dates of a period that another one is compared with. */
export interface ComparedPeriod {
  readonly startDate: string;
  readonly endDate: string;
  /** True when it lies whole months before the other, so that each month has its own one to be compared with. */
  readonly isByMonths: boolean;
}

/**
 * Finds the period to compare with. The period before one “to date” has the same days of the month or year before; that of whole months has
 * as many whole months; any other has as many days. A period without both ends has none.
 */
export function findCompared({ startDate, endDate, stepMonths }: Period, comparison: Comparison): ComparedPeriod | undefined {
  if (comparison === 'off' || startDate === undefined || endDate === undefined) return undefined;
  const [start, end] = [parseDate(startDate), parseDate(endDate)];
  const isWholeMonths = start.day === 1 && end.compare(endOfMonth(end)) === 0;
  const move = (months: number): ComparedPeriod => {
    const [from, to] = [start.subtract({ months }), end.subtract({ months })];
    return { startDate: from.toString(), endDate: (isWholeMonths ? endOfMonth(to) : to).toString(), isByMonths: true };
  };
  if (comparison === 'last-year') return move(12);
  if (stepMonths !== undefined) return move(stepMonths);
  if (isWholeMonths) return move((end.year - start.year) * 12 + end.month - start.month + 1);
  const days = end.compare(start) + 1;
  return { startDate: start.subtract({ days }).toString(), endDate: end.subtract({ days }).toString(), isByMonths: false };
}
