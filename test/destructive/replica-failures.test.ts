import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { asServing } from '../support/database';
import { createOrganization, login, startGateway, type TestGateway } from '../support/gateway';
import { ask as askRaw, readAll } from '../support/http-client';
import { EVERYTHING, fillReport } from '../support/long-report';
import { REPLICATED } from '../support/replicated-database';
import {
  away,
  donorAt,
  isRead,
  READ,
  read,
  READINGS,
  readingsOf,
  replicaMessages,
  startReplicatedGateway,
  type ReplicatedGateway,
} from '../support/replicated-gateway';
import { readScrape, valueOf } from '../support/scrape-reader';
import { startServerSwitch, type ServerSwitch } from '../support/server-switch';
import { until } from '../support/until';

const REPORT = READINGS['a v2 report'];
const TOTALS = READINGS['totals and a digest'];
/** SQL for a text of half a kilobyte, of which no two lines have the same. */
const LONG_MEMO = `(SELECT string_agg(md5(n || ' ' || k), '') FROM generate_series(1, 16) k)`;
/** The longest wait for an answer, far longer than until a silent replica is set aside. */
const LONG_ANSWER_MS = 60_000;

/** The replica's address in the gateway's settings leads to a proxy, and from there by a switch to the replica. */
let proxy: DatabaseProxy;
let wire: ServerSwitch;
let setup: ReplicatedGateway;
const withSetup = (settings: Readonly<Record<string, string>> = {}, replicaSettings: Readonly<Record<string, string>> = {}): void => {
  beforeAll(async () => {
    const front = async (url: string): Promise<string> => {
      wire = await startServerSwitch(url);
      proxy = await startDatabaseProxy(wire.url);
      return proxy.url;
    };
    setup = await startReplicatedGateway(settings, { front, replicaSettings });
  });
  afterAll(async () => {
    await setup.stop();
    await proxy.close();
    await wire.close();
  });
};

const ask = (reading: string = REPORT, { url }: Pick<TestGateway, 'url'> = setup.gateway) =>
  read(url, setup.organization.apiProvision, reading);

describe('while a replica is away', () => {
  // Only its loss sets the replica aside, and no slow answer of a busy machine.
  withSetup({ REPLICA_WAIT_MILLISECONDS: '60000' });

  test('every caller is answered as before, and operators are told once of its loss and of its return', async () => {
    const version = await setup.turn();
    await setup.replica.catchUp();
    const readings = Object.values(READINGS);
    const asking = { on: true };
    const wrong: unknown[] = [];
    const readers = Array.from({ length: 8 }, async (_, n) => {
      for (let round = n; asking.on; round++) {
        const answer = await ask(readings[round % readings.length]);
        if (answer.status !== 200 || answer.version !== version || /Ada|Grace/.exec(answer.body)?.[0] === donorAt(version + 1))
          wrong.push(answer);
      }
    });
    const { read: count } = await readingsOf(setup.gateway);
    await until(async () => (await readingsOf(setup.gateway)).read > count + 20);
    await setup.replica.stop();
    await until(async () => !(await isRead(setup.gateway)));
    expect((await fetch(`${setup.gateway.url}/ready`)).status).toBe(200);
    await login(setup.gateway.url, setup.organization.webProvision);
    await setup.replica.start();
    await until(() => isRead(setup.gateway));
    const { read: later } = await readingsOf(setup.gateway);
    await until(async () => (await readingsOf(setup.gateway)).read > later);
    asking.on = false;
    await Promise.all(readers);
    expect(wrong).toEqual([]);
    expect(replicaMessages(setup.gateway)).toEqual([READ, away(), READ]);
  });

  test('operators are told of each further reason, once', async () => {
    const { client } = setup.database;
    const newest = `migration_name = (SELECT max(migration_name) FROM _prisma_migrations)`;
    await client.query(`CREATE TABLE newest_migration AS SELECT * FROM _prisma_migrations WHERE ${newest}`);
    await until(() => isRead(setup.gateway));
    const before = replicaMessages(setup.gateway).length;
    const later = () => replicaMessages(setup.gateway).slice(before);
    await setup.replica.stop();
    await until(() => later().length > 0);
    await client.query(`DELETE FROM _prisma_migrations WHERE ${newest}`);
    await setup.replica.start();
    const lacks = ({ reason }: { readonly reason?: string }) => reason?.includes('lacks migrations') ?? false;
    await until(() => later().some(lacks));
    await client.query('INSERT INTO _prisma_migrations SELECT * FROM newest_migration');
    await until(() => isRead(setup.gateway));
    expect(later()).toEqual([away(), { ...away(), reason: expect.stringContaining('lacks migrations') as string }, READ]);
  });

  test('a gateway does not read a replica without its migrations', async () => {
    const { client } = setup.database;
    const newest = `migration_name = (SELECT max(migration_name) FROM _prisma_migrations)`;
    await setup.replica.catchUp();
    await client.query(`CREATE TABLE kept AS SELECT * FROM _prisma_migrations WHERE ${newest}`);
    await client.query(`DELETE FROM _prisma_migrations WHERE ${newest}`);
    await setup.replica.catchUp();
    await setup.replica.pause();
    await client.query('INSERT INTO _prisma_migrations SELECT * FROM kept');
    const eager = await startGateway({
      ...REPLICATED,
      DATABASE_URL: setup.database.url,
      DATABASE_REPLICA_URLS: asServing(setup.replica.url),
      ADMIN_PORT: '0',
    });
    try {
      // A busy machine may tell that the replica answers slowly first.
      await until(() => replicaMessages(eager).some(({ reason }) => reason?.includes('lacks migrations')));
      expect(replicaMessages(eager).at(-1)).toEqual({ ...away(), reason: expect.stringContaining('lacks migrations') as string });
      expect(replicaMessages(eager)).not.toContainEqual(READ);
      expect((await ask(REPORT, eager)).status).toBe(200);
      expect(await readingsOf(eager)).toEqual({ read: 0, late: 0, left: 0 });
      await setup.replica.resume();
      await until(() => isRead(eager));
    } finally {
      await setup.replica.resume();
      await eager.stop();
    }
  });

  test('a report that was under way is broken off, and is never taken for whole', async () => {
    const { gateway, database, replica } = setup;
    const organization = await createOrganization(gateway.services);
    await fillReport(database.client, organization.id, 60_000, LONG_MEMO);
    await replica.catchUp();
    await until(() => isRead(gateway));
    const { read: count } = await readingsOf(gateway);
    const answer = await askRaw(gateway.url + EVERYTHING, { headers: { Provision: organization.apiProvision } });
    expect(answer.statusCode).toBe(200);
    expect((await readingsOf(gateway)).read).toBe(count + 1);
    await replica.stop();
    expect((await readAll(answer)).complete).toBe(false);
    await replica.start();
  });

  test('a file whose own connection is whole goes on when others lose theirs', async () => {
    const { gateway, database, replica } = setup;
    const organization = await createOrganization(gateway.services);
    await fillReport(database.client, organization.id, 2000, `''`);
    await replica.catchUp();
    await until(() => isRead(gateway));
    const server = new Client({ connectionString: replica.url });
    await server.connect();
    const endOthers = (): Promise<unknown> =>
      server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query NOT LIKE 'FETCH%'`);
    const { left } = await readingsOf(gateway);
    const days = `/export/deposit-summary.csv?start_date=2020-01-01&end_date=2029-12-31&group_by=DAY`;
    // The file has its rows after the first FETCH. The second one is held back until another report has lost its connection.
    proxy.before('FETCH', () => {
      proxy.before('FETCH', async () => {
        proxy.before('COPY', async () => void (await endOthers()));
        expect((await ask()).status).toBe(200);
      });
      return Promise.resolve();
    });
    const { complete, body } = await readAll(await askRaw(gateway.url + days, { headers: { Provision: organization.apiProvision } }));
    await server.end();
    expect([complete, body.toString().match(/^"20/gm)?.length]).toEqual([true, 1000]);
    // The other report alone has left.
    expect((await readingsOf(gateway)).left).toBe(left + 1);
  });
});

describe('a replica that gives no answer', () => {
  withSetup({ DATABASE_ANSWER_MILLISECONDS: '1000', DATABASE_CONNECT_MILLISECONDS: '1000', REPORT_TIMEOUT_SECONDS: '60' });

  test.each([
    ['a report', REPORT, 'COPY'],
    ['totals', TOTALS, 'WITH line AS'],
    ['records', READINGS['records of records'], 'FROM "transaction"'],
  ])('is left for the primary by the caller of %s', async (_what, reading, text) => {
    await setup.turn();
    await setup.replica.catchUp();
    await until(() => isRead(setup.gateway));
    const { left } = await readingsOf(setup.gateway);
    proxy.before(text, async () => wire.hold(true));
    const answer = await ask(reading);
    wire.hold(false);
    expect(answer).toEqual({ ...(await ask(reading)), status: 200 });
    expect((await readingsOf(setup.gateway)).left).toBeGreaterThan(left);
  });

  test('breaks a report off that it has begun, long before the time limit of reports, and the lane is given back', async () => {
    const { gateway, database, replica } = setup;
    const { id, apiProvision: Provision } = await createOrganization(gateway.services);
    await fillReport(database.client, id, 60_000, LONG_MEMO);
    await replica.catchUp();
    await until(() => isRead(gateway));
    const answer = await askRaw(gateway.url + EVERYTHING, { headers: { Provision } });
    const heldAt = Date.now();
    wire.hold(true);
    try {
      expect((await readAll(answer)).complete).toBe(false);
      expect(Date.now() - heldAt).toBeLessThan(30_000);
      expect(await read(gateway.url, Provision, REPORT)).toMatchObject({ status: 200 });
    } finally {
      wire.hold(false);
    }
    expect(valueOf(await readScrape(gateway.adminUrl), 'gateway_report_lanes')).toBe(0);
  });
});

describe('a replica that answers slowly', () => {
  // No statement may end because it took too long.
  withSetup({
    REPLICA_WAIT_MILLISECONDS: '1000',
    DATABASE_ANSWER_MILLISECONDS: `${LONG_ANSWER_MS}`,
    DATABASE_CONNECT_MILLISECONDS: `${LONG_ANSWER_MS}`,
  });

  test('is left by a report that waits for a connection', async () => {
    await setup.turn();
    await setup.replica.catchUp();
    await until(() => isRead(setup.gateway));
    // The short pool learns the version, and the long pool has no connection yet.
    await ask(READINGS['records of records']);
    const before = await readingsOf(setup.gateway);
    wire.hold(true);
    const answer = await ask();
    const after = await readingsOf(setup.gateway);
    wire.hold(false);
    expect([answer.status, after]).toEqual([200, { ...before, read: before.read + 1, left: before.left + 1 }]);
  });

  test.each([
    ['a report', REPORT, 'COPY'],
    ['totals', TOTALS, 'WITH line AS'],
    ['records', READINGS['records of records'], 'FROM "transaction"'],
  ])('is set aside, and the caller of %s goes on at the primary', async (_what, reading, text) => {
    await until(() => isRead(setup.gateway));
    await ask(reading);
    await setup.turn();
    await setup.replica.catchUp();
    await ask();
    const { left } = await readingsOf(setup.gateway);
    proxy.before(text, async () => wire.hold(true));
    const answer = await ask(reading);
    const isUsed = await isRead(setup.gateway);
    wire.hold(false);
    expect([answer.status, isUsed, (await readingsOf(setup.gateway)).left]).toEqual([200, false, left + 1]);
    await until(() => isRead(setup.gateway));
    expect(await ask(reading)).toEqual(answer);
  });

  test('keeps no caller waiting for the end of its transaction', async () => {
    await until(() => isRead(setup.gateway));
    await setup.turn();
    await setup.replica.catchUp();
    await ask();
    const before = await readingsOf(setup.gateway);
    proxy.before('COMMIT', async () => wire.hold(true));
    const askedAt = Date.now();
    try {
      const answer = await ask(READINGS['a file with its totals before it']);
      expect(Date.now() - askedAt).toBeLessThan(LONG_ANSWER_MS / 2);
      expect([answer.status, await isRead(setup.gateway)]).toEqual([200, false]);
    } finally {
      wire.hold(false);
    }
    expect(await readingsOf(setup.gateway)).toEqual({ ...before, read: before.read + 1 });
  });
});

describe('a replica whose connections are all in use', () => {
  withSetup({ POOL_SIZE: '1', REPLICA_WAIT_MILLISECONDS: '500' });

  test('is not taken for slow', async () => {
    const reading = READINGS['records of records'];
    await setup.turn();
    await setup.replica.catchUp();
    await until(() => isRead(setup.gateway));
    await ask(reading);
    await setup.turn();
    await setup.replica.catchUp();
    const before = await readingsOf(setup.gateway);
    // Longer than until a check would give up.
    proxy.before('FROM "transaction"', () => sleep(2000));
    expect((await ask(reading)).status).toBe(200);
    expect(await readingsOf(setup.gateway)).toEqual({ ...before, read: before.read + 1 });
  });
});

describe('a reading that replication ends', () => {
  withSetup({}, { max_standby_streaming_delay: '0', hot_standby_feedback: 'off' });

  test.each([
    ['a report', REPORT, 'COPY ('],
    ['totals and a digest', TOTALS, 'WITH line AS'],
    ['all readings at once', READINGS['all of them at once'], 'FROM "transaction"'],
    ['a file with its totals before it', READINGS['a file with its totals before it'], 'COPY ('],
    ['a file of a summary', READINGS['a file of a summary'], 'FETCH'],
  ])('is begun again at the primary: %s', async (_what, reading, text) => {
    await setup.turn();
    await setup.replica.catchUp();
    await until(() => isRead(setup.gateway));
    const { left } = await readingsOf(setup.gateway);
    let conflict: number | undefined;
    proxy.before(text, async () => {
      conflict = await setup.turn();
      // The rows of the earlier state go, and the replica ends whoever may still see them.
      await setup.database.client.query('VACUUM deposit_line, data_version, deposit, transaction, donor');
      await setup.replica.catchUp();
    });
    const answer = await ask(reading);
    expect([answer.status, answer.version]).toEqual([200, conflict]);
    expect((await readingsOf(setup.gateway)).left).toBe(left + 1);
    expect(await ask(reading)).toEqual(answer);
  });
});
