import {
  getNamedType,
  getNullableType,
  isEnumType,
  isNonNullType,
  isScalarType,
  isObjectType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import type { RequestContext } from '../resolvers/request-context';
import type { RowStream } from '../rows/row-stream';
import type { Insertions } from './insertions';
import { createJsonTemplate, type JsonMember, type RowTemplate } from '../rows/row-template';

export interface GraphqlContext extends RequestContext {
  /** Collects the lists of an answer that is written to a socket; undefined when the caller needs objects. */
  readonly insertions?: Insertions;
  /** True when the operation can have so many values that it must pause between them. */
  rests?: boolean;
}

type Resolve = (source: unknown, args: unknown, context: GraphqlContext, info: GraphQLResolveInfo) => Promise<RowStream<unknown>>;

/**
 * Lets graphql-js execute a root query field whose resolver returns a row stream: the stream is kept in the context with the template of
 * its selection, and graphql-js gets an empty list.
 */
export function streamRows(schema: GraphQLSchema, fieldName: string): void {
  const field = schema.getQueryType()?.getFields()[fieldName];
  if (!field?.resolve) throw new Error(`The schema has no query field ${fieldName}`);
  assertPlainRows(field.type);
  const resolve = field.resolve as Resolve;
  field.resolve = async (source: unknown, args: unknown, context: GraphqlContext, info: GraphQLResolveInfo) => {
    const rows = await resolve(source, args, context, info);
    if (!context.insertions) return rows.objects();
    context.insertions.add([info.path.key], { template: toTemplate(info), rows });
    return [];
  };
}

/** Throws when a template cannot write a field of the rows. A resolver of such a field would silently never run for streamed rows. */
function assertPlainRows(rows: GraphQLOutputType): void {
  const type = getNamedType(rows);
  if (!isObjectType(type)) throw new Error(`${type.name} is no object type`);
  for (const { name, resolve, args } of Object.values(type.getFields())) {
    if (resolve || args.length > 0) throw new Error(`${type.name}.${name} has a resolver or arguments, which streamed rows would pass by`);
    toMember(type, name, name);
  }
}

/**
 * The row template of a field's selection set. graphql-js's own function collects the fields, so that aliases, fragments, `@skip`,
 * `@include` and repeated fields mean the same.
 */
function toTemplate(info: GraphQLResolveInfo): RowTemplate {
  const { schema, fragments, variableValues, fieldNodes } = info;
  const type = getNamedType(info.returnType) as GraphQLObjectType;
  const selected = collectSubfields(schema, fragments, variableValues, type, fieldNodes);
  return createJsonTemplate([...selected].map(([key, nodes]) => toMember(type, key, nodes[0]!.name.value)));
}

function toMember(type: GraphQLObjectType, key: string, name: string): JsonMember {
  if (name === '__typename') return { key, constant: type.name };
  const fieldType = type.getFields()[name]!.type;
  const leaf = getNullableType(fieldType);
  const kind = isEnumType(leaf) ? 'text' : isScalarType(leaf) ? KINDS[leaf.name] : undefined;
  if (!kind) throw new Error(`${type.name}.${name}: ${String(leaf)} has no row template`);
  if (isNonNullType(fieldType)) return { key, field: name, kind };
  if (kind !== 'text') throw new Error(`${type.name}.${name}: a nullable ${kind} has no row template`);
  return { key, field: name, kind: 'nullable' };
}

/** The scalars that a template can write. */
const KINDS: Readonly<Record<string, 'text' | 'number' | 'boolean'>> = {
  ...{ String: 'text', ID: 'text', Decimal: 'text', LocalDate: 'text' },
  ...{ SafeInt: 'number', Boolean: 'boolean' },
};
