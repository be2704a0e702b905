import { serverAudits } from 'graphql-http';
import { graphql, openSession } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';

const gateway = openGateway({ loggedIn: true });
const headers: Record<string, Readonly<Record<string, string>>> = {};

beforeAll(async () => {
  const { webProvision, apiProvision } = gateway.organization;
  headers['a logged-in user'] = { Provision: webProvision, Cookie: gateway.cookie };
  headers['an app with a bearer token'] = {
    Provision: webProvision,
    Authorization: `Bearer ${await openSession(gateway.url, webProvision)}`,
  };
  headers['a server'] = { Provision: apiProvision };
});

describe.each(['a logged-in user', 'an app with a bearer token', 'a server'])('%s', (who) => {
  const audits = serverAudits({
    url: () => `${gateway.url}/graphql`,
    fetchFn: (url: string, init?: RequestInit) => {
      const all = new Headers(init?.headers);
      for (const [name, value] of Object.entries(headers[who]!)) all.set(name, value);
      return fetch(url, { ...init, headers: all });
    },
  });

  test('asks in all 61 audits of GraphQL over HTTP', () => expect(audits).toHaveLength(61));

  test.each(audits.map(({ name, fn }) => [name, fn] as const))(
    'finds that the gateway passes an audit of GraphQL over HTTP: %s',
    async (_name, run) => {
      const result = await run();
      expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
    },
  );
});

/** The warnings and errors of the log, from a line on. */
const failuresSince = (line: number): string[] =>
  gateway.logLines.slice(line).filter((text) => (JSON.parse(text) as { level: number }).level > 30);

describe('an operation that does not fit the schema', () => {
  test.each(['subscription { x }', 'subscription S { __typename }', 'query Q { __typename } subscription S { x }'])(
    'is refused as invalid, and is no failure of the gateway, when the schema lacks its kind: %s',
    async (query) => {
      const logged = gateway.logLines.length;
      const { status, body } = await graphql(gateway.url, query, { provision: gateway.organization.apiProvision });
      expect([status, body]).toEqual([
        400,
        {
          errors: [
            {
              message: 'There are no subscriptions here',
              locations: expect.any(Array) as unknown,
              extensions: { code: 'GRAPHQL_VALIDATION_FAILED', requestId: REQUEST_ID },
            },
          ],
        },
      ]);
      expect(failuresSince(logged)).toEqual([]);
    },
  );

  test.each([
    ['mutation { nothing }', 'Cannot query field "nothing" on type "Mutation".'],
    ['mutation M($n: Nothing!) { logout { ended } }', 'Unknown type "Nothing".'],
    ['mutation { ... on Nothing { logout { ended } } }', 'Unknown type "Nothing".'],
  ])('is refused as invalid, and is no failure of the gateway, when the schema lacks its type or field: %s', async (query, message) => {
    const logged = gateway.logLines.length;
    const { status, body } = await graphql(gateway.url, query, { provision: gateway.organization.webProvision });
    expect([status, body.errors?.[0]]).toEqual([
      400,
      { message, locations: expect.any(Array) as unknown, extensions: { code: 'GRAPHQL_VALIDATION_FAILED', requestId: REQUEST_ID } },
    ]);
    expect(failuresSince(logged)).toEqual([]);
  });
});
