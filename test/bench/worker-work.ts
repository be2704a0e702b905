import { answersPerSecond } from './auth-work';
import { startGateway, toReportUrl, type Period } from './contenders';
import type { BenchDatabase } from './database';
import { HttpClient } from './http-client';
import { treeCpuMs, type ServerProcess } from './processes';
import { median, type Result } from './results';

const SECONDS = 4;
const READERS = 8;
const REPEATS = 4;
const WARM_UPS = 3;
const MS_PER_SECOND = 1000;
const WORKERS = ['1', '2'];

/** The time of one answer, and the CPU of all processes of the gateway and of the database for it. */
interface Measurement {
  readonly ms: number;
  readonly serverCpuMs: number;
  readonly databaseCpuMs: number;
}

type Measure = (gateway: ServerProcess) => Promise<{ readonly answers: number; readonly elapsedMs: number }>;

/**
 * One process against two workers, in turn: checks of a credential over 8 connections, and 8 readers of a month. Cores that the client and
 * PostgreSQL take are missing to the workers, so the CPU of an answer tells what more cores would give.
 */
export async function measureWorkers(database: BenchDatabase, month: Period, rounds: number): Promise<Result[]> {
  const headers = { Provision: database.organization.apiProvision };
  const works: Readonly<Record<string, Measure>> = {
    'workers, checks of a credential': async ({ url }) => {
      const perSecond = await answersPerSecond(SECONDS, `${url}/api/v2/authenticated_test_system`, headers);
      return { answers: perSecond * SECONDS, elapsedMs: SECONDS * MS_PER_SECOND };
    },
    'workers, month, 8 readers': async (gateway) => {
      const clients = Array.from({ length: READERS }, () => new HttpClient());
      const startedAt = performance.now();
      const readAll = async (client: HttpClient): Promise<void> => {
        for (let count = 0; count < REPEATS; count++) await client.read({ url: toReportUrl(gateway, month), headers });
      };
      await Promise.all(clients.map(readAll));
      for (const client of clients) client.close();
      return { answers: READERS * REPEATS, elapsedMs: performance.now() - startedAt };
    },
  };
  const results: Result[] = [];
  for (const [work, ask] of Object.entries(works)) {
    const gateways = await Promise.all(WORKERS.map((count) => startGateway(database, { WORKERS: count })));
    const measured = gateways.map(() => [] as Measurement[]);
    // The compiler of each worker needs its share of the warm-up.
    for (let count = 0; count < WARM_UPS; count++) for (const gateway of gateways) await ask(gateway);
    for (let round = 0; round < rounds; round++) {
      for (const [place, gateway] of gateways.entries()) measured[place]!.push(await measureOnce(gateway, database, ask));
    }
    for (const [place, measurements] of measured.entries()) results.push(toResult(work, WORKERS[place]!, measurements));
    for (const gateway of gateways) await gateway.stop();
  }
  return results;
}

async function measureOnce(gateway: ServerProcess, database: BenchDatabase, ask: Measure): Promise<Measurement> {
  const cpu = () => [treeCpuMs(gateway.pid) ?? NaN, database.pid === undefined ? NaN : (treeCpuMs(database.pid) ?? NaN)] as const;
  const before = cpu();
  const { answers, elapsedMs } = await ask(gateway);
  const after = cpu();
  return { ms: elapsedMs / answers, serverCpuMs: (after[0] - before[0]) / answers, databaseCpuMs: (after[1] - before[1]) / answers };
}

function toResult(work: string, workers: string, measurements: readonly Measurement[]): Result {
  const middle = (key: keyof Measurement): number => median(measurements.map((measurement) => measurement[key]));
  return {
    ...{ work, contender: `WORKERS=${workers}`, rounds: measurements.length },
    ...{ medianMs: middle('ms'), minMs: Math.min(...measurements.map(({ ms }) => ms)) },
    ...{ serverCpuMs: middle('serverCpuMs'), databaseCpuMs: middle('databaseCpuMs') },
  };
}
