import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, GraphQLISODateTime, InputType, ObjectType } from 'type-graphql';
import type * as data from '../../data/books/period-store';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import { createConnectionType } from '../request/connection-types';
import { DecimalScalar, LocalDateScalar } from '../request/scalars';

@ObjectType({
  simpleResolvers: true,
  description:
    'A month that a close closed, or the part of one, with the figures that its report had then: those of the lines of posted deposits.',
})
export class ClosedMonth implements data.ClosedMonth {
  @Field(() => LocalDateScalar, { description: 'First deposit date.' })
  startDate!: LocalDate;

  @Field(() => LocalDateScalar, { description: 'Last deposit date.' })
  endDate!: LocalDate;

  @Field(() => GraphQLSafeInt, { description: 'Number of lines.' })
  lines!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of transactions (gifts).' })
  transactions!: number;

  @Field(() => GraphQLSafeInt, { description: 'Number of deposits.' })
  deposits!: number;

  @Field(() => DecimalScalar, {
    description: 'Sum of the amounts over the lines. A split transaction counts once for each of its lines.',
  })
  lineAmount!: Money;

  @Field(() => DecimalScalar, { description: 'Sum of the amounts of the transactions, each counted once.' })
  transactionAmount!: Money;

  @Field(() => DecimalScalar, {
    nullable: true,
    description: "Sum of the allocations' own shares that are known or inferred; null when there are lines and no share is known.",
  })
  allocationAmount!: Money | null;

  @Field(() => GraphQLSafeInt, { description: 'Number of unknown shares.' })
  unknownAllocations!: number;

  /** Whoever knows all of a line but its donor could try donors until the digest fits. */
  digest!: string;

  @Field(() => String, { description: 'SHA-256, in hex, of the money of the lines as a summary has it.' })
  moneyDigest!: string;
}

@ObjectType({
  simpleResolvers: true,
  description:
    "A close of the organization's months up to a date. It is a data version of its own, so that `asOf` with that version gives the report as it was closed. A close stays when it is reopened.",
})
export class PeriodClose implements data.PeriodClose {
  @Field(() => GraphQLSafeInt, { description: 'Number of the data version that closed.' })
  version!: number;

  @Field(() => LocalDateScalar, { description: 'Last deposit date that is closed.' })
  through!: LocalDate;

  @Field(() => GraphQLISODateTime, { description: 'Time of the close.' })
  closedAt!: Date;

  @Field(() => String, {
    nullable: true,
    description: "User who closed; the label of the provision where nobody was logged in, or the operator's account of a command.",
  })
  closedBy!: string | null;

  /** A free text, which may name a donor, as may the reason. */
  note!: string | null;
  reopenReason!: string | null;

  @Field(() => GraphQLSafeInt, {
    nullable: true,
    description: 'Number of the data version that reopened; null while the close is in force.',
  })
  reopenedVersion!: number | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time of the reopening; null while the close is in force.' })
  reopenedAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'User or operator who reopened, named as in `closedBy`; null while the close is in force.',
  })
  reopenedBy!: string | null;

  @Field(() => [ClosedMonth], {
    description: 'The months that it closed, in order, at most 360: from the day after the date that was closed before, or the first line.',
  })
  months!: readonly ClosedMonth[];
}

@ObjectType({ description: 'A page of closes.' })
export class PeriodCloseConnection extends createConnectionType(PeriodClose, 'closes') {}

@InputType({ description: 'Months to close.' })
export class ClosePeriodInput {
  @Field(() => LocalDateScalar, {
    description: 'Last deposit date to close, such as `"2026-10-31"`. It must be later than `closedThrough`, and not in the future.',
  })
  through!: LocalDate;

  @Field(() => String, { nullable: true, description: 'A note to keep with the close, at most 1000 characters.' })
  note?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'The close that was made.' })
export class ClosePeriodPayload {
  @Field(() => PeriodClose, { description: 'The close with the figures of its months.' })
  close!: PeriodClose;
}

@InputType({ description: 'A close to reopen.' })
export class ReopenPeriodInput {
  @Field(() => LocalDateScalar, { description: 'Date of the close, its `through`. Every later close is reopened too.' })
  through!: LocalDate;

  @Field(() => String, { description: 'The reason, which is kept with the closes, at most 1000 characters.' })
  reason!: string;
}

@ObjectType({ simpleResolvers: true, description: 'The closes that were reopened.' })
export class ReopenPeriodPayload implements data.Reopened {
  @Field(() => GraphQLSafeInt, { description: 'Number of the data version that reopened them.' })
  version!: number;

  @Field(() => [LocalDateScalar], { description: 'Dates of the closes, in order.' })
  reopened!: readonly LocalDate[];

  @Field(() => LocalDateScalar, { nullable: true, description: 'Last deposit date that is closed now; null where none is.' })
  closedThrough!: LocalDate | null;
}
