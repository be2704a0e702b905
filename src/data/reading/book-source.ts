import type { AppError } from '../../errors';
import type { Database } from '../postgres/database';
import { toDataSourceError } from '../postgres/database-errors';
import { OtherVersion, type BookState, type Replica } from './replica';
import type { VersionStamp } from '../postgres/version-stamp';

/** A replica that was chosen for a request, and the version of the books that the request is to read. */
interface Chosen {
  readonly state: BookState;
  readonly replica: Replica;
}

/**
 * The database that one request reads the books from, for the whole of its answer: a replica that has the request's version, or the primary.
 * When a replica fails a reading, the door asks again from the primary, unless a part of the answer has left.
 */
export class BookSource {
  private choosing: Promise<Chosen | undefined> | undefined;
  private replica: Chosen | undefined;
  private reading: Database | undefined;
  private failure: AppError | undefined;
  private haveRowsMoved = false;

  constructor(
    private readonly primary: Database,
    private readonly choose: () => Promise<Chosen | undefined> = () => Promise.resolve(undefined),
  ) {}

  /** True when the answer as a whole has to be read again: its replica has failed, or its rows cannot be trusted to be of one state. */
  get isBroken(): boolean {
    return this.hasFailed || this.haveRowsMoved;
  }

  /** True when the replica has failed. The request is then answered by the primary, or is cut. */
  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /**
   * Resolves when a replica has the request's version, or none is waited for any longer. Call it before anything scarce is held. Throws the
   * failure of the replica, after which nothing more is worth reading.
   */
  async ready(): Promise<void> {
    await (this.choosing ??= this.choose());
    if (this.failure) throw this.failure;
  }

  /** The database to read from. The first reading decides: a replica that was set aside meanwhile is not read. Throws as `ready`. */
  async database(): Promise<Database> {
    if (this.failure) throw this.failure;
    const chosen = await (this.choosing ??= this.choose());
    if (!this.reading) {
      this.replica = chosen?.replica.serves ? chosen : undefined;
      this.reading = this.replica?.replica.database ?? this.primary;
    }
    return this.reading;
  }

  /** Runs a statement that stands for itself. `versionOf` tells the version that it saw. Throws an AppError. */
  async run<Value>(read: (database: Database) => Promise<Value>, versionOf: (value: Value) => VersionStamp): Promise<Value> {
    try {
      const value = await this.whileServing(read(await this.database()));
      this.assertVersion(versionOf(value));
      return value;
    } catch (error) {
      this.noteFailure(error);
      throw toDataSourceError(error);
    }
  }

  /**
   * Waits for a reading. It fails as soon as its replica is set aside, as a silent one is. With a grace, it has so many milliseconds more
   * for its answer.
   */
  whileServing<Value>(reading: Promise<Value>, graceMs = 0): Promise<Value> {
    return this.replica ? this.replica.replica.whileServing(reading, graceMs) : reading;
  }

  /** Throws unless a reading saw the request's own version on the replica. The primary may have gone on. */
  assertVersion(version: VersionStamp): void {
    if (!this.replica || this.replica.state.version === version) return;
    throw new OtherVersion('The replica has another version of the books than the request');
  }

  /** Notes that the answer as a whole has to be read again. */
  markBroken(): void {
    this.haveRowsMoved = true;
  }

  /** Notes that a reading failed. One that the primary would not have failed is the replica's failure. */
  noteFailure(error: unknown): void {
    if (!this.replica?.replica.failsBy(error, this.replica.state) || this.failure) return;
    this.replica.replica.countLeaving();
    this.failure = toDataSourceError(error);
  }
}
