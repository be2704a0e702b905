import { serverAudits } from 'graphql-http';
import { graphql, openSession } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

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

describe.each(['a logged-in user', 'an app with a bearer token', 'a server'])('%s finds GraphQL over HTTP as it is specified', (who) => {
  const audits = serverAudits({
    url: () => `${gateway.url}/graphql`,
    fetchFn: (url: string, init?: RequestInit) => {
      const all = new Headers(init?.headers);
      for (const [name, value] of Object.entries(headers[who]!)) all.set(name, value);
      return fetch(url, { ...init, headers: all });
    },
  });

  test('in as many audits as there are', () => expect(audits).toHaveLength(61));

  test.each(audits.map(({ name, fn }) => [name, fn] as const))('%s', async (_name, run) => {
    const result = await run();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  });
});

/** What the log has beyond news, from a line on. */
const failuresSince = (line: number): string[] =>
  gateway.logLines.slice(line).filter((text) => (JSON.parse(text) as { level: number }).level > 30);

describe('an operation of a kind that the schema lacks', () => {
  test.each(['subscription { x }', 'subscription S { __typename }', 'query Q { __typename } subscription S { x }'])(
    'is refused as one that is not valid, and is no failure of the gateway: %s',
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
              extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
            },
          ],
        },
      ]);
      expect(failuresSince(logged)).toEqual([]);
    },
  );

  test.each([
    ['mutation { nothing }', 'Cannot query field "nothing" on type "Mutation".'],
    ['mutation M($n: Nothing!) { logout }', 'Unknown type "Nothing".'],
    ['mutation { ... on Nothing { logout } }', 'Unknown type "Nothing".'],
  ])('nor is one of a type or with a field that the schema lacks: %s', async (query, message) => {
    const logged = gateway.logLines.length;
    const { status, body } = await graphql(gateway.url, query, { provision: gateway.organization.apiProvision });
    expect([status, body.errors?.[0]]).toEqual([
      400,
      { message, locations: expect.any(Array) as unknown, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
    ]);
    expect(failuresSince(logged)).toEqual([]);
  });
});
