import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { OperatorError } from '../../errors';
import type { DatabaseAddress } from '../postgres/database';
import { childOptions } from './postgres-cluster';
import type { PostgresHome } from './postgres-home';
import { giveToOwnerOf } from './state-file';

export const DATABASE = 'deposit_gateway';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 20;
const RESTART_DELAY_MS = 200;

/** The settings of the server. They keep donors' data out of its log: no statements, no parameters, no failing rows. */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  // Each worker of a gateway on many cores has three at least.
  max_connections: '400',
  unix_socket_permissions: '0700',
  // A segment of the write-ahead log that is used again keeps its old bytes, and the texts of donors who were erased with them.
  wal_recycle: 'off',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

/** The parts that a server is made of. */
interface ServerParts {
  readonly home: PostgresHome;
  readonly cluster: string;
  /** The name of the log in the home. */
  readonly log: string;
}

/** A PostgreSQL that runs as a process of its own, in a process group of its own. */
export class PostgresServer {
  private server: ChildProcess | undefined;
  private restarting: Promise<void> | undefined;
  private stopping = false;

  /** A server that dies is started again and `onLost` is told why; without `onLost` it stays down. */
  constructor(
    private readonly parts: ServerParts,
    readonly address: DatabaseAddress,
    private readonly onLost?: (error: Error) => void,
  ) {}

  /** Starts the server and makes the database. Throws an OperatorError when PostgreSQL does not start. */
  start(): Promise<void> {
    return this.launch('w');
  }

  /** Ends all connections, and resolves when the data is on the disk. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.restarting;
    const { server } = this;
    if (!server || hasEnded(server)) return;
    const exited = once(server, 'exit');
    server.kill('SIGINT');
    const timer = setTimeout(() => server.kill('SIGQUIT'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  }

  private async launch(logMode: 'w' | 'a'): Promise<void> {
    const { host, port } = this.address;
    const settings = { ...SERVER_SETTINGS, unix_socket_directories: toListItem(String(host)), port: String(port) };
    const log = await open(join(this.parts.home.directory, this.parts.log), logMode, 0o600);
    try {
      await giveToOwnerOf(this.parts.home.directory, log);
      // The server has its own process group, because Ctrl-C in the gateway's terminal must not stop it before the gateway has drained.
      this.server = spawn(
        join(this.parts.home.bin, 'postgres'),
        ['-D', this.parts.cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { ...childOptions(this.parts.home), detached: true, stdio: ['ignore', log.fd, log.fd] },
      );
      await Promise.race([once(this.server, 'spawn'), once(this.server, 'error').then(([error]) => Promise.reject(error as Error))]);
    } finally {
      await log.close();
    }
    await this.waitUntilReady(this.server);
    const { onLost } = this;
    if (onLost)
      this.server.once('exit', () => {
        this.restarting = this.restart(onLost);
      });
  }

  private async waitUntilReady(server: ChildProcess): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (hasEnded(server) || Date.now() > deadline) {
        if (!hasEnded(server)) server.kill('SIGQUIT');
        const log = await readFile(join(this.parts.home.directory, this.parts.log), 'utf8');
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

  private async restart(onLost: (error: Error) => void): Promise<void> {
    while (!this.stopping) {
      onLost(new Error('The embedded PostgreSQL ended; it is started again'));
      await sleep(RESTART_DELAY_MS);
      try {
        await this.launch('a');
        return;
      } catch (error) {
        onLost(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}

/** A path as the one item of a setting that is a list: PostgreSQL would part it at a comma. */
const toListItem = (path: string): string => `"${path.replaceAll('"', '""')}"`;

const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;
