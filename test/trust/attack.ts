import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config';
import { createServices, type Services } from '../../src/services';
import { startServe, type ServeProcess } from '../support/command';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../support/database';

/** A figure that an attack reached, and whether it holds the limit. */
export interface Finding {
  readonly name: string;
  readonly figure: string;
  readonly holds: boolean;
}

export type Attack = () => Promise<readonly Finding[]>;

/** The reason why an attack cannot be tried on this machine. */
export class NotRun extends Error {
  override readonly name = 'NotRun';
}

/** Throws NotRun unless the machine has a command. */
export function assertInstalled(...commands: readonly string[]): void {
  for (const command of commands) {
    const { error } = spawnSync(command, ['--version']);
    if (error) throw new NotRun(`${command} is not installed`);
  }
}

/** The limits of waiting for the database that operators get; those of tests are longer. */
export const USUAL_WAITS = { DATABASE_CONNECT_MILLISECONDS: '2000', DATABASE_ANSWER_MILLISECONDS: '3000' };

/** A gateway in a process of its own, as operators run it, over a database of its own. */
export interface Target {
  readonly serve: ServeProcess;
  readonly database: TestDatabase;
  readonly services: Services;
  stop(): Promise<void>;
}

const serving = new Set<ServeProcess>();

/** Ends the gateways of an attack that took too long. */
export function killTargets(): void {
  for (const { child } of serving) child.kill('SIGKILL');
}

export async function startTarget(settings: Readonly<Record<string, string>> = {}): Promise<Target> {
  const database = await createTestDatabase();
  const config = readConfig({ ...databaseSettings(), ...settings, DATABASE_URL: database.url });
  const services = createServices(config, { connectionString: database.url });
  const serve = await startServe({ DATABASE_URL: database.url, ...settings });
  serving.add(serve);
  return {
    serve,
    database,
    services,
    stop: async () => {
      if (serve.child.exitCode === null) await serve.end('SIGTERM');
      await services.close();
      await database.drop();
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly ms: number;
  /** The beginning of a long body. */
  readonly body: string;
  /** The SHA-256 of the whole body. */
  readonly digest: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** The number of pieces that are kept of a long body. */
const KEPT_PIECES = 4;

/** One request, read to its end. */
export function send(url: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}): Promise<Answer> {
  const startedAt = performance.now();
  const { method = 'GET', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    request(url, { method, headers, agent }, (response) => {
      const pieces: Buffer[] = [];
      const hash = createHash('sha256');
      response.on('data', (piece: Buffer) => {
        hash.update(piece);
        if (pieces.length < KEPT_PIECES) pieces.push(piece);
      });
      response.on('error', reject).on('end', () => {
        resolve({
          status: response.statusCode!,
          ms: performance.now() - startedAt,
          body: Buffer.concat(pieces).toString(),
          digest: hash.digest('hex'),
        });
      });
    })
      .on('error', reject)
      .end(body);
  });
}

/** Calls again and again, so many at once, until the time is over. */
export async function hammer(clients: number, seconds: number, call: (client: number) => Promise<unknown>): Promise<void> {
  const end = Date.now() + seconds * 1000;
  const loop = async (client: number): Promise<void> => {
    while (Date.now() < end) await call(client).catch(() => sleep(50));
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
}

/** Calls at a fixed pace, whether or not the answers before have come, and gathers all answers. */
export async function probe(seconds: number, everyMs: number, call: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Promise<Answer>[] = [];
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    const startedAt = performance.now();
    answers.push(call().catch((error: unknown) => ({ status: 0, ms: performance.now() - startedAt, body: String(error), digest: '' })));
    await sleep(everyMs);
  }
  return Promise.all(answers);
}

/** The time within which so many of a hundred were answered. */
export function percentile(answers: readonly { readonly ms: number }[], percent: number): number {
  const sorted = answers.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

export const inMs = (ms: number): string => `${ms.toFixed(0)} ms`;
