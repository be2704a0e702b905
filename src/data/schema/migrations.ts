import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { AppError, OperatorError } from '../../errors';
import { packageFile } from '../../package-files';
import type { Database, DatabaseAddress } from '../postgres/database';
import { describeConnectionFault, toDataSourceError } from '../postgres/database-errors';
import { citus, distributeBooks, IS_DISTRIBUTED } from './citus';
import { asOwner, beginAlone } from './owner-session';
import { grantServingRole } from './serving-role';
import { DEADLOCK, findSqlFault, LOCK_TIMEOUT, MISSING_GRANT, MISSING_TABLE } from '../postgres/sql-fault';

const MIGRATIONS_DIRECTORY = packageFile('prisma/migrations');

/** A migration of this gateway. */
interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, in hex. */
  readonly checksum: string;
}

/** The names of the migrations that a database lacks, and of those that only a newer gateway knows, each in order. */
export interface MigrationState {
  readonly missing: readonly string[];
  readonly newer: readonly string[];
}

/** The schema of the gateway's tables, as SQL. */
interface FoundSchema {
  readonly schema: string;
  /** True when it has the table of migrations. */
  readonly isKept: boolean;
}

interface MigrationOptions {
  readonly onWait?: (() => void) | undefined;
  readonly mustDistribute?: boolean;
  readonly last?: string | undefined;
}

/**
 * Applies prisma/migrations to the database, distributes the books where Citus is, and gives the serving role its grants, unless a newer
 * gateway has given it others. Returns the names of the migrations that were missing. The table `_prisma_migrations` has the rows that Prisma
 * Migrate would write, so that the Prisma CLI reads it too. `onWait` is called when a table that others read holds a migration up. With `mustDistribute` a database without Citus is an
 * error. No migration after `last` is applied, and neither distribution nor grants follow then, as they name newer tables. Throws an
 * OperatorError.
 */
export async function applyMigrations(
  address: DatabaseAddress,
  { onWait, mustDistribute = false, last }: MigrationOptions = {},
): Promise<string[]> {
  const migrations = await readMigrations();
  try {
    const { applied, newer } = await asOwner(address, (client) => applyMissing(client, migrations, { onWait, last }));
    if (last === undefined) {
      await distributeBooks(address, mustDistribute);
      // These grants know no newer tables: they would take the rights of a newer gateway that serves.
      if (newer.length === 0) await grantServingRole(address);
    }
    return applied;
  } catch (error) {
    const fault = toDataSourceError(error);
    const reason = fault.code === 'NO_DATA_SOURCE_CONNECTION' ? describeConnectionFault(fault) : (error as Error).message;
    throw new OperatorError(`The migration failed: ${reason}`, { cause: error });
  }
}

/** The migrations that the database and this gateway do not share. It only reads, so the right to read is enough. */
export async function compareMigrations(address: DatabaseAddress): Promise<MigrationState> {
  const migrations = await readMigrations();
  try {
    return await asOwner(address, (client) => compare(client, migrations));
  } catch (error) {
    throw error instanceof OperatorError ? error : toDataSourceError(error);
  }
}

/** The names of the migrations in prisma/migrations, in order. */
export async function listMigrationNames(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS_DIRECTORY, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
}

/** The migrations in prisma/migrations, in order. */
export async function readMigrations(): Promise<Migration[]> {
  const names = await listMigrationNames();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(MIGRATIONS_DIRECTORY, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * A migration that waits for a table makes all new readers of the table wait behind it, and a report may be read for long. So it gives up
 * soon, which undoes it as a whole, lets those go on who wait, and begins again. A short query waits longer than this for its answer. At the
 * server's deadlock_timeout, a second, an autovacuum that is in the way is told to give way, so that the limit is longer.
 */
const LIMIT_LOCKS = `SET LOCAL lock_timeout = '1500ms'`;
const LOCK_PAUSE_MS = 2000;

/** The table as Prisma Migrate makes it. */
const CREATE_TABLE = `CREATE TABLE _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;
/**
 * The schema of the gateway's tables, wherever the search path finds it, or else the one in which new tables are made. Another application of
 * Prisma has a table of migrations too, and tables of an extension are no application's.
 */
const FIND_SCHEMA = `WITH own AS (SELECT COALESCE(
  (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('_prisma_migrations')
    AND EXISTS (SELECT FROM pg_class AS books WHERE books.relnamespace = pg_class.relnamespace AND books.relname = 'data_version')),
  (SELECT oid FROM pg_namespace WHERE nspname = current_schema())) AS schema)
SELECT own.schema::regnamespace::text AS schema,
  EXISTS (SELECT FROM pg_class WHERE relnamespace = own.schema AND relname = '_prisma_migrations') AS "isKept",
  EXISTS (SELECT FROM pg_class WHERE relnamespace = own.schema AND relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')) AS "hasTables"
FROM own`;
/** Makes the tables of a migration in that schema. */
const USE_SCHEMA = `SELECT set_config('search_path', concat_ws(', ', $1::text, NULLIF(current_setting('search_path'), '')), true)`;
const APPLIED = '_prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';
const listApplied = (schema: string): string => `SELECT migration_name AS name, checksum FROM ${schema}.${APPLIED} ORDER BY migration_name`;
/** A row that Prisma's CLI has left open keeps the CLI from all further work. If a part of its migration stands, applying it fails and says so. */
const NOTE_UNDONE = 'UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL';
const NOTE_APPLIED = `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
  VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`;

/**
 * Applies each missing migration and notes it, in one transaction: a migration whose process or connection ends is undone as a whole.
 * Another process may come between two of them, so each transaction looks anew which ones are missing. Returns their names, and
 * those of the migrations that only a newer gateway knows.
 */
async function applyMissing(
  client: Client,
  migrations: readonly Migration[],
  { onWait, last }: MigrationOptions,
): Promise<{ readonly applied: string[]; readonly newer: readonly string[] }> {
  const applied: string[] = [];
  for (;;) {
    await beginAlone(client).catch((error: unknown) => {
      throw isInTheWay(error) ? new Error('Another migration of the database is under way') : error;
    });
    const { schema, isKept, missing, newer } = await compare(client, migrations);
    const next = migrations.find(({ name }) => name === missing[0]);
    if (!next || (last !== undefined && next.name > last)) {
      await client.query('COMMIT');
      return { applied, newer };
    }
    try {
      await client.query(LIMIT_LOCKS);
      await client.query(USE_SCHEMA, [schema]);
      await client.query(isKept ? NOTE_UNDONE : CREATE_TABLE);
      await client.query(next.sql);
      await client.query(NOTE_APPLIED, [randomUUID(), next.checksum, next.name]);
      await client.query('COMMIT');
      applied.push(next.name);
    } catch (error) {
      if (!isInTheWay(error)) throw findSqlFault(error) ? new Error(`${next.name}: ${(error as Error).message}`, { cause: error }) : error;
      await client.query('ROLLBACK');
      onWait?.();
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

/** True when others hold what a migration needs, for which it waits again. */
const isInTheWay = (error: unknown): boolean => [LOCK_TIMEOUT, DEADLOCK].includes(findSqlFault(error)?.sqlState ?? '');

/** Throws an OperatorError when the database is not one that these migrations have made, or can go on with. */
async function compare(client: Client, migrations: readonly Migration[]): Promise<MigrationState & FoundSchema> {
  const { schema, isKept, hasTables } = (await client.query<FoundSchema & { hasTables: boolean }>(FIND_SCHEMA)).rows[0]!;
  if (!isKept && hasTables) throw new OperatorError("The database has tables that are not the gateway's: name an empty one");
  const { rows } = isKept ? await client.query<{ name: string; checksum: string }>(listApplied(schema)) : { rows: [] };
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const changed = migrations.find(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum);
  if (changed) throw new OperatorError(`The migration ${changed.name} is not as it was when it was applied: use an unchanged gateway`);
  const missing = migrations.flatMap(({ name }) => (applied.has(name) ? [] : name));
  const known = new Set(migrations.map(({ name }) => name));
  const newer = [...applied.keys()].filter((name) => !known.has(name));
  if (newer.length > 0 && missing.length === migrations.length) {
    throw new OperatorError(`The database has the migration ${newer[0]}, and none of this gateway's: make a new one, and import again`);
  }
  if (missing.length > 0 && newer.length > 0) {
    throw new OperatorError(
      `The database has the migration ${newer[0]}, which this gateway does not know, and lacks ${missing[0]}: use a newer gateway`,
    );
  }
  return { schema, isKept, missing, newer };
}

/**
 * The reason why the database cannot serve, in words for an operator; undefined when it answers and has the newest migration. With
 * `mustLead` a standby cannot serve.
 */
export async function findObstacle(database: Database, { mustLead = false } = {}): Promise<string | undefined> {
  newestMigration ??= findNewestMigration();
  try {
    const values = [await newestMigration];
    const rows = await database.query<{ isDistributed: boolean; isStandby: boolean }>({ name: 'is-migrated', text: IS_MIGRATED, values });
    if (!rows[0]) return NOT_MIGRATED;
    if (mustLead && rows[0].isStandby) return STANDBY;
    if (rows[0].isDistributed === (database.placement === citus)) return undefined;
    return rows[0].isDistributed ? NOT_KNOWN_AS_DISTRIBUTED : NOT_DISTRIBUTED;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'NO_DATA_SOURCE_CONNECTION') return describeConnectionFault(error);
    const { sqlState, relation } = findSqlFault(error) ?? {};
    if (sqlState === MISSING_TABLE) return NOT_MIGRATED;
    return sqlState === MISSING_GRANT ? `The database user lacks a grant on ${relation ?? 'a table'}` : 'The database does not answer';
  }
}

const STANDBY = 'DATABASE_URL leads to a standby, which takes no writes and may not know yet who was locked out';
const NOT_MIGRATED = 'The database lacks migrations: run `deposit-gateway migrate`';
const NOT_KNOWN_AS_DISTRIBUTED = 'Citus distributes the books: set DATABASE_ENGINE to citus';
const NOT_DISTRIBUTED = 'DATABASE_ENGINE is citus, but the books are not distributed: run `deposit-gateway migrate`';
const IS_MIGRATED = `SELECT ${IS_DISTRIBUTED} AS "isDistributed", pg_is_in_recovery() AS "isStandby" FROM ${APPLIED} AND migration_name = $1`;
let newestMigration: Promise<string | undefined> | undefined;

/** A listing that fails is not remembered. */
async function findNewestMigration(): Promise<string | undefined> {
  try {
    return (await listMigrationNames()).at(-1);
  } catch (error) {
    newestMigration = undefined;
    throw error;
  }
}
