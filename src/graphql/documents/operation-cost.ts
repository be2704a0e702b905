import {
  getArgumentValues,
  getNamedType,
  getNullableType,
  getVariableValues,
  GraphQLError,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields';
import { MAX_PAGE_LENGTH } from '../../domain/paging/keyset-page';
import { operationLimits } from '../../resolvers/request/operation-limits';
import { countIntrospected } from './introspection-cost';
import { listBounds, listsByArgument, pageBounds, streamedFields, type Arguments } from './list-bounds';
import { oncePerDocument } from './once-per-document';

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The length of a page is that of its own field alone. */
const NO_PAGE: Arguments = { first: undefined, last: undefined };

/** The page length that a field asks for; 1 for a field without pages. The field's resolver refuses a length out of bounds later. */
function toLength(name: string, field: GraphQLField<unknown, unknown>, given: Arguments): number {
  if (!field.args.some((argument) => argument.name === 'first')) return 1;
  const longest = Math.min(pageBounds[name]?.(given) ?? Infinity, MAX_PAGE_LENGTH);
  return Math.min(Math.max(Number(given.last ?? given.first ?? 0), 0), longest);
}

/** The object types that a value of a type can have. A record of an interface costs what the dearest of its types costs. */
const possibleTypes = (schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] =>
  isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : [];

/** The number of values of the argument that a list has an item for each of; undefined for other fields. */
function countValues(place: string, field: GraphQLField<unknown, unknown>, node: FieldNode, variables: Readonly<Record<string, unknown>>) {
  const list = listsByArgument[place];
  return list && Math.min((getArgumentValues(field, node, variables)[list.argument] as readonly unknown[]).length, list.most);
}

const fragmentsOf = oncePerDocument(({ definitions }) => {
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
});

/** The greatest number of values that an answer can have, and the field that most of them come from. */
export interface OperationCost {
  readonly cost: number;
  readonly dearest: string;
  /** The number of those values that describe the schema. */
  readonly introspected: number;
}

/**
 * Computes the greatest number of values, objects and scalars alike, that an operation can be answered with, from the lengths that it asks
 * of its lists. A streamed report counts 1, because its lines are never JavaScript values. Returns undefined for an operation or variables
 * that graphql-js will refuse, and throws its GraphQLError for a variable that makes an argument null.
 */
export function findCost({ schema, document, operation, variables: input }: Operation): OperationCost | undefined {
  if (!operation) return undefined;
  const root = schema.getRootType(operation.operation);
  const { coerced: variables } = getVariableValues(schema, operation.variableDefinitions ?? [], input);
  if (!root || !variables) return undefined;
  const fragments = fragmentsOf(document);
  let introspected = 0;
  /** The cost of a selection of a type. `length` bounds the lists in it; `given` are the arguments of the fields around it. */
  const costOf = (
    type: GraphQLObjectType,
    selected: ReadonlyMap<string, readonly FieldNode[]>,
    length: number,
    given: Arguments,
  ): Omit<OperationCost, 'introspected'> => {
    let cost = 0;
    let dearest = { cost: 0, name: '' };
    for (const nodes of selected.values()) {
      const field = type.getFields()[nodes[0]!.name.value];
      if (!field) {
        const own = countIntrospected(nodes, { schema, fragments, variables });
        cost += own;
        introspected += own;
        if (own > dearest.cost) dearest = { cost: own, name: nodes[0]!.name.value };
        continue;
      }
      const fieldType = getNamedType(field.type);
      const isList = isListType(getNullableType(field.type));
      const place = `${type.name}.${field.name}`;
      const types = possibleTypes(schema, fieldType);
      const known = types.length > 0 ? { ...given, ...NO_PAGE, ...getArgumentValues(field, nodes[0]!, variables) } : NO_PAGE;
      const [below] = types
        .map((each) => costOf(each, collectSubfields(schema, fragments, variables, each, nodes), toLength(place, field, known), known))
        .sort((one, other) => other.cost - one.cost);
      const bound = countValues(place, field, nodes[0]!, variables) ?? listBounds[place];
      const streamed = type === root && streamedFields.includes(field.name);
      const times = isList ? (bound ?? length) : 1;
      const own = streamed ? 1 : times * (1 + (below?.cost ?? 0));
      cost += own;
      if (below && own > dearest.cost) dearest = { cost: own, name: [field.name, below.dearest].filter(Boolean).join('.') };
    }
    return { cost, dearest: dearest.name };
  };
  return { ...costOf(root, collectFields(schema, fragments, variables, root, operation.selectionSet), 1, {}), introspected };
}

/** Throws a GraphQLError for an operation that can be answered with too many values. The error names the field that most come from. */
export function assertCost({ cost, dearest, introspected }: OperationCost): void {
  const { maxCost, maxIntrospected } = operationLimits;
  const refuse = (what: string, limit: number): never => {
    throw new GraphQLError(`${what}; the limit is ${limit}. Most come from ${dearest}: ask for fewer there`, {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED', cost, limit, field: dearest, http: { status: 400 } },
    });
  };
  if (introspected > maxIntrospected) refuse(`The introspection costs ${introspected} values`, maxIntrospected);
  if (cost > maxCost) refuse(`The operation costs ${cost} values`, maxCost);
}
