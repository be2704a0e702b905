import { isObjectType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { getMetadataStorage, type ClassType } from 'type-graphql';
import { loopTurns } from './loop-turns';
import type { GraphqlContext } from './row-field';

type Method = (...values: unknown[]) => unknown;

/**
 * Lets graphql-js call the field resolvers of these instances directly, with the values that their parameter decorators name. type-graphql
 * would create promises for the arguments of every field in order to validate them, which the gateway does not use: in a long list they
 * cost more than the fields themselves. type-graphql's middlewares and authChecker do not run for these fields.
 */
export function callResolversDirectly(schema: GraphQLSchema, instances: ReadonlyMap<ClassType, object | undefined>): void {
  for (const { target, getObjectType, methodName, schemaName, params = [], roles, middlewares } of getMetadataStorage().fieldResolvers) {
    const instance = instances.get(target as ClassType) as Readonly<Record<string, Method>> | undefined;
    const type = getObjectType && schema.getType((getObjectType() as ClassType).name);
    if (!instance) continue;
    if (!isObjectType(type)) throw new Error(`${methodName}: the type of this field is not named as its class`);
    if (roles ?? middlewares?.length) throw new Error(`${methodName}: a field that is called directly has no middleware and no roles`);
    const values = params.toSorted((one, other) => one.index - other.index).map(toValue);
    const resolve: GraphQLFieldResolver<unknown, GraphqlContext, unknown> = (root, args, context, info) => {
      const result = instance[methodName]!(...values.map((value) => value(root, args, context, info)));
      return context.isLong && result instanceof Promise ? loopTurns.release(result) : result;
    };
    type.getFields()[schemaName]!.resolve = resolve;
  }
}

type Param = NonNullable<ReturnType<typeof getMetadataStorage>['fieldResolvers'][number]['params']>[number];

/** The function that gives a parameter the value that its decorator names. */
function toValue({ kind, methodName, ...param }: Param): GraphQLFieldResolver<unknown, GraphqlContext, unknown> {
  const name = 'propertyName' in param ? param.propertyName : undefined;
  const property = (from: unknown) => (name === undefined ? from : (from as Readonly<Record<string, unknown>>)[name]);
  switch (kind) {
    case 'root':
      return (root) => property(root);
    case 'args':
      return (_root, args) => args;
    case 'arg':
      return (_root, args) => (args as Readonly<Record<string, unknown>>)[(param as unknown as { readonly name: string }).name];
    case 'context':
      return (_root, _args, context) => property(context);
    case 'info':
      return (_root, _args, _context, info) => info;
    default:
      throw new Error(`${methodName}: a parameter of the kind ${kind} cannot be given directly`);
  }
}
