import { CHAIN_START, toNextPlace, type ChainPlace, type NewAuditRow } from '../../formats/audit-row';
import { Prisma } from '../../generated/prisma/client';
import { cancelStatement } from '../reading/cancel-request';
import { destroyConnection } from '../postgres/client-session';
import type { Database } from '../postgres/database';
import { rethrowTranslated, toDataSourceError } from '../postgres/database-errors';
import { beginWith, LONG_SETTINGS } from '../postgres/local-settings';

const { sql } = Prisma;

/** A row in its place. */
export type ChainedRow = NewAuditRow & ChainPlace;

/** The two ends of a chain. */
export interface ChainEnds {
  readonly newest: ChainPlace;
  /** The last row that was deleted by age, or the start of the chain. */
  readonly anchor: ChainPlace;
}

/** The chains of rows, one for each organization. */
export class AuditChainStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds rows behind a place. False when the chain has grown since by another process; nothing is written then. Throws as
   * `Database.query`; the rows may have been written all the same when the connection broke.
   */
  async append(organizationId: number, before: ChainPlace, rows: readonly ChainedRow[]): Promise<boolean> {
    const { number, hash } = rows.at(-1)!;
    const values = [organizationId, before.number, before.hash, number, hash, JSON.stringify(rows.map(toColumns))];
    const added = await this.database.query({ name: 'append-audit', text: APPEND, values });
    return added.length > 0;
  }

  /**
   * The newest place of a chain, which is begun when there is none, and which of some entries' parts it has already. Null when there is no
   * such organization any more.
   */
  async findEnd(
    organizationId: number,
    entries: readonly string[],
  ): Promise<{ readonly newest: ChainPlace; readonly known: readonly string[] } | null> {
    const statement = { name: 'find-audit-end', text: FIND_END, values: [organizationId, entries] };
    const read = () => this.database.query<EndRow>(statement);
    let [row] = await read();
    if (!row) {
      await this.database.query({ text: BEGIN_CHAIN, values: [organizationId, CHAIN_START.number, CHAIN_START.hash] });
      [row] = await read();
    }
    if (!row) return null;
    const { number, hash, known } = row;
    return { newest: { number, hash }, known };
  }

  /** The ends of a chain; null when the organization has none yet. */
  async findEnds(organizationId: number): Promise<ChainEnds | null> {
    const row = await this.database.prisma.auditChain.findUnique({ where: { organizationId } });
    return row && toEnds(row);
  }

  /** Reads a chain in one state: its ends, and its rows in the order of their numbers, some at a time. */
  async read(organizationId: number, use: (ends: ChainEnds | null, rows: AsyncGenerator<ChainedRow[]>) => Promise<void>): Promise<void> {
    await this.transact('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (list) => {
      async function* readRows(): AsyncGenerator<ChainedRow[]> {
        for (let last = LEAST_NUMBER, rows: StoredRow[]; ; last = rows.at(-1)!.number) {
          rows = await list<StoredRow>(
            sql`SELECT ${Prisma.raw(ROW_VALUES)} FROM audit_record WHERE organization_id = ${organizationId}::int AND number > ${last}::bigint
              ORDER BY number LIMIT ${BATCH_ROWS}`,
          );
          if (rows.length === 0) return;
          yield rows.map(toChained);
        }
      }
      const [ends] = await list<Parameters<typeof toEnds>[0]>(
        sql`SELECT number, hash, anchor_number AS "anchorNumber", anchor_hash AS "anchorHash" FROM audit_chain
          WHERE organization_id = ${organizationId}::int`,
      );
      await use(ends ? toEnds(ends) : null, readRows());
    });
  }

  /** The last row of the oldest rows that were all written before a time; null when there is none. Throws when the signal is aborted. */
  async findLastBefore(organizationId: number, time: Date, signal: AbortSignal): Promise<ChainPlace | null> {
    const select = sql`SELECT number::float8 AS number, hash FROM audit_record
      WHERE organization_id = ${organizationId}::int AND number < COALESCE(
        (SELECT min(number) FROM audit_record WHERE organization_id = ${organizationId}::int AND at >= ${time}::timestamptz), ${NO_NUMBER}::bigint)
      ORDER BY audit_record.number DESC LIMIT 1`;
    const [row] = await this.transact('READ ONLY', (list) => list<ChainPlace>(select), signal);
    return row ?? null;
  }

  /**
   * Deletes the rows up to a place, which becomes the anchor. The row that says so must have been written. When the signal is aborted, the
   * deletion is undone and this throws.
   */
  async deleteUpTo(organizationId: number, { number, hash }: ChainPlace, signal: AbortSignal): Promise<void> {
    const isEarlier = sql`organization_id = ${organizationId}::int AND anchor_number < ${number}::bigint`;
    await this.transact(
      'ISOLATION LEVEL READ COMMITTED',
      async (list) => {
        // The deletion of an organization begins with its chain, so that it waits. Rows can be added meanwhile.
        const chain = await list(sql`SELECT FROM audit_chain WHERE ${isEarlier} FOR KEY SHARE`);
        if (chain.length === 0) return;
        await list(sql`DELETE FROM audit_record WHERE organization_id = ${organizationId}::int AND number <= ${number}::bigint`);
        // The row of the chain is changed last: no row can be added from here to the end.
        await list(sql`UPDATE audit_chain SET anchor_number = ${number}::bigint, anchor_hash = ${hash} WHERE ${isEarlier}`);
      },
      signal,
    );
  }

  /** Runs work in a transaction of the long pool, whose statements may take their time. It is undone when the signal is aborted. */
  private async transact<Result>(mode: string, work: (list: List) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const client = await this.database.longPool.connect().catch(rethrowTranslated);
    // A backend that is at work does not notice that its client is gone.
    const abandon = (): void =>
      void cancelStatement(client)
        .finally(() => destroyConnection(client))
        .catch((error: unknown) => this.database.noteLoss(error as Error));
    signal?.addEventListener('abort', abandon);
    try {
      signal?.throwIfAborted();
      await client.query(beginWith(LONG_SETTINGS, mode));
      const result = await work(async <Row extends object>({ text, values }: Prisma.Sql) => (await client.query<Row>(text, values)).rows);
      await client.query('COMMIT');
      client.release(signal?.aborted);
      return result;
    } catch (error) {
      client.release(true);
      throw toDataSourceError(error);
    } finally {
      signal?.removeEventListener('abort', abandon);
    }
  }
}

/** Runs a statement of a transaction and resolves to its rows. */
type List = <Row extends object>(statement: Prisma.Sql) => Promise<Row[]>;

/** The rows that are read at once. */
const BATCH_ROWS = 1000;
/** The least number that a row could be given by hand. */
const LEAST_NUMBER = '-9223372036854775808';
/** The number that no row reaches. */
const NO_NUMBER = '9223372036854775807';

interface EndRow extends ChainPlace {
  readonly known: string[];
}

/** A row as pg reads it: its numbers are texts. */
type StoredRow = Omit<NewAuditRow, Numbers | 'number'> &
  Readonly<Record<Numbers, string | null>> & { readonly number: string; readonly hash: string };
type Numbers = 'reads' | 'lines' | 'bytes' | 'dataVersion';

/** The columns of a row with their types and the fields that they hold. */
const COLUMNS = {
  number: ['bigint', 'number'],
  entry: ['uuid', 'entry'],
  part: ['text', 'part'],
  at: ['timestamptz', 'at'],
  kind: ['text', 'kind'],
  door: ['text', 'door'],
  operation: ['text', 'operation'],
  operation_hash: ['text', 'operationHash'],
  username: ['text', 'username'],
  provision_label: ['text', 'provisionLabel'],
  provision_start: ['text', 'provisionStart'],
  address: ['text', 'address'],
  report: ['text', 'report'],
  format: ['text', 'format'],
  start_date: ['date', 'startDate'],
  end_date: ['date', 'endDate'],
  pending: ['text', 'pending'],
  conditions: ['text[]', 'conditions'],
  reads: ['bigint', 'reads'],
  lines: ['bigint', 'lines'],
  bytes: ['bigint', 'bytes'],
  file_sha256: ['text', 'fileSha256'],
  digest: ['text', 'digest'],
  money_digest: ['text', 'moneyDigest'],
  data_version: ['bigint', 'dataVersion'],
  outcome: ['text', 'outcome'],
  subject: ['text', 'subject'],
  detail: ['text', 'detail'],
  tells_donors: ['boolean', 'tellsDonors'],
  file_address: ['text', 'fileAddress'],
  rendering: ['integer', 'rendering'],
  hash: ['text', 'hash'],
} as const satisfies Readonly<Record<string, readonly [string, keyof ChainedRow]>>;

const NAMES = Object.keys(COLUMNS).join(', ');
/** Dates as text: a date of pg would be a day early east of Greenwich. */
const ROW_VALUES = Object.entries(COLUMNS)
  .map(([name, [type, field]]) => `${name}${type === 'date' ? '::text' : ''} AS "${field}"`)
  .join(', ');

// The row of the chain is changed first. A process that comes second waits for it, and then finds another number than it expects.
const APPEND = `
WITH moved AS (
  UPDATE audit_chain SET number = $4, hash = $5 WHERE organization_id = $1 AND number = $2 AND hash = $3 RETURNING organization_id
)
INSERT INTO audit_record (organization_id, ${NAMES})
SELECT moved.organization_id, added.*
FROM moved, jsonb_to_recordset($6::jsonb) AS added(${Object.entries(COLUMNS)
  .map(([name, [type]]) => `${name} ${type}`)
  .join(', ')})
RETURNING number`;

const FIND_END = `
SELECT number::float8 AS number, hash, ARRAY(
  SELECT entry || ' ' || part FROM audit_record WHERE organization_id = $1 AND entry = ANY($2::uuid[])
) AS known
FROM audit_chain WHERE organization_id = $1`;

const BEGIN_CHAIN = `
INSERT INTO audit_chain SELECT id, $2::bigint, $3::text, $2::bigint, $3::text FROM organization WHERE id = $1 ON CONFLICT DO NOTHING`;

/** Places rows behind a place of a chain. */
export function toChain(organizationId: number, before: ChainPlace, rows: readonly NewAuditRow[]): ChainedRow[] {
  let place = before;
  return rows.map((row) => {
    place = toNextPlace(place, organizationId, row);
    return { ...row, ...place };
  });
}

const toColumns = (row: ChainedRow): object => Object.fromEntries(Object.entries(COLUMNS).map(([name, [, field]]) => [name, row[field]]));

const toNumber = (text: string | null): number | null => (text === null ? null : Number(text));

function toChained({ number, reads, lines, bytes, dataVersion, ...row }: StoredRow): ChainedRow {
  const numbers = { reads: toNumber(reads), lines: toNumber(lines), bytes: toNumber(bytes), dataVersion: toNumber(dataVersion) };
  return { ...row, ...numbers, number: Number(number) };
}

function toEnds(row: { number: bigint | string; hash: string; anchorNumber: bigint | string; anchorHash: string }): ChainEnds {
  return {
    newest: { number: Number(row.number), hash: row.hash },
    anchor: { number: Number(row.anchorNumber), hash: row.anchorHash },
  };
}
