import type { BackupManifest, BackupTable } from '../../formats/backup/backup-archive';
import { Prisma } from '../../generated/prisma/client';
import { listMigrationNames, readMigrations } from './migrations';
import { PASSING } from './table-catalog';

/**
 * The differences, in words, between these tables and sequences and those that the gateway makes. A restore would refuse what is foreign,
 * and a backup would lack rows where a table is missing. A schema of a newer gateway is not compared.
 */
export async function findSchemaFaults(
  { migrations, tables }: Pick<BackupManifest, 'migrations' | 'tables'>,
  sequences: readonly { readonly name: string; readonly isOwned: boolean }[],
): Promise<string[]> {
  const names = await listMigrationNames();
  if (!migrations.every((name) => names.includes(name))) return [];
  const isNewest = migrations.at(-1) === names.at(-1);
  const missing = isNewest ? findLacking(modelTables, tables) : [];
  const foreign = findLacking(tables, isNewest ? modelTables : await listKnown(tables));
  // Each sequence of the gateway belongs to a column.
  const others = sequences.flatMap(({ name, isOwned }) => (isOwned ? [] : `sequence ${name}`));
  // A restore applies the migrations in order, from the first to the last of the backup.
  const gap = names.find((name, position) => position < Math.max(1, migrations.length) && migrations[position] !== name);
  return [
    ...(gap === undefined ? [] : [`the migration ${gap} is missing: run \`deposit-gateway migrate\``]),
    ...missing.map((name) => `the ${name} is missing, or behind another one of its name`),
    ...[...foreign, ...others].map((name) => `the ${name} is not the gateway's: keep it in another schema`),
  ];
}

/** The tables that a second list lacks, and the columns that its tables lack, in words. */
function findLacking(tables: readonly BackupTable[], second: readonly BackupTable[]): string[] {
  const columnsOf = new Map(second.map(({ name, columns }) => [name, new Set(columns)]));
  return tables.flatMap(({ name, columns }) => {
    const known = columnsOf.get(name);
    return known ? columns.flatMap((column) => (known.has(column) ? [] : `column ${name}.${column}`)) : [`table ${name}`];
  });
}

/** The tables and columns whose names a migration has. An older schema may have some that a later migration takes away. */
async function listKnown(tables: readonly BackupTable[]): Promise<BackupTable[]> {
  const words = new Set((await readMigrations()).flatMap(({ sql }) => sql.match(/\w+/g) ?? []));
  const known = tables.filter(({ name }) => words.has(name));
  return known.map(({ name, columns }) => ({ name, columns: columns.filter((column) => words.has(column)) }));
}

/** The name in the database: donor_id for donorId, deposit_line for DepositLine. */
const toSqlName = (name: string): string => name.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);

/** The tables of Prisma's models that a backup holds. */
const modelTables: readonly BackupTable[] = Object.values(Prisma.ModelName)
  .map((model) => ({ name: toSqlName(model), columns: Object.keys(Prisma[`${model}ScalarFieldEnum`]).map(toSqlName) }))
  .filter(({ name }) => !PASSING.includes(name));
