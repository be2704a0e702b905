import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { startServe } from '../support/command';
import { createTestDatabase } from '../support/database';
import { createOrganization, withGateway } from '../support/gateway';
import { ask } from '../support/http-client';
import { EVERYTHING, fillReport } from '../support/long-report';
import { until } from '../support/until';

const SYSTEM = '/api/v2/authenticated_test_system';
/** The longest drain that can be set, far longer than a stop takes. */
const LONG_DRAIN_MS = 60_000;
/** A grace time far longer than a stop takes without an answer in flight. */
const LONG_GRACE_MS = 60_000;
/** A thread that listens and falls asleep, so that its connections stay in the listener's queue. */
const SLEEPING_LISTENER = `
  const { parentPort, workerData } = require('node:worker_threads');
  require('node:net').createServer().listen(workerData, () => {
    parentPort.postMessage('listens');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

function get(url: string, headers: Record<string, string>, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { headers, agent }, (response) => resolve(response.resume()))
      .on('error', reject)
      .end();
  });
}

describe('a gateway that is told to stop', () => {
  test('says so on /ready first, still answers, and resets nobody', async () => {
    await withGateway({ DRAIN_MILLISECONDS: '2000' }, async (gateway) => {
      const { apiProvision } = await createOrganization(gateway.services);
      const clients = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const outcomes: (number | string)[] = [];
      // As a balancer's do, they go on until an answer tells them that the connection ends.
      const loops = clients.map(async (agent) => {
        for (let open = true; open;) {
          const response = await get(gateway.url + SYSTEM, { Provision: apiProvision }, agent);
          outcomes.push(response.statusCode!);
          open = response.headers.connection !== 'close';
        }
      });
      await until(() => outcomes.length > 50);
      const stopped = gateway.stop();
      const ready = await fetch(`${gateway.url}/ready`);
      expect([ready.status, ready.headers.get('connection'), await ready.json()]).toEqual([
        503,
        'close',
        { status: 'not ready', reason: 'The gateway is stopping' },
      ]);
      expect((await fetch(`${gateway.url}/live`)).status).toBe(200);
      await Promise.all([stopped, ...loops]);
      expect(new Set(outcomes)).toEqual(new Set([200]));
      for (const agent of clients) agent.destroy();
    });
  });

  test('resets nobody who opens a connection for each request', async () => {
    const database = await createTestDatabase();
    for (let round = 0; round < 2; round++) {
      // In a process of its own, as its clients see it.
      const gateway = await startServe({ DATABASE_URL: database.url, DRAIN_MILLISECONDS: '100' });
      const outcomes: string[] = [];
      const clients = Array.from({ length: 8 }, async () => {
        for (let outcome = ''; outcome !== 'refused'; outcomes.push(outcome)) outcome = await askOnce(`${gateway.url}/live`);
      });
      await until(() => outcomes.length > 50);
      const [status] = await Promise.all([gateway.end('SIGTERM'), ...clients]);
      expect([status, new Set(outcomes)]).toEqual([0, new Set(['200', 'refused'])]);
    }
    await database.drop();
  });

  test('does not wait for connections that another listener at its port leaves waiting', async () => {
    await withGateway({ SHUTDOWN_GRACE_SECONDS: `${LONG_GRACE_MS / 1000}` }, async (gateway) => {
      const other = { port: Number(new URL(gateway.url).port), host: '127.0.0.2' };
      const listener = new Worker(SLEEPING_LISTENER, { eval: true, workerData: other });
      await once(listener, 'message');
      const clients = [connect(other), connect(other)];
      await Promise.all(clients.map((client) => once(client, 'connect')));
      const startedAt = Date.now();
      await gateway.stop();
      const stoppedAt = Date.now();
      for (const client of clients) client.destroy();
      await listener.terminate();
      expect(stoppedAt - startedAt).toBeLessThan(LONG_GRACE_MS / 2);
    });
  });

  test('by Ctrl-C, by a terminal that closes, or by a second signal, waits for no balancer', async () => {
    const database = await createTestDatabase();
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) {
      const gateway = await startServe({ DATABASE_URL: database.url, DRAIN_MILLISECONDS: signal === 'SIGTERM' ? `${LONG_DRAIN_MS}` : '' });
      const startedAt = Date.now();
      const ended = gateway.end(signal);
      const again = setInterval(() => gateway.child.kill(signal), 1100);
      if (signal !== 'SIGTERM') clearInterval(again);
      expect(await ended).toBe(0);
      clearInterval(again);
      expect(Date.now() - startedAt).toBeLessThan(LONG_DRAIN_MS);
      expect(gateway.output()).toContain(`"reason":"${signal}","drainMs":${signal === 'SIGTERM' ? LONG_DRAIN_MS : 0}`);
    }
    await database.drop();
  });

  test('drains for eight seconds before a database that gateways share, when no drain is set', async () => {
    const database = await createTestDatabase();
    const gateway = await startServe({ DATABASE_URL: database.url, DRAIN_MILLISECONDS: '' });
    const stopping = () => /^\{.*"msg":"stopping"\}$/m.exec(gateway.output())?.[0];
    const ended = gateway.end('SIGTERM');
    await until(() => stopping() !== undefined);
    expect(JSON.parse(stopping()!)).toMatchObject({ reason: 'SIGTERM', drainMs: 8000 });
    // A second signal within a second counts as the same one.
    const again = setInterval(() => gateway.child.kill('SIGTERM'), 1100);
    const status = await ended;
    clearInterval(again);
    expect(status).toBe(0);
    await database.drop();
  });

  test('cuts a report that does not finish within the grace time, so that it shows', async () => {
    await withGateway({ SHUTDOWN_GRACE_SECONDS: '1' }, async (gateway) => {
      const { id, apiProvision } = await createOrganization(gateway.services);
      await fillReport(gateway.database.client, id, 50_000, `''`);
      const response = await ask(gateway.url + EVERYTHING, { headers: { Provision: apiProvision } });
      const broken = new Promise((resolve) => response.once('error', resolve));
      await gateway.stop();
      response.resume();
      await broken;
      expect(response.complete).toBe(false);
    });
  });
});

/** The status, `refused` where nobody listens any more, or the error. */
function askOnce(url: string): Promise<string> {
  return new Promise((resolve) => {
    request(url, { agent: false }, (response) => {
      response
        .resume()
        .on('end', () => resolve(`${response.statusCode}`))
        .on('error', ({ message }) => resolve(message));
    })
      .on('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : message))
      .end();
  });
}
