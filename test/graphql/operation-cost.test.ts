import { depositBook } from '../support/deposit-book';
import { graphql } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';

const gateway = openGateway({ lines: depositBook(20) });
const { organization } = gateway;

const ask = (query: string, variables: object = {}) => graphql(gateway.url, query, { provision: organization.apiProvision, variables });
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';

test.each<[string, object, number]>([
  // The object and its message.
  ['{ authenticatedTestSystem { message } }', {}, 2],
  ['{ __typename }', {}, 1],
  ['{ designations(first: 7) { nodes { a: __typename b: __typename } } }', {}, 22],
  // Streamed lines cost nothing: the gateway never holds them as values.
  [`{ depositDetails(${RANGE}) { depositId amount } }`, {}, 1],
  // The connection; a node with its name seven times.
  ['{ designations(first: 7) { nodes { name } } }', {}, 15],
  // The connection; a node with its name three times; pageInfo with its cursor, and the count.
  ['{ designations(last: 3) { nodes { name } pageInfo { endCursor } totalCount } }', {}, 10],
  // The connection; an edge, its cursor, a node and its name seven times.
  ['{ designations(first: 7) { edges { cursor node { name } } } }', {}, 29],
  ['{ designations { nodes { name } } }', {}, 101],
  ['query ($n: Int) { designations(first: $n) { nodes { name } } }', { n: 9 }, 19],
  ['query ($n: Int = 4) { designations(first: $n) { nodes { name } } }', {}, 9],
  // 1 + 2 × (1 + 1 + 3 × (1 + 2 + 1 + 10 × (1 + 2)))
  [
    '{ deposits(first: 2) { nodes { transactions(first: 3) { nodes { donor { id } allocations { nodes { designation { name } } } } } } } }',
    {},
    209,
  ],
  ['{ a: designations(first: 7) { nodes { name } } b: designations(first: 1) { nodes { name } } }', {}, 18],
  ['query { ...A ...A } fragment A on Query { designations(first: 7) { nodes { name } } }', {}, 15],
  ['{ designations(first: 7) { nodes { a: name b: name } } }', {}, 22],
  ['query ($no: Boolean = false) { designations(first: 7) { nodes @include(if: $no) { name } } }', {}, 1],
  // The summary, its totals, their sums and one of them are there once.
  [`{ depositDetailsConnection(${RANGE}, first: 5) { nodes { amount } summary { all { byLine { amount } } } } }`, {}, 15],
  // A year has twelve months, whatever length is asked for; the funds are as many as the books have.
  [`{ depositSummary(${RANGE}) { groups(first: 1000) { nodes { key { day } } } } }`, {}, 2],
  [`{ depositSummary(${RANGE}, groupBy: [MONTH]) { groups(first: 1000) { nodes { key { month } } } } }`, {}, 38],
  [`{ depositSummary(${RANGE}, groupBy: [MONTH]) { groups(last: 5) { nodes { key { month } } } } }`, {}, 17],
  [`{ depositSummary(${RANGE}, groupBy: [MONTH, DESIGNATION]) { groups(first: 1000) { nodes { key { month } } } } }`, {}, 3002],
  [
    `{ depositSummary(${RANGE}, groupBy: [QUARTER], compareWith: { startDate: "2023-01-01", endDate: "2023-12-31" }) { groups(first: 1000) { nodes { key { quarter } } } } }`,
    {},
    32,
  ],
])('an answer says what it cost at most: %s %j', async (query, variables, cost) => {
  const { status, headers, body } = await ask(query, variables);
  expect(body.errors).toBeUndefined();
  expect([status, headers.get('x-graphql-cost')]).toEqual([200, String(cost)]);
});

test('an operation that costs too much is refused with its cost, the limit, and where it comes from', async () => {
  const query = `{
    designations(first: 5) { nodes { name } }
    many: deposits(first: 500) { nodes { transactions(first: 300) { nodes { id } } } }
  }`;
  const { status, headers, body } = await ask(query);
  // 1 + 5 × 2; 1 + 500 × (1 + 1 + 300 × 2)
  expect([status, headers.get('x-graphql-cost')]).toEqual([400, '301012']);
  const field = 'deposits.nodes.transactions.nodes';
  expect(body).toEqual({
    errors: [
      {
        message: `The operation costs 301012 values; the limit is 250000. Most come from ${field}: ask for fewer there`,
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED', cost: 301_012, limit: 250_000, field, requestId: REQUEST_ID },
      },
    ],
  });
});

test('an operation that one variable keeps within the limit is refused when another takes it beyond', async () => {
  const query = 'query ($n: Int) { deposits(first: 125) { nodes { transactions(first: $n) { nodes { id } } } } }';
  expect((await ask(query, { n: 998 })).status).toBe(200);
  expect((await ask(query, { n: 1000 })).status).toBe(400);
});

test('a caller with wrong variables is told of them, not of their cost', async () => {
  const { headers, body } = await ask('query ($n: Int) { designations(first: $n) { nodes { name } } }', { n: 'many' });
  expect([headers.get('x-graphql-cost'), body.errors?.map(({ extensions }) => extensions.code)]).toEqual([null, ['BAD_USER_INPUT']]);
});

test.each([
  ['query ($p: PendingChoice = WITH) { deposits(pending: $p) { nodes { id } } }', { p: null }],
  [`query ($by: [GroupBy!] = []) { depositSummary(${RANGE}, groupBy: $by) { all { lines } } }`, { by: null }],
  ['query ($no: Boolean = false) { designations { nodes @include(if: $no) { name } } }', { no: null }],
])('a caller with null in place of a default is told so: %s', async (query, variables) => {
  const { body } = await ask(query, variables);
  expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  expect(body.errors?.[0]?.message).toContain('must not be null');
});
