import { GraphQLJSONObject } from 'graphql-scalars';
import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, Info, Mutation, Query, Resolver } from 'type-graphql';
import { authorizeTotals, type DepositSummaryService } from '../domain/deposit-summary-service';
import { REPORT_PRIVILEGE } from '../domain/privileges';
import type { SavedReportService } from '../domain/saved-report-service';
import { InputError } from '../errors';
import { chosenColumns, formatFileQuery, type FileQuery } from '../formats/file-address';
import { SchemaReportDocuments } from './report-documents';
import type { RequestContext } from './request-context';
import { ReportFile, SavedReport } from './saved-report-types';

type Variables = Readonly<Record<string, unknown>>;
/** Node's HTTP server accepts at most 16 kB for the address and the headers together. */
const MAX_ADDRESS_LENGTH = 12_000;
const QUERY =
  'A GraphQL query that asks for `depositDetails`, `depositDetailsConnection` or `depositSummary`. The fields that it selects are the columns of the file.';
const VARIABLES = {
  nullable: true,
  description: 'Values of the query\'s variables, such as `{ "startDate": "2026-01-01", "endDate": "2026-01-31" }`.',
} as const;

@Resolver()
export class SavedReportResolver {
  constructor(
    private readonly service: SavedReportService,
    private readonly summaries: DepositSummaryService,
  ) {}

  @Query(() => ReportFile, {
    description:
      'The file with all rows of a query, in the order of the report, also when the query asks for a page. For every logged-in user and every API provision; a file of lines and conditions on donors need the privilege of the report.',
  })
  async reportFile(
    @Arg('query', () => String, { description: QUERY }) query: string,
    @Arg('variables', () => GraphQLJSONObject, VARIABLES) variables: Variables | null,
    @Ctx() { access, reader }: RequestContext,
    @Info() { schema }: GraphQLResolveInfo,
  ): Promise<ReportFile> {
    const member = await access.authorizeMember();
    const { mayReadDonors } = member;
    const file = new SchemaReportDocuments(schema).toFileQuery({ query, variables: variables ?? {} });
    if (!file.groupBy) await access.authorizeDonors();
    const lineSet = await authorizeTotals(access, member, file.lines, file.groupBy ?? []);
    const report = file.groupBy ? 'deposit-summary' : 'deposit-details';
    return new ReportFile(
      (format) => `/export/${report}.${format}?${toParameters(file)}`,
      Object.keys(chosenColumns(file)),
      () =>
        this.summaries.summarize({ lineSet, groupBy: file.groupBy ?? [], fiscalYearStart: file.fiscalYearStart, mayReadDonors }, reader),
    );
  }

  @Query(() => [SavedReport], {
    description: "The organization's saved reports in the order of their names, at most 500. Needs the privilege of the report.",
  })
  async savedReports(@Ctx() { access }: RequestContext): Promise<SavedReport[]> {
    const { organization } = await access.authorizeDonors();
    return (await this.service.list(organization.id)).map(toType);
  }

  @Mutation(() => SavedReport, {
    description:
      'Saves a query under a name, so that its file has a lasting address. An earlier report of this name is replaced. Needs a logged-in user with the privilege of the report.',
  })
  async saveReport(
    @Arg('name', () => String, {
      description:
        "Name of the report, part of its file's address: lower-case letters and digits with single hyphens between them, at most 80 characters, such as `january-2026`.",
    })
    name: string,
    @Arg('query', () => String, { description: QUERY }) query: string,
    @Arg('variables', () => GraphQLJSONObject, VARIABLES) variables: Variables | null,
    @Ctx() { access }: RequestContext,
    @Info() { schema }: GraphQLResolveInfo,
  ): Promise<SavedReport> {
    const { organization, user } = await access.authorizeSession(REPORT_PRIVILEGE);
    const report = { name, query, variables: variables ?? {}, updatedBy: user.username };
    return toType(await this.service.save(organization.id, report, new SchemaReportDocuments(schema)));
  }

  @Mutation(() => Boolean, {
    description:
      'Deletes a saved report and answers true; NOT_FOUND when the organization has none of this name. Needs a logged-in user with the privilege of the report.',
  })
  async deleteReport(
    @Arg('name', () => String, { description: 'Name of the report, such as `january-2026`.' }) name: string,
    @Ctx() { access }: RequestContext,
  ): Promise<boolean> {
    const { organization } = await access.authorizeSession(REPORT_PRIVILEGE);
    await this.service.delete(organization.id, name);
    return true;
  }
}

function toParameters(file: FileQuery): string {
  const parameters = formatFileQuery(file);
  if (parameters.length <= MAX_ADDRESS_LENGTH) return parameters;
  throw new InputError(
    `the address of its file would have ${parameters.length} characters; narrow it by fewer values, or save it as a report`,
    'query',
  );
}

const toType = (report: Awaited<ReturnType<SavedReportService['list']>>[number]): SavedReport => Object.assign(new SavedReport(), report);
