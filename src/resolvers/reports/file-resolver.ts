import type { LineSet } from '../../data/books/line-set';
import type { RequestBooks } from '../../data/books/request-books';
import type { MemberAccess, RequestAccess } from '../../domain/access/access-service';
import type { ChangeSet } from '../../data/reports/deposit-change-store';
import { numberOf, toPlace } from '../../data/postgres/version-stamp';
import type { BookService } from '../../domain/books/book-service';
import type { ErasureService } from '../../domain/reports/erasure-service';
import type { PeriodService } from '../../domain/reports/period-service';
import type { AuditService, FileFacts } from '../../domain/audit/audit-service';
import type { JournalService } from '../../domain/reports/journal-service';
import type { ControlTotals, LineFigures } from '../../domain/reports/control-totals';
import type { DepositChangeService } from '../../domain/reports/deposit-change-service';
import { toNarrowedLineSet, type DepositDetailService, type RowBounds, type RowPage } from '../../domain/reports/deposit-detail-service';
import { authorizeTotals, toGrouping, toSummaryRows, type DepositSummaryService } from '../../domain/reports/deposit-summary-service';
import type { SystemAccess } from '../../domain/access/request-caller';
import {
  assertTakesDates,
  refuseCompared,
  REPORT_DATES,
  toReportDocument,
  type ReportDocument,
  type SavedReportService,
} from '../../domain/reports/saved-report-service';
import { AppError, InputError } from '../../errors';
import { asOfNames } from '../../formats/as-of';
import { parsePeriod, reportOf, type FileQuery, type FileReport, type QueryString } from '../../formats/file-address';
import { tellsDonorsByName } from '../../formats/line-groups';
import type { FileRows } from '../../rows/row-stream';
import type { RowTemplate } from '../../rows/row-template';
import type { LocalDate } from '../../values/dates';
import { isUuid } from '../../values/ids';
import type { Money } from '../../values/money';
import { datesAt, type FindDates } from '../../values/periods';
import { toReceipt, type Receipt } from './file-receipt';
import type { SchemaReportDocuments } from './report-documents';
import type { RequestContext } from '../request/request-context';

/** The rows of a file and their control totals, from one state of the data. */
export interface FileSource {
  readonly query: FileQuery;
  readonly lineSet: LineSet;
  readonly rows: FileRows;
  /** The number of the state that the changes of a file begin with; undefined for another file. */
  readonly from?: number;
  /** The last closed date of the state that the rows are of; null where none is closed. */
  readonly closedThrough: () => Promise<LocalDate | null>;
  /** The name of the state for the file's tag: an erasure makes other bytes of a past state. Undefined for the newest one. */
  readonly nameBytes: () => Promise<string | undefined>;
  /** Reads the control totals before the rows. */
  readonly readTotals: (template: RowTemplate) => Promise<RowsAfterTotals>;
  /** Reads the rows together with their control totals. Only a file of lines can do so. */
  readonly bytesWithTotals?: (template: RowTemplate) => RowsWithTotals;
  /** Reads the rows by pages. The groups of a summary, which are added up anew each time, are one page. Changes and journals have no pages. */
  readonly pages?: RowPages;
  /** The file as the audit names it. */
  readonly facts: Pick<FileFacts, 'report' | 'tellsDonors'>;
}

/** The control totals of a file. */
export interface FileTotals {
  readonly rows: number;
  /** The figures of the lines. Those of changes are what they add to the figures. Undefined for a journal. */
  readonly all?: ControlTotals;
  /** The entries of a journal and the sum of their debits; undefined for another file. */
  readonly journal?: { readonly entries: number; readonly debits: Money };
  /** The number of the lines that were read, or of their changes. */
  readonly lines: number;
  /** Undefined for a caller who may not have it. */
  readonly digest: string | undefined;
  /** Undefined for a file of changes and for a journal. */
  readonly moneyDigest: string | undefined;
}

interface RowPages {
  /** Counts the rows of all pages. It is asked before the rows. */
  readonly count: () => Promise<number>;
  readonly read: (template: RowTemplate, page: RowBounds) => Omit<RowPage, 'rowCount'> & Partial<Pick<RowPage, 'rowCount'>>;
}

interface RowsWithTotals {
  readonly rows: AsyncGenerator<Buffer>;
  /** Undefined until the rows have been read to their end. */
  readonly totals: () => FileTotals | undefined;
}

interface RowsAfterTotals {
  readonly rows: AsyncGenerator<Buffer>;
  readonly totals: FileTotals;
}

/** The one for whom a file is read: a caller of now, or the recipient of a mail. */
export interface FileReader {
  readonly access: Pick<RequestAccess, 'openDonorData'> & {
    authorizeMember(): Promise<Pick<MemberAccess, 'organization' | 'mayReadDonors'>>;
    authorizeDonors(): Promise<Pick<MemberAccess, 'organization'>>;
  };
  readonly books: RequestBooks;
}

/** Finds the changes that a follower waits for. */
type Follow = (lineSet: LineSet, changes: NonNullable<FileQuery['changes']>) => Promise<ChangeSet>;

/** Parses a request's parameters. It is called after access was granted, because every door checks parameters last. */
type ReadQuery = (findDates: FindDates) => FileQuery;

/** The values of a saved report's variables that a caller gives, and the period. */
interface GivenValues {
  /** Called after access was granted, as `ReadQuery`. */
  readonly read: () => QueryString;
  /** True for the texts of an address; false for values as JSON has them. */
  readonly areTexts: boolean;
  readonly onFound?: (report: { readonly updatedAt: Date }) => void;
  /**
   * Narrows the report, or names the state that an earlier answer was of. It may not turn the report into another one. `saved` is the report
   * with the values that it was saved with.
   */
  readonly adjust?: (query: FileQuery, saved: FileQuery) => FileQuery;
}

interface FileServices {
  readonly depositDetails: DepositDetailService;
  readonly depositSummaries: DepositSummaryService;
  readonly depositChanges: DepositChangeService;
  readonly audit: AuditService;
  readonly savedReports: SavedReportService;
  readonly books: BookService;
  readonly periods: PeriodService;
  readonly erasures: ErasureService;
  readonly journals: JournalService;
}

/** Resolves reports as files. Files are not in the GraphQL schema, but access to them is checked as there. */
export class FileResolver {
  constructor(
    private readonly services: FileServices,
    private readonly documents: SchemaReportDocuments,
    /** True when the gateway ends, so that nobody shall wait. */
    private readonly isStopping: () => boolean,
  ) {}

  /** The file of a report: of a summary for every member, of lines and of their changes for callers who may read the report. */
  async file(report: FileReport, read: ReadQuery, context: RequestContext): Promise<FileSource> {
    const { access, receivedAt } = context;
    if (report === 'journal') {
      const member = await access.authorizeMember();
      if (!member.mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
      return this.journal(read(datesAt(member.organization, receivedAt)), member, context);
    }
    if (report === 'deposit-summary') {
      const member = await access.authorizeMember();
      return this.summary(read(datesAt(member.organization, receivedAt)), member, context);
    }
    const granted = await access.authorizeReport();
    const follow: Follow = (lineSet, changes) => this.follow(lineSet, changes, context);
    return this.lines(read(datesAt(granted.organization, receivedAt)), granted, context, follow);
  }

  /**
   * A saved report with the values of variables that its caller gives. Its period, or that of the caller, gives the variables of dates the
   * values that it has now; a given date counts before the saved period. Throws NOT_FOUND when the organization has no report of this name, and
   * calls `onFound` when it has one, before the report itself is refused to anybody.
   */
  async savedReport(
    name: string,
    { read, areTexts, onFound = () => undefined, adjust = (query) => query }: GivenValues,
    context: RequestContext,
  ): Promise<FileSource> {
    const { access } = context;
    access.caller.openReport(name);
    const member = await access.authorizeMember();
    const saved = await this.services.savedReports.get(member.organization.id, name);
    onFound(saved);
    const findDates = datesAt(member.organization, context.receivedAt);
    const { query, variables } = toReportDocument(saved, findDates);
    const asSaved = this.documents.toFileQuery({ query, variables });
    const report = reportOf(asSaved);
    const isSummary = report === 'deposit-summary';
    const granted = isSummary ? member : await access.authorizeReport();
    if (Object.keys(read()).length > 0 && (await access.caller.isBoundToReports()))
      throw new InputError('this provision opens the report with its saved values alone');
    if (!areTexts && typeof (read().period ?? '') !== 'string') throw new InputError('period must be text');
    const { dates, others } = parsePeriod(read(), REPORT_DATES, findDates);
    if (dates) assertTakesDates(this.documents.variableNames(query));
    if (!areTexts) this.documents.assertVariables(query, Object.keys(others));
    const given = areTexts ? this.documents.toVariables(query, others) : others;
    const file = this.documents.toFileQuery({ query, variables: { ...variables, ...given, ...dates } });
    const { compareWith } = file;
    if (dates && compareWith && REPORT_DATES.every((date) => compareWith[date] === asSaved.compareWith?.[date]))
      refuseCompared(compareWith);
    if (reportOf(file) !== report) throw new InputError('these variables turn the report into another one, as lines into a summary');
    const adjusted = adjust(file, asSaved);
    return isSummary ? this.summary(adjusted, member, context) : this.lines(adjusted, granted, context);
  }

  /** The file with all rows of a query, for the callers to whom GraphQL gives its address. */
  async document(document: ReportDocument, context: FileReader): Promise<FileSource> {
    const member = await context.access.authorizeMember();
    const file = this.documents.toFileQuery(document);
    if (reportOf(file) === 'deposit-summary') return this.summary(file, member, context);
    return this.lines(file, await context.access.authorizeDonors(), context);
  }

  /**
   * The receipt of an export, for callers who may make the same export. Throws NOT_FOUND when the organization has no audit entry with this
   * id, and PRIVILEGE_NOT_FOUND. A receipt with a digest counts as personal data that was read.
   */
  async receipt(id: string, { access }: RequestContext): Promise<Receipt> {
    const { organization, mayReadDonors } = await access.authorizeMember();
    const entry = isUuid(id) && id === id.toLowerCase() ? await this.services.audit.find(organization.id, id) : null;
    if (entry?.kind !== 'file') throw new AppError('NOT_FOUND');
    const receipt = toReceipt(entry);
    if (mayReadDonors) {
      if (receipt.digest !== null) access.openDonorData();
      return receipt;
    }
    if (entry.report !== 'deposit-summary' || tellsDonorsByName(entry.conditions)) throw new AppError('PRIVILEGE_NOT_FOUND');
    // Everything in a summary but its numbers of donors is known to this caller, who could try numbers until the hash or the length fits.
    return { ...receipt, digest: null, ...(entry.tellsDonors && { fileSha256: null, bytes: null }) };
  }

  private async lines(
    query: FileQuery,
    granted: Pick<SystemAccess, 'organization'>,
    context: FileReader,
    follow?: Follow,
  ): Promise<FileSource> {
    if (query.changes) return this.changes(query, query.changes, granted, context, follow);
    const { depositDetails } = this.services;
    const narrowed = toNarrowedLineSet(granted.organization.id, query.lines);
    const lineSet = await this.services.books.inState(narrowed, query.lines.asOf, context.books, { name: asOfNames.file });
    const rows = depositDetails.report(lineSet, context.books);
    return {
      query,
      lineSet,
      rows,
      closedThrough: () => this.closedThrough(lineSet, context),
      nameBytes: () => this.services.erasures.nameBytes(lineSet, context.books),
      readTotals: async (template) => {
        const { rows: bytes, figures } = await rows.bytesAfterFigures(template);
        return { rows: bytes, totals: toFileTotals(figures) };
      },
      pages: { count: () => rows.count(), read: (template, page) => rows.pageBytes(template, page) },
      bytesWithTotals: (template) => {
        const { rows: bytes, figures } = rows.bytesWithFigures(template);
        const totals = (): FileTotals | undefined => {
          const read = figures();
          return read && toFileTotals(read);
        };
        return { rows: bytes, totals };
      },
      facts: { report: 'deposit-details', tellsDonors: true },
    };
  }

  private async changes(
    query: FileQuery,
    changes: NonNullable<FileQuery['changes']>,
    granted: Pick<SystemAccess, 'organization'>,
    context: FileReader,
    follow: Follow | undefined,
  ): Promise<FileSource> {
    const { depositChanges } = this.services;
    const { books } = context;
    const { classes } = changes;
    const lineSet = toNarrowedLineSet(granted.organization.id, query.lines);
    const isFollowed = changes.place !== undefined;
    const set = isFollowed && follow ? await follow(lineSet, changes) : await this.services.books.between(lineSet, changes, books);
    const rows = depositChanges.rows(set, classes, books);
    return {
      query,
      lineSet: { ...set.lineSet, state: set.to },
      rows,
      closedThrough: () => this.closedThrough({ ...set.lineSet, state: set.to }, context),
      nameBytes: () => this.services.erasures.nameBytes({ ...set.lineSet, state: set.to }, context.books),
      from: numberOf(set.from),
      readTotals: async (template) => {
        const { changes, effect } = await depositChanges.sum(set, classes, books);
        return {
          rows: rows.bytes(template),
          totals: { rows: changes, lines: changes, all: effect, digest: undefined, moneyDigest: undefined },
        };
      },
      facts: { report: 'deposit-changes', tellsDonors: true },
    };
  }

  /**
   * The changes that a follower asks for: from its place to the newest state, once that is another one or the wait is over. Throws
   * INVALID_PARAMETERS when the books have not been at that place, and VERSION_PRUNED when the state there was pruned.
   */
  private async follow(
    lineSet: LineSet,
    { place = '', waitSeconds = 0 }: NonNullable<FileQuery['changes']>,
    { access, books, times }: RequestContext,
  ): Promise<ChangeSet> {
    // A clock that is put back must not lengthen the wait.
    const end = performance.now() + waitSeconds * MS_PER_SECOND;
    // Access was checked, so that its version is known.
    const isThere = (): boolean => toPlace(access.bookState!.version) === place;
    while (isThere() && performance.now() < end) {
      await times.change.during(access.lookAgain(books.signal));
      if (this.isStopping()) break;
    }
    const to = access.bookState!.version;
    if (isThere()) return { lineSet, from: to, to };
    const changes = await this.services.books.since(lineSet, place, to, books);
    if (changes) return changes;
    throw new InputError('since: these are other books than those that were followed: begin with an export again');
  }

  private async summary(
    query: FileQuery,
    granted: Pick<MemberAccess, 'organization' | 'mayReadDonors'>,
    context: FileReader,
  ): Promise<FileSource> {
    const { access, books } = context;
    const { mayReadDonors } = granted;
    const grouping = toGrouping(query);
    const { groupBy } = grouping;
    const narrowed = await authorizeTotals(access, granted, query.lines, grouping);
    const lineSet = await this.services.books.inState(narrowed, query.lines.asOf, books, { name: asOfNames.file });
    const summary = this.services.depositSummaries.summarize({ lineSet, ...grouping, mayReadDonors }, books);
    const rows = toSummaryRows(summary, groupBy, books.snapshot);
    const countRows = async (): Promise<number> => (groupBy.length > 0 ? summary.countGroups() : 1);
    return {
      query,
      lineSet,
      rows,
      closedThrough: () => this.closedThrough(lineSet, context),
      nameBytes: () => this.services.erasures.nameBytes(lineSet, books),
      pages: {
        count: countRows,
        read: (template, { limit }) => ({
          rows: toSummaryRows(summary, groupBy, books.snapshot, limit).bytes(template),
          end: () => undefined,
        }),
      },
      readTotals: async (template) => {
        const digests = summary.digests(access.openDonorData() ? ['digest', 'moneyDigest'] : ['moneyDigest']);
        const [{ all }, { digest, moneyDigest }, count] = await Promise.all([summary.totals(['deposits']), digests, countRows()]);
        const totals = { rows: count, lines: all.lines, all: { ...all, deposits: all.deposits! }, digest, moneyDigest: moneyDigest! };
        return { rows: rows.bytes(template), totals };
      },
      facts: { report: 'deposit-summary', tellsDonors: mayReadDonors },
    };
  }

  /** A journal tells no donor. */
  private async journal(query: FileQuery, { organization }: MemberAccess, { books }: RequestContext): Promise<FileSource> {
    const narrowed = toNarrowedLineSet(organization.id, query.lines);
    const inState = await this.services.books.inState(narrowed, query.lines.asOf, books, { name: asOfNames.file });
    const currency = query.journal!.currency ?? organization.currency;
    const asked = { ...query.journal!, ...(currency !== null && { currency }) };
    const journal = await this.services.journals.journal(inState, asked, books);
    const { lineSet, from } = journal;
    return {
      query: { ...query, journal: journal.asked },
      lineSet,
      rows: journal,
      ...(from !== undefined && { from }),
      closedThrough: () => this.closedThrough(lineSet, { books }),
      nameBytes: () => this.services.erasures.nameBytes(lineSet, books),
      readTotals: async (template) => {
        const { rows, entries, debits } = await journal.figures();
        return {
          rows: journal.bytes(template),
          totals: { rows, lines: rows, journal: { entries, debits }, digest: undefined, moneyDigest: undefined },
        };
      },
      facts: { report: 'journal', tellsDonors: false },
    };
  }

  private closedThrough({ organizationId, state }: LineSet, { books }: Pick<FileReader, 'books'>): Promise<LocalDate | null> {
    return this.services.periods.closedThrough(organizationId, state, books);
  }
}

const MS_PER_SECOND = 1000;

const toFileTotals = ({ totals, ...digests }: LineFigures): FileTotals => ({
  rows: totals.lines,
  lines: totals.lines,
  all: totals,
  ...digests,
});
