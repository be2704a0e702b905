import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { makeCluster, USER } from '../../src/data/embedded/postgres-cluster';
import { openPostgresHome, type PostgresHome } from '../../src/data/embedded/postgres-home';
import { DATABASE, PostgresServer } from '../../src/data/embedded/postgres-server';
import type { TestDatabase } from './database';
import { MAIN } from './gateway-package';
import { SERVING_PASSWORD, SERVING_ROLE } from './database';
import { until } from './until';

/** A server that follows the primary by streaming replication. */
export interface TestReplica {
  /** The address with the owner's role. */
  readonly url: string;
  /** A connection with the owner's role. It ends when the server stops, and a start opens another. */
  readonly client: () => Client;
  /** Holds what comes from the primary back, or lets it in again. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Resolves when the replica has everything that the primary has now. */
  catchUp(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Makes the replica a primary. */
  promote(): Promise<void>;
}

/** A migrated, empty database on a PostgreSQL of its own that others can follow. */
export interface ReplicatedDatabase extends TestDatabase {
  follow(settings?: Readonly<Record<string, string>>): Promise<TestReplica>;
  /** Stops the primary for good. */
  stop(): Promise<void>;
}

/** The settings of gateways over it: it is never distributed, and has no pooler before it. */
export const REPLICATED = { DATABASE_ENGINE: 'postgresql', DATABASE_POOLER: 'none' };
/** Test data need not survive a power cut. */
const SETTINGS = { fsync: 'off', max_connections: '200' };
const FIRST_PORT = 5432;

export async function createReplicatedDatabase(): Promise<ReplicatedDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-replicas-'));
  chmodSync(directory, 0o755);
  const home = await openPostgresHome(directory);
  const cluster = join(home.directory, 'primary');
  const password = await makeCluster(home, cluster);
  const toAddress = (port: number) => ({ host: home.directory, port, user: USER, password, database: DATABASE });
  const toUrl = (port: number) => `postgresql://${USER}:${password}@localhost:${port}/${DATABASE}?host=${home.directory}`;
  const toServer = (name: string, port: number) =>
    new PostgresServer({ home, cluster: join(home.directory, name), log: `${name}.log` }, toAddress(port));
  configure(cluster, SETTINGS);
  const primary = toServer('primary', FIRST_PORT);
  await primary.start();
  const servers = [primary];
  const url = toUrl(FIRST_PORT);
  const client = await connect(url);
  await client.query(`CREATE ROLE ${SERVING_ROLE} LOGIN PASSWORD '${SERVING_PASSWORD}'`);
  execFileSync(process.execPath, [MAIN, '--quiet', '--no-env-file', 'migrate'], { env: { ...process.env, DATABASE_URL: url } });

  const follow = async (settings: Readonly<Record<string, string>> = {}): Promise<TestReplica> => {
    const name = `replica-${servers.length}`;
    const port = FIRST_PORT + servers.length;
    const conninfo = `host=${home.directory} port=${FIRST_PORT} user=${USER} password=${password}`;
    await copyCluster(home, url, name);
    configure(join(home.directory, name), { ...settings, primary_conninfo: conninfo });
    let server = toServer(name, port);
    servers.push(server);
    let connection: Client;
    const start = async (): Promise<void> => {
      await server.start();
      connection = await connect(toUrl(port));
    };
    await start();
    return {
      url: toUrl(port),
      client: () => connection,
      pause: async () => void (await connection.query('SELECT pg_wal_replay_pause()')),
      resume: async () => void (await connection.query('SELECT pg_wal_replay_resume()')),
      catchUp: async () => {
        const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() AS lsn');
        const hasIt = async () =>
          (await connection.query('SELECT WHERE pg_last_wal_replay_lsn() >= $1::pg_lsn', [rows[0]!.lsn])).rowCount === 1;
        await until(hasIt);
      },
      stop: async () => {
        await connection.end();
        await server.stop();
        server = toServer(name, port);
        servers.push(server);
      },
      start,
      promote: async () => void (await connection.query('SELECT pg_promote()')),
    };
  };
  return {
    ...{ url, client, follow },
    stop: () => primary.stop(),
    drop: async () => {
      await client.end().catch(() => undefined);
      for (const server of servers.toReversed()) await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // Without a listener, the connection error of a stopped server would replace the failure of the test.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Copies the files of the running primary, as a base backup does (PostgreSQL manual, Making a Base Backup Using the Low Level API). */
async function copyCluster(home: PostgresHome, url: string, name: string): Promise<void> {
  const copy = join(home.directory, name);
  const backup = await connect(url);
  await backup.query(`SELECT pg_backup_start('copy', true)`);
  await promisify(execFile)('cp', ['-a', join(home.directory, 'primary'), copy]);
  const { rows } = await backup.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
  await backup.end();
  rmSync(join(copy, 'postmaster.pid'));
  for (const [file, content] of Object.entries({ backup_label: rows[0]!.labelfile, 'standby.signal': '' })) {
    writeFileSync(join(copy, file), content);
    if (home.account) chownSync(join(copy, file), home.account.uid, home.account.gid);
  }
}

function configure(cluster: string, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  appendFileSync(join(cluster, 'postgresql.conf'), `\n${lines.join('')}`);
}
