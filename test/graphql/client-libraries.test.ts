import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange, type Data } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { print } from 'graphql';
import { ClientError, GraphQLClient } from 'graphql-request';
import {
  commitLocalUpdate,
  ConnectionHandler,
  Environment,
  fetchQuery,
  Network,
  RecordSource,
  Store,
  type GraphQLResponse,
  type RecordProxy,
} from 'relay-runtime';
import { DepositPagesDocument, LoginDocument, type DepositPagesQuery } from '../../src/generated/operations/graphql';
import { depositBook, inOrder } from '../support/deposit-book';
import { PASSWORD } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { compileRelay } from '../support/relay-project';

const LINES = depositBook(40);
/** Allocation ids, the largest amount first. */
const IDS = inOrder(LINES, ['amount', 'allocation_id'])
  .reverse()
  .map(({ allocation_id }) => allocation_id);
const PERIOD = { startDate: '2024-01-01', endDate: '2024-12-31', first: 15 };

const gateway = openGateway({ lines: LINES });
const { organization } = gateway;

/** A fetch that keeps the cookie and sends it back, as a browser does for a client. */
function createBrowserFetch(): typeof fetch {
  let cookie: string | undefined;
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (cookie !== undefined) headers.set('Cookie', cookie);
    const response = await fetch(input, { ...init, headers });
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return response;
  };
}

const url = (): string => `${gateway.url}/graphql`;
const headers = () => ({ Provision: organization.webProvision });
const WHO = { username: 'ada', password: PASSWORD };
type Lines = DepositPagesQuery;
const idsOf = ({ depositDetailsConnection: page }: Lines): string[] => page!.edges.map(({ node }) => node.allocationId);

test('Apollo Client logs in, tells errors by their code, and pages with its relay-style pagination', async () => {
  const client = new ApolloClient({
    link: new HttpLink({ uri: url(), headers: headers(), fetch: createBrowserFetch() }),
    cache: new InMemoryCache({
      typePolicies: { Query: { fields: { depositDetailsConnection: relayStylePagination(['startDate', 'endDate']) } } },
    }),
  });
  const refused = await client.query({ query: DepositPagesDocument, variables: PERIOD }).catch((error: unknown) => error);
  expect(CombinedGraphQLErrors.is(refused) && refused.errors.map(({ extensions }) => extensions?.code)).toEqual(['NOT_LOGGED_IN']);
  expect((await client.mutate({ mutation: LoginDocument, variables: WHO })).data).toMatchObject({ login: { viewer: { username: 'ada' } } });

  const lines = client.watchQuery({ query: DepositPagesDocument, variables: PERIOD });
  const watching = lines.subscribe(() => undefined);
  let page = (await client.query({ query: DepositPagesDocument, variables: PERIOD })).data!;
  for (let more = 0; more < IDS.length && page.depositDetailsConnection!.pageInfo.hasNextPage; more++) {
    page = (await lines.fetchMore({ variables: { after: page.depositDetailsConnection!.pageInfo.endCursor } })).data!;
  }
  // The cache has put the pages together.
  expect(idsOf(client.readQuery({ query: DepositPagesDocument, variables: PERIOD })!)).toEqual(IDS);
  watching.unsubscribe();
  client.stop();
});

/** A line has no id of its own, so the cache keeps it by its allocation. */
const KEYS = { DepositDetail: ({ allocationId }: Data) => allocationId as string, PageInfo: () => null };

test('urql logs in, tells errors by their code, and pages with its relay pagination', async () => {
  const client = new Client({
    url: url(),
    preferGetMethod: false,
    fetch: createBrowserFetch(),
    fetchOptions: { headers: headers() },
    exchanges: [cacheExchange({ keys: KEYS, resolvers: { Query: { depositDetailsConnection: relayPagination() } } }), fetchExchange],
  });
  const refused = await client.query(DepositPagesDocument, PERIOD).toPromise();
  expect(refused.error?.graphQLErrors.map(({ extensions }) => extensions.code)).toEqual(['NOT_LOGGED_IN']);
  expect((await client.mutation(LoginDocument, WHO).toPromise()).data).toMatchObject({ login: { viewer: { username: 'ada' } } });

  const ask = async (after?: string | null): Promise<Lines> => {
    const { data, error } = await client.query(DepositPagesDocument, { ...PERIOD, after }, { requestPolicy: 'network-only' }).toPromise();
    expect(error).toBeUndefined();
    return data!;
  };
  let data = await ask();
  for (let more = 0; more < IDS.length && data.depositDetailsConnection!.pageInfo.hasNextPage; more++) {
    data = await ask(data.depositDetailsConnection!.pageInfo.endCursor);
  }
  // The cache has put the pages together.
  expect(idsOf(data)).toEqual(IDS);
});

test('graphql-request logs in, tells errors by their code, and pages', async () => {
  const client = new GraphQLClient(url(), { headers: headers(), fetch: createBrowserFetch() });
  const refused = await client.request(DepositPagesDocument, PERIOD).catch((error: unknown) => error);
  expect(refused instanceof ClientError && refused.response.errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_LOGGED_IN']);
  await client.request(LoginDocument, WHO);
  const ids: string[] = [];
  for (let after: string | null | undefined, hasNext = true; hasNext;) {
    const data: Lines = await client.request(DepositPagesDocument, { ...PERIOD, after });
    ids.push(...idsOf(data));
    ({ endCursor: after, hasNextPage: hasNext } = data.depositDetailsConnection!.pageInfo);
  }
  expect(ids).toEqual(IDS);
});

interface RelayConnection {
  readonly edges: { readonly node: { readonly allocationId: string } }[];
  readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
}

interface RelayPages {
  readonly ids: readonly string[];
  readonly endCursor: string;
  readonly hasNextPage: boolean;
}

test('Relay compiles against the schema, and pages with its own connection', async () => {
  const project = compileRelay({
    lines: `fragment lines_query on Query
      @refetchable(queryName: "linesPaginationQuery")
      @argumentDefinitions(first: { type: "Int", defaultValue: 15 }, after: { type: "String" }) {
      depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", pending: WITH, orderBy: { field: AMOUNT, direction: DESC },
        first: $first, after: $after)
        @connection(key: "lines_depositDetailsConnection") {
        edges { node { allocationId amount } }
      }
    }
    query linesQuery { ...lines_query deposit(depositId: "D1") { id depositId transactions(first: 5) { edges { node { id amount } } } } }`,
  });
  try {
    const [lines, next] = [project.operation('linesQuery'), project.operation('linesPaginationQuery')];

    const send = createBrowserFetch();
    const post = async (body: object) => {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers() }, body: JSON.stringify(body) };
      return (await (await send(url(), init)).json()) as GraphQLResponse;
    };
    await post({ query: print(LoginDocument), variables: WHO });
    const environment = new Environment({
      network: Network.create(({ text: query }, variables) => post({ query, variables })),
      store: new Store(new RecordSource()),
    });
    await fetchQuery(environment, lines, {}).toPromise();
    const readConnection = () => {
      let read: RelayPages | undefined;
      commitLocalUpdate(environment, (store) => {
        const args = { startDate: '2024-01-01', endDate: '2024-12-31', pending: 'WITH', orderBy: { field: 'AMOUNT', direction: 'DESC' } };
        const found = ConnectionHandler.getConnection(store.getRoot(), 'lines_depositDetailsConnection', args);
        const connection = found as RecordProxy<RelayConnection>;
        const pageInfo = connection.getLinkedRecord('pageInfo');
        read = {
          ids: connection.getLinkedRecords('edges').map((edge) => edge.getLinkedRecord('node').getValue('allocationId')),
          endCursor: pageInfo.getValue('endCursor'),
          hasNextPage: pageInfo.getValue('hasNextPage'),
        };
      });
      return read!;
    };
    expect(readConnection().ids).toEqual(IDS.slice(0, 15));
    for (let page = readConnection(); page.hasNextPage; page = readConnection()) {
      await fetchQuery(environment, next, { first: 15, after: page.endCursor }).toPromise();
    }
    expect(readConnection().ids).toEqual(IDS);
    // Records of different types share no id.
    const id = Buffer.from('Deposit:D1').toString('base64url');
    expect(environment.getStore().getSource().get(id)).toMatchObject({ __typename: 'Deposit', id, depositId: 'D1' });
  } finally {
    project.remove();
  }
});
