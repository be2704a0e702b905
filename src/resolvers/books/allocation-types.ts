import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, InputType, ObjectType } from 'type-graphql';
import type { AllocationEntity } from '../../data/reports/entity-store';
import type { EntityOrder } from '../../formats/entity-lists';
import type { Money } from '../../values/money';
import { createConnectionType } from '../request/connection-types';
import { Node } from '../request/node-types';
import { createOrderType } from '../request/order-types';
import { DecimalScalar } from '../request/scalars';

@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'The part of a transaction that goes to one designation. Each allocation is one line of the report.',
})
export class Allocation extends Node implements AllocationEntity {
  @Field(() => String, {
    description: 'ID of the allocation in the books, unique among the organization\'s allocations, such as `"A1"`.',
  })
  allocationId!: string;

  transactionId!: string;
  designationId!: number;
  designationName!: string;

  @Field(() => DecimalScalar, {
    nullable: true,
    description:
      'The allocation\'s own share of the transaction\'s amount, such as `"40.00"` of a gift of 100.00: the share that the books state; otherwise the whole amount when the transaction has no other allocation; otherwise null, because the share is unknown.',
  })
  amount!: Money | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'True when `amount` was inferred: the books state no share, and the transaction has no other allocation. False when the books state it, null when it is unknown.',
  })
  amountInferred!: boolean | null;

  /** AllocationResolver defines the GraphQL field, because it checks the privilege. */
  memo!: string | null;
}

@ObjectType({ description: 'A page of allocations.' })
export class AllocationConnection extends createConnectionType(Allocation, 'allocations') {}

@InputType({
  description:
    'Conditions on allocations. An allocation must meet all conditions that are given, and one value of each list. A list has at most 1000 values.',
})
export class AllocationFilter {
  @Field(() => [String], { nullable: true, description: 'IDs of allocations in the books, such as `["A1", "A2"]`.' })
  allocationIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'IDs of their transactions in the books, such as `["T1", "T2"]`.' })
  transactionIds?: string[] | null;

  @Field(() => [String], { nullable: true, description: 'IDs of their deposits in the books, such as `["1043", "1044"]`.' })
  depositIds?: string[] | null;

  @Field(() => [GraphQLSafeInt], { nullable: true, description: 'IDs of designations (funds), such as `[3, 4]`.' })
  designationIds?: number[] | null;
}

const AllocationOrder = createOrderType<EntityOrder<'allocation'>['field']>('Allocation', {
  items: 'allocations',
  tie: 'ID',
  valuesConfig: {
    ID: { description: 'ID of the allocation in the books. Text is compared by its bytes, so that `"10"` comes before `"9"`.' },
    TRANSACTION: { description: 'ID of the transaction in the books.' },
    DESIGNATION: { description: 'ID of the designation in the books.' },
  },
});

@ArgsType()
export class AllocationListArgs {
  @Field(() => AllocationFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: AllocationFilter | null;

  @Field(() => AllocationOrder, { nullable: true, description: 'Order of the allocations; by ID when it is not given.' })
  orderBy?: EntityOrder<'allocation'> | null;
}
