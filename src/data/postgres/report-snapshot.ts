import type { PoolClient, QueryConfig, QueryResultRow } from 'pg';
import { AppError } from '../../errors';
import type { Prisma } from '../../generated/prisma/client';
import { CopyQuery, type Statement } from './copy-query';
import type { Database } from './database';
import { toDataSourceError } from './database-errors';
import type { Caller, FairQueue } from './fair-queue';

export interface SnapshotOptions {
  /** On whose account it is read; asked when the first statement is. */
  readonly caller: () => Promise<Caller>;
  /** Aborted when the reader has left. */
  readonly signal: AbortSignal;
  /** Milliseconds after which the whole answer is given up, not counting the wait for its turn. */
  readonly timeoutMs: number;
}

/**
 * Reads a SELECT as COPY's text format, cut anywhere. Each of its values must have a cast: they travel as text.
 * Throws an AppError, or the abort reason when the reader has left.
 */
export type Copy = (select: Prisma.Sql) => AsyncGenerator<Buffer>;

/**
 * One state of the database for a whole answer: a REPEATABLE READ transaction on a connection of the long lane, opened by the first
 * statement. Not Prisma's interactive transaction, which dies at its timeout. Close it in any case.
 */
export class ReportSnapshot {
  private readonly stop = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private client: PoolClient | undefined;
  private caller: Caller | undefined;
  private backendPid: number | undefined;
  /** Resolves when the transaction has begun, to the name by which another connection may read the same state. */
  private begun: Promise<string | undefined> | undefined;
  private failure: AppError | undefined;
  /** Resolves when the statements asked for so far are done: they take turns. */
  private turns: Promise<void> = Promise.resolve();
  private turnsLeft = 0;
  private reading = false;
  /** COPYs that were prepared and not yet begun. */
  private unread = 0;
  private ended = false;

  constructor(
    private readonly database: Database,
    private readonly queue: FairQueue,
    private readonly options: SnapshotOptions,
    /** The name of the state, where it is another connection's. */
    private readonly shared?: string,
  ) {}

  /** Aborted when the answer is given up, because it took too long or its reader has left, and when it is over. */
  get signal(): AbortSignal {
    return this.stop.signal;
  }

  private isOver(): boolean {
    return this.stop.signal.aborted;
  }

  /** A COPY to be read after all else that is asked of this state; with the last one that was prepared, the transaction ends. */
  prepare(): Copy {
    this.unread++;
    return (select) => this.readCopy(select, --this.unread === 0);
  }

  /**
   * A COPY after which more may be asked of this state. While another statement of it is under way, the COPY is read at the same time, on
   * a second connection, where nobody else needs that.
   */
  async *copy(select: Prisma.Sql): AsyncGenerator<Buffer> {
    const name = await this.nameForSecond();
    if (name === undefined) {
      yield* this.readCopy(select, false);
      return;
    }
    const second = new ReportSnapshot(this.database, this.queue, { ...this.options, signal: this.stop.signal }, name);
    try {
      yield* second.readCopy(select, true);
    } finally {
      await second.close();
    }
  }

  /** The rows of a SELECT. Throws an AppError, or the abort reason when the reader has left. */
  async list<Row extends QueryResultRow>({ text, values }: Prisma.Sql): Promise<Row[]> {
    const endTurn = await this.takeTurn();
    try {
      await (this.begun ??= this.begin());
      const client = this.client ?? (await this.connect());
      this.stop.signal.throwIfAborted();
      this.reading = true;
      const { rows } = await client.query<Row>(text, values);
      this.reading = false;
      return rows;
    } catch (error) {
      throw this.fail(error);
    } finally {
      endTurn();
    }
  }

  /** The state's name, where a second connection should read it. */
  private async nameForSecond(): Promise<string | undefined> {
    try {
      const name = await (this.begun ??= this.begin());
      return this.turnsLeft > 0 && this.queue.isQuiet && this.queue.hasRoom ? name : undefined;
    } catch (error) {
      throw this.fail(error);
    }
  }

  private async begin(): Promise<string | undefined> {
    const client = await this.connect();
    this.stop.signal.throwIfAborted();
    this.reading = true;
    const { isQuiet } = this.queue;
    const answers = await client.query<{ readonly name: string }>(`${BEGIN.text}; ${isQuiet ? SHARE : ONE_CORE}`);
    this.reading = false;
    // Of several statements pg gives several answers, which its types leave out.
    return isQuiet ? [answers].flat().at(-1)?.rows[0]?.name : undefined;
  }

  private async *readCopy(select: Prisma.Sql, isLast: boolean): AsyncGenerator<Buffer> {
    const endTurn = await this.takeTurn();
    try {
      const opening = this.begun
        ? []
        : this.shared === undefined
          ? [BEGIN]
          : [BEGIN, { text: `SET TRANSACTION SNAPSHOT '${this.shared}'` }];
      await (this.begun ??= NOT_SHARED);
      const client = this.client ?? (await this.connect());
      this.stop.signal.throwIfAborted();
      const before = [...opening, toSettings(select, this.queue.isQuiet)];
      this.reading = true;
      const copy = new CopyQuery({
        before,
        text: toCopy(select),
        after: isLast ? [COMMIT] : [],
        answerTimeoutMs: this.database.answerTimeoutMs,
      });
      yield* client.query(copy).read();
      this.reading = false;
      // What is rendered but not yet sent needs no connection any more.
      this.ended = isLast;
      if (isLast) this.release(false);
    } catch (error) {
      throw this.fail(error);
    } finally {
      endTurn();
    }
  }

  /**
   * Ends the transaction. A statement that is still running is cancelled in the database, and its connection dropped; what has not begun
   * never will: an operation may be answered with an error while other fields of it still wait for their turn.
   */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.onReaderLeft);
    this.stop.abort(ANSWER_IS_OVER);
    if (this.reading) {
      this.release(true);
      await this.cancel();
      return;
    }
    // The long lane has no limit of its own.
    await this.client?.query({ text: COMMIT.text, query_timeout: this.database.answerTimeoutMs } as QueryConfig).then(
      () => this.release(false),
      () => this.release(true),
    );
  }

  /** Resolves when all that was asked before is done, to the function that ends this turn. */
  private async takeTurn(): Promise<() => void> {
    const before = this.turns;
    let endTurn!: () => void;
    this.turns = new Promise((resolve) => (endTurn = resolve));
    this.turnsLeft++;
    await before;
    return () => {
      this.turnsLeft--;
      endTurn();
    };
  }

  /** The error to throw. After one, nothing more is read: it would be of another state. */
  private fail(error: unknown): AppError {
    this.release(true);
    this.stop.signal.throwIfAborted();
    this.reading = false;
    return (this.failure ??= toDataSourceError(error));
  }

  private async connect(): Promise<PoolClient> {
    if (this.failure) throw this.failure;
    if (this.ended) throw new Error('The transaction of this state has ended: what is read now would be of another');
    if (this.options.signal.aborted) this.stop.abort(this.options.signal.reason);
    this.stop.signal.throwIfAborted();
    this.options.signal.addEventListener('abort', this.onReaderLeft, { once: true });
    const caller = (this.caller ??= await this.options.caller());
    await this.queue.enter(caller, this.stop.signal);
    if (this.isOver()) {
      this.queue.leave(caller);
      throw this.stop.signal.reason;
    }
    const late = new Error(`The report took over ${this.options.timeoutMs} ms`);
    this.timer = setTimeout(() => this.giveUp(new AppError('DATA_SOURCE_QUERY_FAILED', { cause: late })), this.options.timeoutMs);
    const client = await this.database.longPool.connect().catch((error: unknown) => {
      this.queue.leave(caller);
      throw error;
    });
    if (this.isOver()) {
      client.release();
      this.queue.leave(caller);
      throw this.stop.signal.reason;
    }
    // Known since the connection was made; pg's types leave it out.
    this.backendPid = (client as PoolClient & { readonly processID: number }).processID;
    this.client = client;
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
    this.queue.leave(this.caller!);
  }

  /** A backend that is sorting does not notice that its client is gone, so it is told. */
  private async cancel(): Promise<void> {
    await this.database.query({ text: 'SELECT pg_cancel_backend($1)', values: [this.backendPid] }).catch(() => {
      // The data source is gone, and the query with it.
    });
  }
}

/** What is not alone keeps to one core, and so does all of its transaction. */
const ONE_CORE = 'SET LOCAL max_parallel_workers_per_gather = 0';
/** Before the first statement, which may be a long one: a name cannot be had while it runs. */
const SHARE = 'SELECT pg_export_snapshot() AS name';
const NOT_SHARED = Promise.resolve(undefined);
const ANSWER_IS_OVER = new Error('The answer is over');
const BEGIN: Statement = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' };
const COMMIT: Statement = { text: 'COMMIT' };

// COPY takes no bind parameters: the values travel as settings of this transaction.
const setting = (n: number): string => `gateway.value_${n}`;
const toCopy = ({ strings }: Prisma.Sql): string =>
  `COPY (${strings.reduce((text, next, n) => `${text}current_setting('${setting(n)}')${next}`)}) TO STDOUT`;

/** The values as settings of the transaction. */
function toSettings({ values }: Prisma.Sql, isQuiet: boolean): Statement {
  const settings = values.map((_value, index) => `set_config('${setting(index + 1)}', $${index + 1}, true)`);
  if (!isQuiet) settings.push(`set_config('max_parallel_workers_per_gather', '0', true)`);
  return { text: `SELECT ${settings.join(', ')}`, values: values.map(String) };
}
