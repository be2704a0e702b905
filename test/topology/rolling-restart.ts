import { setTimeout as sleep } from 'node:timers/promises';
import { REPORT } from '../support/long-report';
import { endAtLast } from '../bench/endings';
import { assertInstalled, type Finding } from '../trust/attack';
import { makeClusterDirectory, startCluster } from '../trust/postgres-cluster';
import { startBalancer } from './balancer';
import { fillDatabase, RestartedGateway } from './gateway-pair';
import { startLoad, type Outcomes } from './steady-load';

const LINES = 20_000;
const ROUNDS = 2;
const PER_SECOND = 200;
const REPORTS_PER_SECOND = 4;
const WORKERS = '2';
/** HAProxy checks every 2 s, and takes a gateway for down after three failures: 6 s, and the time of a check. */
const DRAIN_MS = '8000';
const SETTLE_MS = 2000;

/** Restarts two gateways of two workers in turn, behind HAProxy with its defaults, while requests and reports go on. */
export async function run(): Promise<readonly Finding[]> {
  assertInstalled('haproxy');
  const directory = makeClusterDirectory();
  const cluster = await startCluster(directory.path);
  const stopCluster = endAtLast(async () => {
    await cluster.stop();
    directory.remove();
  });
  const gateways: RestartedGateway[] = [];
  try {
    const { apiProvision } = await fillDatabase(cluster.url, LINES);
    const settings = { DATABASE_URL: cluster.url, WORKERS, DRAIN_MILLISECONDS: DRAIN_MS };
    for (let count = 0; count < 2; count++) gateways.push(await RestartedGateway.start(settings));
    const balancer = await startBalancer(
      directory.path,
      gateways.map(({ port }) => port),
    );
    try {
      const load = startLoad({
        ...{ url: balancer.url, headers: { Provision: apiProvision } },
        ...{ path: '/api/v2/authenticated_test_system', perSecond: PER_SECOND },
        ...{ report: `${REPORT}?start_date=2020-01-01&end_date=2020-12-31`, reportsPerSecond: REPORTS_PER_SECOND },
      });
      await sleep(SETTLE_MS);
      const restarts: { status: number | null; stopMs: number; startMs: number }[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const [place, gateway] of gateways.entries()) {
          restarts.push(await gateway.restart());
          await balancer.untilUp(place);
          await sleep(SETTLE_MS);
        }
      }
      return toFindings(await load.stop(), restarts);
    } finally {
      await balancer.stop();
    }
  } finally {
    for (const gateway of gateways) await gateway.stop();
    await stopCluster();
  }
}

function toFindings(
  outcomes: Outcomes,
  restarts: readonly { readonly status: number | null; readonly stopMs: number; readonly startMs: number }[],
): Finding[] {
  const total = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  const failures = [...outcomes].filter(([outcome]) => outcome !== 'whole');
  const failed = failures.reduce((sum, [, count]) => sum + count, 0);
  const longest = (key: 'stopMs' | 'startMs'): string => (Math.max(...restarts.map((restart) => restart[key])) / 1000).toFixed(1);
  const statuses = restarts.map(({ status }) => status);
  return [
    {
      name: `${restarts.length} restarts under ${PER_SECOND} requests and ${REPORTS_PER_SECOND} reports a second`,
      figure: `${failed} of ${total} failed (goal 0)${failed > 0 ? `: ${failures.map(([outcome, count]) => `${count} × ${outcome}`).join(', ')}` : ''}`,
      holds: failed === 0 && total > 0,
    },
    {
      name: 'the restarts',
      figure: `a stop took ${longest('stopMs')} s and a start ${longest('startMs')} s at most; exit status ${[...new Set(statuses)].join(', ')}`,
      holds: statuses.every((status) => status === 0),
    },
  ];
}
