import { execFileSync } from 'node:child_process';
import { readdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { text } from 'node:stream/consumers';
import { startCommand } from '../support/command';
import { createTestDatabase } from '../support/database';
import { ask } from '../support/http-client';
import { until } from '../support/until';
import { signalAll, withWorkers, workersOf, type WorkerGateway } from '../support/worker-gateway';

const LOST = 'a worker ended; another one is started after the pause';

/** Writes a module that NODE_OPTIONS makes every process of a gateway load first. Node loads one of this kind while messages come already. */
async function withModule(text: string, use: (options: { readonly NODE_OPTIONS: string }) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-module-'));
  const path = join(directory, 'first.mjs');
  writeFileSync(path, text);
  try {
    await use({ NODE_OPTIONS: `--import ${path}` });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Kills both workers, and stops those that follow before they can serve. Resolves to their processes. */
async function holdNextWorkers(gateway: WorkerGateway): Promise<number[]> {
  const before = gateway.pids();
  for (const pid of before) kill(pid, 'SIGKILL');
  const findNext = (): number[] => gateway.pids().filter((pid) => !before.includes(pid));
  const held = new Set<number>();
  await until(() => {
    for (const pid of findNext()) {
      kill(pid, 'SIGSTOP');
      held.add(pid);
    }
    return held.size === 2;
  });
  return [...held];
}

/** Opens a connection and waits until it is established. It sends nothing. */
async function open(gateway: WorkerGateway): Promise<Socket> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

describe('a gateway whose workers load a module of the operator first', () => {
  test('serves, however long that takes', async () => {
    await withModule('await new Promise((resolve) => setTimeout(resolve, 500));', async (options) => {
      await withWorkers(options, async (gateway) => {
        expect((await ask(`${gateway.url}/ready`)).resume().statusCode).toBe(200);
        expect(await gateway.serve.end('SIGTERM')).toBe(0);
      });
    });
  });

  test('ends when it is told to, before its workers can serve', async () => {
    const database = await createTestDatabase();
    try {
      await withModule('if (process.env.NODE_UNIQUE_ID) await new Promise(() => setInterval(() => undefined, 1000));', async (options) => {
        const child = startCommand({ ...options, WORKERS: '2', PORT: '0', DATABASE_URL: database.url }, ['serve']);
        let output = '';
        child.stdout!.on('data', (piece: Buffer) => (output += piece.toString()));
        await until(() => workersOf(child.pid!).length === 2);
        child.kill('SIGTERM');
        await until(() => child.exitCode !== null).finally(() => child.kill('SIGKILL'));
        expect(child.exitCode).toBe(0);
        expect(output).toContain('"msg":"stopped"');
      });
    } finally {
      await database.drop();
    }
  });
});

describe('a caller whose connection waits for a worker that starts', () => {
  test('is answered, when the gateway is told to stop', async () => {
    await withWorkers({ SHUTDOWN_GRACE_SECONDS: '60' }, async (gateway) => {
      const held = await holdNextWorkers(gateway);
      // The connection stands before the gateway is told to stop, which takes no further ones.
      const caller = await open(gateway);
      caller.write('GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      const answer = text(caller);
      const ended = gateway.serve.end('SIGTERM');
      await until(() => gateway.logged('stopping').length === 1);
      for (const pid of held) kill(pid, 'SIGCONT');
      expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(await ended).toBe(0);
    });
  });

  test('is closed after the grace time, and the gateway says so', async () => {
    await withWorkers({ SHUTDOWN_GRACE_SECONDS: '1' }, async (gateway) => {
      await holdNextWorkers(gateway);
      const caller = await open(gateway);
      const closed = new Promise((resolve) => caller.once('close', resolve));
      expect(await gateway.serve.end('SIGTERM')).toBe(1);
      await closed;
      expect(gateway.serve.output()).toContain('Answers were cut off');
    });
  });

  test('is closed after half a minute', async () => {
    await withWorkers({}, async (gateway) => {
      const held = await holdNextWorkers(gateway);
      const caller = (await open(gateway)).resume();
      const openedAt = Date.now();
      await until(() => caller.closed, 55_000);
      expect(Date.now() - openedAt).toBeGreaterThan(28_000);
      for (const pid of held) kill(pid, 'SIGCONT');
      expect(await gateway.serve.end('SIGTERM')).toBe(0);
    });
  });
});

test('a signal to every process stops a gateway whose worker has not begun to serve, with status 0', async () => {
  await withWorkers({}, async (gateway) => {
    const before = gateway.pids();
    kill(before[0]!, 'SIGKILL');
    await until(() => gateway.pids().some((pid) => !before.includes(pid)));
    signalAll(gateway, 'SIGTERM');
    await until(() => gateway.serve.child.exitCode !== null);
    expect(gateway.serve.child.exitCode).toBe(0);
  });
});

test('callers that have taken all file descriptors while no worker lived do not keep the next one from starting', async () => {
  await withWorkers({}, async (gateway) => {
    const primary = gateway.serve.child.pid!;
    const limit = readdirSync(`/proc/${primary}/fd`).length + 20;
    execFileSync('prlimit', [`--pid=${primary}`, `--nofile=${limit}:`]);
    const callers: Socket[] = [];
    // As one of them is closed, another one comes.
    const call = async (): Promise<void> => void callers.push((await open(gateway)).once('close', () => void call()).resume());
    for (const pid of gateway.pids()) kill(pid, 'SIGKILL');
    await Promise.all(Array.from({ length: 60 }, call));
    try {
      await until(() => gateway.logged(LOST).some(({ how }) => String(how).includes('EMFILE')));
      await until(async () => (await ask(`${gateway.url}/ready`).catch(() => undefined))?.resume().statusCode === 200);
    } finally {
      for (const caller of callers) caller.removeAllListeners('close').destroy();
    }
    expect(gateway.serve.child.exitCode).toBeNull();
  });
});
