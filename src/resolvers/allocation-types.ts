import { Field, ObjectType } from 'type-graphql';
import type { AllocationEntity } from '../data/entity-store';
import type { Money } from '../values/money';
import { createConnectionType } from './connection-types';
import { Node } from './node-types';
import { DecimalScalar } from './scalars';

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
    description: 'True when `amount` was inferred: the books state no share, and the transaction has no other allocation.',
  })
  amountInferred!: boolean;

  /** AllocationResolver defines the GraphQL field, because it checks the privilege. */
  memo!: string | null;
}

@ObjectType({ description: 'A page of allocations.' })
export class AllocationConnection extends createConnectionType(Allocation, 'allocations') {}
