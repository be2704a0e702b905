import { Client, escapeIdentifier, type QueryResultRow } from 'pg';
import type { BackupManifest, BackupSequence, BackupTable, TablePiece } from '../../formats/backup/backup-archive';
import { destroyConnection } from '../postgres/client-session';
import { CopyQuery } from '../reading/copy-query';
import { PROBE_MS, type DatabaseAddress } from '../postgres/database';
import { toDataSourceError } from '../postgres/database-errors';
import { IS_DISTRIBUTED } from '../schema/citus';
import { beginWith } from '../postgres/local-settings';
import { Stopwatch } from '../postgres/request-times';
import { findSchemaFaults } from '../schema/schema-faults';
import { listSequences, listTables, toColumnList } from '../schema/table-catalog';

/** An organization as the snapshot of a backup has it. */
export interface SavedOrganization {
  readonly id: number;
  readonly name: string;
  /** The newest place of its audit; null without an audit. */
  readonly auditNumber: number | null;
  readonly auditHash: string | null;
}

/** The parts of a manifest that the catalog tells. */
export type SavedSchema = Pick<BackupManifest, 'postgres' | 'migrations' | 'tables' | 'sequences'>;

/** The longest wait for a connection, and for the statements before the rows of a table. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Rows that leave as text must not depend on the settings of a database. Rows are read in the order in which they lie. */
const SETTINGS = {
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '3',
  client_encoding: 'UTF8',
  synchronize_seqscans: 'off',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  // Row-level security then fails a statement whose rows it would hide.
  row_security: 'off',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/** One state of a whole database, for a backup. It must be closed. Its methods throw AppErrors. */
export class BackupSnapshot {
  private constructor(
    private readonly client: Client,
    /** The name by which other connections read the same state; undefined where Citus distributes the books, and none means the same. */
    readonly name: string | undefined,
  ) {}

  static async open(address: DatabaseAddress): Promise<BackupSnapshot> {
    const client = new Client({
      ...address,
      application_name: 'deposit-gateway backup',
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_MS,
    });
    // Without a handler, a lost connection would end the process. The statement that is under way gets the error.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(beginWith(SETTINGS, 'ISOLATION LEVEL REPEATABLE READ READ ONLY'));
      const { rows } = await client.query<{ name: string; isDistributed: boolean }>(
        `SELECT pg_export_snapshot() AS name, ${IS_DISTRIBUTED} AS "isDistributed"`,
      );
      return new BackupSnapshot(client, rows[0]!.isDistributed ? undefined : rows[0]!.name);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw toDataSourceError(error);
    }
  }

  async listOrganizations(): Promise<SavedOrganization[]> {
    return this.list<SavedOrganization & QueryResultRow>(ORGANIZATIONS);
  }

  async readSchema(): Promise<SavedSchema> {
    const [version] = await this.list<{ postgres: string }>(`SELECT current_setting('server_version') AS postgres`);
    const migrations = await this.list<{ name: string }>(MIGRATIONS);
    const sequences: BackupSequence[] = [];
    for (const { name } of await listSequences(this.client).catch(fail)) {
      const select = `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${escapeIdentifier(name)}`;
      const [row] = await this.list<{ value: string; isCalled: boolean }>(select);
      sequences.push({ name, ...row! });
    }
    return {
      postgres: version!.postgres,
      migrations: migrations.map(({ name }) => name),
      tables: await listTables(this.client).catch(fail),
      sequences,
    };
  }

  /** The differences, in words, between the database and one that the gateway has made. */
  async findFaults(schema: SavedSchema): Promise<string[]> {
    return findSchemaFaults(schema, await listSequences(this.client).catch(fail));
  }

  /** Reads the rows of tables, one table after the other. */
  async *readRows(tables: readonly BackupTable[]): AsyncGenerator<TablePiece> {
    for (const { name, columns } of tables) {
      const copy = new CopyQuery({
        before: [{ text: 'SELECT 1' }],
        text: `COPY (SELECT ${toColumnList(columns)} FROM ${escapeIdentifier(name)}) TO STDOUT`,
        after: [],
        answerTimeoutMs: ANSWER_TIMEOUT_MS,
        onAnswer: () => undefined,
        waiting: new Stopwatch(),
      });
      try {
        // A piece is valid until the next is asked for, and an archive puts many together.
        for await (const content of this.client.query(copy).read()) yield { table: name, content: Buffer.from(content) };
      } catch (error) {
        throw toDataSourceError(error);
      }
    }
  }

  /** Ends the transaction. A statement that is under way ends with its connection. */
  async close(): Promise<void> {
    // A reader that has left leaves a COPY behind, after which pg would wait for its end.
    destroyConnection(this.client);
    await this.client.end().catch(() => undefined);
  }

  private async list<Row extends QueryResultRow>(select: string): Promise<Row[]> {
    return (await this.client.query<Row>(select).catch(fail)).rows;
  }
}

function fail(error: unknown): never {
  throw toDataSourceError(error);
}

const ORGANIZATIONS = `
SELECT id, name, number::float8 AS "auditNumber", hash AS "auditHash"
FROM organization LEFT JOIN audit_chain ON organization_id = id ORDER BY id`;
const MIGRATIONS = `
SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`;
