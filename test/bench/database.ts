import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { readConfig } from '../../src/config';
import type { DatabaseAddress } from '../../src/data/postgres/database';
import { EmbeddedPostgres } from '../../src/data/embedded/embedded-postgres';
import { createServices } from '../../src/services';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { MAIN } from '../support/gateway-package';
import { fillDataSet, type DataSetSize } from './data-set';
import { endAtLast } from './endings';
import { parentOf } from './processes';

/** A PostgreSQL of the benchmark's own, with the data set in it. */
export interface BenchDatabase {
  readonly url: string;
  /** The server's process, whose children are the backends; undefined where there is no /proc. */
  readonly pid: number | undefined;
  /** Whose report is asked for. */
  readonly organization: TestOrganization;
  /** Opens a migrated database without lines on the same server, and drops it at its stop. */
  openEmpty(): Promise<EmptyDatabase>;
  stop(): Promise<void>;
}

/** A database with an organization that has no lines. */
export type EmptyDatabase = Pick<BenchDatabase, 'url' | 'organization' | 'stop'>;

/** Makes the data set in a directory below the given one, or takes what an earlier run has finished there. */
export async function openBenchDatabase(parent: string, size: DataSetSize): Promise<BenchDatabase> {
  const directory = join(parent, `${size.lines}-lines-${size.organizations}-organizations`);
  const mark = join(directory, 'filled');
  const isFilled = existsSync(mark);
  // One that is still being started is waited for.
  const stop = endAtLast(async () => (await starting.catch(() => undefined))?.stop('fast'));
  if (!isFilled) rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const starting = EmbeddedPostgres.start(
    directory,
    () => Promise.resolve(),
    (error) => {
      throw error;
    },
  );
  const { address } = await starting;
  const url = toUrl(address);
  const services = createServices(readConfig({}), address);
  try {
    // A data set that was kept may lack what came since.
    migrate(url);
    if (!isFilled) {
      const organizations = [];
      for (let count = 0; count < size.organizations; count++) organizations.push(await createOrganization(services));
      await fillDataSet(address, size);
      await writeFile(mark, JSON.stringify(organizations[0]));
    }
    const organization = JSON.parse(await readFile(mark, 'utf8')) as TestOrganization;
    return { url, pid: await findServer(url), organization, openEmpty: () => openEmptyDatabase(address), stop };
  } finally {
    await services.close();
  }
}

async function openEmptyDatabase(server: DatabaseAddress): Promise<EmptyDatabase> {
  const address = { ...server, database: 'bench_empty' };
  const stop = (): Promise<void> => run(toUrl(server), 'DROP DATABASE IF EXISTS bench_empty WITH (FORCE)');
  await stop();
  await run(toUrl(server), 'CREATE DATABASE bench_empty');
  const url = toUrl(address);
  migrate(url);
  const services = createServices(readConfig({}), address);
  try {
    return { url, organization: await createOrganization(services), stop };
  } finally {
    await services.close();
  }
}

const toUrl = ({ host, port, user, password, database }: DatabaseAddress): string =>
  `postgresql://${user}:${String(password)}@localhost:${port}/${database}?host=${host}`;

function migrate(url: string): void {
  execFileSync(process.execPath, [MAIN, 'migrate'], { env: { ...process.env, DATABASE_URL: url } });
}

/** Connects to a database of the benchmark. */
export async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // When the benchmark breaks off, the server ends before its clients.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Runs one statement on a connection of its own. */
export async function run(url: string, statement: string): Promise<void> {
  const client = await connectTo(url);
  await client.query(statement);
  await client.end();
}

async function findServer(url: string): Promise<number | undefined> {
  const client = await connectTo(url);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = parentOf(rows[0]!.pid);
  await client.end();
  return pid;
}
