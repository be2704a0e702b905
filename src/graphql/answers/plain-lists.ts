import { getNullableType, isListType, isObjectType, type FieldNode, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import { pathToArray } from 'graphql/jsutils/Path';
import { streamedFields } from '../documents/list-bounds';
import type { Insertions } from './insertions';
import type { ListResolver } from './loop-turns';
import type { GraphqlContext } from './row-field';
import { replaceListResolver, toWriter, type Write } from './value-writers';

type Items = readonly unknown[];

/** A shorter list is not worth a place of its own in the answer. */
const MIN_ITEMS = 2;

/**
 * Writes lists as text, past graphql-js, where everything that the operation selects of their items is there already: the lines of a page,
 * the groups of a summary, deposits whose gifts were read ahead. graphql-js would spend about a microsecond on each value. The writer calls
 * the same resolvers, so that they guard a value in both ways. Where one of them refuses, fails or has something to read, graphql-js gets
 * the whole list.
 */
export function writePlainLists(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const list = getNullableType(field.type);
      if (!isListType(list) || !isObjectType(getNullableType(list.ofType)) || streamedFields.includes(field.name)) continue;
      replaceListResolver(field, (resolve) => (source, args, context, info) => {
        const items = (resolve as ListResolver)(source, args, context, info);
        const { insertions } = context;
        if (!insertions) return items;
        return items instanceof Promise
          ? items.then((found) => writeIfPossible(found, insertions, context, info))
          : writeIfPossible(items, insertions, context, info);
      });
    }
  }
}

/** The writers of the operations under way, by the nodes of their fields: lists within lists share them. */
const writers = new WeakMap<readonly FieldNode[], { readonly write: Write | undefined }>();

/** Returns the items for graphql-js: none where the list was written. */
function writeIfPossible(items: Items, insertions: Insertions, context: GraphqlContext, info: GraphQLResolveInfo): Items | Promise<Items> {
  if (items.length < MIN_ITEMS) return items;
  const { write } = writers.get(info.fieldNodes) ?? { write: toWriter(info) };
  writers.set(info.fieldNodes, { write });
  if (!write) return items;
  const insert = (text: string): Items => {
    insertions.add(pathToArray(info.path), text);
    return [];
  };
  const leave = (): Items => {
    writers.set(info.fieldNodes, { write: undefined });
    return items;
  };
  try {
    // graphql-js asks again for a field that is refused here, and its answer tells the refusal.
    const text = write(items, { ...context, refused: new Set() });
    return typeof text === 'string' ? insert(text) : text.then(insert, leave);
  } catch {
    return leave();
  }
}
