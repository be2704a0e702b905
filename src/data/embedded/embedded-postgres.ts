import { chown, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { OperatorError } from '../../errors';
import type { DatabaseAddress } from '../postgres/database';
import { inDirectory } from './directory-faults';
import { answers, assertNoHiddenHolder, findHolder, hiddenHolder, isSocketPath, lockDirectory, type DirectoryLock } from './directory-lock';
import {
  clusterDirectory,
  complete,
  draftDirectory,
  findMajor,
  findServer,
  hasCluster,
  initialise,
  makeCluster,
  tidyUp,
  USER,
} from './postgres-cluster';
import { openPostgresHome, removeOtherEngines, type PostgresHome } from './postgres-home';
import { DATABASE, PostgresServer } from './postgres-server';
import { hasCode, readStateFile, writeStateFile } from './state-file';

const START_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 2000;
const POLL_MS = 20;
const PORT = 5432;
/** The port, which is but the name of a socket, of a cluster that is being filled. */
const DRAFT_PORT = 5433;

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
  private constructor(
    private readonly server: PostgresServer,
    private readonly dataDirectory: string,
    private readonly home: PostgresHome,
    private readonly lock: DirectoryLock,
  ) {}

  get address(): DatabaseAddress {
    return this.server.address;
  }

  /** The place of the data when it is not in the data directory; undefined when it is. */
  get outerPlace(): string | undefined {
    return this.home.isOutside ? this.home.directory : undefined;
  }

  /**
   * Starts the server. `prepare` makes the database ready before other processes may share it. Throws an OperatorError when another process
   * holds the directory (DirectoryInUseError), when the database is of another major version, or when PostgreSQL does not start.
   */
  static async start(
    dataDirectory: string,
    prepare: (address: DatabaseAddress) => Promise<unknown>,
    onAway: (error: Error) => void,
  ): Promise<EmbeddedPostgres> {
    const { home, lock } = await inDirectory(dataDirectory, openHome(dataDirectory));
    let postgres: EmbeddedPostgres | undefined;
    try {
      await assertSameMajor(home, dataDirectory);
      const password = await initialise(home);
      const address = { host: await makeSocketDirectory(home), port: PORT, user: USER, password, database: DATABASE };
      const parts = { home, cluster: clusterDirectory(home), log: 'server.log' };
      postgres = new EmbeddedPostgres(new PostgresServer(parts, address, onAway), dataDirectory, home, lock);
      await postgres.server.start();
      await prepare(address);
      await writeStateFile(addressFile(dataDirectory), JSON.stringify(address));
      return postgres;
    } catch (error) {
      await (postgres ? postgres.stop('fast') : lock.release());
      throw error;
    }
  }

  /**
   * Makes a database in a directory that has none. It is in place when `fill` has filled it, and not before, whatever happens meanwhile.
   * The signal gives it up. Throws an OperatorError when the directory has a database.
   */
  static build<Result>(dataDirectory: string, signal: AbortSignal, fill: (target: DatabaseAddress) => Promise<Result>): Promise<Result> {
    return withHome(dataDirectory, async (home, host) => {
      if ((await findMajor(home)) !== undefined)
        throw new OperatorError(`${dataDirectory} has a database already: choose another DATA_DIR`);
      const result = await withDraft(home, host, signal, fill);
      await complete(home);
      return result;
    });
  }

  /** The place of a directory's data when it is not in the directory; undefined when it is. */
  static async findOuterPlace(dataDirectory: string): Promise<string | undefined> {
    const place = await realpath(join(dataDirectory, 'postgres'));
    return place === join(await realpath(dataDirectory), 'postgres') ? undefined : place;
  }

  /** Throws an OperatorError when a directory has no database, also when another process is making one. Makes nothing. */
  static async assertDatabase(dataDirectory: string): Promise<void> {
    const directory = await realpath(join(dataDirectory, 'postgres')).catch((error: unknown) => {
      // The lock of the directory tells other faults.
      if (hasCode(error, 'ENOENT')) throw noDatabase(dataDirectory);
    });
    if (directory === undefined || (await hasCluster({ directory }))) return;
    await inDirectory(dataDirectory, assertNoHiddenHolder(dataDirectory));
    throw noDatabase(dataDirectory);
  }

  /** Removes a data directory that no process uses, and its data when they lie outside it. */
  static async remove(dataDirectory: string): Promise<void> {
    const place = await realpath(join(dataDirectory, 'postgres')).catch(() => undefined);
    if (place !== undefined) await rm(place, { recursive: true, force: true });
    await rm(dataDirectory, { recursive: true, force: true });
  }

  /**
   * Shares the embedded PostgreSQL that a living process holds in this directory, and waits while it starts. Undefined when none holds it.
   */
  static async share(dataDirectory: string): Promise<SharedPostgres | undefined> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      const holder = await inDirectory(dataDirectory, findHolder(dataDirectory));
      if (holder === undefined) return undefined;
      const address = await readAddress(dataDirectory);
      const presence = address && (await connect(address));
      // Its holder waits for this connection to end before it stops the server.
      if (address && presence) return { address, leave: () => presence.end() };
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
    await this.server.stop();
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
}

/** Takes the data directory for this process, and ends what a killed one has left behind. */
async function openHome(dataDirectory: string): Promise<{ readonly home: PostgresHome; readonly lock: DirectoryLock }> {
  const lock = await lockDirectory(dataDirectory);
  try {
    await assertNoHiddenServer(dataDirectory);
    // An earlier holder's address is removed, so that nobody connects before this server is ready.
    await rm(addressFile(dataDirectory), { force: true });
    const home = await openPostgresHome(dataDirectory);
    await tidyUp(home);
    await removeOtherEngines(home);
    return { home, lock };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Uses a home, and a directory for the sockets of its servers, which is removed after it. */
async function withHome<Result>(dataDirectory: string, use: (home: PostgresHome, host: string) => Promise<Result>): Promise<Result> {
  const { home, lock } = await inDirectory(dataDirectory, openHome(dataDirectory));
  let host: string | undefined;
  try {
    host = await makeSocketDirectory(home);
    return await use(home, host);
  } finally {
    if (host !== undefined) await rm(host, { recursive: true, force: true });
    await lock.release();
  }
}

/** Fills a new cluster. It is removed again when that fails. */
async function withDraft<Result>(
  home: PostgresHome,
  host: string,
  signal: AbortSignal,
  fill: (target: DatabaseAddress) => Promise<Result>,
): Promise<Result> {
  const cluster = draftDirectory(home);
  try {
    const password = await makeCluster(home, cluster);
    const address = { host, port: DRAFT_PORT, user: USER, password, database: DATABASE };
    const server = new PostgresServer({ home, cluster, log: 'restore.log' }, address);
    return await running(server, signal, () => fill(address));
  } catch (error) {
    await rm(cluster, { recursive: true, force: true });
    throw error;
  }
}

/** Runs a server while it is used. The signal stops it, so that its users fail. */
async function running<Result>(server: PostgresServer, signal: AbortSignal, use: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  const stop = (): void => void server.stop();
  signal.addEventListener('abort', stop);
  try {
    await server.start();
    const result = await use();
    signal.throwIfAborted();
    return result;
  } finally {
    signal.removeEventListener('abort', stop);
    await server.stop();
  }
}

async function assertSameMajor(home: PostgresHome, dataDirectory: string): Promise<void> {
  const major = await findMajor(home);
  if (major === undefined || major === home.major) return;
  const advice =
    major < home.major
      ? 'make a backup with the gateway that it is from, and restore it into a new directory'
      : 'use the gateway that made it';
  throw new OperatorError(
    `The embedded database in ${resolve(dataDirectory)} is of PostgreSQL ${major}, and this gateway has ${home.major}: ${advice}`,
  );
}

const noDatabase = (dataDirectory: string): OperatorError =>
  new OperatorError(
    `There is no database in ${resolve(dataDirectory)}: \`deposit-gateway migrate\` makes one, and DATABASE_URL names another`,
  );

const addressFile = (dataDirectory: string): string => join(dataDirectory, 'address.json');
const readAddress = (dataDirectory: string): Promise<DatabaseAddress | undefined> => readStateFile(addressFile(dataDirectory));

/**
 * Throws an OperatorError when a server of this directory runs that cannot be seen from here: that of a gateway which was killed in another
 * container. It answers at its socket, at the one that it serves or the one that it fills.
 */
async function assertNoHiddenServer(dataDirectory: string): Promise<void> {
  const directory = await realpath(join(dataDirectory, 'postgres')).catch(() => undefined);
  if (directory === undefined) return;
  const servers = [
    { cluster: clusterDirectory({ directory }), port: PORT },
    { cluster: draftDirectory({ directory }), port: DRAFT_PORT },
  ];
  const { host } = (await readAddress(dataDirectory).catch(() => undefined)) ?? {};
  const hosts = new Set([join(directory, 'socket'), ...(host === undefined ? [] : [host])]);
  for (const { cluster, port } of servers) {
    // The server of a killed gateway is visible here, and is ended later.
    if ((await findServer(cluster)) !== undefined) continue;
    for (const host of hosts) {
      if (isSocketPath(socketFile(host, port)) && (await answers(socketFile(host, port)))) throw hiddenHolder(dataDirectory);
    }
  }
}

const socketFile = (directory: string, port: number): string => join(directory, `.s.PGSQL.${port}`);

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

/** Makes the directory of the socket beside the data, or in the temporary directory when that path is too long for a socket. */
async function makeSocketDirectory(home: PostgresHome): Promise<string> {
  let directory = join(home.directory, 'socket');
  if (!isSocketPath(socketFile(directory, PORT))) directory = await mkdtemp(join(tmpdir(), 'deposit-gateway-'));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (home.account) await chown(directory, home.account.uid, home.account.gid);
  return directory;
}
