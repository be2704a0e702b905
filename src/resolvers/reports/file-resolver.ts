import type { AuditEntry } from '../../data/audit/audit-store';
import type { LineSet } from '../../data/books/line-set';
import type { MemberAccess } from '../../domain/access/access-service';
import type { BookService } from '../../domain/books/book-service';
import type { AuditService, FileFacts } from '../../domain/audit/audit-service';
import type { ControlTotals, LineFigures } from '../../domain/reports/control-totals';
import { toNarrowedLineSet, type DepositDetailService } from '../../domain/reports/deposit-detail-service';
import { authorizeTotals, toSummaryRows, type DepositSummaryService } from '../../domain/reports/deposit-summary-service';
import type { SystemAccess } from '../../domain/access/request-caller';
import { assertTakesPeriod, REPORT_DATES, toReportDocument, type SavedReportService } from '../../domain/reports/saved-report-service';
import { AppError, InputError } from '../../errors';
import { asOfNames } from '../../formats/as-of';
import { parsePeriod, tellsDonorsByName, type FileQuery, type QueryString } from '../../formats/file-address';
import type { RowStream } from '../../rows/row-stream';
import type { RowTemplate } from '../../rows/row-template';
import { isUuid } from '../../values/ids';
import { datesAt, type FindDates } from '../../values/periods';
import type { SchemaReportDocuments } from './report-documents';
import type { RequestContext } from '../request/request-context';

/** The rows of a file and their control totals, from one state of the data. */
export interface FileSource {
  readonly query: FileQuery;
  readonly lineSet: LineSet;
  readonly rows: RowStream<unknown>;
  /** Reads the control totals before the rows. */
  readonly readTotals: (template: RowTemplate) => Promise<RowsAfterTotals>;
  /** Reads the rows together with their control totals. Only a file of lines can do so. */
  readonly bytesWithTotals?: (template: RowTemplate) => RowsWithTotals;
  /** The file as the audit names it. */
  readonly facts: Pick<FileFacts, 'report' | 'tellsDonors'>;
}

/** An audit entry as the caller of its file sees it. */
export type Receipt = Pick<
  AuditEntry,
  | 'id'
  | 'username'
  | 'report'
  | 'format'
  | 'startDate'
  | 'endDate'
  | 'pending'
  | 'conditions'
  | 'startedAt'
  | 'finishedAt'
  | 'outcome'
  | 'bytes'
  | 'fileSha256'
  | 'lines'
  | 'digest'
  | 'moneyDigest'
  | 'dataVersion'
  | 'provision'
>;

/** The control totals of a file. */
export interface FileTotals {
  readonly rows: number;
  readonly all: ControlTotals;
  /** Undefined for a caller who may not have it. */
  readonly digest: string | undefined;
  readonly moneyDigest: string;
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

/** Parses a request's parameters. It is called after access was granted, because every door checks parameters last. */
type ReadQuery = (findDates: FindDates) => FileQuery;

interface FileServices {
  readonly depositDetails: DepositDetailService;
  readonly depositSummaries: DepositSummaryService;
  readonly audit: AuditService;
  readonly savedReports: SavedReportService;
  readonly books: BookService;
}

/** Resolves reports as files. Files are not in the GraphQL schema, but access to them is checked as there. */
export class FileResolver {
  constructor(
    private readonly services: FileServices,
    private readonly documents: SchemaReportDocuments,
  ) {}

  async depositDetails(read: ReadQuery, context: RequestContext): Promise<FileSource> {
    const granted = await context.access.authorizeReport();
    return this.lines(read(datesAt(granted.organization, context.receivedAt)), granted, context);
  }

  async depositSummary(read: ReadQuery, context: RequestContext): Promise<FileSource> {
    const granted = await context.access.authorizeMember();
    return this.summary(read(datesAt(granted.organization, context.receivedAt)), granted, context);
  }

  /**
   * A saved report with variables from the parameters of an address. Its period, or that of the address, gives the variables of dates the
   * values that it has now; a date of the address counts before the saved period. Throws NOT_FOUND when the organization has no report of this name, and
   * calls `onFound` when it has one, before the report itself is refused to anybody.
   */
  async savedReport(name: string, read: () => QueryString, context: RequestContext, onFound: () => void): Promise<FileSource> {
    const { access } = context;
    access.caller.openReport(name);
    const member = await access.authorizeMember();
    const saved = await this.services.savedReports.get(member.organization.id, name);
    onFound();
    const findDates = datesAt(member.organization, context.receivedAt);
    const { query, variables } = toReportDocument(saved, findDates);
    const isSummary = this.documents.toFileQuery({ query, variables }).groupBy !== undefined;
    const granted = isSummary ? member : await access.authorizeReport();
    if (Object.keys(read()).length > 0 && (await access.caller.isBoundToReports()))
      throw new InputError('this provision opens the report with its saved values alone');
    const { dates, others } = parsePeriod(read(), REPORT_DATES, findDates);
    if (dates) assertTakesPeriod(this.documents.variableNames(query));
    const given = { ...this.documents.toVariables(query, others), ...dates };
    const file = this.documents.toFileQuery({ query, variables: { ...variables, ...given } });
    if ((file.groupBy !== undefined) !== isSummary)
      throw new InputError('these variables turn a report of lines into a summary, or a summary into lines');
    return isSummary ? this.summary(file, member, context) : this.lines(file, granted, context);
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
    if (entry.report === 'deposit-details' || tellsDonorsByName(entry.conditions)) throw new AppError('PRIVILEGE_NOT_FOUND');
    // Everything in a summary but its numbers of donors is known to this caller, who could try numbers until the hash or the length fits.
    return { ...receipt, digest: null, ...(entry.tellsDonors && { fileSha256: null, bytes: null }) };
  }

  private async lines(query: FileQuery, granted: SystemAccess, context: RequestContext): Promise<FileSource> {
    const { depositDetails } = this.services;
    const narrowed = toNarrowedLineSet(granted.organization.id, query.lines);
    const lineSet = await this.services.books.inState(narrowed, query.lines.asOf, context.books, { name: asOfNames.file });
    const rows = depositDetails.report(lineSet, context.books);
    return {
      query,
      lineSet,
      rows,
      readTotals: async (template) => {
        const { rows: bytes, figures } = await rows.bytesAfterFigures(template);
        return { rows: bytes, totals: toFileTotals(figures) };
      },
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

  private async summary(query: FileQuery, granted: MemberAccess, context: RequestContext): Promise<FileSource> {
    const { access, books } = context;
    const { mayReadDonors } = granted;
    const { groupBy = [], fiscalYearStart } = query;
    const narrowed = await authorizeTotals(access, granted, query.lines, groupBy);
    const lineSet = await this.services.books.inState(narrowed, query.lines.asOf, books, { name: asOfNames.file });
    const summary = this.services.depositSummaries.summarize({ lineSet, groupBy, fiscalYearStart, mayReadDonors }, books);
    const rows = toSummaryRows(summary, groupBy, books.snapshot);
    const countRows = async (): Promise<number> => (groupBy.length > 0 ? summary.countGroups() : 1);
    return {
      query,
      lineSet,
      rows,
      readTotals: async (template) => {
        const digests = summary.digests(access.openDonorData() ? ['digest', 'moneyDigest'] : ['moneyDigest']);
        const [{ all }, { digest, moneyDigest }, count] = await Promise.all([summary.totals(['deposits']), digests, countRows()]);
        const totals = { rows: count, all: { ...all, deposits: all.deposits! }, digest, moneyDigest: moneyDigest! };
        return { rows: rows.bytes(template), totals };
      },
      facts: { report: 'deposit-summary', tellsDonors: mayReadDonors },
    };
  }
}

const toFileTotals = ({ totals, ...digests }: LineFigures): FileTotals => ({ rows: totals.lines, all: totals, ...digests });

function toReceipt(entry: AuditEntry): Receipt {
  const { id, username, report, format, startDate, endDate, pending, conditions, startedAt, finishedAt } = entry;
  const { outcome, bytes, fileSha256, lines, digest, moneyDigest, dataVersion, provision } = entry;
  return {
    id,
    username,
    report,
    format,
    startDate,
    endDate,
    pending,
    conditions,
    startedAt,
    finishedAt,
    outcome,
    bytes,
    fileSha256,
    lines,
    digest,
    moneyDigest,
    dataVersion,
    provision,
  };
}
