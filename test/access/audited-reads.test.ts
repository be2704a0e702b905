import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';
import { createSchema } from '../../src/graphql/schema';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import { readAudit, whileAuditIsHeld, type AuditRecord } from '../support/audit-reader';
import { succeed } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { createOrganization, graphql, importLines, login, PASSWORD, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();
const account = userInfo().username;
const RANGE = { startDate: '2024-01-01', endDate: '2024-12-31' };
const QUERY = 'start_date=2024-01-01&end_date=2024-12-31';
const PERIOD = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const V2 = 'deposit_detail_designation_detail_with_contact_info';

async function createAudited(): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, depositBook(20));
  await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
  await gateway.services.savedReports.save(
    organization.id,
    { name: 'year', updatedBy: 'ada', query: `{ depositDetails(${PERIOD}) { amount } }`, variables: {} },
    new SchemaReportDocuments(createSchema()),
  );
  return organization;
}

/** The entries that something adds to the audit. */
async function addedBy(organization: TestOrganization, act: () => Promise<unknown>): Promise<AuditRecord[]> {
  const before = (await readAudit(gateway, organization)).length;
  await act();
  return (await readAudit(gateway, organization)).slice(before);
}

const get = async ({ apiProvision }: TestOrganization, path: string): Promise<void> => {
  const response = await fetch(gateway.url + path, { headers: { Provision: apiProvision } });
  expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
};
const ask =
  (query: string) =>
  async ({ apiProvision }: TestOrganization): Promise<void> => {
    expect((await graphql(gateway.url, query, { provision: apiProvision })).body.errors).toBeUndefined();
  };
const run =
  (...words: string[]) =>
  async ({ name }: TestOrganization): Promise<void> => {
    await succeed({ DATABASE_URL: gateway.database.url }, [...words, '--organization', name]);
  };

type Read = (organization: TestOrganization) => Promise<void>;
const LINES = `query Lines { depositDetails(${PERIOD}) { amount } }`;
const READS: readonly (readonly [string, Read, object])[] = [
  ['the v2 report', (of) => get(of, `/api/v2/${V2}?${QUERY}`), { door: 'v2', operation: V2, ...RANGE, pending: 'WITHOUT' }],
  [
    'streamed lines',
    ask(LINES),
    { door: 'graphql', operation: 'Lines', operationHash: createHash('sha256').update(LINES).digest('hex'), ...RANGE },
  ],
  [
    'a page of lines with conditions',
    ask(
      `query Page($name: String!) { depositDetailsConnection(${PERIOD}, first: 5, filter: { donorName: $name, amount: { min: "1.00" } }) { nodes { zip } } }`
        .replace('query Page($name: String!)', 'query Page')
        .replace('$name', '"a"'),
    ),
    { door: 'graphql', operation: 'Page', ...RANGE, conditions: ['amount.min', 'donorName'] },
  ],
  ['a donor', ask('{ donor(donorId: 1) { lastName } }'), { door: 'graphql', operation: '', conditions: ['donorId'] }],
  ['donors', ask('query All { donors(first: 2, search: "a") { nodes { city } } }'), { operation: 'All', conditions: ['search'] }],
  ['the donor of a gift', ask('query Giver { transactions(first: 2) { nodes { donor { email } } } }'), { operation: 'Giver' }],
  ['a memo', ask('query Memo { transactions(first: 2) { nodes { mainMemo } } }'), { operation: 'Memo' }],
  ["an allocation's memo", ask('query Note { allocations(first: 2) { nodes { memo } } }'), { operation: 'Note' }],
  [
    'gifts by a donor',
    ask('query ByDonor { transactions(first: 2, filter: { donorIds: [1] }) { nodes { amount } } }'),
    { operation: 'ByDonor', conditions: ['donorIds'] },
  ],
  [
    'totals by a donor',
    ask(`query Sum { depositSummary(${PERIOD}, filter: { donorIds: [1] }) { all { lines } } }`),
    { operation: 'Sum', ...RANGE, conditions: ['donorIds'] },
  ],
  ['a digest', ask(`query Digest { depositSummary(${PERIOD}) { digest } }`), { operation: 'Digest', ...RANGE }],
  ['the number of donors', ask(`query Count { depositSummary(${PERIOD}) { all { donors } } }`), { operation: 'Count', ...RANGE }],
  ['saved reports', ask('query Saved { savedReports { name } }'), { operation: 'Saved' }],
  ['the name of an imported file', ask('query Version { dataVersion { fileName } }'), { operation: 'Version' }],
  [
    'a file of lines',
    (of) => get(of, `/export/deposit-details.csv?${QUERY}&donor_name=a`),
    { kind: 'FILE', door: 'file', operation: 'export/deposit-details.csv', ...RANGE, conditions: ['donor_name'] },
  ],
  [
    'a file of totals',
    (of) => get(of, `/export/deposit-summary.json?${QUERY}`),
    { kind: 'FILE', operation: 'export/deposit-summary.json' },
  ],
  ['the file of a saved report', (of) => get(of, '/reports/year.ndjson'), { kind: 'FILE', operation: 'reports/year.ndjson', ...RANGE }],
  [
    'an export on the command line',
    run('export', '--start', '2024-01-01', '--end', '2024-12-31', '--format', 'json'),
    { kind: 'FILE', door: 'command', operation: 'export', username: account, ...RANGE, provision: null },
  ],
  [
    'saved reports on the command line',
    run('report', 'list'),
    { door: 'command', operation: 'report list', username: account, provision: null },
  ],
  ['the audit on the command line', run('audit', 'list'), { door: 'command', operation: 'audit list', username: account, provision: null }],
  ['versions on the command line', run('version', 'list'), { door: 'command', operation: 'version list', provision: null }],
];

describe('the audit', () => {
  let organization: TestOrganization;
  beforeAll(async () => {
    organization = await createAudited();
  });

  test.each(READS)('has the row of a caller who reads %s, and no other', async (_what, read, expected) => {
    const provision = organization.apiProvision.slice(0, 8);
    const caller = 'provision' in expected ? {} : { provision, username: null, address: expect.stringMatching(/127\.0\.0\.1$/) as unknown };
    const added = await addedBy(organization, () => read(organization));
    expect(added).toMatchObject([
      {
        kind: 'READ',
        ...caller,
        ...Object.fromEntries(
          Object.entries(expected).map(([name, value]: [string, unknown]) => [name, name === 'door' ? String(value).toUpperCase() : value]),
        ),
      },
    ]);
  });

  test.each([
    ['deposits', 'query { deposits(first: 2) { nodes { depositId transactions(first: 2) { nodes { amount } } } } }'],
    ['totals', `query { depositSummary(${PERIOD}) { all { lines transactions } } }`],
    ['data versions', 'query { dataVersions { nodes { number lines } } }'],
    ['the schema', 'query { __schema { queryType { name } } }'],
    ['itself', 'query { viewer { username } provision { kind } }'],
  ])('has no row of a caller who reads %s', async (_what, query) => {
    expect(await addedBy(organization, () => ask(query)(organization))).toEqual([]);
  });

  test('has no row of a caller whose HEAD request takes nothing', async () => {
    const headers = { Provision: organization.apiProvision };
    const report = await fetch(`${gateway.url}/export/deposit-details.csv?${QUERY}`, { headers });
    await report.text();
    const receipt = `/export/receipts/${report.headers.get('x-export-id')}`;
    const rows = await addedBy(organization, async () => {
      for (const path of [`/api/v2/${V2}?${QUERY}`, `/export/deposit-details.csv?${QUERY}`, receipt, '/reports/year.csv']) {
        expect((await fetch(gateway.url + path, { method: 'HEAD', headers })).status).toBe(200);
      }
    });
    expect(rows).toEqual([]);
  });

  test.each([
    ['deposit-details.csv', '&totals=headers&donor_name=Lovelace', { conditions: ['donor_name'] }],
    ['deposit-summary.csv', '&donor_id=7', { conditions: ['donor_id'] }],
    ['deposit-summary.json', '', { conditions: [] }],
  ])('has the row of a caller whose HEAD request is told the totals of %s', async (file, query, expected) => {
    const path = `/export/${file}?${QUERY}${query}`;
    const rows = await addedBy(organization, async () => {
      const { headers } = await fetch(gateway.url + path, { method: 'HEAD', headers: { Provision: organization.apiProvision } });
      expect(headers.get('x-export-digest')).toMatch(/^[0-9a-f]{64}$/);
    });
    expect(rows).toMatchObject([{ kind: 'READ', door: 'FILE', operation: `export/${file}`, ...RANGE, ...expected }]);
  });

  test('has no row of a member without the report whose HEAD request is told the totals of a summary', async () => {
    const { name, webProvision } = organization;
    await gateway.services.users.create({ organization: name, username: 'bea', password: PASSWORD, grants: [] });
    const headers = { Provision: webProvision, Cookie: await login(gateway.url, webProvision, 'bea') };
    const rows = await addedBy(organization, async () => {
      const head = await fetch(`${gateway.url}/export/deposit-summary.csv?${QUERY}`, { method: 'HEAD', headers });
      expect([head.headers.get('x-export-lines'), head.headers.get('x-export-digest')]).toEqual([expect.stringMatching(/^\d+$/), null]);
    });
    expect(rows).toEqual([]);
  });

  test('has one row of a caller who asks for a receipt until it is whole, and none when the receipt has no digest', async () => {
    const { name, webProvision, apiProvision } = organization;
    await gateway.services.users.create({ organization: name, username: 'kay', password: PASSWORD, grants: [] });
    const kay = { Provision: webProvision, Cookie: await login(gateway.url, webProvision, 'kay') };
    const take = async (headers: Readonly<Record<string, string>>): Promise<string> => {
      const response = await fetch(`${gateway.url}/export/deposit-summary.csv?${QUERY}&designation_id=1`, { headers });
      expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
      return `/export/receipts/${response.headers.get('x-export-id')}`;
    };
    const digestAt = async (path: string, headers: Readonly<Record<string, string>>): Promise<unknown> => {
      const response = await fetch(gateway.url + path, { headers });
      expect(response.status).toBe(200);
      return ((await response.json()) as { digest: unknown }).digest;
    };
    const asServer = { Provision: apiProvision };
    const [path, ofKay] = [await take(asServer), await take(kay)];
    expect(await addedBy(organization, () => digestAt(ofKay, kay))).toEqual([]);
    const added = await addedBy(organization, async () => {
      await until(async () => typeof (await digestAt(path, asServer)) === 'string');
      await digestAt(path, asServer);
    });
    expect(added).toMatchObject([
      {
        ...{ kind: 'READ', door: 'FILE', operation: 'export/receipts', provision: apiProvision.slice(0, 8) },
        ...{ ...RANGE, conditions: ['designation_id'] },
      },
    ]);
    await expect(fetch(gateway.url + path.slice(0, -1), { headers: asServer })).resolves.toMatchObject({ status: 404 });
  });

  test('has a user by name, whatever the provision is', async () => {
    const cookie = await login(gateway.url, organization.webProvision);
    const added = await addedBy(organization, () => graphql(gateway.url, LINES, { provision: organization.webProvision, cookie }));
    expect(added).toMatchObject([{ username: 'ada', provision: organization.webProvision.slice(0, 8), operation: 'Lines' }]);
  });
});

test('a caller whose row cannot be written in time gets no personal data, and may try again', async () => {
  const { id, name, apiProvision: provision } = await createAudited();
  await withGateway({ DATABASE_URL: gateway.database.url, DATABASE_ANSWER_MILLISECONDS: '1000' }, async ({ url }) => {
    const read = (path: string): Promise<Response> => fetch(`${url}${path}?${QUERY}`, { headers: { Provision: provision } });
    await whileAuditIsHeld(gateway.database.url, { id }, async () => {
      const refused = await read(`/api/v2/${V2}`);
      expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
        500,
        '1',
        { errors: [{ error: 'No connection to data source', status: 500 }] },
      ]);
      const { status, body } = await graphql(url, '{ donors(first: 1) { nodes { lastName } } }', { provision });
      expect([status, body.data, body.errors?.map(({ extensions }) => extensions.code)]).toEqual([
        503,
        undefined,
        ['NO_DATA_SOURCE_CONNECTION'],
      ]);
      expect((await read('/export/deposit-details.csv')).status).toBe(500);
      // Nothing of it is personal.
      expect((await graphql(url, '{ deposits(first: 1) { nodes { depositId } } }', { provision })).status).toBe(200);
    });
    await until(async () => (await read(`/api/v2/${V2}`)).status === 200);
  });
  await succeed({ DATABASE_URL: gateway.database.url }, ['audit', 'verify', '--organization', name]);
});
