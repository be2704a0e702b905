import { getNamedType, isObjectType, type FieldNode, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { getArgumentValues } from 'graphql/execution/values';
import type { FigureParameters } from '../../domain/reports/entity-figures';
import type { ListParameters, ReadAhead } from '../../domain/reports/entity-service';
import { findExtras } from '../../domain/reports/deposit-summary-service';
import { isEdge, isFigure } from '../../formats/entity-edges';

/** The parts of an operation that a selection depends on. */
export type OperationScope = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>;

/** The fields of a connection between the field that returns it and its entities. */
const PASSED_THROUGH: ReadonlySet<string> = new Set(['nodes', 'edges', 'node']);
/** The names of the types around the nodes of a connection. */
const AROUND_NODES = /(Connection|Edge)$/;
/** The designation of an allocation is read with it. Its own edges and figures are found by the ID that the allocation has. */
const FUND = 'Allocation.designation';
/** The field of a connection that is read by a statement of its own. */
const COUNT = 'totalCount';

/**
 * Finds in the operation the edges that it selects on the entities of a field, so that they can be read together. A field of an interface
 * needs the type of its entity.
 */
export const lookAhead =
  (info: GraphQLResolveInfo, type = getNamedType(info.returnType)) =>
  (): ReadAhead =>
    isObjectType(type) ? findEdges(info, type, info.fieldNodes) : [];

function findEdges(info: GraphQLResolveInfo, type: GraphQLObjectType, nodes: readonly FieldNode[]): ReadAhead {
  const { schema, fragments, variableValues } = info;
  return [...collectSubfields(schema, fragments, variableValues, type, nodes).values()].flatMap((selected): ReadAhead => {
    const field = type.getFields()[selected[0]!.name.value];
    const next = field && getNamedType(field.type);
    if (!field || !isObjectType(next)) return [];
    const edge = `${type.name}.${field.name}`;
    if (isFigure(edge)) {
      const parameters = getArgumentValues(field, selected[0]!, variableValues);
      return [
        { figures: edge, parameters: { ...parameters, extras: findExtras(leavesOf(next, selected, info).map((path) => `.${path}`)) } },
      ];
    }
    if (!isEdge(edge)) return PASSED_THROUGH.has(field.name) || edge === FUND ? findEdges(info, next, selected) : [];
    const page = getArgumentValues(field, selected[0]!, variableValues) as ListParameters;
    const below = collectSubfields(schema, fragments, variableValues, next, selected);
    const isCounted = [...below.values()].some(([node]) => node!.name.value === COUNT);
    return [{ edge, page, isCounted, ahead: findEdges(info, next, selected) }];
  });
}

/** The parameters of figures: their period, and the extra figures that the operation selects. */
export const toFigureParameters = (period: object, info: GraphQLResolveInfo): FigureParameters => ({
  ...period,
  extras: findExtras(selectedPaths(info).map((path) => `.${path}`)),
});

/** The paths of the values that the operation selects below a field. */
export const selectedPaths = (info: GraphQLResolveInfo): string[] =>
  leavesOf(getNamedType(info.returnType) as GraphQLObjectType, info.fieldNodes, info);

/** The fields of the nodes of a connection that the operation selects, and those of the given parts of a node. Fields that lead to records are among them. */
export function selectedNodeFields(info: GraphQLResolveInfo, parts: readonly string[] = []): string[] {
  const { returnType, fieldNodes, schema, fragments, variableValues } = info;
  const fieldsOf = (type: GraphQLObjectType, nodes: readonly FieldNode[]): string[] =>
    [...collectSubfields(schema, fragments, variableValues, type, nodes).values()].flatMap((selected) => {
      const name = selected[0]!.name.value;
      const field = type.getFields()[name];
      if (!field) return [];
      if (PASSED_THROUGH.has(name) || parts.includes(name)) return fieldsOf(getNamedType(field.type) as GraphQLObjectType, selected);
      return AROUND_NODES.test(type.name) ? [] : [name];
    });
  return fieldsOf(getNamedType(returnType) as GraphQLObjectType, fieldNodes);
}

/**
 * The paths of the values that a selection asks for, field names joined by dots. The operation must have passed `limitOperations`:
 * fragments that lead to each other would double their paths at every level.
 */
export function leavesOf(type: GraphQLObjectType, nodes: readonly FieldNode[], scope: OperationScope): string[] {
  const { schema, fragments, variableValues } = scope;
  const selected = [...collectSubfields(schema, fragments, variableValues, type, nodes).values()].flat();
  // Fields are grouped by name, not by alias, so that a field with many aliases is followed once.
  const names = [...new Set(selected.map(({ name }) => name.value))];
  return names.flatMap((name) => {
    const field = type.getFields()[name];
    if (!field) return [];
    const next = getNamedType(field.type);
    if (!isObjectType(next)) return [name];
    const below = selected.filter((node) => node.name.value === name);
    return leavesOf(next, below, scope).map((path) => `${name}.${path}`);
  });
}
