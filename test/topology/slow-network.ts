import { asServing } from '../support/database';
import { startServe } from '../support/command';
import { percentile, USUAL_WAITS, type Finding } from '../trust/attack';
import { startFaultProxy } from '../trust/faulty-network';
import { readLoadSizes } from './load-sizes';
import { startReplicatedCluster } from './replicated-cluster';
import { WatchedBooks } from './watched-books';

const SECONDS = 8;
const IMPORT_EVERY_MS = 1000;
/** A silent replica may keep a request until its answer is due; the primary then takes as long as it always does. */
const MAX_MS = 3500;

/** A gateway reads a replica over a network that fails in each way. */
export async function run(): Promise<readonly Finding[]> {
  const { perSecond } = readLoadSizes();
  const cluster = await startReplicatedCluster();
  const { primary, replica, services, organization } = cluster;
  const proxy = await startFaultProxy(asServing(replica.url));
  const gateway = await startServe({ ...USUAL_WAITS, DATABASE_URL: primary.url, DATABASE_REPLICA_URLS: proxy.url });
  try {
    const books = new WatchedBooks(services, organization);
    await books.turn();
    await cluster.catchUp();
    const turning = books.keepTurning(IMPORT_EVERY_MS);
    const findings: Finding[] = [];
    for (const mode of ['passes', 'is late', 'is silent', 'resets', 'sends single bytes', 'cuts answers'] as const) {
      proxy.state.mode = 'passes';
      await books.load(2, perSecond, [gateway.url]);
      proxy.state.mode = mode;
      const load = await books.load(SECONDS, perSecond, [gateway.url]);
      findings.push({
        name: `a network to the replica that ${mode}`,
        figure: `${load.describe()} (goal ${MAX_MS} ms)`,
        holds: load.wrong.length === 0 && load.lost.length === 0 && load.isServed() && percentile(load.answers, 100) <= MAX_MS,
      });
    }
    books.stop();
    await turning;
    return findings;
  } finally {
    await gateway.end('SIGTERM');
    proxy.close();
    await cluster.stop();
  }
}
