import type { BookReader, ReaderOptions } from '../data/book-reader';
import { versionOrder, type BookCheck, type BookFigures, type BookStore, type DataVersion, type VersionList } from '../data/book-store';
import type { NewVersion } from '../data/book-transaction';
import type { BookSource } from '../data/postgres/book-source';
import type { BookState } from '../data/postgres/replica';
import { readPage, type Page, type PageParameters } from './keyset-page';

const MAX_DIFFERENCES = 20;

/** The versions of an organization's books, and the agreement of its lines with them. */
export class BookService {
  constructor(private readonly store: BookStore) {}

  /** Opens the source of a request: a replica that has the version which `findState` tells, or the primary. It costs nothing until it is read. */
  openSource(findState: () => BookState | undefined, isPrimary: boolean): BookSource {
    return this.store.openSource(findState, isPrimary);
  }

  /** Opens the reader of a request's short statements, and of values that are kept by data version. */
  openReader(options: ReaderOptions): BookReader {
    return this.store.openReader(options);
  }

  /** The newest version of every organization that has one. */
  listFigures(): Promise<BookFigures[]> {
    return this.store.listFigures();
  }

  /** The organization's newest versions, the newest first. */
  newestVersions(organizationId: number, limit: number): Promise<DataVersion[]> {
    return this.store.listVersions({ organizationId, isDescending: true }, { limit, fromEnd: false });
  }

  /** A page of the organization's versions. Throws INVALID_PARAMETERS when the page's parameters are wrong. */
  versions(versions: VersionList, page: PageParameters, reader: BookReader): Promise<Page<DataVersion>> {
    const list = { order: versionOrder, query: ['versions', versions], count: () => this.store.countVersions(versions, reader) };
    return readPage(page, list, (bounds) => this.store.listVersions(versions, bounds, reader));
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
