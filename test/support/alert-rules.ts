import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './documents';
import type { Sample } from './scrape-reader';

export const ALERTS = join(ROOT, 'docs/monitoring/alerts.yml');
/** The names of metrics in queries. */
export const METRIC_NAMES = /\b(?:gateway|nodejs|process)_[a-z0-9_]+/g;

const rules = readFileSync(ALERTS, 'utf8');
const alertNames = [...rules.matchAll(/- alert: (\w+)/g)].map((match) => match[1]!);
const usedNames = new Set(rules.match(METRIC_NAMES));
const TARGET = { job: 'deposit-gateway', instance: '127.0.0.1:4001' };
/** The outcome on a machine without Prometheus, where nothing can be tried. */
const NOT_INSTALLED = 'not installed';

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const seriesOf = ({ name, labels }: Sample): string =>
  `${name}{${Object.entries({ ...labels, ...TARGET })
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(',')}}`;

/** Runs promtool, Prometheus' own tool. Resolves to its output, or to `not installed`. */
export const runPromtool = (...words: string[]): Promise<string> =>
  promisify(execFile)('promtool', words).then(
    ({ stdout }) => stdout,
    (error: unknown) => {
      const { code, stdout, stderr } = error as { readonly code?: string; readonly stdout?: string; readonly stderr?: string };
      return code === 'ENOENT' ? NOT_INSTALLED : `${stdout}${stderr}`;
    },
  );

/** An alert that fires for one organization. */
interface ExpectedAlert {
  readonly organization: string;
  readonly summary: string;
}

/**
 * Runs the shipped rules over scrapes that Prometheus has made so many seconds after one another, and looks at each of them. Resolves to the
 * faults that promtool finds: none when the alerts that fire in the end are those expected, by their organizations, and none has fired
 * before. promtool's clock begins at 0, so Unix times in the scrapes count from `startedAt`, in seconds.
 */
export async function findRuleFaults(
  scrapes: readonly (readonly Sample[])[],
  { seconds, startedAt, expected = {} }: { seconds: number; startedAt: number; expected?: Readonly<Record<string, ExpectedAlert>> },
): Promise<string> {
  const series = new Map<string, string[]>();
  for (const [position, scrape] of scrapes.entries()) {
    for (const sample of scrape.filter(({ name }) => usedNames.has(name))) {
      const values = series.get(seriesOf(sample)) ?? [];
      while (values.length < position) values.push('_');
      values.push(String(sample.name.endsWith('_timestamp_seconds') ? sample.value - startedAt : sample.value));
      series.set(seriesOf(sample), values);
    }
  }
  const last = scrapes.length - 1;
  const looks = scrapes.flatMap((_scrape, position) =>
    alertNames.map((alert) => {
      const fired = position === last ? expected[alert] : undefined;
      const list = fired
        ? `{ exp_labels: { severity: ticket, organization: ${quote(fired.organization)} }, exp_annotations: { summary: ${quote(fired.summary)} } }`
        : '';
      return `      - { eval_time: ${position * seconds}s, alertname: ${alert}, exp_alerts: [${list}] }`;
    }),
  );
  const inputs = [...series].map(([name, values]) => `      - { series: ${quote(name)}, values: '${values.join(' ')}' }`);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-rules-'));
  const file = join(directory, 'test.yml');
  const head = [`rule_files: [${quote(ALERTS)}]`, 'tests:', `  - interval: ${seconds}s`];
  writeFileSync(file, [...head, '    input_series:', ...inputs, '    alert_rule_test:', ...looks].join('\n'));
  try {
    const outcome = await runPromtool('test', 'rules', file);
    return outcome === NOT_INSTALLED || /^\s*SUCCESS\s*$/m.test(outcome) ? '' : outcome;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
