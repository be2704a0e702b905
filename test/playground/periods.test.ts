import { CalendarDate, parseDate } from '@internationalized/date';
import { findCompared, findPeriod, presets, type PresetName } from '../../src/playground/web/reports/periods';

/** A Sunday in a leap year, in the last month of the fiscal year. */
const now = { today: new CalendarDate(2024, 6, 30), fiscalYearStart: 7 };

const expected: Readonly<Record<PresetName, string>> = {
  today: '2024-06-30..2024-06-30',
  yesterday: '2024-06-29..2024-06-29',
  'this-week': '2024-06-24..2024-06-30',
  'last-week': '2024-06-17..2024-06-23',
  'this-month': '2024-06-01..2024-06-30',
  'last-month': '2024-05-01..2024-05-31',
  'this-quarter': '2024-04-01..2024-06-30',
  'last-quarter': '2024-01-01..2024-03-31',
  'this-year': '2024-01-01..2024-12-31',
  'last-year': '2023-01-01..2023-12-31',
  'last-12-months': '2023-07-01..2024-06-30',
  'month-to-date': '2024-06-01..2024-06-30',
  'year-to-date': '2024-01-01..2024-06-30',
  'this-fiscal-year': '2023-07-01..2024-06-30',
  'last-fiscal-year': '2022-07-01..2023-06-30',
  'fiscal-year-to-date': '2023-07-01..2024-06-30',
  'all-time': '..',
};

test.each(Object.keys(presets) as PresetName[])('an analyst who chooses %s gets whole days', (name) => {
  const { startDate = '', endDate = '' } = findPeriod(name, now)!;
  expect(`${startDate}..${endDate}`).toBe(expected[name]);
});

test.each([
  ['the fiscal year that begins today', new CalendarDate(2024, 7, 1), 7, 'this-fiscal-year', '2024-07-01..2025-06-30'],
  ['the day before it begins', new CalendarDate(2024, 6, 30), 7, 'this-fiscal-year', '2023-07-01..2024-06-30'],
  ['a fiscal year of the calendar', new CalendarDate(2024, 2, 29), 1, 'last-fiscal-year', '2023-01-01..2023-12-31'],
  ['the month before March', new CalendarDate(2024, 3, 31), 1, 'last-month', '2024-02-01..2024-02-29'],
  ['the quarter before January', new CalendarDate(2024, 1, 31), 1, 'last-quarter', '2023-10-01..2023-12-31'],
  ['the week over a new year', new CalendarDate(2025, 1, 1), 1, 'this-week', '2024-12-30..2025-01-05'],
  ['a year from February 29', new CalendarDate(2024, 2, 29), 1, 'last-12-months', '2023-03-01..2024-02-29'],
] as const)('an analyst gets %s', (_title, today, fiscalYearStart, name, dates) => {
  const { startDate, endDate } = findPeriod(name, { today, fiscalYearStart })!;
  expect(`${startDate!}..${endDate!}`).toBe(dates);
});

test.each([
  ['2024-02-01..2024-02-29', 'before', '2024-01-01..2024-01-31'],
  ['2024-03-01..2024-03-31', 'before', '2024-02-01..2024-02-29'],
  ['2024-01-01..2024-03-31', 'before', '2023-10-01..2023-12-31'],
  ['2024-01-01..2024-12-31', 'before', '2023-01-01..2023-12-31'],
  ['2024-03-10..2024-03-16', 'before', '2024-03-03..2024-03-09'],
  ['2024-03-01..2024-03-30', 'before', '2024-01-31..2024-02-29'],
  ['2024-02-01..2024-02-29', 'last-year', '2023-02-01..2023-02-28'],
  ['2023-02-01..2023-02-28', 'last-year', '2022-02-01..2022-02-28'],
  ['2025-02-01..2025-02-28', 'last-year', '2024-02-01..2024-02-29'],
  ['2024-02-29..2024-02-29', 'last-year', '2023-02-28..2023-02-28'],
  ['2024-01-01..2024-06-15', 'last-year', '2023-01-01..2023-06-15'],
] as const)('an analyst of %s who compares with %s sees %s', (period, comparison, other) => {
  const { startDate, endDate } = findCompared(findPeriod(period, now)!, comparison)!;
  expect(`${startDate}..${endDate}`).toBe(other);
});

test.each([
  ['month-to-date', '2024-11-22', '2024-10-01..2024-10-22'],
  ['month-to-date', '2024-03-30', '2024-02-01..2024-02-29'],
  ['month-to-date', '2024-05-31', '2024-04-01..2024-04-30'],
  ['year-to-date', '2024-11-22', '2023-01-01..2023-11-22'],
  ['fiscal-year-to-date', '2024-11-22', '2023-07-01..2023-11-22'],
] as const)('an analyst who compares %s on %s with the period before sees its same days, %s', (name, day, other) => {
  const { startDate, endDate } = findCompared(findPeriod(name, { today: parseDate(day), fiscalYearStart: 7 })!, 'before')!;
  expect(`${startDate}..${endDate}`).toBe(other);
});

test.each([
  '2024-02-30..2024-03-01',
  '2024-03-02..2024-03-01',
  '2024-03-01',
  '..',
  'next-month',
  '2024-3-1..2024-3-2',
  '0000-01-01..2024-01-01',
])('a link with the period %s is not followed', (text) => expect(findPeriod(text, now)).toBeUndefined());

test('all time is compared with nothing', () => {
  expect(findCompared({}, 'before')).toBeUndefined();
});
