import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { makeDirectory } from '../bench/endings';
import { runCommand, startServe, succeed } from '../support/command';
import { graphql, importLines, openSession, v2Line, type TestOrganization } from '../support/gateway';
import { REPORT } from '../support/long-report';
import { assertInstalled, inMs, USUAL_WAITS, type Finding } from '../trust/attack';
import { startBalancer } from './balancer';
import { fillDatabase, RestartedGateway, toRestartFinding, type Restart } from './gateway-pair';
import { readLoadSizes } from './load-sizes';
import { startLoad, toLoadFinding } from './steady-load';
import { startSingleCluster } from './single-cluster';

const ROOT = join(__dirname, '../..');
const LINES = 20_000;
const REPORTS_PER_SECOND = 4;
const SETTLE_MS = 2000;
const YEAR = 'start_date=2020-01-01&end_date=2020-12-31';
const TOTALS = '{ depositSummary(startDate: "2020-01-01", endDate: "2029-12-31") { all { lines byLine { amount } } digest } }';

/** A build of the gateway, by its main module. */
interface Build {
  readonly version: string;
  readonly main: string;
}

/** Copies the present build with another version, and with a migration after its own, if one is named. */
function copyBuild(directory: string, version: string, migration?: string): Build {
  const root = join(directory, version);
  for (const part of ['dist', 'prisma']) cpSync(join(ROOT, part), join(root, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const description = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object;
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...description, version }));
  if (migration !== undefined) {
    const place = join(root, 'prisma/migrations', migration);
    mkdirSync(place);
    writeFileSync(join(place, 'migration.sql'), 'SELECT 1;\n');
  }
  return { version, main: join(root, 'dist/main.js') };
}

/** Updates two gateways behind HAProxy, as the documents say, and goes back, while requests, reports and imports go on. */
export async function run(): Promise<readonly Finding[]> {
  assertInstalled('haproxy');
  const { perSecond } = readLoadSizes();
  const builds = makeDirectory();
  const earlier = copyBuild(builds.path, '0.0.1');
  const later = copyBuild(builds.path, '99.0.0', '99990101000000_nothing');
  const cluster = await startSingleCluster();
  const gateways: RestartedGateway[] = [];
  const services = createServices(readConfig({ DATABASE_URL: cluster.url }), { connectionString: cluster.url });
  try {
    const organization = await fillDatabase(cluster.url, LINES);
    const settings = { DATABASE_URL: cluster.url, WORKERS: '2', DRAIN_MILLISECONDS: '' };
    for (let count = 0; count < 2; count++) gateways.push(await RestartedGateway.start(settings, earlier.main));
    const balancer = await startBalancer(
      cluster.path,
      gateways.map(({ port }) => port),
    );
    const compared: string[] = [];
    const compare = async (what: string): Promise<void> => {
      const id = `U${compared.length}`;
      await importLines(services, organization, [
        v2Line({ deposit_id: id, transaction_id: id, allocation_id: id, deposit_date: '2020-06-01' }),
      ]);
      const answers = await Promise.all(gateways.map(({ url }) => readAnswers(url, organization)));
      compared.push(`${what} ${answers.every((answer) => answer === answers[0]) ? 'equal' : `differ: ${answers.join(' ').slice(0, 300)}`}`);
    };
    try {
      const load = startLoad({
        ...{ url: balancer.url, headers: { Provision: organization.apiProvision } },
        ...{ path: '/api/v2/authenticated_test_system', perSecond },
        ...{ report: `${REPORT}?${YEAR}`, reportsPerSecond: REPORTS_PER_SECOND },
      });
      await sleep(SETTLE_MS);
      const eager = await readyOf(later, settings);
      const startedAt = Date.now();
      await succeed({ ...USUAL_WAITS, DATABASE_URL: cluster.url }, ['migrate'], '', later.main);
      const migrateMs = Date.now() - startedAt;
      const migrated = await Promise.all(gateways.map(async ({ url }) => (await fetch(`${url}/ready`)).status));
      await compare('both of the earlier release after the migration');
      const restarts: Restart[] = [];
      for (const { version, main } of [later, earlier]) {
        for (const [place, gateway] of gateways.entries()) {
          restarts.push(await gateway.restart(main));
          await balancer.untilUp(place);
          await compare(`${place + 1} of 2 at ${version}`);
          await sleep(SETTLE_MS);
        }
      }
      const versions = await Promise.all(
        [earlier, later].map(async ({ main }) => (await runCommand({}, ['--version'], '', main)).stdout.trim()),
      );
      return [
        toLoadFinding(
          `migrate, 2 restarts with the later release and 2 with the earlier one, under ${perSecond} requests and ${REPORTS_PER_SECOND} reports a second`,
          await load.stop(),
        ),
        toRestartFinding(restarts),
        {
          name: 'the order: migrate first, then one gateway after the other',
          figure: `/ready of the later release before the migration: ${eager}; migrate took ${inMs(migrateMs)}; /ready of the earlier release after it: ${migrated.join(', ')}; releases ${versions.join(' and ')}`,
          holds: eager.startsWith('503') && migrated.every((status) => status === 200) && new Set(versions).size === 2,
        },
        {
          name: 'a report, a file, totals with a digest and a login of both gateways, after an import',
          figure: compared.join('; '),
          holds: compared.every((each) => each.endsWith('equal')),
        },
      ];
    } finally {
      await balancer.stop();
    }
  } finally {
    await services.close();
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await cluster.stop();
    await builds.remove();
  }
}

/** The answer of a gateway at /ready that was started before its migration. */
async function readyOf({ main }: Build, settings: Readonly<Record<string, string>>): Promise<string> {
  const serve = await startServe({ ...USUAL_WAITS, ...settings, DRAIN_MILLISECONDS: '0' }, 'pipe', main);
  const ready = await fetch(`${serve.url}/ready`);
  const answer = `${ready.status} ${await ready.text()}`;
  await serve.end('SIGTERM');
  return answer;
}

/** Answers of every kind, as one text. Throws when one is an error. */
async function readAnswers(url: string, { apiProvision: provision, webProvision }: TestOrganization): Promise<string> {
  const headers = { Provision: provision };
  const texts = [`${REPORT}?${YEAR}`, `/export/deposit-details.csv?${YEAR}`].map(async (path) => {
    const response = await fetch(url + path, { headers });
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`);
    return response.text();
  });
  const token = await openSession(url, webProvision);
  const bodies = [
    (await graphql(url, TOTALS, { provision })).body,
    (await graphql(url, '{ viewer { username } }', { provision: webProvision, bearer: token })).body,
  ];
  if (bodies.some(({ errors }) => errors)) throw new Error(JSON.stringify(bodies));
  return JSON.stringify([...(await Promise.all(texts)), ...bodies]);
}
