import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import type { DesignationEntity } from '../data/entity-store';
import { createConnectionType } from './connection-types';

@ObjectType({ simpleResolvers: true, description: 'A fund that gifts are given to.' })
export class Designation implements DesignationEntity {
  @Field(() => GraphQLSafeInt, { description: 'ID of the designation; `designationId` of the report.' })
  id!: number;

  @Field(() => String, { description: 'Name of the fund.' })
  name!: string;
}

@ObjectType({ description: 'A page of designations.' })
export class DesignationConnection extends createConnectionType(Designation, 'designations') {}
