import { GraphQLJSONObject } from 'graphql-scalars';
import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Args, Ctx, FieldResolver, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { BookService } from '../../domain/books/book-service';
import { authorizeTotals, toGrouping, type DepositSummaryService } from '../../domain/reports/deposit-summary-service';
import { REPORT_PRIVILEGE } from '../../values/privileges';
import type { LinkService } from '../../domain/access/link-service';
import type { SavedReportService } from '../../domain/reports/saved-report-service';
import { AppError, InputError } from '../../errors';
import { asOfNames, type AsOf } from '../../formats/as-of';
import type { FileFormat } from '../../values/file-formats';
import { chosenColumns, type FileQuery } from '../../formats/file-address';
import { toFileAddress } from '../../formats/link-address';
import type { LineSet } from '../../data/books/line-set';
import type { RequestBooks } from '../../data/books/request-books';
import { AsOfInput, FILE_AS_OF, toAsOf } from '../request/as-of-types';
import { fromGlobalId } from '../../values/global-id';
import { datesAt } from '../../values/periods';
import { SchemaReportDocuments } from './report-documents';
import { toUser, type RequestContext } from '../request/request-context';
import {
  DeleteReportInput,
  DOWNLOAD_URL,
  fileFormatEnum,
  FORMAT,
  DeleteReportPayload,
  ReportFile,
  ReportParameter,
  SAVED_REPORT,
  SavedReport,
  SavedReportListArgs,
  SaveReportInput,
  SaveReportPayload,
  QUERY,
  toSavedReport,
  VARIABLES,
} from './saved-report-types';

type Variables = Readonly<Record<string, unknown>>;

@Resolver(() => SavedReport)
export class SavedReportResolver {
  constructor(
    private readonly service: SavedReportService,
    private readonly summaries: DepositSummaryService,
    private readonly links: LinkService,
    private readonly books: BookService,
  ) {}

  @Query(() => ReportFile, {
    description:
      'The file with all rows of a query, in the order of the report, also when the query asks for a page: of its lines, of their changes or of a summary. For every logged-in user and every API provision; a file of lines or changes and conditions on donors need the privilege of the report.',
  })
  async reportFile(
    @Arg('query', () => String, QUERY) query: string,
    @Arg('variables', () => GraphQLJSONObject, VARIABLES) variables: Variables | null,
    @Arg('asOf', () => AsOfInput, FILE_AS_OF) asOf: AsOfInput | null,
    @Ctx() { access, books }: RequestContext,
    @Info() { schema }: GraphQLResolveInfo,
  ): Promise<ReportFile> {
    const member = await access.authorizeMember();
    const { mayReadDonors } = member;
    const file = inState(new SchemaReportDocuments(schema).toFileQuery({ query, variables: variables ?? {} }), toAsOf(asOf));
    if (!file.groupBy) await access.authorizeDonors();
    const narrowed = await authorizeTotals(access, member, file.lines, toGrouping(file));
    const lineSet = await this.findLines(narrowed, file, asOf ? 'asOf' : 'query', books);
    return new ReportFile(
      (format) => toShortAddress(file, format),
      (format) => this.links.sign(toShortAddress(file, format), access),
      Object.keys(chosenColumns(file)),
      () => this.summaries.summarize({ lineSet, ...toGrouping(file), mayReadDonors }, books),
    );
  }

  @Query(() => [SavedReport], {
    description: "The organization's saved reports, at most 500. Needs the privilege of the report.",
  })
  async savedReports(
    @Args() { filter, orderBy }: SavedReportListArgs,
    @Ctx() { access, receivedAt }: RequestContext,
  ): Promise<SavedReport[]> {
    const { organization } = await access.authorizeDonors();
    const list = { names: filter?.names ?? undefined, order: orderBy ?? undefined };
    const findDates = datesAt(organization, receivedAt);
    return (await this.service.list(organization.id, list)).map((report) => toSavedReport(report, findDates));
  }

  @FieldResolver(() => String, { description: DOWNLOAD_URL })
  downloadUrl(
    @Root() report: SavedReport,
    @Arg('format', () => fileFormatEnum, FORMAT) format: FileFormat,
    @Ctx() { access }: RequestContext,
  ): Promise<string> {
    return this.links.sign(report.path(format), access);
  }

  @FieldResolver(() => [ReportParameter], { description: "The variables of the report's query, at most 50." })
  parameters(@Root() { query, variables }: SavedReport, @Info() { schema }: GraphQLResolveInfo): ReportParameter[] {
    return new SchemaReportDocuments(schema).parameters({ query, variables });
  }

  @Mutation(() => SaveReportPayload, {
    description:
      'Saves a query under a name, so that its file has a lasting address. Fails with REPORT_CONFLICT, which says who saved a report of this name and when, unless `replaces` has that time. Needs a logged-in user with the privilege of the report.',
  })
  async saveReport(
    @Arg('input', () => SaveReportInput, { description: 'The report.' })
    { name, title, query, variables, period, replaces }: SaveReportInput,
    @Ctx() context: RequestContext,
    @Info() { schema }: GraphQLResolveInfo,
  ): Promise<SaveReportPayload> {
    const { organization, user } = await context.access.authorizeSession(REPORT_PRIVILEGE);
    const report = { name, title: title ?? undefined, query, variables: variables ?? {}, updatedBy: user.username };
    const others = { period: period ?? undefined, replaces: replaces ?? undefined };
    const saved = await this.service.save(
      organization.id,
      { ...report, ...others },
      new SchemaReportDocuments(schema),
      await toUser(context),
    );
    return { report: toSavedReport(saved, datesAt(organization, context.receivedAt)), replaced: Boolean(replaces) };
  }

  @Mutation(() => DeleteReportPayload, {
    description:
      'Deletes a saved report; NOT_FOUND when the organization has none with this ID. Needs a logged-in user with the privilege of the report.',
  })
  async deleteReport(
    @Arg('input', () => DeleteReportInput, { description: 'The report to delete.' }) { id }: DeleteReportInput,
    @Ctx() context: RequestContext,
  ): Promise<DeleteReportPayload> {
    const { organization } = await context.access.authorizeSession(REPORT_PRIVILEGE);
    const found = fromGlobalId(id);
    if (found?.kind !== SAVED_REPORT) throw new AppError('NOT_FOUND', { argument: 'id' });
    await this.service.delete(organization.id, found.id, await toUser(context));
    return { deletedId: id };
  }

  /**
   * The lines whose totals a file tells: those of its state, which an argument names, or those after its changes. Throws as
   * `BookService.inState`.
   */
  private async findLines(lineSet: LineSet, { lines, changes }: FileQuery, argument: string, books: RequestBooks): Promise<LineSet> {
    if (!changes) return this.books.inState(lineSet, lines.asOf, books, { name: asOfNames.operation, argument });
    const { to } = await this.books.between(lineSet, changes, books, 'query');
    return { ...lineSet, state: to };
  }
}

/** The file in the state that a caller asks for beside its query. Throws INVALID_PARAMETERS where the query names a state itself. */
function inState(file: FileQuery, asOf: AsOf | undefined): FileQuery {
  if (!asOf) return file;
  if (file.lines.asOf || file.changes) throw new InputError('asOf: the query names its state itself', 'asOf');
  return { ...file, lines: { ...file.lines, asOf } };
}

function toShortAddress(file: FileQuery, format: FileFormat): string {
  const { address, isTooLong } = toFileAddress(file, format);
  if (!isTooLong) return address;
  throw new InputError(
    `the address of its file would have ${address.length} characters; narrow it by fewer values, or save it as a report`,
    'query',
  );
}
