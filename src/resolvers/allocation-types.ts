import { Field, ID, ObjectType } from 'type-graphql';
import type { AllocationEntity } from '../data/entity-store';
import type { Money } from '../values/money';
import { createConnectionType } from './connection-types';
import { DecimalScalar } from './scalars';

@ObjectType({ simpleResolvers: true, description: "A transaction's share in a designation: a line of the report." })
export class Allocation implements AllocationEntity {
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

@ObjectType({ description: 'A page of allocations.' })
export class AllocationConnection extends createConnectionType(Allocation, 'allocations') {}
