import fc from 'fast-check';
import { lineFields, lineNames } from '../../src/line/line-fields';
import { createOrganization, graphql, importLines, v2Line, type GraphqlAnswer, type TestOrganization } from '../support/gateway';
import { anyHistory, Books, importInto } from '../support/line-histories';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';
import { until } from '../support/until';

const gateway = openGateway();
const FIELDS = lineNames.map((name) => lineFields[name].field).join(' ');
const EFFECT = `effect { lines transactions deposits byLine { amount feeAmount netAmount }
  byTransaction { amount feeAmount netAmount } byAllocation { amount unknown } }`;
const TOTALS = `lines transactions deposits byLine { amount feeAmount netAmount }
  byTransaction { amount feeAmount netAmount } byAllocation { amount unknown }`;

type Line = Readonly<Record<string, unknown>>;
interface Change {
  readonly class: string;
  readonly before: Line | null;
  readonly after: Line | null;
  readonly columns: readonly string[];
  readonly wasInside: boolean;
  readonly isInside: boolean;
  readonly effect: unknown;
}
interface Totals {
  readonly class: string;
  readonly changes: number;
  readonly effect: unknown;
}
interface Summary {
  readonly all: unknown;
  readonly groups: { readonly nodes: readonly { readonly key: { readonly designationId: number }; readonly all: unknown }[] };
}
interface Changes {
  readonly nodes: readonly Change[];
  readonly totalCount: number;
  readonly classes: readonly Totals[];
  readonly designations: { readonly nodes: readonly { readonly designationId: number; readonly classes: readonly Totals[] }[] };
  readonly summaryBefore: Summary;
  readonly summaryAfter: Summary;
}

const ask = ({ apiProvision }: TestOrganization, query: string): Promise<GraphqlAnswer> =>
  graphql(gateway.url, query, { provision: apiProvision });

const SUMMARY = `(groupBy: [DESIGNATION]) { all { ${TOTALS} } groups { nodes { key { designationId } all { ${TOTALS} } } } }`;
const ALL = `nodes { class before { ${FIELDS} } after { ${FIELDS} } columns wasInside isInside ${EFFECT} } totalCount
  classes { class changes ${EFFECT} } designations { nodes { designationId classes { class changes ${EFFECT} } } }
  summaryBefore${SUMMARY} summaryAfter${SUMMARY}`;

async function readChanges(organization: TestOrganization, given: string, selection = ALL): Promise<Changes> {
  const { body } = await ask(organization, `{ depositChanges(${given}, first: 100) { ${selection} } }`);
  expect(body.errors).toBeUndefined();
  return body.data!.depositChanges as Changes;
}

async function readLines(organization: TestOrganization, version: number): Promise<Map<string, Line>> {
  const query = `{ depositDetailsConnection(pending: WITH, asOf: { version: ${version} }, first: 100) { nodes { ${FIELDS} } } }`;
  const { body } = await ask(organization, query);
  const { nodes } = (body.data as { depositDetailsConnection: { nodes: Line[] } }).depositDetailsConnection;
  return new Map(nodes.map((line) => [line.allocationId as string, line]));
}

/** The numbers of figures, in their order; amounts in cents, of which an unknown sum has none. */
const numbersOf = (figures: unknown): number[] =>
  Object.values(figures as object).flatMap((value: unknown) =>
    typeof value === 'object' && value !== null
      ? numbersOf(value)
      : [Math.round(Number(value ?? 0) * (typeof value === 'string' ? 100 : 1))],
  );
const zeros = Array<number>(11).fill(0);
const add = (...all: readonly unknown[]): number[] =>
  all
    .map((each) => (Array.isArray(each) ? (each as number[]) : numbersOf(each)))
    .reduce((sum, next) => sum.map((value, at) => value + next[at]!), zeros);

/** The sets of lines, each as arguments and as a condition. */
const SETS: readonly (readonly [args: string, isInside: (line: Line) => boolean])[] = [
  ['pending: WITH', () => true],
  ['pending: WITHOUT', ({ depositStatus }) => depositStatus === 'POSTED'],
  ['pending: WITH, startDate: "2024-01-10", endDate: "2024-02-01"', ({ depositDate }) => inJanuary(depositDate)],
  [
    'pending: ONLY, dateBasis: TRANSACTION_DATE, startDate: "2024-01-10"',
    ({ depositStatus, transactionDate }) => depositStatus === 'PENDING' && String(transactionDate) >= '2024-01-10',
  ],
  ['pending: WITH, filter: { designationIds: [1] }', ({ designationId }) => designationId === 1],
  [
    'pending: WITH, filter: { transactionIds: ["T1", "T2"], amount: { min: "0.01" } }',
    ({ transactionId, amount }) => ['T1', 'T2'].includes(transactionId as string) && Number(amount) > 0,
  ],
];
const inJanuary = (date: unknown): boolean => String(date) >= '2024-01-10' && String(date) <= '2024-02-01';

const equal = (one: Line, other: Line, fields: readonly string[]): boolean => fields.every((field) => one[field] === other[field]);
const PLACES = ['depositId', 'depositDate', 'transactionDate', 'depositStatus', 'status', 'donorId', 'designationId'];
const MONEY = ['amount', 'feeAmount', 'netAmount', 'allocationAmount'];

/** Checks a change by itself. */
function checkChange({ class: name, before, after, columns, wasInside, isInside, effect }: Change, fits: (line: Line) => boolean): void {
  expect([wasInside, isInside]).toEqual([before !== null && fits(before), after !== null && fits(after)]);
  expect(wasInside || isInside).toBe(true);
  const differing = before && after ? Object.keys(before).filter((field) => before[field] !== after[field]) : [];
  expect([...columns].sort()).toEqual(differing.sort());
  const lines = Number(isInside) - Number(wasInside);
  expect((effect as { lines: number }).lines).toBe(lines);
  if (!before || !after) return expect(name).toBe(before ? 'REMOVED' : 'ADDED');
  if (!equal(before, after, MONEY)) return expect(name).toBe('MONEY');
  if (wasInside !== isInside || !equal(before, after, PLACES)) return expect(name).toBe('MOVED');
  if (before.allocationId !== after.allocationId) return expect(name).toBe('REKEYED');
  if (before.transactionId !== after.transactionId) return expect(['REKEYED', 'MOVED']).toContain(name);
  return expect(name).toBe('RELABELLED');
}

/** Checks what changed between two states against their lines, and the sums against those of both states. */
function checkChanges(changes: Changes, states: readonly [Map<string, Line>, Map<string, Line>], fits: (line: Line) => boolean): void {
  const [before, after] = states;
  for (const change of changes.nodes) checkChange(change, fits);
  // Each line of the two states that the other one has not is in one change.
  const isOld = (line: Line): boolean => JSON.stringify(after.get(line.allocationId as string)) !== JSON.stringify(line);
  const isNew = (line: Line): boolean => JSON.stringify(before.get(line.allocationId as string)) !== JSON.stringify(line);
  const told = (side: 'before' | 'after'): Line[] => changes.nodes.flatMap((change) => (change[side] ? [change[side]] : []));
  const byId = (lines: readonly Line[]): Line[] =>
    [...lines].sort((one, other) => (String(one.allocationId) < String(other.allocationId) ? -1 : 1));
  const inside = (lines: readonly Line[]): Line[] => byId(lines.filter(fits));
  expect(inside(told('before'))).toEqual(inside([...before.values()].filter(isOld)));
  expect(inside(told('after'))).toEqual(inside([...after.values()].filter(isNew)));
  // The changes add up to the classes, and these to the figures after.
  expect(changes.totalCount).toBe(changes.nodes.length);
  for (const { class: name, changes: count, effect } of changes.classes) {
    const of = changes.nodes.filter((change) => change.class === name);
    expect([of.length, add(...of.map((change) => change.effect))]).toEqual([count, numbersOf(effect)]);
  }
  const sum = add(...changes.classes.map(({ effect }) => effect));
  expect(add(changes.summaryBefore.all, sum)).toEqual(numbersOf(changes.summaryAfter.all));
  for (const { class: name, effect } of changes.classes) {
    if (['REKEYED', 'RELABELLED'].includes(name)) expect(numbersOf(effect)).toEqual(zeros);
  }
  const groupOf = (summary: Summary, id: number): unknown => summary.groups.nodes.find(({ key }) => key.designationId === id)?.all ?? zeros;
  const ids = [changes.summaryBefore, changes.summaryAfter].flatMap(({ groups }) => groups.nodes.map(({ key }) => key.designationId));
  for (const id of new Set([...ids, ...changes.designations.nodes.map(({ designationId }) => designationId)])) {
    const effects = changes.designations.nodes.find(({ designationId }) => designationId === id)?.classes.map(({ effect }) => effect) ?? [];
    expect([id, add(groupOf(changes.summaryBefore, id), ...effects)]).toEqual([id, add(groupOf(changes.summaryAfter, id))]);
  }
}

test('what changed between any two states is told once, and adds up at every grain and in every fund', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyHistory, async (imports) => {
      const organizations = [await createOrganization(gateway.services), await createOrganization(gateway.services)] as const;
      const books = [new Books(), new Books()] as const;
      for (const next of imports) await importInto(gateway.services, organizations[next.which], books[next.which], next);
      for (const organization of organizations) {
        const [newest] = await gateway.services.books.newestVersions(organization.id, 1);
        const states = [];
        for (let version = 1; version <= (newest?.number ?? 0); version++) states.push(await readLines(organization, version));
        for (const [from, before] of states.entries()) {
          for (const [to, after] of states.entries()) {
            if (from > to) continue;
            const [args, fits] = SETS[(from * 3 + to) % SETS.length]!;
            const isNewest = to === states.length - 1 && from % 2 === 0;
            const range = `from: { version: ${from + 1} }${isNewest ? '' : `, to: { version: ${to + 1} }`}`;
            const changes = await readChanges(organization, `${range}, ${args}`);
            checkChanges(changes, [before, after], fits);
            for (const { class: name } of changes.nodes) seen.add(name);
          }
        }
      }
    }),
    { numRuns: tries(8), unbiased: true, endOnFailure: true },
  );
  expect(seen.size).toBeGreaterThan(3);
});

describe('whoever asks what changed', () => {
  /** A gift of 100.00 that is split over two funds, and one of 25.00. */
  const split = v2Line({
    ...{ allocation_id: 'A1', transaction_id: 'T1', amount: '100.00', fee_amount: '0.00', net_amount: '100.00' },
    allocation_amount: '40.00',
  });
  const rest = { ...split, allocation_id: 'A2', designation_id: 4, designation: 'Wells', allocation_amount: '60.00' };
  const single = v2Line({
    ...{ allocation_id: 'A3', transaction_id: 'T2', amount: '25.00', fee_amount: '0.00', net_amount: '25.00', allocation_amount: '25.00' },
    ...{ deposit_id: 'D2', deposit_date: '2024-01-20', donor_id: 8, donor_last_name: 'King' },
  });
  const all = {
    complete: { periods: [{ startDate: '2024-01-01', endDate: '2024-12-31' }], pending: 'WITH' },
    maxRemoved: Infinity,
  } as const;

  /** Imports two states of the books, one after the other, and tells what changed. */
  async function changesOf(before: readonly object[], after: readonly object[], given = 'pending: WITH'): Promise<Changes> {
    const organization = await createOrganization(gateway.services);
    await importLines(gateway.services, organization, before, all);
    await importLines(gateway.services, organization, after, all);
    return readChanges(organization, `from: { version: 1 }, ${given}`);
  }
  const told = ({ nodes }: Changes): unknown[] =>
    nodes.map(({ class: name, before, after, columns }) => [name, before?.allocationId, after?.allocationId, ...columns]);
  const amounts = ({ effect }: Pick<Change, 'effect'>): unknown => {
    const { lines, transactions, byTransaction, byAllocation } = effect as {
      lines: number;
      transactions: number;
      byTransaction: { amount: string };
      byAllocation: { amount: string };
    };
    return [lines, transactions, byTransaction.amount, byAllocation.amount];
  };

  test.each([
    ['an allocation', [{ ...split, allocation_id: 'B1' }, rest, single], [['REKEYED', 'A1', 'B1', 'allocationId']]],
    ['a gift', [split, rest, { ...single, transaction_id: 'T9' }], [['REKEYED', 'A3', 'A3', 'transactionId']]],
    [
      'a gift and its allocations',
      [{ ...split, transaction_id: 'T9', allocation_id: 'B1' }, { ...rest, transaction_id: 'T9', allocation_id: 'B2' }, single],
      [
        ['REKEYED', 'A1', 'B1', 'transactionId', 'allocationId'],
        ['REKEYED', 'A2', 'B2', 'transactionId', 'allocationId'],
      ],
    ],
    [
      'a memo beside its id',
      [split, rest, { ...single, allocation_id: 'B3', main_memo: 'x' }],
      [['REKEYED', 'A3', 'B3', 'allocationId', 'mainMemo']],
    ],
  ])('sees %s under another id as one change without an effect', async (_what, after, changes) => {
    const found = await changesOf([split, rest, single], after);
    expect(told(found)).toEqual(changes);
    expect(found.classes.map(amounts)).toEqual([[0, 0, '0.00', '0.00']]);
  });

  test('sees ids that came with other money as lines that are gone and new', async () => {
    const found = await changesOf(
      [split, rest, single],
      [split, rest, { ...single, allocation_id: 'B3', amount: '24.00', net_amount: '24.00', allocation_amount: '24.00' }],
    );
    // The gift stays, so that its amount has changed at the first class.
    expect(told(found)).toEqual([
      ['REMOVED', 'A3', undefined],
      ['ADDED', undefined, 'B3'],
    ]);
    expect(found.classes.map(amounts)).toEqual([
      [1, 0, '-1.00', '24.00'],
      [-1, 0, '0.00', '-25.00'],
    ]);
  });

  test('sees a share that went to another gift, a fund and a name', async () => {
    const found = await changesOf(
      [split, rest, single],
      [{ ...split, designation_id: 5, designation: 'Roof', donor_last_name: 'Byron' }, { ...rest, donor_last_name: 'Byron' }, single],
    );
    expect(told(found)).toEqual([
      ['MOVED', 'A1', 'A1', 'donorLastName', 'designationId', 'designation'],
      ['RELABELLED', 'A2', 'A2', 'donorLastName'],
    ]);
    expect(
      found.designations.nodes.map(({ designationId, classes }) => [designationId, ...classes.map((each) => [each.class, amounts(each)])]),
    ).toEqual([
      [3, ['MOVED', [-1, -1, '-100.00', '-40.00']]],
      [4, ['RELABELLED', [0, 0, '0.00', '0.00']]],
      [5, ['MOVED', [1, 1, '100.00', '40.00']]],
    ]);
  });

  test('sees where a line went that has left the period', async () => {
    const found = await changesOf(
      [split, rest, single],
      [split, rest, { ...single, deposit_date: '2024-02-03' }],
      'pending: WITH, startDate: "2024-01-01", endDate: "2024-01-31"',
    );
    expect(found.nodes.map(({ class: name, wasInside, isInside, after }) => [name, wasInside, isInside, after?.depositDate])).toEqual([
      ['MOVED', true, false, '2024-02-03'],
    ]);
    expect(found.classes.map(amounts)).toEqual([[-1, -1, '-25.00', '-25.00']]);
  });

  test.each([
    ['transactionIds: ["T2"]', { transaction_id: 'T9', allocation_id: 'B3' }],
    ['transactionIds: ["T9"]', { transaction_id: 'T9', allocation_id: 'B3' }],
    ['paymentTypes: ["Check"]', { allocation_id: 'B3', payment_type: 'Check' }],
    ['paymentTypes: ["Check"]', { payment_type: 'Check' }],
    ['donorName: "King"', { donor_last_name: 'Byron' }],
    ['donorName: "Byron"', { donor_last_name: 'Byron', transaction_id: 'T9', allocation_id: 'B3' }],
  ])('sees a line that %s does not fit on both sides as moved, with both of them', async (filter, change) => {
    const found = await changesOf([split, rest, single], [split, rest, { ...single, ...change }], `pending: WITH, filter: { ${filter} }`);
    expect(found.nodes.map(({ class: name, before, after }) => [name, before?.transactionId, after?.transactionId])).toEqual([
      ['MOVED', 'T2', (change as { transaction_id?: string }).transaction_id ?? 'T2'],
    ]);
    expect(numbersOf(found.classes[0]!.effect).slice(0, 4).map(Math.abs)).toEqual([1, 1, 1, 2500]);
  });

  test('sees the same classes whatever part of a change the filter fits', async () => {
    const moved = { ...split, transaction_id: 'T9' };
    const after = [moved, { ...rest, transaction_id: 'T9', allocation_id: 'B2' }, single];
    const found = await changesOf([split, rest, single], after, 'pending: WITH, filter: { designationIds: [4] }');
    expect(told(found)).toEqual([['REKEYED', 'A2', 'B2', 'transactionId', 'allocationId']]);
    // A gift that was there before is not the new id of another one.
    const third = { ...single, transaction_id: 'T3', allocation_id: 'A4', designation_id: 4, designation: 'Wells' };
    const joined = await changesOf(
      [single, third],
      [{ ...single, transaction_id: 'T3' }],
      'pending: WITH, filter: { transactionIds: ["T2"] }',
    );
    expect(told(joined)).toEqual([['MOVED', 'A3', 'A3', 'transactionId']]);
  });

  test('sees which of some equal gifts has a new id by the lines that it keeps', async () => {
    const gifts = (...ids: readonly (readonly [allocation: string, gift: string, memo?: string])[]): object[] =>
      ids.map(([allocation_id, transaction_id, memo = '']) => ({ ...single, allocation_id, transaction_id, main_memo: memo }));
    const [renamed, moved] = [['transactionId'], ['transactionId', 'mainMemo']];
    for (const [before, after, changes] of [
      [
        gifts(['A1', 'T1'], ['A2', 'T2']),
        gifts(['A2', 'T3']),
        [
          ['REKEYED', 'A2', 'A2', ...renamed],
          ['REMOVED', 'A1', undefined],
        ],
      ],
      [
        gifts(['A1', 'T1'], ['A2', 'T2']),
        gifts(['A1', 'T4'], ['A2', 'T3']),
        [
          ['REKEYED', 'A1', 'A1', ...renamed],
          ['REKEYED', 'A2', 'A2', ...renamed],
        ],
      ],
      [
        gifts(['A1', 'T1', 'a'], ['A2', 'T2', 'b']),
        gifts(['A1', 'T8', 'z'], ['A2', 'T9', 'b']),
        [
          ['REKEYED', 'A1', 'A1', ...moved],
          ['REKEYED', 'A2', 'A2', ...renamed],
        ],
      ],
    ] as const) {
      const found = told(await changesOf(before, after)) as string[][];
      expect(found.sort((one, other) => one[1]!.localeCompare(other[1]!))).toEqual(
        [...changes].sort((one, other) => one[1]!.localeCompare(other[1]!)),
      );
    }
    // A gift whose line went to another one takes no turn, whatever part of it the filter fits.
    const other = { ...single, allocation_id: 'A0', transaction_id: 'T5', deposit_id: 'D3', deposit_date: '2024-01-06' };
    const before = [...gifts(['A2', 'T1'], ['A5', 'T2']), other];
    const after = [...gifts(['A9', 'T9']), other, { ...other, allocation_id: 'A2' }];
    expect(told(await changesOf(before, after)).map((each) => (each as string[]).slice(0, 3))).toEqual([
      ['MOVED', 'A2', 'A2'],
      ['REKEYED', 'A5', 'A9'],
    ]);
    const filtered = await changesOf(
      [...gifts(['A2', 'T1']), other],
      [{ ...single, allocation_id: 'A9', transaction_id: 'T9', payment_type: 'x' }, other, { ...other, allocation_id: 'A2' }],
      'pending: WITH, filter: { transactionIds: ["T9"] }',
    );
    expect(told(filtered)).toEqual([['ADDED', undefined, 'A9']]);
  });

  test('sees hundreds of lines that come, move and go, while nothing is known of their number', async () => {
    const organization = await createOrganization(gateway.services);
    const lines = (date: string): object[] =>
      Array.from({ length: 900 }, (_, at) => ({
        ...single,
        deposit_id: `E${at >> 5}`,
        deposit_date: date,
        transaction_id: `G${at}`,
        allocation_id: `L${at}`,
      }));
    const states = [
      [split, rest],
      [split, rest, ...lines('2024-02-01')],
      [split, rest, ...lines('2024-03-01')],
      [split, rest],
    ];
    for (const state of states) await importLines(gateway.services, organization, state, all);
    for (const [from, name] of [
      [1, 'ADDED'],
      [2, 'MOVED'],
      [3, 'REMOVED'],
    ] as const) {
      const given = `from: { version: ${from} }, to: { version: ${from + 1} }, pending: WITH`;
      expect(await readChanges(organization, given, 'classes { class changes }')).toEqual({ classes: [{ class: name, changes: 900 }] });
    }
  });

  test('sees thousands of gifts that have new ids, and new memos after that', async () => {
    const lines = (letter: string, memo: string): object[] =>
      Array.from({ length: 10_000 }, (_, at) => ({
        ...split,
        ...{ deposit_id: `D${at >> 5}`, transaction_id: `${letter}${at >> 1}`, allocation_id: `${letter}L${at}`, main_memo: memo },
        ...{ designation_id: 3 + (at % 2), designation: `Fund ${at % 2}`, allocation_amount: at % 2 === 0 ? '40.00' : '60.00' },
      }));
    const organization = await createOrganization(gateway.services);
    for (const next of [lines('T', ''), lines('U', ''), lines('U', 'x')]) await importLines(gateway.services, organization, next, all);
    for (const [given, name] of [
      ['from: { version: 1 }, to: { version: 2 }', 'REKEYED'],
      ['from: { version: 1 }', 'REKEYED'],
      ['from: { version: 2 }', 'RELABELLED'],
    ]) {
      const { classes, totalCount } = await readChanges(organization, `${given!}, pending: WITH`, 'totalCount classes { class changes }');
      expect([classes, totalCount]).toEqual([[{ class: name, changes: 10_000 }], 10_000]);
    }
  });

  test('sees nothing where a line came back to what it was', async () => {
    const organization = await createOrganization(gateway.services);
    for (const memo of ['', 'x', '']) await importLines(gateway.services, organization, [split, rest, { ...single, main_memo: memo }], all);
    expect((await readChanges(organization, 'from: { version: 1 }')).nodes).toEqual([]);
    expect((await readChanges(organization, 'from: { version: 1 }, to: { version: 2 }')).nodes).toHaveLength(1);
  });

  test('goes on from page to page, in the classes that were asked for', async () => {
    const organization = await createOrganization(gateway.services);
    const lines = Array.from({ length: 9 }, (_, at) => ({ ...single, allocation_id: `L${at}`, transaction_id: `T${at}`, main_memo: '' }));
    await importLines(gateway.services, organization, lines, all);
    const edited = lines.map((line, at) =>
      at % 3 === 0 ? { ...line, main_memo: 'x' } : { ...line, amount: '30.00', net_amount: '30.00', allocation_amount: '30.00' },
    );
    await importLines(gateway.services, organization, edited, all);
    const seen: unknown[] = [];
    for (let after: string | null = null; ;) {
      const { body } = await ask(
        organization,
        `{ depositChanges(from: { version: 1 }, pending: WITH, class: MONEY, first: 4${after === null ? '' : `, after: "${after}"`}) {
          nodes { after { allocationId } } totalCount classes { class changes } pageInfo { hasNextPage endCursor } } }`,
      );
      const found = (
        body.data as {
          depositChanges: {
            nodes: { after: Line }[];
            totalCount: number;
            classes: unknown;
            pageInfo: { hasNextPage: boolean; endCursor: string };
          };
        }
      ).depositChanges;
      expect([found.totalCount, found.classes]).toEqual([
        6,
        [
          { class: 'MONEY', changes: 6 },
          { class: 'RELABELLED', changes: 3 },
        ],
      ]);
      seen.push(...found.nodes.map((each) => each.after.allocationId));
      if (!found.pageInfo.hasNextPage) break;
      after = found.pageInfo.endCursor;
    }
    expect(seen).toEqual(['L1', 'L2', 'L4', 'L5', 'L7', 'L8']);
  });

  test('is in the audit with both states, and with all days: a change tells where a line went', async () => {
    const organization = await createOrganization(gateway.services);
    for (const date of ['2024-01-20', '2024-03-03'])
      await importLines(gateway.services, organization, [{ ...single, deposit_date: date }], all);
    const range = 'startDate: "2024-01-01", endDate: "2024-01-31", filter: { donorIds: [8] }';
    await readChanges(organization, `from: { version: 1 }, to: { version: 2 }, ${range}`, 'totalCount');
    const readRows = async (): Promise<unknown[]> => {
      const text =
        'SELECT start_date, end_date, pending, conditions FROM audit_record WHERE organization_id = $1 AND cardinality(conditions) > 0';
      return (await gateway.database.client.query<object>(text, [organization.id])).rows;
    };
    // Nobody waits for a row of a reading.
    await until(async () => (await readRows()).length > 0, 15_000);
    const allDays = { start_date: null, end_date: null, pending: 'WITH' };
    expect((await readRows())[0]).toEqual({ ...allDays, conditions: ['donorIds', 'from=1', 'to=2'] });
  });

  test('is told what is wrong with a question', async () => {
    const organization = await createOrganization(gateway.services);
    await importLines(gateway.services, organization, [single], all);
    await importLines(gateway.services, organization, [split], all);
    const faultOf = async (given: string, selection = 'totalCount'): Promise<string> => {
      const { body } = await ask(organization, `{ depositChanges(${given}) { ${selection} } }`);
      return body.errors![0]!.message;
    };
    expect(await faultOf('from: { version: 2 }, to: { version: 1 }')).toContain(
      'from is version 2 and to is version 1: from must not come after to',
    );
    expect(await faultOf('from: { version: 3 }')).toContain('from: there is no version 3: the earliest is 1 of');
    expect(await faultOf('from: { version: 1 }, to: { version: 7 }')).toContain('to: there is no version 7');
    expect(await faultOf('from: { version: 1 }', 'nodes { before { donor { lastName } } }')).toContain(
      'Lines of a change lead to no records: leave donor out',
    );
    expect(await faultOf('from: { version: 1 }, first: 0')).toContain('first is 0');
    expect(await faultOf('from: { version: 1 }, class: []')).toContain('class is an empty list: leave it out for all classes');
    const provision = organization.webProvision;
    const { body } = await graphql(gateway.url, '{ depositChanges(from: { version: 1 }) { totalCount } }', { provision });
    expect(body.errors![0]!.extensions.code).toBe('NOT_LOGGED_IN');
  });
});
