import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PATHS } from '../support/doors';
import { ask, readAll } from '../support/http-client';
import { REPORT } from '../support/long-report';
import { openGateway } from '../support/open-gateway';

/** The channels on which Node tells of each request before a listener gets it, and when its answer is complete (Node manual, HTTP). */
const START = 'http.server.request.start';
const FINISH = 'http.server.response.finish';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const ADMIN_TOKEN = 'an-operators-token-of-forty-characters-00';
const gateway = openGateway({ settings: { ADMIN_PORT: '0', ADMIN_TOKEN } });
const RANGE = 'start_date=2024-01-01&end_date=2024-01-31';
const doors: Readonly<Record<string, () => Promise<IncomingMessage>>> = {
  health: () => ask(`${gateway.url}/ready`),
  v2: () => get(PATHS.system),
  'the v2 report': () => get(`${REPORT}?${RANGE}`),
  GraphQL: () =>
    post(`${gateway.url}/graphql`, '{ authenticatedTestSystem { message } }', { Provision: gateway.organization.apiProvision }),
  files: () => get(`/export/deposit-details.csv?${RANGE}`),
  'the schema': () => get('/schema.graphql'),
  'the Playground': () => get('/playground'),
  'no door': () => get('/nothing'),
  metrics: () => ask(`${gateway.adminUrl}/metrics`),
  'the GraphQL of operators': () => post(`${gateway.adminUrl}/graphql`, '{ __typename }', { Authorization: `Bearer ${ADMIN_TOKEN}` }),
};

const get = (path: string): Promise<IncomingMessage> =>
  ask(gateway.url + path, { headers: { Provision: gateway.organization.apiProvision } });
const post = (url: string, query: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> =>
  ask(url, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify({ query }) });

/** The prototypes of a request and of its response. */
const kindsOf = ({ request, response }: Exchange): unknown[] => [Object.getPrototypeOf(request), Object.getPrototypeOf(response)];

test.each(Object.keys(doors))('a request to %s is a request of Express from its start to its end, as its response is', async (door) => {
  const seen: { readonly kinds: unknown[]; readonly isOfExpress: boolean; readonly at: string }[] = [];
  const see = (message: unknown, at: string | symbol): void => {
    const exchange = message as Exchange;
    seen.push({ kinds: kindsOf(exchange), isOfExpress: 'app' in exchange.request && 'app' in exchange.response, at: String(at) });
  };
  for (const channel of [START, FINISH]) subscribe(channel, see);
  try {
    const answer = await doors[door]!();
    expect(answer.statusCode).toBe(door === 'no door' ? 404 : 200);
    await readAll(answer);
  } finally {
    for (const channel of [START, FINISH]) unsubscribe(channel, see);
  }
  expect(seen.map(({ at, isOfExpress }) => [at, isOfExpress])).toEqual([
    [START, true],
    [FINISH, true],
  ]);
  // Nobody has changed the prototype of one that was on its way.
  for (const [position, kind] of seen[0]!.kinds.entries()) expect(seen[1]!.kinds[position]).toBe(kind);
});
