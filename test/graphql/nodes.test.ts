import { createOperationDescriptor, Environment, fetchQuery, Network, RecordSource, Store, type GraphQLResponse } from 'relay-runtime';
import { depositBook } from '../support/deposit-book';
import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { compileRelay } from '../support/relay-project';
import { openWatchedGateway } from '../support/watched-gateway';

const gateway = openWatchedGateway({ lines: depositBook(60) });
const { organization } = gateway.store;

const ask = async (query: string, variables: object = {}, provision = organization.apiProvision) =>
  (await graphql(gateway.url, query, { provision, variables })).body;
const idOf = (name: string): string => Buffer.from(name).toString('base64url');

/** A record of each type, by its field at the root and by its id. */
const RECORDS = [
  ['Deposit', 'deposit(depositId: "D1")', 'depositId depositDate status', { depositId: 'D1', depositDate: '2024-01-02', status: 'POSTED' }],
  [
    'Transaction',
    'transaction(transactionId: "T2")',
    'transactionId amount deposit { depositId }',
    { transactionId: 'T2', amount: '10.00', deposit: { depositId: 'D14' } },
  ],
  ['Designation', 'designation(designationId: 3)', 'designationId name', { designationId: 3, name: 'Fund 2' }],
  ['Donor', 'donor(donorId: 12)', 'donorId lastName', { donorId: 12, lastName: 'Clark' }],
] as const;

describe('a record', () => {
  test.each(RECORDS)('of the type %s is found again by its id', async (type, field, selection) => {
    const known = await ask(`{ record: ${field} { id __typename ${selection} } }`);
    const { id } = (known.data as { record: { id: string } }).record;
    const again = await ask(`query ($id: ID!) { record: node(id: $id) { id __typename ... on ${type} { ${selection} } } }`, { id });
    expect(known.errors).toBeUndefined();
    expect(again).toEqual(known);
    expect(known.data).toMatchObject({ record: { __typename: type } });
  });

  test('of any type shares its id with no other, though the books use the same id for several', async () => {
    const own = await createOrganization(gateway.store.services);
    await importLines(gateway.store.services, own, [
      v2Line({ deposit_id: '7', transaction_id: '7', allocation_id: '7', designation_id: 7, donor_id: 7 }),
    ]);
    const query = `{ deposit(depositId: "7") { id transactions { nodes { id donor { id } allocations { nodes { id designation { id } } } } } } }`;
    const { data } = await ask(query, {}, own.apiProvision);
    const ids = [...JSON.stringify(data).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id!);
    expect(new Set(ids).size).toBe(5);
    const { data: found } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', { ids }, own.apiProvision);
    expect((found!.nodes as { id: string }[]).map(({ id }) => id)).toEqual(ids);
    // Another organization has no such records.
    expect(await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [ids[0]!] })).toEqual({ data: { nodes: [null] } });
  });
});

describe('records by their ids', () => {
  const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) {
    __typename
    ... on Deposit { depositId transactions(first: 2) { nodes { transactionId donor { donorId } } } }
    ... on Transaction { transactionId deposit { depositId } }
    ... on Donor { donorId }
    ... on Designation { designationId }
    ... on Allocation { allocationId }
  } }`;

  test('come in the order of the ids, repeated ones too, with null where there is none', async () => {
    const names = [
      'Designation:3',
      'Deposit:D2',
      'Deposit:none',
      'Donor:12',
      'Transaction:T5',
      'Deposit:D2',
      'Allocation:A2-0',
      'Deposit:\0',
    ];
    const { data, errors } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: names.map(idOf) });
    expect(errors).toBeUndefined();
    expect((data!.nodes as ({ id: string } | null)[]).map((node) => node?.id ?? null)).toEqual(
      names.map((name) => (/none|\0/.test(name) ? null : idOf(name))),
    );
  });

  test.each([2, 30])('take one statement for each kind and each edge, here of %d records of a kind', async (length) => {
    const ids = Array.from({ length }, (_, n) => [idOf(`Deposit:D${n}`), idOf(`Transaction:T${n}`), idOf(`Donor:${n + 1}`)]).flat();
    const before = gateway.proxy.statements();
    const { data, errors } = await ask(NODES, { ids });
    expect(errors).toBeUndefined();
    expect(data!.nodes).toHaveLength(ids.length);
    // Statements: access, deposits, transactions, donors, the deposits' transactions, the transactions' deposits, donors of the former.
    expect(gateway.proxy.statements() - before).toBeLessThanOrEqual(7);
  });

  test('without the privilege of the report are all there but for donors, of which one error tells', async () => {
    const ids = ['Deposit:D1', 'Donor:12', 'Donor:1', 'Transaction:T5'].map(idOf);
    const { data, errors } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids }, gateway.member);
    expect(data).toEqual({ nodes: [{ id: ids[0] }, null, null, { id: ids[3] }] });
    expect(errors).toMatchObject([{ path: ['nodes', 1], extensions: { code: 'PRIVILEGE_NOT_FOUND' } }]);
    // A donor that does not exist is refused in the same words.
    for (const name of ['Donor:12', 'Donor:777']) {
      expect(await ask('query ($id: ID!) { node(id: $id) { id } }', { id: idOf(name) }, gateway.member)).toMatchObject({
        data: { node: null },
        errors: [{ path: ['node'], extensions: { code: 'PRIVILEGE_NOT_FOUND' } }],
      });
    }
  });

  test.each([
    ['the id of the books', 'D1'],
    ['nothing', ''],
    ['a type that has no records', idOf('Viewer:1')],
    ['a type in small letters', idOf('deposit:D1')],
    ['a number that is none', idOf('Donor:x')],
    ['a number beyond those that are exact', idOf('Donor:9007199254740992')],
    ['a number in another writing', idOf('Donor:012')],
    ['padding', `${idOf('Deposit:D1')}=`],
    ['another writing of the same bytes', 'RGVwb3NpdDpEMR'],
  ])('are there but for one that is refused by name, because it is %s', async (_what, id) => {
    const fault = { extensions: { code: 'BAD_USER_INPUT' } };
    expect((await ask('query ($id: ID!) { node(id: $id) { id } }', { id })).errors).toMatchObject([
      { ...fault, message: `id is not the id of a record: ${JSON.stringify(id)}` },
    ]);
    const ids = [idOf('Deposit:D1'), id, idOf('Donor:12')];
    const { data, errors } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(data).toEqual({ nodes: [{ id: ids[0] }, null, { id: ids[2] }] });
    expect(errors).toMatchObject([{ ...fault, path: ['nodes', 1], message: `ids[1] is not the id of a record: ${JSON.stringify(id)}` }]);
  });

  test('are at most a hundred, and the cost counts them', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Deposit { transactions(first: 10) { nodes { amount } } } } }';
    const ids = (length: number) => Array.from({ length }, (_, n) => idOf(`Deposit:D${n}`));
    for (const [length, cost] of [
      [0, 0],
      // A record counts itself, its id, the connection, and ten transactions with an amount each.
      [3, 3 * (1 + 1 + 1 + 10 * 2)],
      [100, 100 * 23],
    ] as const) {
      const { headers, body } = await graphql(gateway.url, query, {
        provision: organization.apiProvision,
        variables: { ids: ids(length) },
      });
      expect([headers.get('x-graphql-cost'), body.errors]).toEqual([String(cost), undefined]);
      expect(body.data!.nodes).toHaveLength(length);
    }
    const { errors } = await ask(query, { ids: ids(101) });
    expect(errors).toMatchObject([{ message: 'ids has 101 values; the limit is 100', extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});

test('a fragment on every record, with a list below it, is refetched and paged by Relay', async () => {
  const below: Readonly<Record<string, string>> = {
    Deposit: 'transactions',
    Transaction: 'allocations',
    Designation: 'allocations',
    Donor: 'transactions',
  };
  const names = ['Deposit:D1', 'Transaction:T2', 'Designation:3', 'Donor:12', 'Allocation:A2-0'];
  const fragment = (type: string): string => {
    const list = below[type];
    if (list === undefined) return `fragment page${type}_record on ${type} @refetchable(queryName: "page${type}Next") { amount }`;
    return `fragment page${type}_record on ${type} @refetchable(queryName: "page${type}Next")
      @argumentDefinitions(first: { type: "Int", defaultValue: 1 }, after: { type: "String" }) {
      ${list}(first: $first, after: $after) @connection(key: "page${type}_${list}") { edges { node { id } } } }`;
  };
  const types = names.map((name) => name.split(':')[0]!);
  const project = compileRelay(Object.fromEntries(types.map((type) => [`page${type}`, fragment(type)])));
  try {
    const network = Network.create(async ({ text }, variables) => (await ask(text!, variables)) as GraphQLResponse);
    const environment = new Environment({ network, store: new Store(new RecordSource()) });
    for (const [index, name] of names.entries()) {
      const type = types[index]!;
      const next = project.operation(`page${type}Next`);
      expect(next.params.text).toContain('node(id: $id)');
      const id = idOf(name);
      const list = below[type];
      const { body } = await graphql(
        gateway.url,
        `query ($id: ID!) { node(id: $id) { ... on ${type} { ${list ? `${list}(first: 1000) { edges { node { id } } }` : 'amount'} } } }`,
        { provision: organization.apiProvision, variables: { id } },
      );
      const expected = JSON.stringify(body.data!.node);
      let cursor: unknown;
      for (let more = true; more;) {
        await fetchQuery(environment, next, { id, first: 2, after: cursor }).toPromise();
        const record = environment.getStore().getSource().get(id)!;
        expect(record.__typename).toBe(type);
        if (list === undefined) break;
        const connection = environment.getStore().getSource().get(`client:${id}:__page${type}_${list}_connection`)!;
        const pageInfo = environment.getStore().getSource().get(`client:${id}:__page${type}_${list}_connection:pageInfo`)!;
        const edges = (connection.edges as { __refs: string[] }).__refs.map((ref) => environment.getStore().getSource().get(ref)!);
        const ids = edges.map((edge) => (edge.node as { __ref: string }).__ref);
        more = pageInfo.hasNextPage === true;
        cursor = pageInfo.endCursor;
        if (!more) expect(JSON.stringify({ [list]: { edges: ids.map((each) => ({ node: { id: each } })) } })).toBe(expected);
      }
      expect(environment.check(createOperationDescriptor(next, { id, first: 2 })).status).toBe('available');
    }
  } finally {
    project.remove();
  }
});
