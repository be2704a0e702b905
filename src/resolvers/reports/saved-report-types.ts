import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { Arg, ArgsType, Field, GraphQLISODateTime, ID, Info, InputType, ObjectType, registerEnumType } from 'type-graphql';
import type * as data from '../../data/reports/saved-report-store';
import type * as domain from '../../domain/reports/deposit-summary-service';
import { toReportDocument } from '../../domain/reports/saved-report-service';
import type { FileFormat } from '../../values/file-formats';
import type { FindDates, PeriodName } from '../../values/periods';
import { MAX_NAME_LENGTH, MAX_TITLE_LENGTH } from '../../values/saved-report-limits';
import { toGlobalId } from '../../values/global-id';
import { DepositSummary } from './deposit-summary-types';
import { selectedPaths } from '../request/look-ahead';
import { Node } from '../request/node-types';
import { createOrderType } from '../request/order-types';
import { namedPeriodEnum } from '../request/period-types';

export const fileFormatEnum = { CSV: 'csv', NDJSON: 'ndjson', JSON: 'json' } as const satisfies {
  [Format in FileFormat as Uppercase<Format>]: Format;
};
registerEnumType(fileFormatEnum, {
  name: 'FileFormat',
  description: 'Format of a file.',
  valuesConfig: {
    CSV: { description: 'Comma-separated values (RFC 4180) with a header record.' },
    NDJSON: { description: 'One JSON object for each row, each on a line of its own.' },
    JSON: { description: 'One JSON object, `{"response":[…]}`, in the form of a v2 answer.' },
  },
});

export const FORMAT = { defaultValue: 'csv', description: 'Format of the file.' } as const;

export const DOWNLOAD_URL =
  'Link to the file on this gateway, for a browser, which can send no headers with a link. It is a path with a signature, good for `DOWNLOAD_LINK_MINUTES` (5) minutes and for this file alone. Whoever has it downloads the file with the rights of the caller who asked for it; it ends with the session, or with the provision of a request without one.';

@ObjectType({ description: 'A file with all rows of a query.' })
export class ReportFile {
  constructor(
    private readonly addressOf: (format: FileFormat) => string,
    private readonly linkTo: (format: FileFormat) => Promise<string>,
    columns: readonly string[],
    private readonly summarize: () => domain.DepositSummary,
  ) {
    this.columns = columns;
  }

  @Field(() => [String], { description: 'Names of the file\'s columns, such as `["amount", "designation"]`.' })
  readonly columns: readonly string[];

  @Field(() => String, {
    description:
      'Path of the file on this gateway, such as `/export/deposit-details.csv?start_date=2026-01-01&end_date=2026-01-31`. A request for it needs the same credentials.',
  })
  path(@Arg('format', () => fileFormatEnum, FORMAT) format: FileFormat): string {
    return this.addressOf(format);
  }

  @Field(() => String, { description: DOWNLOAD_URL })
  downloadUrl(@Arg('format', () => fileFormatEnum, FORMAT) format: FileFormat): Promise<string> {
    return this.linkTo(format);
  }

  @Field(() => DepositSummary, { description: "Control totals of the file's lines." })
  summary(@Info() info: GraphQLResolveInfo): DepositSummary {
    return new DepositSummary(this.summarize(), selectedPaths(info));
  }
}

/** The kind of a saved report in its global ID. */
export const SAVED_REPORT = 'SavedReport' as const;

@ObjectType({
  simpleResolvers: true,
  description: "A variable of a saved report's query. A parameter of the file's address sets another value: `?startDate=2026-02-01`.",
})
export class ReportParameter {
  @Field(() => String, { description: 'Name of the variable without its dollar sign, such as `"startDate"`.' })
  name!: string;

  @Field(() => String, { description: 'GraphQL type of the variable, such as `"LocalDate!"`.' })
  type!: string;

  @Field(() => GraphQLJSON, {
    nullable: true,
    description:
      "Value of the variable in the report's file: the saved one, or the date that the report's period has now, or else the default of the query; null when there is none.",
  })
  value?: unknown;
}

@ObjectType({
  implements: Node,
  description: 'A query that an organization saved under a name. The address of its file does not change when the query does.',
})
export class SavedReport extends Node implements Omit<data.SavedReport, 'variables'> {
  @Field(() => String, { simple: true, description: 'Name of the report, such as `"january-2026"`; unique within the organization.' })
  name!: string;

  @Field(() => String, { simple: true, description: 'Title of the report, such as `"Gifts of January"`; its name when it has no other.' })
  title!: string;

  @Field(() => String, { simple: true, description: 'The GraphQL query: it asks for lines of the report or for a summary.' })
  query!: string;

  @Field(() => GraphQLJSONObject, {
    simple: true,
    description:
      "Values of the query's variables. With a period, `startDate` and `endDate` are the dates that it has now. Parameters of the file's address replace them.",
  })
  variables!: Record<string, unknown>;

  @Field(() => namedPeriodEnum, {
    simple: true,
    nullable: true,
    description:
      'The period that gives the variables `startDate` and `endDate` their values anew each time; null when they have dates of their own.',
  })
  period!: PeriodName | null;

  @Field(() => GraphQLISODateTime, { simple: true, description: 'Time at which the report was last saved.' })
  updatedAt!: Date;

  @Field(() => String, {
    simple: true,
    nullable: true,
    description: 'Username of the user who last saved the report; null when the command line did.',
  })
  updatedBy!: string | null;

  @Field(() => String, {
    description:
      'Path of the file on this gateway, such as `/reports/january-2026.csv`. Variables may be added as parameters: `?startDate=2026-02-01`.',
  })
  path(@Arg('format', () => fileFormatEnum, FORMAT) format: FileFormat): string {
    return `/reports/${this.name}.${format}`;
  }
}

/** `findDates` gives the dates of the report's period. */
export const toSavedReport = (report: data.SavedReport, findDates: FindDates): SavedReport =>
  Object.assign(new SavedReport(), report, toReportDocument(report, findDates), { id: () => toGlobalId(SAVED_REPORT, report.name) });

const SavedReportOrder = createOrderType<NonNullable<data.SavedReportList['order']>['field']>('SavedReport', {
  items: 'saved reports',
  tie: 'name',
  valuesConfig: {
    NAME: { description: 'Name of the report.' },
    UPDATED_AT: { description: 'Time at which the report was last saved.' },
  },
});

@InputType({ description: 'Conditions on saved reports.' })
export class SavedReportFilter {
  @Field(() => [String], { nullable: true, description: 'Names of reports, such as `["january-2026"]`.' })
  names?: string[] | null;
}

@ArgsType()
export class SavedReportListArgs {
  @Field(() => SavedReportFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: SavedReportFilter | null;

  @Field(() => SavedReportOrder, { nullable: true, description: 'Order of the reports; by name when it is not given.' })
  orderBy?: data.SavedReportList['order'] | null;
}

export const QUERY = {
  description:
    'A GraphQL query that asks for `depositDetails`, `depositDetailsConnection` or `depositSummary`. The fields that it selects are the columns of the file.',
} as const;
export const VARIABLES = {
  nullable: true,
  description: 'Values of the query\'s variables, such as `{ "startDate": "2026-01-01", "endDate": "2026-01-31" }`.',
} as const;

@InputType({ description: 'A report to save.' })
export class SaveReportInput {
  @Field(() => String, {
    description: `Name of the report, part of its file's address: lower-case letters and digits with single hyphens between them, at most ${MAX_NAME_LENGTH} characters, such as \`january-2026\`.`,
  })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: `Title of the report, at most ${MAX_TITLE_LENGTH} characters, such as \`"Gifts of January"\`. Without it the title is the name.`,
  })
  title?: string | null;

  @Field(() => String, QUERY)
  query!: string;

  @Field(() => GraphQLJSONObject, VARIABLES)
  variables?: Record<string, unknown> | null;

  @Field(() => namedPeriodEnum, {
    nullable: true,
    description:
      'A period that gives the variables `startDate` and `endDate` of the query their values anew each time, in place of dates in `variables`. With `LAST_MONTH` the file has the month before that of its download.',
  })
  period?: PeriodName | null;

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description:
      'The `updatedAt` of the report of this name that is to be replaced. Without it there must be none. A report that was saved again since is not replaced.',
  })
  replaces?: Date | null;
}

@ObjectType({ description: 'The change that saving a report has made.' })
export class SaveReportPayload {
  @Field(() => SavedReport, { description: 'The report as it is saved now.' })
  report!: SavedReport;

  @Field(() => Boolean, { description: 'True when the report has replaced an earlier one; false when its name is new.' })
  replaced!: boolean;
}

@InputType({ description: 'A saved report to delete.' })
export class DeleteReportInput {
  @Field(() => ID, { description: 'Global ID of the report.' })
  id!: string;
}

@ObjectType({ description: 'The change that deleting a report has made.' })
export class DeleteReportPayload {
  @Field(() => ID, { description: 'Global ID of the report that is no more.' })
  deletedId!: string;
}
