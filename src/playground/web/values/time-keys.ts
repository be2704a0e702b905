/** The keys of groups that are parts of time, by their paths in a group. */
export const [DAY, MONTH, QUARTER, YEAR] = ['key.day', 'key.month', 'key.quarter', 'key.year'] as const;
const WEEK = 'key.week';
export const timeKeys: readonly string[] = [DAY, WEEK, MONTH, QUARTER, YEAR];

/**
 * Adds the days, weeks, months, quarters or years that have no groups, so that each has its place. The times are in order. Those of no such key,
 * and those that are no parts of one, stay as they are.
 */
export function fillTimes(times: readonly string[], key: string | undefined): string[] {
  const [first, last] = [times[0], times.at(-1)];
  const step = steps[key ?? ''];
  if (first === undefined || last === undefined || !step) return [...times];
  const filled: string[] = [];
  // UTC has no daylight saving time, so that no day is skipped.
  for (const date = new Date(`${first}T00:00:00Z`); filled.at(-1) !== last && filled.length < MAX_TIMES; step(date)) {
    filled.push(date.toISOString().slice(0, 10));
  }
  return filled.at(-1) === last ? filled : [...times];
}

/** Enough for ten years of days. */
const MAX_TIMES = 3700;
const steps: Readonly<Record<string, (date: Date) => unknown>> = {
  [DAY]: (date) => date.setUTCDate(date.getUTCDate() + 1),
  [WEEK]: (date) => date.setUTCDate(date.getUTCDate() + 7),
  [MONTH]: (date) => date.setUTCMonth(date.getUTCMonth() + 1),
  [QUARTER]: (date) => date.setUTCMonth(date.getUTCMonth() + 3),
  [YEAR]: (date) => date.setUTCFullYear(date.getUTCFullYear() + 1),
};
