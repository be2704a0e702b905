import { depositBook } from './support/deposit-book';
import { createOrganization, graphql, importLines, startGateway, type TestGateway, type TestOrganization } from './support/gateway';

let gateway: TestGateway;
let organization: TestOrganization;

beforeAll(async () => {
  gateway = await startGateway();
  organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, depositBook(20));
});
afterAll(() => gateway.stop());

const ask = (query: string, variables: object = {}) => graphql(gateway.url, query, { provision: organization.apiProvision, variables });
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';

test.each<[string, object, number]>([
  ['{ authenticatedTestSystem { message } }', {}, 1],
  ['{ __typename }', {}, 0],
  [`{ depositDetails(${RANGE}) { depositId amount } }`, {}, 1],
  // The connection and its nodes.
  ['{ designations(first: 7) { nodes { name } } }', {}, 8],
  ['{ designations(last: 3) { nodes { name } pageInfo { endCursor } totalCount } }', {}, 4],
  // The connection; edges and a node in each.
  ['{ designations(first: 7) { edges { cursor node { name } } } }', {}, 15],
  ['{ designations { nodes { name } } }', {}, 51],
  ['query ($n: Int) { designations(first: $n) { nodes { name } } }', { n: 9 }, 10],
  ['query ($n: Int = 4) { designations(first: $n) { nodes { name } } }', {}, 5],
  // 1 + 2 × (1 + (1 + 3 × (1 + 1 + (1 + 10 × (1 + 1)))))
  [
    '{ deposits(first: 2) { nodes { transactions(first: 3) { nodes { donor { id } allocations { nodes { designation { name } } } } } } } }',
    {},
    143,
  ],
  ['{ a: designations(first: 7) { nodes { name } } b: designations(first: 1) { nodes { name } } }', {}, 10],
  ['query { ...A ...A } fragment A on Query { designations(first: 7) { nodes { name } } }', {}, 8],
  ['query ($no: Boolean = false) { designations(first: 7) { nodes @include(if: $no) { name } } }', {}, 1],
  [`{ depositDetailsConnection(${RANGE}, first: 5) { nodes { amount } summary { all { byLine { amount } } } } }`, {}, 9],
  [`{ depositSummary(${RANGE}) { groups { key { day } } } }`, {}, 10_001],
])('an answer says what it cost at most: %s %j', async (query, variables, cost) => {
  const { status, headers, body } = await ask(query, variables);
  expect(body.errors).toBeUndefined();
  expect([status, headers.get('x-graphql-cost')]).toEqual([200, String(cost)]);
});

test('an operation that costs too much is refused with its cost, the limit, and where it comes from', async () => {
  const query = `{
    designations(first: 5) { nodes { name } }
    many: deposits(first: 500) { nodes { transactions(first: 200) { nodes { id } } } }
  }`;
  const { status, headers, body } = await ask(query);
  expect([status, headers.get('x-graphql-cost')]).toEqual([400, '101007']);
  expect(body).toEqual({
    errors: [
      {
        message:
          'The operation costs 101007 objects; the limit is 100000. Most of them come from many.nodes.transactions.nodes: ask for fewer there',
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      },
    ],
  });
});

test('what is within the limit by a variable is refused beyond it by another', async () => {
  const query = 'query ($n: Int) { deposits(first: 100) { nodes { transactions(first: $n) { nodes { id } } } } }';
  expect((await ask(query, { n: 900 })).status).toBe(200);
  expect((await ask(query, { n: 1000 })).status).toBe(400);
});

test('wrong variables are told as such, not by their cost', async () => {
  const { headers, body } = await ask('query ($n: Int) { designations(first: $n) { nodes { name } } }', { n: 'many' });
  expect([headers.get('x-graphql-cost'), body.errors?.map(({ extensions }) => extensions.code)]).toEqual([null, ['BAD_USER_INPUT']]);
});
