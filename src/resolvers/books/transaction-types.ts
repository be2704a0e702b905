import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, InputType, ObjectType } from 'type-graphql';
import type { TransactionEntity } from '../../data/reports/entity-store';
import type { EntityOrder } from '../../formats/entity-lists';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import { createConnectionType } from '../request/connection-types';
import { DecimalRange, LocalDateRange } from '../request/line-filter-types';
import { Node } from '../request/node-types';
import { createOrderType } from '../request/order-types';
import { DecimalScalar, LocalDateScalar } from '../request/scalars';

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

@InputType({
  description:
    'Conditions on transactions (gifts). A transaction must meet all conditions that are given, and one value of each list. A list has at most 1000 values.',
})
export class TransactionFilter {
  @Field(() => [String], { nullable: true, description: 'IDs of transactions in the books, such as `["T1", "T2"]`.' })
  transactionIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'IDs of their deposits in the books, such as `["1043", "1044"]`.' })
  depositIds?: string[] | null;

  @Field(() => [GraphQLSafeInt], {
    nullable: true,
    description: 'IDs of designations (funds), such as `[3, 4]`. A transaction meets it when one of its allocations goes to one of them.',
  })
  designationIds?: number[] | null;

  @Field(() => [GraphQLSafeInt], {
    nullable: true,
    description: 'IDs of donors. 0 finds gifts without a donor. Needs the privilege of the report.',
  })
  donorIds?: number[] | null;

  @Field(() => LocalDateRange, { nullable: true, description: 'Range of the transaction date.' })
  transactionDate?: LocalDateRange | null;

  @Field(() => DecimalRange, { nullable: true, description: 'Range of the amount of the whole gift.' })
  amount?: DecimalRange | null;
}

const TransactionOrder = createOrderType<EntityOrder<'transaction'>['field']>('Transaction', {
  items: 'transactions',
  tie: 'ID',
  valuesConfig: {
    DATE: { description: 'Date of the transaction.' },
    ID: { description: 'ID of the transaction in the books. Text is compared by its bytes, so that `"10"` comes before `"9"`.' },
    AMOUNT: { description: 'Amount of the whole gift.' },
  },
});

@ArgsType()
export class TransactionListArgs {
  @Field(() => TransactionFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: TransactionFilter | null;

  @Field(() => TransactionOrder, { nullable: true, description: 'Order of the transactions.' })
  orderBy?: EntityOrder<'transaction'> | null;
}
