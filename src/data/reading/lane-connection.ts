import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { BookSource } from './book-source';
import { cancelStatement } from './cancel-request';
import type { Database } from '../postgres/database';
import type { Caller, ReportQueue } from './report-queue';
import type { RequestTimes } from '../postgres/request-times';

/** The request that a connection is opened for. */
export interface LaneUse {
  readonly source: BookSource;
  readonly queue: ReportQueue;
  readonly caller: Caller;
  readonly times: RequestTimes;
  /** Aborted when the answer is given up. */
  readonly signal: AbortSignal;
}

const WAIT = { name: 'wait for a lane' };

/** A connection of the long pool and the lane of the report queue that allows its use. Both are given back together, once. */
export class LaneConnection {
  private isHeld = true;
  private abandoned: Promise<void> | undefined;

  private constructor(
    readonly client: PoolClient,
    /** The caller for whom the connection reads. */
    readonly caller: Caller,
    /** The database that is read. */
    readonly database: Database,
    private readonly leave: () => void,
  ) {}

  /**
   * Waits for a lane and a connection. The database is asked for when the lane is there, because a replica may be set aside meanwhile. Throws
   * SetAside, the error of the queue or of the database, or the signal's reason.
   */
  static async open(use: LaneUse): Promise<LaneConnection> {
    const { queue, caller, times, signal } = use;
    const leave = await times.queue.during(queue.enter(caller, signal), WAIT);
    return LaneConnection.connect(use, leave, (connecting) => connecting);
  }

  /** Takes a second lane and a connection, which must be there within the time. Resolves to undefined without a lane. Throws as `open`. */
  static async openBeside(use: LaneUse, limitMs: number): Promise<LaneConnection | undefined> {
    const { queue, caller, times, signal } = use;
    const leave = await times.queue.during(queue.enterBeside(caller, signal), WAIT);
    return leave && LaneConnection.connect(use, leave, (connecting) => orFailAfter(connecting, limitMs));
  }

  /** The pool keeps a connection that comes when nobody waits for it any more. */
  private static async connect(
    { source, caller, times, signal }: LaneUse,
    leave: () => void,
    limit: (connecting: Promise<PoolClient>) => Promise<PoolClient>,
  ): Promise<LaneConnection> {
    let connecting: Promise<PoolClient> | undefined;
    try {
      const database = await source.database();
      signal.throwIfAborted();
      connecting = database.longPool.connect();
      const client = await times.database.during(source.whileServing(limit(connecting)), { name: 'connect' });
      signal.throwIfAborted();
      return new LaneConnection(client, caller, database, leave);
    } catch (error) {
      connecting?.then(
        (client) => client.release(),
        () => undefined,
      );
      leave();
      throw error;
    }
  }

  /** True until the connection is released or dropped. */
  get isOpen(): boolean {
    return this.isHeld;
  }

  /** Gives the connection back to its pool, unless a request to cancel is on its way to it. */
  release(): void {
    this.giveBack(this.abandoned !== undefined);
  }

  /** Closes the connection. A statement that is under way on it fails. */
  drop(): void {
    this.giveBack(true);
  }

  /**
   * Cancels the statement that is under way, because a backend that is sorting does not notice that its client is gone, and closes the
   * connection then: a pooler knows by it which statement to cancel.
   */
  abandon(): Promise<void> {
    this.abandoned ??= this.isHeld ? this.cancel().finally(() => this.drop()) : Promise.resolve();
    return this.abandoned;
  }

  private cancel(): Promise<void> {
    // Nobody waits for the statement any more, and it ends with the server when that is gone.
    return cancelStatement(this.client).catch((error: unknown) => this.database.noteLoss(error as Error));
  }

  private giveBack(drop: boolean): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.client.release(drop || this.database.keepsEnough);
    this.leave();
  }
}

/** Throws when a connection is not there within the time. */
async function orFailAfter(connecting: Promise<PoolClient>, limitMs: number): Promise<PoolClient> {
  const over = new AbortController();
  const late = sleep(limitMs, undefined, { signal: over.signal }).then(() => {
    throw new Error('timeout exceeded when trying to connect');
  });
  try {
    return await Promise.race([connecting, late]);
  } finally {
    over.abort();
  }
}
