import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import type { DesignationEntity } from '../data/entity-store';
import { createConnectionType } from './connection-types';
import { Node } from './node-types';

@ObjectType({ implements: Node, simpleResolvers: true, description: 'A fund that gifts are given to, such as "Building Fund".' })
export class Designation extends Node implements DesignationEntity {
  @Field(() => GraphQLSafeInt, { description: "ID of the designation in the books, unique among the organization's designations." })
  designationId!: number;

  @Field(() => String, { description: 'Name of the fund, such as `"Building Fund"`; `designation` of the report\'s lines.' })
  name!: string;
}

@ObjectType({ description: 'A page of designations.' })
export class DesignationConnection extends createConnectionType(Designation, 'designations') {}
