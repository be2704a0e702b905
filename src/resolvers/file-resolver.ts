import type { AuditEntry } from '../data/audit-store';
import type { LineSet } from '../data/line-set';
import type { MemberAccess, SystemAccess } from '../domain/access-service';
import type { OpenAuditEntry, AuditService } from '../domain/audit-service';
import { toNarrowedLineSet, type DepositDetailService } from '../domain/deposit-detail-service';
import { authorizeTotals, toSummaryRows, type DepositSummary, type DepositSummaryService } from '../domain/deposit-summary-service';
import type { SavedReportService } from '../domain/saved-report-service';
import { AppError, InputError } from '../errors';
import { namesOfConditions, tellsDonorsByName, type FileQuery, type QueryString } from '../formats/file-address';
import type { RowStream } from '../rows/row-stream';
import { isUuid } from '../values/ids';
import type { ReportReader } from './report-reader';
import type { RequestContext } from './request-context';

/** Rows on their way into a file, and the totals of the same state. */
export interface FileSource {
  readonly query: FileQuery;
  readonly lineSet: LineSet;
  readonly rows: RowStream<unknown>;
  /** How many rows there will be. */
  readonly countRows: () => Promise<number>;
  readonly summary: DepositSummary;
  /** Whether the lines' digest may be told. */
  readonly hasDigest: boolean;
  /** Nothing may leave before this has resolved. */
  openAudit(format: string): Promise<OpenAuditEntry>;
}

/** What a request asks for; read once the access was granted. */
type Read<Value> = () => Value;

interface FileServices {
  readonly depositDetails: DepositDetailService;
  readonly depositSummaries: DepositSummaryService;
  readonly audit: AuditService;
  readonly savedReports: SavedReportService;
}

/** Reports as files. They are no part of the GraphQL schema, but their checks are the same. */
export class FileResolver {
  constructor(
    private readonly services: FileServices,
    private readonly documents: ReportReader,
  ) {}

  async depositDetails(read: Read<FileQuery>, context: RequestContext): Promise<FileSource> {
    const granted = await context.access.authorizeReport();
    return this.lines(read(), granted, context);
  }

  async depositSummary(read: Read<FileQuery>, context: RequestContext): Promise<FileSource> {
    const granted = await context.access.authorizeMember();
    return this.summary(read(), granted, context);
  }

  /** A saved report, its variables as an address gives them. Throws NOT_FOUND where the organization has none of this name. */
  async savedReport(name: string, read: Read<QueryString>, context: RequestContext): Promise<FileSource> {
    const member = await context.access.authorizeMember();
    const { query, variables } = await this.services.savedReports.get(member.organization.id, name);
    const isSummary = this.documents.toFileQuery({ query, variables }).groupBy !== undefined;
    const granted = isSummary ? member : await context.access.authorizeReport();
    const file = this.documents.toFileQuery({ query, variables: { ...variables, ...this.documents.toVariables(query, read()) } });
    if ((file.groupBy !== undefined) !== isSummary) throw new InputError('these variables make another report of it');
    return isSummary ? this.summary(file, member, context) : this.lines(file, granted, context);
  }

  /** What became of an export, to those who may make it. Throws NOT_FOUND where the organization has none of this id. */
  async receipt(id: string, { access }: RequestContext): Promise<AuditEntry> {
    const { organization, mayReadDonors } = await access.authorizeMember();
    const entry = isUuid(id) ? await this.services.audit.find(organization.id, id) : null;
    if (!entry) throw new AppError('NOT_FOUND');
    if (mayReadDonors) return entry;
    if (entry.report === 'deposit-details' || tellsDonorsByName(entry.conditions)) throw new AppError('PRIVILEGE_NOT_FOUND');
    return { ...entry, digest: null };
  }

  private lines(query: FileQuery, granted: SystemAccess, { snapshot }: RequestContext): FileSource {
    const { depositDetails, depositSummaries } = this.services;
    const lineSet = toNarrowedLineSet(granted.organization.id, query.lines);
    const summary = depositSummaries.summarize({ lineSet, groupBy: [], mayReadDonors: true }, snapshot);
    return {
      ...{ query, lineSet, summary, hasDigest: true },
      openAudit: (format) => this.openAudit('deposit-details', format, query, lineSet, granted),
      rows: depositDetails.report(lineSet, snapshot),
      countRows: async () => (await summary.totals()).all.lines,
    };
  }

  private async summary(query: FileQuery, granted: MemberAccess, { access, snapshot }: RequestContext): Promise<FileSource> {
    const { mayReadDonors } = granted;
    const groupBy = query.groupBy ?? [];
    const lineSet = await authorizeTotals(access, granted, query.lines);
    const summary = this.services.depositSummaries.summarize({ lineSet, groupBy, mayReadDonors }, snapshot);
    return {
      ...{ query, lineSet, summary, hasDigest: mayReadDonors },
      openAudit: (format) => this.openAudit('deposit-summary', format, query, lineSet, granted),
      rows: toSummaryRows(summary, groupBy),
      countRows: async () => (groupBy.length > 0 ? (await summary.groups()).length : 1),
    };
  }

  private openAudit(report: AuditEntry['report'], format: string, query: FileQuery, lineSet: LineSet, granted: SystemAccess) {
    const exporter = { provisionId: granted.provisionId, username: usernameOf(granted) };
    return this.services.audit.open(exporter, { report, format, lineSet, conditions: namesOfConditions(query) });
  }
}

/** Null for a provision that nobody has logged in under. */
const usernameOf = (access: SystemAccess & { readonly user?: { readonly username: string } }): string | null =>
  access.user?.username ?? null;
