import { Socket } from 'node:net';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type Connection, type PoolClient, type PoolConfig, type QueryConfig, type QueryResultRow } from 'pg';
import type { AppError } from '../../errors';
import { PrismaClient, type Prisma } from '../../generated/prisma/client';
import { limitAnswer } from './answer-timeout';
import { toDataSourceError } from './database-errors';
import { SHORT_SETTINGS, toStartupOptions } from './local-settings';
import { paceReading } from './paced-reading';
import { oneNode, type Placement } from './placement';
import { createPooledClient } from './pooled-client';
import { keepsTooMany, runPrepared } from './prepared-statements';
import { ReadingSocket } from './reading-socket';
import { findSqlFault, READ_ONLY } from './sql-fault';
import { withOptions } from './startup-options';

/** The address of a PostgreSQL: the part of pg's configuration with the server, the database and the user. */
export type DatabaseAddress = Pick<PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database'>;

export interface DatabaseOptions {
  readonly address: DatabaseAddress;
  readonly poolSize: number;
  /** The number of connections in the long pool, for reports and imports. */
  readonly longConnections: number;
  /** The number of those that may be idle; all unless it is given. A connection that is given back is closed when there are more. */
  readonly keptLongConnections?: number;
  /** The longest wait for a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** The longest wait for the answer to a short query, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** True behind a pooler that may give each transaction another connection of the server. */
  readonly isPooled?: boolean;
  /** The place of the books; one node unless it is given. */
  readonly placement?: Placement;
  /** Called when an idle connection is lost; the pool replaces it without help. */
  readonly onConnectionLost: (error: Error) => void;
}

export interface PoolFigures {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

/** The connections of a pool that stay open while nobody asks, so that the first request after a pause does not wait for a new one. */
const KEPT_WHILE_IDLE = 1;

/** A connection on which nothing is sent is probed this often: firewalls do not forget it, and one that is dead is closed. */
export const PROBE_MS = 10_000;

/** PostgreSQL ends a short statement this long before the gateway stops waiting for it. */
const STATEMENT_MARGIN_MS = 500;

/** The longest wait for another request's statement, as a share of the longest wait for an answer. */
const WAIT_SHARE = 0.1;

/** Connections to a server that takes no writes are closed so often at most. */
const RENEWAL_MS = 1000;

const createPrisma = (pool: Pool, toError: (error: unknown) => AppError) =>
  new PrismaClient({ adapter: new PrismaPg(pool) }).$extends({
    query: {
      $allOperations: ({ args, query }) =>
        query(args).catch((error: unknown) => {
          throw toError(error);
        }),
    },
  });

export type Models = ReturnType<typeof createPrisma>;

/** TLS makes pieces of its own from what its socket reads. */
const openSocket = (connection?: { readonly ssl?: unknown }): Socket => (connection?.ssl ? new Socket() : new ReadingSocket());

/**
 * The database as the stores see it: a short and a long pool of connections, and Prisma's models over the short one. Its own methods and
 * the models throw AppErrors; a client that is taken from a pool throws pg's errors.
 */
export class Database {
  /** The short pool, for short queries. Each wait for a connection or an answer is limited. */
  readonly pool: Pool;
  /** The long pool, for reports and imports. Their transactions begin with LONG_SETTINGS, and set their own limits. */
  readonly longPool: Pool;
  readonly answerTimeoutMs: number;
  readonly placement: Placement;
  private readonly keptLongConnections: number;
  private isClosing = false;
  private renewedAt = -Infinity;
  private models: Models | undefined;

  constructor(private readonly options: DatabaseOptions) {
    const createPool = (config: PoolConfig): Pool => {
      const pool = new Pool({
        ...options.address,
        connectionTimeoutMillis: options.connectTimeoutMs,
        min: KEPT_WHILE_IDLE,
        keepAlive: true,
        keepAliveInitialDelayMillis: PROBE_MS,
        application_name: 'deposit-gateway',
        stream: openSocket,
        ...config,
      });
      // Without this handler, an idle connection that the server ends would end the process. An embedded server that is stopped may end
      // the connections before the pool does: they do not count as lost.
      pool.on('error', (error) => this.noteLoss(error));
      // The same holds for a connection that is lost while in use. Its query gets the error.
      pool.on('connect', (client) => {
        client.on('error', () => undefined);
        paceReading(connectionOf(client));
      });
      return pool;
    };
    const settings = { ...SHORT_SETTINGS, statement_timeout: String(options.answerTimeoutMs - STATEMENT_MARGIN_MS) };
    this.pool = createPool({
      max: options.poolSize,
      ...(options.isPooled ? { Client: createPooledClient(settings) } : withOptions(options.address, toStartupOptions(settings))),
    });
    this.answerTimeoutMs = options.answerTimeoutMs;
    this.placement = options.placement ?? oneNode;
    limitUse(this.pool, options.answerTimeoutMs);
    this.keptLongConnections = options.keptLongConnections ?? options.longConnections;
    this.longPool = createPool({ max: options.longConnections });
  }

  /** Prisma's models, which are made at their first use: they take 10 MB of memory, and most commands use none. */
  get prisma(): Models {
    return (this.models ??= createPrisma(this.pool, (error) => this.toError(error)));
  }

  /**
   * The longest wait for a statement of another request, in milliseconds. Whoever has waited that long begins a statement of its own, so
   * that one that hangs does not hold up a second one for as long again.
   */
  get patienceMs(): number {
    return this.answerTimeoutMs * WAIT_SHARE;
  }

  /** Runs one statement on the short pool. A `name` makes pg prepare it once for each connection. */
  async query<Row extends QueryResultRow>(statement: QueryConfig): Promise<Row[]> {
    try {
      return (await this.pool.query<Row>(statement)).rows;
    } catch (error) {
      throw this.toError(error);
    }
  }

  /** Runs a composed statement on the short pool and returns its rows. Each connection keeps the statement prepared. */
  async list<Row extends QueryResultRow>(statement: Prisma.Sql): Promise<Row[]> {
    try {
      const client = await this.pool.connect();
      try {
        const rows = await runPrepared<Row>(client, statement);
        client.release(keepsTooMany(client));
        return rows;
      } catch (error) {
        client.release(true);
        throw error;
      }
    } catch (error) {
      throw this.toError(error);
    }
  }

  /** True when a connection of the long pool that is given back should be closed, because other processes may need its place. */
  get keepsEnough(): boolean {
    return this.longPool.idleCount >= this.keptLongConnections;
  }

  /**
   * Translates an error. Connections to a server that takes no writes are closed: the address may lead to another server by now, while a
   * balancer keeps the old connections.
   */
  private toError(error: unknown): AppError {
    if (findSqlFault(error)?.sqlState === READ_ONLY) this.renewConnections();
    return toDataSourceError(error);
  }

  /** Closes the idle connections, because they lead to a server that is not the primary any more. */
  renewConnections(): void {
    const now = performance.now();
    if (now - this.renewedAt <= RENEWAL_MS) return;
    this.renewedAt = now;
    for (const pool of [this.pool, this.longPool]) closeIdle(pool);
  }

  /** The connections of each pool: those in use, those that are idle, and the requests that wait for one. */
  get figures(): Readonly<Record<'short' | 'long', PoolFigures>> {
    const count = ({ totalCount, idleCount, waitingCount }: Pool): PoolFigures => ({
      busy: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
    });
    return { short: count(this.pool), long: count(this.longPool) };
  }

  /** Tells that the database was not reached where no caller waits for it. */
  noteLoss(error: Error): void {
    if (!this.isClosing) this.options.onConnectionLost(error);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    await this.models?.$disconnect();
    await Promise.all([this.pool.end(), this.longPool.end()]);
  }
}

function closeIdle(pool: Pool): void {
  for (let idle = pool.idleCount; idle > 0; idle--) {
    pool.connect().then(
      (client) => client.release(true),
      () => undefined,
    );
  }
}

/** The connection of a client, which pg's types leave out. */
const connectionOf = (client: PoolClient): Connection => (client as PoolClient & { readonly connection: Connection }).connection;

/** Ends a connection that is held for longer than the limit, counted from its acquisition to its release over all statements. */
function limitUse(pool: Pool, answerTimeoutMs: number): void {
  const stopWaiting = new WeakMap<PoolClient, () => void>();
  pool.on('acquire', (client) => {
    stopWaiting.set(client, limitAnswer(connectionOf(client), answerTimeoutMs));
  });
  pool.on('release', (_error, client) => stopWaiting.get(client)?.());
}
