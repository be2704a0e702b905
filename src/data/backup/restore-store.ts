import { pipeline } from 'node:stream/promises';
import { Client, escapeIdentifier } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { OperatorError } from '../../errors';
import type { BackupManifest, BackupTable, TablePiece } from '../../formats/backup/backup-archive';
import type { DatabaseAddress } from '../postgres/database';
import { rethrowTranslated, toDataSourceError } from '../postgres/database-errors';
import { applyMigrations, listMigrationNames } from '../schema/migrations';
import { destroyConnection } from '../postgres/client-session';
import { beginWith } from '../postgres/local-settings';
import { findSqlFault, LOCK_TIMEOUT } from '../postgres/sql-fault';
import { listForeignKeys, listTables, toColumnList } from '../schema/table-catalog';

const CONNECT_TIMEOUT_MS = 60_000;
/** Nobody holds a table of an empty database for longer, unless a session was left open in it or another restore is under way. */
const LOCKS = { lock_timeout: '10s' };
const SETTINGS = {
  ...LOCKS,
  datestyle: 'ISO',
  timezone: 'UTC',
  client_encoding: 'UTF8',
  statement_timeout: '0',
  maintenance_work_mem: '256MB',
};

/** Fills an empty database with the rows of a backup. */
export class RestoreStore {
  /** The signal ends the connection, and the transaction with it. */
  constructor(
    private readonly address: DatabaseAddress,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Makes the schema of the backup, and loads the rows in one transaction, which ends when the backup is known to be whole. Then brings the
   * schema up to date. Throws an OperatorError when the database has rows, or when its schema cannot be that of the backup.
   */
  async fill({ migrations, tables, sequences }: BackupManifest, pieces: AsyncGenerator<TablePiece>): Promise<void> {
    await assertKnown(migrations);
    await this.use(assertEmpty);
    await applyMigrations(this.address, { last: migrations.at(-1) });
    await this.use(async (client) => {
      await client.query(beginWith(SETTINGS, ''));
      await assertSchema(client, migrations, tables);
      const keys = await listForeignKeys(client);
      // A foreign key that is added compares all rows at once, which takes less time than each row by itself. Its SQL is the catalog's own.
      for (const { table, name } of keys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
      await load(client, tables, pieces);
      for (const { table, name, definition } of keys) await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
      for (const { name, value, isCalled } of sequences) {
        await client.query('SELECT setval($1::text::regclass, $2::bigint, $3::boolean)', [escapeIdentifier(name), value, isCalled]);
      }
      await client.query('COMMIT');
      // The rows are there. A table that somebody holds is left to autovacuum.
      await client.query(`${beginWith(SETTINGS, '')}; ANALYZE; COMMIT`).catch(throwUnlessHeld);
    });
    await applyMigrations(this.address);
  }

  private async use(work: (client: Client) => Promise<void>): Promise<void> {
    const client = new Client({
      ...this.address,
      application_name: 'deposit-gateway restore',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    // Without a handler, a lost connection would end the process. The statement that is under way gets the error.
    client.on('error', () => undefined);
    const end = (): void => destroyConnection(client);
    this.signal.throwIfAborted();
    this.signal.addEventListener('abort', end);
    try {
      await client.connect().catch(rethrowTranslated);
      await work(client);
    } catch (error) {
      if (error instanceof OperatorError) throw error;
      if (isHeld(error))
        throw new OperatorError('Another session holds a table of the database: end it, or wait for it, and restore again');
      throw toDataSourceError(error);
    } finally {
      this.signal.removeEventListener('abort', end);
      // The end of a connection is the end of its transaction.
      await client.end().catch(() => undefined);
    }
  }
}

const isHeld = (error: unknown): boolean => findSqlFault(error)?.sqlState === LOCK_TIMEOUT;
function throwUnlessHeld(error: unknown): void {
  if (!isHeld(error)) throw error;
}

async function assertKnown(migrations: readonly string[]): Promise<void> {
  const known = await listMigrationNames();
  const unknown = migrations.find((name, position) => name !== known[position]);
  if (migrations.length === 0) throw new OperatorError('The backup is of a database without a schema');
  if (unknown !== undefined)
    throw new OperatorError(`The backup has the migration ${unknown}, which this gateway does not know: use a newer one`);
}

async function assertEmpty(client: Client): Promise<void> {
  await client.query(beginWith(LOCKS, ''));
  for (const { name } of await listTables(client)) {
    const { rowCount } = await client.query(`SELECT FROM ${escapeIdentifier(name)} LIMIT 1`);
    if (rowCount !== 0) throw new OperatorError(`The database has data (table ${name}): restore into an empty one`);
  }
  await client.query('COMMIT');
}

async function assertSchema(client: Client, migrations: readonly string[], tables: readonly BackupTable[]): Promise<void> {
  const { rows } = await client.query<{ last: string | null }>(LAST_MIGRATION);
  if (rows[0]?.last !== migrations.at(-1)) {
    throw new OperatorError(
      `The database has the migration ${rows[0]?.last}, which the backup lacks: restore into a database without tables`,
    );
  }
  const present = new Map((await listTables(client)).map(({ name, columns }) => [name, new Set(columns)]));
  const missing = tables.find(({ name, columns }) => !columns.every((column) => present.get(name)?.has(column)));
  if (missing) throw new OperatorError(`The backup has a table ${missing.name} that is not the gateway's, or has other columns`);
}

/** Loads the tables in the order of the backup. The pieces are read to their end, where the backup is known to be whole. */
async function load(client: Client, tables: readonly BackupTable[], pieces: AsyncGenerator<TablePiece>): Promise<void> {
  const columns = new Map(tables.map((table) => [table.name, table.columns]));
  let next = await pieces.next();
  while (!next.done) {
    const { table } = next.value;
    const names = columns.get(table);
    if (!names) throw new OperatorError(`The backup is not whole: its manifest lacks the table ${table}`);
    let failure: unknown;
    const rows = async function* (): AsyncGenerator<Buffer> {
      try {
        for (; !next.done && next.value.table === table; next = await pieces.next()) yield next.value.content;
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    const copy = client.query(copyFrom(`COPY ${escapeIdentifier(table)} (${toColumnList(names)}) FROM STDIN`));
    await pipeline(rows, copy).catch((error: unknown) => {
      // The error of the backup says more than that of the COPY which it ended.
      throw failure ?? error;
    });
  }
}

const LAST_MIGRATION =
  'SELECT max(migration_name) AS last FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';
