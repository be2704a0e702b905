import type { PoolClient } from 'pg';
import { AppError } from '../errors';
import type { LocalDate } from '../dates';
import { toLocalDate } from '../dates';
import { Prisma, type DepositDetail } from '../generated/prisma/client';
import { CopyQuery, type Statement } from './copy-query';
import { QUERY_TIMEOUT_MS, type Database } from './database';
import { toDataSourceError } from './database-errors';
import type { ReportQueue } from './report-queue';

/** Which lines of whose deposits: both dates are included. */
export interface DepositDetailQuery {
  readonly organizationId: number;
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly includePending: boolean;
}

export type DepositDetailLine = Omit<DepositDetail, 'organizationId' | 'depositStatus' | Dates | Amounts | Ids> &
  Record<Dates, LocalDate> &
  Record<Exclude<Amounts, 'allocationAmount'>, string> &
  Record<Ids, number> & { allocationAmount: string | null };
type Dates = 'depositDate' | 'transactionDate';
type Amounts = 'amount' | 'feeAmount' | 'netAmount' | 'allocationAmount';
type Ids = 'donorId' | 'designationId';

export interface SnapshotOptions {
  /** Aborted when the reader has left. */
  readonly signal: AbortSignal;
  /** Milliseconds after which the whole answer is given up, not counting the wait for its turn. */
  readonly timeoutMs: number;
}

export interface PreparedReport {
  /**
   * The lines in report order as COPY's text format, cut anywhere. `fields` are Prisma's names of the view's columns.
   * Throws an AppError, or the abort reason when the reader has left.
   */
  copy(fields: readonly string[]): AsyncGenerator<Buffer>;
}

const DECIMALS = 2;

export class DepositDetailStore {
  constructor(
    private readonly database: Database,
    private readonly queue: ReportQueue,
  ) {}

  openSnapshot(options: SnapshotOptions): DepositDetailSnapshot {
    return new DepositDetailSnapshot(this.database, this.queue, options);
  }

  /** The lines as objects, in report order. */
  async list(query: DepositDetailQuery): Promise<DepositDetailLine[]> {
    const lines = await this.database.prisma.depositDetail.findMany({
      where: {
        organizationId: query.organizationId,
        depositDate: { gte: toDate(query.startDate), lte: toDate(query.endDate) },
        ...(query.includePending ? {} : { depositStatus: 'POSTED' }),
      },
      orderBy: [{ depositDate: 'asc' }, { depositId: 'asc' }, { transactionId: 'asc' }, { allocationId: 'asc' }],
    });
    return lines.map(({ organizationId: _organization, depositStatus: _status, ...line }) => ({
      ...line,
      depositDate: toLocalDate(line.depositDate),
      transactionDate: toLocalDate(line.transactionDate),
      amount: line.amount.toFixed(DECIMALS),
      feeAmount: line.feeAmount.toFixed(DECIMALS),
      netAmount: line.netAmount.toFixed(DECIMALS),
      allocationAmount: line.allocationAmount?.toFixed(DECIMALS) ?? null,
      donorId: Number(line.donorId),
      designationId: Number(line.designationId),
    }));
  }
}

/**
 * One state of the database for a whole answer: a REPEATABLE READ transaction on a connection of the long lane, opened by the first
 * COPY. Not Prisma's interactive transaction, which dies at its timeout. Close it in any case.
 */
export class DepositDetailSnapshot {
  private readonly stop = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private client: PoolClient | undefined;
  private backendPid: number | undefined;
  private reading = false;
  private unread = 0;

  constructor(
    private readonly database: Database,
    private readonly queue: ReportQueue,
    private readonly options: SnapshotOptions,
  ) {}

  /** Aborted when the answer is given up, because it took too long or its reader has left. */
  get signal(): AbortSignal {
    return this.stop.signal;
  }

  /** A report of this one state. Nothing is read yet; with the last one that was prepared, the transaction ends. */
  prepare(query: DepositDetailQuery): PreparedReport {
    this.unread++;
    return { copy: (fields) => this.copy(query, fields) };
  }

  private async *copy(query: DepositDetailQuery, fields: readonly string[]): AsyncGenerator<Buffer> {
    const sql = copyStatement(fields);
    try {
      const isLast = --this.unread === 0;
      const opening = this.client ? [] : [BEGIN];
      const client = (this.client ??= await this.connect());
      const values = [query.organizationId, query.startDate, query.endDate, query.includePending, this.queue.isQuiet].map(String);
      const before = [...opening, { text: SET_PARAMETERS, values }];
      this.reading = true;
      const copy = new CopyQuery({ before, text: sql, after: isLast ? [COMMIT] : [], answerTimeoutMs: QUERY_TIMEOUT_MS });
      yield* client.query(copy).read();
      this.reading = false;
      // What is rendered but not yet sent needs no connection any more.
      if (isLast) this.release(false);
    } catch (error) {
      this.stop.signal.throwIfAborted();
      this.reading = false;
      this.release(true);
      throw toDataSourceError(error);
    }
  }

  /** Ends the transaction. A COPY that is still running is cancelled in the database, and its connection dropped. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.onReaderLeft);
    if (this.reading) {
      this.release(true);
      await this.cancel();
      return;
    }
    await this.client?.query(COMMIT_SHORTLY).then(
      () => this.release(false),
      () => this.release(true),
    );
  }

  private async connect(): Promise<PoolClient> {
    this.stop.signal.throwIfAborted();
    this.options.signal.throwIfAborted();
    this.options.signal.addEventListener('abort', this.onReaderLeft, { once: true });
    await this.queue.enter(this.stop.signal);
    const late = new Error(`The report took over ${this.options.timeoutMs} ms`);
    this.timer = setTimeout(() => this.giveUp(new AppError('DATA_SOURCE_QUERY_FAILED', { cause: late })), this.options.timeoutMs);
    const client = await this.database.longPool.connect().catch((error: unknown) => {
      this.queue.leave();
      throw error;
    });
    if (this.stop.signal.aborted) {
      client.release();
      this.queue.leave();
      throw this.stop.signal.reason;
    }
    // Known since the connection was made; pg's types leave it out.
    this.backendPid = (client as PoolClient & { readonly processID: number }).processID;
    return client;
  }

  private readonly onReaderLeft = (): void => this.giveUp(this.options.signal.reason);

  /** Whatever is under way on the connection fails with it. */
  private giveUp(reason: unknown): void {
    this.stop.abort(reason);
    this.release(true);
  }

  /** Gives the connection back, or drops it with all that is under way on it. */
  private release(drop: boolean): void {
    if (!this.client) return;
    this.client.release(drop);
    this.client = undefined;
    this.queue.leave();
  }

  /** A backend that is sorting does not notice that its client is gone, so it is told. */
  private async cancel(): Promise<void> {
    await this.database.query({ text: 'SELECT pg_cancel_backend($1)', values: [this.backendPid] }).catch(() => {
      // The data source is gone, and the query with it.
    });
  }
}

const BEGIN: Statement = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' };
const COMMIT: Statement = { text: 'COMMIT' };
/** The long lane has no limit of its own. */
const COMMIT_SHORTLY = { text: COMMIT.text, query_timeout: QUERY_TIMEOUT_MS };

// COPY takes no bind parameters: the values travel as settings of this transaction. A report that
// is not alone keeps to one core, and so do all of its transaction.
const SET_PARAMETERS = `SELECT
  set_config('gateway.organization_id', $1, true), set_config('gateway.start_date', $2, true),
  set_config('gateway.end_date', $3, true), set_config('gateway.include_pending', $4, true),
  CASE WHEN NOT $5::boolean THEN set_config('max_parallel_workers_per_gather', '0', true) END`;

/** The COPY of these columns; its text holds nothing but names of the view's columns. */
function copyStatement(fields: readonly string[]): string {
  return `COPY (
  SELECT ${fields.map(toColumn).join(', ')}
  FROM deposit_detail
  WHERE organization_id = current_setting('gateway.organization_id')::int
    AND deposit_date BETWEEN current_setting('gateway.start_date')::date AND current_setting('gateway.end_date')::date
    AND (deposit_status = 'POSTED' OR current_setting('gateway.include_pending')::boolean)
  ORDER BY deposit_date, deposit_id, transaction_id, allocation_id
) TO STDOUT`;
}

/** The column of a Prisma field of the view: donorId is donor_id. Any other name is refused. */
function toColumn(field: string): string {
  if (!Object.hasOwn(Prisma.DepositDetailScalarFieldEnum, field))
    throw new Error(`deposit_detail has no column for ${JSON.stringify(field)}`);
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const toDate = (date: LocalDate): Date => new Date(`${date}T00:00:00Z`);
