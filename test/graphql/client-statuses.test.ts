import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { parse } from 'graphql';
import { ClientError, GraphQLClient } from 'graphql-request';
import { fetchQuery } from 'relay-runtime';
import { createEnvironment } from '../frontend/src/relay/environment';
import { v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { compileRelay } from '../support/relay-project';

/** Pays for the queries below, and not for one of a long page. */
const gateway = openGateway({ settings: { COST_PER_MINUTE: '900' }, lines: [v2Line()] });
const url = (): string => `${gateway.url}/graphql`;

const QUERY = 'query pageQuery($first: Int) { deposits(first: $first) { totalCount } dataVersion { number } }';
const project = compileRelay({ page: QUERY });
const page = project.operation('pageQuery');
project.remove();

/** What an app sees of an answer: its data, and the codes of its errors, or their messages where a client shows no codes. */
interface Seen {
  readonly data?: unknown;
  readonly errors?: readonly unknown[] | undefined;
}
type AskByClient = (first: number, sent: typeof fetch, headers: Record<string, string>) => Promise<Seen>;

const clients: Readonly<Record<string, AskByClient>> = {
  'Apollo Client': async (first, sent, headers) => {
    const client = new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink({ uri: url(), headers, fetch: sent }) });
    const { data, error } = await client.query({ query: parse(QUERY), variables: { first }, errorPolicy: 'all' });
    client.stop();
    return { data, errors: CombinedGraphQLErrors.is(error) ? error.errors.map(({ extensions }) => extensions?.code) : undefined };
  },
  urql: async (first, sent, headers) => {
    const client = new Client({ url: url(), preferGetMethod: false, fetch: sent, fetchOptions: { headers }, exchanges: [fetchExchange] });
    const { data, error } = await client.query<object>(QUERY, { first }).toPromise();
    return { data, errors: error?.graphQLErrors.map(({ extensions }) => extensions.code) };
  },
  'graphql-request': async (first, sent, headers) => {
    const client = new GraphQLClient(url(), { headers, fetch: sent, errorPolicy: 'all' });
    const answered = client.rawRequest<object>(QUERY, { first });
    const { data, errors } = await answered.catch((error: unknown) => (error as ClientError).response as Awaited<typeof answered>);
    return { data, errors: errors?.map(({ extensions }) => extensions.code) };
  },
  // The app's network shows the first message where nothing of an answer is there.
  Relay: async (first, sent) => {
    const { fetch: former } = globalThis;
    globalThis.fetch = sent;
    const { apiProvision } = gateway.organization;
    const asked = fetchQuery(createEnvironment(url(), apiProvision), page, { first }).toPromise();
    return asked
      .then(
        (data) => ({ data }),
        (error: unknown) => ({ errors: [(error as Error).message] }),
      )
      .finally(() => (globalThis.fetch = former));
  },
};

/** A change of what a client sends, by which the gateway comes to each status. */
type Change = (init: RequestInit, headers: Headers) => void;
const asking =
  (query: string): Change =>
  (init) =>
    (init.body = JSON.stringify({ query }));

const FAULTS: readonly [status: number, code: string, message: RegExp, change: Change][] = [
  [400, 'GRAPHQL_PARSE_FAILED', /^Syntax Error/, asking('{')],
  [405, 'BAD_REQUEST', /GET\/POST/, (init) => (init.method = 'PUT')],
  [406, 'NOT_ACCEPTABLE', /^Not acceptable/, (_init, headers) => headers.set('Accept', 'text/html')],
  [413, 'PAYLOAD_TOO_LARGE', /^Payload too large/, asking(`{ ${' '.repeat(101 * 1024)} }`)],
  [415, 'UNSUPPORTED_MEDIA_TYPE', /^Unsupported media type/, (_init, headers) => headers.set('Content-Type', 'application/graphql')],
  [422, 'GRAPHQL_VALIDATION_FAILED', /^Cannot query field/, asking('{ nothing }')],
  [422, 'BAD_USER_INPUT', /^Variable "\$n"/, asking('query ($n: Int!) { deposits(first: $n) { totalCount } }')],
  [422, 'INVALID_PROVISION', /^Invalid provision/, (_init, headers) => headers.set('Provision', crypto.randomUUID())],
  [422, 'PROVISION_HEADER_MISSING', /^Provision header missing/, (_init, headers) => headers.delete('Provision')],
  [429, 'BUDGET_EXCEEDED', /^The budget/, asking('{ deposits(first: 1000) { nodes { depositId } } }')],
];

/** Sends what a client sends, changed, and notes the statuses of the answers. */
function createFetch(change: Change): { readonly statuses: number[]; readonly sent: typeof fetch } {
  const statuses: number[] = [];
  const sent: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const changed = { ...init, headers };
    change(changed, headers);
    const response = await fetchOf(input, changed);
    statuses.push(response.status);
    return response;
  };
  return { statuses, sent };
}
const { fetch: fetchOf } = globalThis;

const asServer = () => ({ Provision: gateway.organization.apiProvision });
const PARTIAL = { deposits: null, dataVersion: { number: 1 } };

describe.each(Object.entries(clients))('%s', (name, ask) => {
  test('takes 294 for an answer, and shows its data', async () => {
    const { sent, statuses } = createFetch(() => undefined);
    const { data, errors } = await ask(0, sent, asServer());
    expect(data).toMatchObject(PARTIAL);
    if (name !== 'Relay') expect(errors).toEqual(['BAD_USER_INPUT']);
    expect(statuses).toEqual([294]);
  });

  test.each(FAULTS)('shows the error of an answer with the status %i: %s', async (status, code, message, change) => {
    const { sent, statuses } = createFetch(change);
    const { data = null, errors } = await ask(1, sent, asServer());
    // Apollo Client reads no JSON of another type than it accepts. Whoever sends it text/html has asked for that.
    const isUnread = name === 'Apollo Client' && status === 406;
    expect([data, errors]).toEqual([null, isUnread ? undefined : [name === 'Relay' ? expect.stringMatching(message) : code]]);
    expect(statuses).toEqual([status]);
  });

  test('gets 200 for data with errors by the header Accept: application/json', async () => {
    const { sent, statuses } = createFetch((_init, headers) => headers.set('Accept', 'application/json'));
    expect((await ask(0, sent, asServer())).data).toMatchObject(PARTIAL);
    expect(statuses).toEqual([200]);
  });
});

test.each(Object.entries(clients).filter(([name]) => name !== 'Relay'))('%s takes the header Accept as a setting', async (_name, ask) => {
  const { sent, statuses } = createFetch(() => undefined);
  expect((await ask(0, sent, { ...asServer(), Accept: 'application/json' })).errors).toEqual(['BAD_USER_INPUT']);
  expect(statuses).toEqual([200]);
});
