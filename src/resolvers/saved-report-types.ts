import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Field, GraphQLISODateTime, ObjectType, registerEnumType } from 'type-graphql';
import type * as data from '../data/saved-report-store';
import type { FileFormat } from '../formats/file-format';
import { DepositSummary } from './deposit-summary-types';

const fileFormats = { CSV: 'csv', NDJSON: 'ndjson', JSON: 'json' } as const satisfies {
  [Format in FileFormat as Uppercase<Format>]: Format;
};
registerEnumType(fileFormats, {
  name: 'FileFormat',
  description: 'What a file is written in.',
  valuesConfig: {
    CSV: { description: 'RFC 4180, with a header record.' },
    NDJSON: { description: 'A JSON object on each line.' },
    JSON: { description: 'One JSON object, as v2 answers.' },
  },
});

const FORMAT = { defaultValue: 'csv', description: 'What it is written in.' } as const;

@ObjectType({ description: "All rows of a query's report as a file." })
export class ReportFile {
  constructor(
    private readonly addressOf: (format: FileFormat) => string,
    columns: readonly string[],
    summary: () => DepositSummary,
  ) {
    this.columns = columns;
    this.readSummary = summary;
  }

  private readonly readSummary: () => DepositSummary;

  @Field(() => [String], { description: "The file's columns." })
  readonly columns: readonly string[];

  @Field(() => String, { description: 'Its address on this gateway.' })
  path(@Arg('format', () => fileFormats, FORMAT) format: FileFormat): string {
    return this.addressOf(format);
  }

  @Field(() => DepositSummary, { description: 'Control totals of the lines that it is made of.' })
  summary(): DepositSummary {
    return this.readSummary();
  }
}

@ObjectType({ description: 'A query that the organization gave a name, by which its file keeps its address.' })
export class SavedReport implements Omit<data.SavedReport, 'variables'> {
  @Field(() => String, { simple: true, description: 'Its name.' })
  name!: string;

  @Field(() => String, { simple: true, description: 'A GraphQL query for lines or a summary of them.' })
  query!: string;

  @Field(() => GraphQLJSONObject, { simple: true, description: "Values of the query's variables; the file's address may give others." })
  variables!: Record<string, unknown>;

  @Field(() => GraphQLISODateTime, { simple: true, description: 'When it was saved.' })
  updatedAt!: Date;

  @Field(() => String, { simple: true, nullable: true, description: 'The user who saved it; null for the command line.' })
  updatedBy!: string | null;

  @Field(() => String, { description: "Its file's address on this gateway, to which variables may be added as parameters." })
  path(@Arg('format', () => fileFormats, FORMAT) format: FileFormat): string {
    return `/reports/${this.name}.${format}`;
  }
}
