import { GraphQLSafeInt } from 'graphql-scalars';
import { Arg, ArgsType, Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import type { LineOrder } from '../data/deposit-detail-store';
import type { ReportParameters } from '../domain/deposit-detail-service';
import type * as domain from '../domain/deposit-summary-service';
import type { Page } from '../domain/keyset-page';
import type { GroupBy } from '../formats/line-groups';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import { createConnectionType } from './connection-types';
import { DepositSummary, groupByEnum } from './deposit-summary-types';
import { depositStatuses } from './deposit-types';
import { DepositDetailFilter } from './line-filter-types';
import { DecimalScalar, LocalDateScalar } from './scalars';

@ArgsType()
export class DepositDetailsArgs implements ReportParameters {
  // Unknown, not text: the v2 door hands over what it was sent, and the domain decides for every door.
  @Field(() => LocalDateScalar, { description: 'First deposit date of the report.' })
  startDate: unknown;

  @Field(() => LocalDateScalar, { description: 'Last deposit date of the report.' })
  endDate: unknown;

  @Field(() => Boolean, { defaultValue: false, description: 'Whether pending deposits are included.' })
  includePending: unknown;
}

const orderFields = { DATE: 'DATE', AMOUNT: 'AMOUNT', DONOR_NAME: 'DONOR_NAME', DESIGNATION: 'DESIGNATION' } as const satisfies {
  [Field in LineOrder['field']]: Field;
};
registerEnumType(orderFields, {
  name: 'DepositDetailOrderField',
  description: 'What lines are put in order by.',
  valuesConfig: {
    DATE: { description: 'Deposit date, deposit, transaction, allocation: the order of the report.' },
    AMOUNT: { description: 'Amount of the transaction.' },
    DONOR_NAME: { description: 'Last and first name of the donor.' },
    DESIGNATION: { description: 'Name of the designation.' },
  },
});
const orderDirections = { ASC: 'ASC', DESC: 'DESC' } as const;
registerEnumType(orderDirections, {
  name: 'OrderDirection',
  description: 'Which way an order goes.',
  valuesConfig: { ASC: { description: 'From the least.' }, DESC: { description: 'From the greatest.' } },
});

@InputType({ description: 'An order of lines. Equal ones follow each other by allocation.' })
export class DepositDetailOrder implements LineOrder {
  @Field(() => orderFields, { description: 'What they are put in order by.' })
  field!: LineOrder['field'];

  @Field(() => orderDirections, { defaultValue: 'ASC', description: 'Which way.' })
  direction!: LineOrder['direction'];
}

/** Which lines: a period, and what narrows it. */
@ArgsType()
export class LineArgs extends DepositDetailsArgs {
  @Field(() => DepositDetailFilter, { nullable: true, description: 'Narrows the lines.' })
  filter?: DepositDetailFilter | null;
}

/** Every field is a column of the report's view under the same name (contract section 2.1, in camelCase). */
@ObjectType({
  simpleResolvers: true,
  description:
    "A line of the deposit report: one allocation with its transaction, deposit, designation, and the donor's contact information.",
})
export class DepositDetail {
  @Field(() => String, { description: 'ID of the deposit; may repeat across lines.' })
  depositId!: string;

  @Field(() => LocalDateScalar, { description: 'Date of the transaction.' })
  transactionDate!: LocalDate;

  @Field(() => LocalDateScalar, { description: 'Date of the deposit.' })
  depositDate!: LocalDate;

  @Field(() => String, { description: 'ID of the transaction.' })
  transactionId!: string;

  @Field(() => String, { description: 'ID of the allocation.' })
  allocationId!: string;

  @Field(() => GraphQLSafeInt, { description: 'ID of the donor; 0 where there is none.' })
  donorId!: number;

  @Field(() => String, { description: 'First name of the donor; empty where there is none.' })
  donorFirstName!: string;

  @Field(() => String, { description: 'Last name of the donor; empty where there is none.' })
  donorLastName!: string;

  @Field(() => String, { description: "First line of the donor's address." })
  address1!: string;

  @Field(() => String, { description: "Second line of the donor's address." })
  address2!: string;

  @Field(() => String, { description: "Third line of the donor's address." })
  address3!: string;

  @Field(() => String, { description: "City of the donor's address." })
  city!: string;

  @Field(() => String, { description: "State of the donor's address." })
  state!: string;

  @Field(() => String, { description: "Zip code of the donor's address." })
  zip!: string;

  @Field(() => String, { description: 'Phone number of the donor.' })
  phone!: string;

  @Field(() => String, { description: 'Email address of the donor.' })
  emailAddress!: string;

  @Field(() => DecimalScalar, { description: 'Amount of the whole transaction: a split gift repeats it on each of its lines.' })
  amount!: Money;

  @Field(() => DecimalScalar, { description: 'Fee of the whole transaction.' })
  feeAmount!: Money;

  @Field(() => DecimalScalar, { description: 'Amount of the whole transaction less its fee.' })
  netAmount!: Money;

  @Field(() => String, { description: 'Status of the transaction; may be empty.' })
  status!: string;

  @Field(() => String, { description: 'Type of account; may be empty.' })
  accountType!: string;

  @Field(() => String, { description: 'Type of payment; may be empty.' })
  paymentType!: string;

  @Field(() => GraphQLSafeInt, { description: 'ID of the designation.' })
  designationId!: number;

  @Field(() => String, { description: 'Name of the designation.' })
  designation!: string;

  @Field(() => String, { description: 'Memo of the designation; may be empty.' })
  designationMemo!: string;

  @Field(() => String, { description: 'Main memo of the transaction; may be empty.' })
  mainMemo!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description:
      "The allocation's own share of the amount: as the books state it, else all of it where the gift has no other allocation, else null.",
  })
  allocationAmount!: Money | null;

  @Field(() => Boolean, {
    description: 'Whether `allocationAmount` was inferred: the books state no share, and the gift has no other allocation.',
  })
  allocationAmountInferred!: boolean;

  @Field(() => depositStatuses, { description: 'Whether the deposit is posted or pending.' })
  depositStatus!: keyof typeof depositStatuses;
}

/** What the connection's fields read; nothing is read that was not asked for. */
export interface DepositDetailConnectionSource extends Page<DepositDetail> {
  summarize(groupBy: readonly GroupBy[]): domain.DepositSummary;
}

@ObjectType({ description: 'A page of lines of the deposit report.' })
export class DepositDetailConnection extends createConnectionType(DepositDetail, 'lines') implements DepositDetailConnectionSource {
  readonly summarize!: DepositDetailConnectionSource['summarize'];

  @Field(() => DepositSummary, { description: 'Control totals of the lines on all pages.' })
  summary(
    @Arg('groupBy', () => [groupByEnum], { defaultValue: [], description: 'What the groups have in common.' }) groupBy: GroupBy[],
  ): DepositSummary {
    return new DepositSummary(this.summarize(groupBy));
  }
}
