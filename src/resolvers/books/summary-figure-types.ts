import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, Float, ObjectType } from 'type-graphql';
import type * as domain from '../../domain/reports/summary-figures';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import { DecimalScalar, LocalDateScalar } from '../request/scalars';

const simple = { simpleResolvers: true } as const;

/** The descriptions of the parts of figures. */
export const figureDescriptions = {
  all: 'Totals of all lines of the set. Pending deposits are among them only when `pending` asks for them.',
  posted: 'Totals of the lines of posted deposits.',
  pending: 'Totals of the lines of pending deposits; zero unless pending deposits are asked for.',
  compared: 'Totals of the same in the period of `compareWith`; null without it.',
  change: 'Change of `all` since the period of `compareWith`; null without it.',
} as const;
const PERCENTAGE =
  'The difference as a percentage of the compared figure, rounded to two decimals, such as 12.5; null where that figure is zero or negative.';

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

  @Field(() => LocalDateScalar, {
    nullable: true,
    description:
      'First date of the lines: that of a deposit, or that of a transaction (gift) with `dateBasis: TRANSACTION_DATE`. Null where there are no lines.',
  })
  firstGift!: LocalDate | null;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Last date of the lines, of the same dates as `firstGift`.' })
  lastGift!: LocalDate | null;
}

@ObjectType({ ...simple, description: 'Change of a number from the compared period to the period.' })
export class CountChange implements domain.CountChange {
  @Field(() => GraphQLSafeInt, { description: 'The number minus the compared number.' })
  difference!: number;

  @Field(() => Float, { nullable: true, description: PERCENTAGE })
  percentage!: number | null;
}

@ObjectType({ ...simple, description: 'Change of an amount from the compared period to the period.' })
export class AmountChange implements domain.AmountChange {
  @Field(() => DecimalScalar, { description: 'The amount minus the compared amount.' })
  difference!: Money;

  @Field(() => Float, { nullable: true, description: PERCENTAGE })
  percentage!: number | null;
}

@ObjectType({ ...simple, description: 'Change of totals from the compared period to the period.' })
export class SummaryChange implements domain.SummaryChange {
  @Field(() => CountChange, { description: 'Change of the number of lines.' })
  lines!: CountChange;

  @Field(() => CountChange, { description: 'Change of the number of transactions (gifts).' })
  transactions!: CountChange;

  @Field(() => AmountChange, { description: 'Change of `byLine.amount`.' })
  amountByLine!: AmountChange;

  @Field(() => AmountChange, { description: 'Change of `byTransaction.amount`.' })
  amountByTransaction!: AmountChange;

  @Field(() => AmountChange, { description: 'Change of `byTransaction.netAmount`.' })
  netAmountByTransaction!: AmountChange;

  @Field(() => AmountChange, {
    nullable: true,
    description: 'Change of `byAllocation.amount`; null where a share of one of the periods is unknown.',
  })
  amountByAllocation!: AmountChange | null;
}

@ObjectType({ ...simple, description: 'Totals of posted and pending deposits, together and apart.' })
export class SummaryParts implements domain.SummaryParts {
  @Field(() => SummaryTotals, { description: figureDescriptions.all })
  all!: SummaryTotals;

  @Field(() => SummaryTotals, { description: figureDescriptions.posted })
  posted!: SummaryTotals;

  @Field(() => SummaryTotals, { description: figureDescriptions.pending })
  pending!: SummaryTotals;
}

@ObjectType({ ...simple })
export abstract class SummaryFigures extends SummaryParts implements domain.SummaryFigures {
  @Field(() => SummaryParts, { nullable: true, description: figureDescriptions.compared })
  compared!: SummaryParts | null;

  @Field(() => SummaryChange, { nullable: true, description: figureDescriptions.change })
  change!: SummaryChange | null;
}
