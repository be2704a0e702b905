import { GraphQLInputObjectType, type GraphQLSchema } from 'graphql';
import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, GraphQLISODateTime, InputType } from 'type-graphql';
import type { AsOf } from '../../formats/as-of';

const NAME = 'AsOf';

@InputType(NAME, { description: 'A state of the books that has been: exactly one of the two. `history` has the earliest and the latest.' })
export class AsOfInput {
  @Field(() => GraphQLSafeInt, { nullable: true, description: 'The number of a data version: the state after that change.' })
  version?: number;

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: 'An instant: the state of the newest version that was recorded at or before it.',
  })
  at?: Date;
}

/** Lets the input take exactly one of its fields. type-graphql has no option for it. */
export function takeOneState(schema: GraphQLSchema): void {
  const type = schema.getType(NAME);
  if (!(type instanceof GraphQLInputObjectType)) throw new Error(`The schema has no input ${NAME}`);
  type.isOneOf = true;
}

/** The state that an argument names; undefined for the newest one. graphql-js has checked that the argument has exactly one of its fields. */
export const toAsOf = (given: AsOfInput | null | undefined): AsOf | undefined => (given ?? undefined) as AsOf | undefined;

export const FROM_STATE = { description: 'State of the books that the changes begin with.' } as const;
export const TO_STATE = {
  nullable: true,
  description: 'State of the books that the changes end with; without it the newest one. It must not be before `from`.',
} as const;

export const FILE_AS_OF = {
  nullable: true,
  description: 'State of the books whose lines the file has, for a query that names no state itself; without it the newest one.',
} as const;

export const AS_OF = {
  nullable: true,
  description:
    'State of the books whose lines are meant; without it the newest one. Lines of a past state lead to no records, because records are of the newest state alone.',
} as const;
