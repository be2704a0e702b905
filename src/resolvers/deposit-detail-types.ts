import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, ObjectType } from 'type-graphql';
import type { LocalDate } from '../dates';
import type { ReportParameters } from '../domain/deposit-detail-service';
import type { Money } from '../money';
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

/** Every field is a column of the report's view under the same name (contract section 2.1, in camelCase). */
@ObjectType({
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

  @Field(() => DecimalScalar, { nullable: true, description: "The allocation's own share of the amount, where it is known." })
  allocationAmount!: Money | null;
}
