import {
  getArgumentValues,
  getNamedType,
  getNullableType,
  getVariableValues,
  GraphQLError,
  GraphQLObjectType,
  isListType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields';
import { MAX_PAGE_LENGTH } from '../resolvers/connection-types';
import { operationLimits } from './operation-limits';

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A page out of bounds is refused by its own field. */
const clamp = (length: number): number => Math.min(Math.max(length, 0), MAX_PAGE_LENGTH);

/** How many objects an answer can have at most, and the field that most of them come from. */
export interface OperationCost {
  readonly cost: number;
  readonly dearest: string;
}

/** Lists that have a bound of their own instead of an argument. */
const OWN_BOUNDS: Readonly<Record<string, number>> = { 'DepositSummary.groups': 5000 };
/** Says where a list lies; no part of it. */
const FREE_TYPE = 'PageInfo';

/**
 * The most objects that an operation can be answered with, from the lengths that its lists were given. Scalars cost nothing, and so do
 * the lines of a streamed report, which are never objects. Undefined where the operation or its variables are wrong: graphql-js will say how.
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

  /** What a selection of a type comes to; `length` bounds the lists in it. */
  const costOf = (type: GraphQLObjectType, selected: ReadonlyMap<string, readonly FieldNode[]>, length: number): OperationCost => {
    let cost = 0;
    let dearest = { cost: 0, name: '' };
    for (const [key, nodes] of selected) {
      const field = type.getFields()[nodes[0]!.name.value];
      const fieldType = field && getNamedType(field.type);
      if (!(fieldType instanceof GraphQLObjectType) || fieldType.name === FREE_TYPE) continue;
      const { first, last } = getArgumentValues(field!, nodes[0]!, variables);
      const asked = Number(last ?? first ?? 1);
      const below = costOf(fieldType, collectSubfields(schema, fragments, variables, fieldType, nodes), clamp(asked));
      const times = isListType(getNullableType(field!.type)) ? (OWN_BOUNDS[`${type.name}.${field!.name}`] ?? length) : 1;
      const own = times * (1 + below.cost);
      cost += own;
      if (own > dearest.cost) dearest = { cost: own, name: [key, below.dearest].filter(Boolean).join('.') };
    }
    return { cost, dearest: dearest.name };
  };
  return costOf(root, collectFields(schema, fragments, variables, root, operation.selectionSet), 1);
}

/** Refuses an operation that may be answered with too many objects, and says which field makes it so. */
export function assertCost({ cost, dearest }: OperationCost): void {
  if (cost <= operationLimits.maxCost) return;
  const message = `The operation costs ${cost} objects; the limit is ${operationLimits.maxCost}. Most of them come from ${dearest}: ask for fewer there`;
  throw new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } } });
}
