import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ours, startGateway, toReportUrl, type Contender, type Period } from './contenders';
import type { BenchDatabase } from './database';
import { HttpClient } from './http-client';
import { memoryMb, resetPeak, startScript, type ServerProcess } from './processes';
import { median, p99, type Result } from './results';

const STALLED_READERS = 20;
const STALL_MS = 8000;
const SAMPLE_MS = 50;
const PROBES = 500;
const PROBE_PAUSE_MS = 10;

/**
 * Measures the memory that one whole report costs the gateway on each door. Prints the peak of each half: the second one is higher when the
 * cost grows with the length.
 */
export async function measureMemory(database: BenchDatabase, period: Period, warmUp: Period): Promise<Result[]> {
  const results: Result[] = [];
  for (const door of ['ours, REST', 'ours, GraphQL', 'ours, CSV']) {
    const gateway = await startGateway(database);
    try {
      const contender = ours(gateway, database).find(({ name }) => name === door)!;
      const idleMb = await settle(gateway, contender, warmUp);
      const client = await contender.connect();
      const samples: number[] = [];
      const timer = setInterval(() => samples.push(memoryMb(gateway.pid)?.now ?? NaN), SAMPLE_MS);
      const { wallMs } = await client.read(period);
      clearInterval(timer);
      await client.close();
      const halves = [samples.slice(0, samples.length / 2), samples.slice(samples.length / 2)];
      console.log(
        `${door}: peak of the first half ${halves.map((half) => Math.max(...half).toFixed(0)).join(' MB, of the second half ')} MB`,
      );
      results.push(toMemoryResult('whole data set', door, wallMs, gateway, idleMb));
    } finally {
      await gateway.stop();
    }
  }
  return results;
}

/** Readers that ask for everything and read nothing of it; the gateway lets all of them in at once. */
export async function measureStalledReaders(database: BenchDatabase, period: Period, warmUp: Period): Promise<Result[]> {
  const gateway = await startGateway(database, { REPORT_CONCURRENCY: String(STALLED_READERS) });
  const sockets: Socket[] = [];
  try {
    const idleMb = await settle(gateway, ours(gateway, database)[0]!, warmUp);
    const { pathname, search, hostname, port } = new URL(toReportUrl(gateway, period));
    for (let count = 0; count < STALLED_READERS; count++) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      await once(socket, 'connect');
      socket.pause();
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nProvision: ${database.organization.apiProvision}\r\n\r\n`);
      sockets.push(socket);
    }
    await sleep(STALL_MS);
    const reading = await countReports(database);
    if (reading < STALLED_READERS) {
      console.log(
        `Not measured: only ${reading} of ${STALLED_READERS} readers stopped in the midst of a report; a socket holds the others'`,
      );
      return [];
    }
    return [toMemoryResult(`${STALLED_READERS} readers that stop reading`, 'ours, REST', STALL_MS, gateway, idleMb)];
  } finally {
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
  }
}

async function countReports({ url }: BenchDatabase): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%' AND backend_type = 'client backend'`,
  );
  await client.end();
  return rows[0]?.count ?? 0;
}

/** Measures the wait of a small request while four readers take one report after the other. */
export async function measureLiveness(gateway: ServerProcess, database: BenchDatabase, period: Period): Promise<Result> {
  const readers = await startReaders('report-readers.ts', [toReportUrl(gateway, period), database.organization.apiProvision, '4']);
  const client = new HttpClient();
  const times: number[] = [];
  try {
    for (let count = 0; count < PROBES; count++) {
      times.push((await client.read({ url: `${gateway.url}/live` })).wallMs);
      await sleep(PROBE_PAUSE_MS);
    }
    if (readers.exitCode !== null) throw new Error('The readers have ended');
  } finally {
    client.close();
    readers.kill();
  }
  const base = { work: '/live during 4 reports of a year', contender: 'ours', rounds: PROBES, minMs: Math.min(...times) };
  return { ...base, medianMs: median(times), p99Ms: p99(times) };
}

/** Resolves when every reader has got its first report and goes on. */
async function startReaders(name: string, words: readonly string[]): Promise<ChildProcess> {
  const readers = startScript(name, words);
  await Promise.race([
    once(readers.stdout!, 'data'),
    once(readers, 'exit').then(() => Promise.reject(new Error('The readers have ended'))),
  ]);
  return readers;
}

/** Lets the gateway warm up on short reports and returns the memory that it then has. */
async function settle(gateway: ServerProcess, contender: Contender, warmUp: Period): Promise<number> {
  const client = await contender.connect();
  for (let count = 0; count < 50; count++) await client.read(warmUp);
  await client.close();
  await sleep(500);
  resetPeak(gateway.pid);
  return memoryMb(gateway.pid)?.now ?? NaN;
}

function toMemoryResult(work: string, contender: string, ms: number, { pid }: ServerProcess, idleMb: number): Result {
  const peakRssMb = memoryMb(pid)?.peak ?? NaN;
  return { work: `memory, ${work}`, contender, medianMs: ms, minMs: ms, rounds: 1, peakRssMb, aboveIdleMb: peakRssMb - idleMb };
}
