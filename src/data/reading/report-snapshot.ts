import type { QueryConfig, QueryResultRow } from 'pg';
import { AppError } from '../../errors';
import { Prisma } from '../../generated/prisma/client';
import { AnswerDeadline } from './answer-deadline';
import type { BookSource } from './book-source';
import { beginCopy } from './copy-reading';
import { toDataSourceError } from '../postgres/database-errors';
import { LaneConnection, type LaneUse } from './lane-connection';
import type { Caller, ReportQueue } from './report-queue';
import type { RequestTimes, Wait } from '../postgres/request-times';
import { readBeside } from './second-reading';
import { SeenVersions } from './seen-versions';
import { SnapshotState } from './snapshot-state';
import { BEGIN, COMMIT, toBeginning, toOpening } from './snapshot-statements';
import { Turns } from './turns';
import type { VersionStamp } from '../postgres/version-stamp';

const { sql, raw } = Prisma;

/** The rows that are read at a time from a long SELECT. */
const BATCH_ROWS = 1000;

export interface SnapshotOptions {
  /** Resolves to the caller whose lane is used; asked with the first statement. */
  readonly caller: () => Promise<Caller>;
  /** Aborted when the reader has left. */
  readonly signal: AbortSignal;
  /** Counts the time of waiting. */
  readonly times: RequestTimes;
  /** Milliseconds after which the whole answer is given up, counted from the moment at which its connection is there. */
  readonly timeoutMs: number;
}

/** A state that a second connection may read. Its name is undefined where names mean nothing to other nodes. */
interface NamedState {
  readonly name: string | undefined;
}

/**
 * Reads the rows of a SELECT in COPY's text format, in blocks that may end anywhere in a row. Each value of the SELECT must have a cast,
 * because it is sent as text. Throws an AppError, or the abort reason when the reader has left.
 */
export type Copy = (select: Prisma.Sql) => AsyncGenerator<Buffer>;

/**
 * One state of the database for a whole answer: a REPEATABLE READ transaction on a connection of the long pool, opened by the first
 * statement. It is not Prisma's interactive transaction, because that dies at its own timeout. Every snapshot must be closed.
 */
export class ReportSnapshot {
  private readonly state = new SnapshotState();
  private failure: AppError | undefined;
  private lane: LaneConnection | undefined;
  private readonly turns = new Turns();
  private readonly deadline: AnswerDeadline;
  private readonly seen: SeenVersions;
  private tellLane!: () => void;
  /** Resolves when the snapshot holds a lane of the queue. */
  readonly laneTaken = new Promise<void>((resolve) => (this.tellLane = resolve));
  /** Resolves when the transaction has begun: to the state that a second connection may read, or to undefined. */
  private begun: Promise<NamedState | undefined> | undefined;
  /** True when a part of a SELECT has been given: a replica that falls silent then has a while to go on. */
  private hasGivenRows = false;
  /** The number of COPYs that were prepared and have not begun. */
  private unread = 0;

  constructor(
    private readonly source: BookSource,
    private readonly queue: ReportQueue,
    private readonly options: SnapshotOptions,
    /** The name of another connection's state, which this one shall read. */
    private readonly shared?: string,
  ) {
    this.seen = new SeenVersions(source);
    this.deadline = new AnswerDeadline({
      readerLeft: options.signal,
      timeoutMs: options.timeoutMs,
      onGiveUp: () => this.giveUp(),
    });
  }

  /** Aborts when the answer takes too long, when its reader leaves, and when the answer is complete. */
  get signal(): AbortSignal {
    return this.deadline.signal;
  }

  /** The data version of the state; undefined until the transaction has begun. */
  get version(): VersionStamp | undefined {
    return this.seen.version;
  }

  /** The versions that were seen. They are several only when the rows have moved to another node meanwhile. */
  get versions(): readonly VersionStamp[] {
    return this.seen.all;
  }

  /**
   * Reads the version again on a distributed database, where rows that move to another node take the transaction to a later state. Throws
   * when they did so and the books have changed: statements may then have read two states.
   */
  async confirm(): Promise<void> {
    const { lane } = this;
    if (!lane || !['idle', 'busy'].includes(this.state.current)) return;
    for (const { text, values = [] } of lane.database.placement.closing(lane.caller.organizationId)) {
      try {
        const [row] = await this.list<{ version: VersionStamp }>({ text, values });
        this.seen.note(row!.version);
      } catch (error) {
        if (!this.signal.aborted) this.markBroken();
        throw error;
      }
    }
  }

  /** Begins the transaction, unless a statement has, so that its version is known. */
  async open(): Promise<void> {
    await this.inTurn(() => (this.begun ??= this.begin()));
  }

  /** Prepares a COPY that is read after all other statements of the answer. The last prepared COPY to begin ends the transaction. */
  prepare(): Copy {
    this.unread++;
    return (select) => this.readCopy(select, --this.unread === 0);
  }

  /**
   * Reads a COPY after which other statements may follow. When another statement is under way and no other report is read, the COPY is
   * read on a second connection at the same time, unless that fails before it has given a row.
   */
  async *copy(select: Prisma.Sql): AsyncGenerator<Buffer> {
    const state = await this.stateForSecond();
    const caller = await this.options.caller();
    const second = state && (await readBeside(select, state.name, { ...this.useOf(caller), seen: this.seen }));
    yield* second ?? this.readCopy(select, false);
  }

  /** Notes that the answer as a whole has to be read again, because of what was read. */
  markBroken(): void {
    this.source.markBroken();
  }

  /** Reads the rows of a SELECT. Throws an AppError, or the abort reason when the reader has left. */
  list<Row extends QueryResultRow>({ text, values }: { readonly text: string; readonly values: readonly unknown[] }): Promise<Row[]> {
    return this.inTurn(async () => {
      await (this.begun ??= this.begin());
      const lane = await this.enterStatement();
      const { rows } = await this.waitFor(lane, lane.client.query<Row>(text, [...values]), { name: 'SELECT', sql: text });
      this.leaveStatement('idle');
      return rows;
    });
  }

  /** Reads the rows of a SELECT, some at a time, as many as the reader takes. A snapshot reads one such SELECT at a time. */
  async *batches<Row extends QueryResultRow>(select: Prisma.Sql): AsyncGenerator<Row[]> {
    // PostgreSQL plans a cursor for the first tenth of its rows, and all are read here.
    await this.list(sql`SELECT set_config('cursor_tuple_fraction', '1', true)`);
    await this.list(sql`DECLARE batches NO SCROLL CURSOR FOR ${select}`);
    const next = sql`FETCH ${raw(String(BATCH_ROWS))} FROM batches`;
    for (let rows = await this.list<Row>(next); rows.length > 0; rows = await this.list<Row>(next)) {
      this.hasGivenRows = true;
      yield rows;
    }
    await this.list(sql`CLOSE batches`);
    await this.confirm();
  }

  /** Ends the transaction, if there is one, when all of the answer has been read: what is still to be sent needs no connection. */
  async end(): Promise<void> {
    await this.confirm();
    if (this.state.current !== 'idle') return;
    this.state.move('ended');
    await this.commit();
  }

  /** Ends the transaction. A statement that is still under way is cancelled in the database, and its connection is dropped. */
  async close(): Promise<void> {
    const { lane } = this;
    const state = this.state.current;
    if (state === 'closed') return;
    this.state.move('closed');
    this.deadline.end();
    if (state === 'busy') await lane?.abandon();
    else if (state === 'idle') await this.commit();
  }

  /** Ends the reading. There is nothing to cancel between two statements: a cancel request would meet the connection's next reader. */
  private giveUp(): void {
    if (this.state.current === 'busy') void this.lane?.abandon();
    else this.lane?.drop();
  }

  private async commit(): Promise<void> {
    const { lane } = this;
    if (!lane?.isOpen) return;
    // The long pool sets no time limit, so this statement brings one.
    const ending = lane.client.query({ text: COMMIT.text, query_timeout: lane.database.answerTimeoutMs } as QueryConfig);
    // All rows are there: when the replica falls silent now, its connection is dropped and the answer goes on.
    await this.source.whileServing(ending).then(
      () => lane.release(),
      () => lane.drop(),
    );
  }

  /** The state when a second connection should read it, or else undefined. */
  private async stateForSecond(): Promise<NamedState | undefined> {
    try {
      const state = await (this.begun ??= this.begin());
      return this.turns.areTaken && this.queue.isQuiet ? state : undefined;
    } catch (error) {
      throw this.fail(error);
    }
  }

  private async begin(): Promise<NamedState | undefined> {
    const lane = await this.enterStatement();
    const { client, caller, database } = lane;
    const { isQuiet, hasSecondLanes } = this.queue;
    const shares = isQuiet && hasSecondLanes;
    const statements = toBeginning(caller.organizationId, database.placement, { isQuiet, shares, name: this.shared });
    const begun = client.query<{ readonly version?: string; readonly name?: string }>(statements);
    const answers = await this.waitFor(lane, begun, { name: 'BEGIN', sql: BEGIN.text });
    // For several statements pg returns a list of results, which its types leave out.
    const rows = [answers].flat().flatMap((answer) => answer.rows);
    const find = (key: 'version' | 'name'): string | undefined => rows.find((row) => row[key] !== undefined)?.[key];
    this.seen.note(find('version')!);
    this.leaveStatement('idle');
    return shares ? { name: find('name') } : undefined;
  }

  /** Runs a statement when those before it have ended. Throws an AppError, or the abort reason when the reader has left. */
  private async inTurn<Value>(run: () => Promise<Value>): Promise<Value> {
    const endTurn = await this.turns.take();
    try {
      return await run();
    } catch (error) {
      throw this.fail(error);
    } finally {
      endTurn();
    }
  }

  private async *readCopy(select: Prisma.Sql, isLast: boolean): AsyncGenerator<Buffer> {
    const endTurn = await this.turns.take();
    try {
      yield* await this.beginCopy(select, isLast);
      this.leaveStatement(isLast ? 'ended' : 'idle');
      // The transaction is over, and rows that are not yet sent need no connection.
      if (isLast) this.lane?.release();
    } catch (error) {
      throw this.fail(error);
    } finally {
      endTurn();
    }
  }

  /** Begins a COPY, and the transaction with it unless a statement has begun that. */
  private async beginCopy(select: Prisma.Sql, isLast: boolean): Promise<AsyncGenerator<Buffer>> {
    const isFirst = !this.begun;
    await (this.begun ??= Promise.resolve(undefined));
    const lane = await this.enterStatement();
    const { source, seen } = this;
    return beginCopy(select, {
      lane,
      source,
      seen,
      isLast,
      isQuiet: this.queue.isQuiet,
      times: this.options.times,
      opening: isFirst ? toOpening(lane.database.placement, this.shared) : [],
      answerTimeoutMs: lane.database.answerTimeoutMs,
    });
  }

  /** Returns the connection for the next statement. Throws when no further statement may run. */
  private async enterStatement(): Promise<LaneConnection> {
    if (this.failure) throw this.failure;
    if (this.state.current === 'ended') throw new Error('The transaction of this state has ended: a later statement would read another');
    this.lane ??= await this.openLane();
    this.tellLane();
    this.signal.throwIfAborted();
    this.deadline.start();
    this.state.move('busy');
    return this.lane;
  }

  private async openLane(): Promise<LaneConnection> {
    const caller = await this.options.caller();
    // A replica that lags is waited for before a lane is held.
    await this.source.ready();
    return LaneConnection.open(this.useOf(caller));
  }

  private useOf(caller: Caller): LaneUse {
    const { source, queue, signal } = this;
    return { source, queue, caller, signal, times: this.options.times };
  }

  /** Waits for the answer to a statement, but for no replica that has fallen silent. One that has given rows has a while to answer. */
  private waitFor<Answer>(lane: LaneConnection, answer: Promise<Answer>, wait: Wait): Promise<Answer> {
    const graceMs = this.hasGivenRows ? lane.database.answerTimeoutMs : 0;
    const serving = this.source.whileServing(answer, graceMs);
    return this.options.times.database.during(serving, wait);
  }

  private leaveStatement(to: 'idle' | 'ended'): void {
    this.signal.throwIfAborted();
    this.state.move(to);
  }

  /**
   * Returns the error to throw, after which this snapshot reads nothing more. Throws the signal's reason instead when the answer was given
   * up or has ended; `close` then cancels the statement that was under way.
   */
  private fail(error: unknown): AppError {
    this.lane?.drop();
    this.signal.throwIfAborted();
    this.source.noteFailure(error);
    if (this.state.current !== 'failed') this.state.move('failed');
    return (this.failure ??= toDataSourceError(error));
  }
}
