import type { Client } from '@urql/core';
import { getNamedType, isObjectType, isScalarType, parse, type DocumentNode } from 'graphql';
import { commitLocalUpdate, ConnectionHandler, createOperationDescriptor, fetchQuery, type RecordProxy } from 'relay-runtime';
import { createSchema } from '../../src/graphql/schema';
import { createClient } from '../frontend/src/client';
import { forConnections } from '../frontend/src/connections';
import { createEnvironment } from '../frontend/src/relay/environment';
import { depositBook } from '../support/deposit-book';
import { readExample, runExample } from '../support/documents';
import { graphql, importLines, PASSWORD, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { compileRelay, type RelayProject } from '../support/relay-project';

const gateway = openGateway({ lines: depositBook(120) });
const { organization } = gateway;
// Each import is a data version, and each provision an entry of the audit.
beforeAll(async () => {
  const { periods, provisions } = gateway.services;
  await provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
  for (const amount of ['1.00', '2.00', '3.00'])
    await importLines(gateway.services, organization, [
      v2Line({ allocation_id: 'versions', transaction_id: 'T0', deposit_id: 'D0', amount, fee_amount: '0.00', net_amount: amount }),
    ]);
  for (const through of ['2024-01-31', '2024-02-29', '2024-03-31'])
    await periods.close({ ...organization, timeZone: 'UTC', fiscalYearStart: 1 }, through, undefined, { name: 'ada' });
  for (const format of ['csv', 'ndjson', 'json']) {
    const address = `${gateway.url}/export/deposit-summary.${format}?period=all-time`;
    await (await fetch(address, { headers: { Provision: organization.apiProvision } })).text();
  }
});

const types = Object.values(createSchema().getTypeMap()).filter(isObjectType);
/** The lists of no records. A cache keeps each of their pages by its arguments. */
const NO_RECORDS = ['SummaryGroupConnection', 'DepositChangeConnection', 'ChangeDesignationConnection'];
/** The connections of the schema whose pages a cache joins. */
const connections = types.flatMap((type) =>
  Object.values(type.getFields())
    .filter((field) => getNamedType(field.type).name.endsWith('Connection') && !NO_RECORDS.includes(getNamedType(field.type).name))
    .map((field) => ({ name: `${type.name}.${field.name}`, type: type.name, field: field.name, of: getNamedType(field.type).name })),
);
/** An entity of each type with several others below it, for the connections that start at one. */
const PARENTS: Readonly<Record<string, readonly [field: string, id: string | number]>> = {
  ...{ Deposit: ['deposit', 'D0'], Transaction: ['transaction', 'T2'], Designation: ['designation', 1], Donor: ['donor', 1] },
};
const parentOf = (type: string): string => `${PARENTS[type]![0]}(${PARENTS[type]![0]}Id: ${JSON.stringify(PARENTS[type]![1])})`;
type Connection = (typeof connections)[number];
type Shape = 'edges' | 'nodes';

/** The fields of items that have no id of their own. */
const ITEMS: Readonly<Record<string, string>> = {
  DepositDetailConnection: 'allocationId amount',
  DataVersionConnection: 'number',
  PeriodCloseConnection: 'version',
};
/** A query for a page as an app writes it: some arguments are variables. */
function toQuery({ type, field, of }: Connection, shape: Shape): DocumentNode {
  const item = ITEMS[of] ?? 'id';
  const selection = shape === 'edges' ? `edges { node { ${item} } }` : `nodes { ${item} }`;
  const args = field === 'depositDetailsConnection' ? 'startDate: "2024-01-01", endDate: "2024-12-31", filter: $filter, ' : '';
  const filter = args === '' ? '' : '$filter: DepositDetailFilter, ';
  const page = `${field}(${args}first: $first, after: $after) { ${selection} pageInfo { hasNextPage endCursor } totalCount }`;
  const body = type === 'Query' ? page : `${parentOf(type)} { id ${page} }`;
  return parse(`query Page(${filter}$first: Int, $after: String) { ${body} }`);
}

interface Page {
  readonly ids: readonly string[];
  readonly endCursor: string;
  readonly hasNextPage: boolean;
  readonly totalCount: number;
}
interface Item {
  readonly id?: string | number;
  readonly allocationId?: string;
  readonly number?: number;
  readonly version?: number;
}
interface RawPage {
  readonly edges?: readonly { readonly node: Item }[];
  readonly nodes?: readonly Item[];
  readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
  readonly totalCount: number;
}

/** The page in an answer, at the root or below an entity. */
function toPage(data: unknown, { type, field }: Connection): Page {
  const root = data as Readonly<Record<string, Readonly<Record<string, RawPage>>>>;
  const { edges, nodes, pageInfo, totalCount } = (type === 'Query' ? root[field] : Object.values(root)[0]![field]) as unknown as RawPage;
  const items = edges?.map(({ node }) => node) ?? nodes ?? [];
  return {
    ids: items.map(({ id, allocationId, number, version }) => String(id ?? allocationId ?? number ?? version)),
    ...pageInfo,
    totalCount,
  };
}

/** The ids of the whole list, from one request. */
async function idsOf(connection: Connection): Promise<{ ids: readonly string[]; first: number }> {
  const query = toQuery(connection, 'nodes').loc!.source.body;
  const { body } = await graphql(gateway.url, query, { provision: organization.apiProvision, variables: { first: 1000 } });
  const { ids } = toPage(body.data, connection);
  expect(ids.length).toBeGreaterThan(2);
  return { ids, first: Math.max(1, Math.floor(ids.length / 3)) };
}

interface Made {
  readonly urql: Client;
  readonly keys: Readonly<Record<string, unknown>>;
}

const FRONTEND = 'docs/frontend.md';
/** A page that a list asks for as its user scrolls. */
const ENDLESS = parse(
  'query Endless($after: String) { deposits(first: 1, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }',
);
const MonthDocument = parse(readExample(FRONTEND, 'A first query', 'graphql'));
const address = (): string => `${gateway.url}/graphql`;

/** The clients of the section about others as the document makes them. */
const makeOthers = (Provision = organization.apiProvision, location = {}): Promise<Made> => {
  const [uri, url] = [address(), address()];
  const names = { forConnections, MonthDocument, uri, url, Provision, location };
  return runExample<Made>(readExample(FRONTEND, 'Other clients', 'ts'), names, ['urql', 'keys']);
};
/** The clients of the app. */
const makeApollo = () => createClient(address(), organization.apiProvision, () => undefined);
const makeRelay = () => createEnvironment(address(), organization.apiProvision);

test("a frontend developer runs the documents' examples as they are written", async () => {
  const warn = jest.spyOn(console, 'warn');
  const answers: object[] = [];
  const { fetch: send } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await send(input, init);
    answers.push((await response.clone().json()) as object);
    return response;
  };
  try {
    await makeOthers();
    await makeApollo().query({ query: MonthDocument });
  } finally {
    globalThis.fetch = send;
  }
  expect(answers).toHaveLength(3);
  for (const answer of answers) expect(answer).toEqual({ data: { depositDetailsConnection: expect.any(Object) as unknown } });
  expect(warn).not.toHaveBeenCalled();
});

test.each<[string, (onEnd: () => void) => Promise<(after: string) => Promise<unknown>>]>([
  [
    'Apollo Client',
    (onEnd) => {
      const client = createClient(address(), organization.webProvision, onEnd);
      return Promise.resolve((after) => client.query({ query: ENDLESS, variables: { after }, fetchPolicy: 'network-only' }));
    },
  ],
  [
    'urql',
    async (onEnd) => {
      const { urql } = await makeOthers(organization.apiProvision, { reload: onEnd });
      const fetchOptions = { headers: { Provision: organization.webProvision } };
      return (after) => urql.query(ENDLESS, { after }, { requestPolicy: 'network-only', fetchOptions }).toPromise();
    },
  ],
  [
    'Relay',
    (onEnd) => {
      const project = compileRelay({ endless: ENDLESS.loc!.source.body.replace('query Endless', 'query endlessQuery') });
      const environment = createEnvironment(address(), organization.webProvision);
      const [operation] = [project.operation('endlessQuery')];
      project.remove();
      return Promise.resolve(async (after) => {
        await fetchQuery(environment, operation, { after }).toPromise();
        onEnd();
      });
    },
  ],
])("an endless list in the documents' %s asks for no page after the first that says that the session has ended", async (_name, make) => {
  let ends = 0;
  const sent: unknown[] = [];
  const ask = await make(() => ends++);
  const { fetch: send } = globalThis;
  globalThis.fetch = (...request) => {
    sent.push(request);
    return send(...request);
  };
  try {
    await ask('0').catch(() => undefined);
    const later = Array.from({ length: 33 }, (_, page) => ask(`${page}`).catch(() => undefined));
    await new Promise(setImmediate);
    expect([sent.length, ends]).toEqual([1, 1]);
    void later;
  } finally {
    globalThis.fetch = send;
  }
});

test('a component developer finds a mock of every scalar, each of which the gateway would send', async () => {
  const { scalarMocks } = await runExample<{ scalarMocks: Readonly<Record<string, () => unknown>> }>(
    readExample(FRONTEND, 'Mocks', 'ts').replace('export ', ''),
    {},
    ['scalarMocks'],
  );
  const scalars = Object.values(createSchema().getTypeMap()).filter(isScalarType);
  const own = scalars.filter(({ name }) => !['String', 'Int', 'Float', 'Boolean'].includes(name));
  expect(Object.keys(scalarMocks)).toEqual(own.map(({ name }) => name).sort());
  for (const scalar of own) {
    const mock = scalarMocks[scalar.name]!();
    expect([scalar.name, JSON.parse(JSON.stringify(scalar.serialize(scalar.parseValue(mock))))]).toEqual([scalar.name, mock]);
  }
});

test("a frontend developer opens the documents' session without a cookie, and its token is taken", async () => {
  const variables = { username: organization.username, password: PASSWORD };
  const provision = organization.webProvision;
  const { body } = await graphql(gateway.url, readExample(FRONTEND, 'Sessions', 'graphql'), { provision, variables });
  const { token, viewer } = body.data!.openSession as { token: string; viewer: object };
  expect(viewer).toEqual({ username: 'ada' });
  const asked = await graphql(gateway.url, '{ viewer { username } }', { provision, bearer: token });
  expect(asked.body).toEqual({ data: { viewer } });
});

test("the schema has connections, and the documents' urql knows what has no id of its own", async () => {
  expect(connections).toHaveLength(14);
  const { keys } = await makeOthers();
  const hasOwnKey = types
    .filter(({ name }) => !/^(__.*|Query|Mutation|PageInfo|.*(Connection|Edge))$/.test(name))
    .filter((type) => !('id' in type.getFields()));
  expect(Object.keys(keys).sort()).toEqual(hasOwnKey.map(({ name }) => name).sort());
  // Two lines with one allocation may be of two states of the books.
  const keyOfLine = keys.DepositDetail as (line: object) => string | null;
  expect(keyOfLine({ allocationId: 'A1' })).toBeNull();
});

test('a late page whose cursor the list no longer knows leaves the list in Apollo Client as it is', () => {
  const { cache } = makeApollo();
  const query = parse(
    'query Page($first: Int, $after: String) { donors(first: $first, after: $after) { nodes { id } pageInfo { endCursor } } }',
  );
  const write = (ids: readonly string[], after?: string): void => {
    const nodes = ids.map((id) => ({ __typename: 'Donor', id }));
    const pageInfo = { __typename: 'PageInfo', endCursor: `c${ids.at(-1)!}` };
    cache.writeQuery({ query, variables: { first: 2, after }, data: { donors: { __typename: 'DonorConnection', nodes, pageInfo } } });
  };
  const ids = (): string[] =>
    cache.readQuery<{ donors: { nodes: { id: string }[] } }>({ query, variables: { first: 2 } })!.donors.nodes.map(({ id }) => id);
  write(['1', '2']);
  write(['3', '4'], 'c2');
  write(['1', '2']);
  write(['5', '6'], 'c4');
  expect(ids()).toEqual(['1', '2']);
  write(['3', '4'], 'c2');
  write(['5', '6'], 'c4');
  expect(ids()).toEqual(['1', '2', '3', '4', '5', '6']);
});

describe.each(connections.flatMap((connection) => (['edges', 'nodes'] as const).map((shape) => ({ ...connection, connection, shape }))))(
  'the pages of $name by $shape',
  ({ connection, shape }) => {
    const query = toQuery(connection, shape);

    test('follow each other in Apollo Client, though each is asked for twice', async () => {
      const client = makeApollo();
      const { ids, first } = await idsOf(connection);
      const list = client.watchQuery({ query, variables: { first } });
      const watching = list.subscribe(() => undefined);
      let page = toPage((await client.query({ query, variables: { first } })).data, connection);
      for (let more = 0; more < ids.length && page.hasNextPage; more++) {
        const after = page.endCursor;
        const twice = await Promise.all([list.fetchMore({ variables: { after } }), list.fetchMore({ variables: { after } })]);
        page = toPage(twice[0].data, connection);
      }
      expect(toPage(client.readQuery({ query, variables: { first } }), connection)).toEqual({ ...page, ids, totalCount: ids.length });
      // The first page alone makes up the list again after the return to the start.
      await list.refetch();
      expect(toPage(client.readQuery({ query, variables: { first } }), connection).ids).toEqual(ids.slice(0, first));
      watching.unsubscribe();
      client.stop();
    });

    test('follow each other in urql', async () => {
      const { urql } = await makeOthers();
      const warn = jest.spyOn(console, 'warn');
      const { ids, first } = await idsOf(connection);
      const ask = async (after?: string): Promise<Page> => {
        const answer = await urql.query<unknown>(query, { first, after }, { requestPolicy: 'network-only' }).toPromise();
        expect(answer.error).toBeUndefined();
        return toPage(answer.data, connection);
      };
      let page = await ask();
      for (let more = 0; more < ids.length && page.hasNextPage; more++) page = await ask(page.endCursor);
      expect(page.ids).toEqual(ids);
      expect(warn).not.toHaveBeenCalled();
    });
  },
);

describe('in Relay', () => {
  let project: RelayProject;
  const fields = (connection: Connection, shape: Shape, directive = ''): string => {
    const [{ loc }] = [toQuery(connection, shape)];
    const body = loc!.source.body
      .replace(/^query Page\([^)]*\) \{ /, '')
      .replace(/ \}$/, '')
      .replace(', filter: $filter', '');
    return body.replace('after: $after)', `after: $after) ${directive}`).replace(' totalCount', '');
  };

  beforeAll(() => {
    project = compileRelay(
      Object.fromEntries(
        connections.map((connection, n) => [
          `page${n}`,
          `fragment page${n}_query on Query @refetchable(queryName: "page${n}Next")
             @argumentDefinitions(first: { type: "Int" }, after: { type: "String" }) {
             ${fields(connection, 'edges', `@connection(key: "page${n}_${connection.field}")`)} }
           query page${n}Nodes($first: Int, $after: String) { ${fields(connection, 'nodes')} }`,
        ]),
      ),
    );
  });
  afterAll(() => project.remove());

  test.each(connections.map((connection, n) => [connection.name, connection, n] as const))(
    'the pages of %s follow each other by edges, and by nodes each is kept',
    async (_name, connection, n) => {
      const environment = makeRelay();
      const { ids, first } = await idsOf(connection);
      const read = (): Page => {
        let page: Page | undefined;
        commitLocalUpdate(environment, (store) => {
          const [parent, id] = PARENTS[connection.type] ?? [];
          const record = parent === undefined ? store.getRoot() : store.getRoot().getLinkedRecord(parent, { [`${parent}Id`]: id });
          const filters = connection.field === 'depositDetailsConnection' ? { startDate: '2024-01-01', endDate: '2024-12-31' } : undefined;
          const found = ConnectionHandler.getConnection(record, `page${n}_${connection.field}`, filters)!;
          const nodes = found.getLinkedRecords('edges').map((edge) => edge.getLinkedRecord<RecordProxy>('node'));
          const info = found.getLinkedRecord('pageInfo');
          page = {
            ids: nodes.map((node) => String(['id', 'allocationId', 'number', 'version'].map((name) => node.getValue(name)).find(Boolean))),
            ...{
              endCursor: String(info.getValue('endCursor')),
              hasNextPage: info.getValue('hasNextPage') === true,
              totalCount: ids.length,
            },
          };
        });
        return page!;
      };
      const [next, nodes] = [project.operation(`page${n}Next`), project.operation(`page${n}Nodes`)];
      const cursors: (string | undefined)[] = [];
      for (let page: Page | undefined; !page || page.hasNextPage; page = read()) {
        const variables = { first, after: page?.endCursor };
        cursors.push(page?.endCursor);
        await fetchQuery(environment, next, variables).toPromise();
        await fetchQuery(environment, nodes, variables).toPromise();
      }
      expect(cursors.length).toBeGreaterThan(2);
      expect(read().ids).toEqual(ids);
      const kept = cursors.flatMap((after) => {
        const { data } = environment.lookup(createOperationDescriptor(nodes, { first, after }).fragment);
        return toPage(data, connection).ids;
      });
      expect(kept).toEqual(ids);
    },
  );
});
