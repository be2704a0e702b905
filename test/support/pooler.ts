import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { Client } from 'pg';
import { freePort } from './free-port';
import { until } from './until';

/** The account that PgBouncer runs as when root starts it, which it refuses to run as. */
const ACCOUNT = 'postgres';
const LISTENING_MS = 20_000;

/** A PgBouncer that gives each transaction another connection of a server. */
export interface Pooler {
  /** The address of a database of the server by way of the pooler. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** True when the machine has PgBouncer. */
export const hasPooler = (): boolean => spawnSync('pgbouncer', ['--version']).error === undefined;

/** Starts PgBouncer before a server. `users` are the names and passwords of those who may connect. */
export async function startPooler(
  serverUrl: string,
  users: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Pooler> {
  if (!hasPooler()) throw new Error('pgbouncer is not installed');
  const directory = mkdtempSync(join(tmpdir(), 'gateway-pooler-'));
  chmodSync(directory, 0o755);
  const server = new URL(serverUrl);
  const port = await freePort();
  const list = join(directory, 'users.txt');
  writeFileSync(
    list,
    Object.entries(users)
      .map(([name, password]) => `"${name}" "${password}"\n`)
      .join(''),
  );
  const file = join(directory, 'pgbouncer.ini');
  const options = {
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'scram-sha-256', auth_file: list },
    ...{ pool_mode: 'transaction', max_client_conn: 2000, default_pool_size: 20, server_idle_timeout: 5, ...settings },
  };
  const host = server.searchParams.get('host') ?? server.hostname;
  writeFileSync(
    file,
    `[databases]\n* = host=${host} port=${server.port || '5432'}\n[pgbouncer]\n${Object.entries(options)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join('')}`,
  );
  const asAccount = getuid!() === 0 ? ['setpriv', `--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, '--clear-groups'] : [];
  const [program, ...words] = [...asAccount, 'pgbouncer', file];
  const child = spawn(program, words, { cwd: '/', stdio: 'ignore' });
  const ended = once(child, 'exit');
  const through = (databaseUrl: string): string => {
    const url = new URL(databaseUrl);
    url.searchParams.delete('host');
    url.host = `127.0.0.1:${port}`;
    return url.href;
  };
  await until(() => answers(through(serverUrl)), LISTENING_MS);
  return {
    through,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
