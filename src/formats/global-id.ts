import { entityIds, type EntityId, type EntityKind } from './entity-edges';

/** The name of an entity's type in GraphQL. */
export type EntityTypeName = Capitalize<EntityKind>;

/** An entity as its global id names it. */
export interface GlobalId {
  readonly kind: EntityKind;
  readonly id: EntityId;
}

const SEPARATOR = ':';
const NUMBER = /^(0|-?[1-9][0-9]{0,15})$/;

/**
 * The id of a record that no other record of any type has: its type and the books' id, as base64url text. It is opaque to callers but no
 * secret, so that it has no checksum. An id that is made up reaches what the books' own id would reach.
 */
const toGlobalId = (type: EntityTypeName, id: EntityId): string => Buffer.from(`${type}${SEPARATOR}${id}`).toString('base64url');

/** Reads a global id. Undefined for a text that `toGlobalId` never returns. */
export function parseGlobalId(text: string): GlobalId | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const named = bytes.toString();
  const [type, id] = [named.slice(0, named.indexOf(SEPARATOR)), named.slice(named.indexOf(SEPARATOR) + 1)];
  const kind = kinds.find((each) => typeNameOf(each) === type);
  // Base64url has several texts for the same bytes, and bytes that are not UTF-8 become other text.
  if (!kind || Buffer.from(named).toString('base64url') !== text) return undefined;
  if (entityIds[kind].type === 'text') return { kind, id };
  return NUMBER.test(id) && Number.isSafeInteger(Number(id)) ? { kind, id: Number(id) } : undefined;
}

const kinds = Object.keys(entityIds) as readonly EntityKind[];

/** The kind of a GraphQL type, the inverse of `typeNameOf`. */
export const kindOf = (type: EntityTypeName): EntityKind => type.toLowerCase() as EntityKind;

/** The name of the GraphQL type of a kind. */
export const typeNameOf = (kind: EntityKind): EntityTypeName => `${kind[0]!.toUpperCase()}${kind.slice(1)}` as EntityTypeName;

/** The field `id` of the records of each kind: a method that computes the global id from the record's own fields when it is asked for. */
export const globalIdOf = Object.fromEntries(
  kinds.map((kind) => [
    kind,
    function (this: object): string {
      return toGlobalId(typeNameOf(kind), (this as Readonly<Record<string, EntityId>>)[entityIds[kind].field]!);
    },
  ]),
) as unknown as Readonly<Record<EntityKind, () => string>>;
