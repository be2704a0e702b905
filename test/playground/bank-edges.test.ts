import { matchStatement } from '../../src/playground/web/bank/bank-match';
import type { Statement } from '../../src/playground/web/bank/bank-statement';
import { centsOf, toFacts, toLists, type TieInput } from '../../src/playground/web/bank/tie-lists';

const line = { bookedOn: '2026-05-09', valuedOn: '2026-05-05', cents: 500n, text: '', reference: '', isReversal: false };
const statement: Statement = {
  ...{ account: '', currency: 'USD', from: '2026-05-01', to: '2026-05-31', opening: undefined, closing: undefined, notes: [] },
  lines: [line],
};
const deposit = { id: 'D1', date: '2026-05-04', status: 'Posted', net: '5.00', gross: '5.00' };
const input: TieInput = { ...{ statement, deposits: [deposit], version: 1, amount: 'net', days: 3 }, lineDate: 'valuedOn' };
const tie = matchStatement(statement.lines, [{ date: deposit.date, cents: centsOf(deposit, 'net') }], {
  days: 3,
  lineDate: 'valuedOn',
  byHand: [],
});

test('an analyst who ties by value dates reads the distance from the value date, in the list and beside it', () => {
  expect(toLists(tie, input, new Map()).matched.rows[0]).toContain('same amount, 1 day later');
  expect(toFacts(tie, input, 'may.xml')).toContainEqual({ name: 'Date of a line', value: 'Value date', kind: 'text' });
});

test('an analyst reads of a line near the edge of the period that its deposit may be outside, and of others that there is none', () => {
  const lines = ['2026-05-02', '2026-05-15', '2026-05-29'].map((bookedOn) => ({ ...line, bookedOn }));
  const period = { startDate: '2026-05-01', endDate: '2026-05-31' };
  expect(matchStatement(lines, [], { days: 3, lineDate: 'bookedOn', byHand: [], period }).lines).toEqual(['edge', 'none', 'edge']);
});
