import { startDatabaseProxy } from '../support/database-proxy';
import { createOrganization, graphql, importLines, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';
import { SERVING_ROLE } from '../support/database';
import { readScrape, valueOf, type Sample } from '../support/scrape-reader';

const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const YEAR = 'start_date=2024-01-01&end_date=2024-12-31';
const gateway = openGateway({ lines: [v2Line(), v2Line({ allocation_id: 'P101' })], loggedIn: true, settings: { ADMIN_PORT: '0' } });
const { organization } = gateway;
const UNKNOWN = '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11';

const get = async (path: string, provision = organization.apiProvision): Promise<number> => {
  const response = await fetch(gateway.url + path, { headers: { Provision: provision } });
  await response.arrayBuffer();
  return response.status;
};
const scrape = (): Promise<readonly Sample[]> => readScrape(gateway.adminUrl);
/** The value of a sample, once it is as expected. */
const untilValue = (value: number, name: string, labels: Record<string, string> = {}): Promise<void> =>
  until(async () => valueOf(await scrape(), name, labels) === value);

describe('an operator reads in the metrics', () => {
  test('the requests of each door by operation and code, with lines, bytes and times', async () => {
    for (const path of [`${REPORT}?${YEAR}`, `${REPORT}?${YEAR}`, `${REPORT}?start_date=x`]) await get(path);
    await get(`/export/deposit-details.csv?${YEAR}`);
    await untilValue(2, 'gateway_requests_total', { door: 'v2', operation: REPORT, code: 'OK' });
    await untilValue(1, 'gateway_requests_total', { door: 'v2', operation: REPORT, code: 'INVALID_PARAMETERS' });
    await untilValue(1, 'gateway_requests_total', { door: 'file', operation: '/export/deposit-details.csv', code: 'OK' });
    const samples = await scrape();
    expect([valueOf(samples, 'gateway_lines_total', { door: 'v2' }), valueOf(samples, 'gateway_lines_total', { door: 'file' })]).toEqual([
      4, 2,
    ]);
    expect(valueOf(samples, 'gateway_sent_bytes_total', { door: 'v2' })).toBeGreaterThan(2000);
    expect(valueOf(samples, 'gateway_request_duration_seconds_count', { door: 'v2' })).toBe(3);
    const seconds = valueOf(samples, 'gateway_operation_seconds_total', { door: 'v2', operation: REPORT });
    expect(seconds).toBeGreaterThan(0);
    expect(valueOf(samples, 'gateway_database_seconds_total', { door: 'v2' })).toBeGreaterThan(0);
    expect(valueOf(samples, 'gateway_database_seconds_total', { door: 'v2' })).toBeLessThanOrEqual(seconds!);
  });

  test('GraphQL by the field that is asked for, never by a name that callers make up, and its cost', async () => {
    for (let number = 0; number < 20; number++) {
      await graphql(gateway.url, `query Name${number} { viewer { username } }`, {
        provision: organization.webProvision,
        cookie: gateway.cookie,
      });
    }
    await untilValue(20, 'gateway_requests_total', { door: 'graphql', operation: 'viewer', code: 'OK' });
    expect(valueOf(await scrape(), 'gateway_cost_values_total', { operation: 'viewer' })).toBeGreaterThan(0);
    expect(JSON.stringify(await scrape())).not.toContain('Name1');
  });

  test('failed logins and unknown provisions', async () => {
    const mutation = 'mutation { login(input: { username: "ada", password: "wrong" }) { viewer { username } } }';
    await graphql(gateway.url, mutation, { provision: organization.webProvision });
    await untilValue(1, 'gateway_events_total', { event: 'login_failed' });
    expect(valueOf(await scrape(), 'gateway_events_total', { event: 'login' })).toBe(1);
    expect(await get(`${REPORT}?${YEAR}`, UNKNOWN)).toBe(422);
    await untilValue(1, 'gateway_provision_guesses_total', { outcome: 'unknown' });
    const line = () => gateway.logLines.find((each) => each.includes('"event":"login_failed"'));
    await until(() => line() !== undefined);
    expect(JSON.parse(line()!)).toMatchObject({
      organization: organization.id,
      provision: organization.webProvision.slice(0, 8),
      address: '127.0.0.1',
    });
  });

  test('the data version of each organization by its number, with its age and the imports', async () => {
    await withGateway({ ADMIN_PORT: '0' }, async ({ services, adminUrl }) => {
      const own = await createOrganization(services);
      for (const designation_memo of ['one', 'two']) await importLines(services, own, [v2Line({ designation_memo })]);
      const labels = { organization: `${own.id}` };
      await until(async () => valueOf(await readScrape(adminUrl), 'gateway_data_version', labels) === 2);
      const samples = await readScrape(adminUrl);
      expect(valueOf(samples, 'gateway_imports_total', labels)).toBe(2);
      const ageSeconds = Date.now() / 1000 - valueOf(samples, 'gateway_data_version_timestamp_seconds', labels)!;
      expect(ageSeconds).toBeGreaterThan(-5);
      expect(ageSeconds).toBeLessThan(600);
      expect(valueOf(samples, 'gateway_ready')).toBe(1);
    });
  });

  test('the queue, the pools, the audit and the process', async () => {
    const samples = await scrape();
    const names = new Set(samples.map(({ name }) => name));
    for (const name of [
      'gateway_report_lanes',
      'gateway_reports_waiting',
      'gateway_audit_rows_waiting',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(names).toContain(name);
    }
    expect(samples.filter(({ name }) => name === 'gateway_pool_connections').map(({ labels }) => `${labels.pool} ${labels.state}`)).toEqual(
      [...['short busy', 'short idle', 'short waiting', 'long busy', 'long idle', 'long waiting']],
    );
    expect(valueOf(samples, 'gateway_audit_rows_total', { outcome: 'written' })).toBeGreaterThan(0);
    expect(valueOf(samples, 'gateway_reports_turned_away_total', { reason: 'full' })).toBe(0);
  });
});

test('an operator reads metrics while the database is away', async () => {
  const proxy = await startDatabaseProxy(gateway.database.url);
  const short = { DATABASE_CONNECT_MILLISECONDS: '1000', DATABASE_ANSWER_MILLISECONDS: '1000' };
  await withGateway({ ...short, ADMIN_PORT: '0', DATABASE_URL: proxy.url }, async ({ adminUrl }) => {
    const version = async () => valueOf(await readScrape(adminUrl), 'gateway_data_version', { organization: `${organization.id}` });
    await until(async () => (await version()) === 1);
    await proxy.close();
    await until(async () => valueOf(await readScrape(adminUrl), 'gateway_ready') === 0);
    // The books have not changed.
    expect(await version()).toBe(1);
  });
});

test('an operator sees that readings are refused because the database takes no audit rows', async () => {
  await withGateway({ ADMIN_PORT: '0' }, async ({ url, adminUrl, services, database }) => {
    const { apiProvision } = await createOrganization(services);
    await database.client.query(`REVOKE INSERT ON audit_record FROM ${SERVING_ROLE}`);
    const answer = await fetch(`${url}${REPORT}?${YEAR}`, { headers: { Provision: apiProvision } });
    expect(answer.ok).toBe(false);
    expect(valueOf(await readScrape(adminUrl), 'gateway_audit_rows_total', { outcome: 'refused' })).toBe(1);
  });
});
