import { setTimeout as sleep } from 'node:timers/promises';
import { asServing } from '../support/database';
import { startServe } from '../support/command';
import { graphql, openSession } from '../support/gateway';
import { createServices } from '../../src/services';
import { readConfig } from '../../src/config';
import { assertInstalled, inMs, USUAL_WAITS, type Finding } from '../trust/attack';
import { startProxy } from '../trust/restarts';
import { readLoadSizes } from './load-sizes';
import { runSql, startReplicatedCluster } from './replicated-cluster';
import { inPercent, WatchedBooks } from './watched-books';

const SECONDS = 24;
const IMPORT_EVERY_MS = 200;
const LOGIN_EVERY_MS = 100;
const MAX_PROMOTION_MS = 10_000;
/** The time after which a watcher, which is not part of this, would promote the standby. */
const NOTICE_MS = 1000;

/** The replica is promoted behind HAProxy after the primary was killed, with synchronous commit. */
export async function run(): Promise<readonly Finding[]> {
  assertInstalled('haproxy');
  const { perSecond } = readLoadSizes();
  const cluster = await startReplicatedCluster();
  const { primary, replica, organization } = cluster;
  await runSql(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await runSql(primary.url, `ALTER SYSTEM SET synchronous_commit = 'on'`);
  await runSql(primary.url, 'SELECT pg_reload_conf()');
  const proxy = await startProxy(cluster.directory, [primary.port, replica.port]);
  const owner = primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`);
  const services = createServices(readConfig({ ...USUAL_WAITS, DATABASE_URL: owner }), { connectionString: owner });
  const gateway = await startServe({ ...USUAL_WAITS, DATABASE_URL: owner, DATABASE_REPLICA_URLS: asServing(replica.url) });
  const { webProvision: provision } = organization;
  try {
    const books = new WatchedBooks(services, organization);
    await books.turn();
    await cluster.catchUp();
    const turning = books.keepTurning(IMPORT_EVERY_MS);
    const loading = books.load(SECONDS, perSecond, [gateway.url]);
    const sessions: { readonly token: string; readonly at: number }[] = [];
    const logins = { on: true, failed: 0 };
    const loggingIn = (async () => {
      while (logins.on) {
        await openSession(gateway.url, provision).then(
          (token) => void sessions.push({ token, at: Date.now() }),
          () => void logins.failed++,
        );
        await sleep(LOGIN_EVERY_MS);
      }
    })();
    await sleep((SECONDS * 1000) / 3);
    const killedAt = Date.now();
    await primary.stop();
    await sleep(NOTICE_MS);
    await replica.promote();
    const promotedAt = Date.now();
    const load = await loading;
    books.stop();
    const failures = await turning;
    logins.on = false;
    await loggingIn;

    const isGoodFrom = killedAt + MAX_PROMOTION_MS;
    const lastFailure = Math.max(killedAt, ...load.lost.map(({ at }) => at));
    const firstLogin = sessions.find(({ at }) => at > killedAt)?.at ?? Infinity;
    const lost: string[] = [];
    for (const { token } of sessions) {
      const { body } = await graphql(gateway.url, '{ viewer { username } }', { provision, bearer: token });
      if (body.data?.viewer === null || !body.data) lost.push(token);
    }
    const [newest] = await services.books.newestVersions(organization.id, 1);
    const check = await services.books.check(organization.id);
    return [
      {
        name: `${perSecond} requests a second while the primary is killed and the replica promoted`,
        figure: `${load.describe()}; good for all from ${inMs(lastFailure - killedAt)} after the kill on, ${inMs(lastFailure - promotedAt)} after the promotion; first login after ${inMs(firstLogin - killedAt)} (goal ${MAX_PROMOTION_MS} ms); from then on ${inPercent(load.wholeShare(isGoodFrom))} answered whole`,
        holds: load.wrong.length === 0 && lastFailure <= isGoodFrom && firstLogin <= isGoodFrom && load.isServed(isGoodFrom),
      },
      {
        name: 'acknowledged with synchronous commit',
        figure: `${books.acknowledged} imports, of which the new primary has ${newest?.number ?? 0} (${failures} failed meanwhile); ${sessions.length} logins, of which ${lost.length} are lost (${logins.failed} failed meanwhile); ${check.differences} lines differ from the books`,
        holds: (newest?.number ?? 0) >= books.acknowledged && lost.length === 0 && check.differences === 0 && check.versionsAreWhole,
      },
    ];
  } finally {
    await gateway.end('SIGTERM');
    await services.close();
    await proxy.stop();
    await cluster.stop();
  }
}
