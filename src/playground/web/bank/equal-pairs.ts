/** A line or a deposit as the matching sees it. */
export interface MatchItem {
  /** The number of its day. */
  readonly day: number;
  readonly cents: bigint;
  /** True for a line of whose days some deposits are not known. */
  readonly isEdge?: boolean;
}

/** Lines and deposits of one amount that hang together, as places in their lists. Nobody can say which belongs to which. */
export interface UnclearGroup {
  readonly lines: readonly number[];
  readonly deposits: readonly number[];
  /** True where each line can have a deposit of its own within the days, and each deposit a line. */
  readonly isWhole: boolean;
  /** True where a deposit that is not known may belong to it. */
  readonly isEdge: boolean;
}

/** The pairs of one line and one deposit, and what is in more than one possible pair. All are places in the two lists. */
export interface EqualPairs {
  readonly pairs: readonly (readonly [line: number, deposit: number])[];
  readonly unclear: readonly UnclearGroup[];
}

/** The lines and the deposits of one day, which fit the same others. */
interface DayNode {
  readonly day: number;
  readonly side: 'line' | 'deposit';
  readonly places: number[];
  readonly others: Set<DayNode>;
}

/**
 * Pairs lines and deposits of the same amount that are at most `days` apart. Those that may be each other's hang together in a group; it is
 * paired only where all of it can be, and in one way alone. Work grows with the days that have an equal amount, and not with equal lines.
 */
export function pairEqual(lines: ReadonlyMap<number, MatchItem>, deposits: ReadonlyMap<number, MatchItem>, days: number): EqualPairs {
  const byAmount = new Map<bigint, Map<string, DayNode>>();
  for (const [side, items] of [
    ['line', lines],
    ['deposit', deposits],
  ] as const)
    for (const [place, { day, cents }] of items) {
      const nodes = byAmount.get(cents) ?? new Map<string, DayNode>();
      byAmount.set(cents, nodes);
      const node: DayNode = nodes.get(`${side} ${String(day)}`) ?? { day, side, places: [], others: new Set() };
      nodes.set(`${side} ${String(day)}`, node);
      node.places.push(place);
    }
  const found = { pairs: [] as (readonly [number, number])[], unclear: [] as UnclearGroup[] };
  for (const nodes of byAmount.values()) {
    connect([...nodes.values()], days);
    for (const group of groupsOf([...nodes.values()])) {
      const own = { lines: placesOf(group, 'line'), deposits: placesOf(group, 'deposit') };
      const isEdge = own.lines.some((place) => lines.get(place)?.isEdge);
      const pairs = isEdge ? undefined : pairOnlyWay(group);
      if (pairs) found.pairs.push(...pairs);
      else found.unclear.push({ ...own, isEdge, isWhole: isPairable(daysOf(own.lines, lines), daysOf(own.deposits, deposits), days) });
    }
  }
  return found;
}

/** Connects each day of lines with the days of deposits around it. */
function connect(nodes: readonly DayNode[], days: number): void {
  const sorted = (side: DayNode['side']): DayNode[] =>
    nodes.filter((node) => node.side === side).toSorted((one, other) => one.day - other.day);
  const deposits = sorted('deposit');
  let from = 0;
  for (const line of sorted('line')) {
    while (from < deposits.length && deposits[from]!.day < line.day - days) from++;
    for (let at = from; at < deposits.length && deposits[at]!.day <= line.day + days; at++) {
      line.others.add(deposits[at]!);
      deposits[at]!.others.add(line);
    }
  }
}

/** The days that hang together, without those that have nobody on the other side. */
function groupsOf(nodes: readonly DayNode[]): DayNode[][] {
  const seen = new Set<DayNode>();
  return nodes.flatMap((start) => {
    if (seen.has(start) || start.others.size === 0) return [];
    const group = [start];
    seen.add(start);
    // The list grows while it is read.
    for (const node of group)
      for (const other of node.others)
        if (!seen.has(other)) {
          seen.add(other);
          group.push(other);
        }
    return [group];
  });
}

const placesOf = (group: readonly DayNode[], side: DayNode['side']): number[] =>
  group.filter((node) => node.side === side).flatMap(({ places }) => places);

const daysOf = (places: readonly number[], items: ReadonlyMap<number, MatchItem>): number[] =>
  places.map((place) => items.get(place)!.day).toSorted((one, other) => one - other);

/** True where sorted days can be paired within some days. When they can be in any way, the first of each are a pair, and so on. */
const isPairable = (lines: readonly number[], deposits: readonly number[], days: number): boolean =>
  lines.length === deposits.length && lines.every((day, n) => Math.abs(day - deposits[n]!) <= days);

/**
 * The only way to pair a group; undefined where there is none, or another one. Two of one day may change places, and so may whoever is left
 * over with the one in its stead: so there is one way only where all are paired, and then somebody always has a single choice.
 */
function pairOnlyWay(group: readonly DayNode[]): [number, number][] | undefined {
  if (group.some(({ places }) => places.length > 1)) return undefined;
  const left = new Map(group.map((node) => [node, node.others.size]));
  const single = group.filter(({ others }) => others.size === 1);
  const pairs: [number, number][] = [];
  for (const node of single) {
    if (!left.has(node)) continue;
    const other = [...node.others].find((each) => left.has(each));
    if (!other) return undefined;
    const [line, deposit] = node.side === 'line' ? [node, other] : [other, node];
    pairs.push([line.places[0]!, deposit.places[0]!]);
    left.delete(node);
    left.delete(other);
    for (const next of other.others) {
      const choices = left.get(next);
      if (choices === undefined) continue;
      left.set(next, choices - 1);
      if (choices === 2) single.push(next);
      if (choices === 1) return undefined;
    }
  }
  return left.size === 0 ? pairs : undefined;
}
