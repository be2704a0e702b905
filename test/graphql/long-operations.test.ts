import { operationLimits } from '../../src/resolvers/request/operation-limits';
import { startDatabaseProxy } from '../support/database-proxy';
import { depositBook } from '../support/deposit-book';
import { createOrganization, graphql, startGateway, type GraphqlAnswer } from '../support/gateway';
import { fillReport } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';

const gateway = openGateway({ lines: depositBook(600) });
const { organization } = gateway;

/** All of some deposits that the organization has, with lists as long as it says. */
const everything = (lists: number) => `{
  deposits(first: 5) { totalCount nodes { id depositDate transactions(first: ${lists}) { nodes { transactionId amount donor { firstName } allocations(first: 3) { edges { cursor node { id memo } } } } } } }
  first: deposits(first: 1) { edges { node { transactions(first: ${lists}) { nodes { transactionId mainMemo } } } } }
  nobody: donor(donorId: 4711) { lastName }
  refused: deposit(depositId: "D0") { transactions(first: 0) { nodes { id } } }
}`;

test('a long operation, which rests on its way, is answered as a short one is', async () => {
  const provision = organization.apiProvision;
  const [short, long] = [
    await graphql(gateway.url, everything(16), { provision }),
    await graphql(gateway.url, everything(90), { provision }),
  ];
  const costs = [short, long].map(({ headers }) => Number(headers.get('x-graphql-cost')));
  // Below and above the cost from which on an operation rests.
  expect([costs[0]! < operationLimits.longCost, costs[1]! > operationLimits.longCost]).toEqual([true, true]);
  const withoutIds = ({ body }: GraphqlAnswer) =>
    JSON.parse(JSON.stringify(body).replaceAll(/"requestId":"[^"]+"/g, '"requestId":""')) as unknown;
  expect(withoutIds(long)).toEqual(withoutIds(short));
  expect([long.status, long.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(long.body).toMatchObject({
    data: { deposits: { totalCount: 34 }, nobody: null, refused: null },
    errors: [
      {
        message: 'first is 0; it must be between 1 and 1000',
        path: ['refused', 'transactions'],
        extensions: { code: 'BAD_USER_INPUT', argument: 'first', requestId: REQUEST_ID },
      },
    ],
  });
  // Fifteen gifts of each of five deposits, and those of one again.
  expect(JSON.stringify(long.body).match(/"transactionId":"T/g)).toHaveLength(90);
});

test('others are served while a long operation is answered', async () => {
  const { id, apiProvision: provision } = await createOrganization(gateway.services);
  await fillReport(gateway.database.client, id, 10_000, `repeat('m', 20)`);
  const proxy = await startDatabaseProxy(gateway.database.url);
  const own = await startGateway({ DATABASE_URL: proxy.url });
  try {
    const answered = new AbortController();
    const long = graphql(
      own.url,
      `
        {
          deposits(first: 1000) {
            totalCount
            nodes {
              id
              depositDate
              transactions(first: 10) {
                nodes {
                  id
                  amount
                  feeAmount
                  netAmount
                  status
                  mainMemo
                  donor {
                    id
                    firstName
                    lastName
                  }
                  allocations(first: 1) {
                    nodes {
                      id
                      amount
                      memo
                    }
                  }
                }
              }
            }
          }
        }
      `,
      { provision },
    ).finally(() => answered.abort());
    /** Answers to others since the gateway has had all that it needs for the long one. */
    let others = 0;
    for (let answers = 0; !answered.signal.aborted; others++) {
      if (proxy.answers() > answers) others = 0;
      answers = proxy.answers();
      expect((await fetch(`${own.url}/live`)).status).toBe(200);
    }
    expect((await long).body).toMatchObject({ data: { deposits: { totalCount: 1000 } } });
    // In one go, it would leave time for three at most.
    expect(others).toBeGreaterThan(10);
  } finally {
    await own.stop();
    await proxy.close();
  }
});
