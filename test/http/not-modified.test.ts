import { createHash } from 'node:crypto';
import { RENDERING } from '../../src/rows/row-stream';
import { depositBook } from '../support/deposit-book';
import { startDatabaseProxy } from '../support/database-proxy';
import { createOrganization, graphql, importLines, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway({ countsStatements: true, lines: depositBook(60), loggedIn: true });
const { organization } = gateway;
const RANGE = 'start_date=2024-01-01&end_date=2024-12-31';
const V2 = `/api/v2/deposit_detail_designation_detail_with_contact_info?${RANGE}`;
/** Addresses whose answers all have different bytes. */
const ADDRESSES = [
  V2,
  `${V2}&include_pending=true`,
  V2.replace('2024-12-31', '2024-12-30'),
  `/export/deposit-details.csv?${RANGE}`,
  `/export/deposit-details.csv?${RANGE}&bom=true`,
  `/export/deposit-details.csv?${RANGE}&columns=amount,designation`,
  `/export/deposit-details.csv?${RANGE}&columns=designation,amount`,
  `/export/deposit-details.ndjson?${RANGE}`,
  `/export/deposit-details.ndjson?${RANGE}&donor_id=1`,
  `/export/deposit-summary.csv?${RANGE}`,
  `/export/deposit-summary.csv?${RANGE}&group_by=MONTH`,
  `/export/deposit-summary.json?${RANGE}&group_by=MONTH`,
  '/reports/big.csv?startDate=2024-02-01',
  '/reports/big.json?startDate=2024-03-01',
];
const SAVED = `mutation { saveReport(input: { name: "big", variables: { startDate: "2024-01-01" }, query: "query ($startDate: LocalDate!) { depositDetails(startDate: $startDate, endDate: \\"2024-12-31\\") { amount } }" }) { report { name } } }`;
beforeAll(async () => {
  const { body } = await graphql(gateway.url, SAVED, { provision: organization.webProvision, cookie: gateway.cookie });
  expect(body).toEqual({ data: { saveReport: { report: { name: 'big' } } } });
});

/** Sends a request as HTTP/1.1 clients that keep copies do: without an encoding unless one is named. */
async function get(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  { url = gateway.url, method = 'GET', provision = organization.apiProvision } = {},
) {
  const response = await fetch(url + path, { method, headers: { Provision: provision, 'Accept-Encoding': 'identity', ...headers } });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, tag: response.headers.get('etag')!, headers: response.headers, body };
}

test('a caller who has an answer already is told so, on every door, without a line being read', async () => {
  const proxy = await startDatabaseProxy(gateway.database.url);
  await withGateway({ DATABASE_URL: proxy.url }, async ({ url }) => {
    for (const path of ADDRESSES) {
      const { status, tag } = await get(path);
      expect([status, tag]).toEqual([200, expect.stringMatching(/^"[\w-]{24}"$/)]);
      const before = proxy.statements();
      const again = await get(path, { 'If-None-Match': tag }, { url });
      expect([again.status, again.tag, again.body.length, again.headers.get('x-data-version')]).toEqual([304, tag, 0, '1']);
      expect(again.headers.get('cache-control')).toBe('no-store');
      // The access, and the saved report.
      expect(proxy.statements() - before).toBe(path.startsWith('/reports/') ? 2 : 1);
    }
  });
  await proxy.close();
});

test('a tag stands for the bytes of one answer', async () => {
  const tags = await Promise.all(ADDRESSES.map(async (path) => (await get(path)).tag));
  expect(new Set(tags).size).toBe(ADDRESSES.length);
  const other = await createOrganization(gateway.services);
  await importLines(gateway.services, other, depositBook(60));
  expect((await get(V2, {}, { provision: other.apiProvision })).tag).not.toBe(tags[0]);
  // A member who may not read donors gets other figures.
  const summary = `/export/deposit-summary.csv?${RANGE}`;
  await gateway.services.users.create({
    organization: organization.name,
    username: 'kay',
    password: 'correct horse',
    grants: [],
  });
  const provision = await gateway.services.provisions.create({
    organization: organization.name,
    kind: 'API',
    label: '',
    grants: [],
  });
  const [all, some] = [await get(summary), await get(summary, {}, { provision })];
  expect(all.body.equals(some.body)).toBe(false);
  expect(all.tag).not.toBe(some.tag);
});

test('the same lines have the same bytes, or the rendering has another number', async () => {
  const own = await createOrganization(gateway.services);
  await importLines(gateway.services, own, [
    v2Line({ donor_first_name: '"Åda"\\\n', donor_last_name: '=1+1', main_memo: '\u0001\t\u2028,;\u{1f33b}', designation_memo: '' }),
    v2Line({ donor_id: 8, allocation_id: '2', transaction_id: '2', amount: '-0.01', fee_amount: '0.00', net_amount: '-0.01' }),
  ]);
  const digest = createHash('sha256');
  for (const path of ADDRESSES.filter((each) => !each.startsWith('/reports/'))) {
    const { status, body } = await get(path, {}, { provision: own.apiProvision });
    digest.update(`${status} ${body.toString()}`);
  }
  // A change of the bytes needs another RENDERING, and both are written here anew.
  expect([RENDERING, digest.digest('hex')]).toEqual([2, 'd18609e759c80a2bfc18e56a04c59443fd56f1f1fc945d39aa7799910d64fe95']);
});

test('a file has the same tag wherever its totals are', async () => {
  const path = `/export/deposit-details.csv?${RANGE}`;
  const tags = await Promise.all(['', '&totals=headers', '&totals=skip'].map(async (query) => (await get(path + query)).tag));
  expect(tags).toEqual(Array(3).fill(tags[0]));
  for (const query of ['', '&totals=headers', '&totals=skip']) {
    expect((await get(path + query, { 'If-None-Match': tags[0]! })).status).toBe(304);
  }
});

test.each([
  ['a list of tags', (tag: string) => `"other", ${tag}`, 304],
  ['a weak form of the tag', (tag: string) => `W/${tag}`, 304],
  ['any tag', () => '*', 304],
  ['another tag', () => '"other"', 200],
  ['a part of the tag', (tag: string) => tag.slice(0, -2), 200],
  ['nothing', () => '', 200],
])('a caller who names %s is answered by RFC 9110', async (_what, toHeader, status) => {
  const { tag } = await get(V2);
  for (const method of ['GET', 'HEAD']) expect((await get(V2, { 'If-None-Match': toHeader(tag) }, { method })).status).toBe(status);
});

test('a compressed answer has a tag of its own, which is known too', async () => {
  const plain = await get(V2);
  const response = await fetch(gateway.url + V2, { headers: { Provision: organization.apiProvision, 'Accept-Encoding': 'br' } });
  const tag = response.headers.get('etag')!;
  await response.arrayBuffer();
  expect([response.headers.get('content-encoding'), tag]).toEqual(['br', plain.tag.replace(/"$/, '-br"')]);
  for (const coding of ['br', 'identity']) {
    const again = await get(V2, { 'If-None-Match': tag, 'Accept-Encoding': coding });
    expect([again.status, again.tag]).toEqual([304, tag]);
  }
});

test('a caller without access is refused, whatever it has', async () => {
  const { tag } = await get(V2);
  const refused = await get(V2, { 'If-None-Match': tag }, { provision: organization.webProvision });
  expect([refused.status, refused.tag]).toEqual([422, null]);
  expect((await get(V2.replace('2024-12-31', 'x'), { 'If-None-Match': '*' })).status).toBe(422);
});

test('a file that its caller has leaves no audit entry, because nothing left', async () => {
  const path = `/export/deposit-details.csv?${RANGE}`;
  const { tag } = await get(path);
  const count = async () =>
    (await gateway.database.client.query("SELECT FROM audit_record WHERE kind = 'file' AND part = 'started'")).rowCount;
  const before = await count();
  expect((await get(path, { 'If-None-Match': tag })).status).toBe(304);
  expect(await count()).toBe(before);
});

test('a change of the books gives every answer another tag', async () => {
  const before = await Promise.all(ADDRESSES.map((path) => get(path)));
  await importLines(gateway.services, organization, [v2Line({ allocation_id: 'new', transaction_id: 'new', deposit_id: 'new' })]);
  for (const [index, path] of ADDRESSES.entries()) {
    const { status, tag } = await get(path, { 'If-None-Match': before[index]!.tag });
    expect([status, tag === before[index]!.tag]).toEqual([200, false]);
  }
});

test('a version that comes back with other books, as after a restore, gives another tag', async () => {
  const own = await createOrganization(gateway.services);
  await importLines(gateway.services, own, depositBook(10));
  const before = await get(V2, {}, { provision: own.apiProvision });
  const { client } = gateway.database;
  for (const table of ['deposit_line', 'data_version', 'allocation', 'transaction', 'deposit'])
    await client.query(`DELETE FROM ${table} WHERE organization_id = $1`, [own.id]);
  await importLines(gateway.services, own, depositBook(9));
  const after = await get(V2, { 'If-None-Match': before.tag }, { provision: own.apiProvision });
  expect([after.status, after.headers.get('x-data-version'), before.headers.get('x-data-version')]).toEqual([200, '1', '1']);
});
