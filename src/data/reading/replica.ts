import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../postgres/database';
import { describeConnectionFault, toDataSourceError } from '../postgres/database-errors';
import { findObstacle } from '../schema/migrations';
import { findSqlFault, MISSING_GRANT, MISSING_TABLE } from '../postgres/sql-fault';
import { numberOf, selectStamp, type VersionStamp } from '../postgres/version-stamp';

/** The version of an organization's books that the primary had when a request's access was checked. */
export interface BookState {
  readonly organizationId: number;
  readonly version: VersionStamp;
}

export interface ReplicaFigures {
  readonly isUsed: boolean;
  /** The requests that were read here. */
  readonly read: number;
  /** The requests that waited for their version in vain, or did not wait because others had. */
  readonly late: number;
  /** The requests that met a failure after they had begun, and were answered by the primary or cut. */
  readonly left: number;
}

/** The error of a reading that saw another version than its request's. The books have gone on, or the replica has gone back. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion';
}

/** The error of a reading whose replica was set aside before the answer was there. */
export class SetAside extends Error {
  override readonly name = 'SetAside';
}

/** PostgreSQL's codes for a reading that replication has ended: serialization_failure, deadlock_detected, database_dropped. */
const CONFLICTS: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '57P04']);
/** The classes of faults of one server alone: it lacks room or memory, its system fails, or a page of it is damaged. */
const OWN_CLASSES: readonly (string | undefined)[] = ['53', '58', 'XX'];
/** The codes of a schema or of grants that the replica does not have yet: those above, undefined_column and undefined_function. */
const BEHIND: ReadonlySet<string | undefined> = new Set([MISSING_TABLE, MISSING_GRANT, '42703', '42883']);

/** The organizations whose versions are remembered. Each takes some hundred bytes. */
const MAX_ORGANIZATIONS = 10_000;
/** A replica is asked so often whether it serves. No request waits for that. */
const CHECK_MS = 1000;
/** A replica is asked at once when a reading has waited for so long. */
const SUSPICION_MS = 100;
const SLOW = 'The replica answers slowly';
/** The least time that a replica has to answer, where requests wait for none. */
const LEAST_PATIENCE_MS = 100;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/** A wait for a replica to reach a version, which all requests for that version share. */
interface Following {
  readonly version: VersionStamp;
  /** Resolves to true when the replica has reached the version, and to false when the wait is over. */
  readonly reached: Promise<boolean>;
  /** True when the wait was in vain. Until the replica has caught up, nobody waits for it any more. */
  isLate: boolean;
  askedAt: number;
}

const NOT_REACHED = Promise.resolve(false);

/**
 * A server that follows the primary. It serves the books of an organization while it has the version that the primary has, which its data
 * tell. A replica is asked once a second whether it serves, and whenever a reading waits for long; one that fails, or answers slowly, is
 * set aside until it does.
 */
export class Replica {
  private readonly versions = new LRUCache<number, VersionStamp>({ max: MAX_ORGANIZATIONS });
  private readonly followed = new LRUCache<number, Following>({ max: MAX_ORGANIZATIONS });
  private isUsed = false;
  private isClosed = false;
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<void> | undefined;
  /** The reasons that were told since the replica was set aside, or undefined alone while it serves. */
  private readonly told = new Set<string | undefined>();
  /** Lets go of the readings that wait for an answer. */
  private readonly leavings = new Set<() => void>();
  private readonly counts = { read: 0, late: 0, left: 0 };

  /** `onChange` is told each reason once for which the replica is set aside, and undefined when it serves again. */
  constructor(
    readonly database: Database,
    /** A connection for the checks alone, because those for readings may all be in use. */
    private readonly checked: Database,
    private readonly waitMs: number,
    private readonly onChange: (reason: string | undefined) => void,
  ) {
    this.check();
  }

  get figures(): ReplicaFigures {
    return { isUsed: this.isUsed, ...this.counts };
  }

  /** True when the replica is known to have this version. */
  has({ organizationId, version }: BookState): boolean {
    return this.isUsed && this.versions.get(organizationId) === version;
  }

  /** Resolves to true when the replica has the version, and to false when it is not known to have it after a bounded wait. */
  async reaches(state: BookState): Promise<boolean> {
    if (!this.isUsed) return false;
    if (this.has(state)) return true;
    const known = this.followed.get(state.organizationId);
    const following = known?.version === state.version ? known : this.follow(state, known);
    if (following.isLate) void this.askAgain(state, following);
    const reached = !following.isLate && (await following.reached);
    if (!reached) this.counts.late++;
    return reached;
  }

  countReading(): void {
    this.counts.read++;
  }

  countLeaving(): void {
    this.counts.left++;
  }

  /**
   * Waits for the answer to a reading. Throws SetAside when the replica is set aside and does not answer within the grace then, whatever
   * comes of the reading.
   */
  whileServing<Value>(reading: Promise<Value>, graceMs: number): Promise<Value> {
    return new Promise((resolve, reject) => {
      const give = (): void => reject(new SetAside('The replica was set aside before it answered'));
      let grace: NodeJS.Timeout | undefined;
      const leave = (): void => {
        if (graceMs === 0) give();
        else grace ??= setTimeout(give, graceMs);
      };
      const suspicion = setTimeout(() => this.check(), SUSPICION_MS);
      this.leavings.add(leave);
      const settle = (): void => {
        clearTimeout(suspicion);
        clearTimeout(grace);
        this.leavings.delete(leave);
      };
      reading.finally(settle).then(resolve, reject);
      if (!this.isUsed) leave();
    });
  }

  /** True for an error of this replica that a reading on the primary would not have. The primary then answers the request. */
  failsBy(error: unknown, { organizationId }: BookState): boolean {
    if (!this.isBlamedFor(error)) return false;
    this.versions.delete(organizationId);
    this.followed.delete(organizationId);
    return true;
  }

  /** True while the replica is not set aside. */
  get serves(): boolean {
    return this.isUsed;
  }

  /** Asks at once whether the replica serves. It may have started again, and then with earlier data. */
  doubt(): void {
    this.versions.clear();
    this.followed.clear();
    if (this.isUsed) this.check();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await Promise.all([this.database.close(), this.checked.close()]);
  }

  /** Begins to wait for a version, unless the wait for the one before was in vain. */
  private follow(state: BookState, before: Following | undefined): Following {
    const isLate = before?.isLate ?? false;
    const following: Following = {
      version: state.version,
      isLate,
      askedAt: before?.askedAt ?? -Infinity,
      reached: isLate ? NOT_REACHED : this.untilReached(state).finally(() => (following.isLate = !this.has(state))),
    };
    this.followed.set(state.organizationId, following);
    return following;
  }

  private async untilReached(state: BookState): Promise<boolean> {
    const over = new AbortController();
    const wait = sleep(this.waitMs, false, { signal: over.signal }).catch(() => false);
    const isReached = await Promise.race([this.askUntilReached(state, over.signal), wait]);
    over.abort();
    return isReached;
  }

  private async askUntilReached(state: BookState, over: AbortSignal): Promise<boolean> {
    for (let pauseMs = FIRST_PAUSE_MS; !over.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const found = await this.ask(state);
      if (found !== 'earlier') return found === 'same';
      await sleep(pauseMs);
    }
    return false;
  }

  /** Asks once in a while for a version that nobody waits for, until the replica has caught up. */
  private async askAgain(state: BookState, following: Following): Promise<void> {
    const now = performance.now();
    if (now - following.askedAt < CHECK_MS) return;
    following.askedAt = now;
    if ((await this.ask(state)) !== 'earlier') this.followed.delete(state.organizationId);
  }

  /** Compares the version that the replica has with that of the primary. */
  private async ask({ organizationId, version }: BookState): Promise<'same' | 'earlier' | 'other'> {
    try {
      const rows = await this.database.query<{ version: VersionStamp }>({
        name: 'find-version',
        text: `SELECT ${selectStamp('$1::int')} AS version`,
        values: [organizationId],
      });
      const found = rows[0]!.version;
      this.versions.set(organizationId, found);
      if (found === version) return 'same';
      return numberOf(found) < numberOf(version) ? 'earlier' : 'other';
    } catch (error) {
      this.isBlamedFor(error);
      return 'other';
    }
  }

  /** True for an error of this replica. One that the next reading would meet too sets the replica aside. */
  private isBlamedFor(error: unknown): boolean {
    const sqlState = findSqlFault(error)?.sqlState;
    const appError = toDataSourceError(error);
    // The check would name the loss in the same words, so that operators are told of it once.
    if (appError.code === 'NO_DATA_SOURCE_CONNECTION') this.setAside(describeConnectionFault(appError));
    else if (BEHIND.has(sqlState)) this.setAside('The replica lacks a table, a column, a function or a grant');
    else
      return (
        error instanceof OtherVersion || error instanceof SetAside || CONFLICTS.has(sqlState) || OWN_CLASSES.includes(sqlState?.slice(0, 2))
      );
    return true;
  }

  private setAside(reason: string): void {
    if (this.isClosed) return;
    this.versions.clear();
    this.followed.clear();
    this.isUsed = false;
    for (const leave of this.leavings) leave();
    this.tell(reason);
    this.checkLater();
  }

  private checkLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), CHECK_MS).unref();
  }

  private check(): void {
    if (this.isClosed) return;
    this.checking ??= this.findFault().then((fault) => {
      this.checking = undefined;
      if (this.isClosed) return;
      if (fault !== undefined) {
        this.setAside(fault);
        return;
      }
      this.isUsed = true;
      this.tell(undefined);
      this.checkLater();
    });
  }

  private async findFault(): Promise<string | undefined> {
    const over = new AbortController();
    const slow = sleep(Math.max(this.waitMs, LEAST_PATIENCE_MS), SLOW, { signal: over.signal })
      // A busy process may run its timers before it reads its sockets. An immediate runs after them.
      .then((reason) => new Promise<string>((resolve) => setImmediate(() => resolve(reason))))
      .catch(() => undefined);
    const fault = await Promise.race([findObstacle(this.checked).catch(() => 'The replica cannot be asked'), slow]);
    over.abort();
    return fault;
  }

  /** Tells of a change, and of each further reason, once, however often it is found: the first may be the slowness of a busy machine. */
  private tell(reason: string | undefined): void {
    if (this.told.has(reason)) return;
    if (reason === undefined || this.told.has(undefined)) this.told.clear();
    this.told.add(reason);
    this.onChange(reason);
  }
}
