import { GraphQLSafeInt } from 'graphql-scalars';
import { Ctx, Field, ObjectType, registerEnumType } from 'type-graphql';
import type * as domain from '../domain/deposit-summary-service';
import { findCounts } from '../domain/deposit-summary-service';
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
  description: 'A value that the lines of a group have in common.',
  valuesConfig: {
    DAY: { description: 'Date of the deposit.' },
    WEEK: { description: 'Week of the deposit date, named by its Monday (ISO 8601), such as 2026-01-05.' },
    MONTH: { description: 'Month of the deposit date, named by its first day, such as 2026-01-01.' },
    DESIGNATION: { description: 'Designation (fund) of the allocation.' },
    STATUS: { description: 'Status of the transaction, such as "Complete".' },
    ACCOUNT_TYPE: { description: 'Type of account, such as "Checking".' },
    PAYMENT_TYPE: { description: 'Type of payment, such as "ACH".' },
  },
});

const simple = { simpleResolvers: true } as const;
/** The beginning of the paths of the values of groups. */
const GROUPS = 'groups.';

@ObjectType({ ...simple, description: 'Exact sums of the amounts of whole transactions.' })
export class SummaryAmounts implements domain.SummaryAmounts {
  @Field(() => DecimalScalar, { description: 'Sum of the amounts, such as `"1234.50"`.' })
  amount!: Money;

  @Field(() => DecimalScalar, { description: 'Sum of the fees.' })
  feeAmount!: Money;

  @Field(() => DecimalScalar, { description: 'Sum of the amounts minus the sum of the fees.' })
  netAmount!: Money;
}

@ObjectType({
  ...simple,
  description:
    "Sum of the allocations' own shares, and the number of shares that are known, inferred and unknown. The three numbers add up to `lines`.",
})
export class AllocationAmounts implements domain.AllocationAmounts {
  @Field(() => DecimalScalar, {
    nullable: true,
    description:
      'Sum of the known and inferred shares. It lacks the unknown ones, and is null when there are shares and all of them are unknown.',
  })
  amount!: Money | null;

  @Field(() => GraphQLSafeInt, { description: 'Number of allocations whose share the books state.' })
  known!: number;

  @Field(() => GraphQLSafeInt, {
    description:
      'Number of allocations whose share was inferred: each is the only allocation of its gift, so its share is the whole amount.',
  })
  inferred!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of allocations whose share is unknown. The sum lacks them.' })
  unknown!: number;
}

@ObjectType({
  ...simple,
  description:
    'Counts and sums of a set of lines. A gift of 100.00 that is split over two funds has two lines: it counts 200.00 in `byLine`, 100.00 in `byTransaction`, and with its own shares in `byAllocation`.',
})
export class SummaryTotals implements domain.SummaryTotals {
  @Field(() => GraphQLSafeInt, { description: 'Number of lines. Each allocation has one.' })
  lines!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of different transactions (gifts) of the lines.' })
  transactions!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of different deposits of the lines.' })
  deposits!: number | null;

  /** SummaryTotalsResolver defines the GraphQL field, because it checks the privilege. */
  donors!: number | null;

  @Field(() => GraphQLSafeInt, { description: 'Number of transactions that have more than one of the lines.' })
  splitTransactions!: number;

  @Field(() => SummaryAmounts, {
    description:
      'Sums over the lines, each with the amount of its whole transaction: a split gift counts once for each of its lines. This is what adding up the lines of the report gives.',
  })
  byLine!: SummaryAmounts;

  @Field(() => SummaryAmounts, {
    description:
      'Sums over the transactions, each counted once: the money that came in. Groups by designation repeat a gift that is split over several of them, so do not add the groups up; `byAllocation` does add up.',
  })
  byTransaction!: SummaryAmounts;

  @Field(() => AllocationAmounts, {
    description:
      'Sums over the allocations, each with its own share: the money of each designation, and the only sums that add up over groups by designation.',
  })
  byAllocation!: AllocationAmounts;
}

@ObjectType({
  ...simple,
  description: 'The values that the lines of a group have in common. A field is null when `groupBy` does not name it.',
})
export class SummaryGroupKey implements GroupKey {
  @Field(() => LocalDateScalar, { nullable: true, description: 'Date of the deposits, with `groupBy: [DAY]`.' })
  day?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Monday of the week, with `groupBy: [WEEK]`.' })
  week?: LocalDate;

  @Field(() => LocalDateScalar, { nullable: true, description: 'First day of the month, with `groupBy: [MONTH]`.' })
  month?: LocalDate;

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'ID of the designation, with `groupBy: [DESIGNATION]`.' })
  designationId?: number;

  @Field(() => String, { nullable: true, description: 'Name of the designation, with `groupBy: [DESIGNATION]`.' })
  designation?: string;

  @Field(() => String, { nullable: true, description: 'Status of the transactions, with `groupBy: [STATUS]`; may be empty.' })
  status?: string;

  @Field(() => String, { nullable: true, description: 'Type of account, with `groupBy: [ACCOUNT_TYPE]`; may be empty.' })
  accountType?: string;

  @Field(() => String, { nullable: true, description: 'Type of payment, with `groupBy: [PAYMENT_TYPE]`; may be empty.' })
  paymentType?: string;
}

@ObjectType({ ...simple, description: 'Totals of a group of lines.' })
export class SummaryGroup implements domain.SummaryGroup {
  @Field(() => SummaryGroupKey, { description: 'The values that the lines of the group have in common.' })
  key!: SummaryGroupKey;

  @Field(() => SummaryTotals, {
    description: 'Totals of all lines of the set. Pending deposits are among them only when `includePending` or `pending` asks for them.',
  })
  all!: SummaryTotals;

  @Field(() => SummaryTotals, { description: 'Totals of the lines of posted deposits.' })
  posted!: SummaryTotals;

  @Field(() => SummaryTotals, { description: 'Totals of the lines of pending deposits; zero unless pending deposits are asked for.' })
  pending!: SummaryTotals;
}

/** The totals and the digest are read only when a query selects them. */
@ObjectType({ description: 'Control totals of a set of lines. All values come from one state of the data.' })
export class DepositSummary {
  private readonly totals: () => ReturnType<domain.DepositSummary['totals']>;

  /** `selected` are the paths of the values that the operation asks for. */
  constructor(
    private readonly summary: domain.DepositSummary,
    private readonly selected: readonly string[],
  ) {
    this.totals = () => summary.totals(findCounts(selected.filter((path) => !path.startsWith(GROUPS))));
  }

  @Field(() => SummaryTotals, {
    description: 'Totals of all lines of the set. Pending deposits are among them only when `includePending` or `pending` asks for them.',
  })
  async all(): Promise<SummaryTotals> {
    return (await this.totals()).all;
  }

  @Field(() => SummaryTotals, { description: 'Totals of the lines of posted deposits.' })
  async posted(): Promise<SummaryTotals> {
    return (await this.totals()).posted;
  }

  @Field(() => SummaryTotals, { description: 'Totals of the lines of pending deposits; zero unless pending deposits are asked for.' })
  async pending(): Promise<SummaryTotals> {
    return (await this.totals()).pending;
  }

  @Field(() => [SummaryGroup], {
    description:
      "Totals of each group, in the order of the groups' keys. The list is empty without `groupBy`. More than 2000 groups are an error: choose a shorter period or group by less.",
  })
  groups(): Promise<SummaryGroup[]> {
    return this.summary.groups(findCounts(this.selected.filter((path) => path.startsWith(GROUPS))));
  }

  @Field(() => String, {
    nullable: true,
    description:
      'SHA-256 in hex of the lines in the order of the report, each as its v2 JSON object followed by a line feed (LF). `deposit-gateway export --format ndjson --columns v2 | sha256sum` prints the same for the same lines. Needs the privilege of the report.',
  })
  async digest(@Ctx() { access }: RequestContext): Promise<string> {
    await access.authorizeDonors();
    return this.summary.digest();
  }
}

// The build fails here when a column of the group key has no field in SummaryGroupKey.
({}) satisfies { [Field in Exclude<keyof GroupKey, keyof SummaryGroupKey>]: never };
