import { Agent, get } from 'node:http';
import { startServe, type ServeProcess } from '../support/command';
import { createTestDatabase } from '../support/database';
import { until } from '../support/until';

/** Connections that requests are sent on at once. */
const CONNECTIONS = 20;

interface LogLine {
  readonly msg: string;
  readonly lines?: number;
}

const linesOf = (gateway: ServeProcess): LogLine[] =>
  gateway
    .output()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine);

const countRequests = (gateway: ServeProcess): number => linesOf(gateway).filter(({ msg }) => msg === 'request completed').length;

/** Sends this many requests. Each gets 404, without the database. */
async function ask(url: string, count: number, agent: Agent): Promise<void> {
  const askOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get(`${url}/nowhere`, { agent }, (response) => response.resume().once('end', resolve)).once('error', reject);
    });
  await Promise.all(Array.from({ length: count }, askOne));
}

describe("the log of a gateway's process", () => {
  let gateway: ServeProcess;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  beforeAll(async () => {
    gateway = await startServe({ DATABASE_URL: (await createTestDatabase()).url });
  });
  afterAll(async () => {
    agent.destroy();
    await gateway.end('SIGTERM');
  });

  test('has the line of each request soon, whether others come at the same time or none', async () => {
    let sent = 0;
    for (const burst of [1, 2, 40, 1, 7, 300, 1, 15]) {
      await ask(gateway.url, burst, agent);
      sent += burst;
      await until(() => countRequests(gateway) >= sent, 10_000);
    }
    expect(countRequests(gateway)).toBe(sent);
  });

  test('has all lines soon after its reader has paused, and loses none of less than a megabyte', async () => {
    // Lines are written in pieces of some 50, and the last piece is another part of them each time.
    for (const count of [600, 610, 620, 630, 640, 650]) {
      const before = countRequests(gateway);
      gateway.child.stdout!.pause();
      await ask(gateway.url, count, agent);
      gateway.child.stdout!.resume();
      await until(() => countRequests(gateway) >= before + count, 10_000);
      expect(countRequests(gateway)).toBe(before + count);
    }
  });

  test('says how many lines were lost when nobody read it, and has each of the others whole', async () => {
    const before = countRequests(gateway);
    const count = 5000;
    gateway.child.stdout!.pause();
    await ask(gateway.url, count, agent);
    gateway.child.stdout!.resume();
    const lost = () => linesOf(gateway).find(({ msg }) => msg === 'log lines were lost')?.lines ?? 0;
    await until(() => countRequests(gateway) - before + lost() >= count);
    expect(lost()).toBeGreaterThan(0);
    expect(countRequests(gateway) - before + lost()).toBe(count);
  });

  test('ends with the line of the stop', async () => {
    await ask(gateway.url, 3, agent);
    expect(await gateway.end('SIGTERM')).toBe(0);
    expect(linesOf(gateway).at(-1)!.msg).toBe('stopped');
  });
});
