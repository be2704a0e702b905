import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, InputType, registerEnumType } from 'type-graphql';
import type { LineFilterInput, PendingChoice } from '../formats/line-conditions';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import { DecimalScalar, LocalDateScalar } from './scalars';

/** GraphQL's enum. */
export const pendingEnum = { WITH: 'WITH', WITHOUT: 'WITHOUT', ONLY: 'ONLY' } as const satisfies { [Choice in PendingChoice]: Choice };
registerEnumType(pendingEnum, {
  name: 'PendingChoice',
  description: 'What becomes of pending deposits.',
  valuesConfig: {
    WITH: { description: 'Posted and pending deposits.' },
    WITHOUT: { description: 'Posted deposits alone.' },
    ONLY: { description: 'Pending deposits alone.' },
  },
});

@InputType({ description: 'A range of dates, both ends included; without an end it is open.' })
export class LocalDateRange {
  @Field(() => LocalDateScalar, { nullable: true, description: 'First date.' })
  from?: LocalDate | null;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Last date.' })
  to?: LocalDate | null;
}

@InputType({ description: 'A range of amounts, both ends included; without an end it is open.' })
export class DecimalRange {
  @Field(() => DecimalScalar, { nullable: true, description: 'Least amount.' })
  min?: Money | null;

  @Field(() => DecimalScalar, { nullable: true, description: 'Greatest amount.' })
  max?: Money | null;
}

@InputType({ description: 'Narrows the lines: all conditions that are given must hold, of a list one value.' })
export class DepositDetailFilter implements LineFilterInput {
  @Field(() => LocalDateRange, { nullable: true, description: 'Date of the transaction.' })
  transactionDate?: LocalDateRange | null;

  @Field(() => [String], { nullable: true, description: 'IDs of deposits, at most 1000, as in every list here.' })
  depositIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'IDs of transactions.' })
  transactionIds?: string[] | null;

  @Field(() => [GraphQLSafeInt], { nullable: true, description: 'IDs of designations.' })
  designationIds?: number[] | null;

  @Field(() => [GraphQLSafeInt], { nullable: true, description: 'IDs of donors; 0 stands for none. Needs the privilege of the report.' })
  donorIds?: number[] | null;

  @Field(() => [String], { nullable: true, description: 'Statuses of transactions.' })
  statuses?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Types of account.' })
  accountTypes?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'Types of payment.' })
  paymentTypes?: string[] | null;

  @Field(() => DecimalRange, { nullable: true, description: 'Amount of the whole transaction.' })
  amount?: DecimalRange | null;

  @Field(() => pendingEnum, { nullable: true, description: 'Pending deposits; decides instead of `includePending` where it is given.' })
  pending?: PendingChoice | null;

  @Field(() => String, {
    nullable: true,
    description: "How the donor's last name begins, or first and last name. Case does not count. Needs the privilege of the report.",
  })
  donorName?: string | null;
}

// A condition without a field fails the build here.
({}) satisfies { [Name in Exclude<keyof LineFilterInput, keyof DepositDetailFilter>]: never };
