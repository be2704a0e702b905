import { randomUUID } from 'node:crypto';
import { ConfigError, readConfig } from '../../src/config';
import { done, failed, misused, runCommand, succeed } from '../support/command';
import { createOrganization, graphql, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';
import { startWorkerGateway } from '../support/worker-gateway';

const ORIGIN = 'https://app.example.org';
const SETTINGS = {
  V2_DEPRECATED_AT: '2027-01-31',
  V2_SUNSET_AT: '2027-12-31T17:00:00+01:00',
  V2_MIGRATION_LINK: 'https://example.org/leave v2?a=<b>',
};
const gateway = openGateway({ settings: { ...SETTINGS, CORS_ORIGINS: ORIGIN }, lines: [v2Line()] });
const { organization } = gateway;
const SYSTEM = '/api/v2/authenticated_test_system';
const SESSION = '/api/v2/authenticated_test_session';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=2024-12-31';
const TOLD = {
  deprecation: '@1801353600',
  sunset: 'Fri, 31 Dec 2027 16:00:00 GMT',
  link: '<https://example.org/leave%20v2?a=%3Cb%3E>; rel="deprecation"; type="text/html"',
};
const NOTHING = { deprecation: null, sunset: null, link: null };

const noticeOf = ({ headers }: { readonly headers: Headers }) => ({
  deprecation: headers.get('deprecation'),
  sunset: headers.get('sunset'),
  link: headers.get('link'),
});
const get = (path: string, provision: string | undefined, headers: Readonly<Record<string, string>> = {}, url = gateway.url) =>
  fetch(url + path, { headers: { ...(provision !== undefined && { Provision: provision }), ...headers } });
/** The status of an answer and what it tells of the end of v2. */
const told = async (...request: Parameters<typeof get>) => {
  const response = await get(...request);
  await response.arrayBuffer();
  return [response.status, noticeOf(response)];
};
const run = (...words: string[]) => runCommand({ DATABASE_URL: gateway.database.url }, words);
const faultOf = (settings: Readonly<Record<string, string>>): string => {
  try {
    readConfig(settings);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
};

describe('an integrator', () => {
  test('is told of no end of v2 unless an operator has set one', async () => {
    await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
      expect(await told(SYSTEM, organization.apiProvision, {}, url)).toEqual([200, NOTHING]);
      expect(await told(REPORT, organization.apiProvision, {}, url)).toEqual([200, NOTHING]);
    });
  });

  test('is told when v2 ends on every v2 answer to a known provision, on 304 and errors too', async () => {
    const { apiProvision, webProvision } = organization;
    expect(await told(SYSTEM, apiProvision)).toEqual([200, TOLD]);
    expect(await told(REPORT, apiProvision)).toEqual([200, TOLD]);
    const tag = (await get(REPORT, apiProvision)).headers.get('etag')!;
    expect(await told(REPORT, apiProvision, { 'If-None-Match': tag })).toEqual([304, TOLD]);
    expect(await told(SESSION, webProvision)).toEqual([422, TOLD]);
    expect(await told(REPORT.replace('2024-12-31', 'never'), apiProvision)).toEqual([422, TOLD]);
  });

  test('is told nothing before the provision is known, by GraphQL, or in a file', async () => {
    const { apiProvision } = organization;
    expect(await told(SYSTEM, undefined)).toEqual([422, NOTHING]);
    expect(await told(SYSTEM, randomUUID())).toEqual([422, NOTHING]);
    expect(noticeOf(await graphql(gateway.url, '{ authenticatedTestSystem { message } }', { provision: apiProvision }))).toEqual(NOTHING);
    expect(await told('/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31', apiProvision)).toEqual([200, NOTHING]);
  });

  test('gets the same bytes with and without an end', async () => {
    await withGateway({ DATABASE_URL: gateway.database.url }, async ({ url }) => {
      for (const path of [SYSTEM, SESSION, REPORT]) {
        const bodies = [gateway.url, url].map(async (each) => (await get(path, organization.apiProvision, {}, each)).text());
        const [one, other] = await Promise.all(bodies);
        expect(one).toBe(other);
      }
    });
  });

  test('on another origin may read the headers', async () => {
    const response = await get(SYSTEM, organization.webProvision, { Origin: ORIGIN });
    const exposed = response.headers.get('access-control-expose-headers')!.split(',');
    expect(exposed).toEqual(expect.arrayContaining(['Deprecation', 'Sunset', 'Link']));
  });

  test('is told by the workers of a gateway', async () => {
    const borrowed = { ...gateway.database, drop: async () => undefined };
    const workers = await startWorkerGateway({ ...SETTINGS, DATABASE_URL: gateway.database.url }, { given: borrowed });
    expect(await told(SYSTEM, workers.organization.apiProvision, {}, workers.url)).toEqual([200, TOLD]);
    expect(await workers.stop()).toBe(0);
  });
});

describe('an operator of an organization', () => {
  const create = (): Promise<TestOrganization> => createOrganization(gateway.services);

  test('gives it an end of its own, part by part, and takes it back, from the next request on', async () => {
    const own = await create();
    await importLines(gateway.services, own, [v2Line()]);
    const { name, apiProvision } = own;
    const says = (text: string) => done(`Stored for the end of v2 of "${name}": ${text}`);
    expect(await run('organization', 'v2', name)).toEqual(says('as the settings say'));
    expect(await run('organization', 'v2', name, '--sunset-at', '2028-06-30')).toEqual(says('sunset at 2028-06-30T00:00:00.000Z'));
    expect(await told(SYSTEM, apiProvision)).toEqual([200, { ...TOLD, sunset: 'Fri, 30 Jun 2028 00:00:00 GMT' }]);
    const link = 'https://hope.example.org/';
    expect(await run('organization', 'v2', name, '--deprecated-at', '2026-01-31T17:00Z', '--link', 'https://hope.example.org')).toEqual(
      says(`deprecated at 2026-01-31T17:00:00.000Z, sunset at 2028-06-30T00:00:00.000Z, link ${link}`),
    );
    const all = { deprecation: '@1769878800', sunset: 'Fri, 30 Jun 2028 00:00:00 GMT' };
    expect(await told(REPORT, apiProvision)).toEqual([200, { ...all, link: `<${link}>; rel="deprecation"; type="text/html"` }]);
    expect(await told(SYSTEM, organization.apiProvision)).toEqual([200, TOLD]);
    const shown = JSON.parse(await succeed({ DATABASE_URL: gateway.database.url }, ['organization', 'v2', name, '--json'])) as object;
    expect(shown).toEqual({ name, deprecatedAt: '2026-01-31T17:00:00.000Z', sunsetAt: '2028-06-30T00:00:00.000Z', link });
    expect(await run('organization', 'v2', name, '--none')).toEqual(says('as the settings say'));
    expect(await told(SYSTEM, apiProvision)).toEqual([200, TOLD]);
  });

  test('is refused a sunset before the deprecation, and what is no time or page', async () => {
    const { name, apiProvision } = await create();
    const wrong = (...options: string[]) => run('organization', 'v2', name, ...options);
    expect(await wrong('--deprecated-at', '2027-02-01', '--sunset-at', '2027-01-31')).toEqual(
      failed('v2 cannot end at 2027-01-31T00:00:00.000Z, before it is deprecated at 2027-02-01T00:00:00.000Z'),
    );
    expect(await wrong('--sunset-at', '2027-02-30')).toEqual(
      failed('"2027-02-30" is no time: expected a date such as 2027-01-31 (its first moment in UTC) or a time such as 2027-01-31T17:00Z'),
    );
    expect(await wrong('--link', 'javascript:alert(1)')).toEqual(
      failed('"javascript:alert(1)" is no address of a page, such as https://example.org/leave-v2'),
    );
    expect(await wrong('--none', '--link', 'https://example.org')).toEqual(
      misused('--none cannot be used with --deprecated-at, --sunset-at or --link'),
    );
    expect(await run('organization', 'v2', 'Nobody')).toEqual(failed('There is no organization "Nobody"'));
    expect(await told(SYSTEM, apiProvision)).toEqual([200, TOLD]);
  });

  test('has no sunset told that comes before the deprecation of the settings', async () => {
    const { name, apiProvision } = await create();
    await run('organization', 'v2', name, '--sunset-at', '2026-12-31');
    expect(await told(SYSTEM, apiProvision)).toEqual([200, { ...TOLD, sunset: null }]);
  });

  test('changes one part while another one changes, and both stay', async () => {
    const { id, name } = await create();
    const { client } = gateway.database;
    await client.query('BEGIN');
    await client.query(`UPDATE organization SET v2_migration_link = 'https://hope.example.org/' WHERE id = $1`, [id]);
    const changed = run('organization', 'v2', name, '--sunset-at', '2028-06-30');
    await until(async () => (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 1);
    await client.query('COMMIT');
    const both = done(`Stored for the end of v2 of "${name}": sunset at 2028-06-30T00:00:00.000Z, link https://hope.example.org/`);
    expect([await changed, await run('organization', 'v2', name)]).toEqual([both, both]);
  });

  test('finds every change in the audit', async () => {
    const { id, name } = await create();
    await run('organization', 'v2', name, '--deprecated-at', '2027-01-31');
    await run('organization', 'v2', name, '--none');
    const { rows } = await gateway.database.client.query<{ detail: string }>(
      `SELECT detail FROM audit_record WHERE organization_id = $1 AND operation = 'organization v2' ORDER BY number DESC LIMIT 2`,
      [id],
    );
    expect(rows.map(({ detail }) => detail)).toEqual(['as the settings say', 'deprecated at 2027-01-31T00:00:00.000Z']);
  });

  test("sets it at the operators' door", async () => {
    const own = await create();
    const token = 'an-operators-token-of-enough-length';
    await withGateway({ DATABASE_URL: gateway.database.url, ADMIN_PORT: '0', ADMIN_TOKEN: token }, async ({ adminUrl, url }) => {
      const query = `mutation ($organization: String!) {
        setV2Notice(organization: $organization, deprecatedAt: "2027-01-31") { v2DeprecatedAt v2SunsetAt v2MigrationLink } }`;
      const response = await fetch(`${adminUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables: { organization: own.name } }),
      });
      const expected = { v2DeprecatedAt: '2027-01-31T00:00:00.000Z', v2SunsetAt: null, v2MigrationLink: null };
      expect(await response.json()).toEqual({ data: { setV2Notice: expected } });
      expect(await told(SYSTEM, own.apiProvision, {}, url)).toEqual([200, { ...NOTHING, deprecation: '@1801353600' }]);
    });
  });
});

describe('an operator who sets the end of v2', () => {
  const FORMS = 'expected a date such as 2027-01-31 (its first moment in UTC) or a time such as 2027-01-31T17:00Z';

  test.each([
    [{ V2_DEPRECATED_AT: 'soon' }, `V2_DEPRECATED_AT: ${FORMS}, got "soon"`],
    [{ V2_SUNSET_AT: '2027-02-30' }, `V2_SUNSET_AT: ${FORMS}, got "2027-02-30"`],
    [{ V2_SUNSET_AT: '2027-01-31T17:00' }, `V2_SUNSET_AT: ${FORMS}, got "2027-01-31T17:00"`],
    [{ V2_MIGRATION_LINK: 'leave' }, 'V2_MIGRATION_LINK: expected a URL like https://example.org/leave-v2, got "leave"'],
    [{ V2_DEPRECATED_AT: '2027-02-01', V2_SUNSET_AT: '2027-01-31' }, 'V2_SUNSET_AT: expected a time that is not before V2_DEPRECATED_AT'],
    [{ V2_DEPRECATED_AT: '2027-01-31', V2_SUNSET_AT: '2027-01-31T00:00Z' }, ''],
    [{ V2_SUNSET_AT: '2027-01-31' }, ''],
  ] as const)('by %j is told what is wrong', (settings, fault) => {
    expect(faultOf(settings)).toBe(fault);
  });
});
