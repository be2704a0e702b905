import type { BookCheck, BookStore, DataVersion } from '../data/book-store';
import type { NewVersion } from '../data/book-transaction';

const MAX_DIFFERENCES = 20;

/** The versions of an organization's books, and the agreement of its lines with them. */
export class BookService {
  constructor(private readonly store: BookStore) {}

  /** The organization's versions, the newest first. */
  versions(organizationId: number, limit: number): Promise<DataVersion[]> {
    return this.store.listVersions(organizationId, limit);
  }

  /** Computes every line from the books and compares it with the one that stands. */
  check(organizationId: number): Promise<BookCheck> {
    return this.store.check(organizationId, MAX_DIFFERENCES);
  }

  /** Brings all lines in line with the books, as after a correction by SQL. */
  repair(organizationId: number): Promise<NewVersion> {
    return this.store.repair(organizationId);
  }
}
