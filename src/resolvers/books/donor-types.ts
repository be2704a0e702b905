import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, InputType, ObjectType } from 'type-graphql';
import type { DonorEntity } from '../../data/reports/entity-store';
import type { EntityOrder } from '../../formats/entity-lists';
import { createConnectionType } from '../request/connection-types';
import { Node } from '../request/node-types';
import { createOrderType } from '../request/order-types';

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

@InputType({
  description:
    'Conditions on donors. A donor must meet all conditions that are given, and one value of each list. A list has at most 1000 values.',
})
export class DonorFilter {
  @Field(() => [GraphQLSafeInt], { nullable: true, description: 'IDs of donors in the books, such as `[10967]`.' })
  donorIds?: number[] | null;
}

const DonorOrder = createOrderType<EntityOrder<'donor'>['field']>('Donor', {
  items: 'donors',
  tie: 'ID',
  valuesConfig: {
    NAME: { description: 'Last name, then first name, without regard to case and accents. The first 100 characters of each count.' },
    ID: { description: 'ID of the donor in the books.' },
  },
});

@ArgsType()
export class DonorListArgs {
  @Field(() => String, {
    nullable: true,
    description:
      'Beginning of a word of the names, and the words that follow: `smi`, `ada smi` and `smith a` all find Ada Smith. Case and accents do not matter: `muller` finds Müller. A word ends at any character that is no letter, mark or number: `bob` finds Robert (Bob). Each word of the search needs a word of its own.',
  })
  search?: string | null;

  @Field(() => DonorFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: DonorFilter | null;

  @Field(() => DonorOrder, { nullable: true, description: 'Order of the donors; by name when it is not given.' })
  orderBy?: EntityOrder<'donor'> | null;
}
