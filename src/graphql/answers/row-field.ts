import {
  GraphQLError,
  getNamedType,
  getNullableType,
  isEnumType,
  isNonNullType,
  isScalarType,
  isObjectType,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import type { EntityTypeName } from '../../formats/entity-ids';
import { columnOfRecord, idOfRecord, isRecordType } from '../../formats/line-records';
import type { Budget } from '../../domain/access/budget-service';
import type { AppError } from '../../errors';
import type { RequestContext } from '../../resolvers/request/request-context';
import type { RowStream } from '../../rows/row-stream';
import type { VariablePath } from './error-place';
import type { Insertions } from './insertions';
import type { OperationCost } from '../documents/operation-cost';
import type { AskedOperation } from '../documents/operation-facts';
import { createJsonTemplate, type JsonMember } from '../../rows/row-template';

export interface GraphqlContext extends RequestContext {
  /** Collects the lists of an answer that is written to a socket; undefined when the caller needs objects. */
  readonly insertions?: Insertions;
  /** True when the operation can have so many values that it must pause between them. */
  isLong?: boolean;
  /** The places of wrong values in the variables, each beginning with the name of its variable. */
  variableFaults?: readonly VariablePath[];
  /** The outcome of the operation for the route. It is an object of its own, because Apollo gives its plugins a copy of the context. */
  readonly outcome: OperationOutcome;
}

/** The facts about an operation that the route reads once it was executed. */
interface OperationOutcome {
  /** The operation, once it was found. */
  asked?: AskedOperation;
  cost?: OperationCost;
  /** The codes of the errors in the answer. */
  codes?: readonly unknown[];
  /** The data of the answer. Undefined when nothing was executed. */
  data?: unknown;
  /** The first refusal for lack of a privilege. */
  refusal?: AppError;
  /** The budget that the operation was paid from; undefined before, and where there is none. */
  budget?: Budget | undefined;
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
    // Rows that are objects could lead further. They are refused all the same, so that an operation has one answer.
    const template = createJsonTemplate(toMembers(getNamedType(info.returnType) as GraphQLObjectType, info.fieldNodes, info));
    if (!context.insertions) return rows.objects();
    context.insertions.add([info.path.key], { template, rows });
    return [];
  };
}

/**
 * Throws when a template cannot write a field of the rows. A resolver of such a field would silently never run for streamed rows. Records
 * in rows have resolvers for rows that are objects; of their fields, a template writes those that the rows have columns for.
 */
function assertPlainRows(rows: GraphQLOutputType): void {
  const type = getNamedType(rows);
  if (!isObjectType(type)) throw new Error(`${type.name} is no object type`);
  for (const { name, resolve, args } of Object.values(type.getFields())) {
    const record = recordOf(type, name);
    if (record) {
      const values = Object.keys(record.getFields()).filter((value) => columnOfRecord(record.name as EntityTypeName, value) !== undefined);
      for (const value of values) toMember(record, value, value);
      continue;
    }
    if (resolve || args.length > 0) throw new Error(`${type.name}.${name} has a resolver or arguments, which streamed rows would pass by`);
    toMember(type, name, name);
  }
}

/**
 * The members of a row, or of a record in it, that a selection asks for. graphql-js's own function collects the fields, so that aliases,
 * fragments, `@skip`, `@include` and repeated fields mean the same. Throws a GraphQLError for a field that rows have no column for.
 */
function toMembers(type: GraphQLObjectType, nodes: readonly FieldNode[], info: GraphQLResolveInfo): JsonMember[] {
  const { schema, fragments, variableValues } = info;
  return [...collectSubfields(schema, fragments, variableValues, type, nodes)].map(([key, selected]) => {
    const name = selected[0]!.name.value;
    const record = recordOf(type, name);
    if (!record) return toMember(type, key, name, info.fieldName);
    const members = toMembers(record, selected, info);
    const isAlways = isNonNullType(type.getFields()[name]!.type);
    return isAlways ? { key, members } : { key, members, unless: { field: idOfRecord(record.name as EntityTypeName), kind: 'number' } };
  });
}

/** The type of the one record that a field leads to; undefined for a value, and for a list of records. */
function recordOf(type: GraphQLObjectType, name: string): GraphQLObjectType | undefined {
  const field = type.getFields()[name];
  const target = field && getNullableType(field.type);
  return isObjectType(target) && isRecordType(target.name) ? target : undefined;
}

function toMember(type: GraphQLObjectType, key: string, name: string, streamed = ''): JsonMember {
  if (name === '__typename') return { key, constant: type.name };
  let field: string | undefined = name;
  if (isRecordType(type.name)) {
    if (name === 'id') return { key, field: idOfRecord(type.name), kind: 'text', globalIdOf: type.name };
    field = columnOfRecord(type.name, name);
  }
  if (field === undefined) {
    throw new GraphQLError(`${type.name}.${name} leads further than the streamed list ${streamed}: ask ${streamed}Connection for it`, {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  }
  const fieldType = type.getFields()[name]!.type;
  const leaf = getNullableType(fieldType);
  const kind = isEnumType(leaf) ? 'text' : isScalarType(leaf) ? KINDS[leaf.name] : undefined;
  if (!kind) throw new Error(`${type.name}.${name}: ${String(leaf)} has no row template`);
  if (isNonNullType(fieldType) || kind === 'boolean') return { key, field, kind };
  if (kind !== 'text') throw new Error(`${type.name}.${name}: a nullable ${kind} has no row template`);
  return { key, field, kind: 'nullable' };
}

/** The scalars that a template can write. */
const KINDS: Readonly<Record<string, 'text' | 'number' | 'boolean'>> = {
  String: 'text',
  ID: 'text',
  Decimal: 'text',
  LocalDate: 'text',
  SafeInt: 'number',
  Boolean: 'boolean',
};
