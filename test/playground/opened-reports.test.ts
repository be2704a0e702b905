import { defaultChoices } from '../../src/playground/web/choices/report-choices';
import { findOpened, isChangedFrom, openAs, settleSaved, toSavedQuery } from '../../src/playground/web/reports/saved-choices';
import { proposeCopy, proposeName, toTitle } from '../../src/playground/web/values/saved-names';
import { MAX_TITLE_LENGTH } from '../../src/values/saved-report-limits';

const choices = defaultChoices('designations');
const save = (name: string, report: 'designations' | 'deposits', updatedAt: string) => ({
  ...{ name, updatedAt },
  query: toSavedQuery(defaultChoices(report), { query: '{ viewer { username } }', variables: {}, list: '' }),
});
const race = save('race', 'deposits', '2026-11-01T00:00:00.000Z');
const board = save('board', 'designations', '2026-11-02T00:00:00.000Z');
const reports = [race, board];
const named = (name: string, updatedAt?: string) => ({ choices, saved: { name, updatedAt } });

test('an address opens a saved report of its own kind alone', () => {
  expect(findOpened(reports, 'board', choices)).toBe(board);
  expect(findOpened(reports, 'race', choices)).toBeUndefined();
  expect(findOpened(reports, 'race', defaultChoices('deposits'))).toBe(race);
  expect(findOpened([{ ...board, query: '{ viewer { username } }' }], 'board', choices)).toBeUndefined();
});

test('an address without a time has that of the report, and one of no report loses its name', () => {
  expect(settleSaved(named('board'), reports)).toEqual({ ...named('board', board.updatedAt), lost: undefined });
  for (const name of ['race', 'gone']) expect(settleSaved(named(name), reports)).toEqual({ choices, saved: undefined, lost: name });
});

test('a report keeps the time at which it was opened, whatever is listed later', () => {
  const opened = named('board', '2026-10-01T00:00:00.000Z');
  expect(settleSaved(opened, reports)).toBe(opened);
});

test('an answer that comes late is of the report that was saved, also where its choices were changed meanwhile', () => {
  const from = named('board', '2026-10-01T00:00:00.000Z');
  const next = { name: 'board', updatedAt: board.updatedAt };
  expect(openAs(from, from, next).saved).toEqual(next);
  const changed = { ...from, choices: { ...choices, period: 'this-year' } };
  expect(openAs(changed, from, next)).toEqual({ ...changed, saved: next, lost: undefined });
  for (const other of [
    { choices: defaultChoices('deposits') },
    { choices: { ...choices }, saved: { ...from.saved } },
    { choices: { ...choices }, saved: undefined },
  ])
    expect(openAs(other, from, next)).toBe(other);
});

test('a report that was saved first is open as such, unless another one is open by then', () => {
  const next = { name: 'new', updatedAt: board.updatedAt };
  expect(openAs({ choices }, { choices }, next)).toEqual({ choices, saved: next, lost: undefined });
  const other = { choices: { ...choices } };
  expect(openAs(other, { choices }, next)).toBe(other);
});

test('choices differ from those that were saved when the address does', () => {
  expect(isChangedFrom(board, choices)).toBe(false);
  expect(isChangedFrom(board, { ...choices, pending: 'ONLY' })).toBe(true);
});

const funds = (count: number) =>
  Array.from({ length: count }, (_none, n) => ({ kind: 'fund', text: `Fund: A fund with a name of its own (${String(n)})` }));

test('the title of ten funds names those that it has room for, and counts the others', () => {
  const title = toTitle('Designations, Last month', funds(10));
  expect(title).toBe(
    'Designations, Last month, Fund: A fund with a name of its own (0), Fund: A fund with a name of its own (1), Fund: A fund with a name of its own (2), … and 7 more funds',
  );
  const amount = { kind: 'condition', text: 'Whole gift: from 5.00' };
  expect(toTitle('Designations, Last month', [...funds(10), amount])).toContain('(2), … and 8 more conditions');
  expect(toTitle('Gifts', [{ kind: 'fund', text: 'x'.repeat(300) }])).toBe('Gifts, … and 1 more fund');
  expect(toTitle('Gifts', [amount])).toBe('Gifts, Whole gift: from 5.00');
  expect(toTitle('Gifts', [])).toBe('Gifts');
});

test('no proposed title is longer than the gateway takes', () => {
  for (let count = 0; count < 30; count++) {
    for (let begin = 1; begin < 170; begin++) expect(toTitle('x'.repeat(begin), funds(count)).length).toBeLessThanOrEqual(MAX_TITLE_LENGTH);
  }
});

test('the copy of a long title is cut, between whole characters', () => {
  expect(proposeCopy('Board')).toBe('Board (copy)');
  expect(proposeCopy('x'.repeat(193))).toBe(`${'x'.repeat(193)} (copy)`);
  expect(proposeCopy('x'.repeat(194))).toBe(`${'x'.repeat(192)}… (copy)`);
  const emoji = proposeCopy(`x${'😀'.repeat(99)}`);
  expect([emoji.length <= MAX_TITLE_LENGTH, emoji.isWellFormed()]).toEqual([true, true]);
  expect(proposeCopy('x'.repeat(200)).length).toBe(MAX_TITLE_LENGTH);
});

test('a name has the words of its title', () => expect(proposeName('Année 2026, funds')).toBe('annee-2026-funds'));
