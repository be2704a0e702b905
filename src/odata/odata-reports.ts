import {
  toReportDocument,
  type ReportDocument,
  type ReportDocuments,
  type SavedReportService,
} from '../domain/reports/saved-report-service';
import { InputError } from '../errors';
import { namesOfConditions, reportOf, type FileQuery } from '../formats/file-address';
import { tellsDonorsByName } from '../formats/line-groups';
import type { RequestContext } from '../resolvers/request/request-context';
import { datesAt } from '../values/periods';

/** A saved report by its name, and the lines or groups that its file is of. */
interface NamedQuery {
  readonly name: string;
  readonly query: FileQuery;
}

/** The saved reports that callers may read with the values that they were saved with. */
export class ReadableReports {
  constructor(
    private readonly savedReports: SavedReportService,
    private readonly documents: ReportDocuments,
  ) {}

  /**
   * A provision that is bound to reports has those; any other caller has all reports of its organization, with the privilege of the report
   * alone, as their list in GraphQL: a name may tell of a donor. Throws an AppError.
   */
  async list({ access, receivedAt }: RequestContext): Promise<readonly NamedQuery[]> {
    const names = await access.caller.findBoundReports();
    if (names[0] !== undefined) access.caller.openReport(names[0]);
    const member = await access.authorizeMember();
    if (names.length === 0 && !access.openDonorData()) return [];
    const saved = await this.savedReports.list(member.organization.id, names.length === 0 ? {} : { names });
    const findDates = datesAt(member.organization, receivedAt);
    return saved.flatMap((report) => {
      const query = this.findQuery(toReportDocument(report, findDates));
      return query && (member.mayReadDonors || !tellsLinesOrDonors(query)) ? [{ name: report.name, query }] : [];
    });
  }

  /** The file of a document; undefined for one that needs values, or that the schema no longer knows. */
  private findQuery(document: ReportDocument): FileQuery | undefined {
    try {
      return this.documents.toFileQuery(document);
    } catch (error) {
      if (error instanceof InputError) return undefined;
      throw error;
    }
  }
}

const tellsLinesOrDonors = (query: FileQuery): boolean =>
  reportOf(query) !== 'deposit-summary' || tellsDonorsByName(namesOfConditions(query));
