import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { login } from '../support/gateway';
import type { BenchDatabase } from './database';
import { cpuMs, startProcess, startServer, treeCpuMs, type ServerProcess } from './processes';
import { median, type Result } from './results';

const SECONDS = 4;
const WARM_UP_SECONDS = 5;
const MS_PER_SECOND = 1000;

/**
 * The two authentication routes against Express that only looks the provision up; each answers as many requests as 8 connections bring. The
 * CPU is that of one request.
 */
export async function measureAuthentication(database: BenchDatabase, gateway: ServerProcess, rounds: number): Promise<Result[]> {
  const bare = await startServer(process.execPath, [join(__dirname, 'bare-express.mjs')], { DATABASE_URL: database.url });
  const { apiProvision, webProvision } = database.organization;
  const routes: readonly { readonly path: string; readonly headers: Record<string, string> }[] = [
    { path: '/authenticated_test_system', headers: { Provision: apiProvision } },
    {
      path: '/authenticated_test_session',
      headers: { Provision: webProvision, Cookie: await login(gateway.url, webProvision) },
    },
  ];
  const results: Result[] = [];
  try {
    for (const { path, headers } of routes) {
      const contenders = [
        { name: 'bare Express + pg', pid: bare.pid, url: bare.url + path, loads: [] as Load[] },
        { name: 'ours, REST', pid: gateway.pid, url: `${gateway.url}/api/v2${path}`, loads: [] as Load[] },
      ];
      const bodies = await Promise.all(contenders.map(async ({ url }) => (await fetch(url, { headers })).text()));
      if (new Set(bodies).size !== 1) throw new Error(`${path} is answered in different ways: ${bodies.join(', ')}`);
      for (const { url } of contenders) await answersPerSecond(WARM_UP_SECONDS, url, headers);
      for (let round = 0; round < rounds; round++) {
        for (const { pid, url, loads } of contenders) {
          loads.push(await measureLoad(() => answersPerSecond(SECONDS, url, headers), pid, database.pid));
        }
      }
      for (const { name, loads } of contenders) {
        const times = loads.map(({ ms }) => ms);
        const middle = (key: 'serverCpuMs' | 'databaseCpuMs'): number => median(loads.map((each) => each[key]));
        const cpu = { serverCpuMs: middle('serverCpuMs'), databaseCpuMs: middle('databaseCpuMs') };
        results.push({ work: path.slice(1), contender: name, medianMs: median(times), minMs: Math.min(...times), rounds, ...cpu });
      }
    }
  } finally {
    await bare.stop();
  }
  return results;
}

/** The time and the CPU of one request; NaN where there is no /proc. */
interface Load {
  readonly ms: number;
  readonly serverCpuMs: number;
  readonly databaseCpuMs: number;
}

async function measureLoad(run: () => Promise<number>, server: number, database: number | undefined): Promise<Load> {
  const read = () => [cpuMs(server) ?? NaN, database === undefined ? NaN : (treeCpuMs(database) ?? NaN)] as const;
  const before = read();
  const rate = await run();
  const [serverCpuMs, databaseCpuMs] = read().map((after, place) => (after - before[place]!) / (rate * SECONDS)) as [number, number];
  return { ms: MS_PER_SECOND / rate, serverCpuMs, databaseCpuMs };
}

/** The answers a second that 8 connections bring. */
export async function answersPerSecond(seconds: number, url: string, headers: object): Promise<number> {
  const words = [join(__dirname, 'load.mjs'), String(seconds), url, JSON.stringify(headers)];
  const child = startProcess(() => spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const [answer, [status]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>]);
  if (status !== 0) throw new Error(`load.mjs ended with ${status}`);
  return Number(answer);
}
