import { readLines } from './baselines';
import { digest, fields, type Contender, type Period, type ReportClient } from './contenders';
import type { BenchDatabase } from './database';
import type { Reading } from './http-client';
import { cpuMs, memoryMb, resetPeak, treeCpuMs } from './processes';
import { warmUp } from './request-work';
import { median, type Result } from './results';

export interface ReportWork {
  readonly name: string;
  readonly period: Period;
  readonly clients: number;
  /** Answers in one measurement, one after the other; a short answer needs several. */
  readonly repeats: number;
}

/** A contender that needs longer than this for one answer is left out of the work, and the output says so. */
const LONGEST_ANSWER_MS = 20_000;

interface Runner {
  readonly contender: Contender;
  readonly clients: readonly ReportClient[];
  readonly measurements: Measurement[];
}

interface Measurement {
  readonly ms: number;
  readonly firstByteMs: number;
  readonly peakRssMb?: number | undefined;
  readonly databaseCpuMs?: number | undefined;
  readonly serverCpuMs?: number | undefined;
}

/** Measures the contenders in turn, round by round, after each has shown that it answers the same lines. */
export async function measureReports(
  work: ReportWork,
  contenders: readonly Contender[],
  database: BenchDatabase,
  rounds: number,
): Promise<Result[]> {
  const expected = await readLines(database, work.period);
  const runners: Runner[] = [];
  for (const contender of contenders) {
    const clients = await Promise.all(Array.from({ length: work.clients }, () => contender.connect()));
    const runner = { contender, clients, measurements: [] };
    const fault = await findFault(runner, work, expected);
    if (fault === undefined) {
      runners.push(runner);
      continue;
    }
    console.log(`${work.name}: ${contender.name} is left out: ${fault}`);
    await Promise.all(clients.map((client) => client.close()));
  }
  const lines = expected.length;
  expected.length = 0;
  if (work.repeats > 1)
    for (const { clients } of runners) await warmUp(() => Promise.all(clients.map((client) => client.read(work.period))));
  for (let round = 0; round < rounds; round++) {
    for (const runner of runners) runner.measurements.push(await measure(runner, work, database));
  }
  for (const { clients } of runners) await Promise.all(clients.map((client) => client.close()));
  return runners.map((runner) => ({ ...toResult(runner, work, rounds), lines }));
}

/**
 * Measures the first bytes of a short and of a long report of each contender in the same state: each is read after a short one. In the
 * works above, short reports follow each other, and a long one comes after the turns of others, in which the contender was idle.
 */
export async function measureFirstBytes(
  work: string,
  { short, long }: Readonly<Record<'short' | 'long', { readonly name: string; readonly period: Period }>>,
  contenders: readonly Contender[],
  database: BenchDatabase,
  rounds: number,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const contender of contenders) {
    const client = await contender.connect();
    for (const { period } of [short, long]) {
      const asked = { name: work, period, clients: 1, repeats: rounds };
      const fault = await findFault({ contender, clients: [client], measurements: [] }, asked, await readLines(database, period));
      if (fault !== undefined) throw new Error(`${work}: ${contender.name}: ${fault}`);
    }
    const readings = [short, long].map(({ name, period }) => ({ name, period, all: [] as Reading[] }));
    for (let round = 0; round < rounds; round++) {
      for (const { period, all } of readings) {
        await client.read(short.period);
        all.push(await client.read(period));
      }
    }
    await client.close();
    for (const { name, all } of readings) {
      const times = all.map(({ wallMs }) => wallMs);
      const firstByteMs = median(all.map((reading) => reading.firstByteMs));
      results.push({
        ...{ work, contender: `${contender.name}, ${name}`, rounds },
        ...{ medianMs: median(times), minMs: Math.min(...times), firstByteMs },
      });
    }
  }
  return results;
}

/** Asks once to compare the lines and once to warm up; what speaks against measuring the contender, if anything does. */
async function findFault(
  { contender, clients }: Runner,
  { period }: ReportWork,
  expected: readonly string[][],
): Promise<string | undefined> {
  try {
    const found = await clients[0]!.check(period);
    const names = contender.fields;
    const same =
      typeof found === 'number' || !names
        ? found === expected.length
        : digest(found) === digest(expected.map((line) => names.map((name) => line[fields.indexOf(name as (typeof fields)[number])]!)));
    if (!same) throw new Error('its lines are not those of the database');
    const readings = await Promise.all(clients.map((client) => client.read(period)));
    const slowest = Math.max(...readings.map(({ wallMs }) => wallMs));
    return slowest > LONGEST_ANSWER_MS ? `it needs ${Math.round(slowest)} ms for one answer` : undefined;
  } catch (error) {
    return (error as Error).message.trim().split('\n').at(-1);
  }
}

async function measure({ contender, clients }: Runner, { period, repeats }: ReportWork, database: BenchDatabase): Promise<Measurement> {
  const { pid } = contender;
  if (pid !== undefined) resetPeak(pid);
  const serverBefore = pid === undefined ? undefined : cpuMs(pid);
  const databaseBefore = database.pid === undefined ? undefined : treeCpuMs(database.pid);
  const startedAt = performance.now();
  const readings = await Promise.all(
    clients.map(async (client) => {
      const own = [];
      for (let count = 0; count < repeats; count++) own.push(await client.read(period));
      return own;
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  const perAnswer = (after: number | undefined, before: number | undefined): number | undefined =>
    after === undefined || before === undefined ? undefined : (after - before) / repeats / clients.length;
  const all = readings.flat();
  return {
    ms: clients.length === 1 ? median(all.map(({ wallMs }) => wallMs)) : elapsedMs / repeats,
    firstByteMs: median(all.map(({ firstByteMs }) => firstByteMs)),
    peakRssMb: pid === undefined ? undefined : memoryMb(pid)?.peak,
    serverCpuMs: perAnswer(pid === undefined ? undefined : cpuMs(pid), serverBefore),
    databaseCpuMs: perAnswer(database.pid === undefined ? undefined : treeCpuMs(database.pid), databaseBefore),
  };
}

function toResult({ contender, measurements }: Runner, work: ReportWork, rounds: number): Result {
  const middle = (key: keyof Measurement): number | undefined => {
    const values = measurements.map((measurement) => measurement[key]).filter((value) => value !== undefined && !Number.isNaN(value));
    return values.length === 0 ? undefined : median(values as number[]);
  };
  const peaks = measurements.map(({ peakRssMb }) => peakRssMb).filter((peak) => peak !== undefined);
  return {
    work: work.name,
    contender: contender.name,
    medianMs: middle('ms')!,
    minMs: Math.min(...measurements.map(({ ms }) => ms)),
    rounds,
    ...definedOnly({
      peakRssMb: peaks.length === 0 ? undefined : Math.max(...peaks),
      firstByteMs: middle('firstByteMs'),
      databaseCpuMs: middle('databaseCpuMs'),
      serverCpuMs: middle('serverCpuMs'),
    }),
  };
}

const definedOnly = (values: Readonly<Record<string, number | undefined>>): Record<string, number> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== undefined));
