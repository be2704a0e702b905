import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, GraphQLISODateTime, InputType, ObjectType, registerEnumType } from 'type-graphql';
import type { DataVersion as Version } from '../../data/books/book-store';
import { createConnectionType } from '../request/connection-types';
import { createOrderType } from '../request/order-types';
import { DecimalScalar } from '../request/scalars';

/** The causes of versions, by their names in GraphQL. */
const dataChangeEnum = {
  ...({ IMPORT: 'import', SYNC: 'sync', DEMO: 'demo', REPAIR: 'repair' } as const),
  ...({ CLOSE: 'close', REOPEN: 'reopen', ERASE: 'erase', PRUNE: 'prune' } as const),
} as const;
registerEnumType(dataChangeEnum, {
  name: 'DataChange',
  description: 'Cause of a change of the books.',
  valuesConfig: {
    IMPORT: { description: 'The import of a file.' },
    SYNC: { description: 'A reading of the old v2 service.' },
    DEMO: { description: 'The generated books of a demo.' },
    REPAIR: { description: 'The repair of lines after a correction in the database.' },
    CLOSE: { description: 'A close of months. No line changes.' },
    REOPEN: { description: 'The reopening of months. No line changes.' },
    ERASE: { description: 'The erasing of a donor: names, contact and memos are gone from all states. No money changes.' },
    PRUNE: { description: 'The end of old states, which can be asked for no more. No line changes.' },
  },
});

@ObjectType({
  simpleResolvers: true,
  description:
    "A version of the organization's books: the state after one change. Numbers begin with 1 and have no gaps. Every answer names its version in the header `X-Data-Version`.",
})
export class DataVersion implements Version {
  @Field(() => GraphQLSafeInt, { description: 'Number of the version.' })
  number!: number;

  @Field(() => GraphQLISODateTime, { description: 'Time of the change.' })
  recordedAt!: Date;

  @Field(() => dataChangeEnum, { description: 'Cause of the change.' })
  cause!: Version['cause'];

  @Field(() => Boolean, { description: 'True while the state can be asked for; false once it was pruned.' })
  isKept!: boolean;

  /** Personal, as is its SHA-256: a file may be named after a donor. */
  fileName!: string | null;
  fileSha256!: string | null;

  @Field(() => GraphQLSafeInt, { description: 'Number of lines that the change added.' })
  linesAdded!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of lines that the change altered.' })
  linesChanged!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of lines that the change removed.' })
  linesRemoved!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of lines in the books at this version, of posted and pending deposits.' })
  lines!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of transactions in the books at this version.' })
  transactions!: number;

  @Field(() => DecimalScalar, { description: 'Sum of the amounts at this version. Each transaction counts once.' })
  amount!: string;

  @Field(() => DecimalScalar, { description: 'Sum of the fees at this version. Each transaction counts once.' })
  feeAmount!: string;
}

@ObjectType({ simpleResolvers: true, description: 'The states of the books that can be asked for. Those that were pruned cannot.' })
export class History {
  @Field(() => DataVersion, { description: 'The earliest version whose state is kept.' })
  earliest!: DataVersion;

  @Field(() => DataVersion, { description: 'The latest version.' })
  latest!: DataVersion;
}

@ObjectType({ description: 'A page of data versions.' })
export class DataVersionConnection extends createConnectionType(DataVersion, 'data versions') {}

@InputType({ description: 'Conditions on data versions.' })
class DataVersionFilter {
  @Field(() => GraphQLSafeInt, { nullable: true, description: 'The first number, such as 13 for what has changed since version 12.' })
  fromNumber?: number | null;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'The last number.' })
  toNumber?: number | null;
}

const DataVersionOrder = createOrderType<'NUMBER'>('DataVersion', {
  items: 'data versions',
  valuesConfig: { NUMBER: { description: 'Number of the version.' } },
});

@ArgsType()
export class DataVersionListArgs {
  @Field(() => DataVersionFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: DataVersionFilter | null;

  @Field(() => DataVersionOrder, { nullable: true, description: 'Order of the versions; the newest first when it is not given.' })
  orderBy?: { readonly field: 'NUMBER'; readonly direction: 'ASC' | 'DESC' } | null;
}
