import type { Database } from './database';
import { OtherVersion, type BookState, type Replica } from './replica';
import type { VersionStamp } from './version-stamp';

/** A replica that was chosen for a request, and the version of the books that the request is to read. */
interface Chosen {
  readonly state: BookState;
  readonly replica: Replica;
}

/**
 * The database that one request reads the books from: a replica that has the request's version, or the primary. A replica is chosen with
 * the first reading. When it fails, the request goes on at the primary.
 */
export class BookSource {
  private choosing: Promise<Chosen | undefined> | undefined;
  private chosen: Chosen | undefined;
  private hasLeft = false;
  private broken = false;

  constructor(
    private readonly primary: Database,
    private readonly choose: () => Promise<Chosen | undefined> = () => Promise.resolve(undefined),
  ) {}

  /** True when the answer as a whole has to be read again, because a replica failed after a part of it was read, or its rows have moved. */
  get isBroken(): boolean {
    return this.broken;
  }

  /** The database to read from. */
  async database(): Promise<Database> {
    this.chosen = await (this.choosing ??= this.choose());
    return this.hasLeft || !this.chosen?.replica.serves ? this.primary : this.chosen.replica.database;
  }

  /** Runs a statement that stands for itself, on the primary when the replica fails it. `versionOf` tells the version that it saw. */
  async run<Value>(read: (database: Database) => Promise<Value>, versionOf: (value: Value) => VersionStamp): Promise<Value> {
    const database = await this.database();
    try {
      const value = await this.whileServing(read(database), database);
      this.assertVersion(versionOf(value), database);
      return value;
    } catch (error) {
      if (!this.leave(error, database)) throw error;
      return read(this.primary);
    }
  }

  /**
   * Waits for a reading. It fails as soon as its replica is set aside, as a silent one is. With a grace, it has so many milliseconds more
   * for its answer.
   */
  whileServing<Value>(reading: Promise<Value>, database: Database, graceMs = 0): Promise<Value> {
    const { chosen } = this;
    return !chosen || chosen.replica.database !== database ? reading : chosen.replica.whileServing(reading, graceMs);
  }

  /** Throws unless a reading saw the request's own version on the replica. The primary may have gone on. */
  assertVersion(version: VersionStamp, database: Database): void {
    const { chosen } = this;
    if (!chosen || chosen.replica.database !== database || chosen.state.version === version) return;
    throw new OtherVersion('The replica has another version of the books than the request');
  }

  /** True when the error is the replica's. The request then reads from the primary from now on. */
  leave(error: unknown, database: Database | undefined): boolean {
    const { chosen } = this;
    if (!chosen || chosen.replica.database !== database || !chosen.replica.failsBy(error, chosen.state)) return false;
    if (!this.hasLeft) chosen.replica.countLeaving();
    this.hasLeft = true;
    return true;
  }

  /** Notes that the answer as a whole has to be read again. */
  markBroken(): void {
    this.broken = true;
  }

  /** Notes that an answer failed. It can be read again when the request has left a replica. */
  noteFailure(error: unknown, database: Database | undefined): void {
    if (this.hasLeft || this.leave(error, database)) this.broken = true;
  }
}
