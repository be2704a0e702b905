import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { cancelStatement } from './cancel-request';
import type { Database } from './database';
import type { Caller, ReportQueue } from './report-queue';
import type { RequestTimes } from './request-times';

/** The database, the queue and the caller that a connection is opened for. */
export interface LaneUse {
  readonly database: Database;
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

  /** Waits for a lane and a connection. Throws the error of the queue or of the database, or the signal's reason. */
  static async open(use: LaneUse): Promise<LaneConnection> {
    const { queue, caller, times, signal } = use;
    const leave = await times.queue.during(queue.enter(caller, signal), WAIT);
    return LaneConnection.connect(use, leave, (pool) => pool.connect());
  }

  /** Takes a second lane and a connection, which must be there within the time. Resolves to undefined without a lane. Throws as `open`. */
  static async openBeside(use: LaneUse, limitMs: number): Promise<LaneConnection | undefined> {
    const { queue, caller, times, signal } = use;
    const leave = await times.queue.during(queue.enterBeside(caller, signal), WAIT);
    return leave && LaneConnection.connect(use, leave, (pool) => connectWithin(pool, limitMs));
  }

  private static async connect(
    { database, caller, times, signal }: LaneUse,
    leave: () => void,
    connect: (pool: Pool) => Promise<PoolClient>,
  ): Promise<LaneConnection> {
    try {
      signal.throwIfAborted();
      const client = await times.database.during(connect(database.longPool), { name: 'connect' });
      if (signal.aborted) client.release();
      signal.throwIfAborted();
      return new LaneConnection(client, caller, database, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** True until the connection is released or dropped. */
  get isOpen(): boolean {
    return this.isHeld;
  }

  /** Gives the connection back to its pool. */
  release(): void {
    this.giveBack(false);
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

/** Takes a connection of a pool. Throws when it is not there within the time; the pool keeps it when it comes later. */
async function connectWithin(pool: Pool, limitMs: number): Promise<PoolClient> {
  const connecting = pool.connect();
  const over = new AbortController();
  const late = sleep(limitMs, undefined, { signal: over.signal }).then(() => {
    throw new Error('timeout exceeded when trying to connect');
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
  } finally {
    over.abort();
  }
}
