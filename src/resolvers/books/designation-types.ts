import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, InputType, ObjectType } from 'type-graphql';
import type { DesignationEntity } from '../../data/reports/entity-store';
import type { EntityOrder } from '../../formats/entity-lists';
import { createConnectionType } from '../request/connection-types';
import { Node } from '../request/node-types';
import { createOrderType } from '../request/order-types';

@ObjectType({ implements: Node, simpleResolvers: true, description: 'A fund that gifts are given to, such as "Building Fund".' })
export class Designation extends Node implements DesignationEntity {
  @Field(() => GraphQLSafeInt, { description: "ID of the designation in the books, unique among the organization's designations." })
  designationId!: number;

  @Field(() => String, { description: 'Name of the fund, such as `"Building Fund"`; `designation` of the report\'s lines.' })
  name!: string;
}

@ObjectType({ description: 'A page of designations.' })
export class DesignationConnection extends createConnectionType(Designation, 'designations') {}

@InputType({
  description:
    'Conditions on designations. A designation must meet all conditions that are given, and one value of each list. A list has at most 1000 values.',
})
export class DesignationFilter {
  @Field(() => [GraphQLSafeInt], { nullable: true, description: 'IDs of designations in the books, such as `[3, 4]`.' })
  designationIds?: number[] | null;
}

const DesignationOrder = createOrderType<EntityOrder<'designation'>['field']>('Designation', {
  items: 'designations',
  tie: 'ID',
  valuesConfig: {
    ID: { description: 'ID of the designation in the books.' },
    NAME: { description: 'Name of the fund, without regard to case and accents. The first 100 characters count.' },
  },
});

@ArgsType()
export class DesignationListArgs {
  @Field(() => String, {
    nullable: true,
    description:
      'Beginning of a word of the name, and the words that follow: `buil` and `building fu` both find Building Fund. Case and accents do not matter. A word ends at any character that is no letter, mark or number: `phase` finds Building (Phase 2). Each word of the search needs a word of its own.',
  })
  search?: string | null;

  @Field(() => DesignationFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: DesignationFilter | null;

  @Field(() => DesignationOrder, { nullable: true, description: 'Order of the designations; by ID when it is not given.' })
  orderBy?: EntityOrder<'designation'> | null;
}
