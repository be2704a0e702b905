import {
  defaultFieldResolver,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { getArgumentValues } from 'graphql/execution/values';
import { loopTurns } from './loop-turns';
import type { GraphqlContext } from './row-field';

/**
 * Writes a value as JSON: at once, or with pauses in the lists of a long operation. Throws for a value that graphql-js must complete: one
 * that is still to be read, was refused, or has a fault.
 */
export type Write = (value: unknown, context: GraphqlContext) => string | Promise<string>;
type Resolve = GraphQLFieldResolver<unknown, GraphqlContext>;
type Field = ReturnType<GraphQLObjectType['getFields']>[string];

/** Text that JSON writes as it stands. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;
const STILL_READ = new Error('The value is still to be read');

/** The resolvers of lists below their writers. */
const listResolvers = new WeakMap<Field, Resolve>();

/** Replaces the resolver of a list by one that may write the list. Writers of the values around the list keep calling the first one. */
export function replaceListResolver(field: Field, toResolver: (resolve: Resolve) => Resolve): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  listResolvers.set(field, resolve);
  field.resolve = toResolver(resolve);
}

/** The writer of a field's values in one operation; undefined where graphql-js must complete them. */
export const toWriter = (info: GraphQLResolveInfo): Write | undefined => toWrite(info.returnType, info);

function toWrite(type: GraphQLOutputType, info: GraphQLResolveInfo): Write | undefined {
  const nullable = getNullableType(type);
  const write = isLeafType(nullable)
    ? toLeafWrite(nullable)
    : isListType(nullable)
      ? toListWrite(toWrite(nullable.ofType, info))
      : isObjectType(nullable)
        ? toObjectWrite(nullable, info)
        : undefined;
  return (
    write &&
    ((value, context) => {
      if (value !== null && value !== undefined) return write(value, context);
      if (isNonNullType(type)) throw new Error(`Cannot return null for non-nullable ${info.parentType.name}.${info.fieldName}.`);
      return 'null';
    })
  );
}

const toLeafWrite =
  (leaf: GraphQLLeafType): Write =>
  (value) => {
    const written = leaf.serialize(value);
    if (typeof written === 'number') return String(written);
    return typeof written === 'string' && PLAIN_TEXT.test(written) ? `"${written}"` : JSON.stringify(written);
  };

const toListWrite = (write: Write | undefined): Write | undefined =>
  write &&
  ((value, context) => {
    const items = value as readonly unknown[];
    if (context.isLong) return writeWithPauses(items, write, context);
    return `[${items.map((item) => write(item, context) as string).join(',')}]`;
  });

async function writeWithPauses(items: readonly unknown[], write: Write, context: GraphqlContext): Promise<string> {
  const texts: string[] = [];
  for (const item of items) {
    const text = write(item, context);
    texts.push(typeof text === 'string' ? text : await text);
    await loopTurns.pause();
  }
  return `[${texts.join(',')}]`;
}

interface Member {
  /** The comma before the member, its key and the colon. */
  readonly before: string;
  readonly read: (source: unknown, context: GraphqlContext) => unknown;
  readonly write: Write;
}

function toObjectWrite(type: GraphQLObjectType, info: GraphQLResolveInfo): Write | undefined {
  const { schema, fragments, variableValues, fieldNodes } = info;
  const members: Member[] = [];
  for (const [key, below] of collectSubfields(schema, fragments, variableValues, type, fieldNodes)) {
    const before = `${members.length > 0 ? ',' : ''}${JSON.stringify(key)}:`;
    const member = toMember(type, key, below, info);
    if (!member) return undefined;
    members.push({ before, ...member });
  }
  const writeFrom = (start: number, begun: string, source: unknown, context: GraphqlContext): string | Promise<string> => {
    let text = begun;
    for (let index = start; index < members.length; index++) {
      const { before, read, write } = members[index]!;
      const value = read(source, context);
      const written = write(value, context);
      text += before;
      if (typeof written !== 'string') return written.then((late) => writeFrom(index + 1, text + late, source, context));
      text += written;
    }
    return `${text}}`;
  };
  return (source, context) => writeFrom(0, '{', source, context);
}

function toMember(
  type: GraphQLObjectType,
  key: string,
  fieldNodes: readonly FieldNode[],
  around: GraphQLResolveInfo,
): Omit<Member, 'before'> | undefined {
  const fieldName = fieldNodes[0]!.name.value;
  if (fieldName === '__typename') return { read: () => type.name, write: (name) => JSON.stringify(name) };
  const field = type.getFields()[fieldName]!;
  const path = { prev: around.path, key, typename: type.name };
  const info: GraphQLResolveInfo = { ...around, fieldName, fieldNodes, returnType: field.type, parentType: type, path };
  const write = toWrite(field.type, info);
  return write && { read: toRead(field, info), write };
}

/** Reads a field as graphql-js does, without waiting for it. */
function toRead(field: Field, info: GraphQLResolveInfo): Member['read'] {
  const { name } = field;
  const resolve = listResolvers.get(field) ?? field.resolve ?? defaultFieldResolver;
  if (resolve === defaultFieldResolver && field.args.length === 0) {
    return (source) => {
      const value = (source as Readonly<Record<string, unknown>>)[name];
      return typeof value === 'function' ? assertRead((value as () => unknown).call(source)) : value;
    };
  }
  const args = getArgumentValues(field, info.fieldNodes[0]!, info.variableValues);
  return (source, context) => assertRead(resolve(source, args, context, info));
}

function assertRead(value: unknown): unknown {
  if (!(value instanceof Promise)) return value;
  // graphql-js asks for the value again, and gets the error of its reading too.
  value.catch(() => undefined);
  throw STILL_READ;
}
