import type { StatementLine } from './bank-statement';
import type { DaySpan } from './booked-deposits';
import { pairEqual, type MatchItem, type UnclearGroup } from './equal-pairs';
import { createSumFinder, MOST_ADDENDS, MOST_CENTS } from './sum-search';

/** A deposit by the amount that the bank may have: net of fees, or gross. */
export interface BankDeposit {
  /** The day, as `YYYY-MM-DD`. */
  readonly date: string;
  readonly cents: bigint;
}

/** The date of a line that a deposit's is compared with. */
export const lineDates = { bookedOn: 'Booking date', valuedOn: 'Value date' } as const;
export type LineDate = keyof typeof lineDates;

/** The day of a line by the date that was chosen, as `YYYY-MM-DD`. A line without a value date has that of its booking. */
export const dayOf = ({ bookedOn, valuedOn }: Pick<StatementLine, LineDate>, lineDate: LineDate): string =>
  lineDate === 'valuedOn' ? (valuedOn ?? bookedOn) : bookedOn;

export interface MatchChoice {
  /** The most days between a deposit and its line. */
  readonly days: number;
  readonly lineDate: LineDate;
  /** The groups that somebody tied by hand: they come before any other. */
  readonly byHand: readonly TiedPlaces[];
  /** The days whose deposits are known, each of which may be undefined where it is open. */
  readonly known?: DaySpan;
}

/** Lines and deposits whose sums are equal, as places in their lists. */
export interface TiedPlaces {
  readonly lines: readonly number[];
  readonly deposits: readonly number[];
}

/** Ways in which a group was tied, in words. */
export const tieKinds = {
  pair: 'same amount',
  deposits: 'the only sum of deposits',
  lines: 'the only sum of lines',
  hand: 'by hand',
} as const;

export interface TiedGroup extends TiedPlaces {
  readonly kind: keyof typeof tieKinds;
}

/** The reasons why a line or a deposit is not tied. */
export type LeftReason =
  /** Nothing of its amount, and no sum. */
  | 'none'
  /** Deposits of some of its days are not known. */
  | 'edge'
  /** It may belong to a line of which deposits are not known. */
  | 'beside-edge'
  /** Several of its amount fit, or several fit the same one. */
  | 'several'
  /** Several sums fit, or it is in one of several. */
  | 'sums'
  /** The only sum has a part that fits elsewhere too. */
  | 'shared'
  /** Too many amounts to try their sums. */
  | 'too-many'
  /** Money that left the account, which no deposit is. */
  | 'paid-out'
  /** Money that the bank took back, which no deposit is. */
  | 'reversal'
  /** A payment out of the account that came back, which no deposit is. */
  | 'returned'
  /** Nothing to find: the amount is zero or less. */
  | 'no-money';

export interface BankTie {
  readonly groups: readonly TiedGroup[];
  /** The reason of each line and each deposit, by its place; undefined for one that is tied. */
  readonly lines: readonly (LeftReason | undefined)[];
  readonly deposits: readonly (LeftReason | undefined)[];
  /** Groups of equal amounts that nobody can tell apart. */
  readonly unclear: readonly UnclearGroup[];
}

const toDay = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

/**
 * Ties lines of a statement to deposits, by exact amounts alone. First one line to one deposit, then one line to a sum of deposits and one
 * deposit to a sum of lines. A tie is made only where no other one is possible that is worth as much; everything else has its reason, so that
 * ties and reasons together are the whole statement.
 */
export function matchStatement(lines: readonly StatementLine[], deposits: readonly BankDeposit[], choice: MatchChoice): BankTie {
  const { days, lineDate, byHand, known = {} } = choice;
  const groups: TiedGroup[] = byHand.map((group) => ({ ...group, kind: 'hand' }));
  const isDone = { lines: new Set(byHand.flatMap((group) => group.lines)), deposits: new Set(byHand.flatMap((group) => group.deposits)) };
  const reasons = {
    lines: lines.map((line, place): LeftReason | undefined => (isDone.lines.has(place) ? undefined : reasonOf(line))),
    deposits: deposits.map(({ cents }, place): LeftReason | undefined =>
      isDone.deposits.has(place) ? undefined : cents <= 0n ? 'no-money' : 'none',
    ),
  };
  const first = known.startDate === undefined ? -Infinity : toDay(known.startDate) + days;
  const last = known.endDate === undefined ? Infinity : toDay(known.endDate) - days;
  const received = new Map(
    lines.flatMap((line, place) => {
      const day = toDay(dayOf(line, lineDate));
      return reasons.lines[place] === 'none' ? [[place, { cents: line.cents, day, isEdge: day < first || day > last }] as const] : [];
    }),
  );
  // A deposit of less than zero, such as refunds, is no line of its own, but it may be a part of one.
  const booked = new Map(
    deposits.flatMap(({ cents, date }, place) =>
      cents !== 0n && !isDone.deposits.has(place) ? [[place, { cents, day: toDay(date) }] as const] : [],
    ),
  );
  const { pairs, unclear } = pairEqual(received, booked, days);
  for (const [line, deposit] of pairs) {
    groups.push({ kind: 'pair', lines: [line], deposits: [deposit] });
    [reasons.lines[line], reasons.deposits[deposit]] = [undefined, undefined];
    received.delete(line);
    booked.delete(deposit);
  }
  const isEdge = (side: Side, place: number): boolean => side === 'lines' && (received.get(place)?.isEdge ?? false);
  for (const group of unclear)
    for (const side of ['lines', 'deposits'] as const)
      for (const place of group[side]) reasons[side][place] = isEdge(side, place) ? 'edge' : group.isEdge ? 'beside-edge' : 'several';
  // An unclear one of equal amounts may be a sum instead, which would take its parts from another.
  const isOpen = (side: Side, place: number): boolean => reasons[side][place] === 'none' || isUnclear(reasons[side][place]);
  const found = [
    ...findSums('lines', received, booked, (place) => isOpen('lines', place), days),
    ...findSums('deposits', booked, received, (place) => isOpen('deposits', place), days),
  ];
  tieSums(found, reasons, groups, isEdge);
  for (const place of received.keys()) if (isEdge('lines', place) && reasons.lines[place] === 'none') reasons.lines[place] = 'edge';
  return { groups, lines: reasons.lines, deposits: reasons.deposits, unclear };
}

/** The reason of a line before any deposit is looked at. */
function reasonOf({ cents, isReversal }: StatementLine): LeftReason {
  if (cents === 0n) return 'no-money';
  if (cents < 0n) return isReversal ? 'reversal' : 'paid-out';
  return isReversal ? 'returned' : 'none';
}

type Side = 'lines' | 'deposits';
type Reasons = Readonly<Record<Side, (LeftReason | undefined)[]>>;

/** The sums of the other side that are the amount of one line, or of one deposit. */
interface FoundSum {
  readonly side: Side;
  readonly place: number;
  /** The number of sums that fit; undefined where they are too many to try. */
  readonly ways: number | undefined;
  /** The places on the other side that are in any of the sums. Of sums that were not tried, those that no such sum before has told. */
  readonly members: readonly number[];
}

/** Looks for sums of one side that are the amount of one on the other side. Only what may have one is in the answer. */
function findSums(
  side: Side,
  wanted: ReadonlyMap<number, MatchItem>,
  given: ReadonlyMap<number, MatchItem>,
  isOpen: (place: number) => boolean,
  days: number,
): FoundSum[] {
  const byDay = [...given]
    .map(([place, { day, cents }]) => ({ place, day, amount: Number(cents) }))
    .toSorted((one, other) => one.day - other.day);
  const targets = [...wanted].filter(([place]) => isOpen(place)).map(([place, { day, cents }]) => ({ place, day, sum: Number(cents) }));
  const found: FoundSum[] = [];
  let [from, to] = [0, 0];
  let near: NearAmounts | undefined;
  for (const { place, day, sum } of targets.toSorted((one, other) => one.day - other.day || one.sum - other.sum)) {
    if (near?.day !== day) {
      while (from < byDay.length && byDay[from]!.day < day - days) from++;
      while (to < byDay.length && byDay[to]!.day <= day + days) to++;
      near = toNear(day, byDay.slice(from, to));
    }
    const { parts, find } = near;
    // An amount above the sum cannot be a part of it, unless something less than zero makes up for it.
    while (near.count < parts.length && (near.hasNegative || parts[near.count]!.amount < sum))
      near.most += Math.max(0, parts[near.count++]!.amount);
    if (near.count < 2 || near.most < sum) continue;
    if (near.count > MOST_ADDENDS || sum > MOST_CENTS || near.isLarge) {
      found.push({ side, place, ways: undefined, members: parts.slice(near.told, near.count).map((part) => part.place) });
      near.told = near.count;
      continue;
    }
    const { count, members } = find(near.count, sum);
    if (count > 0) found.push({ side, place, ways: count, members: parts.filter((_, n) => (members >> n) & 1).map((part) => part.place) });
  }
  return found;
}

/** The amounts around a day, the smallest first, and those of them that a sum may have: more and more, as the sums become larger. */
interface NearAmounts {
  readonly day: number;
  readonly parts: readonly { readonly place: number; readonly amount: number }[];
  readonly find: ReturnType<typeof createSumFinder>;
  readonly hasNegative: boolean;
  readonly isLarge: boolean;
  count: number;
  /** The sum of those that are more than zero. */
  most: number;
  /** Those of which it is told already that their sums are too many. */
  told: number;
}

function toNear(day: number, near: NearAmounts['parts']): NearAmounts {
  const parts = near.toSorted((one, other) => one.amount - other.amount);
  return {
    day,
    parts,
    find: createSumFinder(parts.map(({ amount }) => amount)),
    hasNegative: (parts[0]?.amount ?? 0) < 0,
    isLarge: parts.some(({ amount }) => Math.abs(amount) > MOST_CENTS),
    ...{ count: 0, most: 0, told: 0 },
  };
}

/** True for what may be one of a pair of equal amounts. */
const isUnclear = (reason: LeftReason | undefined): boolean => reason === 'several' || reason === 'edge' || reason === 'beside-edge';

const otherOf = (side: Side): Side => (side === 'lines' ? 'deposits' : 'lines');

/** Ties what has one sum, none of whose parts may be anything else. Everything that may be in a sum gets its reason. */
function tieSums(found: readonly FoundSum[], reasons: Reasons, groups: TiedGroup[], isEdge: (side: Side, place: number) => boolean): void {
  const uses = { lines: new Map<number, number>(), deposits: new Map<number, number>() };
  const use = (side: Side, place: number): void => void uses[side].set(place, (uses[side].get(place) ?? 0) + 1);
  for (const { side, place, ways, members } of found) {
    use(side, place);
    for (const member of members) use(otherOf(side), member);
    // Sums that were not tried may have any of them.
    if (ways === undefined) for (const member of members) use(otherOf(side), member);
  }
  // A pair of equal amounts that is unclear is a use too.
  const isFree = (side: Side, place: number): boolean => uses[side].get(place) === 1 && !isUnclear(reasons[side][place]);
  const mark = (side: Side, places: readonly number[], reason: LeftReason): void => {
    for (const place of places)
      if (reasons[side][place] === 'none' || reasons[side][place] === 'too-many')
        reasons[side][place] = isEdge(side, place) ? 'edge' : reason;
  };
  // The reason that says most of a line is the last one: what is too many to try says least.
  for (const { side, place, members } of found.filter(({ ways }) => ways === undefined)) {
    mark(side, [place], 'too-many');
    mark(otherOf(side), members, 'too-many');
  }
  for (const { side, place, members, ways = 0 } of found) {
    const other = otherOf(side);
    const isAtEdge = isEdge(side, place) || members.some((member) => isEdge(other, member));
    if (ways === 1 && !isAtEdge && isFree(side, place) && members.every((member) => isFree(other, member))) {
      groups.push({ kind: other, lines: side === 'lines' ? [place] : members, deposits: side === 'lines' ? members : [place] });
      reasons[side][place] = undefined;
      for (const member of members) reasons[other][member] = undefined;
    } else if (ways > 0) {
      const reason = isAtEdge ? 'beside-edge' : ways > 1 ? 'sums' : 'shared';
      mark(side, [place], reason);
      mark(other, members, reason);
    }
  }
}
