import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ApolloClient, CombinedGraphQLErrors, HttpLink } from '@apollo/client';
import { buildSchema, isEnumType, parse } from 'graphql';
import { errorTable, requestFaultTable } from '../../src/errors';
import { createClient } from '../frontend/src/client';
import { whileAuditIsHeld } from '../support/audit-reader';
import { readExample, runExample } from '../support/documents';
import { createOrganization, graphql, importLines, login, PASSWORD, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';
import { until } from '../support/until';

const gateway = openGateway({ lines: [v2Line()], loggedIn: true });
const { organization } = gateway;
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const DONORS = 'donors(first: 1) { nodes { lastName } }';
const TODAY = { dataVersion: { number: 1 } };

let clerk: { readonly provision: string; readonly cookie: string };
beforeAll(async () => {
  await gateway.services.users.create({ organization: organization.name, username: 'bea', password: PASSWORD, grants: [] });
  clerk = { provision: organization.webProvision, cookie: await login(gateway.url, organization.webProvision, 'bea') };
});

const asApi = () => ({ provision: organization.apiProvision });
const places = (errors: readonly { readonly path?: unknown; readonly extensions: object }[] = []) =>
  errors.map(({ path, extensions }) => [path, extensions]);

describe('a page that asks for several things', () => {
  test.each([
    ['donors', 'donors { nodes { id } }'],
    ['donor', 'donor(donorId: 7) { id }'],
    ['depositDetails', `depositDetails(${RANGE}) { amount }`],
    ['depositDetailsConnection', `depositDetailsConnection(${RANGE}) { nodes { amount } }`],
    ['depositSummary', `depositSummary(${RANGE}, filter: { donorIds: [7] }) { all { lines } }`],
    ['savedReports', 'savedReports { name }'],
  ])('keeps the rest when the reader may not read one of them: %s', async (name, field) => {
    const { status, body } = await graphql(gateway.url, `{ ${field} dataVersion { number } }`, clerk);
    expect([status, body.data, places(body.errors)]).toEqual([
      200,
      { [name]: null, ...TODAY },
      [[[name], { code: 'PRIVILEGE_NOT_FOUND', requestId: REQUEST_ID }]],
    ]);
  });

  test('keeps the rest of a page, and of a summary, when one figure of it fails', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, [v2Line({ allocation_id: 'A0' })]);
    const query = `{ depositDetailsConnection(${RANGE}, first: 1) {
      nodes { allocationId } summary(groupBy: [DESIGNATION]) { all { lines } groups(first: 0) { nodes { key { designation } } } }
    } }`;
    const { body } = await graphql(gateway.url, query, { provision: own.apiProvision });
    expect(body.data).toEqual({
      depositDetailsConnection: { nodes: [{ allocationId: 'A0' }], summary: { all: { lines: 1 }, groups: null } },
    });
    expect(places(body.errors)).toEqual([
      [['depositDetailsConnection', 'summary', 'groups'], { code: 'BAD_USER_INPUT', argument: 'first', requestId: REQUEST_ID }],
    ]);
  });

  test('keeps the rest when the report fails before its first line', async () => {
    await withGateway({}, async ({ url, database, services }) => {
      const own = await createOrganization(services);
      await importLines(services, own, [v2Line()]);
      await database.client.query('DROP TABLE deposit_line');
      const query = `{ a: depositDetails(${RANGE}) { amount } wrong: deposits(first: 0) { totalCount } dataVersion { number }
        b: depositDetails(${RANGE}) { depositId } }`;
      const { status, headers, body } = await graphql(url, query, { provision: own.apiProvision });
      expect([status, body.data]).toEqual([200, { a: null, wrong: null, ...TODAY, b: null }]);
      expect([headers.get('x-data-version'), headers.get('x-graphql-cost')]).toEqual(['1', expect.stringMatching(/^\d+$/)]);
      const id = headers.get('x-request-id');
      const failed = { code: 'DATA_SOURCE_QUERY_FAILED', requestId: id };
      expect(places(body.errors)).toEqual([
        [['wrong'], { code: 'BAD_USER_INPUT', argument: 'first', requestId: id }],
        [['a'], failed],
        [['b'], failed],
      ]);
      const accepting = { Accept: 'application/graphql-response+json', 'Content-Type': 'application/json', Provision: own.apiProvision };
      const response = await fetch(`${url}/graphql`, { method: 'POST', headers: accepting, body: JSON.stringify({ query }) });
      expect([response.status, response.headers.get('content-type'), ((await response.json()) as { data: unknown }).data]).toEqual([
        294,
        'application/graphql-response+json; charset=utf-8',
        body.data,
      ]);
    });
  });

  test('keeps nothing when the report fails and the audit cannot note the rest', async () => {
    await withGateway({ DATABASE_ANSWER_MILLISECONDS: '1000' }, async ({ url, database, services }) => {
      const own = await createOrganization(services);
      const { apiProvision: provision } = own;
      await importLines(services, own, [v2Line()]);
      await database.client.query('DROP TABLE deposit_line');
      const query = `{ ${DONORS} depositDetails(${RANGE}) { amount } }`;
      await whileAuditIsHeld(database.url, own, async () => {
        const { status, body } = await graphql(url, query, { provision });
        expect([status, JSON.stringify(body)]).toEqual([503, expect.not.stringContaining('Lovelace')]);
      });
      await until(async () => (await graphql(url, `{ ${DONORS} }`, { provision })).status === 200);
      expect((await graphql(url, query, { provision })).body.data).toEqual({
        donors: { nodes: [{ lastName: 'Lovelace' }] },
        depositDetails: null,
      });
    });
  });
});

test("the documents' page is shown by the documents' Apollo Client as far as it is there", async () => {
  const headers = { Provision: clerk.provision, Cookie: clerk.cookie };
  const uri = `${gateway.url}/graphql`;
  const { cache } = createClient(uri, clerk.provision, () => undefined);
  const client = new ApolloClient({ cache, link: new HttpLink({ uri, headers }) });
  const PageDocument = parse(readExample('docs/frontend.md', 'Errors and null', 'graphql'));
  const example = readExample('docs/frontend.md', 'Errors and null', 'ts');
  const { data, error } = await runExample<{ data: object; error: unknown }>(example, { client, PageDocument }, ['data', 'error']);
  expect(data).toMatchObject({ viewer: { username: 'bea' }, designations: { nodes: [{ name: 'General Fund' }] }, donors: null });
  expect(CombinedGraphQLErrors.is(error) && error.errors.map(({ path }) => path)).toEqual([['donors']]);
  client.stop();
});

describe('the viewer', () => {
  const ask = (credentials: object) => graphql(gateway.url, '{ viewer { username } }', credentials);

  test('is null while nobody is logged in, with any valid provision', async () => {
    for (const provision of [organization.webProvision, organization.apiProvision]) {
      expect((await ask({ provision })).body).toEqual({ data: { viewer: null } });
    }
    expect((await ask({ provision: organization.webProvision, cookie: `deposit-gateway-session=${'x'.repeat(43)}` })).body).toEqual({
      data: { viewer: null },
    });
  });

  test('is an error for a provision that is not valid, and for a session that is refused', async () => {
    const codeOf = async (credentials: object) => (await ask(credentials)).body.errors?.map(({ extensions }) => extensions.code);
    expect(await codeOf({})).toEqual(['PROVISION_HEADER_MISSING']);
    expect(await codeOf({ provision: '00000000-0000-4000-8000-000000000000' })).toEqual(['INVALID_PROVISION']);
    expect(await codeOf({ provision: organization.apiProvision, cookie: gateway.cookie })).toEqual(['PROVISION_MISMATCH']);
  });
});

test('a frontend finds every code of an error in the schema', async () => {
  const codes = [...Object.keys(errorTable), ...Object.keys(requestFaultTable)];
  const type = buildSchema(readFileSync(resolve(__dirname, '../../schema.graphql'), 'utf8')).getType('ErrorCode');
  expect(isEnumType(type) && type.getValues().map(({ name }) => name)).toEqual([...codes].sort());
  expect((await graphql(gateway.url, '{ errorCodes }', { provision: organization.webProvision })).body).toEqual({
    data: { errorCodes: codes },
  });
});

describe('an error says where the fault is', () => {
  test.each<[string, object, string, object]>([
    ['{ deposits(first: 0) { totalCount } }', {}, 'BAD_USER_INPUT', { argument: 'first' }],
    ['{ donors(after: "x") { totalCount } }', {}, 'BAD_USER_INPUT', { argument: 'after' }],
    [
      `{ depositDetailsConnection(${RANGE}, filter: { amount: { min: "2.00", max: "1.00" } }) { totalCount } }`,
      {},
      'BAD_USER_INPUT',
      { argument: 'filter.amount' },
    ],
    [
      '{ deposits(startDate: "2024-02-01", endDate: "2024-01-01") { totalCount } }',
      {},
      'START_DATE_AFTER_END_DATE',
      { argument: 'startDate' },
    ],
    ['query ($n: Int = 1) { deposits(first: $n, pending: $p) { totalCount } }', {}, 'GRAPHQL_VALIDATION_FAILED', { argument: 'pending' }],
    [
      `{ depositDetailsConnection(${RANGE}, filter: { amount: { min: "2" } }) { totalCount } }`,
      {},
      'GRAPHQL_VALIDATION_FAILED',
      { argument: 'filter.amount.min' },
    ],
    ['{ deposits(frist: 1) { totalCount } }', {}, 'GRAPHQL_VALIDATION_FAILED', { argument: 'frist' }],
    ['{ deposits { totalCountt } }', {}, 'GRAPHQL_VALIDATION_FAILED', {}],
    ['query ($d: LocalDate!) { deposits(startDate: $d) { totalCount } }', {}, 'BAD_USER_INPUT', { path: ['d'] }],
    ['query ($d: LocalDate) { deposits(startDate: $d) { totalCount } }', { d: '2024-02-30' }, 'BAD_USER_INPUT', { path: ['d'] }],
    [
      `query ($f: DepositDetailFilter) { depositDetailsConnection(${RANGE}, filter: $f) { totalCount } }`,
      { f: { designationIds: [1, 'two" at "f.amount"; '] } },
      'BAD_USER_INPUT',
      { path: ['f', 'designationIds', 1] },
    ],
    ['query ($p: PendingChoice = WITH) { deposits(pending: $p) { totalCount } }', { p: null }, 'BAD_USER_INPUT', { argument: 'pending' }],
    [
      'mutation ($i: LoginInput = { username: "ada", password: "" }) { login(input: $i) { viewer { username } } }',
      { i: null },
      'BAD_USER_INPUT',
      { argument: 'input' },
    ],
    ['mutation { deleteReport(input: { id: "x", name: "x" }) { deletedId } }', {}, 'GRAPHQL_VALIDATION_FAILED', { argument: 'input.name' }],
  ])('in an argument or in the variables: %s %j', async (query, variables, code, place) => {
    const { headers, body } = await graphql(gateway.url, query, { ...asApi(), variables });
    expect(body.errors?.[0]?.extensions).toEqual({ code, ...place, requestId: headers.get('x-request-id') });
  });

  test('in each of several variables', async () => {
    const query = 'query ($a: LocalDate!, $b: Int, $c: PendingChoice) { deposits(startDate: $a, first: $b, pending: $c) { totalCount } }';
    const { body } = await graphql(gateway.url, query, { ...asApi(), variables: { a: '1', b: 2, c: 'NO' } });
    expect(body.errors?.map(({ extensions }) => extensions)).toMatchObject([{ path: ['a'] }, { path: ['c'] }]);
  });

  test('under the id of the line in the log', async () => {
    await withGateway({}, async ({ url, database, services, logLines }) => {
      const own = await createOrganization(services);
      await database.client.query('ALTER TABLE deposit RENAME TO lost');
      const { body } = await graphql(url, '{ deposits { nodes { id } } }', { provision: own.apiProvision });
      const { requestId } = body.errors![0]!.extensions as unknown as { requestId: string };
      expect(logLines.filter((line) => line.includes('"code":"DATA_SOURCE_QUERY_FAILED"') && line.includes(requestId))).toHaveLength(1);
    });
  });
});

test('records that cannot be read are null, with one error for all of a list', async () => {
  await withGateway({}, async ({ url, database, services }) => {
    const own = await createOrganization(services);
    await importLines(
      services,
      own,
      ['1', '2', '3'].map((id) => v2Line({ deposit_id: id, transaction_id: id, allocation_id: id })),
    );
    await database.client.query('ALTER TABLE donor RENAME TO lost');
    const query = '{ transactions { nodes { transactionId donor { id } } } }';
    const { body } = await graphql(url, query, { provision: own.apiProvision });
    expect(body.data).toEqual({ transactions: { nodes: ['1', '2', '3'].map((transactionId) => ({ transactionId, donor: null })) } });
    expect(body.errors).toMatchObject([{ path: ['transactions', 'nodes', 0, 'donor'], extensions: { code: 'DATA_SOURCE_QUERY_FAILED' } }]);
  });
});

describe('a name that is nearly right', () => {
  const wrong: readonly [string, object][] = [
    ['{ depositt(id: "1") { id } }', {}],
    ['{ deposits(pendin: WITH) { totalCount } }', {}],
    ['{ deposits(pending: WIT) { totalCount } }', {}],
    ['{ deposits }', {}],
    ['query ($p: PendingChoice) { deposits(pending: $p) { totalCount } }', { p: 'WIT' }],
    [`query ($f: DepositDetailFilter) { depositDetailsConnection(${RANGE}, filter: $f) { totalCount } }`, { f: { amout: {} } }],
  ];

  test.each(wrong)('is put right for a member: %s', async (query, variables) => {
    for (const who of [clerk, asApi()]) {
      expect((await graphql(gateway.url, query, { ...who, variables })).body.errors?.[0]?.message).toContain('Did you mean');
    }
  });

  test.each(wrong)('is not put right for an app that nobody has logged in to: %s', async (query, variables) => {
    for (const cookie of [undefined, `deposit-gateway-session=${'x'.repeat(43)}`]) {
      const { body } = await graphql(gateway.url, query, { provision: organization.webProvision, variables, ...(cookie && { cookie }) });
      expect(body.errors?.length).toBe(1);
      expect(JSON.stringify(body)).not.toContain('Did you mean');
    }
  });

  test('is put right for nobody where the schema is closed', async () => {
    await withGateway({ INTROSPECTION: 'off' }, async ({ url, services }) => {
      const { apiProvision } = await createOrganization(services);
      const { body } = await graphql(url, '{ depositt(id: "1") { id } }', { provision: apiProvision });
      expect(JSON.stringify(body)).not.toContain('Did you mean');
    });
  });
});
