import 'reflect-metadata';
import { isObjectType, type GraphQLSchema } from 'graphql';
import { buildSchemaSync, type ClassType } from 'type-graphql';
import { takeOneState } from '../resolvers/request/as-of-types';
import { resolverClasses, type ResolverSet } from '../resolvers/resolver-set';
import { assertListsAreBounded, streamedFields } from './documents/list-bounds';
import { pauseInLists } from './answers/loop-turns';
import { letFieldsFail } from './answers/partial-answers';
import { writePlainLists } from './answers/plain-lists';
import { callResolversDirectly } from './answers/resolver-calls';
import { streamRows } from './answers/row-field';
import { printSorted } from './schema-route';

const QUERY =
  'The questions of the gateway. Every request needs the header `Provision`; each field names the privilege that it needs beside it.';
const MUTATION = 'The changes: logins and saved reports. Every request needs the header `Provision`.';

/** The executable schema over these resolvers. Without resolvers it can be printed and validated against, but not executed. */
export function createSchema(resolvers?: ResolverSet): GraphQLSchema {
  const names = Object.keys(resolverClasses) as (keyof ResolverSet)[];
  const instances = new Map<ClassType, object | undefined>(names.map((name) => [resolverClasses[name], resolvers?.[name]]));
  const schema = buildSchemaSync({
    resolvers: [...instances.keys()] as [ClassType, ...ClassType[]],
    container: { get: (type: ClassType) => instances.get(type) },
    // Arguments are checked by scalars and by the domain, never by decorators.
    validate: false,
    // It would ask the schema for all of itself, which takes 0.1 s of a start. Apollo Server checks that the schema is valid.
    skipCheck: true,
  });
  // type-graphql has no place for these two descriptions.
  schema.getQueryType()!.description = QUERY;
  schema.getMutationType()!.description = MUTATION;
  takeOneState(schema);
  letFieldsFail(schema);
  callResolversDirectly(schema, instances);
  for (const field of streamedFields) streamRows(schema, field);
  writePlainLists(schema);
  assertListsAreBounded(schema);
  pauseInLists(schema);
  return schema;
}

/** The schema's description of a field. Throws an Error for a field that has none. */
export function describeField(schema: GraphQLSchema, typeName: string, name: string): string {
  const type = schema.getType(typeName);
  const description = isObjectType(type) ? type.getFields()[name]?.description : undefined;
  if (!description) throw new Error(`The schema has no description of ${typeName}.${name}`);
  return description;
}

/** The executable schema of the operators' own door over these instances. */
export function createOperatorsSchema(instances: ReadonlyMap<ClassType, object>): GraphQLSchema {
  return buildSchemaSync({
    resolvers: [...instances.keys()] as [ClassType, ...ClassType[]],
    container: { get: (type: ClassType) => instances.get(type) },
    // Arguments are checked by the domain, never by decorators.
    validate: false,
  });
}

/** The schema as text, in alphabetical order. */
export const printSchemaText = (): string => printSorted(createSchema());
