import { ask, readChanges, type Change } from '../support/changes';
import { createExportReader, sha256 } from '../support/export-reader';
import { graphql, importLines, login, PASSWORD, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();
const reader = createExportReader(gateway);
const { organization } = gateway;

const JANUARY = 'start_date=2024-01-01&end_date=2024-01-31';
const ALL = 'start_date=0001-01-01&end_date=9999-12-31&pending=WITH';
const file = (format: string, query: string, of = organization) =>
  reader.get(`/export/deposit-changes.${format}?${query}`, { Provision: of.apiProvision });
const rowsOf = (body: Buffer): Record<string, unknown>[] =>
  (JSON.parse(body.toString()) as { response: Record<string, unknown>[] }).response;
const linesOf = (body: Buffer): string[] => body.toString().split('\n').slice(0, -1);

const NO_PRIVILEGE = '{"errors":[{"error":"Privilege to perform the action was not found","status":422}]}';

beforeAll(async () => {
  const gift = (id: string, fields: object = {}) =>
    v2Line({ deposit_id: `D${id}`, transaction_id: `T${id}`, allocation_id: `A${id}`, donor_id: Number(id), ...fields });
  await importLines(gateway.services, organization, [gift('1'), gift('2', { donor_last_name: 'O"Brien, Jr' }), gift('3')]);
  await importLines(
    gateway.services,
    organization,
    [
      gift('1', { amount: '20.50', net_amount: '20.00' }),
      gift('2', { deposit_date: '2024-02-01', donor_last_name: 'O"Brien, Jr' }),
      gift('4'),
      gift('3', { city: '=1+1' }),
    ],
    { complete: { periods: [{ startDate: '2024-01-01', endDate: '2024-12-31' }], pending: 'WITH' }, maxRemoved: Infinity },
  );
});

test('a file of changes has the changes of GraphQL, with lines as files of lines write them', async () => {
  const { nodes } = await readChanges(gateway, organization, 'from: { version: 1 }, startDate: "2024-01-01", endDate: "2024-01-31"');
  const { body, headers } = await file('json', `${JANUARY}&from=1`);
  const rows = rowsOf(body);
  expect(rows.map((row) => [row.class, row.was_inside, row.is_inside])).toEqual(
    nodes.map((node: Change) => [node.class, node.wasInside, node.isInside]),
  );
  expect(rows.map((row) => row.class)).toEqual(['MONEY', 'RELABELLED', 'ADDED', 'MOVED']);
  expect(rows.map((row) => row.changed_columns)).toEqual(['amount,net_amount,allocation_amount', 'city', '', 'deposit_date']);
  const lines = await reader.get(`/export/deposit-details.ndjson?${ALL}&columns=all`);
  expect(rows.map((row) => JSON.stringify(row.after)).sort()).toEqual(linesOf(lines.body).sort());
  const before = await reader.get(`/export/deposit-details.ndjson?${ALL}&columns=all&as_of=1`);
  expect(rows.flatMap((row) => (row.before === null ? [] : [JSON.stringify(row.before)])).sort()).toEqual(linesOf(before.body).sort());
  expect(rows[0]!.effect).toEqual({
    ...{ lines: 0, transactions: 0, deposits: 0, unknown_allocations: 0 },
    ...{ line_amount: '10.00', line_fee_amount: '0.00', line_net_amount: '10.00' },
    ...{ transaction_amount: '10.00', transaction_fee_amount: '0.00', transaction_net_amount: '10.00', allocation_amount: '10.00' },
  });
  // A gift of 10.50 went to February, one of 10.50 came, and another grew by 10.00.
  expect(headers).toMatchObject({
    ...{ 'x-export-rows': '4', 'x-export-lines': '0', 'x-export-amount-by-transaction': '10.00', 'x-export-unknown-allocations': '0' },
    ...{ 'x-export-from-version': '1', 'x-data-version': '2', 'x-export-range': '2024-01-01/2024-01-31' },
    'content-disposition': 'attachment; filename="deposit-changes-2024-01-01-2024-01-31-from-1-to-2.json"',
  });
  expect(headers).not.toHaveProperty('x-export-digest');
});

test('CSV has a flat row for each change, quoted and guarded as lines are, with nothing where there is no line', async () => {
  const columns = 'class,before_donor_last_name,before_donor_id,after_city,after_amount,after_allocation_amount_inferred,effect_lines';
  const { body } = await file('csv', `${JANUARY}&from=1&columns=${columns}`);
  expect(body.toString().split('\r\n')).toEqual([
    columns,
    '"MONEY","Lovelace",1,"London","20.50",true,0',
    `"RELABELLED","Lovelace",3,"'=1+1","10.50",true,0`,
    '"ADDED","",,"London","10.50",true,1',
    '"MOVED","O""Brien, Jr",2,"London","10.50",true,-1',
    '',
  ]);
  const all = await file('csv', `${JANUARY}&from=1`);
  expect(all.body.toString().split('\r\n')[0]!.split(',')).toHaveLength(4 + 2 * 29 + 11);
});

test('columns of a side make its object, and classes narrow rows and totals', async () => {
  const { body, headers } = await file(
    'ndjson',
    `${JANUARY}&from=1&class=MOVED&class=ADDED&columns=after_deposit_date,class,before_deposit_date`,
  );
  expect(linesOf(body)).toEqual([
    '{"after":{"deposit_date":"2024-01-02"},"class":"ADDED","before":null}',
    '{"after":{"deposit_date":"2024-02-01"},"class":"MOVED","before":{"deposit_date":"2024-01-02"}}',
  ]);
  expect([headers['x-export-rows'], headers['x-export-lines'], headers['x-export-amount-by-line']]).toEqual(['2', '0', '0.00']);
});

test('a file of changes between two states stays the same for ever', async () => {
  const path = `${JANUARY}&from=1&to=2`;
  const first = await file('csv', path);
  await importLines(gateway.services, organization, [
    v2Line({ deposit_id: 'D9', transaction_id: 'T9', allocation_id: 'A9', deposit_date: '2025-01-01' }),
  ]);
  const again = await reader.get(`/export/deposit-changes.csv?${path}`, { 'If-None-Match': String(first.headers.etag) });
  expect([again.status, again.headers['x-data-version']]).toEqual([304, '2']);
  const newest = await reader.get(`/export/deposit-changes.csv?${JANUARY}&from=1`, { 'If-None-Match': String(first.headers.etag) });
  expect([newest.status, newest.headers['x-data-version']]).toEqual([200, '3']);
});

test.each([
  ['?from=1', 'start_date is missing'],
  [`?${JANUARY}`, 'from is missing'],
  [`?${JANUARY}&from=9`, 'from: there is no version 9: the earliest is 1 of '],
  [`?${JANUARY}&from=2&to=1`, 'from is version 2 and to is version 1: from must not come after to'],
  [`?${JANUARY}&from=yesterday`, 'from must be the number of a version, or an instant like 2026-11-01T00:00:00Z'],
  [`?${JANUARY}&from=1&class=LOST`, 'class must be MONEY, ADDED, REMOVED, MOVED, REKEYED, ERASED or RELABELLED'],
  [`?${JANUARY}&from=1&as_of=1`, 'there is no parameter as_of'],
  [`?${JANUARY}&from=1&columns=amount`, 'columns must be names of fields of the report'],
])('the door refuses %j: %s', async (query, fault) => {
  const { status, body } = await reader.get(`/export/deposit-changes.csv${query}`);
  expect([status, body.toString()]).toEqual([422, expect.stringContaining(fault)]);
});

test('a file of changes is for callers who may read the report alone, and its receipt too', async () => {
  await gateway.services.users.create({ organization: organization.name, username: 'clerk', password: PASSWORD, grants: [] });
  const headers = { Provision: organization.webProvision, Cookie: await login(gateway.url, organization.webProvision, 'clerk') };
  expect(await reader.get(`/export/deposit-changes.csv?${JANUARY}&from=1`, headers)).toMatchObject({
    status: 422,
    body: Buffer.from(NO_PRIVILEGE),
  });
  const { headers: told, body } = await file('csv', `${JANUARY}&from=1&to=2&designation_id=3`);
  const id = String(told['x-export-id']);
  expect(await reader.get(`/export/receipts/${id}`, headers)).toMatchObject({ status: 422, body: Buffer.from(NO_PRIVILEGE) });
  // A change tells where a line came from and where it went, so the receipt is of all days.
  expect(await reader.receiptOf(id)).toMatchObject({
    ...{ report: 'deposit-changes', startDate: '0001-01-01', endDate: '9999-12-31', pending: 'WITH', lines: 4, dataVersion: 2 },
    ...{ conditions: ['designation_id', 'from=1', 'to=2'], outcome: 'whole', fileSha256: sha256(body), digest: null },
  });
});

test('GraphQL tells the address of the file of a query for changes, and a saved report has one', async () => {
  const query = `query ($from: AsOf!) { depositChanges(from: $from, to: { version: 2 }, startDate: "2024-01-01", endDate: "2024-01-31", class: [ADDED]) {
    nodes { class before { amount } after { amount designation } columns effect { byTransaction { amount } } } } }`;
  const variables = { from: { version: 1 } };
  const asked = await graphql(
    gateway.url,
    'query ($query: String!, $variables: JSONObject) { reportFile(query: $query, variables: $variables) { path(format: NDJSON) columns summary { all { lines } } } }',
    { provision: organization.apiProvision, variables: { query, variables } },
  );
  const { path, summary } = asked.body.data!.reportFile as { path: string; summary: unknown };
  expect(summary).toEqual({ all: { lines: 3 } });
  const { body } = await reader.get(path);
  expect(linesOf(body)).toEqual([
    '{"class":"ADDED","before":null,"after":{"amount":"10.50","designation":"General Fund"},"changed_columns":"","effect":{"transaction_amount":"10.50"}}',
  ]);
});

test('reportFile takes a state for a query that names none', async () => {
  const askFile = (query: string, asOf: string) =>
    ask(gateway, organization, `{ reportFile(query: ${JSON.stringify(query)}, asOf: ${asOf}) { path summary { all { lines } } } }`);
  const query = '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { amount } }';
  const { body } = await askFile(query, '{ version: 1 }');
  const { path, summary } = body.data!.reportFile as { path: string; summary: unknown };
  expect([path, summary]).toEqual([expect.stringContaining('as_of=1'), { all: { lines: 3 } }]);
  const refused = await askFile(query.replace('2024-12-31"', '2024-12-31", asOf: { version: 2 }'), '{ version: 1 }');
  expect(refused.body.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'asOf' } }]);
});

test('a user lists the files that they took, of which each tells its state, and nobody else’s', async () => {
  await file('csv', `${JANUARY}&from=1&to=2`);
  const cookie = await login(gateway.url, organization.webProvision);
  const session = { provision: organization.webProvision, cookie };
  await reader.get(`/export/deposit-details.csv?${JANUARY}&as_of=1`, { Provision: organization.webProvision, Cookie: cookie });
  const query = '{ receipts(first: 5) { totalCount nodes { kind username operation startDate dataVersion fileSha256 } } }';
  const { body } = await graphql(gateway.url, query, session);
  expect(body.data!.receipts).toEqual({
    totalCount: 1,
    nodes: [
      {
        ...{ kind: 'FILE', username: 'ada', operation: 'export/deposit-details.csv', startDate: '2024-01-01', dataVersion: 1 },
        fileSha256: expect.any(String) as string,
      },
    ],
  });
  const server = await graphql(gateway.url, query, { provision: organization.apiProvision });
  const { nodes } = server.body.data!.receipts as { nodes: { username: string | null }[] };
  expect(nodes.map(({ username }) => username)).toEqual([null, null, null, null, null]);
  const nobody = await graphql(gateway.url, query, { provision: organization.webProvision });
  expect(nobody.body.errors).toMatchObject([{ extensions: { code: 'NOT_LOGGED_IN' } }]);
});
