import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readDocument, sectionOf, tableOf } from '../support/documents';
import { graphql, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { readScrape } from '../support/scrape-reader';
import { until } from '../support/until';

/** A gateway has metrics of replicas when its settings name one, even one that is away. */
const REPLICA = 'postgresql://nobody:nothing@127.0.0.1:1/none';
const gateway = openGateway({ lines: [v2Line()], settings: { ADMIN_PORT: '0', DATABASE_REPLICA_URLS: REPLICA } });
const ALERTS = 'docs/monitoring/alerts.yml';
const DASHBOARD = 'docs/monitoring/dashboard.json';
const readFile = (name: string): string => readFileSync(join(__dirname, '../..', name), 'utf8');
/** The names of metrics in queries. */
const NAMES = /\b(?:gateway|nodejs|process)_[a-z0-9_]+/g;

/** The names of all samples, once every metric has one. */
async function scrapedNames(): Promise<Set<string>> {
  const { url, adminUrl, organization } = gateway;
  const { apiProvision: provision } = organization;
  await graphql(url, '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { amount } }', { provision });
  const names = async () => new Set((await readScrape(adminUrl)).map(({ name }) => name));
  await until(async () => (await names()).has('gateway_imports_total') && (await names()).has('gateway_lines_total'));
  return names();
}

describe('an operator who sets up Prometheus and Grafana', () => {
  test('finds every metric of the dashboard and of the alerts in a scrape', async () => {
    const names = await scrapedNames();
    for (const file of [DASHBOARD, ALERTS]) {
      const used = new Set(readFile(file).match(NAMES));
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
      .match(NAMES)!
      .map((name) => name.replace(ends, ''));
    expect(expected.filter((name) => !shown.includes(name))).toEqual([]);
  });

  test('has rules that Prometheus takes, where its tool is installed', async () => {
    const check = promisify(execFile)('promtool', ['check', 'rules', join(__dirname, '../..', ALERTS)]);
    const outcome = await check.then(
      ({ stdout }) => stdout,
      (error: unknown) => {
        const { code, stderr } = error as { readonly code?: string; readonly stderr?: string };
        return code === 'ENOENT' ? 'not installed' : (stderr ?? '');
      },
    );
    const rules = readFile(ALERTS).match(/- alert:/g)!.length;
    expect(outcome).toMatch(new RegExp(`^not installed$|SUCCESS: ${rules} rules found`));
  });
});
