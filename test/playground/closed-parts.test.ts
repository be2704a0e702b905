import { defaultChoices, type ReportChoices } from '../../src/playground/web/choices/report-choices';
import { findCovering, isLoss, MAX_SEARCHED, toClosedPart, toSearched } from '../../src/playground/web/reports/closed-parts';
import type { Period } from '../../src/playground/web/values/periods';

const JULY = { version: 9, startDate: '2024-07-01', through: '2024-07-31' };
const JUNE = { version: 7, startDate: '2024-06-01', through: '2024-06-30' };
const MAY = { version: 5, startDate: '1900-01-01', through: '2024-05-31' };
const CLOSES = [JULY, JUNE, MAY];
const toPlan = (period: Period, more: Partial<ReportChoices> = {}) => {
  const choices = { ...defaultChoices('gifts'), ...more };
  const filter = { designationIds: [3] };
  return {
    period,
    choices,
    fileDocument: { query: '', list: '', variables: { ...period, dateBasis: choices.dateBasis, pending: 'WITH', filter } },
  };
};
const SPRING = { startDate: '2024-05-10', endDate: '2024-06-20' };
const byGift = { dateBasis: 'TRANSACTION_DATE' } as const;

test('the closes of a period are those of its days, and by gift date those of later days too', () => {
  expect(findCovering(CLOSES, toPlan(SPRING))).toEqual([JUNE, MAY]);
  expect(findCovering(CLOSES, toPlan(SPRING, byGift))).toEqual([JULY, JUNE, MAY]);
  expect(findCovering(CLOSES, toPlan({}))).toEqual(CLOSES);
  expect(findCovering(CLOSES, toPlan({ startDate: '2024-08-01', endDate: '2024-08-31' }))).toEqual([]);
});

test('the newest closes that are kept are looked through for lost lines, and by gift date the oldest', () => {
  const closes = Array.from({ length: MAX_SEARCHED + 2 }, (_, n) => ({ version: 20 - n, isKept: n <= MAX_SEARCHED }));
  const versionsOf = (dateBasis: ReportChoices['dateBasis']) => toSearched(closes, { dateBasis }).map(({ version }) => version);
  expect([versionsOf('DEPOSIT_DATE').at(0), versionsOf('DEPOSIT_DATE').length]).toEqual([20, MAX_SEARCHED]);
  expect([versionsOf('TRANSACTION_DATE').at(-1), versionsOf('TRANSACTION_DATE').length]).toEqual([8, MAX_SEARCHED]);
});

test('a line that has left a report is lost by its money, date, status or fund, and not by a label', () => {
  const left = { class: 'MOVED', columns: ['paymentType', 'donorId'], wasInside: true, isInside: false } as const;
  expect(isLoss({ ...left, columns: [...left.columns] })).toBe(false);
  for (const column of ['amount', 'depositDate', 'depositStatus', 'designationId'])
    expect([column, isLoss({ ...left, columns: ['paymentType', column] })]).toEqual([column, true]);
  expect(isLoss({ ...left, class: 'REMOVED', columns: [] })).toBe(true);
  expect(isLoss({ ...left, class: 'MONEY', columns: ['amount'], isInside: true })).toBe(false);
});

test('the lost lines of each close are asked for in the days that it closed, up to the version of the report', () => {
  const asked = { pending: 'WITH', filter: { designationIds: [3] }, dateBasis: 'DEPOSIT_DATE', to: { version: 12 } };
  const ofJune = { ...asked, from: { version: 7 }, startDate: '2024-06-01', endDate: '2024-06-20' };
  expect(toClosedPart(toPlan(SPRING), JUNE, 12)).toEqual(ofJune);
  const ofMay = { ...asked, from: { version: 5 }, startDate: '2024-05-10', endDate: '2024-05-31' };
  expect(toClosedPart(toPlan(SPRING), MAY, 12)).toEqual(ofMay);
  expect(toClosedPart(toPlan({}), MAY, 12)).toEqual({ ...ofMay, startDate: '1900-01-01' });
});

test('the lost lines of a report by gift date are those of its gift dates in the days that were closed', () => {
  const ofJuly = { from: { version: 9 }, to: { version: 12 }, startDate: '2024-07-01', endDate: '2024-07-31' };
  const asked = { ...ofJuly, pending: 'WITH', dateBasis: 'DEPOSIT_DATE' };
  const given = { from: '2024-05-10', to: '2024-06-20' };
  expect(toClosedPart(toPlan(SPRING, byGift), JULY, 12)).toEqual({ ...asked, filter: { designationIds: [3], transactionDate: given } });
  const narrowed = { ...byGift, giftDateFrom: '2024-06-01', giftDateTo: '2024-12-31' };
  const both = { designationIds: [3], transactionDate: { from: '2024-06-01', to: '2024-06-20' } };
  expect(toClosedPart(toPlan(SPRING, narrowed), JULY, 12)).toEqual({ ...asked, filter: both });
  expect(toClosedPart(toPlan({}, byGift), JULY, 12)).toEqual({ ...asked, filter: { designationIds: [3] } });
  expect(toClosedPart(toPlan(SPRING, { ...byGift, giftDateFrom: '2024-07-01' }), JULY, 12)).toBeUndefined();
});
