import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { OperatorError } from '../../errors';
import type { DatabaseAddress } from '../postgres/database';
import { findHolder, lockDirectory, processExists, readIfThere, type DirectoryLock } from './directory-lock';
import { openPostgresHome, type PostgresHome } from './postgres-home';

const USER = 'deposit_gateway';
const DATABASE = 'deposit_gateway';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 2000;
const POLL_MS = 20;
const RESTART_DELAY_MS = 200;
/** sun_path of a unix socket address holds 108 bytes with its end mark (unix(7)). */
const MAX_SOCKET_PATH = 107;

/** The settings of the server. They keep donors' data out of its log: no statements, no parameters, no failing rows. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

const OTHER_CLIENTS = `SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

/** The embedded PostgreSQL of another process. */
export interface SharedPostgres {
  readonly address: DatabaseAddress;
  leave(): Promise<void>;
}

/**
 * The gateway's own PostgreSQL: a separate process that is reachable by a unix socket and a password only. Its data directory is locked
 * for one gateway at a time. It is started again when it dies.
 */
export class EmbeddedPostgres {
  private server: ChildProcess | undefined;
  private restarting: Promise<void> | undefined;
  private stopping = false;

  private constructor(
    readonly address: DatabaseAddress,
    private readonly dataDirectory: string,
    private readonly home: PostgresHome,
    private readonly lock: DirectoryLock,
    private readonly onServerLost: (error: Error) => void,
  ) {}

  /**
   * Starts the server. `prepare` makes the database ready before other processes may share it. Throws an OperatorError when another process
   * holds the directory (DirectoryInUseError) or PostgreSQL does not start.
   */
  static async start(
    dataDirectory: string,
    prepare: (address: DatabaseAddress) => Promise<unknown>,
    onServerLost: (error: Error) => void,
  ): Promise<EmbeddedPostgres> {
    await assertNoHiddenHolder(dataDirectory);
    const lock = await lockDirectory(dataDirectory);
    let postgres: EmbeddedPostgres | undefined;
    try {
      // An earlier holder's address is removed, so that nobody connects before this server is ready.
      await rm(addressFile(dataDirectory), { force: true });
      const home = await openPostgresHome(dataDirectory);
      await endOrphan(home);
      const password = await initialise(home);
      const address = { host: await makeSocketDirectory(home), port: 5432, user: USER, password, database: DATABASE };
      postgres = new EmbeddedPostgres(address, dataDirectory, home, lock, onServerLost);
      await postgres.launch('w');
      await prepare(address);
      const draft = `${addressFile(dataDirectory)}.new`;
      await writeFile(draft, JSON.stringify(address), { mode: 0o600 });
      await rename(draft, addressFile(dataDirectory));
      return postgres;
    } catch (error) {
      await (postgres ? postgres.stop('fast') : lock.release());
      throw error;
    }
  }

  /** Shares the embedded PostgreSQL that a living process holds in this directory, and waits while it starts. Undefined when none holds it. */
  static async share(dataDirectory: string): Promise<SharedPostgres | undefined> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      const holder = await findHolder(dataDirectory);
      if (holder === undefined) return undefined;
      const address = await readIfThere(addressFile(dataDirectory));
      const presence = address === undefined ? undefined : await connect(JSON.parse(address) as DatabaseAddress);
      // Its holder waits for this connection to end before it stops the server.
      if (address !== undefined && presence) return { address: JSON.parse(address) as DatabaseAddress, leave: () => presence.end() };
      if (Date.now() > deadline) {
        throw new OperatorError(`Process ${holder} does not get the embedded database in ${dataDirectory} started`);
      }
      await sleep(POLL_MS);
    }
  }

  /** Stops the server. `fast` ends the connections of other processes, `smart` waits until they have left. */
  async stop(mode: 'fast' | 'smart'): Promise<void> {
    await rm(addressFile(this.dataDirectory), { force: true });
    if (mode === 'smart') await this.waitUntilAlone();
    this.stopping = true;
    await this.restarting;
    const { server } = this;
    if (server && !hasEnded(server)) {
      const exited = once(server, 'exit');
      server.kill('SIGINT');
      const timer = setTimeout(() => server.kill('SIGQUIT'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
    }
    await rm(String(this.address.host), { recursive: true, force: true });
    await this.lock.release();
  }

  private async waitUntilAlone(): Promise<void> {
    const client = await connect(this.address);
    const others = async () => (await client?.query(OTHER_CLIENTS))?.rowCount ?? 0;
    try {
      while ((await others()) > 0) await sleep(POLL_MS);
    } finally {
      await client?.end();
    }
  }

  private async launch(logMode: 'w' | 'a'): Promise<void> {
    const settings = { ...SERVER_SETTINGS, unix_socket_directories: String(this.address.host) };
    const log = await open(join(this.home.directory, 'server.log'), logMode, 0o600);
    try {
      // The server has its own process group, because Ctrl-C in the gateway's terminal must not stop it before the gateway has drained.
      this.server = spawn(
        join(this.home.bin, 'postgres'),
        ['-D', clusterDirectory(this.home), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { ...childOptions(this.home), detached: true, stdio: ['ignore', log.fd, log.fd] },
      );
      await Promise.race([once(this.server, 'spawn'), once(this.server, 'error').then(([error]) => Promise.reject(error as Error))]);
    } finally {
      await log.close();
    }
    await this.waitUntilReady(this.server);
    this.server.once('exit', () => {
      this.restarting = this.restart();
    });
  }

  private async waitUntilReady(server: ChildProcess): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (hasEnded(server) || Date.now() > deadline) {
        if (!hasEnded(server)) server.kill('SIGQUIT');
        const log = await readFile(join(this.home.directory, 'server.log'), 'utf8');
        throw new OperatorError(`The embedded PostgreSQL did not start: ${log.trim().split('\n').at(-1) ?? ''}`);
      }
      const client = new Client({ ...this.address, database: 'postgres' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
        if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
        return;
      } catch {
        await sleep(POLL_MS);
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  private async restart(): Promise<void> {
    while (!this.stopping) {
      this.onServerLost(new Error('The embedded PostgreSQL ended; it is started again'));
      await sleep(RESTART_DELAY_MS);
      try {
        await this.launch('a');
        return;
      } catch (error) {
        this.onServerLost(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}

const addressFile = (dataDirectory: string): string => join(dataDirectory, 'address.json');
const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;
const clusterDirectory = (home: PostgresHome): string => join(home.directory, 'cluster');

/** Nothing of the caller's environment reaches PostgreSQL: PGDATA, locale or time zone would change what it does. */
const childOptions = (home: PostgresHome) => ({ cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, ...home.account });

/** Makes the database cluster if there is none yet, and returns its password. A new cluster is moved into place when it is complete. */
async function initialise(home: PostgresHome): Promise<string> {
  const passwordFile = join(home.directory, 'password');
  const cluster = clusterDirectory(home);
  if (!(await stat(cluster).catch(() => undefined))) {
    await writeFile(passwordFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
    if (home.account) await chown(passwordFile, home.account.uid, home.account.gid);
    const draft = `${cluster}.new`;
    await rm(draft, { recursive: true, force: true });
    await run(home, 'initdb', [
      ...['--pgdata', draft, '--username', USER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--no-instructions'],
    ]);
    await rename(draft, cluster);
  }
  return readFile(passwordFile, 'utf8');
}

async function run(home: PostgresHome, program: string, parameters: readonly string[]): Promise<void> {
  const child = spawn(join(home.bin, program), parameters, { ...childOptions(home), stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new OperatorError(`${program} failed: ${output.trim()}`);
}

/** Stops the PostgreSQL that a killed gateway has left running. */
async function endOrphan(home: PostgresHome): Promise<void> {
  const pid = await findServer(clusterDirectory(home));
  if (pid === undefined) {
    // The file of a server that is gone is removed: PostgreSQL would take any process that has its number now for that server.
    await rm(join(clusterDirectory(home), 'postmaster.pid'), { force: true });
    return;
  }
  kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (await isServerOf(clusterDirectory(home), pid)) {
    await sleep(POLL_MS);
    if (Date.now() > deadline) throw new OperatorError(`The embedded PostgreSQL of an earlier gateway (process ${pid}) does not stop`);
  }
}

/**
 * Throws an OperatorError when a gateway in another container holds the directory. Its process is invisible here, so its lock looks stale,
 * but its socket on the shared volume answers.
 */
async function assertNoHiddenHolder(dataDirectory: string): Promise<void> {
  const address = await readIfThere(addressFile(dataDirectory)).catch(() => undefined);
  if (address === undefined || (await findHolder(dataDirectory)) !== undefined) return;
  const client = await connect(JSON.parse(address) as DatabaseAddress);
  await client?.end();
  const cluster = join(await realpath(join(dataDirectory, 'postgres')), 'cluster');
  if (client && (await findServer(cluster)) === undefined) {
    throw new OperatorError(
      `The embedded database in ${dataDirectory} is in use by a process that cannot be seen from here, as in another container`,
    );
  }
}

/** A connection, or undefined when nobody answers. */
async function connect(address: DatabaseAddress): Promise<Client | undefined> {
  const client = new Client({ ...address, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, application_name: 'deposit-gateway share' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch {
    await client.end().catch(() => undefined);
    return undefined;
  }
}

/** The process id of a cluster's server, or undefined when no such process is visible. */
async function findServer(cluster: string): Promise<number | undefined> {
  const [line] = ((await readIfThere(join(cluster, 'postmaster.pid'))) ?? '').split('\n');
  const pid = Number(line);
  return pid > 0 && (await isServerOf(cluster, pid)) ? pid : undefined;
}

/** True when the process is still this cluster's PostgreSQL. After a restart of the machine another process may have its number. */
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  if (!processExists(pid)) return false;
  // The file is empty for a zombie process. On systems without /proc, the number alone decides.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => cluster);
  return command.split('\0').includes(cluster);
}

/** Makes the directory of the socket beside the data, or in the temporary directory when that path is too long for a socket. */
async function makeSocketDirectory(home: PostgresHome): Promise<string> {
  let directory = join(home.directory, 'socket');
  if (Buffer.byteLength(join(directory, '.s.PGSQL.5432')) > MAX_SOCKET_PATH) directory = await mkdtemp(join(tmpdir(), 'deposit-gateway-'));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (home.account) await chown(directory, home.account.uid, home.account.gid);
  return directory;
}
