import type { BackupTable } from '../formats/backup-archive';
import { Prisma } from '../generated/prisma/client';
import { PASSING } from './table-catalog';

/**
 * The faults, in words, because of which a backup of these tables would not be one of the gateway's database. A schema older than the
 * gateway may lack tables.
 */
export function findSchemaFaults(tables: readonly BackupTable[], isNewest: boolean): string[] {
  const present = new Set(tables.map(({ name }) => name));
  const missing = isNewest ? [...modelTables].filter((name) => !present.has(name)) : [];
  return missing.map((name) => `the table ${name} is missing, or behind another of its name`);
}

/** The name in the database: donor_id for donorId, deposit_line for DepositLine. */
const toSqlName = (name: string): string => name.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);

/** The tables of Prisma's models that a backup holds. */
const modelTables = new Set(
  Object.keys(Prisma.ModelName)
    .map(toSqlName)
    .filter((name) => !PASSING.includes(name)),
);
