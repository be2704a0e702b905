import { availableParallelism } from 'node:os';
import { Agent, request } from 'node:http';
import { whileAuditIsHeld } from '../support/audit-reader';
import { failed, runCommand, runProcess, startServe } from '../support/command';
import { ask, readAll } from '../support/http-client';
import { activeReports, EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { createTestDatabase } from '../support/database';
import { until } from '../support/until';
import { signalAll, withWorkers, workersOf, type WorkerGateway } from '../support/worker-gateway';

const LINES = 15_000;
/** The longest drain that can be set, far longer than a stop takes. */
const LONG_DRAIN_MS = 60_000;
const SYSTEM = '/api/v2/authenticated_test_system';

/** Asks on a connection of its own or on a kept one. Returns the status, `closed` when told to close, `refused`, or the error. */
function askOnce(gateway: WorkerGateway, agent: Agent | false): Promise<string> {
  return new Promise((resolve) => {
    request(gateway.url + SYSTEM, { agent, headers: { Provision: gateway.organization.apiProvision } }, (response) => {
      const isLast = agent !== false && response.headers.connection === 'close';
      response
        .resume()
        .on('end', () => resolve(isLast ? 'closed' : `${response.statusCode}`))
        .on('error', ({ message }) => resolve(message));
    })
      .on('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : message))
      .end();
  });
}

/** Asks until there is another outcome than 200. Returns the outcomes. */
async function askOn(gateway: WorkerGateway, isKept: boolean, outcomes: string[]): Promise<void> {
  const agent = isKept && new Agent({ keepAlive: true, maxSockets: 1 });
  for (let outcome = '200'; outcome === '200'; outcomes.push(outcome)) outcome = await askOnce(gateway, agent);
  if (agent) agent.destroy();
}

describe('a gateway of two workers that is told to stop', () => {
  test.each([
    ['SIGTERM', 'the primary'],
    ['SIGTERM', 'every process'],
    ['SIGINT', 'every process'],
    ['SIGHUP', 'every process'],
  ] as const)('by %s to %s resets nobody, finishes its reports, and says so once', async (signal, whom) => {
    await withWorkers({ DRAIN_MILLISECONDS: '500' }, async (gateway) => {
      const { id, apiProvision } = gateway.organization;
      await fillReport(gateway.database.client, id, LINES, `repeat('m', 1500)`);
      const reports = await Promise.all([1, 2].map(() => ask(gateway.url + EVERYTHING, { headers: { Provision: apiProvision } })));
      const outcomes: string[] = [];
      const clients = [true, true, true, true, false, false, false, false].map((isKept) => askOn(gateway, isKept, outcomes));
      await until(() => outcomes.length > 100);
      if (whom === 'the primary') gateway.serve.child.kill(signal);
      else signalAll(gateway, signal);
      // Both workers say so at once.
      await until(() => gateway.logged('stopping').length === 1);
      const ready = await Promise.all(Array.from({ length: 8 }, () => ask(`${gateway.url}/ready`)));
      expect(new Set(ready.map((response) => response.resume().statusCode))).toEqual(new Set([503]));
      const read = await Promise.all(reports.map(readAll));
      expect(read.map(({ body, complete }) => [complete, body.subarray(-2).toString()])).toEqual([
        [true, ']}'],
        [true, ']}'],
      ]);
      await Promise.all(clients);
      await until(() => gateway.serve.child.exitCode !== null);
      expect(gateway.serve.child.exitCode).toBe(0);
      expect([...new Set(outcomes)].sort()).toEqual(['200', 'closed', 'refused']);
      for (const message of ['listening', 'stopping', 'stopped']) expect(gateway.logged(message)).toHaveLength(1);
    });
  });

  test('by Ctrl-C, or by a second signal, waits for no balancer', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      await withWorkers({ DRAIN_MILLISECONDS: signal === 'SIGINT' ? '' : `${LONG_DRAIN_MS}` }, async (gateway) => {
        const startedAt = Date.now();
        signalAll(gateway, signal);
        const again = setInterval(() => gateway.serve.child.kill(signal), 1100);
        if (signal === 'SIGINT') clearInterval(again);
        await until(() => gateway.serve.child.exitCode !== null);
        clearInterval(again);
        expect(gateway.serve.child.exitCode).toBe(0);
        expect(Date.now() - startedAt).toBeLessThan(LONG_DRAIN_MS);
        expect(gateway.logged('stopping')).toEqual([expect.objectContaining({ drainMs: signal === 'SIGINT' ? 0 : LONG_DRAIN_MS })]);
      });
    }
  });

  test('writes the ends of readings, however long the database takes for them after the grace time', async () => {
    await withWorkers({ DRAIN_MILLISECONDS: '0', SHUTDOWN_GRACE_SECONDS: '0' }, async (gateway) => {
      const { client } = gateway.database;
      const { id, apiProvision } = gateway.organization;
      const day = `${REPORT}?start_date=2020-01-01&end_date=2020-01-01`;
      expect((await readAll(await ask(gateway.url + day, { headers: { Provision: apiProvision } }))).complete).toBe(true);
      let ended: Promise<number | null> | undefined;
      await whileAuditIsHeld(gateway.database.url, gateway.organization, async () => {
        ended = gateway.serve.end('SIGTERM');
        // Longer than a worker whose event loop stands still is left.
        const waited = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND clock_timestamp() - query_start > interval '4 seconds'`;
        await until(async () => (await client.query(waited)).rowCount === 1);
      });
      expect(await ended).toBe(0);
      const select = "SELECT part, reads::int, outcome FROM audit_record WHERE organization_id = $1 AND part <> 'only' ORDER BY number";
      const { rows } = await client.query(select, [id]);
      expect(rows).toEqual([
        { part: 'started', reads: null, outcome: null },
        { part: 'ended', reads: 1, outcome: 'whole' },
      ]);
    });
  });

  test('cuts a report that does not finish within the grace time, or at a second signal, so that it shows', async () => {
    for (const grace of ['1', '3600']) {
      await withWorkers({ SHUTDOWN_GRACE_SECONDS: grace }, async (gateway) => {
        const { id, apiProvision } = gateway.organization;
        await fillReport(gateway.database.client, id, LINES, `repeat('m', 1500)`);
        const response = await ask(gateway.url + EVERYTHING, { headers: { Provision: apiProvision } });
        await until(async () => (await activeReports(gateway.database.client)) === 1);
        const ended = gateway.serve.end('SIGTERM');
        const again = setInterval(() => gateway.serve.child.kill('SIGTERM'), 1100);
        if (grace === '1') clearInterval(again);
        expect(await ended).toBe(1);
        clearInterval(again);
        expect((await readAll(response)).complete).toBe(false);
        expect(gateway.serve.output()).toContain('Answers were cut off');
      });
    }
  });
});

describe('an operator', () => {
  test('starts as many workers as there are cores', async () => {
    const database = await createTestDatabase();
    const serve = await startServe({ DATABASE_URL: database.url, WORKERS: 'auto' });
    try {
      expect(workersOf(serve.child.pid!)).toHaveLength(availableParallelism() > 1 ? availableParallelism() : 0);
      expect(await serve.end('SIGTERM')).toBe(0);
    } finally {
      await serve.end('SIGTERM');
      await database.drop();
    }
  });

  test.each(['0', '129', '1.5', 'all'])('is told that WORKERS=%s is wrong', async (value) => {
    expect(await runCommand({ WORKERS: value }, ['serve'])).toEqual(
      failed(`WORKERS: expected a whole number from 1 to 128, or auto, got "${value}"`),
    );
  });

  test('is told why workers do not start, in one line', async () => {
    const settings = { WORKERS: '2', TRUSTED_DOCUMENTS: '/nowhere/manifest.json', DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' };
    const { status, stdout, stderr } = await runProcess(settings, ['serve']);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^A worker did not start: .*\/nowhere\/manifest\.json.*\n$/);
  });

  test('reads the requests of all workers added up in the metrics', async () => {
    await withWorkers({}, async (gateway) => {
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => askOnce(gateway, false)));
      expect(new Set(outcomes)).toEqual(new Set(['200']));
      await until(async () => (await gateway.metric('gateway_requests_total', { door: 'v2', operation: SYSTEM, code: 'OK' })) === 20);
      expect(await gateway.metric('gateway_request_duration_seconds_count', { door: 'v2' })).toBe(20);
      const logged = gateway.logged('request completed').filter(({ path }) => path === SYSTEM);
      expect(new Set(logged.map(({ pid }) => pid)).size).toBe(2);
      expect(await gateway.metric('nodejs_eventloop_lag_p99_seconds')).toBeLessThan(10);
      const startedAt = await gateway.metric('process_start_time_seconds');
      expect(startedAt).toBeGreaterThan(Date.now() / 1000 - 3600);
      expect(startedAt).toBeLessThan(Date.now() / 1000 + 1);
      expect(await gateway.metric('process_resident_memory_bytes')).toBeGreaterThan(150_000_000);
    });
  });
});
