import { escapeIdentifier, type ClientBase } from 'pg';
import type { BackupTable } from '../../formats/backup/backup-archive';

/**
 * The tables whose rows are no part of a backup. A session or a link that was open when a backup was made must not open again after a
 * restore, and a stolen backup has no use for them. The costs are those of the last minutes.
 */
export const PASSING: readonly string[] = ['session', 'link_key', 'spent_cost'];
/** The list of migrations is written anew by a restore. */
const LEFT_OUT = ['_prisma_migrations', ...PASSING];

/** A foreign key, as SQL. */
export interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * The tables that a backup holds, and their columns in order. Partitions, tables of extensions, and tables behind another of their name
 * are left out.
 */
export async function listTables(client: ClientBase): Promise<BackupTable[]> {
  return (await client.query<BackupTable>(TABLES, [LEFT_OUT])).rows;
}

/** The names of the sequences, and whether each belongs to a column. */
export async function listSequences(client: ClientBase): Promise<{ readonly name: string; readonly isOwned: boolean }[]> {
  return (await client.query<{ name: string; isOwned: boolean }>(SEQUENCES)).rows;
}

/** The foreign keys of all tables. */
export async function listForeignKeys(client: ClientBase): Promise<ForeignKey[]> {
  return (await client.query<ForeignKey & Record<string, unknown>>(FOREIGN_KEYS)).rows;
}

/** Columns as SQL. */
export const toColumnList = (columns: readonly string[]): string => columns.map(escapeIdentifier).join(', ');

/**
 * The schema of the gateway's own table. current_schema() may be another: it is the first of the search path that is there, and a schema
 * with the name of the role comes before `public`. Without that table, it is the one in which tables would be made.
 */
const IN_SCHEMA = `COALESCE((SELECT relnamespace FROM pg_class WHERE oid = to_regclass('organization')),
  (SELECT oid FROM pg_namespace WHERE nspname = current_schema()))`;
/** Statements name tables without a schema, so that they mean the visible one. */
const IS_VISIBLE = 'pg_table_is_visible(pg_class.oid)';
const OF_EXTENSION = `EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')`;

const TABLES = `
SELECT relname::text AS name, array_agg(attname::text ORDER BY attnum) AS columns
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
WHERE relnamespace = ${IN_SCHEMA} AND relkind IN ('r', 'p') AND NOT relispartition AND ${IS_VISIBLE}
  AND relname <> ALL($1) AND NOT ${OF_EXTENSION}
GROUP BY relname ORDER BY relname`;

const SEQUENCES = `
SELECT relname::text AS name, EXISTS (
  SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND refobjsubid > 0 AND deptype IN ('a', 'i')
) AS "isOwned" FROM pg_class
WHERE relnamespace = ${IN_SCHEMA} AND relkind = 'S' AND ${IS_VISIBLE} AND NOT ${OF_EXTENSION} ORDER BY relname`;

const FOREIGN_KEYS = `
SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
WHERE contype = 'f' AND conparentid = 0 AND connamespace = ${IN_SCHEMA} ORDER BY 1, 2`;
