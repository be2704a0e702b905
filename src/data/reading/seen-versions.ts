import { AppError } from '../../errors';
import type { BookSource } from './book-source';
import { OtherVersion } from './replica';
import type { VersionStamp } from '../postgres/version-stamp';

/** The rows have moved to another node while they were read, and the books have changed. */
class RowsMoved extends Error {
  override readonly name = 'RowsMoved';
}

/** The data versions that the statements of one snapshot have seen. An answer must be of one. */
export class SeenVersions {
  private readonly seen = new Set<VersionStamp>();

  constructor(private readonly source: BookSource) {}

  /** The version of the state that was opened; undefined before. */
  get version(): VersionStamp | undefined {
    return this.all[0];
  }

  /** The versions that were seen. They are several only when rows have moved to another node meanwhile. */
  get all(): readonly VersionStamp[] {
    return [...this.seen];
  }

  /** Throws when a second connection has opened another version than the first. Nothing is read from it then. */
  assertSame(version: VersionStamp): void {
    if (version !== this.version) throw new OtherVersion('The books have changed between the two connections of an answer');
  }

  /**
   * Notes the version that a statement saw. Throws when a replica has another version than the request. Throws too when an earlier statement
   * saw another one, as happens on a distributed database whose rows move.
   */
  note(version: VersionStamp): void {
    this.source.assertVersion(version);
    this.seen.add(version);
    if (this.seen.size === 1) return;
    this.source.markBroken();
    throw new AppError('NO_DATA_SOURCE_CONNECTION', { cause: new RowsMoved(), retryAfterSeconds: 1 });
  }
}
