import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import type { DepositEntity } from '../../data/reports/entity-store';
import type { EntityOrder } from '../../formats/entity-lists';
import type { LocalDate } from '../../values/dates';
import { createConnectionType } from '../request/connection-types';
import { DecimalRange } from '../request/line-filter-types';
import { Node } from '../request/node-types';
import { createOrderType } from '../request/order-types';
import { PeriodArgs } from '../request/period-types';
import { LocalDateScalar } from '../request/scalars';

export const depositStatusEnum = { POSTED: 'POSTED', PENDING: 'PENDING' } as const;
registerEnumType(depositStatusEnum, {
  name: 'DepositStatus',
  description: 'Status of a deposit.',
  valuesConfig: {
    POSTED: { description: 'The bank has the deposit.' },
    PENDING: { description: 'The deposit is still on its way to the bank.' },
  },
});

@ObjectType({ implements: Node, simpleResolvers: true, description: 'Transactions (gifts) that went to the bank together.' })
export class Deposit extends Node implements DepositEntity {
  @Field(() => String, { description: 'ID of the deposit in the books, unique among the organization\'s deposits, such as `"1043"`.' })
  depositId!: string;

  @Field(() => LocalDateScalar, { description: 'Date of the deposit, such as `"2026-01-31"`.' })
  depositDate!: LocalDate;

  @Field(() => depositStatusEnum, { description: 'Status of the deposit: posted or pending.' })
  status!: keyof typeof depositStatusEnum;
}

@ObjectType({ description: 'A page of deposits.' })
export class DepositConnection extends createConnectionType(Deposit, 'deposits') {}

@InputType({
  description:
    'Conditions on deposits. A deposit must meet all conditions that are given, and one value of each list. A list has at most 1000 values.',
})
export class DepositFilter {
  @Field(() => [String], { nullable: true, description: 'IDs of deposits in the books, such as `["1043", "1044"]`.' })
  depositIds?: string[] | null;

  @Field(() => [GraphQLSafeInt], {
    nullable: true,
    description: 'IDs of designations (funds), such as `[3, 4]`. A deposit meets it when one of its allocations goes to one of them.',
  })
  designationIds?: number[] | null;

  @Field(() => DecimalRange, {
    nullable: true,
    description: 'Range of the amount of the deposit: the sum of its transactions, each counted once.',
  })
  amount?: DecimalRange | null;
}

const DepositOrder = createOrderType<EntityOrder<'deposit'>['field']>('Deposit', {
  items: 'deposits',
  tie: 'ID',
  valuesConfig: {
    DATE: { description: 'Date of the deposit.' },
    ID: { description: 'ID of the deposit in the books. Text is compared by its bytes, so that `"10"` comes before `"9"`.' },
    AMOUNT: { description: 'Amount of the deposit: the sum of its transactions, each counted once.' },
    STATUS: { description: 'Status of the deposit, posted before pending, then its date.' },
  },
});

@ArgsType()
export class DepositListArgs extends PeriodArgs {
  @Field(() => DepositFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: DepositFilter | null;

  @Field(() => DepositOrder, { nullable: true, description: 'Order of the deposits; by date when it is not given.' })
  orderBy?: EntityOrder<'deposit'> | null;
}
