import { BookSource } from '../../src/data/reading/book-source';
import { citus } from '../../src/data/schema/citus';
import { Database } from '../../src/data/postgres/database';
import { FairQueue } from '../../src/data/reading/fair-queue';
import { ReportSnapshot } from '../../src/data/reading/report-snapshot';
import { RequestTimes } from '../../src/data/postgres/request-times';
import { Prisma } from '../../src/generated/prisma/client';
import { isDistributed, isPooled, SERVING_ROLE } from '../support/database';
import { startDatabaseProxy } from '../support/database-proxy';
import { askBoth, PATHS, QUERIES, viaRest, type Ask, type Kind } from '../support/doors';
import { graphql, withGateway } from '../support/gateway';
import { testOnOwnConnection } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';
import { until } from '../support/until';

// Each test breaks the database of its gateway.
const gateway = openGateway({ loggedIn: true, forEachTest: true });
const { organization } = gateway;

const UNKNOWN = '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11';
const query = (sql: string) => gateway.database.client.query(sql);
const ask = (kind: Kind, as: Ask, url = gateway.url) => askBoth(url, kind, as);

/** Below the times that are asserted, so that a busy machine keeps to them too. */
const SHORT_WAITS = { DATABASE_CONNECT_MILLISECONDS: '1000', DATABASE_ANSWER_MILLISECONDS: '1000' };

describe('a data source', () => {
  const mine = () => ({ provision: organization.webProvision, cookie: gateway.cookie });

  test('that does not keep sessions fails to establish one, and system requests without one go on', async () => {
    await query('ALTER TABLE session RENAME TO session_away');
    expect(await ask('session', mine())).toBe('Establishing session failed');
    expect(await ask('system', mine())).toBe('Establishing session failed');
    expect(await ask('system', { provision: organization.apiProvision })).toBe('granted');
  });

  test('whose query fails is told of as such', async () => {
    await query('ALTER TABLE provision RENAME TO provision_away');
    for (const kind of ['system', 'session', 'report'] as const) expect(await ask(kind, mine())).toBe('Data source query failed');
    expect((await fetch(gateway.url + PATHS.system, { headers: { Provision: organization.apiProvision } })).status).toBe(404);
  });

  test('whose report query fails answers with the error, not with half a report', async () => {
    await query('DROP TABLE deposit_line');
    const path = PATHS.report.replace('start_date=2024-01-02', 'start_date=2024-01-01');
    const response = await fetch(gateway.url + path, { headers: { Provision: organization.apiProvision } });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ errors: [{ error: 'Data source query failed', status: 404 }] });
    const { body } = await graphql(gateway.url, QUERIES.report.replace('2024-01-02', '2024-01-01'), {
      provision: organization.apiProvision,
    });
    expect(body).toEqual({
      errors: [
        {
          message: 'Data source query failed',
          path: ['depositDetails'],
          extensions: { code: 'DATA_SOURCE_QUERY_FAILED', requestId: REQUEST_ID },
        },
      ],
      data: { depositDetails: null },
    });
  });

  test('that cannot be reached is told of, with a time to come back', async () => {
    await withGateway({ DATABASE_URL: 'postgresql://nobody:nothing@127.0.0.1:1/none' }, async (lost) => {
      for (const kind of ['system', 'session', 'report'] as const) {
        expect(await ask(kind, { provision: UNKNOWN }, lost.url)).toBe('No connection to data source');
        const response = await fetch(lost.url + PATHS[kind], { headers: { Provision: UNKNOWN } });
        expect([response.status, response.headers.get('retry-after')]).toEqual([500, '1']);
        expect(await response.json()).toEqual({ errors: [{ error: 'No connection to data source', status: 500 }] });
      }
      const { status, headers } = await graphql(lost.url, QUERIES.system, { provision: UNKNOWN });
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      const ready = await fetch(`${lost.url}/ready`);
      expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', reason: 'The database cannot be reached' }]);
      expect((await fetch(`${lost.url}/live`)).status).toBe(200);
    });
  });

  testOnOwnConnection('that ends a connection for its idleness as a report comes is told of as not reached', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    const url = new URL(proxy.url);
    url.searchParams.set('application_name', 'limited');
    url.searchParams.set('options', '-c idle_session_timeout=1s');
    await withGateway({ DATABASE_URL: url.href }, async (limited) => {
      proxy.before('BEGIN', () =>
        until(async () => (await query(`SELECT FROM pg_stat_activity WHERE application_name = 'limited'`)).rowCount === 0),
      );
      const path = PATHS.report.replace('start_date=2024-01-02', 'start_date=2024-01-01');
      const response = await fetch(limited.url + path, { headers: { Provision: organization.apiProvision } });
      expect(await response.json()).toEqual({ errors: [{ error: 'No connection to data source', status: 500 }] });
    });
    await proxy.close();
  });

  test('that lacks a grant is told of in the log, by state and relation', async () => {
    await withGateway({ DATABASE_URL: gateway.database.url }, async (bounded) => {
      const faults = () =>
        bounded.logLines
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .filter(({ msg }) => msg === 'request failed: the database user lacks a grant')
          .map(({ sqlState, relation, code }) => [sqlState, relation, code]);
      const ready = async () => (await fetch(`${bounded.url}/ready`)).text();
      expect(await ready()).toBe('{"status":"ready"}');

      await query(`REVOKE SELECT ON deposit_line FROM ${SERVING_ROLE}`);
      const path = PATHS.report.replace('start_date=2024-01-02', 'start_date=2024-01-01');
      expect((await fetch(bounded.url + path, { headers: { Provision: organization.apiProvision } })).status).toBe(404);
      expect(faults()).toEqual([['42501', 'deposit_line', 'DATA_SOURCE_QUERY_FAILED']]);
      await query(`REVOKE SELECT ON designation FROM ${SERVING_ROLE}`);
      const designations = '{ designations(first: 1) { edges { node { name } } } }';
      await graphql(bounded.url, designations, { provision: organization.apiProvision });
      expect(faults().slice(1)).toEqual([['42501', 'designation', 'DATA_SOURCE_QUERY_FAILED']]);
      await query(`REVOKE SELECT ON session FROM ${SERVING_ROLE}`);
      expect(await ask('session', mine(), bounded.url)).toBe('Establishing session failed');
      expect(faults().slice(2)).toEqual(Array(2).fill(['42501', 'session', 'ESTABLISHING_SESSION_FAILED']));
      await query(`REVOKE SELECT ON _prisma_migrations FROM ${SERVING_ROLE}`);
      const lacking = JSON.stringify({ status: 'not ready', reason: 'The database user lacks a grant on _prisma_migrations' });
      await until(async () => (await ready()) === lacking);
    });
    await query(`GRANT SELECT ON deposit_line, designation, session, _prisma_migrations TO ${SERVING_ROLE}`);
  });

  test('that was not migrated is told of on /ready, with the command that helps, and so is the end of that', async () => {
    const ready = async () => {
      const response = await fetch(`${gateway.url}/ready`);
      return `${response.status} ${await response.text()}`;
    };
    const isReady = '200 {"status":"ready"}';
    const isNot = '503 {"status":"not ready","reason":"The database lacks migrations: run `deposit-gateway migrate`"}';
    await query('CREATE TABLE applied AS TABLE _prisma_migrations');
    for (const [damage, repair] of [
      [
        'DELETE FROM _prisma_migrations WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations)',
        'INSERT INTO _prisma_migrations TABLE applied ON CONFLICT DO NOTHING',
      ],
      ['ALTER TABLE _prisma_migrations RENAME TO away', 'ALTER TABLE away RENAME TO _prisma_migrations'],
    ] as const) {
      await until(async () => (await ready()) === isReady);
      await query(damage);
      await until(async () => (await ready()) === isNot);
      await query(repair);
    }
    await until(async () => (await ready()) === isReady);
  });

  test('is asked for its state once a second, however many strangers ask /ready', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    await withGateway({ DATABASE_URL: proxy.url }, async (watched) => {
      const startedAt = performance.now();
      for (let round = 0; round < 5; round++) {
        const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(`${watched.url}/ready`)));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      }
      const seconds = Math.floor((performance.now() - startedAt) / 1000);
      expect(proxy.statements()).toBeGreaterThan(0);
      expect(proxy.statements()).toBeLessThanOrEqual(seconds + 1);
    });
    await proxy.close();
  });

  test('is asked once for the access of a request, however many fields need it', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    await withGateway({ DATABASE_URL: proxy.url }, async (watched) => {
      const operation = '{ a: authenticatedTestSession { message } b: authenticatedTestSystem { message } viewer { username } }';
      const { body } = await graphql(watched.url, operation, mine());
      expect(Object.keys(body.data!)).toEqual(['a', 'b', 'viewer']);
      expect(proxy.statements()).toBe(1);
    });
    await proxy.close();
  });

  test('is asked twice for a report, for the access and for the lines', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    await withGateway({ DATABASE_URL: proxy.url }, async (watched) => {
      const { apiProvision: provision } = organization;
      const report = async (): Promise<unknown> => {
        const path = PATHS.report.replace('start_date=2024-01-02', 'start_date=2024-01-01');
        return (await fetch(watched.url + path, { headers: { Provision: provision } })).json();
      };
      // Opens the connections.
      await report();
      const before = proxy.roundTrips();
      expect(await report()).toEqual({ response: [] });
      expect(proxy.roundTrips()).toBe(before + 2);
      const { body } = await graphql(watched.url, QUERIES.report.replace('2024-01-02', '2024-01-01'), { provision });
      expect(body).toEqual({ data: { depositDetails: [] } });
      expect(proxy.roundTrips()).toBe(before + 4);
    });
    await proxy.close();
  });

  test('that hangs when access is checked is given up', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    await withGateway({ DATABASE_URL: proxy.url, ...SHORT_WAITS }, async (frozen) => {
      proxy.freezeAt('provision');
      const { status } = await fetch(frozen.url + PATHS.system, { headers: { Provision: organization.apiProvision } });
      expect(status).toBe(500);
    });
    await proxy.close();
  });

  test('that is too slow when access is checked is given up at its time limit, and not asked again', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    await withGateway({ DATABASE_URL: proxy.url, ...SHORT_WAITS }, async (slow) => {
      await query('BEGIN; LOCK TABLE session');
      const told = await viaRest(slow.url, 'session', mine()).finally(() => query('ROLLBACK'));
      expect([told, proxy.statements()]).toEqual(['Data source query failed', 1]);
      expect(await viaRest(slow.url, 'session', mine())).toBe('granted');
    });
    await proxy.close();
  });

  test('that hangs when a report begins is given up, and keeps neither the reader nor the gateway waiting', async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    await withGateway({ DATABASE_URL: proxy.url, REPORT_CONCURRENCY: '1', ...SHORT_WAITS }, async (frozen) => {
      proxy.freezeAt('BEGIN');
      for (let round = 0; round < 2; round++) {
        const response = await fetch(frozen.url + PATHS.report.replace('start_date=2024-01-02', 'start_date=2024-01-01'), {
          headers: { Provision: organization.apiProvision },
        });
        expect([response.status, response.headers.get('retry-after')]).toEqual([500, '1']);
        expect(await response.json()).toEqual({ errors: [{ error: 'No connection to data source', status: 500 }] });
      }
    });
    await proxy.close();
  });

  test('is not given up when it was the gateway that had no time for the answer', async () => {
    const database = new Database({
      address: { connectionString: gateway.database.url },
      ...{ poolSize: 1, longConnections: 1, connectTimeoutMs: 30_000, answerTimeoutMs: 3000, onConnectionLost: () => undefined },
      isPooled,
      ...(isDistributed && { placement: citus }),
    });
    const snapshot = new ReportSnapshot(new BookSource(database), new FairQueue({ width: 1, guests: 0, maxWaiting: 0, maxWaitMs: 0 }), {
      ...{ signal: new AbortController().signal, timeoutMs: 60_000, times: new RequestTimes() },
      caller: () => Promise.resolve({ organizationId: 1, credential: '' }),
    });
    const readCopy = async () => {
      let text = '';
      for await (const piece of snapshot.copy(Prisma.sql`SELECT ${'one'}::text`)) text += piece.toString();
      return text;
    };
    // From here on the connections are there, so that what is asked is sent at once.
    await Promise.all([database.query({ text: 'SELECT 1' }), snapshot.list(Prisma.sql`SELECT 1`)]);
    const answers = Promise.all([database.query({ text: 'SELECT 1 AS one' }), readCopy()]);
    await new Promise(setImmediate);
    const busyUntil = performance.now() + 3000 + 200;
    while (performance.now() < busyUntil);
    expect(await answers).toEqual([[{ one: 1 }], 'one\n']);
    await snapshot.close();
    await database.close();
  });
});
