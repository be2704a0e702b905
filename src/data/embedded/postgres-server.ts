import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { OperatorError } from '../../errors';
import type { DatabaseAddress } from '../postgres/database';
import { CANNOT_CONNECT_NOW, findSqlFault } from '../postgres/sql-fault';
import { childOptions } from './postgres-cluster';
import type { PostgresHome } from './postgres-home';
import { giveToOwnerOf, hasCode } from './state-file';

export const DATABASE = 'deposit_gateway';
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
/** A start that takes longer is a recovery, which an operator is told of. */
const QUICK_START_MS = 5000;
/** PostgreSQL writes a line into its log at each attempt to connect while it recovers. */
const RECOVERY_POLL_MS = 500;
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

  /** A server that dies is started again; without `onAway` it stays down. `onAway` is told why the database does not answer. */
  constructor(
    private readonly parts: ServerParts,
    readonly address: DatabaseAddress,
    private readonly onAway?: (error: Error) => void,
  ) {}

  /** Starts the server and makes the database. Throws an OperatorError when PostgreSQL does not start. */
  async start(): Promise<void> {
    // The log of the start before may tell why that one failed.
    await rename(this.log, `${this.log}.1`).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    return this.launch();
  }

  /**
   * Ends all connections, and resolves when the data is on the disk. That takes as long as the disk takes: a server that is cut off must
   * recover at its next start, which takes longer still. Docker, systemd and Kubernetes have limits of their own.
   */
  async stop(): Promise<void> {
    this.stopping = true;
    const { server } = this;
    if (server && !hasEnded(server)) {
      const exited = once(server, 'exit');
      server.kill('SIGINT');
      await exited;
    }
    await this.restarting;
  }

  private get log(): string {
    return join(this.parts.home.directory, this.parts.log);
  }

  private async launch(): Promise<void> {
    const { host, port } = this.address;
    const settings = { ...SERVER_SETTINGS, unix_socket_directories: toListItem(String(host)), port: String(port) };
    const log = await open(this.log, 'a', 0o600);
    const logStart = (await log.stat()).size;
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
    await this.waitUntilReady(this.server, logStart);
    const { onAway } = this;
    if (onAway)
      this.server.once('exit', () => {
        this.restarting = this.restart(onAway);
      });
  }

  /** A server that recovers takes as long as there is to recover: one that is cut off meanwhile would begin anew at each start. */
  private async waitUntilReady(server: ChildProcess, logStart: number): Promise<void> {
    const began = Date.now();
    let deadline = began + START_TIMEOUT_MS;
    let recovers = false;
    for (;;) {
      if (this.stopping) server.kill('SIGINT');
      const fault = await this.findFault();
      if (fault === undefined) return;
      if (hasEnded(server) || Date.now() > deadline) {
        if (!hasEnded(server)) server.kill('SIGQUIT');
        const text = (await readFile(this.log)).subarray(logStart).toString();
        throw new OperatorError(`The embedded PostgreSQL did not start: ${findReason(text)} (${this.log} has more)`, { cause: fault });
      }
      if (findSqlFault(fault)?.sqlState === CANNOT_CONNECT_NOW) {
        deadline = Date.now() + START_TIMEOUT_MS;
        if (!recovers && !this.stopping && Date.now() - began > QUICK_START_MS) {
          recovers = true;
          this.onAway?.(
            new Error(`The embedded PostgreSQL is still starting. After a power cut or a kill it recovers first: ${this.log} tells more`),
          );
        }
      }
      await sleep(recovers ? RECOVERY_POLL_MS : POLL_MS);
    }
  }

  /** The error that keeps the database from use; undefined when it is there, or has been made. */
  private async findFault(): Promise<unknown> {
    const client = new Client({ ...this.address, database: 'postgres' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
      if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private async restart(onAway: (error: Error) => void): Promise<void> {
    while (!this.stopping) {
      onAway(new Error('The embedded PostgreSQL ended; it is started again'));
      await sleep(RESTART_DELAY_MS);
      if (await this.relaunch(onAway)) return;
    }
  }

  /** Resolves to false when the server did not start. One that is stopping is left. */
  private async relaunch(onAway: (error: Error) => void): Promise<boolean> {
    try {
      if (!this.stopping) await this.launch();
      return true;
    } catch (error) {
      if (!this.stopping) onAway(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
  }
}

/** PostgreSQL also notes as FATAL that it refuses a client while it starts, recovers or stops. */
const REASON = /^.* (?:FATAL|PANIC): {2}(?!the database system is )(.*)$/gm;

/** The last fault that a log tells of, or else its last line. */
const findReason = (log: string): string => [...log.matchAll(REASON)].at(-1)?.[1] ?? log.trim().split('\n').at(-1) ?? '';

/** A path as the one item of a setting that is a list: PostgreSQL would part it at a comma. */
const toListItem = (path: string): string => `"${path.replaceAll('"', '""')}"`;

const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;
