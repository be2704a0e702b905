import { getNamedType, isObjectType, type FieldNode, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { getArgumentValues } from 'graphql/execution/values';
import type { ReadAhead } from '../domain/entity-service';
import type { PageParameters } from '../domain/keyset-page';
import { isEdge } from '../formats/entity-edges';

/** The fields of a connection between the field that returns it and its entities. */
const PASSED_THROUGH: ReadonlySet<string> = new Set(['nodes', 'edges', 'node']);

/** Finds in the operation the edges that it selects on the entities of a field, so that they can be read together. */
export const lookAhead = (info: GraphQLResolveInfo) => (): ReadAhead => {
  const type = getNamedType(info.returnType);
  return isObjectType(type) ? findEdges(info, type, info.fieldNodes) : [];
};

function findEdges(info: GraphQLResolveInfo, type: GraphQLObjectType, nodes: readonly FieldNode[]): ReadAhead {
  const { schema, fragments, variableValues } = info;
  return [...collectSubfields(schema, fragments, variableValues, type, nodes).values()].flatMap((selected): ReadAhead => {
    const field = type.getFields()[selected[0]!.name.value];
    const next = field && getNamedType(field.type);
    if (!field || !isObjectType(next)) return [];
    const edge = `${type.name}.${field.name}`;
    if (!isEdge(edge)) return PASSED_THROUGH.has(field.name) ? findEdges(info, next, selected) : [];
    const page = getArgumentValues(field, selected[0]!, variableValues) as PageParameters;
    return [{ edge, page, ahead: findEdges(info, next, selected) }];
  });
}
