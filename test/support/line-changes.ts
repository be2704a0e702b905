import { lineNames, type LineName } from '../../src/line/line-fields';
import { compare, compareLines, toCents, type BookLine } from './book-entities';

/** The classes in their order. ERASED is that of lines that have lost texts in the first state since, because a donor was forgotten. */
export const CLASSES = ['MONEY', 'ADDED', 'REMOVED', 'MOVED', 'REKEYED', 'ERASED', 'RELABELLED'] as const;
type ChangeClass = (typeof CLASSES)[number];

export interface LineChange {
  readonly class: ChangeClass;
  readonly before: BookLine | undefined;
  readonly after: BookLine | undefined;
  readonly columns: readonly LineName[];
  readonly wasInside: boolean;
  readonly isInside: boolean;
}
/** Two states and a set of lines. */
export interface Compared {
  readonly before: readonly BookLine[];
  readonly after: readonly BookLine[];
  readonly isInside: (line: BookLine) => boolean;
  /** True where the second state has a line written anew, and that of the first one has lost texts because a donor was forgotten. */
  readonly isErased: (before: BookLine, after: BookLine) => boolean;
}
interface Side {
  readonly line: BookLine;
  /** The id that its gift goes by: that of its new one where the gift has only got another id. */
  readonly gift: string;
  /** True where the other state does not have the allocation. */
  readonly isSingle: boolean;
}

const MONEY = ['amount', 'fee_amount', 'net_amount', 'allocation_amount'] as const;
const OF_GIFT = ['deposit_date', 'deposit_id', 'deposit_status', 'transaction_date', 'status', 'donor_id'] as const;
const keyOf = (line: BookLine, names: readonly LineName[]): string => JSON.stringify(names.map((name) => line[name]));
const sameGift = (line: BookLine): string => keyOf(line, [...OF_GIFT, 'amount', 'fee_amount']);
const differs = (one: BookLine, other: BookLine, names: readonly LineName[]): boolean => keyOf(one, names) !== keyOf(other, names);

/** The items in lists, by a key of each. */
function groupBy<Item>(items: Iterable<Item>, key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

/** The changes of the lines between two states, of which one side at least lies in the set, in report order. */
export function changesOf({ before, after, isInside, isErased }: Compared): LineChange[] {
  const [earlier, later] = sidesOf(before, after);
  const pairs: [Side | undefined, Side | undefined][] = [];
  const laterById = new Map(later.map((side) => [side.line.allocation_id, side]));
  for (const side of earlier) if (!side.isSingle) pairs.push([side, laterById.get(side.line.allocation_id)]);
  // A line that is gone and a new one are one change where gift, fund and money are equal: the first with the first, and so on.
  const singles = (sides: readonly Side[]): Map<string, Side[]> =>
    groupBy(
      sides.filter((side) => side.isSingle).sort(({ line: one }, { line: other }) => compareMemos(one, other)),
      ({ gift, line }) => JSON.stringify([gift, sameGift(line), line.designation_id, line.allocation_amount]),
    );
  const [gone, added] = [singles(earlier), singles(later)];
  for (const key of new Set([...gone.keys(), ...added.keys()])) {
    const [was, is] = [gone.get(key) ?? [], added.get(key) ?? []];
    for (let at = 0; at < Math.max(was.length, is.length); at++) pairs.push([was[at], is[at]]);
  }
  return pairs.flatMap(([was, is]) => toChange(was, is, isInside, isErased) ?? []).sort((one, other) => compareChanges(one, other));
}

const compareMemos = (one: BookLine, other: BookLine): number =>
  compare(one.designation_memo, other.designation_memo) || compare(one.allocation_id, other.allocation_id);
const lineOf = ({ before, after }: LineChange): BookLine => (after ?? before)!;
const compareChanges = (one: LineChange, other: LineChange): number => compareLines(lineOf(one), lineOf(other));

/** The lines of both states with the id that the gift of each goes by. */
function sidesOf(before: readonly BookLine[], after: readonly BookLine[]): [Side[], Side[]] {
  const gifts = [before, after].map((lines) => groupBy(lines, ({ transaction_id }) => transaction_id)) as [Gifts, Gifts];
  const ids = [before, after].map((lines) => new Map(lines.map((line) => [line.allocation_id, line])));
  const names = new Map<string, string>();
  // Gifts that one state alone has, and that are equal but for their ids.
  const wholes = ([0, 1] as const).flatMap((side) => {
    const others = gifts[1 - side]!;
    const whole = [...gifts[side]].filter(([id]) => !others.has(id)).map(([id, lines]) => toWhole(side, id, lines, ids[1 - side]!));
    return [...groupBy(whole, ({ key }) => key).values()].flatMap((equal) =>
      equal.sort(compareWholes).map((each, turn) => ({ ...each, key: each.kept === undefined ? `${turn} ${each.key}` : each.key })),
    );
  });
  for (const equal of groupBy(wholes, ({ key }) => key).values()) {
    const newIds = equal.flatMap(({ side, id }) => (side === 1 ? [id] : []));
    if (newIds.length === 0 || newIds.length === equal.length) continue;
    for (const { side, id } of equal) names.set(`${side} ${id}`, newIds.sort(compare).at(-1)!);
  }
  const toSides = (lines: readonly BookLine[], side: 0 | 1): Side[] =>
    lines.map((line) => ({
      line,
      gift: names.get(`${side} ${line.transaction_id}`) ?? line.transaction_id,
      isSingle: !ids[1 - side]!.has(line.allocation_id),
    }));
  return [toSides(before, 0), toSides(after, 1)];
}

type Gifts = Map<string, BookLine[]>;
interface Whole {
  readonly side: 0 | 1;
  readonly id: string;
  readonly line: BookLine;
  /** The new gift that has lines of this one; undefined where no state but one has a line of it. */
  readonly kept: string | undefined;
  readonly key: string;
}

function toWhole(side: 0 | 1, id: string, lines: readonly BookLine[], others: ReadonlyMap<string, BookLine>): Whole {
  const keptLines = lines.flatMap((line) => others.get(line.allocation_id) ?? []);
  const kept =
    keptLines.length === 0
      ? undefined
      : side === 1
        ? id
        : keptLines
            .map((line) => line.transaction_id)
            .sort(compare)
            .at(-1);
  const shares = lines.map((line) => keyOf(line, ['designation_id', 'allocation_amount'])).sort();
  return { side, id, line: lines[0]!, kept, key: JSON.stringify([kept, sameGift(lines[0]!), shares]) };
}
const compareWholes = ({ line: one, id }: Whole, { line: other, id: otherId }: Whole): number =>
  compare(one.payment_type, other.payment_type) || compare(one.main_memo, other.main_memo) || compare(id, otherId);

function toChange(
  was: Side | undefined,
  is: Side | undefined,
  fits: Compared['isInside'],
  isErased: Compared['isErased'],
): LineChange | undefined {
  const [before, after] = [was?.line, is?.line];
  const [wasInside, isInside] = [before !== undefined && fits(before), after !== undefined && fits(after)];
  if (!wasInside && !isInside) return undefined;
  const change = { before, after, wasInside, isInside, columns: [] };
  if (!before || !after) return { ...change, class: before ? 'REMOVED' : 'ADDED' };
  const columns = lineNames.filter((name) => before[name] !== after[name]);
  const isForgotten = isErased(before, after);
  if (columns.length === 0 && !isForgotten) return undefined;
  const hasMoved = wasInside !== isInside || differs(before, after, [...OF_GIFT, 'designation_id']) || was!.gift !== is!.gift;
  if (differs(before, after, MONEY)) return { ...change, columns, class: 'MONEY' };
  if (hasMoved) return { ...change, columns, class: 'MOVED' };
  if (differs(before, after, ['transaction_id', 'allocation_id'])) return { ...change, columns, class: 'REKEYED' };
  return { ...change, columns, class: isForgotten ? 'ERASED' : 'RELABELLED' };
}

/** Figures in the order in which GraphQL tells an effect: counts, then amounts in cents. */
export type Figures = readonly number[];
const ZERO: Figures = Array<number>(11).fill(0);
export const add = (...all: readonly Figures[]): Figures => all.reduce((sum, next) => sum.map((value, at) => value + next[at]!), ZERO);
const amountsOf = (line: BookLine): number[] => [line.amount, line.fee_amount, line.net_amount].map(toCents);
const minus = (figures: Figures): Figures => figures.map((value) => 0 - value);

const lineFigures = (line: BookLine): Figures => {
  const share = line.allocation_amount;
  return [1, 0, 0, ...amountsOf(line), 0, 0, 0, share === null ? 0 : toCents(share), share === null ? 1 : 0];
};
const giftFigures = (line: BookLine): Figures => [0, 1, 0, 0, 0, 0, ...amountsOf(line), 0, 0];
const depositFigures: Figures = [0, 0, 1, ...ZERO.slice(3)];

/** The figures of lines: each line, each gift and each deposit once. */
export function figuresOf(lines: readonly BookLine[]): Figures {
  const gifts = new Map(lines.map((line) => [line.transaction_id, line]));
  const deposits = new Set(lines.map(({ deposit_id }) => deposit_id));
  return add(...lines.map(lineFigures), ...[...gifts.values()].map(giftFigures), ...[...deposits].map(() => depositFigures));
}

/** What each change adds to the figures of the set, in the order of the changes. A gift and a deposit count at the first change of theirs. */
export function effectsOf(changes: readonly LineChange[], { before, after, isInside }: Compared): Figures[] {
  const first = [...changes].sort(
    (one, other) =>
      CLASSES.indexOf(one.class) - CLASSES.indexOf(other.class) || compare(lineOf(one).allocation_id, lineOf(other).allocation_id),
  );
  const effects = new Map<LineChange, Figures>();
  const addTo = (change: LineChange, figures: Figures): void => void effects.set(change, add(effects.get(change) ?? ZERO, figures));
  const insideOf = (change: LineChange): BookLine[] =>
    [change.before, change.after].filter((line): line is BookLine => line !== undefined && isInside(line));
  const counted = new Set<string>();
  const countOnce = (change: LineChange, name: 'transaction_id' | 'deposit_id', figures: (line: BookLine) => Figures): void => {
    for (const { [name]: id } of insideOf(change)) {
      if (counted.has(`${name} ${id}`)) continue;
      counted.add(`${name} ${id}`);
      const [was, is] = [before, after].map((lines) => lines.find((line) => line[name] === id && isInside(line)));
      addTo(change, add(was ? minus(figures(was)) : ZERO, is ? figures(is) : ZERO));
    }
  };
  for (const change of first) {
    if (change.before && isInside(change.before)) addTo(change, minus(lineFigures(change.before)));
    if (change.after && isInside(change.after)) addTo(change, lineFigures(change.after));
    countOnce(change, 'transaction_id', giftFigures);
    countOnce(change, 'deposit_id', () => depositFigures);
  }
  return changes.map((change) => effects.get(change) ?? ZERO);
}
