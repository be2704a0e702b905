import type { SystemAccess } from '../domain/access-service';
import {
  toReportPeriod,
  toSelection,
  type DepositDetailLine,
  type DepositDetailService,
  type LineSelection,
} from '../domain/deposit-detail-service';
import type { DepositSummary, DepositSummaryService } from '../domain/deposit-summary-service';
import type { ExportAccount, ExportRecord, ExportService } from '../domain/export-service';
import { toLineFilter } from '../domain/line-filter';
import { AppError } from '../errors';
import type { RowStream } from '../row-stream';
import type { LineSelectionArgs } from './deposit-detail-types';
import type { RequestContext } from './request-context';

/** What a file is asked for. */
export interface FileRequest {
  readonly lines: LineSelectionArgs;
  readonly format: string;
  /** The names of the conditions that narrow it. */
  readonly conditions: readonly string[];
}

/** Lines on their way into a file, and the totals of the same state. */
export interface LineFile {
  readonly selection: LineSelection;
  readonly rows: RowStream<DepositDetailLine>;
  readonly summary: DepositSummary;
  /** Nothing may leave before this has resolved. */
  begin(): Promise<ExportAccount>;
}

/** Whole reports as files. They are no part of the GraphQL schema, but their checks are the same. */
export class ExportResolver {
  constructor(
    private readonly reports: DepositDetailService,
    private readonly summaries: DepositSummaryService,
    private readonly exports: ExportService,
  ) {}

  /** The parameters are read once the access was granted. */
  async depositDetails(toRequest: () => FileRequest, { access, snapshot }: RequestContext): Promise<LineFile> {
    const granted = await access.assertReport();
    const { lines, format, conditions } = toRequest();
    const { filter, ...period } = lines;
    const { pending, ...dates } = toReportPeriod(period);
    const selection = toSelection(granted.organization.id, { ...dates, pending: filter?.pending ?? pending }, toLineFilter(filter));
    return {
      selection,
      begin: () => this.exports.begin(toExporter(granted), { report: 'deposit-details', format, selection, conditions }),
      rows: this.reports.report(selection, snapshot),
      summary: this.summaries.summarize({ selection, groupBy: [], mayReadDonors: true }, snapshot),
    };
  }

  /** What became of an export, to those who may make it. Throws NOT_FOUND where the organization has none of this id. */
  async receipt(id: string, { access }: RequestContext): Promise<ExportRecord> {
    const { organization } = await access.assertReport();
    const record = UUID.test(id) ? await this.exports.find(organization.id, id) : null;
    if (!record) throw new AppError('NOT_FOUND');
    return record;
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const toExporter = (access: SystemAccess & { readonly user?: { readonly username: string } }) => ({
  provisionId: access.provisionId,
  username: access.user?.username ?? null,
});
