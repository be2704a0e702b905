import fc from 'fast-check';
import { graphql } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import {
  createOracle,
  figureOf,
  groupsOf,
  meets,
  shuffledBook,
  toHaving,
  type OracleRange,
  type SummaryLine,
} from '../support/summary-oracle';
import { tries } from '../support/tries';

/** The book has groups of all kinds with this seed. */
const SEED = Number(process.env.HISTORY_SEED ?? 500);
const LINES = shuffledBook(120, SEED);
const { totalsOf, partsOf } = createOracle(LINES);
const AMOUNTS = '{ amount feeAmount netAmount }';
const TOTALS = `{ lines transactions deposits donors splitTransactions byLine ${AMOUNTS} byTransaction ${AMOUNTS} byAllocation { amount known inferred unknown } firstGift lastGift }`;
const PARTS = `all ${TOTALS} posted ${TOTALS} pending ${TOTALS}`;
const FIGURES = [
  ...['lines', 'transactions', 'splitTransactions', 'deposits', 'donors', 'allocationAmount', 'firstGift', 'lastGift'],
  ...['lineAmount', 'lineFeeAmount', 'lineNetAmount', 'transactionAmount', 'transactionFeeAmount', 'transactionNetAmount'],
];
const NOW = ['2024-07-01', '2024-12-31'] as const;
const BEFORE = ['2024-01-01', '2024-06-30'] as const;

const gateway = openGateway({ lines: LINES, loggedIn: true });
const { organization } = gateway;

interface Answer {
  readonly groups: {
    readonly nodes: readonly { readonly key: Readonly<Record<string, unknown>>; readonly all: unknown }[];
    readonly totalCount: number;
    readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null };
    readonly rest: { readonly groups: number } | null;
  };
}

async function ask<Data = Answer>(query: string): Promise<Data> {
  const { body } = await graphql(gateway.url, query, { provision: organization.apiProvision });
  expect(body.errors).toBeUndefined();
  return body.data!.depositSummary as Data;
}

const STATUSES: Readonly<Record<string, readonly string[]>> = { WITH: ['posted', 'pending'], WITHOUT: ['posted'], ONLY: ['pending'] };
const within = ([from, to]: readonly [string, string], pending: string): SummaryLine[] =>
  LINES.filter(({ deposit_date: date, deposit_status: status }) => date >= from && date <= to && STATUSES[pending]!.includes(status));
const argumentsOf = ([from, to]: readonly [string, string]): string => `startDate: "${from}", endDate: "${to}"`;

/** A summary of the second half of the year, beside the first one where it is compared. */
interface Asked {
  readonly pending: string;
  readonly groupBy: readonly string[];
  readonly isCompared: boolean;
}

/** The groups of both periods, each with its lines of the two. */
function bothOf({ pending, groupBy, isCompared }: Asked) {
  const own = within(NOW, pending);
  const before = isCompared ? within(BEFORE, pending) : [];
  return groupsOf([...own, ...before], groupBy).map(({ key, lines }) => ({
    key,
    own: lines.filter((line) => own.includes(line)),
    before: lines.filter((line) => before.includes(line)),
  }));
}

const linesOfSide = (groups: ReturnType<typeof bothOf>, side: 'own' | 'before') => groups.flatMap((group) => group[side]);
/** The figures of groups together, each gift once. */
function togetherOf(groups: ReturnType<typeof bothOf>, { pending, isCompared }: Asked) {
  const empty = { ...totalsOf([]) };
  const sideOf = (side: 'own' | 'before') => {
    const { all, posted, pending: others } = partsOf(linesOfSide(groups, side));
    return { all, posted: pending === 'ONLY' ? empty : posted, pending: pending === 'WITHOUT' ? empty : others };
  };
  return { ...sideOf('own'), compared: isCompared ? sideOf('before') : null };
}

/** Ranges whose ends are figures that groups have, so that the ends themselves are tried. */
function rangesOf(
  asked: Asked,
  choices: readonly { figure: string; isCompared: boolean; ends: readonly [number, number]; open: number }[],
) {
  const groups = bothOf(asked);
  return choices.flatMap(({ figure, isCompared, ends, open }): OracleRange[] => {
    if (isCompared && !asked.isCompared) return [];
    const values = groups
      .map(({ own, before }) => figureOf(totalsOf(isCompared ? before : own), figure))
      .filter((value) => value !== null)
      .sort((a, b) => (a < b ? -1 : 1));
    if (values.length === 0) return [];
    const [least, greatest] = ends.map((end) => Math.floor(end * (values.length - 1))).sort((a, b) => a - b) as [number, number];
    return [{ figure, isCompared, least: open === 1 ? undefined : values[least], greatest: open === 2 ? undefined : values[greatest] }];
  });
}

const anyAsked: fc.Arbitrary<Asked> = fc.record({
  pending: fc.constantFrom('WITH', 'WITHOUT', 'ONLY'),
  groupBy: fc.constantFrom(
    ['DONOR'],
    ['DESIGNATION'],
    ['DONOR', 'DESIGNATION'],
    ['DEPOSIT_STATUS', 'STATE'],
    ['DEPOSIT'],
    ['PAYMENT_TYPE'],
  ),
  isCompared: fc.boolean(),
});
const anyEnd = fc.double({ min: 0, max: 1, noNaN: true });
const anyChoices = fc.uniqueArray(
  fc.record({
    figure: fc.constantFrom(...FIGURES),
    isCompared: fc.boolean(),
    ends: fc.tuple(anyEnd, anyEnd),
    open: fc.constantFrom(0, 1, 2),
  }),
  { minLength: 1, maxLength: 3, selector: ({ figure, isCompared }) => `${figure} ${isCompared}` },
);

async function assertAnswers(asked: Asked, ranges: readonly OracleRange[], first: number): Promise<number> {
  const all = bothOf(asked);
  const chosen = all.filter(({ own, before }) => meets(ranges, totalsOf(own), totalsOf(before)));
  const keyFields = Object.keys(all[0]!.key).join(' ');
  const compare = asked.isCompared ? `, compareWith: { ${argumentsOf(BEFORE)} }` : '';
  const having = ranges.length > 0 ? `, ${toHaving(ranges)}` : '';
  const answer =
    await ask(`{ depositSummary(${argumentsOf(NOW)}, pending: ${asked.pending}, groupBy: [${asked.groupBy.join(', ')}]${compare}${having}) {
    ${PARTS} compared { ${PARTS} }
    groups(first: ${first}) { nodes { key { ${keyFields} } ${PARTS} compared { ${PARTS} } } totalCount pageInfo { startCursor endCursor }
      rest { groups ${PARTS} compared { ${PARTS} } } } } }`);
  const others = chosen.slice(first);
  expect(answer).toEqual({
    ...togetherOf(chosen, asked),
    groups: {
      nodes: chosen.slice(0, first).map((group) => ({ key: group.key, ...togetherOf([group], asked) })),
      totalCount: chosen.length,
      pageInfo: expect.anything() as unknown,
      rest: others.length === 0 ? null : { groups: others.length, ...togetherOf(others, asked) },
    },
  });
  return chosen.length;
}

describe('the groups that a caller chooses', () => {
  test('have their figures in all ranges, and so have totals, the count and the rest of them', async () => {
    let chosen = 0;
    await fc.assert(
      fc.asyncProperty(anyAsked, anyChoices, fc.integer({ min: 1, max: 5 }), async (asked, choices, first) => {
        chosen += await assertAnswers(asked, rangesOf(asked, choices), first);
      }),
      { numRuns: tries(40) },
    );
    expect(chosen).toBeGreaterThan(20);
  });

  test.each(FIGURES)('are chosen by each figure, at both ends of a range: %s', async (figure) => {
    const asked = { pending: 'WITH', groupBy: ['DONOR', 'DEPOSIT'], isCompared: false };
    const ranges = rangesOf(asked, [{ figure, isCompared: false, ends: [0.3, 0.7], open: 0 }]);
    const chosen = await assertAnswers(asked, ranges, 1000);
    expect(chosen).toBeGreaterThan(0);
  });

  test('whose shares are all unknown meet no range of the shares', async () => {
    const asked = { pending: 'WITH', groupBy: ['DONOR', 'DEPOSIT'], isCompared: false };
    const all = bothOf(asked).length;
    const known = await assertAnswers(asked, [{ figure: 'allocationAmount', isCompared: false, least: -100_000_000 }], 1000);
    expect([known > 0, known < all]).toEqual([true, true]);
  });

  test.each<[string, OracleRange[]]>([
    [
      'gave in both periods',
      [
        { figure: 'transactions', isCompared: false, least: 1 },
        { figure: 'transactions', isCompared: true, least: 1 },
      ],
    ],
    [
      'gave before and not now',
      [
        { figure: 'transactions', isCompared: false, greatest: 0 },
        { figure: 'transactions', isCompared: true, least: 1 },
      ],
    ],
    [
      'gave now and not before',
      [
        { figure: 'transactions', isCompared: false, least: 1 },
        { figure: 'transactions', isCompared: true, greatest: 0 },
      ],
    ],
    ['gave nothing before', [{ figure: 'allocationAmount', isCompared: true, least: 0, greatest: 0 }]],
    [
      'gave last in spring, and not since',
      [
        { figure: 'lastGift', isCompared: true, least: '2024-03-01', greatest: '2024-05-31' },
        { figure: 'lines', isCompared: false, greatest: 0 },
      ],
    ],
  ])('are those of donors and funds who %s', async (_title, ranges) => {
    const asked = { pending: 'WITH', groupBy: ['DONOR', 'DESIGNATION'], isCompared: true };
    expect(await assertAnswers(asked, ranges, 4)).toBeGreaterThan(0);
  });

  test('by their first gift are each donor in one of the months that follow each other', async () => {
    const first = new Map(groupsOf(LINES, ['DONOR']).map(({ key, lines }) => [key.donorId, totalsOf(lines).firstGift!.slice(0, 7)]));
    const found = new Map<unknown, string>();
    for (let month = 1; month <= 12; month++) {
      const name = `2024-${String(month).padStart(2, '0')}`;
      const last = new Date(Date.UTC(2024, month, 0)).toISOString().slice(0, 10);
      const { groups } =
        await ask(`{ depositSummary(endDate: "${last}", pending: WITH, groupBy: [DONOR], having: { firstGift: { from: "${name}-01" } }) {
        groups(first: 1000) { nodes { key { donorId } } } } }`);
      for (const { key } of groups.nodes) {
        expect(found.has(key.donorId)).toBe(false);
        found.set(key.donorId, name);
      }
    }
    expect(found).toEqual(first);
    expect(new Set(first.values()).size).toBeGreaterThan(1);
  });

  test('by months and quarters keep their place beside the period that is compared', async () => {
    const compared = `${argumentsOf(NOW)}, pending: WITH, compareWith: { ${argumentsOf(BEFORE)} }`;
    const all = await ask<{ groups: { nodes: { key: { month: string }; compared: { all: { lines: number } } }[] } }>(
      `{ depositSummary(${compared}, groupBy: [MONTH]) { groups(first: 9) { nodes { key { month } compared { all { lines } } } } } }`,
    );
    const counts = all.groups.nodes.map((group) => group.compared.all.lines);
    const [median] = counts.toSorted((a, b) => a - b).slice(4);
    const chosen = await ask<typeof all & { compared: { all: { lines: number } } }>(
      `{ depositSummary(${compared}, groupBy: [MONTH], having: { compared: { lines: { min: ${median!} } } }) {
        compared { all { lines } } groups(first: 9) { nodes { key { month } compared { all { lines } } } } } }`,
    );
    const expected = all.groups.nodes.filter((group) => group.compared.all.lines >= median!);
    expect([chosen.groups.nodes, expected.length < all.groups.nodes.length]).toEqual([expected, true]);
    expect(chosen.compared.all.lines).toBe(expected.reduce((sum, group) => sum + group.compared.all.lines, 0));
  });

  test('come page by page in any order, forwards and backwards, each once', async () => {
    const asked = { pending: 'WITH', groupBy: ['DONOR', 'DESIGNATION'], isCompared: false };
    const ranges = [{ figure: 'transactionAmount', isCompared: false, least: 1000, greatest: 10_000 }];
    const summary = `depositSummary(${argumentsOf(NOW)}, pending: WITH, groupBy: [DONOR, DESIGNATION], ${toHaving(ranges)})`;
    const fields = 'nodes { key { donorId designationId } all { lines } } totalCount pageInfo { startCursor endCursor }';
    const expected = bothOf(asked).filter(({ own }) => meets(ranges, totalsOf(own), totalsOf([])));
    expect(expected.length).toBeGreaterThan(8);
    for (const order of [
      '{ field: KEY, direction: ASC }',
      '{ field: LINES, direction: DESC }',
      '{ field: ALLOCATION_AMOUNT, direction: ASC }',
    ]) {
      const { groups: whole } = await ask(`{ ${summary} { groups(first: 1000, orderBy: ${order}) { ${fields} } } }`);
      expect(whole.nodes).toHaveLength(expected.length);
      for (const [length, cursor, edge] of [
        ['first', 'after', 'endCursor'],
        ['last', 'before', 'startCursor'],
      ] as const) {
        const found: Answer['groups']['nodes'][number][] = [];
        for (let place: string | null = null, isFirst = true; isFirst || place !== null; isFirst = false) {
          const at: string = place === null ? '' : `, ${cursor}: "${place}"`;
          const { groups } = await ask(`{ ${summary} { groups(${length}: 3${at}, orderBy: ${order}) { ${fields} } } }`);
          expect(groups.totalCount).toBe(expected.length);
          if (length === 'first') found.push(...groups.nodes);
          else found.unshift(...groups.nodes);
          place = found.length < expected.length ? groups.pageInfo[edge] : null;
        }
        expect(found).toEqual(whole.nodes);
      }
    }
  });

  test('have cursors of their own conditions alone', async () => {
    const summary = (least: number) =>
      `depositSummary(${argumentsOf(NOW)}, pending: WITH, groupBy: [DESIGNATION], having: { lines: { min: ${least} } })`;
    const { groups } = await ask(`{ ${summary(1)} { groups(first: 1) { pageInfo { endCursor } } } }`);
    const next = (least: number) =>
      `{ ${summary(least)} { groups(first: 1, after: "${groups.pageInfo.endCursor!}") { nodes { all { lines } } } } }`;
    await ask(next(1));
    const { body } = await graphql(gateway.url, next(2), { provision: organization.apiProvision });
    expect(body.errors?.map(({ message }) => message)).toEqual(['after is not a cursor of this query']);
  });

  test('leave the digests as they are, which are of all lines of the period', async () => {
    const digests = 'digest moneyDigest dataVersion { number }';
    const range = `${argumentsOf(NOW)}, groupBy: [DESIGNATION]`;
    const none = await ask<object>(
      `{ depositSummary(${range}, having: { lines: { min: 1000000 } }) { ${digests} all { lines } groups { totalCount nodes { all { lines } } rest { groups } } } }`,
    );
    const { digest, moneyDigest, dataVersion } = await ask<Record<string, unknown>>(`{ depositSummary(${range}) { ${digests} } }`);
    expect(none).toEqual({ ...{ digest, moneyDigest, dataVersion }, all: { lines: 0 }, groups: { totalCount: 0, nodes: [], rest: null } });
  });

  test('are those of a connection of lines too', async () => {
    const { body } = await graphql(
      gateway.url,
      `{ depositDetailsConnection(first: 1, ${argumentsOf(NOW)}, pending: WITH) { summary(groupBy: [DESIGNATION], having: { lines: { min: 12 } }) { groups { totalCount } } } }`,
      { provision: organization.apiProvision },
    );
    const count = bothOf({ pending: 'WITH', groupBy: ['DESIGNATION'], isCompared: false }).filter(({ own }) => own.length >= 12).length;
    expect([body.data, count > 0 && count < 5]).toEqual([
      { depositDetailsConnection: { summary: { groups: { totalCount: count } } } },
      true,
    ]);
  });
});

describe('conditions on groups', () => {
  test.each([
    ['groupBy: [DONOR], having: { lines: {} }', 'having.lines has neither min nor max', 'having.lines'],
    ['groupBy: [DONOR], having: { firstGift: { from: null } }', 'having.firstGift has neither from nor to', 'having.firstGift'],
    ['groupBy: [DONOR], having: { lines: { min: 2, max: 1 } }', 'having.lines: min is greater than max', 'having.lines'],
    [
      'groupBy: [DONOR], having: { transactionAmount: { min: "10.00", max: "9.00" } }',
      'having.transactionAmount: min is greater than max',
      'having.transactionAmount',
    ],
    [
      'groupBy: [DONOR], compareWith: { startDate: "2023-01-01", endDate: "2023-12-31" }, having: { compared: { lastGift: { from: "2024-01-02", to: "2024-01-01" } } }',
      'having.compared.lastGift: from is later than to',
      'having.compared.lastGift',
    ],
    ['having: { lines: { min: 1 } }', 'having chooses groups: it needs groupBy', 'having'],
    [
      'groupBy: [DONOR], having: { compared: { lines: { min: 1 } } }',
      'having.compared is of the period that is compared: it needs compareWith',
      'having.compared',
    ],
  ])('are refused with the fault and its place: %s', async (given, message, argument) => {
    const { body } = await graphql(gateway.url, `{ depositSummary(${argumentsOf(NOW)}, ${given}) { all { lines } } }`, {
      provision: organization.apiProvision,
    });
    expect(body.errors?.map((error) => [error.message, error.extensions])).toEqual([
      [message, expect.objectContaining({ code: 'BAD_USER_INPUT', argument })],
    ]);
  });

  test('that are empty choose all groups, with and without groups', async () => {
    for (const by of ['', 'groupBy: [DESIGNATION], ']) {
      const count = (having: string) =>
        ask<object>(`{ depositSummary(${argumentsOf(NOW)}, ${by}${having}) { all { lines } groups { totalCount } } }`);
      expect(await count('having: {}')).toEqual(await count('having: { lines: null, compared: {} }'));
      expect(await count('having: {}')).toEqual(await count(''));
    }
  });

  test('on the number of donors need the privilege of the report, and others do not', async () => {
    const provision = await gateway.services.provisions.create({ organization: organization.name, kind: 'API', label: '', grants: [] });
    const codes = async (having: string) => {
      const compare = 'compareWith: { startDate: "2024-01-01", endDate: "2024-06-30" }';
      const query = `{ depositSummary(${argumentsOf(NOW)}, groupBy: [DESIGNATION], ${compare}, having: { ${having} }) { groups { nodes { all { lines } } } } }`;
      const { body } = await graphql(gateway.url, query, { provision });
      return body.errors?.map(({ extensions }) => extensions.code);
    };
    expect(await codes('donors: { min: 2 }')).toEqual(['PRIVILEGE_NOT_FOUND']);
    expect(await codes('compared: { donors: { max: 2 } }')).toEqual(['PRIVILEGE_NOT_FOUND']);
    expect(await codes('lines: { min: 2 }, firstGift: { from: "2024-01-01" }, compared: { deposits: { min: 1 } }')).toBeUndefined();
  });
});
