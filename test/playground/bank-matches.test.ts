import fc from 'fast-check';
import {
  matchStatement,
  type BankDeposit,
  type BankTie,
  type MatchChoice,
  type TiedPlaces,
} from '../../src/playground/web/bank/bank-match';
import type { StatementLine } from '../../src/playground/web/bank/bank-statement';
import { tries } from '../support/tries';

const dayAt = (day: number): string => new Date(Date.UTC(2026, 4, 1 + day)).toISOString().slice(0, 10);
const line = (day: number, cents: number, more: Partial<StatementLine> = {}): StatementLine => ({
  ...{ bookedOn: dayAt(day), valuedOn: undefined, cents: BigInt(cents), text: '', reference: '', isReversal: false },
  ...more,
});
const deposit = (day: number, cents: number): BankDeposit => ({ date: dayAt(day), cents: BigInt(cents) });
const choice: MatchChoice = { days: 3, lineDate: 'bookedOn', byHand: [] };
const match = (lines: readonly StatementLine[], deposits: readonly BankDeposit[], more: Partial<MatchChoice> = {}): BankTie =>
  matchStatement(lines, deposits, { ...choice, ...more });
/** The ties as “kind: lines = deposits”, and the reasons of all others. */
const told = ({ groups, lines, deposits }: BankTie): unknown => ({
  ties: groups.map((group) => `${group.kind}: ${group.lines.join('+')} = ${group.deposits.join('+')}`),
  lines: lines.map((reason) => reason ?? 'tied'),
  deposits: deposits.map((reason) => reason ?? 'tied'),
});

test('an analyst sees a deposit tied to the only line of its amount within the days, and the others left', () => {
  expect(told(match([line(2, 500), line(9, 700), line(2, -50)], [deposit(0, 500), deposit(4, 700)]))).toEqual({
    ties: ['pair: 0 = 0'],
    lines: ['tied', 'none', 'paid-out'],
    deposits: ['tied', 'none'],
  });
});

test('an analyst sees a chain of equal amounts tied where there is one way to tie all of it', () => {
  expect(told(match([line(0, 5), line(4, 5)], [deposit(1, 5), deposit(7, 5)]))).toEqual({
    ties: ['pair: 0 = 0', 'pair: 1 = 1'],
    lines: ['tied', 'tied'],
    deposits: ['tied', 'tied'],
  });
});

test('an analyst decides about equal lines of one day, and the other one is tied by itself only when that is sure', () => {
  const [lines, deposits] = [[line(0, 5, { text: 'a' }), line(0, 5, { text: 'b' })], [deposit(0, 5)]];
  const tie = match(lines, deposits);
  expect(told(tie)).toEqual({ ties: [], lines: ['several', 'several'], deposits: ['several'] });
  expect(tie.unclear).toEqual([{ lines: [0, 1], deposits: [0], isWhole: false, isEdge: false }]);
  expect(told(match(lines, deposits, { byHand: [{ lines: [1], deposits: [0] }] }))).toEqual({
    ties: ['hand: 1 = 0'],
    lines: ['none', 'tied'],
    deposits: ['tied'],
  });
});

test('an analyst sees a line tied to the only sum of deposits, and a deposit to the only sum of lines', () => {
  expect(told(match([line(0, 30)], [deposit(0, 10), deposit(1, 20), deposit(1, 50)]))).toEqual({
    ties: ['deposits: 0 = 0+1'],
    lines: ['tied'],
    deposits: ['tied', 'tied', 'none'],
  });
  expect(told(match([line(0, 10), line(1, 20)], [deposit(1, 30)]))).toEqual({
    ties: ['lines: 0+1 = 0'],
    lines: ['tied', 'tied'],
    deposits: ['tied'],
  });
});

test('an analyst sees a deposit of refunds as a part of a line, and never as one of its own', () => {
  expect(told(match([line(0, 70), line(0, -30)], [deposit(0, 100), deposit(0, -30)]))).toEqual({
    ties: ['deposits: 0 = 1+0'],
    lines: ['tied', 'paid-out'],
    deposits: ['tied', 'tied'],
  });
});

test('an analyst is told that several sums fit, that a part of the only sum fits elsewhere, and that there are too many', () => {
  expect(told(match([line(0, 30)], [deposit(0, 10), deposit(0, 20), deposit(0, 12), deposit(0, 18)]))).toEqual({
    ties: [],
    lines: ['sums'],
    deposits: ['sums', 'sums', 'sums', 'sums'],
  });
  expect(told(match([line(0, 30), line(0, 35)], [deposit(0, 10), deposit(0, 20), deposit(0, 25)]))).toEqual({
    ties: [],
    lines: ['shared', 'shared'],
    deposits: ['shared', 'shared', 'shared'],
  });
  const many = Array.from({ length: 21 }, (_, n) => deposit(0, 100 + n));
  expect(new Set(match([line(0, 300)], many).deposits)).toEqual(new Set(['too-many']));
  expect(told(match([line(9, 203)], [...many, deposit(9, 103), deposit(9, 100)]))).toMatchObject({ ties: ['deposits: 0 = 22+21'] });
});

test('an analyst sees a line tied only where all deposits of its days are known', () => {
  const known = { endDate: dayAt(11) };
  const untied = { ties: [], lines: ['edge'], deposits: ['beside-edge'] };
  expect(told(match([line(9, 5)], [deposit(7, 5)], { known }))).toEqual(untied);
  expect(told(match([line(8, 5)], [deposit(7, 5)], { known }))).toMatchObject({ ties: ['pair: 0 = 0'] });
  expect(told(match([line(9, 5)], [deposit(7, 2), deposit(8, 3)], { known }))).toEqual({
    ...untied,
    deposits: ['beside-edge', 'beside-edge'],
  });
  expect(told(match([line(9, 2), line(8, 3)], [deposit(8, 5)], { known }))).toEqual({ ...untied, lines: ['edge', 'beside-edge'] });
  // A deposit that the line at the edge does not need may be that of the line before.
  expect(told(match([line(5, 5), line(9, 5)], [deposit(7, 5), deposit(4, 5)], { known }))).toEqual({
    ...{ ties: [], lines: ['beside-edge', 'edge'], deposits: ['beside-edge', 'beside-edge'] },
  });
});

test('an analyst matches equal groups at once only where each line has a deposit of its own within the days', () => {
  const wholes = (lines: readonly number[], deposits: readonly number[]): readonly boolean[] =>
    match(
      lines.map((day) => line(day, 5)),
      deposits.map((day) => deposit(day, 5)),
    ).unclear.map(({ isWhole }) => isWhole);
  expect(wholes([0, 0], [1, 1])).toEqual([true]);
  expect(wholes([0, 0, 1], [1, 1])).toEqual([false]);
  // Both lines of one day fit the first deposit alone.
  expect(wholes([0, 0, 5], [3, 6, 7])).toEqual([false]);
});

test('an analyst sees no tie of what came back or was taken back, and chooses the value date', () => {
  expect(told(match([line(0, 5, { isReversal: true })], [deposit(0, 5)]))).toEqual({ ties: [], lines: ['returned'], deposits: ['none'] });
  expect(match([line(0, -5, { isReversal: true }), line(0, -5)], []).lines).toEqual(['reversal', 'paid-out']);
  const late = [line(9, 5, { valuedOn: dayAt(1) })];
  expect(match(late, [deposit(0, 5)]).groups).toEqual([]);
  expect(match(late, [deposit(0, 5)], { lineDate: 'valuedOn' }).groups).toHaveLength(1);
});

interface Way {
  readonly pairs: number;
  readonly groups: readonly string[];
}

const keyOf = ({ lines, deposits }: TiedPlaces): string => `${lines.toSorted().join()}=${deposits.toSorted().join()}`;

/** All ties that a second person could make: one line with deposits, or one deposit with lines, of equal sums within the days. */
function possibleTies(lines: readonly StatementLine[], deposits: readonly BankDeposit[], days: number): TiedPlaces[] {
  const isNear = (at: number, of: number): boolean =>
    Math.abs(Date.parse(lines[at]!.bookedOn) - Date.parse(deposits[of]!.date)) <= days * 86_400_000;
  const setsOf = (count: number): number[][] =>
    Array.from({ length: 2 ** count - 1 }, (_, n) => Array.from({ length: count }, (_none, at) => at).filter((at) => ((n + 1) >> at) & 1));
  const total = (items: readonly { readonly cents: bigint }[], places: readonly number[]): bigint =>
    places.reduce((sum, at) => sum + items[at]!.cents, 0n);
  const credits = setsOf(lines.length).filter((places) => places.every((at) => lines[at]!.cents > 0n));
  const parts = setsOf(deposits.length).filter((places) => places.every((at) => deposits[at]!.cents !== 0n));
  return credits.flatMap((some) =>
    parts
      .filter((others) => (some.length === 1 || others.length === 1) && total(lines, some) === total(deposits, others))
      .filter((others) => some.every((at) => others.every((of) => isNear(at, of))))
      .map((others) => ({ lines: some, deposits: others })),
  );
}

/** The ways to tie that are worth most: those with the most pairs, and of these the ones with the most ties. */
function bestWays(ties: readonly TiedPlaces[]): readonly Way[] {
  let best: Way[] = [];
  const visit = (from: number, way: Way, used: ReadonlySet<string>): void => {
    const [first] = best;
    const worth = first === undefined ? 1 : way.pairs - first.pairs || way.groups.length - first.groups.length;
    if (worth > 0) best = [way];
    else if (worth === 0) best.push(way);
    for (let at = from; at < ties.length; at++) {
      const tie = ties[at]!;
      const names = [...tie.lines.map((place) => `L${place}`), ...tie.deposits.map((place) => `D${place}`)];
      if (names.some((name) => used.has(name))) continue;
      const isPair = tie.lines.length === 1 && tie.deposits.length === 1;
      visit(at + 1, { pairs: way.pairs + Number(isPair), groups: [...way.groups, keyOf(tie)] }, new Set([...used, ...names]));
    }
  };
  visit(0, { pairs: 0, groups: [] }, new Set());
  return best;
}

const anyCents = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: -3, max: 12 }));
const anyDay = fc.integer({ min: 0, max: 4 });
const anyLines = fc.array(
  fc.tuple(anyDay, anyCents).map(([day, cents]) => line(day, cents)),
  { maxLength: 4 },
);
const anyDeposits = fc.array(
  fc.tuple(anyDay, anyCents).map(([day, cents]) => deposit(day, cents)),
  { maxLength: 4 },
);

test('a second person cannot dispute a tie: each is in every way that is worth most, and ties and the rest are the statement', () => {
  fc.assert(
    fc.property(anyLines, anyDeposits, fc.integer({ min: 0, max: 3 }), (lines, deposits, days) => {
      const tie = match(lines, deposits, { days });
      const sum = (places: Iterable<number>, items: readonly { readonly cents: bigint }[]): bigint =>
        [...places].reduce((total, at) => total + items[at]!.cents, 0n);
      for (const group of tie.groups) expect(String(sum(group.lines, lines))).toBe(String(sum(group.deposits, deposits)));
      // Each line and each deposit is tied once, or has a reason.
      for (const [side, items] of [
        ['lines', lines],
        ['deposits', deposits],
      ] as const) {
        const tied = tie.groups.flatMap((group) => group[side]);
        const left = items.flatMap((_, at) => (tie[side][at] === undefined ? [] : [at]));
        expect([...tied, ...left].toSorted()).toEqual(items.map((_, at) => at));
        expect(String(sum(tied, items) + sum(left, items))).toBe(String(sum(items.keys(), items)));
      }
      const ways = bestWays(possibleTies(lines, deposits, days));
      for (const group of tie.groups) expect(ways.filter(({ groups }) => !groups.includes(keyOf(group)))).toEqual([]);
    }),
    { numRuns: tries(10_000) },
  );
});

test('an analyst ties ten thousand lines to ten thousand deposits in a moment, however alike they are', () => {
  for (const [span, amounts] of [
    [365, 1_000_000],
    [3000, 1_000_000],
    [1, 1_000_000],
    [365, 1],
    [1, 1],
  ] as const) {
    const items = fc.sample(fc.tuple(fc.nat(span - 1), fc.integer({ min: 1, max: amounts })), { numRuns: 20_000, seed: 7 });
    const lines = items.slice(0, 10_000).map(([day, cents]) => line(day, cents));
    const deposits = items.slice(10_000).map(([day, cents]) => deposit(day, cents));
    const began = performance.now();
    expect(match(lines, deposits).lines).toHaveLength(10_000);
    // A second on a quiet machine. Work that grows with the square of equal lines takes minutes.
    expect(performance.now() - began).toBeLessThan(10_000);
  }
});
