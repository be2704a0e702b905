import { asServing } from '../support/database';
import { login } from '../support/gateway';
import { createReplicatedDatabase, REPLICATED } from '../support/replicated-database';
import { read, READINGS } from '../support/replicated-gateway';
import { until } from '../support/until';
import { startWorkerGateway } from '../support/worker-gateway';
import { versionsIn, WatchedBooks } from '../topology/watched-books';

const SESSIONS = 6;
const IMPORTS = 12;

test('a session at two workers over a replica that lags sees whole versions alone, and none older than before, while imports go on', async () => {
  const database = await createReplicatedDatabase();
  const replica = await database.follow();
  const settings = { ...REPLICATED, DATABASE_REPLICA_URLS: asServing(replica.url), REPLICA_WAIT_MILLISECONDS: '1000' };
  const gateway = await startWorkerGateway(settings, { given: database });
  const { url, organization } = gateway;
  const readings = (outcome: string) => gateway.metric('gateway_replica_readings_total', { replica: '1', outcome });
  const importing = { on: true };
  let sessions: readonly Promise<void>[] = [];
  try {
    const books = new WatchedBooks(gateway.services, organization);
    await books.turn();
    await replica.catchUp();
    await until(async () => (await gateway.metric('gateway_replica_used', { replica: '1' })) === 1);
    const wrong: unknown[] = [];
    let answers = 0;
    sessions = Array.from({ length: SESSIONS }, async (_, n) => {
      const cookie = await login(url, organization.webProvision);
      let newest = 0;
      for (let round = n; importing.on; round++) {
        const least = Math.max(newest, books.acknowledged);
        const reading = Object.values(READINGS)[round % Object.keys(READINGS).length]!;
        const { status, version, body } = await read(url, organization.webProvision, reading, { Cookie: cookie });
        const isRight = status === 200 && version >= least && [...versionsIn(body)].join() === String(version);
        if (!isRight) wrong.push({ reading, status, version, least, body: body.slice(0, 300) });
        newest = Math.max(newest, version);
        answers++;
      }
    });
    for (let n = 0; n < IMPORTS; n++) {
      // Half of the imports meet a replica that stands still.
      if (n % 4 === 0) await replica.pause();
      if (n % 4 === 2) await replica.resume();
      const before = answers;
      await books.turn();
      await until(() => answers >= before + SESSIONS);
    }
    await replica.catchUp();
    const count = (await readings('read'))!;
    await until(async () => (await readings('read'))! > count);
    importing.on = false;
    await Promise.all(sessions);
    expect(wrong).toEqual([]);
    expect(await readings('late')).toBeGreaterThan(0);
    const answering = () => new Set(gateway.logged('request completed').map(({ pid }) => pid));
    await until(() => gateway.pids().every((pid) => answering().has(pid)));
  } finally {
    // A session that goes on would meet a gateway that has stopped.
    importing.on = false;
    await Promise.allSettled(sessions);
    await gateway.stop();
  }
});
