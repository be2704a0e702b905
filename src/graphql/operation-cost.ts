import {
  getArgumentValues,
  getNamedType,
  getNullableType,
  getVariableValues,
  GraphQLError,
  isListType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields';
import { MAX_PAGE_LENGTH } from '../domain/keyset-page';
import { countIntrospected } from './introspection-cost';
import { listBounds, streamedFields } from './list-bounds';
import { operationLimits } from './operation-limits';

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The length that a page was asked for with; one out of bounds is refused by its own field. */
function toLength(field: GraphQLField<unknown, unknown>, node: FieldNode, variables: Readonly<Record<string, unknown>>): number {
  if (!field.args.some(({ name }) => name === 'first')) return 1;
  const { first, last } = getArgumentValues(field, node, variables);
  return Math.min(Math.max(Number(last ?? first ?? 0), 0), MAX_PAGE_LENGTH);
}

/** How many values an answer can have at most, and the field that most of them come from. */
export interface OperationCost {
  readonly cost: number;
  readonly dearest: string;
  /** How many of them describe the schema. */
  readonly introspected: number;
}

/**
 * The most values that an operation can be answered with, objects and scalars alike, from the lengths that its lists were given. A
 * streamed report counts once: its lines are never values here. Undefined where the operation or its variables are wrong, which graphql-js
 * will say; throws its error for an argument that a variable makes null.
 */
export function findCost({ schema, document, operation, variables: input }: Operation): OperationCost | undefined {
  if (!operation) return undefined;
  const root = schema.getRootType(operation.operation);
  const { coerced: variables } = getVariableValues(schema, operation.variableDefinitions ?? [], input);
  if (!root || !variables) return undefined;
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }

  let introspected = 0;
  /** What a selection of a type comes to; `length` bounds the lists in it. */
  const costOf = (
    type: GraphQLObjectType,
    selected: ReadonlyMap<string, readonly FieldNode[]>,
    length: number,
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
      const below = isObjectType(fieldType)
        ? costOf(fieldType, collectSubfields(schema, fragments, variables, fieldType, nodes), toLength(field, nodes[0]!, variables))
        : undefined;
      const bound = listBounds[`${type.name}.${field.name}`];
      const streamed = type === root && streamedFields.includes(field.name);
      const times = isList ? (bound ?? length) : 1;
      const own = streamed ? 1 : times * (1 + (below?.cost ?? 0));
      cost += own;
      if (below && own > dearest.cost) dearest = { cost: own, name: [field.name, below.dearest].filter(Boolean).join('.') };
    }
    return { cost, dearest: dearest.name };
  };
  return { ...costOf(root, collectFields(schema, fragments, variables, root, operation.selectionSet), 1), introspected };
}

/** Refuses an operation that may be answered with too many values, and says which field makes it so. Throws a GraphQLError. */
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
