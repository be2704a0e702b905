import type { GraphQLResolveInfo } from 'graphql';
import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Field, GraphQLISODateTime, Info, ObjectType, registerEnumType } from 'type-graphql';
import type * as data from '../data/saved-report-store';
import type * as domain from '../domain/deposit-summary-service';
import type { FileFormat } from '../formats/file-format';
import { DepositSummary } from './deposit-summary-types';
import { selectedPaths } from './look-ahead';

const fileFormatEnum = { CSV: 'csv', NDJSON: 'ndjson', JSON: 'json' } as const satisfies {
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

const FORMAT = { defaultValue: 'csv', description: 'Format of the file.' } as const;

@ObjectType({ description: 'A file with all rows of a query.' })
export class ReportFile {
  constructor(
    private readonly addressOf: (format: FileFormat) => string,
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

  @Field(() => DepositSummary, { description: "Control totals of the file's lines." })
  summary(@Info() info: GraphQLResolveInfo): DepositSummary {
    return new DepositSummary(this.summarize(), selectedPaths(info));
  }
}

@ObjectType({
  description: 'A query that an organization saved under a name. The address of its file does not change when the query does.',
})
export class SavedReport implements Omit<data.SavedReport, 'variables'> {
  @Field(() => String, { simple: true, description: 'Name of the report, such as `"january-2026"`; unique within the organization.' })
  name!: string;

  @Field(() => String, { simple: true, description: 'The GraphQL query: it asks for lines of the report or for a summary.' })
  query!: string;

  @Field(() => GraphQLJSONObject, {
    simple: true,
    description: "Values of the query's variables. Parameters of the file's address replace them.",
  })
  variables!: Record<string, unknown>;

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
