import { depositBook, inOrder, type BookLine } from '../support/deposit-book';
import { graphql, v2Line } from '../support/gateway';
import { openWatchedGateway } from '../support/watched-gateway';

/** Funds and donors whose names differ in case and accents. */
const NAMES = ['éclair', 'Eclipse', 'Émile Fund', 'ecole', 'Zoo', 'zoé', 'Äpfel', 'apple', 'Straße', 'STRASSE 2'];
const NAMED = NAMES.map((name, n) =>
  v2Line({
    ...{ deposit_id: 'N', deposit_date: '2024-02-01', deposit_status: 'posted', transaction_id: `N${n}`, allocation_id: `N${n}` },
    ...{ transaction_date: '2024-02-01', amount: '1.00', fee_amount: '0.00', net_amount: '1.00', allocation_amount: '1.00' },
    ...{ designation_id: 100 + n, designation: name, donor_id: 100 + n, donor_first_name: n % 2 ? 'Éva' : 'eva', donor_last_name: name },
  }),
) as unknown as BookLine[];
const LINES = [...depositBook(120), ...NAMED];

const gateway = openWatchedGateway({ lines: LINES });
const { organization } = gateway.store;

const send = async (query: string, provision = organization.apiProvision) => (await graphql(gateway.url, query, { provision })).body;
async function ask<Data>(query: string): Promise<Data> {
  const { data, errors } = await send(query);
  expect(errors).toBeUndefined();
  return data as Data;
}

interface List {
  readonly totalCount: number;
  readonly nodes: readonly { readonly id: string | number }[];
  readonly edges: readonly { readonly cursor: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string };
}
const KINDS = {
  deposits: 'depositId',
  transactions: 'transactionId',
  allocations: 'allocationId',
  designations: 'designationId',
  donors: 'donorId',
};
type Field = keyof typeof KINDS;
/** A page of a list, at the root or below a record. */
async function page(field: Field, args: string, parent = ''): Promise<List> {
  const list = `list: ${field}(${args}) { totalCount nodes { id: ${KINDS[field]} } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor } }`;
  const data = await ask<{ list: List; parent: { list: List } }>(parent === '' ? `{ ${list} }` : `{ parent: ${parent} { ${list} } }`);
  return parent === '' ? data.list : data.parent.list;
}
const idsOf = ({ nodes }: List) => nodes.map(({ id }) => id);
const all = async (field: Field, args: string, parent = '') => {
  const list = await page(field, `first: 1000, ${args}`, parent);
  expect(list.totalCount).toBe(list.nodes.length);
  return idsOf(list);
};

type Value = string | number;
const compare = (a: readonly Value[], b: readonly Value[]): number => {
  const place = a.findIndex((value, index) => value !== b[index]);
  return place < 0 ? 0 : a[place]! < b[place]! ? -1 : 1;
};
/** The ids of the records that lines hold, in the order of their keys. */
function ordered(lines: readonly BookLine[], id: keyof BookLine, key: (line: BookLine) => readonly Value[] = () => []): Value[] {
  const records = new Map(lines.map((line) => [line[id]!, line]));
  return [...records].sort(([one, a], [other, b]) => compare([...key(a), one], [...key(b), other])).map(([value]) => value);
}
const cents = (amount: string) => Math.round(Number(amount) * 100);
const amountOf = (depositId: string): number => {
  const gifts = new Map(
    LINES.filter(({ deposit_id }) => deposit_id === depositId).map((line) => [line.transaction_id, cents(line.amount)]),
  );
  return [...gifts.values()].reduce((sum, amount) => sum + amount, 0);
};
const fold = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/ß/g, 'ss')
    .toLowerCase();
const donors = LINES.filter(({ donor_id }) => donor_id !== 0);
const posted = LINES.filter(({ deposit_status }) => deposit_status === 'posted');

/** Each list at the root with each of its orders. */
const ORDERS: readonly [field: Field, order: string, () => Value[]][] = [
  ['deposits', 'DATE', () => ordered(LINES, 'deposit_id', ({ deposit_date }) => [deposit_date])],
  ['deposits', 'ID', () => ordered(LINES, 'deposit_id')],
  ['deposits', 'AMOUNT', () => ordered(LINES, 'deposit_id', ({ deposit_id }) => [amountOf(deposit_id)])],
  [
    'deposits',
    'STATUS',
    () => ordered(LINES, 'deposit_id', ({ deposit_status, deposit_date }) => [deposit_status === 'posted' ? 0 : 1, deposit_date]),
  ],
  ['transactions', 'DATE', () => ordered(LINES, 'transaction_id', ({ transaction_date }) => [transaction_date])],
  ['transactions', 'ID', () => ordered(LINES, 'transaction_id')],
  ['transactions', 'AMOUNT', () => ordered(LINES, 'transaction_id', ({ amount }) => [cents(amount)])],
  ['allocations', 'ID', () => ordered(LINES, 'allocation_id')],
  ['allocations', 'TRANSACTION', () => ordered(LINES, 'allocation_id', ({ transaction_id }) => [transaction_id])],
  ['allocations', 'DESIGNATION', () => ordered(LINES, 'allocation_id', ({ designation_id }) => [designation_id])],
  ['designations', 'ID', () => ordered(LINES, 'designation_id')],
  ['designations', 'NAME', () => ordered(LINES, 'designation_id', ({ designation }) => [fold(designation)])],
  ['donors', 'ID', () => ordered(donors, 'donor_id')],
  ['donors', 'NAME', () => ordered(donors, 'donor_id', (line) => [fold(line.donor_last_name), fold(line.donor_first_name)])],
];
const withPending = (field: Field) => (field === 'designations' || field === 'donors' ? '' : 'pending: WITH, ');

describe.each(ORDERS)('the list %s by %s', (field, order, expected) => {
  test.each(['ASC', 'DESC'])('%s has each record once and in order, forwards and backwards', async (direction) => {
    const inOrder = direction === 'ASC' ? expected() : expected().reverse();
    const args = `${withPending(field)}orderBy: { field: ${order}, direction: ${direction} }`;
    expect(await all(field, args)).toEqual(inOrder);
    const length = Math.ceil(inOrder.length / 4);
    const forwards: Value[] = [];
    for (let after = ''; ;) {
      const found = await page(field, `${args}, first: ${length}${after}`);
      forwards.push(...idsOf(found));
      if (!found.pageInfo.hasNextPage) break;
      after = `, after: "${found.edges.at(-1)!.cursor}"`;
    }
    expect(forwards).toEqual(inOrder);
    const last = await page(field, `${args}, last: 2`);
    expect(idsOf(last)).toEqual(inOrder.slice(-2));
    const before = await page(field, `${args}, last: 1000, before: "${last.pageInfo.startCursor}"`);
    expect([idsOf(before), before.pageInfo.hasPreviousPage]).toEqual([inOrder.slice(0, -2), false]);
  });
});

test('a list without an order has its usual one', async () => {
  for (const [field, order] of [
    ['deposits', 'DATE'],
    ['transactions', 'DATE'],
    ['allocations', 'ID'],
    ['designations', 'ID'],
    ['donors', 'NAME'],
  ] as const) {
    const expected = ORDERS.find(([of, by]) => of === field && by === order)![2]();
    expect(await all(field, withPending(field))).toEqual(expected);
  }
});

describe('the conditions of a list', () => {
  const has = (id: keyof BookLine, matches: (line: BookLine) => boolean, lines: readonly BookLine[] = LINES) =>
    new Set(lines.filter(matches).map((line) => line[id]!));
  const january = ({ deposit_date }: BookLine) => deposit_date >= '2024-01-05' && deposit_date <= '2024-01-09';
  const DATES = 'startDate: "2024-01-05", endDate: "2024-01-09"';
  const ofFund = ({ designation_id }: BookLine) => designation_id === 3;
  const cases: readonly [field: Field, args: string, expected: () => Set<Value>][] = [
    ['deposits', '', () => has('deposit_id', () => true, posted)],
    ['deposits', `${DATES}, pending: WITH`, () => has('deposit_id', january)],
    ['deposits', 'pending: WITH, filter: { depositIds: ["D1", "D3", "none"] }', () => new Set(['D1', 'D3'])],
    ['deposits', 'pending: WITH, filter: { designationIds: [3] }', () => has('deposit_id', ofFund)],
    [
      'deposits',
      'pending: WITH, filter: { amount: { min: "30.00", max: "150.00" } }',
      () => has('deposit_id', ({ deposit_id }) => amountOf(deposit_id) >= 3000 && amountOf(deposit_id) <= 15000),
    ],
    ['deposits', 'pending: ONLY, filter: { depositIds: [] }', () => new Set()],
    ['transactions', '', () => has('transaction_id', () => true, posted)],
    ['transactions', 'pending: ONLY', () => has('transaction_id', ({ deposit_status }) => deposit_status === 'pending')],
    ['transactions', `${DATES}, pending: WITH`, () => has('transaction_id', january)],
    ['transactions', 'pending: WITH, filter: { transactionIds: ["T1", "T2", "none"] }', () => new Set(['T1', 'T2'])],
    ['transactions', 'pending: WITH, filter: { depositIds: ["D1"] }', () => has('transaction_id', ({ deposit_id }) => deposit_id === 'D1')],
    ['transactions', 'pending: WITH, filter: { designationIds: [3, 99] }', () => has('transaction_id', ofFund)],
    ['transactions', 'pending: WITH, filter: { donorIds: [12] }', () => has('transaction_id', ({ donor_id }) => donor_id === 12)],
    [
      'transactions',
      'pending: WITH, filter: { donorIds: [0, 12] }',
      () => has('transaction_id', ({ donor_id }) => donor_id === 0 || donor_id === 12),
    ],
    [
      'transactions',
      'pending: WITH, filter: { transactionDate: { from: "2024-01-03", to: "2024-01-04" } }',
      () => has('transaction_id', ({ transaction_date: date }) => date === '2024-01-03' || date === '2024-01-04'),
    ],
    [
      'transactions',
      'pending: WITH, filter: { amount: { min: "10.00", max: "25.00" } }',
      () => has('transaction_id', ({ amount }) => cents(amount) >= 1000 && cents(amount) <= 2500),
    ],
    ['allocations', '', () => has('allocation_id', () => true, posted)],
    ['allocations', 'pending: ONLY', () => has('allocation_id', ({ deposit_status }) => deposit_status === 'pending')],
    ['allocations', `${DATES}, pending: WITH`, () => has('allocation_id', january)],
    ['allocations', 'pending: WITH, filter: { allocationIds: ["A2-0", "none"] }', () => new Set(['A2-0'])],
    [
      'allocations',
      'pending: WITH, filter: { transactionIds: ["T2"], designationIds: [3] }',
      () => has('allocation_id', (line) => line.transaction_id === 'T2' && ofFund(line)),
    ],
    [
      'allocations',
      'pending: WITH, filter: { depositIds: ["D1", "D2"] }',
      () => has('allocation_id', ({ deposit_id }) => deposit_id === 'D1' || deposit_id === 'D2'),
    ],
    ['designations', 'filter: { designationIds: [1, 3, 77] }', () => new Set([1, 3])],
    ['designations', 'search: "ECL"', () => new Set([100, 101])],
    ['designations', 'search: "fund"', () => has('designation_id', ({ designation }) => /\bfund/i.test(designation))],
    ['designations', 'search: "strasse"', () => new Set([108, 109])],
    ['designations', 'search: "%"', () => new Set()],
    ['donors', 'filter: { donorIds: [1, 12, 77] }', () => new Set([1, 12])],
    ['donors', 'search: "zoe", filter: { donorIds: [104, 105] }', () => new Set([105])],
  ];
  test.each(cases)('%s(%s) select what they say', async (field, args, expected) => {
    expect(new Set(await all(field, args))).toEqual(expected());
  });

  const below: readonly [parent: string, field: Field, args: string, expected: () => Set<Value>][] = [
    [
      'deposit(depositId: "D1")',
      'transactions',
      'filter: { amount: { min: "20.00" } }',
      () => has('transaction_id', ({ deposit_id, amount }) => deposit_id === 'D1' && cents(amount) >= 2000),
    ],
    [
      'transaction(transactionId: "T2")',
      'allocations',
      'filter: { designationIds: [3, 5] }',
      () => has('allocation_id', ({ transaction_id, designation_id: fund }) => transaction_id === 'T2' && (fund === 3 || fund === 5)),
    ],
    ['donor(donorId: 12)', 'transactions', '', () => has('transaction_id', ({ donor_id }) => donor_id === 12, posted)],
    [
      'donor(donorId: 12)',
      'transactions',
      `${DATES}, pending: WITH`,
      () => has('transaction_id', (line) => line.donor_id === 12 && january(line)),
    ],
    [
      'designation(designationId: 3)',
      'allocations',
      'pending: ONLY',
      () => has('allocation_id', (line) => ofFund(line) && line.deposit_status === 'pending'),
    ],
  ];
  test.each(below)('of a record select what they say: %s, %s(%s)', async (parent, field, args, expected) => {
    expect(new Set(await all(field, args, parent))).toEqual(expected());
    expect(expected().size).toBeGreaterThan(0);
  });

  test('of a record go with an order of its list', async () => {
    const given = LINES.filter(({ donor_id }) => donor_id === 12);
    const expected = ordered(given, 'transaction_id', ({ amount }) => [cents(amount)]).reverse();
    expect(await all('transactions', 'pending: WITH, orderBy: { field: AMOUNT, direction: DESC }', 'donor(donorId: 12)')).toEqual(expected);
  });

  test.each([
    ['deposits', 'startDate: "2024-01-02", endDate: "2024-01-01"', 'Start date cannot be greater than the end date.'],
    ['transactions', 'startDate: "2024-01-02", endDate: "2024-01-01"', 'Start date cannot be greater than the end date.'],
    ['transactions', 'filter: { amount: { min: "2.00", max: "1.00" } }', 'filter.amount: min is greater than max'],
    ['deposits', `filter: { depositIds: ["${'x'.repeat(1001)}"] }`, 'filter.depositIds is longer than 1000 characters'],
    ['allocations', 'filter: { depositIds: ["\\u0000"] }', 'filter.depositIds has a NUL character'],
    ['designations', `filter: { designationIds: [${'1, '.repeat(1001)}] }`, 'filter.designationIds has 1001 values; the limit is 1000'],
  ])('%s(%s) are refused in words', async (field, args, message) => {
    const code = message.startsWith('Start date') ? 'START_DATE_AFTER_END_DATE' : 'BAD_USER_INPUT';
    const fault = { message, extensions: { code } };
    expect((await send(`{ ${field}(${args}) { totalCount } }`)).errors).toMatchObject([fault]);
  });

  test('on donors need the privilege of the report, at the root and below', async () => {
    const filtered = 'transactions(filter: { donorIds: [12] }) { totalCount nodes { amount } }';
    for (const query of [
      `{ ${filtered} }`,
      `{ deposit(depositId: "D1") { depositDate ${filtered} } }`,
      `{ deposits(first: 2) { nodes { ${filtered} } } }`,
    ]) {
      const { data, errors } = await send(query, gateway.member);
      expect(JSON.stringify(data)).not.toMatch(/amount|totalCount/);
      expect([...new Set(errors!.map(({ extensions }) => extensions.code))]).toEqual(['PRIVILEGE_NOT_FOUND']);
      expect((await send(query)).errors).toBeUndefined();
    }
    expect((await send('{ transactions(filter: { amount: { min: "1.00" } }) { totalCount } }', gateway.member)).errors).toBeUndefined();
  });
});

describe('a cursor', () => {
  test('is good for its list, conditions and order alone', async () => {
    const { edges } = await page('transactions', 'first: 2, orderBy: { field: AMOUNT }');
    const after = `first: 2, after: "${edges[1]!.cursor}"`;
    expect((await page('transactions', `${after}, orderBy: { field: AMOUNT, direction: ASC }, filter: null`)).nodes).toHaveLength(2);
    for (const [field, args] of [
      ['transactions', ''],
      ['transactions', 'orderBy: { field: AMOUNT, direction: DESC }'],
      ['transactions', 'orderBy: { field: AMOUNT }, pending: WITH'],
      ['transactions', 'orderBy: { field: AMOUNT }, startDate: "2024-01-01"'],
      ['transactions', 'orderBy: { field: AMOUNT }, filter: { designationIds: [3] }'],
      ['allocations', ''],
      ['deposits', 'orderBy: { field: AMOUNT }'],
    ] as const) {
      const { errors } = await send(`{ ${field}(${after}, ${args}) { totalCount } }`);
      expect(errors).toMatchObject([{ message: 'after is not a cursor of this query', extensions: { code: 'BAD_USER_INPUT' } }]);
    }
  });
});

test.each([2, 40])('lists with conditions and orders take one statement for each step, here of %d deposits', async (first) => {
  const query = `{ deposits(first: ${first}, pending: WITH, orderBy: { field: AMOUNT, direction: DESC }, filter: { designationIds: [1, 2, 3] }) { nodes {
    transactions(first: 5, orderBy: { field: AMOUNT }, filter: { amount: { min: "0.00" } }) { totalCount nodes {
      donor { transactions(first: 3, pending: WITH, startDate: "2024-01-01", filter: { donorIds: [0, 12, 1] }) { nodes { transactionId } } }
      allocations(orderBy: { field: DESIGNATION }, filter: { designationIds: [1, 2, 3] }) { nodes { allocationId } } } } } } }`;
  const before = gateway.proxy.statements();
  const { deposits } = await ask<{ deposits: { nodes: object[] } }>(query);
  expect(deposits.nodes).toHaveLength(Math.min(first, 40));
  // Statements: access, deposits, transactions, their counts, donors, donors' transactions, allocations.
  expect(gateway.proxy.statements() - before).toBe(7);
});

test('totals and pages of lines are of all time without dates', async () => {
  const lines = inOrder(LINES, ['deposit_date', 'deposit_id', 'transaction_id', 'allocation_id']);
  for (const [args, expected] of [
    ['pending: WITH', lines],
    ['pending: WITH, startDate: "2024-01-20"', lines.filter(({ deposit_date }) => deposit_date >= '2024-01-20')],
    [
      'endDate: "2024-01-20"',
      lines.filter(({ deposit_date, deposit_status }) => deposit_date <= '2024-01-20' && deposit_status === 'posted'),
    ],
  ] as const) {
    const { page: found, summary } = await ask<{ page: { nodes: { allocationId: string }[]; summary: object }; summary: { all: object } }>(
      `{ page: depositDetailsConnection(${args}, first: 1000) { nodes { allocationId } summary { all { lines } } } summary: depositSummary(${args}) { all { lines } } }`,
    );
    expect(found.nodes.map(({ allocationId }) => allocationId)).toEqual(expected.map(({ allocation_id }) => allocation_id));
    expect([found.summary, summary]).toEqual(Array(2).fill({ all: { lines: expected.length } }));
  }
  const { reportFile } = await ask<{ reportFile: { path: string } }>(
    `{ reportFile(query: "{ depositDetailsConnection(pending: ONLY) { nodes { amount } } }") { path } }`,
  );
  expect(reportFile.path).toBe(
    '/export/deposit-details.csv?start_date=0001-01-01&end_date=9999-12-31&include_pending=false&pending=ONLY&columns=amount',
  );
});
