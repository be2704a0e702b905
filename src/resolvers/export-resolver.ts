import type { GraphQLSchema } from 'graphql';
import type { MemberAccess, SystemAccess } from '../domain/access-service';
import { toNarrowSelection, type DepositDetailService, type LineSelection } from '../domain/deposit-detail-service';
import { selectForTotals, toSummaryRows, type DepositSummary, type DepositSummaryService } from '../domain/deposit-summary-service';
import type { ExportAccount, ExportRecord, ExportService } from '../domain/export-service';
import { toFileQuery, toVariables } from '../domain/report-query';
import type { SavedReportService } from '../domain/saved-report-service';
import { AppError, InputError } from '../errors';
import { namesOfConditions, tellsDonorsByName, type FileQuery, type QueryString } from '../file-query';
import type { RowStream } from '../row-stream';
import type { RequestContext } from './request-context';

/** Rows on their way into a file, and the totals of the same state. */
export interface ReportFile {
  readonly query: FileQuery;
  readonly selection: LineSelection;
  readonly rows: RowStream<unknown>;
  /** How many rows there will be. */
  readonly countRows: () => Promise<number>;
  readonly summary: DepositSummary;
  /** Whether the lines' digest may be told. */
  readonly hasDigest: boolean;
  /** Nothing may leave before this has resolved. */
  begin(format: string): Promise<ExportAccount>;
}

/** What a request asks for; read once the access was granted. */
type Read<Value> = () => Value;

interface ExportServices {
  readonly reports: DepositDetailService;
  readonly summaries: DepositSummaryService;
  readonly exports: ExportService;
  readonly savedReports: SavedReportService;
}

/** Reports as files. They are no part of the GraphQL schema, but their checks are the same. */
export class ExportResolver {
  constructor(
    private readonly services: ExportServices,
    /** What saved queries are of. */
    private readonly schema: GraphQLSchema,
  ) {}

  async depositDetails(read: Read<FileQuery>, context: RequestContext): Promise<ReportFile> {
    const granted = await context.access.assertReport();
    return this.lines(read(), granted, context);
  }

  async depositSummary(read: Read<FileQuery>, context: RequestContext): Promise<ReportFile> {
    const granted = await context.access.assertMember();
    return this.summary(read(), granted, context);
  }

  /** A saved report, its variables as an address gives them. Throws NOT_FOUND where the organization has none of this name. */
  async savedReport(name: string, read: Read<QueryString>, context: RequestContext): Promise<ReportFile> {
    const member = await context.access.assertMember();
    const { query, variables } = await this.services.savedReports.get(member.organization.id, name);
    const isSummary = toFileQuery(this.schema, { query, variables }).groupBy !== undefined;
    const granted = isSummary ? member : await context.access.assertReport();
    const file = toFileQuery(this.schema, { query, variables: { ...variables, ...toVariables(this.schema, query, read()) } });
    if ((file.groupBy !== undefined) !== isSummary) throw new InputError('these variables make another report of it');
    return isSummary ? this.summary(file, member, context) : this.lines(file, granted, context);
  }

  /** What became of an export, to those who may make it. Throws NOT_FOUND where the organization has none of this id. */
  async receipt(id: string, { access }: RequestContext): Promise<ExportRecord> {
    const { organization, mayReadDonors } = await access.assertMember();
    const record = UUID.test(id) ? await this.services.exports.find(organization.id, id) : null;
    if (!record) throw new AppError('NOT_FOUND');
    if (mayReadDonors) return record;
    if (record.report === 'deposit-details' || tellsDonorsByName(record.conditions)) throw new AppError('PRIVILEGE_NOT_FOUND');
    return { ...record, digest: null };
  }

  private lines(query: FileQuery, granted: SystemAccess, { snapshot }: RequestContext): ReportFile {
    const { reports, summaries } = this.services;
    const selection = toNarrowSelection(granted.organization.id, query.lines);
    const summary = summaries.summarize({ selection, groupBy: [], mayReadDonors: true }, snapshot);
    return {
      ...{ query, selection, summary, hasDigest: true },
      begin: (format) => this.begin('deposit-details', format, query, selection, granted),
      rows: reports.report(selection, snapshot),
      countRows: async () => (await summary.totals()).all.lines,
    };
  }

  private async summary(query: FileQuery, granted: MemberAccess, { access, snapshot }: RequestContext): Promise<ReportFile> {
    const { mayReadDonors } = granted;
    const groupBy = query.groupBy ?? [];
    const selection = await selectForTotals(access, granted, query.lines);
    const summary = this.services.summaries.summarize({ selection, groupBy, mayReadDonors }, snapshot);
    return {
      ...{ query, selection, summary, hasDigest: mayReadDonors },
      begin: (format) => this.begin('deposit-summary', format, query, selection, granted),
      rows: toSummaryRows(summary, groupBy),
      countRows: async () => (groupBy.length > 0 ? (await summary.groups()).length : 1),
    };
  }

  private begin(report: ExportRecord['report'], format: string, query: FileQuery, selection: LineSelection, granted: SystemAccess) {
    const exporter = { provisionId: granted.provisionId, username: usernameOf(granted) };
    return this.services.exports.begin(exporter, { report, format, selection, conditions: namesOfConditions(query) });
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Null for a provision that nobody has logged in under. */
const usernameOf = (access: SystemAccess & { readonly user?: { readonly username: string } }): string | null =>
  access.user?.username ?? null;
