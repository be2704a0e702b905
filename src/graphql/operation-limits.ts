import { GraphQLError, Kind, type ASTVisitor, type FragmentDefinitionNode, type SelectionSetNode, type ValidationContext } from 'graphql';

/** Bounds of one operation. Introspection as GraphiQL asks for it is 13 deep. */
export const operationLimits = {
  maxTokens: 2000,
  maxRecursiveSelections: 1000,
  maxValidationErrors: 5,
  maxDepth: 15,
  maxAliases: 50,
  /** Each root field of the report reads a whole report. */
  maxRootFields: 20,
  /** Values in an answer. */
  maxCost: 250_000,
} as const;

/** What a selection set comes to with its fragments spread out. */
interface Extent {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
}

/** Refuses operations that are too deep, rename too much or ask for too many root fields, and says by how much. */
export function limitOperations(context: ValidationContext): ASTVisitor {
  const extents = new Map<FragmentDefinitionNode, Extent>();

  const ofFragment = (name: string): Extent => {
    const fragment = context.getFragment(name);
    if (!fragment) return { depth: 0, aliases: 0, fields: 0 };
    const known = extents.get(fragment);
    if (known) return known;
    // A fragment that spreads itself is refused by graphql-js's own rule; here it must only end.
    extents.set(fragment, { depth: 0, aliases: 0, fields: 0 });
    const extent = ofSelections(fragment.selectionSet);
    extents.set(fragment, extent);
    return extent;
  };

  const ofSelections = (set: SelectionSetNode): Extent => {
    let depth = 0;
    let aliases = 0;
    let fields = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const below = selection.selectionSet ? ofSelections(selection.selectionSet) : { depth: 0, aliases: 0 };
        depth = Math.max(depth, below.depth + 1);
        aliases += below.aliases + (selection.alias ? 1 : 0);
        fields += 1;
      } else {
        const spread = selection.kind === Kind.FRAGMENT_SPREAD ? ofFragment(selection.name.value) : ofSelections(selection.selectionSet);
        depth = Math.max(depth, spread.depth);
        aliases += spread.aliases;
        fields += spread.fields;
      }
    }
    return { depth, aliases, fields };
  };

  return {
    OperationDefinition(operation) {
      const { depth, aliases, fields } = ofSelections(operation.selectionSet);
      const refuse = (what: string, count: number, limit: number): void => {
        if (count > limit)
          context.reportError(new GraphQLError(`The operation has ${count} ${what}; the limit is ${limit}`, { nodes: operation }));
      };
      refuse('levels of fields', depth, operationLimits.maxDepth);
      refuse('aliases', aliases, operationLimits.maxAliases);
      refuse('root fields', fields, operationLimits.maxRootFields);
    },
  };
}
