import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALERTS, findRuleFaults, METRIC_NAMES, runPromtool } from '../support/alert-rules';
import { succeed } from '../support/command';
import { toNdjson } from '../support/deposit-files';
import { readDocument, ROOT, sectionOf, tableOf } from '../support/documents';
import { createOrganization, graphql, importLines, v2Line, withGateway, type RunningGateway } from '../support/gateway';
import { SERVING_ROLE } from '../support/database';
import { openGateway } from '../support/open-gateway';
import { MAIL_SETTINGS, saveGiftsReport, saveSchedule } from '../support/scheduled-mails';
import { readScrape, type Sample } from '../support/scrape-reader';
import { until } from '../support/until';

/** A gateway has metrics of replicas when its settings name one, even one that is away. */
const REPLICA = 'postgresql://nobody:nothing@127.0.0.1:1/none';
const gateway = openGateway({ lines: [v2Line()], settings: { ADMIN_PORT: '0', DATABASE_REPLICA_URLS: REPLICA, ...MAIL_SETTINGS } });
const DASHBOARD = join(ROOT, 'docs/monitoring/dashboard.json');
const readFile = (name: string): string => readFileSync(name, 'utf8');

/** The names of all samples, once every metric has one. */
async function scrapedNames(): Promise<Set<string>> {
  const { url, adminUrl, organization } = gateway;
  const { apiProvision: provision } = organization;
  await graphql(url, '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { amount } }', { provision });
  const names = async () => new Set((await readScrape(adminUrl)).map(({ name }) => name));
  await fetch(`${url}/api/v2/authenticated_test_system`, { headers: { Provision: provision } });
  const late = [
    'gateway_import_failures_total',
    'gateway_sync_failures_total',
    'gateway_webhooks',
    'gateway_schedules',
    'gateway_lines_total',
    'gateway_v2_last_use_timestamp_seconds',
  ];
  await until(async () => {
    const found = await names();
    return late.every((name) => found.has(name));
  });
  return names();
}

describe('an operator who sets up Prometheus and Grafana', () => {
  beforeAll(async () => {
    const words = ['import', '-', '--format', 'ndjson', '--organization', gateway.organization.name];
    await succeed({ DATABASE_URL: gateway.database.url }, words, toNdjson([v2Line()]));
    // A gateway answers v2, so that it can be the old service of its own books.
    const sync = ['sync', '--organization', gateway.organization.name, '--from', gateway.url, '--since', '2024-01-01'];
    await succeed({ DATABASE_URL: gateway.database.url, SOURCE_PROVISION: gateway.organization.apiProvision }, sync);
    const { organization, services } = gateway;
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    await services.webhooks.create({ organization: organization.name, url: 'https://books.example.org/hook', secret });
    await services.users.setEmail(organization.name, 'ada', 'ada@example.org');
    await saveGiftsReport(services, organization);
    await saveSchedule(services, organization);
  });

  test('finds every metric of the dashboard and of the alerts in a scrape', async () => {
    const names = await scrapedNames();
    for (const file of [DASHBOARD, ALERTS]) {
      const used = new Set(readFile(file).match(METRIC_NAMES));
      expect(used.size).toBeGreaterThan(8);
      expect([...used].filter((name) => !names.has(name))).toEqual([]);
    }
  });

  test('finds every metric of the gateway in the documents and on the dashboard, and no other', async () => {
    const ends = /_(bucket|sum|count)$/;
    const scraped = [...(await scrapedNames())].filter((name) => name.startsWith('gateway_')).map((name) => name.replace(ends, ''));
    const expected = [...new Set(scraped)].sort();
    const documented = tableOf(sectionOf(readDocument('docs/operators.md'), 'Metrics, alerts and traces'), 'metric');
    expect(documented.map(([name]) => name).sort()).toEqual(expected);
    const shown = readFile(DASHBOARD)
      .match(METRIC_NAMES)!
      .map((name) => name.replace(ends, ''));
    expect(expected.filter((name) => !shown.includes(name))).toEqual([]);
  });

  test('has rules that Prometheus takes, where its tool is installed', async () => {
    const outcome = await runPromtool('check', 'rules', ALERTS);
    const rules = readFile(ALERTS).match(/- alert:/g)!.length;
    expect(outcome).toMatch(new RegExp(`^not installed$|SUCCESS: ${rules} rules found`));
    const configuration = await runPromtool('check', 'config', join(ROOT, 'docs/monitoring/prometheus.yml'));
    expect(configuration).toMatch(/^not installed$|is valid prometheus config file syntax/);
  });
});

/** Scrapes of a gateway that does nothing else. Before each fourth one, it has lost the connections that its pools had kept. */
async function scrapeIdle({ url, adminUrl, database: { client } }: RunningGateway, count: number): Promise<(readonly Sample[])[]> {
  const connections = `FROM pg_stat_activity WHERE datname = current_database() AND usename = '${SERVING_ROLE}'`;
  /**
   * Seconds pass between the scrapes of Prometheus, so that the statements which one begins are over before the next. The last one reads the
   * use of v2.
   */
  const untilRead = (since: string): Promise<void> =>
    until(
      async () =>
        (await client.query(`SELECT ${connections} AND state = 'idle' AND query LIKE '%v2_usage u%' AND query_start > $1`, [since]))
          .rowCount! > 0,
    );
  await untilRead('-infinity');
  const scrapes: (readonly Sample[])[] = [];
  for (let number = 0; number < count; number++) {
    if (number % 4 === 3) {
      await until(async () => (await client.query(`SELECT pg_terminate_backend(pid) ${connections}`)).rowCount === 0);
      await (await fetch(`${url}/live`)).text();
    }
    const { rows } = await client.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
    scrapes.push(await readScrape(adminUrl));
    await untilRead(rows[0]!.now);
  }
  return scrapes;
}

/** More than the `for` of the alerts about connections at 15 seconds. */
const SCRAPES = 24;

describe('an operator whose gateway is idle', () => {
  test('is called by no rule, from the start on, without an organization, with one, and during an import', async () => {
    await withGateway({ ADMIN_PORT: '0' }, async (idle) => {
      const startedAt = Date.now() / 1000;
      const scrapes = await scrapeIdle(idle, SCRAPES);
      const own = await createOrganization(idle.services);
      await importLines(idle.services, own, [v2Line()]);
      scrapes.push(...(await scrapeIdle(idle, SCRAPES)));
      const turn = `(hashtext('deposit-gateway import'), ${own.id})`;
      await idle.database.client.query(`SELECT pg_advisory_lock${turn}`);
      const importing = importLines(idle.services, own, [v2Line({ amount: '11.50', net_amount: '11.00' })]);
      scrapes.push(...(await scrapeIdle(idle, SCRAPES)));
      await idle.database.client.query(`SELECT pg_advisory_unlock${turn}`);
      await importing;
      const waiters = scrapes.flatMap((scrape) => scrape.filter(({ labels, value }) => labels.state === 'waiting' && value > 0));
      expect(waiters).toEqual([]);
      for (const seconds of [15, 60]) expect(await findRuleFaults(scrapes, { seconds, startedAt })).toBe('');
    });
  });

  test('is called by no rule when a request of an operator fails, beside which no caller asks for anything', async () => {
    const startedAt = Date.now() / 1000;
    const labels = { door: 'admin', operation: 'disableUser', code: 'NO_DATA_SOURCE_CONNECTION' };
    const live = { name: 'gateway_requests_total', labels: { door: 'v2', operation: '*', code: 'OK' }, value: 5 };
    const scrapes = Array.from({ length: SCRAPES }, (_, value) => [
      ...[{ name: 'gateway_requests_total', labels, value }, live, { name: 'gateway_ready', labels: {}, value: 1 }],
    ]);
    for (const seconds of [15, 60]) expect(await findRuleFaults(scrapes, { seconds, startedAt })).toBe('');
  });
});

describe('an operator whose nightly imports', () => {
  const DAY = 86_400;
  /** A scrape of two organizations, of which one has never imported and one has tried to import at these times. */
  const scrapeOf = (attempt: number, success: number): readonly Sample[] => [
    { name: 'gateway_ready', labels: {}, value: 1 },
    { name: 'gateway_data_version_timestamp_seconds', labels: { organization: '1' }, value: 0 },
    { name: 'gateway_import_last_attempt_timestamp_seconds', labels: { organization: '2' }, value: attempt },
    { name: 'gateway_import_last_success_timestamp_seconds', labels: { organization: '2' }, value: success },
  ];
  const hours = (count: number): number[] => Array.from({ length: count }, (_, hour) => hour * 3600);

  test('change nothing is called by no rule', async () => {
    const scrapes = hours(80).map((at) => scrapeOf(at - (at % DAY), at - (at % DAY) + 9));
    expect(await findRuleFaults(scrapes, { seconds: 3600, startedAt: 0 })).toBe('');
  });

  test('no longer run is called on the fourth day, and nobody for the organization that never imports', async () => {
    const scrapes = hours(74).map(() => scrapeOf(0, 9));
    const expected = {
      GatewayImportsMissed: { organization: '2', summary: 'No import of organization 2 was tried for three days' },
    };
    expect(await findRuleFaults(scrapes, { seconds: 3600, startedAt: 0, expected })).toBe('');
  });

  test('follow an old service that fails is called after two hours', async () => {
    const scrapes = hours(4).map((): readonly Sample[] => [
      { name: 'gateway_ready', labels: {}, value: 1 },
      { name: 'gateway_sync_last_success_timestamp_seconds', labels: { organization: '2' }, value: 0 },
    ]);
    const summary = 'The books of organization 2 have not followed the old service for two hours: `sync status` has the reason';
    expect(
      await findRuleFaults(scrapes, { seconds: 3600, startedAt: 0, expected: { GatewaySyncLags: { organization: '2', summary } } }),
    ).toBe('');
    expect(await findRuleFaults(scrapes.slice(0, 2), { seconds: 3600, startedAt: 0 })).toBe('');
  });

  test('follow an old service whose history cannot be read is called after a day', async () => {
    const scrapes = Array.from({ length: 1441 }, (): readonly Sample[] => [
      { name: 'gateway_ready', labels: {}, value: 1 },
      { name: 'gateway_sync_history_failing', labels: { organization: '2' }, value: 1 },
      { name: 'gateway_sync_history_failing', labels: { organization: '3' }, value: 0 },
    ]);
    const summary = 'The whole history of the old service cannot be read for organization 2: `sync status` has the reason';
    const expected = { GatewaySyncHistoryFails: { organization: '2', summary } };
    expect(await findRuleFaults(scrapes, { seconds: 60, startedAt: 0, expected })).toBe('');
    expect(await findRuleFaults(scrapes.slice(0, 1400), { seconds: 60, startedAt: 0 })).toBe('');
  });

  test('never get to the end of the first reading of an old service is called after two hours', async () => {
    const scrapes = Array.from({ length: 121 }, (_none, minute) => minute * 60).map((at): readonly Sample[] => [
      { name: 'gateway_ready', labels: {}, value: 1 },
      { name: 'gateway_sync_failures_total', labels: { organization: '2' }, value: 1 },
      { name: 'gateway_sync_failures_total', labels: { organization: '3' }, value: 4 },
      { name: 'gateway_sync_last_success_timestamp_seconds', labels: { organization: '3' }, value: at },
    ]);
    const summary = 'The first reading of the old service for organization 2 fails: `sync status` has the reason';
    const expected = { GatewaySyncNeverEnds: { organization: '2', summary } };
    expect(await findRuleFaults(scrapes, { seconds: 60, startedAt: 0, expected })).toBe('');
    expect(await findRuleFaults(scrapes.slice(0, 100), { seconds: 60, startedAt: 0 })).toBe('');
  });

  test('fail, or are killed, is called after an hour', async () => {
    const summary = 'The last import of organization 2 has failed or was killed, and none has succeeded since';
    const minutes = Array.from({ length: 61 }, () => scrapeOf(20, 9));
    const expected = { GatewayImportFails: { organization: '2', summary } };
    expect(await findRuleFaults(minutes, { seconds: 60, startedAt: 0, expected })).toBe('');
    const again = [...minutes.slice(1), scrapeOf(3590, 3599)];
    expect(await findRuleFaults(again, { seconds: 60, startedAt: 0 })).toBe('');
  });
});
