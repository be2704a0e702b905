import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import { Client, escapeLiteral, Pool, type PoolConfig, type QueryResult, type QueryResultRow } from 'pg';
import { AppError } from '../../errors';
import type { Database, DatabaseAddress } from './database';
import { describeConnectionFault, toDataSourceError } from './database-errors';
import { distributeBooks, IS_DISTRIBUTED } from './citus';
import { grantServingRole } from './serving-role';
import { findSqlFault, LOCK_TIMEOUT, MISSING_GRANT, MISSING_TABLE } from './sql-fault';
import { overOptions } from './startup-options';

const PRISMA_DIRECTORY = join(__dirname, '../../../prisma');
const MIGRATIONS_DIRECTORY = join(PRISMA_DIRECTORY, 'migrations');
const SCHEMA_FILE = 'prisma/schema.prisma';
const NO_FILTERS = { externalTables: [], externalEnums: [] };

interface MigrationOptions {
  readonly onWait?: (() => void) | undefined;
  readonly mustDistribute?: boolean;
  readonly last?: string | undefined;
}

/**
 * Applies prisma/migrations to the database, distributes the books where Citus is, and gives the serving role its grants. Returns the names
 * of the migrations that were missing. It runs Prisma Migrate's own engine in its WebAssembly build: nothing is downloaded, and the Prisma
 * CLI reads the same table `_prisma_migrations`. `onWait` is called when a table that others read holds a migration up. With
 * `mustDistribute` a database without Citus is an error. No migration after `last` is applied, and neither distribution nor grants follow
 * then, as they name newer tables.
 */
export async function applyMigrations(
  address: DatabaseAddress,
  { onWait, mustDistribute = false, last }: MigrationOptions = {},
): Promise<string[]> {
  const migrationsList = await readMigrations(last);
  const apply = (engine: SchemaEngine) => engine.applyMigrations({ migrationsList, filters: NO_FILTERS });
  const { appliedMigrationNames } = await underLock(address, async (assertLocked) => {
    await noteUndone(address);
    return withEngine(address, apply, { onWait, assertLocked });
  });
  if (last === undefined) {
    await distributeBooks(address, mustDistribute);
    await grantServingRole(address);
  }
  return appliedMigrationNames;
}

/**
 * The SQL that would bring the migrations up to schema.prisma; empty when they agree. It works in a scratch database on the same server
 * and does not touch the given one.
 */
export async function findDrift(address: DatabaseAddress): Promise<string> {
  const name = `deposit_gateway_drift_${randomUUID().replaceAll('-', '')}`;
  const admin = new Client(address);
  // Without a handler, a lost connection would end the process. The statement that is under way gets the error.
  admin.on('error', () => undefined);
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${name}`);
    const scratch = withDatabase(address, name);
    await applyMigrations(scratch);
    const files = [{ path: SCHEMA_FILE, content: readSchema() }];
    const { exitCode, stdout } = await withEngine(scratch, (engine) =>
      engine.diff({
        from: { tag: 'schemaDatasource', files, configDir: '.' },
        to: { tag: 'schemaDatamodel', files },
        script: true,
        exitCode: true,
        filters: NO_FILTERS,
      }),
    );
    return exitCode === 2 ? (stdout ?? '') : '';
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.end();
  }
}

/** The names of the migrations that the database lacks, in order. It only reads, so the right to read is enough. */
export async function listMissingMigrations(address: DatabaseAddress): Promise<string[]> {
  const applied = new Set((await askOfMigrations<{ migration_name: string }>(address, LIST_APPLIED)).map((row) => row.migration_name));
  return (await listMigrationNames()).filter((name) => !applied.has(name));
}

/**
 * Notes a migration as rolled back that was begun and not finished: its process was killed, its connection was lost, or its SQL failed. The
 * engine would apply nothing more before somebody has done so. PostgreSQL has undone such a migration of this gateway as a whole, because it
 * is finished in its own transaction. Call it under the lock.
 */
async function noteUndone(address: DatabaseAddress): Promise<void> {
  await askOfMigrations(address, `UPDATE _prisma_migrations SET rolled_back_at = now() ${IS_OPEN}`);
}

/** Runs a statement over the table of migrations. Where there is none, it has no rows. */
async function askOfMigrations<Row extends QueryResultRow>(address: DatabaseAddress, statement: string): Promise<Row[]> {
  const client = new Client({ ...address, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, application_name: 'deposit-gateway migrate' });
  // Without a handler, a lost connection would end the process. The statement that is under way gets the error.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(statement)).rows;
  } catch (error) {
    if (findSqlFault(error)?.sqlState === MISSING_TABLE) return [];
    throw toDataSourceError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * The reason why the database cannot serve, in words for an operator; undefined when it answers and has the newest migration. With
 * `mustLead` a standby cannot serve.
 */
export async function findObstacle(database: Database, { mustLead = false } = {}): Promise<string | undefined> {
  newestMigration ??= listMigrationNames().then((names) => names.at(-1));
  try {
    const values = [await newestMigration];
    const rows = await database.query<{ isDistributed: boolean; isStandby: boolean }>({ name: 'is-migrated', text: IS_MIGRATED, values });
    if (!rows[0]) return NOT_MIGRATED;
    if (mustLead && rows[0].isStandby) return STANDBY;
    if (rows[0].isDistributed === database.placement.isDistributed) return undefined;
    return rows[0].isDistributed ? NOT_KNOWN_AS_DISTRIBUTED : NOT_DISTRIBUTED;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'NO_DATA_SOURCE_CONNECTION') return describeConnectionFault(error);
    const { sqlState, relation } = findSqlFault(error) ?? {};
    if (sqlState === MISSING_TABLE) return NOT_MIGRATED;
    return sqlState === MISSING_GRANT ? `The database user lacks a grant on ${relation ?? 'a table'}` : 'The database does not answer';
  }
}

const CONNECT_TIMEOUT_MS = 2000;
const STANDBY = 'DATABASE_URL leads to a standby, which takes no writes and may not know yet who was locked out';
const NOT_MIGRATED = 'The database lacks migrations: run `deposit-gateway migrate`';
const NOT_KNOWN_AS_DISTRIBUTED = 'Citus distributes the books: set DATABASE_ENGINE to citus';
const NOT_DISTRIBUTED = 'DATABASE_ENGINE is citus, but the books are not distributed: run `deposit-gateway migrate`';
const APPLIED = 'FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';
const LIST_APPLIED = `SELECT migration_name ${APPLIED}`;
const IS_OPEN = 'WHERE finished_at IS NULL AND rolled_back_at IS NULL';
const IS_MIGRATED = `SELECT ${IS_DISTRIBUTED} AS "isDistributed", pg_is_in_recovery() AS "isStandby" ${APPLIED} AND migration_name = $1`;
let newestMigration: Promise<string | undefined> | undefined;

/** The lock that Prisma Migrate takes, too. */
const MIGRATION_LOCK = 72707369;
/** The engine asks for that lock by this statement, for its session. */
const SESSION_LOCK = `SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
/** The transaction of the lock idles for as long as the migrations take. PostgreSQL knows transaction_timeout from 17 on. */
const LOCK = `BEGIN; SET LOCAL lock_timeout = '10s';
  SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout');
  SELECT pg_advisory_xact_lock(${MIGRATION_LOCK}); SET LOCAL lock_timeout = 0`;

/**
 * Works while nobody else migrates the database. The lock is a transaction's: behind a pooler of transactions, that of a session would stay
 * with a connection that the pooler keeps, and the next migration would wait for it in vain. `assertLocked` throws when the connection of
 * the lock was lost, as somebody else may migrate then.
 */
async function underLock<Result>(address: DatabaseAddress, work: (assertLocked: () => void) => Promise<Result>): Promise<Result> {
  const client = new Client({ ...address, application_name: 'deposit-gateway migrate' });
  let isLost = false;
  const lose = (): void => void (isLost = true);
  client.on('error', lose).on('end', lose);
  let refusal: Error | undefined;
  const assertLocked = (): void => {
    if (isLost) throw (refusal = new Error(LOST_LOCK));
  };
  try {
    await client.connect();
    if (!(await isInTime(client.query(LOCK)))) throw new Error('Another migration of the database is under way');
    const result = await work(assertLocked);
    // A connection that breaks without a word is noticed by its next statement.
    await client.query('SELECT').catch(lose);
    assertLocked();
    // All is applied: the lock ends with its connection, too.
    await client.query('COMMIT').catch(() => undefined);
    return result;
  } catch (error) {
    // The engine makes a trace of its own of each error.
    throw refusal ?? error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const LOST_LOCK = 'The lock was lost: another migration may have come between. Run `deposit-gateway migrate` again';

interface EngineSignals {
  /** Called when a table that others read holds a migration up. */
  readonly onWait?: (() => void) | undefined;
  /** Throws when no migration may begin. */
  readonly assertLocked?: () => void;
}

async function withEngine<Result>(
  address: DatabaseAddress,
  use: (engine: SchemaEngine) => Promise<Result>,
  signals: EngineSignals = {},
): Promise<Result> {
  const Engine = await (engineModule ??= loadEngine());
  // The engine reads times as ISO 8601 alone. The address may set another style.
  const pool = new IntrospectionPool({
    ...overOptions(address, '-c datestyle=ISO'),
    max: 2,
    application_name: 'deposit-gateway migrate',
  });
  const engine = await Engine.new(
    { datamodels: [[SCHEMA_FILE, readSchema()]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(new EngineAdapter(pool, signals)),
  );
  try {
    return await use(engine);
  } finally {
    engine.free();
    await pool.end();
  }
}

/** The part of the standard WebAssembly object that is used here. Only the browser's types declare it, not Node's. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
};

/** The engine is loaded once, because a second instance would replace the memory of the first. */
let engineModule: ReturnType<typeof loadEngine> | undefined;

/** Loads the engine. Its glue is an ES module that expects its caller to instantiate the WebAssembly. */
async function loadEngine() {
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasmFile = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm');
  const { instance } = await WebAssembly.instantiate(readFileSync(wasmFile), { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: () => undefined } });
  return glue.SchemaEngine;
}

/**
 * The engine's introspection reads the catalog type "char" (oid 18) and expects a character, but adapter-pg refuses that type. This pool
 * presents it as bpchar (oid 1042) and remembers the columns, and EngineAdapter marks those columns as characters.
 */
class IntrospectionPool extends Pool {
  readonly characterColumns = new WeakMap<object, number[]>();

  constructor(config: PoolConfig) {
    super(config);
    const query = this.query.bind(this) as (...parameters: unknown[]) => Promise<Partial<QueryResult> | undefined>;
    const passCharacters = async (...parameters: unknown[]): Promise<Partial<QueryResult> | undefined> => {
      const result = await query(...parameters);
      // Several statements at once have no one result.
      const characters = result?.fields?.flatMap((field, position) => (field.dataTypeID === 18 ? position : [])) ?? [];
      if (!result?.fields || !result.rows || characters.length === 0) return result;
      for (const position of characters) result.fields[position]!.dataTypeID = 1042;
      this.characterColumns.set(result.rows, characters);
      return result;
    };
    Object.assign(this, { query: passCharacters });
  }
}

/**
 * A migration that waits for a table makes all new readers of the table wait behind it, and a report may be read for long. So it gives up
 * soon, which undoes it as a whole, lets those go on who wait, and begins again. A short query waits longer than this for its answer.
 */
const LIMIT_LOCKS = `SELECT set_config('lock_timeout', '1s', true)`;
const LOCK_PAUSE_MS = 2000;

/** True when a statement was run; false when it did not get a lock in time. */
const isInTime = (applied: Promise<unknown>): Promise<boolean> =>
  applied.then(
    () => true,
    (error: unknown) => {
      if (findSqlFault(error)?.sqlState !== LOCK_TIMEOUT) throw error;
      return false;
    },
  );

/** The engine writes this row before a migration, and ends it afterwards. While it is open, no other migration begins. */
const BEGINS_MIGRATION = /^INSERT INTO .*"_prisma_migrations"/;
/**
 * Ends a migration's own row in the transaction of the migration, so that no row that is left open has been applied. The backend of a killed
 * process may work on after another one has noted its migration as undone: it is undone then.
 */
const finishMigration = (id: string): string => `DO $finish$ BEGIN
  UPDATE _prisma_migrations SET finished_at = now() ${IS_OPEN} AND id = ${escapeLiteral(id)};
  IF NOT FOUND THEN RAISE 'The migration was noted as undone meanwhile'; END IF;
END $finish$`;

/**
 * The adapter of the engine. It marks the columns that IntrospectionPool presents as characters, and it sends a migration as a whole:
 * PostgreSQL then applies all of it or nothing. The adapter of Prisma would cut it at every semicolon, those of functions and comments too.
 */
class EngineAdapter extends PrismaPg {
  constructor(
    private readonly introspectionPool: IntrospectionPool,
    private readonly signals: EngineSignals,
  ) {
    super(introspectionPool);
  }

  override async connect() {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    // The engine makes its table by a script, too.
    let ending = '';
    adapter.queryRaw = async (query) => {
      if (BEGINS_MIGRATION.test(query.sql)) {
        this.signals.assertLocked?.();
        ending = finishMigration(String(query.args[0]));
      }
      const result = await queryRaw(query);
      for (const position of this.introspectionPool.characterColumns.get(result.rows) ?? []) {
        result.columnTypes[position] = ColumnTypeEnum.Character;
      }
      return result;
    };
    const executeRaw = adapter.executeRaw.bind(adapter);
    // `underLock` has the lock already.
    adapter.executeRaw = (query) => (query.sql === SESSION_LOCK ? Promise.resolve(0) : executeRaw(query));
    const apply = (script: string) => adapter.executeRaw({ sql: `${LIMIT_LOCKS};\n${script};\n${ending}`, args: [], argTypes: [] });
    adapter.executeScript = async (script) => {
      while (!(await isInTime(apply(script)))) {
        this.signals.onWait?.();
        await sleep(LOCK_PAUSE_MS);
      }
    };
    return adapter;
  }
}

/** The names of the migrations in prisma/migrations, in order. */
export async function listMigrationNames(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS_DIRECTORY, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
}

/** The migrations in order, up to `last`, with their SQL. */
export async function readMigrations(last?: string) {
  const baseDir = MIGRATIONS_DIRECTORY;
  const names = (await listMigrationNames()).filter((name) => last === undefined || name <= last);
  return {
    baseDir,
    shadowDbInitScript: '',
    lockfile: { path: 'migration_lock.toml', content: await readFile(join(baseDir, 'migration_lock.toml'), 'utf8') },
    migrationDirectories: await Promise.all(
      names.map(async (path) => ({
        path,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await readFile(join(baseDir, path, 'migration.sql'), 'utf8') },
        },
      })),
    ),
  };
}

const readSchema = (): string => readFileSync(join(PRISMA_DIRECTORY, 'schema.prisma'), 'utf8');

function withDatabase(address: DatabaseAddress, database: string): DatabaseAddress {
  if (address.connectionString === undefined) return { ...address, database };
  const url = new URL(address.connectionString);
  url.pathname = `/${database}`;
  return { connectionString: url.href };
}
