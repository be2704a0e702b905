export type Json = Readonly<Record<string, unknown>>;

/** An object of a list, and the column that says which row of the list around it is its own. */
export interface ListedObject {
  readonly of: Json;
  readonly object: Json;
}

const NO_COLUMN: Json = {};

/**
 * Finds every list of objects in an answer, by its path. Lists inside rows become one list together; its column `of …` holds the books' id,
 * or else the number, of the row that the list was in. In an answer without lists, such as totals, each object becomes a list of one.
 */
export function gatherLists(data: unknown): ReadonlyMap<string, readonly ListedObject[]> {
  const lists = new Map<string, ListedObject[]>();
  gather(data, '', lists);
  if (lists.size === 0 && isObject(data)) {
    for (const [name, value] of Object.entries(data)) if (isObject(value)) lists.set(name, [{ of: NO_COLUMN, object: value }]);
  }
  for (const [name, objects] of lists) if (objects.length === 0) lists.delete(name);
  return lists;
}

function gather(value: unknown, name: string, lists: Map<string, ListedObject[]>, of = NO_COLUMN): void {
  if (Array.isArray(value)) {
    const objects = value.map((each: unknown) => (isObject(each) && isObject(each.node) ? each.node : each)).filter(isObject);
    // A list of scalars is no table. An empty list still counts as a list, so that the answer is not taken for totals.
    if (objects.length === 0 && value.length > 0) return;
    const list = lists.get(name) ?? [];
    lists.set(name, list);
    for (const object of objects) {
      list.push({ of, object });
      gatherBelow(object, name, lists, () => ({ [`of ${name}`]: bookIdOf(object) ?? list.length }));
    }
  } else if (isObject(value)) gatherBelow(value, name, lists, () => of);
}

/** The first value of a row that is an id of the books, such as `depositId`. The field `id` is opaque. */
function bookIdOf(object: Json): string | number | undefined {
  const id = Object.entries(object).find(([name]) => name.endsWith('Id'))?.[1];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function gatherBelow(object: Json, name: string, lists: Map<string, ListedObject[]>, toOf: () => Json): void {
  for (const [key, value] of Object.entries(object)) {
    // A scalar holds no list. Most values of a long answer are scalars.
    if (typeof value !== 'object' || value === null) continue;
    gather(value, name === '' ? key : `${name}.${key}`, lists, toOf());
  }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
