import { GraphQLSafeInt } from 'graphql-scalars';
import { Ctx, Field, ObjectType, registerEnumType } from 'type-graphql';
import type * as domain from '../domain/deposit-summary-service';
import type { GroupBy, GroupKey } from '../formats/line-groups';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import type { RequestContext } from './request-context';
import { DecimalScalar, LocalDateScalar } from './scalars';

export const groupByEnum = {
  DAY: 'DAY',
  WEEK: 'WEEK',
  MONTH: 'MONTH',
  DESIGNATION: 'DESIGNATION',
  STATUS: 'STATUS',
  ACCOUNT_TYPE: 'ACCOUNT_TYPE',
  PAYMENT_TYPE: 'PAYMENT_TYPE',
} as const satisfies { [By in GroupBy]: By };
registerEnumType(groupByEnum, {
  name: 'GroupBy',
  description: 'What lines are grouped by.',
  valuesConfig: {
    DAY: { description: 'Date of the deposit.' },
    WEEK: { description: 'Week of the deposit, by its Monday (ISO 8601).' },
    MONTH: { description: 'Month of the deposit, by its first day.' },
    DESIGNATION: { description: 'Designation of the allocation.' },
    STATUS: { description: 'Status of the transaction.' },
    ACCOUNT_TYPE: { description: 'Type of account.' },
    PAYMENT_TYPE: { description: 'Type of payment.' },
  },
});

const simple = { simpleResolvers: true } as const;

@ObjectType({ ...simple, description: 'Exact sums of whole transactions, over one grain of the lines.' })
export class SummaryAmounts implements domain.SummaryAmounts {
  @Field(() => DecimalScalar, { description: 'Sum of amounts.' })
  amount!: Money;

  @Field(() => DecimalScalar, { description: 'Sum of fees.' })
  feeAmount!: Money;

  @Field(() => DecimalScalar, { description: 'Sum of amounts less fees.' })
  netAmount!: Money;
}

@ObjectType({ ...simple, description: "Sums of the allocations' own shares, as far as they are known or can be inferred." })
export class AllocationAmounts implements domain.AllocationAmounts {
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Sum of the shares that are known or inferred; null where there are shares and none of them is.',
  })
  amount!: Money | null;

  @Field(() => GraphQLSafeInt, { description: 'How many allocations have a share that the books state.' })
  known!: number;

  @Field(() => GraphQLSafeInt, { description: 'How many are the only allocation of their gift, and so have all of its amount.' })
  inferred!: number;

  @Field(() => GraphQLSafeInt, { description: 'How many have a share that is not known: the sum lacks them.' })
  unknown!: number;
}

@ObjectType({ ...simple, description: 'Counts and sums of the lines selected.' })
export class SummaryTotals implements domain.SummaryTotals {
  @Field(() => GraphQLSafeInt, { description: 'How many lines: one for each allocation.' })
  lines!: number;

  @Field(() => GraphQLSafeInt, { description: 'How many transactions they belong to.' })
  transactions!: number;

  @Field(() => GraphQLSafeInt, { description: 'How many deposits.' })
  deposits!: number;

  /** Its field has a resolver that keeps it. */
  donors!: number | null;

  @Field(() => GraphQLSafeInt, { description: 'How many transactions have several of the lines.' })
  splitTransactions!: number;

  @Field(() => SummaryAmounts, { description: 'Each line with its whole transaction: a split gift counts once for each of its lines.' })
  byLine!: SummaryAmounts;

  @Field(() => SummaryAmounts, {
    description: 'Each transaction once: the money that came in. A group has the whole of each: over designations add up `byAllocation`.',
  })
  byTransaction!: SummaryAmounts;

  @Field(() => AllocationAmounts, { description: 'Each allocation with its own share.' })
  byAllocation!: AllocationAmounts;
}

@ObjectType({ ...simple, description: 'What the lines of a group have in common; null for what they are not grouped by.' })
export class SummaryGroupKey implements GroupKey {
  @Field(() => LocalDateScalar, { nullable: true, description: 'Date of the deposits.' })
  day?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: "The week's Monday." })
  week?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: "The month's first day." })
  month?: LocalDate;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'ID of the designation.' })
  designationId?: number;

  @Field(() => String, { nullable: true, description: 'Name of the designation.' })
  designation?: string;

  @Field(() => String, { nullable: true, description: 'Status of the transactions.' })
  status?: string;

  @Field(() => String, { nullable: true, description: 'Type of account.' })
  accountType?: string;

  @Field(() => String, { nullable: true, description: 'Type of payment.' })
  paymentType?: string;
}

@ObjectType({ ...simple, description: 'Totals of the lines that have something in common.' })
export class SummaryGroup implements domain.SummaryGroup {
  @Field(() => SummaryGroupKey, { description: 'What they have in common.' })
  key!: SummaryGroupKey;

  @Field(() => SummaryTotals, { description: 'Posted and pending deposits together.' })
  all!: SummaryTotals;

  @Field(() => SummaryTotals, { description: 'Posted deposits alone.' })
  posted!: SummaryTotals;

  @Field(() => SummaryTotals, { description: 'Pending deposits alone.' })
  pending!: SummaryTotals;
}

/** What the fields of a summary read; nothing is read that was not asked for. */
@ObjectType({ description: 'Control totals of the lines selected, all of one state of the data.' })
export class DepositSummary {
  constructor(private readonly summary: domain.DepositSummary) {}

  @Field(() => SummaryTotals, { description: 'Posted and pending deposits together.' })
  async all(): Promise<SummaryTotals> {
    return (await this.summary.totals()).all;
  }

  @Field(() => SummaryTotals, { description: 'Posted deposits alone.' })
  async posted(): Promise<SummaryTotals> {
    return (await this.summary.totals()).posted;
  }

  @Field(() => SummaryTotals, { description: 'Pending deposits alone.' })
  async pending(): Promise<SummaryTotals> {
    return (await this.summary.totals()).pending;
  }

  @Field(() => [SummaryGroup], {
    description: 'The same for each group, in order; none without `groupBy`, an error where they are more than 2000.',
  })
  groups(): Promise<SummaryGroup[]> {
    return this.summary.groups();
  }

  @Field(() => String, {
    nullable: true,
    description:
      'SHA-256, in hex, of the lines in report order, each as its v2 JSON object followed by LF. Needs the privilege of the report.',
  })
  async digest(@Ctx() { access }: RequestContext): Promise<string> {
    await access.authorizeDonors();
    return this.summary.digest();
  }
}

// A column of a group's key without a field fails the build here.
({}) satisfies { [Field in Exclude<keyof GroupKey, keyof SummaryGroupKey>]: never };
