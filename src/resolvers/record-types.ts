import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import type { LocalDate } from '../dates';
import type * as domain from '../domain/record-service';
import type { Money } from '../money';
import { createConnectionType } from './connection-types';
import { pendingChoices } from './line-selection-types';
import { DecimalScalar, LocalDateScalar } from './scalars';

export const depositStatuses = { POSTED: 'POSTED', PENDING: 'PENDING' } as const;
registerEnumType(depositStatuses, {
  name: 'DepositStatus',
  description: 'Where a deposit is on its way.',
  valuesConfig: { POSTED: { description: 'It has arrived.' }, PENDING: { description: 'It has not arrived yet.' } },
});

const simple = { simpleResolvers: true } as const;

@ObjectType({ ...simple, description: 'Money that arrived together. Edges lead to its transactions.' })
export class Deposit implements domain.DepositRecord {
  @Field(() => ID, { description: 'ID of the deposit; `depositId` of the report.' })
  id!: string;

  @Field(() => LocalDateScalar, { description: 'Date of the deposit.' })
  depositDate!: LocalDate;

  @Field(() => depositStatuses, { description: 'Whether it is posted or pending.' })
  status!: keyof typeof depositStatuses;
}

@ObjectType({ ...simple, description: 'A gift. Its amounts are of the whole gift, however many designations it is split over.' })
export class Transaction implements Omit<domain.TransactionRecord, 'donorId'> {
  @Field(() => ID, { description: 'ID of the transaction; `transactionId` of the report.' })
  id!: string;

  /** The edge `deposit` goes by it. */
  depositId!: string;
  /** The edge `donor` goes by it. */
  donorId!: number | null;

  @Field(() => LocalDateScalar, { description: 'Date of the transaction.' })
  transactionDate!: LocalDate;

  @Field(() => DecimalScalar, { description: 'Amount of the gift.' })
  amount!: Money;

  @Field(() => DecimalScalar, { description: 'Fee of the gift.' })
  feeAmount!: Money;

  @Field(() => DecimalScalar, { description: 'Amount less the fee.' })
  netAmount!: Money;

  @Field(() => String, { description: 'Status; may be empty.' })
  status!: string;

  @Field(() => String, { description: 'Type of account; may be empty.' })
  accountType!: string;

  @Field(() => String, { description: 'Type of payment; may be empty.' })
  paymentType!: string;

  /** Its field has a resolver that asks for the privilege. */
  mainMemo!: string | null;
}

@ObjectType({ ...simple, description: "A transaction's share in a designation: a line of the report." })
export class Allocation implements domain.AllocationRecord {
  @Field(() => ID, { description: 'ID of the allocation; `allocationId` of the report.' })
  id!: string;

  transactionId!: string;
  designationId!: number;
  designationName!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description:
      "The share's own amount: as the books state it, else all of the transaction's where it has no other allocation, else null.",
  })
  amount!: Money | null;

  @Field(() => Boolean, {
    description: 'Whether `amount` was inferred: the books state no share, and the transaction has no other allocation.',
  })
  amountInferred!: boolean;

  /** Its field has a resolver that asks for the privilege. */
  memo!: string | null;
}

@ObjectType({ ...simple, description: 'A fund that gifts are given to.' })
export class Designation implements domain.DesignationRecord {
  @Field(() => GraphQLSafeInt, { description: 'ID of the designation; `designationId` of the report.' })
  id!: number;

  @Field(() => String, { description: 'Name of the fund.' })
  name!: string;
}

@ObjectType({ ...simple, description: 'Who gave. Everything here is personal data and needs the privilege of the report.' })
export class Donor implements domain.DonorRecord {
  @Field(() => GraphQLSafeInt, { description: 'ID of the donor; `donorId` of the report.' })
  id!: number;

  @Field(() => String, { description: 'First name; may be empty.' })
  firstName!: string;

  @Field(() => String, { description: 'Last name; may be empty.' })
  lastName!: string;

  @Field(() => String, { description: 'First line of the address; may be empty.' })
  address1!: string;

  @Field(() => String, { description: 'Second line of the address; may be empty.' })
  address2!: string;

  @Field(() => String, { description: 'Third line of the address; may be empty.' })
  address3!: string;

  @Field(() => String, { description: 'City; may be empty.' })
  city!: string;

  @Field(() => String, { description: 'State; may be empty.' })
  state!: string;

  @Field(() => String, { description: 'Zip code; may be empty.' })
  zip!: string;

  @Field(() => String, { description: 'Phone number; may be empty.' })
  phone!: string;

  @Field(() => String, { description: 'Email address; may be empty.' })
  email!: string;
}

@ObjectType({ description: 'A page of deposits.' })
export class DepositConnection extends createConnectionType(Deposit, 'deposits') {}

@ObjectType({ description: 'A page of transactions.' })
export class TransactionConnection extends createConnectionType(Transaction, 'transactions') {}

@ObjectType({ description: 'A page of allocations.' })
export class AllocationConnection extends createConnectionType(Allocation, 'allocations') {}

@ObjectType({ description: 'A page of designations.' })
export class DesignationConnection extends createConnectionType(Designation, 'designations') {}

@ObjectType({ description: 'A page of donors.' })
export class DonorConnection extends createConnectionType(Donor, 'donors') {}

@ArgsType()
export class DepositsArgs implements domain.DepositParameters {
  @Field(() => LocalDateScalar, { nullable: true, description: 'First date of the deposits; any where there is none.' })
  startDate?: LocalDate | null;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Last date of the deposits; any where there is none.' })
  endDate?: LocalDate | null;

  @Field(() => pendingChoices, { defaultValue: 'WITHOUT', description: 'Pending deposits.' })
  pending!: keyof typeof pendingChoices;
}
