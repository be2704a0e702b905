import { AppError } from '../../errors';
import type { BookSource } from './book-source';
import type { Database } from './database';
import { OtherVersion } from './replica';
import type { SharedState } from './snapshot-statements';
import type { VersionStamp } from './version-stamp';

/** The rows have moved to another node while they were read, and the books have changed. */
class RowsMoved extends Error {
  override readonly name = 'RowsMoved';
}

/** The data versions that the connections of one snapshot have seen. An answer must be of one. */
export class SeenVersions {
  private opened: VersionStamp | undefined;
  private last: VersionStamp | undefined;

  constructor(
    private readonly source: BookSource,
    /** The state of another connection that was to be read. */
    private readonly shared: SharedState | undefined,
  ) {}

  /** The version of the state that was opened; undefined before. */
  get version(): VersionStamp | undefined {
    return this.opened;
  }

  /** The versions that were seen. They are several only when rows have moved to another node meanwhile. */
  get all(): readonly VersionStamp[] {
    return [...new Set([this.opened, this.last].filter((version) => version !== undefined))];
  }

  /**
   * Notes the version of the state that was opened. Throws when an earlier statement has read another one: from a replica that failed, or
   * before its rows moved to another node. Throws too when this connection was to read the state of another, and does not.
   */
  noteOpened(version: VersionStamp, database: Database): void {
    this.source.assertVersion(version, database);
    if (this.shared && 'version' in this.shared && this.shared.version !== version)
      throw new OtherVersion('The books have changed between the two connections of an answer');
    if (this.opened !== undefined && this.opened !== version) {
      if (database.isDistributed) this.noteLast(version);
      throw new Error('The books have changed since a replica failed in the midst of the answer');
    }
    this.opened = version;
  }

  /** Notes the version that a last statement saw on a distributed database. Throws when statements may have read two. */
  noteLast(version: VersionStamp): void {
    this.last = version;
    if (version === this.opened) return;
    this.source.markBroken();
    throw new AppError('NO_DATA_SOURCE_CONNECTION', { cause: new RowsMoved(), retryAfterSeconds: 1 });
  }
}
