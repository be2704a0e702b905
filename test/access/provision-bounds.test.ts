import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { ProvisionBounds } from '../../src/data/access/provision-store';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { readAudit } from '../support/audit-reader';
import { graphql, login, PASSWORD, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const SYSTEM = '/api/v2/authenticated_test_system';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=2024-12-31';
const INVALID = [422, { errors: [{ error: 'Invalid provision', status: 422 }] }];
const CLOSED = 'this provision opens the files of its saved reports alone: lines, totals';
const LINES = 'query ($start: LocalDate!) { depositDetails(startDate: $start, endDate: "2024-12-31") { amount } }';
const SUMMARY = '{ depositSummary(startDate: "2024-01-01", endDate: "2024-12-31") { all { lines } } }';

const gateway = openGateway({ settings: { TRUST_PROXY: '127.0.0.1' }, lines: [v2Line()], loggedIn: true });
const { organization } = gateway;

const create = (bounds: Partial<ProvisionBounds>, kind: 'API' | 'WEB' = 'API'): Promise<string> =>
  gateway.services.provisions.create({
    ...{ organization: organization.name, kind, label: '', bounds },
    grants: kind === 'API' ? [REPORT_PRIVILEGE] : [],
  });

async function get(path: string, provision: string, headers: Readonly<Record<string, string>> = {}): Promise<[number, unknown]> {
  const response = await fetch(gateway.url + path, { headers: { Provision: provision, ...headers } });
  const text = await response.text();
  return [response.status, text.startsWith('{') ? (JSON.parse(text) as unknown) : text];
}
const granted = (provision: string) => [200, { data: { message: 'System request authenticated', provision } }];

describe('a provision', () => {
  test('is echoed as it was sent, in letters of any case', async () => {
    const upper = organization.apiProvision.toUpperCase();
    expect(await get(SYSTEM, upper)).toEqual(granted(upper));
  });

  test('is in no table of the database, and neither is what a login under it stores', async () => {
    const { client } = gateway.database;
    await get('/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31', organization.apiProvision);
    await login(gateway.url, organization.apiProvision);
    const { rows } = await client.query<{ table: string }>(
      `SELECT quote_ident(relname) AS table FROM pg_stat_user_tables WHERE schemaname = 'public'`,
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { table } of rows) {
      const dump = JSON.stringify((await client.query(`SELECT t::text FROM ${table} t`)).rows);
      for (const uuid of [organization.apiProvision, organization.webProvision]) {
        expect(dump).not.toContain(uuid);
        expect(dump).not.toContain(uuid.replaceAll('-', ''));
      }
    }
  });

  test('that expires is refused from that time on, with its sessions', async () => {
    const api = await create({ expiresAt: new Date(Date.now() + 3_600_000) });
    const web = await create({ expiresAt: new Date(Date.now() + 3_600_000) }, 'WEB');
    const Cookie = await login(gateway.url, web);
    expect(await get(SYSTEM, api)).toEqual(granted(api));
    expect(await get(REPORT, web, { Cookie })).toEqual([200, { response: [v2Line()] }]);
    await gateway.database.client.query('UPDATE provision SET expires_at = now() WHERE expires_at IS NOT NULL');
    expect(await get(SYSTEM, api)).toEqual(INVALID);
    expect(await get(REPORT, web, { Cookie })).toEqual(INVALID);
    const { body } = await graphql(gateway.url, '{ viewer { username } }', { provision: web, cookie: Cookie });
    expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['INVALID_PROVISION']);
  });

  test('that is rotated twice at once is good by one of the new UUIDs alone', async () => {
    const { provisions } = gateway.services;
    const provision = await create({});
    const holder = new Client({ connectionString: gateway.database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM provision WHERE organization_id = $1 FOR UPDATE', [organization.id]);
    const rotations = [provisions.rotate(provision, 0), provisions.rotate(provision, 0)];
    const areWaiting = until(async () => {
      const { rows } = await gateway.database.client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows[0]!.count === 2;
    });
    await areWaiting.finally(() => holder.end());
    const uuids = (await Promise.all(rotations)).map(({ uuid }) => uuid);
    const statuses = await Promise.all([provision, ...uuids].map(async (uuid) => (await get(SYSTEM, uuid))[0]));
    expect(statuses.toSorted()).toEqual([200, 422, 422]);
  });

  test('that is rotated is good by both of its UUIDs for a while, and its sessions stay', async () => {
    const { provisions } = gateway.services;
    const earlier = await create({}, 'WEB');
    const Cookie = await login(gateway.url, earlier);
    const { uuid } = await provisions.rotate(earlier, 3_600_000);
    expect(uuid).not.toBe(earlier);
    for (const provision of [earlier, uuid]) {
      expect(await get(SYSTEM, provision)).toEqual(granted(provision));
      expect(await get(REPORT, provision, { Cookie })).toEqual([200, { response: [v2Line()] }]);
    }
    await gateway.database.client.query('UPDATE provision_key SET expires_at = now() WHERE expires_at IS NOT NULL');
    expect(await get(SYSTEM, earlier)).toEqual(INVALID);
    expect(await get(REPORT, uuid, { Cookie })).toEqual([200, { response: [v2Line()] }]);
    const { uuid: last } = await provisions.rotate(uuid, 0);
    expect([await get(SYSTEM, uuid), await get(SYSTEM, last)]).toEqual([INVALID, granted(last)]);
  });
});

describe('an application whose provision has an end', () => {
  const END = new Date(Date.now() + 86_400_000);
  const TOLD = END.toISOString().replace(/\.\d+Z$/, 'Z');
  const endOf = async (path: string, provision: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) => {
    const { status, headers: told } = await fetch(gateway.url + path, { ...init, headers: { Provision: provision, ...headers } });
    return [status, told.get('provision-expires')];
  };
  const post = (query: string): RequestInit => ({ method: 'POST', body: JSON.stringify({ query }) });
  const JSON_BODY = { 'Content-Type': 'application/json' };

  test('is told of it on every door, by answers, by 304 and by errors of its own', async () => {
    const api = await create({ expiresAt: END });
    const web = await create({ expiresAt: END }, 'WEB');
    const { headers } = await fetch(gateway.url + REPORT, { headers: { Provision: api } });
    const FILE = '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31';
    expect([
      await endOf(SYSTEM, api),
      await endOf(REPORT, api),
      await endOf(REPORT, api, {}, { method: 'HEAD' }),
      await endOf(REPORT, api, { 'If-None-Match': headers.get('etag')! }),
      await endOf(FILE, api),
      await endOf('/schema.graphql', api),
      await endOf('/graphql', api, JSON_BODY, post(SUMMARY)),
      // The second and the third time an answer may be one that was kept.
      await endOf('/graphql', api, JSON_BODY, post(SUMMARY)),
      await endOf('/graphql', api, JSON_BODY, post(SUMMARY)),
      await endOf('/graphql', api, JSON_BODY, post('{')),
      await endOf('/graphql', api, {}, post(SUMMARY)),
      await endOf('/graphql', web, JSON_BODY, post('{ provision { kind } }')),
      await endOf(`${REPORT}x`, api),
      await endOf('/api/v2/authenticated_test_session', api),
      await endOf('/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=x', api),
      await endOf('/reports/missing.csv', api),
      await endOf(REPORT, web),
    ]).toEqual([
      ...[200, 200, 200, 304, 200, 200, 200, 200, 200, 400, 415, 200].map((status) => [status, TOLD]),
      ...[422, 422, 422, 404, 422].map((status) => [status, TOLD]),
    ]);
  });

  test('is told of the end of the UUID that it sent, the earlier one of both', async () => {
    const earlier = await create({});
    const { uuid } = await gateway.services.provisions.rotate(earlier, 3_600_000);
    const [, end] = await endOf(SYSTEM, earlier);
    expect(String(end)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await endOf(SYSTEM, uuid)).toEqual([200, null]);
    await gateway.services.provisions.expire(uuid, END);
    expect([await endOf(SYSTEM, earlier), await endOf(SYSTEM, uuid)]).toEqual([
      [200, end],
      [200, TOLD],
    ]);
    await gateway.services.provisions.expire(uuid, null);
    expect(await endOf(SYSTEM, uuid)).toEqual([200, null]);
  });

  test('is told by no answer to a caller who has not passed the checks, or has none', async () => {
    const ended = await create({ expiresAt: END });
    const away = await create({ expiresAt: END, addresses: ['198.51.100.0/24'] });
    const revoked = await create({ expiresAt: END });
    await gateway.services.provisions.revoke(revoked);
    await gateway.database.client.query(
      'UPDATE provision SET expires_at = now() WHERE id = (SELECT provision_id FROM provision_key WHERE first_characters = $1)',
      [ended.slice(0, 8)],
    );
    for (const provision of [ended, away, revoked, randomUUID(), '']) {
      expect(await endOf(SYSTEM, provision)).toEqual([422, null]);
      expect((await endOf('/graphql', provision, JSON_BODY, post(SUMMARY)))[1]).toBeNull();
    }
    expect(await endOf(SYSTEM, organization.apiProvision)).toEqual([200, null]);
    const host = { ...organization, apiProvision: await create({ expiresAt: END }) };
    expect([await endOf('/live', host.apiProvision), await endOf('/nothing', host.apiProvision)]).toEqual([
      [200, null],
      [404, null],
    ]);
    const query = `query ($query: String!) { reportFile(query: $query) { downloadUrl } }`;
    const variables = { query: LINES.replace('query ($start: LocalDate!) ', '').replace('$start', '"2024-01-01"') };
    const { body } = await graphql(gateway.url, query, { provision: host.apiProvision, variables });
    const { downloadUrl } = body.data!.reportFile as { downloadUrl: string };
    expect(await endOf(downloadUrl, '')).toEqual([200, null]);
  });
});

describe('a provision that is bound to networks', () => {
  test.each([
    ['198.51.100.7', true],
    ['198.51.100.255', true],
    ['198.51.101.7', false],
    ['::ffff:198.51.100.7', true],
    ['2001:db8:1::9', true],
    ['2001:db8:2::9', false],
    ['203.0.113.5', true],
    ['nonsense', false],
  ])('is good for a caller at %s: %s', async (address, isGood) => {
    const provision = await create({ addresses: ['198.51.100.0/24', '2001:db8:1::/48', '203.0.113.5'] });
    expect(await get(SYSTEM, provision, { 'X-Forwarded-For': address })).toEqual(isGood ? granted(provision) : INVALID);
  });

  test('is not good for a stranger who sends the header of a proxy', async () => {
    await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
      const provision = await create({ addresses: ['198.51.100.0/24'] });
      const ask = async (headers: Readonly<Record<string, string>>) =>
        (await fetch(url + SYSTEM, { headers: { Provision: provision, ...headers } })).json();
      for (const header of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Client-IP'])
        expect(await ask({ [header]: header === 'Forwarded' ? 'for=198.51.100.7' : '198.51.100.7' })).toEqual(INVALID[1]);
      await gateway.services.provisions.bindToAddresses(provision, ['127.0.0.0/8']);
      expect(await ask({})).toEqual(granted(provision)[1]);
    });
  });

  test('makes links that are good at its networks alone', async () => {
    const provision = await create({ addresses: ['127.0.0.1'] });
    const { body } = await graphql(
      gateway.url,
      `
        query ($query: String!) {
          reportFile(query: $query) {
            downloadUrl
          }
        }
      `,
      {
        ...{ provision, variables: { query: '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { amount } }' } },
      },
    );
    const { downloadUrl } = body.data!.reportFile as { downloadUrl: string };
    expect((await get(downloadUrl, ''))[0]).toBe(200);
    expect(await get(downloadUrl, '', { 'X-Forwarded-For': '198.51.100.7' })).toEqual(INVALID);
  });
});

test('a provision that is bound to the schema opens its file and nothing else, as a build needs it', async () => {
  const provision = await create({ reports: ['schema.graphql'] });
  const [status, schema] = await get('/schema.graphql', provision);
  expect([status, String(schema).includes('type Query {')]).toEqual([200, true]);
  const why = 'this provision opens the files of its saved reports alone: schema.graphql';
  const error = `Privilege to perform the action was not found: ${why}`;
  const period = 'start_date=2024-01-01&end_date=2024-12-31';
  for (const path of ['/reports/schema.graphql', '/reports/lines.csv', `/export/deposit-details.csv?${period}`])
    expect([path, (await get(path, provision))[0]]).toEqual([path, path === '/reports/schema.graphql' ? 404 : 422]);
  for (const path of [SYSTEM, REPORT]) expect((await get(path, provision))[0]).toBe(422);
  for (const query of ['{ __schema { queryType { name } } }', '{ deposits { totalCount } }', SUMMARY]) {
    const { body } = await graphql(gateway.url, query, { provision });
    expect(body.errors?.map(({ message }) => message)).toEqual([error]);
  }
});

describe('a provision that is bound to saved reports', () => {
  let provision: string;
  beforeAll(async () => {
    const save = (name: string, query: string, variables: object) =>
      graphql(gateway.url, 'mutation ($input: SaveReportInput!) { saveReport(input: $input) { replaced } }', {
        ...{ provision: organization.webProvision, cookie: gateway.cookie, variables: { input: { name, query, variables } } },
      });
    for (const { body } of [
      await save('lines', LINES, { start: '2024-01-01' }),
      await save('totals', SUMMARY, {}),
      await save('other', LINES, { start: '2024-01-01' }),
    ])
      expect(body.errors).toBeUndefined();
    provision = await create({ reports: ['lines', 'totals'] });
  });

  test('opens the files of those, in every format', async () => {
    expect(await get('/reports/lines.csv', provision)).toEqual([200, 'amount\r\n"10.50"\r\n']);
    expect(await get('/reports/lines.json', provision)).toEqual([200, { response: [{ amount: '10.50' }] }]);
    // The reader takes the byte order mark off.
    expect(await get('/reports/lines.csv?bom=true&totals=skip', provision)).toEqual([200, 'amount\r\n"10.50"\r\n']);
    expect((await get('/reports/totals.csv', provision))[0]).toBe(200);
  });

  test('opens them as they were saved, and not with other values', async () => {
    const fault = 'Invalid parameter(s): this provision opens the report with its saved values alone';
    expect(await get('/reports/lines.csv?start=2020-01-01', provision)).toEqual([422, { errors: [{ error: fault, status: 422 }] }]);
    expect((await get('/reports/lines.csv?start=2020-01-01', organization.apiProvision))[0]).toBe(200);
  });

  test.each([
    '/reports/other.csv',
    '/reports/missing.csv',
    '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31',
    '/export/deposit-summary.csv?start_date=2024-01-01&end_date=2024-12-31',
    `/export/receipts/${randomUUID()}`,
    '/schema.graphql',
  ])('is told why it does not open %s', async (path) => {
    const error = `Privilege to perform the action was not found: ${CLOSED}`;
    expect(await get(path, provision)).toEqual([422, { errors: [{ error, status: 422 }] }]);
  });

  test('opens no v2 path, with the text of the contract, and neither does a session under it', async () => {
    const refused = [422, { errors: [{ error: 'Privilege to perform the action was not found', status: 422 }] }];
    for (const path of [SYSTEM, REPORT, '/api/v2/authenticated_test_session']) expect(await get(path, provision)).toEqual(refused);
    const later = await create({});
    const Cookie = await login(gateway.url, later);
    await gateway.services.provisions.bindToReports(later, ['lines']);
    for (const path of [SYSTEM, REPORT, '/api/v2/authenticated_test_session']) expect(await get(path, later, { Cookie })).toEqual(refused);
  });

  test('leaves a row of each refusal, on every door', async () => {
    const { provisions } = gateway.services;
    await provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
    const bound = await create({ reports: ['lines'] });
    for (const path of [REPORT, '/reports/totals.csv', '/schema.graphql']) expect((await get(path, bound))[0]).toBe(422);
    await graphql(gateway.url, SUMMARY, { provision: bound });
    const refusals = await readAudit(gateway, organization, `{ kinds: [REFUSAL], provision: "${bound.slice(0, 8)}" }`);
    expect(refusals.map(({ door, operation, detail }) => [door, operation, detail])).toEqual([
      ['V2', REPORT_PRIVILEGE, 'PRIVILEGE_NOT_FOUND'],
      ['FILE', 'reports/:file', 'PRIVILEGE_NOT_FOUND'],
      ['GRAPHQL', 'schema.graphql', 'PRIVILEGE_NOT_FOUND'],
      ['GRAPHQL', '', 'PRIVILEGE_NOT_FOUND'],
    ]);
  });

  test('leaves no text of its own in those rows, and so a few rows however many paths it asks for', async () => {
    const { provisions, users } = gateway.services;
    await provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
    const refusals = async (of: string) =>
      (await readAudit(gateway, organization, `{ kinds: [REFUSAL], ${of} }`)).map(({ operation }) => operation);
    const bound = await create({ reports: ['lines'] });
    for (const _time of [1, 2, 3]) {
      for (const path of [`/reports/${randomUUID()}.csv`, `/export/receipts/${randomUUID()}`])
        expect((await get(path, bound))[0]).toBe(422);
    }
    expect(await refusals(`provision: "${bound.slice(0, 8)}"`)).toEqual(['reports/:file', 'export/receipts/:id']);
    // A name is told when there is a report of it.
    await users.create({ organization: organization.name, username: 'kay', password: PASSWORD, grants: [] });
    const Cookie = await login(gateway.url, organization.webProvision, 'kay');
    expect((await get('/reports/lines.csv', organization.webProvision, { Cookie }))[0]).toBe(422);
    expect(await refusals('username: "kay"')).toEqual(['reports/lines']);
  });

  test('is told why GraphQL answers nothing', async () => {
    for (const query of ['{ __typename }', '{ provision { kind } }', '{', SUMMARY]) {
      const { body } = await graphql(gateway.url, query, { provision });
      expect(body.errors).toMatchObject([
        { message: `Privilege to perform the action was not found: ${CLOSED}`, extensions: { code: 'PRIVILEGE_NOT_FOUND' } },
      ]);
      expect(body.data ?? null).toBeNull();
    }
  });
});
