import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import { Pool, type PoolConfig, type QueryResult } from 'pg';
import { EmbeddedPostgres } from '../../src/data/embedded/embedded-postgres';
import { applyMigrations, readMigrations } from '../../src/data/schema/migrations';

// Fails when prisma/schema.prisma is ahead of prisma/migrations, and prints the SQL that is missing. Fails too when Prisma Migrate finds
// anything to do in a database that the gateway has migrated: `prisma migrate status` and `prisma migrate deploy` ask its engine the same.
// The engine is its WebAssembly build, which nothing is downloaded for.

const PRISMA_DIRECTORY = join(__dirname, '../../prisma');
const SCHEMA_FILE = 'prisma/schema.prisma';
const NO_FILTERS = { externalTables: [], externalEnums: [] };
const readText = (name: string): string => readFileSync(join(PRISMA_DIRECTORY, name), 'utf8');

/** The part of the standard WebAssembly object that is used here. Only the browser's types declare it, not Node's. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
};

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

class EngineAdapter extends PrismaPg {
  constructor(private readonly pool: IntrospectionPool) {
    super(pool);
  }

  override async connect() {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      for (const position of this.pool.characterColumns.get(result.rows) ?? []) result.columnTypes[position] = ColumnTypeEnum.Character;
      return result;
    };
    return adapter;
  }
}

/** The faults of the migrations, in words. */
async function findFaults(engine: SchemaEngine): Promise<string[]> {
  const files = [{ path: SCHEMA_FILE, content: readText('schema.prisma') }];
  const { exitCode, stdout } = await engine.diff({
    from: { tag: 'schemaDatasource', files, configDir: '.' },
    to: { tag: 'schemaDatamodel', files },
    script: true,
    exitCode: true,
    filters: NO_FILTERS,
  });
  const migrationsList = {
    baseDir: join(PRISMA_DIRECTORY, 'migrations'),
    shadowDbInitScript: '',
    lockfile: { path: 'migration_lock.toml', content: readText('migrations/migration_lock.toml') },
    migrationDirectories: (await readMigrations()).map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
    })),
  };
  const status = await engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters: NO_FILTERS });
  const isInOrder =
    status.hasMigrationsTable && status.history === null && status.editedMigrationNames.length + status.failedMigrationNames.length === 0;
  const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: NO_FILTERS });
  return [
    ...(exitCode === 2 ? [`prisma/schema.prisma is ahead of prisma/migrations:\n${stdout}`] : []),
    ...(isInOrder ? [] : [`Prisma Migrate reads the migrations of the gateway otherwise: ${JSON.stringify(status)}`]),
    ...(appliedMigrationNames.length > 0 ? [`Prisma Migrate applies again: ${appliedMigrationNames.join(', ')}`] : []),
  ];
}

async function main(): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-drift-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(directory, 0o755);
  const postgres = await EmbeddedPostgres.start(directory, applyMigrations, (error) => {
    throw error;
  });
  const pool = new IntrospectionPool({ ...postgres.address, max: 2 });
  try {
    const Engine = await loadEngine();
    const adapter = bindMigrationAwareSqlAdapterFactory(new EngineAdapter(pool));
    const engine = await Engine.new({ datamodels: [[SCHEMA_FILE, readText('schema.prisma')]] }, () => undefined, adapter);
    const faults = await findFaults(engine);
    engine.free();
    return faults;
  } finally {
    await pool.end();
    await postgres.stop('fast');
    await EmbeddedPostgres.remove(directory);
  }
}

void main().then((faults) => {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  // The engine keeps a timer for ten seconds.
  process.exit(faults.length > 0 ? 1 : 0);
});
