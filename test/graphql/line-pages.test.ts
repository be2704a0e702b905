import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { depositBook, inOrder, type BookLine } from '../support/deposit-book';
import { startDatabaseProxy } from '../support/database-proxy';
import { createOrganization, graphql, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';
import { tries } from '../support/tries';

const LINES = depositBook(120);
const PERIOD = { startDate: '2024-01-01', endDate: '2024-12-31', pending: 'WITH' };
const ORDERS: Readonly<Record<string, readonly (keyof BookLine)[]>> = {
  DATE: ['deposit_date', 'deposit_id', 'transaction_id', 'allocation_id'],
  AMOUNT: ['amount', 'allocation_id'],
  DONOR_NAME: ['donor_last_name', 'donor_first_name', 'allocation_id'],
  DESIGNATION: ['designation', 'allocation_id'],
};

const gateway = openGateway({ lines: LINES });
const { organization } = gateway;
let other: TestOrganization;

beforeAll(async () => {
  other = await createOrganization(gateway.services);
  await importLines(gateway.services, other, LINES.slice(0, 20));
});

interface Connection {
  readonly nodes: readonly { readonly allocationId: string }[];
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly allocationId: string } }[];
  readonly pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
}

const PAGE = `query ($startDate: LocalDate!, $endDate: LocalDate!, $pending: PendingChoice!, $filter: DepositDetailFilter, $orderBy: DepositDetailOrder,
  $first: Int, $after: String, $last: Int, $before: String) {
  depositDetailsConnection(startDate: $startDate, endDate: $endDate, pending: $pending, filter: $filter, orderBy: $orderBy,
    first: $first, after: $after, last: $last, before: $before) {
    nodes { allocationId }
    edges { cursor node { allocationId } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

const send = (query: string, variables: object, provision = organization.apiProvision) =>
  graphql(gateway.url, query, { provision, variables: { ...PERIOD, ...variables } });

async function page(variables: object): Promise<Connection> {
  const { body } = await send(PAGE, variables);
  expect(body.errors).toBeUndefined();
  return body.data!.depositDetailsConnection as Connection;
}

const idsOf = ({ nodes }: Connection): string[] => nodes.map(({ allocationId }) => allocationId);

describe('a frontend that pages through lines', () => {
  describe.each(Object.entries(ORDERS))('by %s', (field, columns) => {
    test.each(['ASC', 'DESC'])('%s gets each line once and in order, forwards and backwards', async (direction) => {
      const ordered = inOrder(LINES, columns).map(({ allocation_id }) => allocation_id);
      const expected = direction === 'ASC' ? ordered : ordered.reverse();
      const orderBy = { field, direction };

      const forwards: Connection[] = [];
      for (let after: string | null = null; forwards.at(-1)?.pageInfo.hasNextPage !== false; after = forwards.at(-1)!.pageInfo.endCursor) {
        forwards.push(await page({ orderBy, first: 37, after }));
      }
      expect(forwards.flatMap(idsOf)).toEqual(expected);

      const backwards: Connection[] = [];
      for (
        let before: string | null = null;
        backwards[0]?.pageInfo.hasPreviousPage !== false;
        before = backwards[0]!.pageInfo.startCursor
      ) {
        backwards.unshift(await page({ orderBy, first: null, last: 41, before }));
      }
      expect(backwards.flatMap(idsOf)).toEqual(expected);

      const cursors = (pages: Connection[]) => pages.flatMap(({ edges }) => edges.map(({ cursor, node }) => [cursor, node.allocationId]));
      expect(cursors(forwards)).toEqual(cursors(backwards));
    });
  });

  test('gets lines in the order of names that donors and designations have, without regard to case and accents', async () => {
    const sorted = ['', 'abel', 'Ångström', 'eaton', 'Émile', 'lima', 'Łukasz', 'Lund', 'Oates', 'Öberg', 'ozias', 'ŐZIAS', 'Zimmer', '終'];
    const own = await createOrganization(gateway.services);
    // The ids are in another order than the names.
    const named = sorted.map((name, index) => ({ name, id: ((index * 5) % sorted.length) + 1 }));
    const lines = named.map(({ name, id }) =>
      v2Line({
        ...{ transaction_id: `T${id}`, allocation_id: `A${id + 10}`, donor_id: id, donor_first_name: '', donor_last_name: name },
        ...{ designation_id: id, designation: name },
      }),
    );
    const blank = Object.fromEntries(['address1', 'city', 'zip', 'phone', 'email_address'].map((field) => [field, '']));
    const fund = { designation_id: 1, designation: named.find(({ id }) => id === 1)!.name };
    const nobody = { donor_id: 0, donor_first_name: '', donor_last_name: '', ...blank, ...fund };
    await importLines(gateway.services, own, [...lines, v2Line({ transaction_id: 'T0', allocation_id: 'A0', ...nobody })]);
    const { body } = await send(
      `{ donors(first: 50) { nodes { name: lastName } } designations(first: 50, orderBy: { field: NAME }) { nodes { name } }
        byDonor: depositDetailsConnection(pending: WITH, orderBy: { field: DONOR_NAME }) { nodes { name: donorLastName } }
        byFund: depositDetailsConnection(pending: WITH, orderBy: { field: DESIGNATION }, filter: { donorIds: [${named.map(({ id }) => id).join(', ')}] }) { nodes { name: designation } } }`,
      {},
      own.apiProvision,
    );
    const names = (list: string) => (body.data![list] as { nodes: { name: string }[] }).nodes.map(({ name }) => name);
    const byId = (a: string, b: string) => named.find(({ name }) => name === a)!.id - named.find(({ name }) => name === b)!.id;
    const [ozias, double] = ['ozias', 'ŐZIAS'].sort(byId);
    const expected = sorted.map((name) => (name === 'ozias' ? ozias : name === 'ŐZIAS' ? double : name));
    expect([names('donors'), names('designations'), names('byFund')]).toEqual([expected, expected, expected]);
    // Lines of nobody have no name, as a donor without one.
    expect(names('byDonor')).toEqual(['', ...expected]);
  });

  test('is told where a page lies', async () => {
    const whole = await page({ first: 1000 });
    const [start, middle, end] = [0, 100, LINES.length - 1].map((at) => whole.edges[at]!.cursor);
    const of = async (variables: object) => {
      const { nodes, pageInfo } = await page(variables);
      return [nodes.length, pageInfo.hasPreviousPage, pageInfo.hasNextPage];
    };
    expect(await of({ first: 1000 })).toEqual([LINES.length, false, false]);
    expect(await of({ first: LINES.length })).toEqual([LINES.length, false, false]);
    expect(await of({ first: LINES.length - 1 })).toEqual([LINES.length - 1, false, true]);
    expect(await of({ first: 5, after: middle })).toEqual([5, true, true]);
    expect(await of({ last: 5, before: middle })).toEqual([5, true, true]);
    expect(await of({ last: 1000, before: middle })).toEqual([100, false, true]);
    expect(await of({ first: 1000, after: start, before: end })).toEqual([LINES.length - 2, true, false]);
    expect(await page({ first: 5, after: end })).toEqual({
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
    });
  });

  test('gets 50 lines by date where it says nothing of length and order', async () => {
    const { body } = await send(
      `query ($startDate: LocalDate!, $endDate: LocalDate!) { depositDetailsConnection(startDate: $startDate, endDate: $endDate) { nodes { allocationId } } }`,
      {},
    );
    const posted = LINES.filter(({ deposit_status }) => deposit_status === 'posted');
    expect((body.data!.depositDetailsConnection as Connection).nodes).toEqual(
      posted.slice(0, 50).map(({ allocation_id }) => ({ allocationId: allocation_id })),
    );
  });

  test('has the database read only the columns that it asks for', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    try {
      await withGateway({ DATABASE_URL: proxy.url, BOOK_MEMORY_MEGABYTES: '0' }, async ({ url }) => {
        for (const [selection, isRead] of [
          ['nodes { mainMemo }', true],
          ['edges { node { ...Memo } }', true],
          ['... on DepositDetailConnection { nodes { memo: mainMemo amount } }', true],
          ['nodes { amount mainMemo @include(if: $no) }', false],
          ['edges { node { amount } } summary { all { lines } }', false],
          ['edges { cursor } totalCount', false],
        ] as const) {
          let wasRead = false;
          proxy.before('main_memo', () => Promise.resolve(void (wasRead = true)));
          const fragment = selection.includes('...Memo') ? 'fragment Memo on DepositDetail { mainMemo }' : '';
          const query = `query ($no: Boolean = false) { depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", first: 2) { ${selection} }
            viewer @include(if: $no) { __typename } } ${fragment}`;
          const { body } = await graphql(url, query, { provision: organization.apiProvision });
          expect({ selection, errors: body.errors, wasRead }).toEqual({ selection, errors: undefined, wasRead: isRead });
        }
      });
    } finally {
      await proxy.close();
    }
  });

  test('loses no line and gets none twice while others are written before its place', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, LINES);
    const seen: string[] = [];
    let after: string | null = null;
    for (let round = 0, hasNext = true; hasNext; round++) {
      const { body } = await send(PAGE, { first: 40, after }, own.apiProvision);
      const { pageInfo, ...connection } = body.data!.depositDetailsConnection as Connection;
      seen.push(...idsOf({ pageInfo, ...connection }));
      [after, hasNext] = [pageInfo.endCursor, pageInfo.hasNextPage];
      const added = { deposit_id: `0${round}`, transaction_id: `0${round}`, allocation_id: `0${round}`, deposit_date: '2024-01-01' };
      await importLines(gateway.services, own, [v2Line(added)]);
    }
    expect(seen).toEqual(LINES.map(({ allocation_id }) => allocation_id));
  });
});

describe('a cursor', () => {
  const refused = async (variables: object, provision?: string): Promise<unknown> => {
    const { body } = await send(PAGE, variables, provision);
    expect(Object.values(body.data!)).toEqual([null]);
    return body.errors!.map(({ message, extensions }) => [message, extensions.code]);
  };
  const NOT_OURS = (name: string) => [[`${name} is not a cursor of this query`, 'BAD_USER_INPUT']];

  test('is good for its own query alone', async () => {
    const after = (await page({ first: 3 })).pageInfo.endCursor!;
    expect(idsOf(await page({ first: 1, after }))).toEqual([LINES[3]!.allocation_id]);
    const foreign: object[] = [
      { orderBy: { field: 'AMOUNT' } },
      { orderBy: { field: 'DATE', direction: 'DESC' } },
      { filter: { statuses: ['Hold'] } },
      { pending: 'ONLY' },
      { startDate: '2023-12-31' },
      { endDate: '2025-01-01' },
      { pending: 'WITHOUT' },
    ];
    for (const variables of foreign) expect(await refused({ ...variables, first: 3, after })).toEqual(NOT_OURS('after'));
    expect(await refused({ first: 3, after }, other.apiProvision)).toEqual(NOT_OURS('after'));
    // A filter that says the same in other words is the same query.
    expect(idsOf(await page({ first: 1, after, orderBy: { field: 'DATE' }, filter: null }))).toEqual([LINES[3]!.allocation_id]);
  });

  test('that was changed is refused', async () => {
    const cursor = (await page({ first: 3 })).pageInfo.endCursor!;
    const changed = [
      '',
      'x',
      cursor.slice(0, -1),
      cursor.slice(1),
      `${cursor}A`,
      `${cursor}.`,
      cursor.toUpperCase(),
      'null',
      '0'.repeat(5000),
    ];
    for (let at = 0; at < cursor.length; at += 5) {
      changed.push(cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1));
    }
    for (const after of changed) expect(await refused({ first: 3, after })).toEqual(NOT_OURS('after'));
    expect(await refused({ last: 3, before: 'x' })).toEqual(NOT_OURS('before'));
  });
});

describe('a wrong page or filter', () => {
  test.each<[object, string]>([
    [{ first: 0 }, 'first is 0; it must be between 1 and 1000'],
    [{ first: -1 }, 'first is -1; it must be between 1 and 1000'],
    [{ first: 1001 }, 'first is 1001; it must be between 1 and 1000'],
    [{ first: null }, 'first is missing; it must be between 1 and 1000'],
    [{ last: 0 }, 'last is 0; it must be between 1 and 1000'],
    [{ last: 2147483647 }, 'last is 2147483647; it must be between 1 and 1000'],
    [{ filter: { amount: { min: '10.00', max: '9.00' } } }, 'filter.amount: min is greater than max'],
    [{ filter: { depositIds: ['a\0'] } }, 'filter.depositIds has a NUL character'],
    [{ filter: { donorName: 'x'.repeat(1001) } }, 'filter.donorName is longer than 1000 characters'],
    [{ filter: { designationIds: Array.from({ length: 1001 }, (_, n) => n) } }, 'filter.designationIds has 1001 values; the limit is 1000'],
  ])('is named: %j', async (variables, message) => {
    const { body } = await send(PAGE, { first: 50, ...variables });
    expect(body).toEqual({
      data: { depositDetailsConnection: null },
      errors: [
        {
          message,
          locations: expect.any(Array) as unknown,
          path: ['depositDetailsConnection'],
          extensions: { code: 'BAD_USER_INPUT', argument: /^[\w.]+/.exec(message)![0], requestId: REQUEST_ID },
        },
      ],
    });
  });

  test('is a range of dates that ends before it begins, with the same code as everywhere', async () => {
    const { body } = await send(PAGE, { first: 50, filter: { transactionDate: { from: '2024-02-01', to: '2024-01-31' } } });
    expect(body.errors).toMatchObject([
      {
        message: 'Start date cannot be greater than the end date: filter.transactionDate: from is later than to',
        extensions: { code: 'START_DATE_AFTER_END_DATE', argument: 'filter.transactionDate' },
      },
    ]);
  });
});

/** The lines that the filter selects by a plain reading of it. */
function matches(line: BookLine, filter: Record<string, unknown>): boolean {
  const isIn = (name: string, value: unknown) => filter[name] === undefined || (filter[name] as unknown[]).includes(value);
  const { from, to } = (filter.transactionDate ?? {}) as { from?: string; to?: string };
  const { min, max } = (filter.amount ?? {}) as { min?: string; max?: string };
  const name = (filter.donorName as string | undefined)?.toLowerCase();
  const names = ` ${line.donor_first_name} ${line.donor_last_name} ${line.donor_first_name}`.toLowerCase();
  const isPending = line.deposit_status === 'pending';
  return (
    (from === undefined || line.transaction_date >= from) &&
    (to === undefined || line.transaction_date <= to) &&
    (min === undefined || Number(line.amount) >= Number(min)) &&
    (max === undefined || Number(line.amount) <= Number(max)) &&
    isIn('depositIds', line.deposit_id) &&
    isIn('transactionIds', line.transaction_id) &&
    isIn('designationIds', line.designation_id) &&
    isIn('donorIds', line.donor_id) &&
    isIn('statuses', line.status) &&
    isIn('accountTypes', line.account_type) &&
    isIn('paymentTypes', line.payment_type) &&
    (name === undefined || names.includes(` ${name}`)) &&
    (filter.pending === undefined || filter.pending === 'WITH' || isPending === (filter.pending === 'ONLY'))
  );
}

const some = <Value>(values: readonly Value[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: 4 });
const valuesOf = <Key extends keyof BookLine>(key: Key) => [...new Set(LINES.map((line) => line[key]))];
const sorted = <Value extends string>(values: readonly [Value, Value], compare: (a: Value, b: Value) => number) =>
  [...values].sort(compare);
const anyFilter = fc.record(
  {
    transactionDate: fc
      .tuple(fc.constantFrom(...valuesOf('transaction_date')), fc.constantFrom(...valuesOf('transaction_date')))
      .map((dates) => sorted(dates, (a, b) => (a < b ? -1 : 1)))
      .map(([from, to]) => ({ from, to })),
    amount: fc
      .tuple(fc.constantFrom(...valuesOf('amount')), fc.constantFrom(...valuesOf('amount')))
      .map((amounts) => sorted(amounts, (a, b) => Number(a) - Number(b)))
      .map(([min, max]) => ({ min, max })),
    depositIds: some([...valuesOf('deposit_id'), 'none', `'"\\{}`]),
    transactionIds: some([...valuesOf('transaction_id'), 'none']),
    designationIds: some([...valuesOf('designation_id'), 99]),
    donorIds: some([...valuesOf('donor_id'), 99]),
    statuses: some(['Complete', 'Hold', '', 'complete']),
    accountTypes: some(['Checking', 'Savings', "'; --"]),
    paymentTypes: some(['ACH', 'Card', 'Check']),
    pending: fc.constantFrom('WITH', 'WITHOUT', 'ONLY'),
    donorName: fc.constantFrom('a', 'AD', 'adl', 'ada a', 'Bea B', 'Clark', '%', '', 'byron x'),
  },
  { requiredKeys: [] },
);

const EVERYTHING = `query ($startDate: LocalDate!, $endDate: LocalDate!, $pending: PendingChoice!, $filter: DepositDetailFilter) {
  depositDetailsConnection(startDate: $startDate, endDate: $endDate, pending: $pending, filter: $filter, first: 1000) {
    nodes { allocationId }
    totalCount
    summary { all { lines } digest }
  }
  depositSummary(startDate: $startDate, endDate: $endDate, pending: $pending, filter: $filter) { all { lines } digest }
}`;

describe('a filter', () => {
  let v2Lines: Map<string, string>;
  beforeAll(async () => {
    const response = await fetch(
      `${gateway.url}/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=2024-12-31&include_pending=true`,
      { headers: { Provision: organization.apiProvision } },
    );
    const { response: lines } = (await response.json()) as { response: { allocation_id: string }[] };
    v2Lines = new Map(lines.map((line) => [line.allocation_id, `${JSON.stringify(line)}\n`]));
  });

  test('selects what it says, in whatever combination; counts and digest are of the same lines', async () => {
    await fc.assert(
      fc.asyncProperty(anyFilter, async (filter) => {
        const { pending = 'WITH', ...conditions } = filter;
        const { body } = await send(EVERYTHING, { pending, filter: conditions });
        const expected = LINES.filter((line) => matches(line, filter)).map(({ allocation_id }) => allocation_id);
        const digest = createHash('sha256')
          .update(expected.map((id) => v2Lines.get(id)).join(''))
          .digest('hex');
        const summary = { all: { lines: expected.length }, digest };
        expect(body).toEqual({
          data: {
            depositDetailsConnection: { nodes: expected.map((allocationId) => ({ allocationId })), totalCount: expected.length, summary },
            depositSummary: summary,
          },
        });
      }),
      { numRuns: tries(40) },
    );
  });
});
