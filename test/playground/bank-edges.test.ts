import { matchStatement } from '../../src/playground/web/bank/bank-match';
import { widen } from '../../src/playground/web/bank/booked-deposits';
import type { Statement } from '../../src/playground/web/bank/bank-statement';
import { centsOf, sumDeposits, toFacts, toLists, type TieInput } from '../../src/playground/web/bank/tie-lists';

const line = { bookedOn: '2026-05-09', valuedOn: '2026-05-05', cents: 500n, text: '', reference: '', isReversal: false };
const statement: Statement = {
  ...{ account: '', currency: 'USD', from: '2026-05-01', to: '2026-05-31', opening: undefined, closing: undefined, notes: [] },
  lines: [line],
};
const deposit = { id: 'D1', date: '2026-05-04', status: 'Posted', net: '5.00', gross: '5.00', isOutside: false };
const input: TieInput = { ...{ statement, deposits: [deposit], known: {}, version: 1, amount: 'net', days: 3 }, lineDate: 'valuedOn' };
const tie = matchStatement(statement.lines, [{ date: deposit.date, cents: centsOf(deposit, 'net') }], {
  days: 3,
  lineDate: 'valuedOn',
  byHand: [],
});

test('an analyst who ties by value dates reads the distance from the value date, in the list and beside it', () => {
  expect(toLists(tie, input, new Map()).matched.rows[0]).toContain('same amount, 1 day later');
  expect(toFacts(tie, input, 'may.xml')).toContainEqual({ name: 'Date of a line', value: 'Value date', kind: 'text' });
});

test('an analyst reads of deposits outside the period where a line is one, and in no sum of the report', () => {
  const days = ['2026-04-30', '2026-05-01', '2026-05-31', '2026-06-01', '2026-06-02'];
  const amounts = ['5.00', '7.00', '9.00', '9.00', '1.00'];
  const deposits = days.map((date, n) => ({
    ...{ id: `D${n}`, date, status: 'Posted', net: amounts[n]!, gross: amounts[n]! },
    isOutside: !date.startsWith('2026-05'),
  }));
  const lines = [
    { ...line, bookedOn: '2026-05-01' },
    { ...line, bookedOn: '2026-05-31', cents: 900n },
  ];
  const edges: TieInput = { ...input, statement: { ...statement, lines }, deposits, lineDate: 'bookedOn' };
  const own = deposits.map((each) => ({ date: each.date, cents: centsOf(each, 'net') }));
  const made = matchStatement(lines, own, { days: 3, lineDate: 'bookedOn', byHand: [] });
  const { matched, here, bank } = toLists(made, edges, new Map());
  expect(matched.rows.map((row) => row.slice(6, 11))).toEqual([
    ['2026-04-30', 'D0', 'Posted', '5.00', 'outside the period: same amount, 1 day later'],
  ]);
  // One of two equal deposits is outside: neither is the line for sure.
  expect(bank.rows.map((row) => row[5])).toEqual(['Unclear: several of this amount within 3 days, D3 outside the period among them.']);
  expect(here.rows.map((row) => row[1])).toEqual(['D1', 'D2']);
  expect(sumDeposits(made, edges)).toEqual({
    matched: { cents: 0n, count: 0 },
    here: { cents: 1600n, count: 2 },
    outside: { cents: 500n, count: 1 },
  });
  expect(toFacts(made, edges, 'may.xml').slice(-4)).toEqual([
    { name: 'Matched deposits', value: '0.00', kind: 'money' },
    { name: 'Deposits only here', value: '16.00', kind: 'money' },
    { name: 'All deposits', value: '16.00', kind: 'money' },
    { name: 'Matched outside the period: 1 deposit', value: '5.00', kind: 'money' },
  ]);
});

test('an analyst reads beside a deposit of those outside that may meet it at a line, which are twice the days away at most', () => {
  const dates = ['2026-04-27', '2026-04-28', '2026-05-04'];
  const deposits = dates.map((date, n) => ({ ...deposit, id: `D${n}`, date, isOutside: !date.startsWith('2026-05') }));
  const lines = ['2026-04-29', '2026-05-01'].map((bookedOn) => ({ ...line, bookedOn }));
  const chain: TieInput = { ...input, statement: { ...statement, lines }, deposits, lineDate: 'bookedOn' };
  const own = deposits.map((each) => ({ date: each.date, cents: centsOf(each, 'net') }));
  const { here } = toLists(matchStatement(lines, own, { days: 3, lineDate: 'bookedOn', byHand: [] }), chain, new Map());
  // The one of April 28 may be the line of May 1, as this one may. The one of April 27 is seven days away.
  expect(here.rows.map((row) => [row[1], row[4]])).toEqual([
    ['D2', 'Unclear: several of this amount within 3 days, D1 outside the period among them.'],
  ]);
});

test('an analyst whose statement reaches beyond the deposits that were read reads so of its lines', () => {
  const lines = ['2026-03-02', '2026-05-15', '2026-07-30'].map((bookedOn) => ({ ...line, bookedOn }));
  const known = widen({ startDate: '2026-05-01', endDate: '2026-05-31' });
  expect(known).toEqual({ startDate: '2026-02-28', endDate: '2026-08-01' });
  expect(matchStatement(lines, [], { days: 3, lineDate: 'bookedOn', byHand: [], known }).lines).toEqual(['edge', 'none', 'edge']);
  expect(widen({ endDate: '9999-12-31' })).toEqual({ endDate: '9999-12-31' });
});
