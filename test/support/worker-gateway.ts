import { readdirSync, readFileSync } from 'node:fs';
import { kill } from 'node:process';
import { readConfig } from '../../src/config';
import { createServices, type Services } from '../../src/services';
import { startServe, type Environment, type ServeProcess } from './command';
import { createTestDatabase, databaseSettings, type TestDatabase } from './database';
import { createOrganization, type TestOrganization } from './gateway';
import { readScrape, valueOf } from './scrape-reader';

/** A gateway with two workers in processes of their own, over a database with an organization. */
export interface WorkerGateway {
  readonly serve: ServeProcess;
  readonly url: string;
  readonly adminUrl: string;
  readonly database: TestDatabase;
  readonly services: Services;
  readonly organization: TestOrganization;
  /** The processes of the workers that live. */
  readonly pids: () => number[];
  /** The value of a metric. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
  /** The members of the log lines with a message. */
  logged(message: string): Record<string, unknown>[];
  stop(): Promise<number | null>;
}

/**
 * Starts the gateway over a new database, or over the one that is given, which it drops when it stops. `front` returns the address by which
 * it reaches the database.
 */
export async function startWorkerGateway(
  settings: Environment = {},
  {
    given,
    front = (url) => Promise.resolve(url),
  }: { readonly given?: TestDatabase; readonly front?: (url: string) => Promise<string> } = {},
): Promise<WorkerGateway> {
  const database = given ?? (await createTestDatabase());
  const services = createServices(readConfig({ ...databaseSettings(), ...settings, DATABASE_URL: database.url }), {
    connectionString: database.url,
  });
  const organization = await createOrganization(services);
  const patient = { ADMIN_PORT: '0', PROVISION_ATTEMPTS: '100000' };
  const serve = await startServe({ WORKERS: '2', ...patient, DATABASE_URL: await front(database.url), ...settings });
  const logged = (message: string): Record<string, unknown>[] =>
    serve
      .output()
      .split('\n')
      .filter((line) => line.endsWith(`"msg":"${message}"}`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const adminUrl = String(logged('listening for operators')[0]!.url);
  let status: Promise<number | null> | undefined;
  const stop = async (): Promise<number | null> => {
    const ended = await serve.end('SIGTERM');
    await services.close();
    await database.drop();
    return ended;
  };
  return {
    ...{ serve, url: serve.url, adminUrl, database, services, organization, logged },
    pids: () => workersOf(serve.child.pid!),
    metric: async (name, labels) => valueOf(await readScrape(adminUrl), name, labels),
    stop: () => (status ??= stop()),
  };
}

/** Starts a gateway with workers for the time that a test uses it. */
export async function withWorkers(settings: Environment, use: (gateway: WorkerGateway) => Promise<void>): Promise<void> {
  const gateway = await startWorkerGateway(settings);
  try {
    await use(gateway);
  } finally {
    await gateway.stop();
  }
}

/** The workers that a gateway has started and that live (proc(5), stat: the fourth field is the parent). */
export function workersOf(primary: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .filter(
      (pid) =>
        readProcess(pid, 'stat')
          .replace(/^.*\) \S /s, '')
          .split(' ')[0] === String(primary),
    )
    .filter((pid) => readProcess(pid, 'cmdline').includes('gateway-worker.'))
    .map(Number);
}

/** True while a process runs or is stopped; false for one that has ended and that nobody has waited for. */
export function isAlive(pid: number): boolean {
  return /\) [^ZX] /.test(readProcess(String(pid), 'stat'));
}

function readProcess(pid: string, file: 'stat' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

/** Signals every process of a gateway, as Ctrl-C does. */
export function signalAll({ serve, pids }: WorkerGateway, signal: NodeJS.Signals): void {
  for (const pid of [...pids(), serve.child.pid!]) kill(pid, signal);
}
