import { findCompared, findPeriod, isComparison } from '../../src/playground/web/values/periods';
import { addDays, findToday, isTimeZone, periodNames, toMonths, toPeriodDates, type PeriodName } from '../../src/values/periods';

/** A Sunday in a leap year, in the last month of the fiscal year. */
const now = { today: '2024-06-30', fiscalYearStart: 7 };

const expected: Readonly<Record<PeriodName, string>> = {
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
  'week-to-date': '2024-06-24..2024-06-30',
  'month-to-date': '2024-06-01..2024-06-30',
  'quarter-to-date': '2024-04-01..2024-06-30',
  'year-to-date': '2024-01-01..2024-06-30',
  'this-fiscal-year': '2023-07-01..2024-06-30',
  'last-fiscal-year': '2022-07-01..2023-06-30',
  'fiscal-year-to-date': '2023-07-01..2024-06-30',
  'all-time': '..',
};

test.each(periodNames)('an analyst who chooses %s gets whole days', (name) => {
  const { startDate = '', endDate = '' } = findPeriod(name, now)!;
  expect(`${startDate}..${endDate}`).toBe(expected[name]);
});

test.each([
  ['the fiscal year that begins today', '2024-07-01', 7, 'this-fiscal-year', '2024-07-01..2025-06-30'],
  ['the day before it begins', '2024-06-30', 7, 'this-fiscal-year', '2023-07-01..2024-06-30'],
  ['a fiscal year of the calendar', '2024-02-29', 1, 'last-fiscal-year', '2023-01-01..2023-12-31'],
  ['the month before March', '2024-03-31', 1, 'last-month', '2024-02-01..2024-02-29'],
  ['the quarter before January', '2024-01-31', 1, 'last-quarter', '2023-10-01..2023-12-31'],
  ['the week over a new year', '2025-01-01', 1, 'this-week', '2024-12-30..2025-01-05'],
  ['the week to date on its first day', '2024-11-18', 1, 'week-to-date', '2024-11-18..2024-11-18'],
  ['the week to date over a new year', '2025-01-01', 1, 'week-to-date', '2024-12-30..2025-01-01'],
  ['the week before one that begins a year', '2029-01-01', 1, 'last-week', '2028-12-25..2028-12-31'],
  ['the day before March 1 of a leap year', '2024-03-01', 1, 'yesterday', '2024-02-29..2024-02-29'],
  ['the day before a new year', '2025-01-01', 1, 'yesterday', '2024-12-31..2024-12-31'],
  ['the month before January', '2025-01-31', 1, 'last-month', '2024-12-01..2024-12-31'],
  ['the year before a leap day', '2024-02-29', 1, 'last-year', '2023-01-01..2023-12-31'],
  ['the fiscal year that ends with a leap day', '2024-02-29', 3, 'this-fiscal-year', '2023-03-01..2024-02-29'],
  ['the fiscal year to date on its first day', '2024-10-01', 10, 'fiscal-year-to-date', '2024-10-01..2024-10-01'],
  ['a year from February 29', '2024-02-29', 1, 'last-12-months', '2023-03-01..2024-02-29'],
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
  ['week-to-date', '2024-11-20', '2024-11-11..2024-11-13'],
  ['quarter-to-date', '2024-11-22', '2024-07-01..2024-08-22'],
  ['month-to-date', '2024-11-22', '2024-10-01..2024-10-22'],
  ['month-to-date', '2024-03-30', '2024-02-01..2024-02-29'],
  ['month-to-date', '2024-05-31', '2024-04-01..2024-04-30'],
  // The last day of a month does not make it a whole one.
  ['month-to-date', '2024-02-29', '2024-01-01..2024-01-29'],
  ['month-to-date', '2024-11-30', '2024-10-01..2024-10-30'],
  ['quarter-to-date', '2026-11-30', '2026-07-01..2026-08-30'],
  ['quarter-to-date', '2026-04-30', '2026-01-01..2026-01-30'],
  ['quarter-to-date', '2027-02-28', '2026-10-01..2026-11-28'],
  ['year-to-date', '2029-02-28', '2028-01-01..2028-02-28'],
  ['fiscal-year-to-date', '2029-02-28', '2027-07-01..2028-02-28'],
  ['year-to-date', '2024-11-22', '2023-01-01..2023-11-22'],
  ['fiscal-year-to-date', '2024-11-22', '2023-07-01..2023-11-22'],
] as const)('an analyst who compares %s on %s with the period before sees its same days, %s', (name, day, other) => {
  const { startDate, endDate } = findCompared(findPeriod(name, { today: day, fiscalYearStart: 7 })!, 'before')!;
  expect(`${startDate}..${endDate}`).toBe(other);
});

test.each([
  ['month-to-date', '2024-11-22', '2023-11-01..2023-11-22'],
  ['month-to-date', '2024-02-29', '2023-02-01..2023-02-28'],
  ['month-to-date', '2025-02-28', '2024-02-01..2024-02-28'],
  ['quarter-to-date', '2025-02-28', '2024-01-01..2024-02-28'],
  ['year-to-date', '2025-02-28', '2024-01-01..2024-02-28'],
] as const)('an analyst who compares %s on %s with last year sees its same days, %s', (name, today, other) => {
  const { startDate, endDate } = findCompared(findPeriod(name, { today, fiscalYearStart: 7 })!, 'last-year')!;
  expect(`${startDate}..${endDate}`).toBe(other);
});

test.each([
  ['this-month', 'before', '2024-10-01..2024-10-22'],
  ['this-month', 'last-year', '2023-11-01..2023-11-22'],
  ['this-year', 'before', '2023-01-01..2023-11-22'],
  ['this-fiscal-year', 'last-year', '2023-07-01..2023-11-22'],
  ['this-week', 'before', '2024-11-11..2024-11-15'],
  ['last-12-months', 'last-year', '2022-12-01..2023-11-22'],
  ['2024-11-01..2024-11-30', 'before', '2024-10-01..2024-10-22'],
  ['2024-11-13..2024-11-26', 'before', '2024-10-30..2024-11-08'],
  // A period that is over, or has not begun, is compared whole.
  ['last-month', 'before', '2024-09-01..2024-09-30'],
  ['2024-11-01..2024-11-22', 'before', '2024-10-10..2024-10-31'],
  ['2024-12-01..2024-12-31', 'before', '2024-11-01..2024-11-30'],
  ['2024-11-01..2024-11-30', '2021-11-01..2021-11-30', '2021-11-01..2021-11-30'],
] as const)('an analyst who compares %s on November 22 with %s sees the days so far, %s', (period, comparison, other) => {
  const today = '2024-11-22';
  const { startDate, endDate } = findCompared(findPeriod(period, { today, fiscalYearStart: 7 })!, comparison, today)!;
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

test.each([
  ['three months with three others', '2024-04-01..2024-06-30', '2021-01-01..2021-03-31', true],
  ['half a month with half another', '2024-04-01..2024-04-15', '2021-02-01..2021-02-15', true],
  ['a quarter with a month', '2024-04-01..2024-06-30', '2021-01-01..2021-01-31', false],
  ['months with months that begin elsewhere', '2024-04-01..2024-04-30', '2021-01-05..2021-01-31', false],
  ['a period with one after it', '2021-01-01..2021-03-31', '2024-04-01..2024-06-30', true],
] as const)('an analyst compares %s, %s with %s, by months: %s', (_what, period, other, isByMonths) => {
  const [startDate, endDate] = other.split('..');
  expect(findCompared(findPeriod(period, now)!, other)).toEqual({ startDate, endDate, isByMonths });
});

test.each([
  ['before', true],
  ['2021-01-01..2021-01-31', true],
  ['2021-02-30..2021-03-01', false],
  ['2021-03-01..2021-02-01', false],
  ['toString', false],
  ['..', false],
] as const)('a link that compares with %s is followed: %s', (text, isFollowed) => expect(isComparison(text)).toBe(isFollowed));

test('all time is compared with nothing', () => {
  expect(findCompared({}, 'before')).toBeUndefined();
  expect(findCompared({}, '2021-01-01..2021-01-31')).toBeUndefined();
});

test('a program that asks for all time gets every date there is', () => {
  expect(toPeriodDates('all-time', now)).toEqual({ startDate: '0001-01-01', endDate: '9999-12-31' });
});

test.each([
  ['UTC', '2026-10-31T23:59:59.999Z', '2026-10-31'],
  ['UTC', '2026-11-01T00:00:00.000Z', '2026-11-01'],
  ['Pacific/Kiritimati', '2026-10-31T09:59:59.999Z', '2026-10-31'],
  ['Pacific/Kiritimati', '2026-10-31T10:00:00.000Z', '2026-11-01'],
  ['Pacific/Pago_Pago', '2026-11-01T10:59:59.999Z', '2026-10-31'],
  ['Pacific/Pago_Pago', '2026-11-01T11:00:00.000Z', '2026-11-01'],
  // Summer time ends on November 1 and begins on March 8.
  ['America/Los_Angeles', '2026-11-01T06:59:59.999Z', '2026-10-31'],
  ['America/Los_Angeles', '2026-11-01T07:00:00.000Z', '2026-11-01'],
  ['America/Los_Angeles', '2026-11-02T07:59:59.999Z', '2026-11-01'],
  ['America/Los_Angeles', '2026-11-02T08:00:00.000Z', '2026-11-02'],
  ['America/Los_Angeles', '2026-03-08T07:59:59.999Z', '2026-03-07'],
  ['America/Los_Angeles', '2026-03-09T06:59:59.999Z', '2026-03-08'],
  ['America/Los_Angeles', '2026-03-09T07:00:00.000Z', '2026-03-09'],
  ['Asia/Kathmandu', '2024-02-28T18:15:00.000Z', '2024-02-29'],
  ['Asia/Kathmandu', '2024-02-28T18:14:59.999Z', '2024-02-28'],
  ['Europe/Berlin', '2026-12-31T23:00:00.000Z', '2027-01-01'],
] as const)('an organization in %s has at %s the day %s', (timeZone, instant, today) => {
  expect(findToday({ timeZone, fiscalYearStart: 7 }, new Date(instant))).toEqual({ today, fiscalYearStart: 7 });
});

test('“last month” turns with the midnight of the organization', () => {
  const at = (timeZone: string) =>
    toPeriodDates('last-month', findToday({ timeZone, fiscalYearStart: 1 }, new Date('2027-01-01T05:00:00Z')));
  expect(at('America/New_York')).toEqual({ startDate: '2026-12-01', endDate: '2026-12-31' });
  expect(at('America/Chicago')).toEqual({ startDate: '2026-11-01', endDate: '2026-11-30' });
});

test.each([
  ['America/New_York', true],
  ['UTC', true],
  ['Asia/Kolkata', true],
  ['Mars/Base', false],
  ['+02:00', false],
  ['', false],
  ['America/New York', false],
] as const)('a time zone “%s” is known: %s', (name, isKnown) => expect(isTimeZone(name)).toBe(isKnown));

test('the months of a typing error such as the year 26 are of that year', () => {
  expect(addDays('0026-12-31', 1)).toBe('0027-01-01');
  expect(toMonths('0099-11-20', '0100-01-05')).toEqual([
    { startDate: '0099-11-20', endDate: '0099-11-30' },
    { startDate: '0099-12-01', endDate: '0099-12-31' },
    { startDate: '0100-01-01', endDate: '0100-01-05' },
  ]);
});
