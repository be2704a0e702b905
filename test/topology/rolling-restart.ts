import { setTimeout as sleep } from 'node:timers/promises';
import { REPORT } from '../support/long-report';
import { assertInstalled, type Finding } from '../trust/attack';
import { startBalancer } from './balancer';
import { fillDatabase, RestartedGateway, toRestartFinding, type Restart } from './gateway-pair';
import { readLoadSizes } from './load-sizes';
import { startLoad, toLoadFinding } from './steady-load';
import { startSingleCluster } from './single-cluster';

const LINES = 20_000;
const ROUNDS = 2;
const REPORTS_PER_SECOND = 4;
const WORKERS = '2';
/** An empty value is not set: gateways drain, and HAProxy checks, as they do by themselves. */
const DRAIN_MS = '';
const SETTLE_MS = 2000;

/** Restarts two gateways of two workers in turn, behind HAProxy with its defaults, while requests and reports go on. */
export async function run(): Promise<readonly Finding[]> {
  assertInstalled('haproxy');
  const { perSecond } = readLoadSizes();
  const cluster = await startSingleCluster();
  const gateways: RestartedGateway[] = [];
  try {
    const { apiProvision } = await fillDatabase(cluster.url, LINES);
    const settings = { DATABASE_URL: cluster.url, WORKERS, DRAIN_MILLISECONDS: DRAIN_MS };
    for (let count = 0; count < 2; count++) gateways.push(await RestartedGateway.start(settings));
    const balancer = await startBalancer(
      cluster.path,
      gateways.map(({ port }) => port),
    );
    try {
      const load = startLoad({
        ...{ url: balancer.url, headers: { Provision: apiProvision } },
        ...{ path: '/api/v2/authenticated_test_system', perSecond },
        ...{ report: `${REPORT}?start_date=2020-01-01&end_date=2020-12-31`, reportsPerSecond: REPORTS_PER_SECOND },
      });
      await sleep(SETTLE_MS);
      const restarts: Restart[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const [place, gateway] of gateways.entries()) {
          restarts.push(await gateway.restart());
          await balancer.untilUp(place);
          await sleep(SETTLE_MS);
        }
      }
      const name = `${restarts.length} restarts under ${perSecond} requests and ${REPORTS_PER_SECOND} reports a second`;
      return [toLoadFinding(name, await load.stop()), toRestartFinding(restarts)];
    } finally {
      await balancer.stop();
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await cluster.stop();
  }
}
