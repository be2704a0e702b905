import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { DatabaseAddress } from './database';
import { TAKE_MIGRATION_LOCK } from './migration-lock';

const CITUS_FILE = join(__dirname, '../../../prisma/citus.sql');

/** The SQL that is true where Citus has distributed the books. It holds on a server without Citus too. */
export const IS_DISTRIBUTED = `EXISTS (SELECT FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
  WHERE tgrelid = to_regclass('deposit_line') AND proname = 'citus_truncate_trigger')`;

/**
 * Distributes the books of a database that has the extension Citus, in one transaction. The address is the owner's. With `mustDistribute` a
 * database without the extension is an error.
 */
export async function distributeBooks(address: DatabaseAddress, mustDistribute: boolean): Promise<void> {
  const client = new Client({ ...address, application_name: 'deposit-gateway migrate' });
  // Without a handler, a lost connection would end the process. The statement that is under way gets the error.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query(`SELECT FROM pg_extension WHERE extname = 'citus'`);
    if (rowCount === 0 && mustDistribute) throw new Error('DATABASE_ENGINE is citus, but the database lacks the extension citus');
    if (rowCount === 1) await client.query(`${TAKE_MIGRATION_LOCK};\n${await readFile(CITUS_FILE, 'utf8')}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
