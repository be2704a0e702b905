import { Insertions } from '../../src/graphql/insertions';
import { depositBook } from '../support/deposit-book';
import { createObjectAnswers, type ObjectAnswers } from '../support/object-answers';
import { openGateway } from '../support/open-gateway';

/** Characters that JSON escapes, that JavaScript could take for its own, and that look like a mark of the gateway. */
const SPECIAL = ['"', '\\', '\b\f\n\r\t', '\u2028\u2029', '李🌻', '\ud7ff', '"} 0"', '$&', '</script>'];
const LINES = depositBook(400).map((line) => ({ ...line, main_memo: SPECIAL[Number(line.transaction_id.slice(1)) % SPECIAL.length]! }));

const gateway = openGateway({ lines: LINES, loggedIn: true });
const { organization } = gateway;
let objects: ObjectAnswers;
beforeAll(() => {
  objects = createObjectAnswers(gateway.services, as());
});
afterAll(() => objects.stop());

const as = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
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
  [
    'fields that need a resolver',
    `{ transactions: deposits(first: 20) { nodes { transactions(first: 20) { nodes { mainMemo donor { lastName } } } } } ${PAGE} { nodes { mainMemo } } }`,
  ],
])('a list has the text that graphql-js would give it: %s', async (_name, query) => {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { Provision: as().provision, Cookie: as().cookie, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect(await answer.text()).toBe(await objects.answer({ query }));
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
