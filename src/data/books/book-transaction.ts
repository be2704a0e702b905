import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { AppError, OperatorError } from '../../errors';
import type { LineName } from '../../line/line-fields';
import type { LocalDate } from '../../values/dates';
import { columnsOf, computedColumns, differingColumns, IS_CURRENT, moneyOf, VERSION_COLUMNS } from './line-columns';
import type { Database } from '../postgres/database';
import { rethrowTranslated } from '../postgres/database-errors';
import { beginWith, LONG_SETTINGS } from '../postgres/local-settings';
import { findSqlFault, LOCK_TIMEOUT } from '../postgres/sql-fault';

/** The origin of a data version. */
export interface ChangeSource {
  readonly cause: 'import' | 'sync' | 'demo' | 'repair' | 'close' | 'reopen' | 'erase' | 'prune';
  /** The name and the SHA-256, in hex, of the file that was imported. */
  readonly file?: { readonly name: string; readonly sha256: string };
}

/** The numbers of lines that a data version brought, changed and took away. */
interface LineChanges {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** The data version that a change of the books made. */
export interface NewVersion {
  readonly number: number;
  readonly lines: LineChanges;
}

/** The totals of an organization's lines. Each transaction counts once. Amounts are exact decimal text. */
interface BookTotals {
  readonly lines: number;
  readonly transactions: number;
  readonly amount: string;
  readonly feeAmount: string;
}

/** A line that a data version brought, changed or took away. It names no donor. */
export interface ChangedLine {
  readonly depositDate: LocalDate;
  readonly depositId: string;
  readonly transactionId: string;
  readonly allocationId: string;
  /** The amount of the whole gift. */
  readonly amount: string;
  /** The names of the columns that changed; empty for a line that was added or removed. */
  readonly columns: readonly string[];
}

/** The change that a data version made: the totals before and after, and the first lines of each kind in the report's order. */
export interface ChangePreview {
  readonly before: BookTotals;
  readonly after: BookTotals;
  readonly added: readonly ChangedLine[];
  readonly changed: readonly ChangedLine[];
  readonly removed: readonly ChangedLine[];
}

/**
 * The part of the lines that a change of the books may concern. `changed`: those of the noted transactions and allocations. `all`: the
 * same, when all lines are among them. `first`: all lines of books that had none before; nothing needs to be noted. The totals of the last
 * two are those of the books, whatever the last version says.
 */
type ChangeScope = 'changed' | 'all' | 'first';

interface LineRenewal {
  readonly lines: LineChanges;
  /** The totals of the lines that the change concerns. */
  readonly before: TotalsRow;
  readonly after: TotalsRow;
}

const IMPORT_LOCK = `SELECT pg_advisory_xact_lock(hashtext('deposit-gateway import'), $1)`;

/** A transaction that changes the books of an organization, and with them its lines and its data version. */
export class BookTransaction {
  /** True when all lines of the books are new. */
  private isFilled = false;

  private constructor(
    private readonly client: PoolClient,
    readonly organizationId: number,
  ) {}

  /**
   * Runs the work on a connection of the long pool, then commits, or undoes it with `end: 'ROLLBACK'`. Undone when the work throws. Work that
   * writes no lines needs no temporary tables, which the role that serves may not make.
   */
  static async run<Result>(
    database: Database,
    organizationId: number,
    work: (books: BookTransaction) => Promise<Result>,
    { end = 'COMMIT', writesLines = true }: { readonly end?: 'COMMIT' | 'ROLLBACK'; readonly writesLines?: boolean } = {},
  ): Promise<Result> {
    const client = await database.longPool.connect().catch(rethrowTranslated);
    try {
      const books = new BookTransaction(client, organizationId);
      // A statement after the lock must see what the transaction before has committed, whatever the server's default is.
      await books.query(beginWith(LONG_SETTINGS, 'ISOLATION LEVEL READ COMMITTED'));
      if (writesLines) await books.query(CREATE_CHANGES);
      const result = await work(books);
      await books.query(end);
      client.release();
      return result;
    } catch (error) {
      // Dropping the connection undoes the transaction, in whatever state a broken COPY left it.
      client.release(true);
      throw error;
    }
  }

  /** The connection, for a COPY into a table of this transaction. */
  get connection(): PoolClient {
    return this.client;
  }

  query<Row extends QueryResultRow>(statement: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    return this.client.query<Row>(statement, [...values]).catch(rethrowTranslated);
  }

  /**
   * Runs statements without the triggers of their tables, and so without checks of foreign keys. A superuser may do this, and a role with
   * the right to set `session_replication_role`. When `work` throws, the end of the transaction, which is undone, ends the setting.
   */
  async withoutTriggers<Result>(work: () => Promise<Result>): Promise<Result> {
    const { rows } = await this.query<{ role: string }>(`SELECT current_setting('session_replication_role') AS role`);
    await this.query(SET_TRIGGERS, ['replica']);
    const result = await work();
    await this.query(SET_TRIGGERS, [rows[0]!.role]);
    return result;
  }

  /**
   * Waits until no other transaction changes the organization's books: two of them could deadlock on each other's rows. Throws
   * BOOKS_CHANGING when that takes longer than `maxWaitMs`, where it is given.
   */
  async lock(maxWaitMs?: number): Promise<void> {
    if (maxWaitMs !== undefined) await this.query(`SELECT set_config('lock_timeout', $1, true)`, [String(maxWaitMs)]);
    await this.query(IMPORT_LOCK, [this.organizationId]).catch((error: unknown) => {
      if (findSqlFault(error)?.sqlState !== LOCK_TIMEOUT) throw error;
      throw new AppError('BOOKS_CHANGING', { fault: 'an import is under way; try again when it has ended', retryAfterSeconds: 10 });
    });
    // On a distributed database no foreign key leads to the organization.
    const { rowCount } = await this.query('SELECT FROM organization WHERE id = $1', [this.organizationId]);
    if (rowCount === 0) throw new OperatorError('The organization was deleted meanwhile: nothing was changed');
  }

  /**
   * Brings the lines of the transactions in `changed_transaction`, and of the allocations in `removed_allocation`, in line with the books,
   * and records the data version. Call it when the books are as they shall be, once.
   */
  async advance({ cause, file }: ChangeSource, scope: ChangeScope = 'changed'): Promise<NewVersion> {
    const { organizationId: organization } = this;
    const { rows: versions } = await this.query<{ number: string; previous: string | null }>(NEXT_VERSION, [organization]);
    const { number, previous } = versions[0]!;
    const { lines, before, after } = scope === 'first' ? await this.fillLines(number) : await this.renewLines(number);
    if (lines.added > MANY_LINES) await this.query(ANALYZE_LINES);
    await this.query(RECORD_VERSION, [
      ...[organization, number, cause, file?.name ?? null, file?.sha256 ?? null],
      ...[lines.added, lines.changed, lines.removed],
      ...TOTALS.flatMap((name) => [before[name], after[name]]),
      ...[scope === 'changed' ? Number(number) - 1 : NO_VERSION, previous],
    ]);
    this.isFilled = scope === 'first';
    return { number: Number(number), lines };
  }

  /** Records a data version of the lines as they are. Returns its number. */
  async advanceAlone(cause: ChangeSource['cause']): Promise<number> {
    const { rows } = await this.query<{ number: string; previous: string | null }>(NEXT_VERSION, [this.organizationId]);
    const { number, previous } = rows[0]!;
    const unchanged = TOTALS.flatMap((name) => [NOTHING[name], NOTHING[name]]);
    await this.query(RECORD_VERSION, [this.organizationId, number, cause, null, null, 0, 0, 0, ...unchanged, Number(number) - 1, previous]);
    return Number(number);
  }

  /** Ends the lines that differ from the books, and adds those that the books have now. */
  private async renewLines(number: string): Promise<LineRenewal> {
    const { organizationId: organization } = this;
    // PostgreSQL keeps no statistics of temporary tables by itself, and takes each for a short one.
    await this.query('ANALYZE changed_transaction, removed_allocation');
    await this.query(COMPUTE_LINES, [organization]);
    await this.query('ANALYZE computed_line (allocation_id, transaction_id)');
    const { rows: before } = await this.query<TotalsRow>(STANDING_TOTALS, [organization]);
    const { rows: after } = await this.query<TotalsRow>(COMPUTED_TOTALS);
    const { rows: ended } = await this.query<{ ended: string; removed: string }>(END_LINES, [organization, number]);
    const { rowCount } = await this.query(ADD_LINES, [organization, number]);
    const removed = Number(ended[0]!.removed);
    const changed = Number(ended[0]!.ended) - removed;
    return { lines: { added: (rowCount ?? 0) - changed, changed, removed }, before: before[0]!, after: after[0]! };
  }

  /** Writes all lines of the books. No line stands yet. */
  private async fillLines(number: string): Promise<LineRenewal> {
    const { rowCount } = await this.query(FILL_LINES, [this.organizationId, number]);
    const { rows: after } = await this.query<TotalsRow>(ALL_TOTALS, [this.organizationId]);
    return { lines: { added: rowCount ?? 0, changed: 0, removed: 0 }, before: NOTHING, after: after[0]! };
  }

  /** Returns the change that `advance` has just made, with at most `limit` lines of each kind. */
  async preview(version: number, limit: number): Promise<ChangePreview> {
    const { rows: totals } = await this.query<BookTotals & { number: number }>(VERSION_TOTALS, [this.organizationId, version]);
    const totalsAt = (number: number): BookTotals => {
      const { lines, transactions, amount, feeAmount } = totals.find((row) => row.number === number) ?? NO_TOTALS;
      return { lines, transactions, amount, feeAmount };
    };
    const { rows } = await this.query<ChangedLine & { kind: ChangeKind }>(changedLines(this.isFilled), [
      ...[this.organizationId, version, limit],
    ]);
    const linesOf = (kind: ChangeKind): ChangedLine[] => rows.filter((row) => row.kind === kind).map(({ kind: _kind, ...line }) => line);
    return {
      before: totalsAt(version - 1),
      after: totalsAt(version),
      added: linesOf('added'),
      changed: linesOf('changed'),
      removed: linesOf('removed'),
    };
  }
}

type ChangeKind = keyof LineChanges;
const NO_TOTALS: BookTotals = { lines: 0, transactions: 0, amount: '0.00', feeAmount: '0.00' };

/** The number of new lines that makes new statistics worth their time. */
const MANY_LINES = 5000;
// The statistics of names, addresses and memos would help no plan, and take most of the time.
const WITH_STATISTICS = [
  ...(['deposit_date', 'deposit_id', 'transaction_id', 'allocation_id', 'donor_id', 'designation_id'] as const),
  ...(['transaction_date', 'deposit_status', 'amount', 'status', 'account_type', 'payment_type'] as const),
] satisfies readonly LineName[];
const ANALYZE_LINES = `ANALYZE deposit_line (organization_id, since, until, ${WITH_STATISTICS.join(', ')})`;

const SET_TRIGGERS = `SELECT set_config('session_replication_role', $1, true)`;

const CREATE_CHANGES = `
CREATE TEMPORARY TABLE changed_transaction (id text COLLATE "C" NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE removed_allocation (id text COLLATE "C" NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE computed_line (LIKE deposit_line INCLUDING DEFAULTS) ON COMMIT DROP;
ALTER TABLE computed_line ${VERSION_COLUMNS.map((column) => `DROP COLUMN ${column}`).join(', ')}`;

const COMPUTE_LINES = `
INSERT INTO computed_line (${computedColumns.join(', ')})
SELECT ${columnsOf('line')} FROM deposit_detail line
WHERE organization_id = $1 AND transaction_id IN (SELECT id FROM changed_transaction)`;

/**
 * The allocations whose lines may have changed. Each standing line of a changed transaction is of one of them, unless SQL changed the
 * books.
 */
const AFFECTED = `(SELECT allocation_id FROM computed_line UNION SELECT id FROM removed_allocation)`;

interface TotalsRow {
  readonly lines: string;
  readonly transactions: string;
  readonly amount: string;
  readonly fee_amount: string;
}
const TOTALS = ['lines', 'transactions', 'amount', 'fee_amount'] as const;

/** The SELECT of the totals of lines. Each transaction counts once. */
export const totalsOf = (lines: string): string => `
SELECT COALESCE(sum(lines), 0) AS lines, count(*) AS transactions,
  COALESCE(sum(amount), 0) AS amount, COALESCE(sum(fee_amount), 0) AS fee_amount
FROM (SELECT transaction_id, amount, fee_amount, count(*) AS lines FROM ${lines} GROUP BY transaction_id, amount, fee_amount) AS gift`;
const STANDING_TOTALS = totalsOf(`deposit_line WHERE organization_id = $1 AND ${IS_CURRENT} AND allocation_id IN ${AFFECTED}`);
const COMPUTED_TOTALS = totalsOf('computed_line');
const ALL_TOTALS = totalsOf(`deposit_line WHERE organization_id = $1 AND ${IS_CURRENT}`);
const NOTHING: TotalsRow = { lines: '0', transactions: '0', amount: '0', fee_amount: '0' };

const NEXT_VERSION = `
SELECT COALESCE(max(number), 0) + 1 AS number, max(recorded_at)::text AS previous FROM data_version WHERE organization_id = $1`;

const END_LINES = `
WITH ended AS (
  UPDATE deposit_line AS line SET until = $2
  FROM ${AFFECTED} AS affected LEFT JOIN computed_line computed ON computed.allocation_id = affected.allocation_id
  WHERE line.organization_id = $1 AND line.${IS_CURRENT} AND line.allocation_id = affected.allocation_id
    AND (computed.allocation_id IS NULL OR (${columnsOf('line')}) IS DISTINCT FROM (${columnsOf('computed')}))
  RETURNING computed.allocation_id IS NULL AS is_removed
)
SELECT count(*) AS ended, count(*) FILTER (WHERE is_removed) AS removed FROM ended`;

// New lines are written in the order in which reports read them. Citus joins a temporary table with a subquery of lines, not with the
// lines. PostgreSQL expects few lines of a version that it has no statistics of, and would look through all of them for each new line: a full
// join has no such plan.
const ADD_LINES = `
INSERT INTO deposit_line (${computedColumns.join(', ')}, since, money_since)
SELECT ${columnsOf('line')}, $2::bigint, CASE WHEN (${moneyOf('line')}) IS NOT DISTINCT FROM (${moneyOf('ended')}) THEN ended.money_since ELSE $2::bigint END
FROM (
  SELECT computed.*, true AS is_new FROM computed_line computed
  LEFT JOIN (
    SELECT allocation_id FROM deposit_line
    WHERE organization_id = $1 AND ${IS_CURRENT} AND allocation_id IN (SELECT allocation_id FROM computed_line)
  ) AS standing ON standing.allocation_id = computed.allocation_id
  WHERE standing.allocation_id IS NULL
) AS line
FULL JOIN (
  SELECT * FROM deposit_line WHERE organization_id = $1 AND until = $2::bigint
) AS ended ON ended.allocation_id = line.allocation_id
WHERE COALESCE(line.is_new, false)
ORDER BY line.deposit_date, line.deposit_id, line.transaction_id, line.allocation_id`;

const FILL_LINES = `
INSERT INTO deposit_line (${computedColumns.join(', ')}, since, money_since)
SELECT ${columnsOf('line')}, $2::bigint, $2::bigint FROM deposit_detail line WHERE organization_id = $1
ORDER BY deposit_date, deposit_id, transaction_id, allocation_id`;

/** The instants of versions increase, also when the clock goes back. They are whole milliseconds, as callers are told them. */
const INSTANT = `GREATEST(date_trunc('milliseconds', clock_timestamp()), date_trunc('milliseconds', $18::timestamptz) + interval '1 millisecond')`;
/** The number that no version has. A condition that is false instead would make Citus read the versions of all organizations. */
const NO_VERSION = 0;
const RECORD_VERSION = `
INSERT INTO data_version
  (organization_id, number, recorded_at, cause, file_name, file_sha256, lines_added, lines_changed, lines_removed, lines, transactions, amount, fee_amount)
SELECT $1::int, $2::bigint, ${INSTANT}, $3, $4, $5, $6::bigint, $7::bigint, $8::bigint,
  COALESCE(last.lines - $9::bigint, 0) + $10::bigint, COALESCE(last.transactions - $11::bigint, 0) + $12::bigint,
  COALESCE(last.amount - $13::numeric, 0) + $14::numeric, COALESCE(last.fee_amount - $15::numeric, 0) + $16::numeric
FROM (SELECT) AS one LEFT JOIN data_version last ON last.organization_id = $1 AND last.number = $17::bigint`;

const VERSION_TOTALS = `
SELECT number::float8 AS number, lines::float8 AS lines, transactions::float8 AS transactions, amount::text AS amount, fee_amount::text AS "feeAmount"
FROM data_version WHERE organization_id = $1 AND number IN ($2::bigint - 1, $2::bigint)`;

/** The SELECT of the lines that a version brought, changed or took away, with the columns that callers know. `areAll` is for a version that wrote all lines of the books. */
const changedLines = (areAll: boolean): string => `
SELECT kind, deposit_date::text AS "depositDate", deposit_id AS "depositId", transaction_id AS "transactionId",
  allocation_id AS "allocationId", amount::text AS amount, columns
FROM (
  SELECT *, row_number() OVER (PARTITION BY kind ORDER BY deposit_date, deposit_id, transaction_id, allocation_id) AS position
  FROM (
    SELECT CASE WHEN past.since IS NULL THEN 'added' ELSE 'changed' END AS kind, line.*,
      CASE WHEN past.since IS NULL THEN '{}' ELSE array_remove(${differingColumns('line', 'past')}, 'donor_search') END AS columns
    FROM deposit_line line
    LEFT JOIN deposit_line past ON past.organization_id = $1 AND past.allocation_id = line.allocation_id AND past.until = $2::bigint
    WHERE line.organization_id = $1 AND line.${IS_CURRENT} AND line.since = $2::bigint ${areAll ? '' : `AND line.allocation_id IN ${AFFECTED}`}
    UNION ALL
    SELECT 'removed', past.*, '{}'
    FROM deposit_line past
    WHERE past.organization_id = $1 AND past.until = $2::bigint AND NOT EXISTS (
      SELECT FROM deposit_line line WHERE line.organization_id = $1 AND line.${IS_CURRENT} AND line.allocation_id = past.allocation_id
    )
  ) AS change
) AS ordered
WHERE position <= $3::int
ORDER BY kind, position`;
