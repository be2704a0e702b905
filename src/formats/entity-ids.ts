import { fromGlobalId, toGlobalId } from '../values/global-id';
import { entityIds, type EntityId } from './entity-edges';
import type { EntityKind } from '../line/line-fields';

/** The name of an entity's type in GraphQL. */
export type EntityTypeName = Capitalize<EntityKind>;

/** An entity as its global id names it. */
export interface NamedEntity {
  readonly kind: EntityKind;
  readonly id: EntityId;
}

const NUMBER = /^(0|-?[1-9][0-9]{0,15})$/;

/** Reads the global id of an entity. Undefined for any other text. An id that is made up reaches what the books' own id would reach. */
export function parseEntityId(text: string): NamedEntity | undefined {
  const named = fromGlobalId(text);
  const kind = kinds.find((each) => typeNameOf(each) === named?.kind);
  if (!named || !kind) return undefined;
  if (entityIds[kind].type === 'text') return { kind, id: named.id };
  return NUMBER.test(named.id) && Number.isSafeInteger(Number(named.id)) ? { kind, id: Number(named.id) } : undefined;
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
