import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, InputType, registerEnumType } from 'type-graphql';
import type { LineFilterInput, PendingChoice } from '../../formats/line-conditions';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import { DecimalScalar, LocalDateScalar } from './scalars';

export const pendingEnum = { WITH: 'WITH', WITHOUT: 'WITHOUT', ONLY: 'ONLY' } as const satisfies { [Choice in PendingChoice]: Choice };
registerEnumType(pendingEnum, {
  name: 'PendingChoice',
  description: 'Chooses posted deposits, pending deposits or both.',
  valuesConfig: {
    WITH: { description: 'Posted and pending deposits.' },
    WITHOUT: { description: 'Posted deposits alone.' },
    ONLY: { description: 'Pending deposits alone.' },
  },
});

@InputType({ description: 'A range of dates. Both ends are included; an end that is missing does not bound it.' })
export class LocalDateRange {
  @Field(() => LocalDateScalar, { nullable: true, description: 'First date of the range, such as `"2026-01-01"`.' })
  from?: LocalDate | null;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Last date of the range, such as `"2026-01-31"`.' })
  to?: LocalDate | null;
}

@InputType({ description: 'A range of amounts. Both ends are included; an end that is missing does not bound it.' })
export class DecimalRange {
  @Field(() => DecimalScalar, { nullable: true, description: 'Smallest amount of the range, such as `"100.00"`.' })
  min?: Money | null;

  @Field(() => DecimalScalar, { nullable: true, description: 'Greatest amount of the range, such as `"250.00"`.' })
  max?: Money | null;
}

@InputType({
  description:
    'Conditions that narrow the lines. A line must meet all conditions that are given. A line meets a list of values when it has one of them, so no line meets an empty list. A list has at most 1000 values.',
})
export class DepositDetailFilter implements LineFilterInput {
  @Field(() => LocalDateRange, { nullable: true, description: 'Range of the transaction date.' })
  transactionDate?: LocalDateRange | null;

  @Field(() => [String], { nullable: true, description: 'IDs of deposits, such as `["1043", "1044"]`.' })
  depositIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'IDs of transactions, such as `["T1", "T2"]`.' })
  transactionIds?: string[] | null;

  @Field(() => [GraphQLSafeInt], { nullable: true, description: 'IDs of designations (funds), such as `[3, 4]`.' })
  designationIds?: number[] | null;

  @Field(() => [GraphQLSafeInt], {
    nullable: true,
    description: 'IDs of donors. 0 finds gifts without a donor. Needs the privilege of the report.',
  })
  donorIds?: number[] | null;

  @Field(() => [String], { nullable: true, description: 'Statuses of transactions, such as `["Complete"]`. Upper and lower case differ.' })
  statuses?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Types of account, such as `["Checking", "Savings"]`. Upper and lower case differ.',
  })
  accountTypes?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Types of payment, such as `["ACH", "Check"]`. Upper and lower case differ.' })
  paymentTypes?: string[] | null;

  @Field(() => DecimalRange, { nullable: true, description: 'Range of the amount of the whole transaction.' })
  amount?: DecimalRange | null;

  @Field(() => String, {
    nullable: true,
    description:
      "Beginning of a word of the donor's names, and the words that follow: `smi`, `ada smi` and `smith a` all find Ada Smith. Case and accents do not matter: `muller` finds Müller. A word ends at any character that is no letter, mark or number: `bob` finds Robert (Bob). Each word of the search needs a word of its own. Needs the privilege of the report.",
  })
  donorName?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'True for the late lines alone: their money has changed since their month was closed. False for all others.',
  })
  late?: boolean | null;
}

// The build fails here when a condition has no field in DepositDetailFilter.
({}) satisfies { [Name in Exclude<keyof LineFilterInput, keyof DepositDetailFilter>]: never };
