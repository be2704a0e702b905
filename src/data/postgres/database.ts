import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type Connection, type PoolClient, type PoolConfig, type QueryConfig, type QueryResultRow } from 'pg';
import { PrismaClient, type Prisma } from '../../generated/prisma/client';
import { limitAnswer } from './answer-timeout';
import { toDataSourceError } from './database-errors';

/** How to reach a PostgreSQL: the part of pg's configuration that says where and as whom. */
export type DatabaseAddress = Pick<PoolConfig, 'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database'>;

export interface DatabaseOptions {
  readonly address: DatabaseAddress;
  readonly poolSize: number;
  /** Connections for reports and imports. */
  readonly longConnections: number;
  /** Longest wait for a connection. */
  readonly connectTimeoutMs: number;
  /** Longest wait for what should be answered at once. */
  readonly answerTimeoutMs: number;
  /** Told about connections lost while idle; the pool replaces them by itself. */
  readonly onConnectionLost: (error: Error) => void;
}

/** PostgreSQL ends a short statement by itself so long before the gateway stops waiting for it. */
const STATEMENT_MARGIN_MS = 500;

const SESSION = '-c datestyle=ISO -c timezone=UTC';
/** The data is on an SSD or in memory: what an index finds is read by it, however much or little else the table holds. */
const PLANNING = '-c random_page_cost=2';
/** For reports: compiling their query or remembering inner rows costs more than it brings; a year of one is sorted in memory. */
export const REPORT_PLANNING = `${PLANNING} -c jit=off -c enable_memoize=off -c work_mem=32MB`;

const createPrisma = (pool: Pool) =>
  new PrismaClient({ adapter: new PrismaPg(pool) }).$extends({
    query: { $allOperations: ({ args, query }) => query(args).catch(rethrowTranslated) },
  });

export type Models = ReturnType<typeof createPrisma>;

/**
 * The database as the stores see it: two lanes of connections and Prisma's models over the first of them.
 * Whatever it throws is an AppError, but for what comes out of a lane's client directly.
 */
export class Database {
  /** Short queries: every wait of theirs is limited. */
  readonly pool: Pool;
  /** Long ones: reports, imports, migrations. They limit themselves. */
  readonly longPool: Pool;
  readonly prisma: Models;
  readonly answerTimeoutMs: number;
  private isClosing = false;

  constructor(options: DatabaseOptions) {
    const lane = (config: PoolConfig): Pool => {
      const pool = new Pool({
        ...options.address,
        connectionTimeoutMillis: options.connectTimeoutMs,
        keepAlive: true,
        application_name: 'deposit-gateway',
        ...config,
      });
      // Without this handler, an idle connection that the server ends would end the process. On a stop, an embedded server may be faster
      // than the goodbye of the pool's connections, and none of them is lost.
      pool.on('error', (error) => {
        if (!this.isClosing) options.onConnectionLost(error);
      });
      // Nor may one that is lost while in use: its query gets the error.
      pool.on('connect', (client) => client.on('error', () => undefined));
      return pool;
    };
    this.pool = lane({
      max: options.poolSize,
      statement_timeout: options.answerTimeoutMs - STATEMENT_MARGIN_MS,
      options: `${SESSION} ${PLANNING}`,
    });
    this.answerTimeoutMs = options.answerTimeoutMs;
    limitUse(this.pool, options.answerTimeoutMs);
    this.longPool = lane({ max: options.longConnections, options: `${SESSION} ${REPORT_PLANNING}` });
    this.prisma = createPrisma(this.pool);
  }

  /** One statement on the short lane. A `name` prepares it once for each connection. */
  async query<Row extends QueryResultRow>(statement: QueryConfig): Promise<Row[]> {
    try {
      return (await this.pool.query<Row>(statement)).rows;
    } catch (error) {
      throw toDataSourceError(error);
    }
  }

  /** The rows of a composed statement, on the short lane. */
  list<Row extends QueryResultRow>({ text, values }: Prisma.Sql): Promise<Row[]> {
    return this.query<Row>({ text, values });
  }

  async close(): Promise<void> {
    this.isClosing = true;
    await this.prisma.$disconnect();
    await Promise.all([this.pool.end(), this.longPool.end()]);
  }
}

/** Gives up a connection that somebody has used for too long, all statements of the use together. */
function limitUse(pool: Pool, answerTimeoutMs: number): void {
  const stopWaiting = new WeakMap<PoolClient, () => void>();
  pool.on('acquire', (client) => {
    const { connection } = client as PoolClient & { readonly connection: Connection };
    stopWaiting.set(client, limitAnswer(connection, answerTimeoutMs));
  });
  pool.on('release', (_error, client) => stopWaiting.get(client)?.());
}

function rethrowTranslated(error: unknown): never {
  throw toDataSourceError(error);
}
