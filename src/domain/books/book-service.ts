import type { BookOpener } from '../../data/books/book-opener';
import {
  versionOrder,
  type BookCheck,
  type BookFigures,
  type BookStore,
  type DataVersion,
  type VersionList,
} from '../../data/books/book-store';
import type { NewVersion } from '../../data/books/book-transaction';
import type { ReportSnapshot } from '../../data/reading/report-snapshot';
import type { BooksRequest, RequestBooks } from '../../data/books/request-books';
import { readPage, type Page, type PageParameters } from '../paging/keyset-page';

const MAX_DIFFERENCES = 20;

/** The versions of an organization's books, and the agreement of its lines with them. */
export class BookService {
  constructor(
    private readonly store: BookStore,
    private readonly opener: BookOpener,
  ) {}

  /** Opens the books for a request, as `BookOpener.open` does. */
  open(request: BooksRequest): RequestBooks {
    return this.opener.open(request);
  }

  /** Opens the books for an operator's command. */
  openForOperator(organizationId: number): RequestBooks {
    return this.opener.openForOperator(organizationId);
  }

  /** Opens one state for all books of an organization, as `BookOpener.openState` does. */
  openState(organizationId: number, shared?: string): ReportSnapshot {
    return this.opener.openState(organizationId, shared);
  }

  /** The newest version of every organization that has one. */
  listFigures(): Promise<BookFigures[]> {
    return this.store.listFigures();
  }

  /** The organization's newest versions, the newest first. */
  newestVersions(organizationId: number, limit: number): Promise<readonly DataVersion[]> {
    return this.store.listVersions({ organizationId, isDescending: true }, { limit, fromEnd: false });
  }

  /** A page of the organization's versions. Throws INVALID_PARAMETERS when the page's parameters are wrong. */
  versions(versions: VersionList, page: PageParameters, books: RequestBooks): Promise<Page<DataVersion>> {
    const list = { order: versionOrder, query: ['versions', versions], count: () => this.store.countVersions(versions, books) };
    return readPage(page, list, (bounds) => this.store.listVersions(versions, bounds, books));
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
