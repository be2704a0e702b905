import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createTestDatabase } from './database';

const MIGRATIONS = join(__dirname, '../../prisma/migrations');

/** A database as an earlier release has left it, for a test to fill and to update. */
export interface EarlierDatabase {
  readonly url: string;
  readonly client: Client;
  /** The migrations that it lacks, in order. */
  readonly missing: readonly string[];
  drop(): Promise<void>;
}

/** Creates an empty database with the migrations before the given one. */
export async function createEarlierDatabase(first: string): Promise<EarlierDatabase> {
  const names = readdirSync(MIGRATIONS, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  const applied = names.filter((name) => name < first).sort();
  const newest = await createTestDatabase();
  const name = `earlier_${randomUUID().replaceAll('-', '')}`;
  await newest.client.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(newest.url), { pathname: `/${name}` }).href;
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const migration of applied) await client.query(readFileSync(join(MIGRATIONS, migration, 'migration.sql'), 'utf8'));
  await client.query(`CREATE TABLE _prisma_migrations (id VARCHAR(36) PRIMARY KEY, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ, started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0)`);
  const { rows } = await newest.client.query<{ id: string; checksum: string; finished_at: Date; migration_name: string }>(
    'SELECT id, checksum, finished_at, migration_name FROM _prisma_migrations WHERE migration_name = ANY($1)',
    [applied],
  );
  for (const row of rows) {
    await client.query('INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ($1, $2, $3, $4)', [
      ...[row.id, row.checksum, row.finished_at, row.migration_name],
    ]);
  }
  return {
    url,
    client,
    missing: names.filter((each) => each >= first).sort(),
    drop: async () => {
      await client.end();
      await newest.client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await newest.drop();
    },
  };
}
