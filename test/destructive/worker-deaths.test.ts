import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { startServe, succeed } from '../support/command';
import { createOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { until } from '../support/until';
import { isAlive, withWorkers, workersOf, type WorkerGateway } from '../support/worker-gateway';

const LINES = 20_000;
const DAY_LINES = 20;
const FIRST_DAY = `${REPORT}?start_date=2020-01-01&end_date=2020-01-01`;
const SYSTEM = '/api/v2/authenticated_test_system';

const dayOf = async (gateway: WorkerGateway, provision: string): Promise<number> => {
  const { body } = await readAll(await ask(gateway.url + FIRST_DAY, { headers: { Provision: provision } }));
  return (JSON.parse(body.toString()) as { response: object[] }).response.length;
};
const statusOf = async (gateway: WorkerGateway): Promise<number> =>
  (await ask(gateway.url + SYSTEM, { headers: { Provision: gateway.organization.apiProvision } })).resume().statusCode!;
const outcomeOf = (gateway: WorkerGateway): Promise<unknown> =>
  statusOf(gateway).catch((error: unknown) => (error as NodeJS.ErrnoException).code);

describe('a worker that is killed', () => {
  test('cuts its own answers alone, gives its lanes back, and is followed by another one', async () => {
    await withWorkers({ REPORT_CONCURRENCY: '1' }, async (gateway) => {
      const { id, apiProvision } = gateway.organization;
      const other = await createOrganization(gateway.services);
      for (const each of [id, other.id]) await fillReport(gateway.database.client, each, LINES, `repeat('m', 500)`);
      const holding = await ask(gateway.url + EVERYTHING, { headers: { Provision: apiProvision } });
      const guest = await ask(gateway.url + EVERYTHING, { headers: { Provision: other.apiProvision } });
      expect(await gateway.metric('gateway_report_lanes')).toBe(2);
      const waiting = dayOf(gateway, apiProvision);
      await until(async () => (await gateway.metric('gateway_reports_waiting')) === 1);
      const requests = (await gateway.metric('gateway_requests_total', { door: 'admin' }))!;
      const before = gateway.pids();
      // Each of the two workers has one of the reports that stand still; the one in line waits at either.
      kill(before[0]!, 'SIGKILL');
      await until(() => gateway.logged('a worker ended; another one is started after the pause').length === 1);
      const read = await Promise.all([readAll(holding), readAll(guest)]);
      expect(read.map(({ complete }) => complete).sort()).toEqual([false, true]);
      expect(gateway.logged('a worker ended; another one is started after the pause')).toEqual([
        expect.objectContaining({ level: 50, worker: before[0], how: 'signal SIGKILL', pauseMs: 1000 }),
      ]);
      await waiting.catch(() => undefined);
      await until(async () => (await gateway.metric('gateway_report_lanes')) === 0);
      expect(await dayOf(gateway, apiProvision)).toBe(DAY_LINES);
      await until(() => gateway.pids().length === 2);
      expect(gateway.pids()).toContain(before[1]);
      expect((await gateway.metric('gateway_requests_total', { door: 'admin' }))!).toBeGreaterThanOrEqual(requests);
    });
  });

  test('does so again and again, after pauses that grow', async () => {
    await withWorkers({}, async (gateway) => {
      const ended = () => gateway.logged('a worker ended; another one is started after the pause');
      for (let round = 1; round <= 3; round++) {
        await until(() => gateway.pids().length === 2);
        // The newest one, which has the highest number.
        kill(Math.max(...gateway.pids()), 'SIGKILL');
        await until(() => ended().length >= round);
        expect(await statusOf(gateway)).toBe(200);
      }
      expect(
        ended()
          .slice(0, 3)
          .map(({ pauseMs }) => pauseMs),
      ).toEqual([1000, 2000, 4000]);
    });
  });

  test('is followed by one that drains too when the gateway is told to stop before it can serve', async () => {
    await withWorkers({ DRAIN_MILLISECONDS: '60000' }, async (gateway) => {
      const before = gateway.pids();
      kill(before[0]!, 'SIGKILL');
      const findNext = (): number | undefined => gateway.pids().find((pid) => !before.includes(pid));
      await until(() => findNext() !== undefined);
      const next = findNext()!;
      kill(next, 'SIGSTOP');
      kill(gateway.serve.child.pid!, 'SIGTERM');
      await until(() => gateway.logged('stopping').length === 1);
      kill(next, 'SIGCONT');
      const statuses = new Set<number>();
      const hasAnswered = (): boolean => gateway.logged('request completed').some(({ pid }) => pid === next);
      await until(async () => {
        // Each has a connection of its own, and the workers get them in turn.
        const answers = await Promise.all(Array.from({ length: 4 }, () => ask(`${gateway.url}/ready`)));
        for (const answer of answers) statuses.add(answer.resume().statusCode!);
        return hasAnswered();
      });
      expect([...statuses]).toEqual([503]);
      const again = setInterval(() => gateway.serve.child.kill('SIGTERM'), 1100);
      await until(() => gateway.serve.child.exitCode !== null);
      clearInterval(again);
    });
  });

  test('takes no total of the metrics with it', async () => {
    await withWorkers({}, async (gateway) => {
      for (let n = 0; n < 10; n++) expect(await statusOf(gateway)).toBe(200);
      const total = () => gateway.metric('gateway_requests_total', { door: 'v2', operation: SYSTEM, code: 'OK' });
      await until(async () => (await total()) === 10);
      for (const pid of gateway.pids()) kill(pid, 'SIGKILL');
      await until(() => gateway.logged('a worker ended; another one is started after the pause').length === 2);
      expect(await total()).toBe(10);
      // It waits for the next worker.
      expect(await statusOf(gateway)).toBe(200);
      await until(async () => (await total()) === 11);
    });
  });
});

test('a worker that stands still holds up one new connection, and its gateway ends all the same', async () => {
  await withWorkers({ SHUTDOWN_GRACE_SECONDS: '1' }, async (gateway) => {
    await statusOf(gateway);
    const [still] = gateway.pids();
    kill(still!, 'SIGSTOP');
    const answers = Array.from({ length: 20 }, () => statusOf(gateway));
    let answered = 0;
    for (const answer of answers)
      void answer.then(
        () => answered++,
        () => undefined,
      );
    await until(() => answered >= 19);
    expect(await gateway.metric('gateway_ready')).toBe(1);
    expect(await gateway.serve.end('SIGTERM')).toBe(1);
    expect(isAlive(still!)).toBe(false);
  });
});

test('a worker that stands still does not hold up the stop of the others', async () => {
  await withWorkers({ SHUTDOWN_GRACE_SECONDS: '3600' }, async (gateway) => {
    await statusOf(gateway);
    const [still, healthy] = gateway.pids();
    kill(still!, 'SIGSTOP');
    let answered = 0;
    for (let n = 0; n < 20; n++) void outcomeOf(gateway).then(() => answered++);
    await until(() => answered === 19);
    const ended = gateway.serve.end('SIGTERM');
    await until(() => !isAlive(healthy!)).finally(() => kill(still!, 'SIGKILL'));
    expect(await ended).toBe(1);
  });
});

test('workers that had no file descriptor to spare take connections again when they have', async () => {
  await withWorkers({}, async (gateway) => {
    await statusOf(gateway);
    // The limit of new descriptors alone. Those that a worker has stay open.
    const limitAll = (count: number): void => {
      for (const pid of gateway.pids()) execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${count}:`]);
    };
    limitAll(1);
    for (let n = 0; n < 4; n++) expect(await outcomeOf(gateway)).toBe('ECONNRESET');
    limitAll(1024);
    for (let n = 0; n < 4; n++) expect(await statusOf(gateway)).toBe(200);
    expect(await gateway.serve.end('SIGTERM')).toBe(0);
  });
});

test('workers end with their primary, and another gateway takes the data directory over', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-workers-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(directory, 0o755);
  const environment = { DATA_DIR: join(directory, 'data'), DEMO: 'off', WORKERS: '2' };
  try {
    const killed = await startServe(environment);
    await succeed(environment, ['organization', 'create', 'Church']);
    const workers = workersOf(killed.child.pid!);
    expect(workers).toHaveLength(2);
    await killed.end('SIGKILL');
    await until(() => !workers.some(isAlive));
    const next = await startServe(environment);
    expect((await fetch(`${next.url}/ready`)).status).toBe(200);
    expect(await succeed(environment, ['organization', 'list'])).toContain('Church');
    expect(await next.end('SIGTERM')).toBe(0);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
