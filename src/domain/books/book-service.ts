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
import { instantOf, NO_VERSION, numberOf, toPlace, type VersionStamp } from '../../data/postgres/version-stamp';
import type { LineSet } from '../../data/books/line-set';
import type { ReportSnapshot } from '../../data/reading/report-snapshot';
import type { BookReader, BooksRequest, RequestBooks } from '../../data/books/request-books';
import type { ChangeSet } from '../../data/reports/deposit-change-store';
import { AppError, InputError } from '../../errors';
import type { AsOf } from '../../formats/as-of';
import { readPage, type Page, type PageParameters } from '../paging/keyset-page';

const MAX_DIFFERENCES = 20;

/** The states of the books that can be asked for, whose lines are kept: all from the earliest version to the latest. */
export interface History {
  readonly earliest: DataVersion;
  readonly latest: DataVersion;
}

/** The name of a state where a door takes it, and the argument that an error of GraphQL tells. */
export interface NamedState {
  readonly name: string;
  readonly argument?: string;
}
const GRAPHQL_STATE: NamedState = { name: 'asOf', argument: 'asOf' };

const describeVersion = (stamp: VersionStamp): string => `${numberOf(stamp)} of ${instantOf(stamp).toISOString()}`;

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

  /** Opens the newest state of the primary, as `BookOpener.openNewest` does. */
  openNewest(organizationId: number, reader: BookReader | undefined): ReportSnapshot {
    return this.opener.openNewest(organizationId, reader);
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

  /**
   * The lines of a set in the state that a caller asks for; those of the newest one when it asks for none. Throws INVALID_PARAMETERS for a
   * state that has not been, and VERSION_PRUNED for one that was pruned; both name the earliest and the latest version. A file finds its state
   * in the snapshot that its lines are read from, and an operation of two versions runs again, so that no prune comes between.
   */
  async inState(lineSet: LineSet, asOf: AsOf | undefined, books: RequestBooks, named: NamedState = GRAPHQL_STATE): Promise<LineSet> {
    return asOf ? { ...lineSet, state: await this.findState(lineSet.organizationId, asOf, books, named) } : lineSet;
  }

  /**
   * The changes of a set between two states that a caller asks for; up to the newest one when it asks for no second. `argument` is the one that
   * an error of GraphQL tells; each state's own where it is not given. Throws INVALID_PARAMETERS as `inState`, where the first state is after
   * the second, and for lines that are chosen by being late.
   */
  async between(
    lineSet: LineSet,
    { from: first, to: last }: { readonly from: AsOf; readonly to?: AsOf | undefined },
    books: RequestBooks,
    argument?: string,
  ): Promise<ChangeSet> {
    if (lineSet.filter.late !== undefined)
      throw new InputError('late: a line is late in one state, and changes have two', argument ?? 'filter.late');
    const find = (name: 'from' | 'to', asOf: AsOf): Promise<VersionStamp> =>
      this.findState(lineSet.organizationId, asOf, books, { name, argument: argument ?? name });
    const from = await find('from', first);
    const to = last && (await find('to', last));
    if (to === undefined || numberOf(from) <= numberOf(to)) return { lineSet, from, to };
    const fault = `from is version ${numberOf(from)} and to is version ${numberOf(to)}: from must not come after to`;
    throw new InputError(fault, argument ?? 'from');
  }

  /** The stamp of a version by its number, which is 0 before the first, also of one that was pruned; undefined for one that has not been. */
  async findVersion(organizationId: number, version: number, books: RequestBooks): Promise<VersionStamp | undefined> {
    if (version === 0) return NO_VERSION;
    return (await this.store.findState(organizationId, { version }, books)).state ?? undefined;
  }

  /** The stamp of the newest version, which is `NO_VERSION` before the first. */
  async findNewest(organizationId: number, books: RequestBooks): Promise<VersionStamp> {
    const { latest } = await this.store.findState(organizationId, { version: 0 }, books);
    return latest ?? NO_VERSION;
  }

  /**
   * The changes of a set from the place that a follower has come to, up to a version that the request has seen. Undefined where the books have
   * not been at that place: a restored backup goes on with the same numbers of versions. Throws VERSION_PRUNED as `inState`.
   */
  async since(lineSet: LineSet, place: string, to: VersionStamp, books: RequestBooks): Promise<ChangeSet | undefined> {
    const { organizationId } = lineSet;
    const named = { name: 'since' };
    const from = await this.findVersion(organizationId, Number.parseInt(place, 10), books);
    if (from === undefined || toPlace(from) !== place) return undefined;
    // Books that were empty have no lines that a prune could take. Those that they became have.
    const first = from === NO_VERSION ? to : from;
    if (first !== NO_VERSION) await this.findState(organizationId, { version: numberOf(first) }, books, named);
    return { lineSet, from, to };
  }

  /** The stamp of a state's version. Throws as `inState`. */
  async findState(organizationId: number, asOf: AsOf, books: RequestBooks, { name, argument }: NamedState): Promise<VersionStamp> {
    const { state, earliest, latest, nowMs } = await this.store.findState(organizationId, asOf, books);
    const toFault = (fault: string): InputError => new InputError(`${name}: ${fault}`, argument);
    if (earliest === null || latest === null) throw toFault('the books have no version yet');
    const known = `the earliest is ${describeVersion(earliest)}, the latest ${describeVersion(latest)}`;
    const lastMs = Math.max(nowMs, instantOf(latest).getTime());
    if (asOf.at && asOf.at.getTime() > lastMs) throw toFault(`the instant is in the future: ${known}`);
    if (state === null) throw toFault(`there is no version ${asOf.at ? 'at that time' : asOf.version}: ${known}`);
    if (numberOf(state) >= numberOf(earliest)) return state;
    const fault = `${name}: version ${numberOf(state)} was pruned: ${known}`;
    throw new AppError('VERSION_PRUNED', { fault, ...(argument !== undefined && { argument }) });
  }

  /** The version of a state, and the newest one where none is given; null before the first. */
  async versionOf({ organizationId, state }: Pick<LineSet, 'organizationId' | 'state'>, books: RequestBooks): Promise<DataVersion | null> {
    const number = state === undefined ? undefined : numberOf(state);
    const list = { organizationId, isDescending: true, fromNumber: number, toNumber: number };
    return (await this.versions(list, { first: 1 }, books)).nodes[0] ?? null;
  }

  /** The earliest version whose state is kept and the latest; null before the first. */
  async history(organizationId: number, books: RequestBooks): Promise<History | null> {
    const fromNumber = await this.store.findEarliest(organizationId, books);
    const [earliest] = (await this.versions({ organizationId, isDescending: false, fromNumber }, { first: 1 }, books)).nodes;
    const latest = await this.versionOf({ organizationId }, books);
    return earliest && latest ? { earliest, latest } : null;
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
