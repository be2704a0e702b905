import { depositBook } from '../support/deposit-book';
import { createOrganization, graphql, importLines, startGateway, type TestGateway, type TestOrganization } from '../support/gateway';

let gateway: TestGateway;
let organization: TestOrganization;

beforeAll(async () => {
  gateway = await startGateway();
  organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, depositBook(600));
});
afterAll(() => gateway.stop());

/** All that the organization has, with lists as long as it says. */
const everything = (lists: number) => `{
  deposits(first: 40) { totalCount nodes { id depositDate transactions(first: ${lists}) { nodes { id amount donor { firstName } allocations(first: 3) { edges { cursor node { id memo } } } } } } }
  first: deposits(first: 1) { edges { node { transactions(first: ${lists}) { nodes { id mainMemo } } } } }
  nobody: donor(id: 4711) { lastName }
  viewer { username }
}`;

test('a long operation, which rests on its way, is answered as a short one is', async () => {
  const provision = organization.apiProvision;
  const [short, long] = [
    await graphql(gateway.url, everything(16), { provision }),
    await graphql(gateway.url, everything(90), { provision }),
  ];
  const costs = [short, long].map(({ headers }) => Number(headers.get('x-graphql-cost')));
  // Below and above the cost from which on an operation rests.
  expect([costs[0]! < 20_000, costs[1]! > 20_000]).toEqual([true, true]);
  expect(long.body).toEqual(short.body);
  expect([long.status, long.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(long.body.errors).toEqual([
    { message: 'Not logged in', locations: [{ line: 5, column: 3 }], path: ['viewer'], extensions: { code: 'NOT_LOGGED_IN' } },
  ]);
});
