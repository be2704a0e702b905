import { Field, ObjectType } from 'type-graphql';
import type { TransactionEntity } from '../data/entity-store';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import { createConnectionType } from './connection-types';
import { Node } from './node-types';
import { DecimalScalar, LocalDateScalar } from './scalars';

@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'A gift. Its amounts are those of the whole gift, also when it is split over several designations.',
})
export class Transaction extends Node implements Omit<TransactionEntity, 'donorId'> {
  @Field(() => String, {
    description: 'ID of the transaction in the books, unique among the organization\'s transactions, such as `"T1"`.',
  })
  transactionId!: string;

  /** The id that the edge `deposit` follows. */
  depositId!: string;
  /** The id that the edge `donor` follows; null when the gift has no donor. */
  donorId!: number | null;

  @Field(() => LocalDateScalar, { description: 'Date of the transaction, such as `"2026-01-30"`.' })
  transactionDate!: LocalDate;

  @Field(() => DecimalScalar, { description: 'Amount of the whole gift, such as `"100.00"`.' })
  amount!: Money;

  @Field(() => DecimalScalar, { description: 'Fee of the whole gift, such as `"2.50"`.' })
  feeAmount!: Money;

  @Field(() => DecimalScalar, { description: 'Amount of the whole gift minus its fee.' })
  netAmount!: Money;

  @Field(() => String, { description: 'Status of the transaction as the books name it, such as `"Complete"`; may be empty.' })
  status!: string;

  @Field(() => String, { description: 'Type of account that the gift came from, such as `"Checking"`; may be empty.' })
  accountType!: string;

  @Field(() => String, { description: 'Type of payment, such as `"ACH"` or `"Check"`; may be empty.' })
  paymentType!: string;

  /** TransactionResolver defines the GraphQL field, because it checks the privilege. */
  mainMemo!: string | null;
}

@ObjectType({ description: 'A page of transactions.' })
export class TransactionConnection extends createConnectionType(Transaction, 'transactions') {}
