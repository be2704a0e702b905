import { Insertions } from '../../src/graphql/answers/insertions';
import { depositBook } from '../support/deposit-book';
import { login, PASSWORD } from '../support/gateway';
import { createObjectAnswers, type ObjectAnswers } from '../support/object-answers';
import { openGateway } from '../support/open-gateway';

/** Characters that JSON escapes, that JavaScript could take for its own, and that look like a mark of the gateway. */
const SPECIAL = ['"', '\\', '\b\f\n\r\t', '\u2028\u2029', '李🌻', '\ud7ff', '"} 0"', '$&', '</script>'];
const LINES = depositBook(400).map((line) => ({ ...line, main_memo: SPECIAL[Number(line.transaction_id.slice(1)) % SPECIAL.length]! }));

const gateway = openGateway({ lines: LINES, loggedIn: true });
const { organization } = gateway;
let objects: ObjectAnswers;
/** The answers to a user who may not read donors. */
let clerksObjects: ObjectAnswers;
let clerksCookie: string;
beforeAll(async () => {
  objects = createObjectAnswers(gateway.services, as());
  await gateway.services.users.create({ organization: organization.name, username: 'bea', password: PASSWORD, grants: [] });
  clerksCookie = await login(gateway.url, organization.webProvision, 'bea');
  clerksObjects = createObjectAnswers(gateway.services, as(clerksCookie));
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => Promise.all([objects.stop(), clerksObjects.stop()]));

const as = (cookie = gateway.cookie) => ({ provision: organization.webProvision, cookie });
let asked = 0;
/** Sends a query with a text that no request before had, so that it is executed. */
async function ask(query: string, cookie = gateway.cookie): Promise<string> {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { Provision: organization.webProvision, Cookie: cookie, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: `${query} # ${++asked}` }),
  });
  return (await answer.text()).replace(/"requestId":"[^"]*"/g, '"requestId":""');
}
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31", pending: WITH';
const PAGE = `depositDetailsConnection(${RANGE}, first: 40)`;

test.each([
  [
    'values of every kind',
    `{ ${PAGE} { nodes { amount donorId allocationAmount allocationAmountInferred depositStatus depositDate mainMemo } } }`,
  ],
  ['cursors', `{ ${PAGE} { edges { cursor node { allocationId } } pageInfo { endCursor } totalCount } }`],
  [
    'aliases, type names and repeated fields',
    `{ ${PAGE} { a: nodes { b: amount b: amount __typename c: __typename city } nodes { state } } }`,
  ],
  [
    'fragments',
    `query { ${PAGE} { ...Page } } fragment Page on DepositDetailConnection { nodes { ...Line zip } edges { node { ...Line } } } fragment Line on DepositDetail { city }`,
  ],
  ['directives', `query ($no: Boolean = false) { ${PAGE} { nodes { city zip @include(if: $no) state @skip(if: $no) } } }`],
  ['nothing of a line', `query ($no: Boolean = false) { ${PAGE} { nodes { city @include(if: $no) } } }`],
  [
    'groups with keys that are null',
    `{ depositSummary(${RANGE}, groupBy: [DAY]) { groups(first: 1000) { nodes { key { day month designationId } all { lines byLine { amount } } pending { deposits } } } all { lines } } }`,
  ],
  [
    'lists beside each other and within lists',
    `{ one: ${PAGE} { nodes { mainMemo } } deposits(first: 20) { nodes { id transactions(first: 20) { nodes { id amount status } totalCount } } } two: ${PAGE} { nodes { zip } } }`,
  ],
  ['two items', '{ designations(first: 2) { nodes { id name } edges { cursor } pageInfo { startCursor endCursor } totalCount } }'],
  [
    'records that lists lead to',
    `{ deposits(first: 5) { nodes { transactions(first: 3) { edges { cursor node { donor { lastName } allocations { totalCount pageInfo { hasNextPage endCursor }
      nodes { memo designation { id name } transaction { deposit { depositId } } } } } } } } } }`,
  ],
  ['figures', `{ deposits(first: 4) { nodes { totals { lines donors } transactions { nodes { allocationsTotal { amount known } } } } } }`],
  [
    'pages of records that follow a cursor',
    `{ deposits(first: 3) { nodes { transactions(first: 2, after: "AAAAAAAAAAAAAAAAVDE") { nodes { id } } } } }`,
  ],
  ['a value that fails', `{ donors(first: 4) { nodes { lastName totals(startDate: "2024-02-02", endDate: "2024-01-01") { lines } } } }`],
  ['an argument at fault', '{ deposits(first: 4) { nodes { depositId transactions(first: 0) { nodes { id } } } } }'],
  [
    'an operation so long that it pauses',
    `{ deposits(first: 100) { nodes { id transactions(first: 20) { nodes { id mainMemo allocations { nodes { memo designation { name } } } } } } } }`,
  ],
  [
    'fields that need a resolver',
    `{ transactions: deposits(first: 20) { nodes { transactions(first: 20) { nodes { mainMemo donor { lastName } } } } } ${PAGE} { nodes { mainMemo } } }`,
  ],
])('a list has the text that graphql-js would give it: %s', async (_name, query) => {
  expect(await ask(query)).toBe(await objects.answer({ query }));
});

const GUARDED = [
  'deposits(first: 3) { nodes { depositId transactions(first: 5) { nodes { transactionId mainMemo } } } }',
  'transactions(first: 20) { nodes { transactionId donor { lastName } } }',
  'allocations(first: 20) { nodes { allocationId memo } }',
  'designations(first: 4) { nodes { designationId totals { lines donors } } }',
];

test('values that are still to be read are waited for', async () => {
  const save = (name: string) =>
    `${name}: saveReport(input: { name: "${name}", query: "{ depositDetails(startDate: \\"2024-01-01\\", endDate: \\"2024-12-31\\") { amount } }" }) { replaced }`;
  await ask(`mutation { ${save('one')} ${save('two')} }`);
  const { data } = JSON.parse(await ask('{ savedReports { name downloadUrl } }')) as { data: object };
  const link = expect.stringMatching(/^\//) as string;
  expect(data).toEqual({
    savedReports: [
      { name: 'one', downloadUrl: link },
      { name: 'two', downloadUrl: link },
    ],
  });
});

test.each(GUARDED)('nothing that is guarded is written for callers who are refused it, whoever asks the same: %s', async (field) => {
  const query = `{ ${field} }`;
  const answers = await Promise.all([ask(query), ask(query, clerksCookie), ask(query), ask(query, clerksCookie)]);
  const [ours, theirs] = [await objects.answer({ query }), await clerksObjects.answer({ query })];
  expect(answers).toEqual([ours, theirs, ours, theirs]);
  expect(ours).not.toContain('PRIVILEGE_NOT_FOUND');
  expect(JSON.parse(theirs)).toMatchObject({ errors: [{ extensions: { code: 'PRIVILEGE_NOT_FOUND' } }] });
});

test('deposits with the gifts that were read ahead are written as one text', async () => {
  const add = jest.spyOn(Insertions.prototype, 'add');
  await ask(`{ ${GUARDED[0]!} }`);
  expect(add.mock.calls.map(([path]) => path)).toEqual([['deposits', 'nodes']]);
});

test('a list whose parent an error made null has no place in the answer', () => {
  const insertions = new Insertions();
  insertions.add(['a', 'b', 'nodes'], '[1]');
  insertions.add(['c', 0, 'nodes'], '[2]');
  insertions.add(['d', 'nodes'], '[3]');
  const data = { a: null, c: [{ nodes: [] }], d: { nodes: [] } };
  insertions.mark(data);
  expect(insertions.fill(JSON.stringify(data), () => []).join('')).toBe('{"a":null,"c":[{"nodes":[2]}],"d":{"nodes":[3]}}');
});
