import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import type { DonorEntity } from '../data/entity-store';
import { createConnectionType } from './connection-types';
import { Node } from './node-types';

@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'A person or an organization that gave. All fields are personal data and need the privilege of the report.',
})
export class Donor extends Node implements DonorEntity {
  @Field(() => GraphQLSafeInt, { description: "ID of the donor in the books, unique among the organization's donors; 1 or more." })
  donorId!: number;

  @Field(() => String, { description: 'First name; may be empty.' })
  firstName!: string;

  @Field(() => String, { description: 'Last name; may be empty.' })
  lastName!: string;

  @Field(() => String, { description: 'First line of the address; may be empty.' })
  address1!: string;

  @Field(() => String, { description: 'Second line of the address; may be empty.' })
  address2!: string;

  @Field(() => String, { description: 'Third line of the address; may be empty.' })
  address3!: string;

  @Field(() => String, { description: 'City; may be empty.' })
  city!: string;

  @Field(() => String, { description: 'State, such as `"IL"`; may be empty.' })
  state!: string;

  @Field(() => String, { description: 'Zip code, such as `"62701"`; may be empty.' })
  zip!: string;

  @Field(() => String, { description: 'Phone number; may be empty.' })
  phone!: string;

  @Field(() => String, { description: 'Email address; may be empty.' })
  email!: string;
}

@ObjectType({ description: 'A page of donors.' })
export class DonorConnection extends createConnectionType(Donor, 'donors') {}
