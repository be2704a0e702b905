import {
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { pathToArray } from 'graphql/jsutils/Path';
import { streamedFields } from './list-bounds';
import { loopTurns, type ListResolver } from './loop-turns';
import type { GraphqlContext } from './row-field';

/** Writes a value as JSON. */
type Write = (value: unknown) => string;

/** A shorter list is not worth a place of its own in the answer. */
const MIN_ITEMS = 10;
/** Text that JSON writes as it stands. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/**
 * Writes lists as text, past graphql-js, where nothing that the operation selects of their items has a resolver or arguments: the lines of a
 * page, the groups of a summary. graphql-js would spend about a microsecond on each value.
 */
export function writePlainLists(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const list = getNullableType(field.type);
      if (!isListType(list) || !isObjectType(getNullableType(list.ofType)) || streamedFields.includes(field.name)) continue;
      const resolve = field.resolve as ListResolver | undefined;
      field.resolve = (source: unknown, args: unknown, context: GraphqlContext, info: GraphQLResolveInfo) => {
        const items = resolve ? resolve(source, args, context, info) : (source as Record<string, readonly unknown[]>)[field.name]!;
        const { insertions } = context;
        const write = insertions && writerOf(info, list.ofType);
        if (!write) return items;
        return Promise.resolve(items).then(async (found) => {
          if (found.length < MIN_ITEMS) return found;
          const texts: string[] = [];
          try {
            for (const item of found) {
              texts.push(write(item));
              if (context.rests) await loopTurns.rest();
            }
          } catch {
            // graphql-js meets the same fault, and knows the path of the value and what becomes null.
            return found;
          }
          insertions.add(pathToArray(info.path), `[${texts.join(',')}]`);
          return [];
        });
      };
    }
  }
}

/** The writers of the operations under way, by the nodes of their fields: lists within lists share them. */
const writers = new WeakMap<readonly FieldNode[], { readonly write: Write | undefined }>();

function writerOf(info: GraphQLResolveInfo, itemType: GraphQLOutputType): Write | undefined {
  const known = writers.get(info.fieldNodes) ?? { write: toWrite(itemType, info.fieldNodes, info, String(itemType)) };
  writers.set(info.fieldNodes, known);
  return known.write;
}

/** The writer of values of a type; undefined where graphql-js must complete them. */
function toWrite(type: GraphQLOutputType, nodes: readonly FieldNode[], info: GraphQLResolveInfo, place: string): Write | undefined {
  const nullable = getNullableType(type);
  const write = isLeafType(nullable) ? toLeafWrite(nullable) : isObjectType(nullable) ? toObjectWrite(nullable, nodes, info) : undefined;
  return (
    write &&
    ((value) => {
      if (value !== null && value !== undefined) return write(value);
      if (isNonNullType(type)) throw new Error(`Cannot return null for non-nullable ${place}.`);
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

function toObjectWrite(type: GraphQLObjectType, nodes: readonly FieldNode[], info: GraphQLResolveInfo): Write | undefined {
  const { schema, fragments, variableValues } = info;
  const members: { readonly before: string; readonly name: string; readonly write: Write }[] = [];
  for (const [key, below] of collectSubfields(schema, fragments, variableValues, type, nodes)) {
    const name = below[0]!.name.value;
    const before = `${members.length > 0 ? ',' : ''}${JSON.stringify(key)}:`;
    if (name === '__typename') {
      members.push({ before, name, write: () => JSON.stringify(type.name) });
      continue;
    }
    const field = type.getFields()[name]!;
    const write = field.resolve || field.args.length > 0 ? undefined : toWrite(field.type, below, info, `${type.name}.${name}`);
    if (!write) return undefined;
    members.push({ before, name, write });
  }
  return (source) => {
    const values = source as Readonly<Record<string, unknown>>;
    let text = '{';
    for (const { before, name, write } of members) {
      const value = values[name];
      text += before + write(typeof value === 'function' ? (value as () => unknown).call(source) : value);
    }
    return `${text}}`;
  };
}
