import type { PoolClient } from 'pg';
import { cancelStatement } from './cancel-request';
import type { Database } from './database';
import type { Caller } from './report-queue';
import type { RequestTimes } from './request-times';

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

  /** Waits for a lane, which `enter` takes, and a connection. Throws the error of `enter` or of the database, or the signal's reason. */
  static async open(
    database: Database,
    enter: () => Promise<() => void>,
    caller: Caller,
    times: RequestTimes,
    signal: AbortSignal,
  ): Promise<LaneConnection> {
    signal.throwIfAborted();
    const leave = await times.queue.during(enter(), { name: 'wait for a lane' });
    try {
      signal.throwIfAborted();
      const client = await times.database.during(database.longPool.connect(), { name: 'connect' });
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
