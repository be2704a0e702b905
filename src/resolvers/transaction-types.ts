import { Field, ID, ObjectType } from 'type-graphql';
import type { TransactionEntity } from '../data/entity-store';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import { createConnectionType } from './connection-types';
import { DecimalScalar, LocalDateScalar } from './scalars';

@ObjectType({
  simpleResolvers: true,
  description: 'A gift. Its amounts are of the whole gift, however many designations it is split over.',
})
export class Transaction implements Omit<TransactionEntity, 'donorId'> {
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

@ObjectType({ description: 'A page of transactions.' })
export class TransactionConnection extends createConnectionType(Transaction, 'transactions') {}
