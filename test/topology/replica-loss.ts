import { setTimeout as sleep } from 'node:timers/promises';
import { asServing } from '../support/database';
import { startServe } from '../support/command';
import { USUAL_WAITS, type Finding } from '../trust/attack';
import { readLoadSizes } from './load-sizes';
import { startReplicatedCluster } from './replicated-cluster';
import { WatchedBooks } from './watched-books';

const SECONDS = 24;
const IMPORT_EVERY_MS = 1000;

/** Two gateways read a replica, which is killed under load and comes back. */
export async function run(): Promise<readonly Finding[]> {
  const { perSecond } = readLoadSizes();
  const cluster = await startReplicatedCluster();
  const { primary, replica, services, organization } = cluster;
  const environment = { ...USUAL_WAITS, DATABASE_URL: primary.url, DATABASE_REPLICA_URLS: asServing(replica.url) };
  const gateways = [await startServe(environment), await startServe(environment)];
  try {
    const books = new WatchedBooks(services, organization);
    await books.turn();
    await cluster.catchUp();
    const turning = books.keepTurning(IMPORT_EVERY_MS);
    const urls = gateways.map(({ url }) => url);
    const loading = books.load(SECONDS, perSecond, urls);
    await sleep((SECONDS * 1000) / 3);
    await replica.restart();
    await sleep((SECONDS * 1000) / 6);
    await replica.stop();
    await sleep((SECONDS * 1000) / 6);
    await replica.start();
    const load = await loading;
    books.stop();
    const failures = await turning;
    const told = gateways.map((gateway) => (gateway.output().match(/replica is set aside/g) ?? []).length);
    return [
      {
        name: `${perSecond} requests a second over two gateways beside imports, the replica restarted, killed and started`,
        figure: `${load.describe()}; ${books.acknowledged} imports, ${failures} failed; set aside ${told.join(' and ')} times`,
        holds: load.wrong.length === 0 && load.lost.length === 0 && load.isServed() && failures === 0,
      },
    ];
  } finally {
    for (const gateway of gateways) await gateway.end('SIGTERM');
    await cluster.stop();
  }
}
