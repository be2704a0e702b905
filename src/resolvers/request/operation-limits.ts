import {
  GraphQLError,
  Kind,
  visit,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

/** Limits of one operation. GraphiQL's introspection query has 13 levels. */
export const operationLimits = {
  maxTokens: 2000,
  /** Fields and fragments after all fragments are spread out. */
  maxSelections: 1000,
  maxValidationErrors: 5,
  /** Pairs of fields with the same name in the answer. Validation compares the two fields of each pair. */
  maxFieldPairs: 5_000,
  /** Selections that validation visits to find those pairs. It starts again at every level and enters fragments again at each spread. */
  maxFollowedSelections: 50_000,
  maxDepth: 15,
  maxAliases: 50,
  /** Each root field of the report reads a whole report. */
  maxRootFields: 20,
  /** Values in an answer. */
  maxCost: 250_000,
  /** Values in an answer that describe the schema. GraphiQL's introspection query costs about 4,500. */
  maxIntrospected: 25_000,
  /** An operation with more values pauses on its way, so that other requests are served. */
  longCost: 2_000,
} as const;

/** The size of a selection set with its fragments spread out. */
interface Extent {
  readonly depth: number;
  readonly aliases: number;
  readonly fields: number;
  readonly selections: number;
}

const NOTHING: Extent = { depth: 0, aliases: 0, fields: 0, selections: 0 };

/** Refuses operations with too many levels, aliases, root fields or selections. The error says how many the operation has. */
export function limitOperations(context: ValidationContext): ASTVisitor {
  const extents = new Map<FragmentDefinitionNode, Extent>();

  const ofFragment = (name: string): Extent => {
    const fragment = context.getFragment(name);
    if (!fragment) return NOTHING;
    const known = extents.get(fragment);
    if (known) return known;
    // graphql-js refuses a fragment that spreads itself. The entry set here ends the recursion before that.
    extents.set(fragment, NOTHING);
    const extent = ofSelections(fragment.selectionSet);
    extents.set(fragment, extent);
    return extent;
  };

  const ofSelections = (set: SelectionSetNode): Extent => {
    let depth = 0;
    let aliases = 0;
    let fields = 0;
    let { length: selections } = set.selections;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const below = selection.selectionSet ? ofSelections(selection.selectionSet) : NOTHING;
        depth = Math.max(depth, below.depth + 1);
        aliases += below.aliases + (selection.alias ? 1 : 0);
        fields += 1;
        selections += below.selections;
      } else {
        const spread = selection.kind === Kind.FRAGMENT_SPREAD ? ofFragment(selection.name.value) : ofSelections(selection.selectionSet);
        depth = Math.max(depth, spread.depth);
        aliases += spread.aliases;
        fields += spread.fields;
        selections += spread.selections;
      }
    }
    return { depth, aliases, fields, selections };
  };

  return {
    OperationDefinition(operation) {
      const { depth, aliases, fields, selections } = ofSelections(operation.selectionSet);
      const refuse = (what: string, count: number, limit: number): void => {
        if (count <= limit) return;
        const text = `The operation has ${count} ${what}; the limit is ${limit}${wayOutOf(operation, context)}`;
        context.reportError(new GraphQLError(text, { nodes: operation }));
      };
      refuse('levels of fields', depth, operationLimits.maxDepth);
      refuse('aliases', aliases, operationLimits.maxAliases);
      refuse('root fields', fields, operationLimits.maxRootFields);
      refuse('selections after its fragments are spread out', selections, operationLimits.maxSelections);
    },
  };
}

/** The advice to an operation that asks for a summary of each month, fund or other group by itself; empty for any other. */
function wayOutOf(operation: OperationDefinitionNode, context: ValidationContext): string {
  let summaries = 0;
  const Field = ({ name }: FieldNode): void => void (name.value === 'depositSummary' && summaries++);
  for (const each of [operation, ...context.getRecursivelyReferencedFragments(operation)]) visit(each, { Field });
  return summaries > 1 ? `. One depositSummary answers many groups: ask for them by groupBy, in place of ${summaries} times` : '';
}

/**
 * Throws a GraphQLError for a document that repeats fields too often. graphql-js's rule for overlapping fields compares every two of them,
 * which would block the event loop for all requests. Must be called before validation.
 */
export function assertFewRepeats(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  let followed = 0;
  let pairs = 0;

  /** Counts the pairs of fields that these sets select together, and those on the levels below. */
  const follow = (sets: readonly SelectionSetNode[]): void => {
    const counts = new Map<string, number>();
    const below = new Map<string, SelectionSetNode[]>();
    const spread = new Set<string>();
    const queue = [...sets];
    for (let set = queue.pop(); set; set = queue.pop()) {
      followed += set.selections.length;
      assertWithin(followed, operationLimits.maxFollowedSelections, 'selections that its fragments lead to');
      for (const selection of set.selections) {
        if (selection.kind === Kind.INLINE_FRAGMENT) queue.push(selection.selectionSet);
        else if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const fragment = fragments.get(selection.name.value);
          if (fragment && !spread.has(fragment.name.value)) queue.push(fragment.selectionSet);
          spread.add(selection.name.value);
        } else {
          const key = (selection.alias ?? selection.name).value;
          const count = counts.get(key) ?? 0;
          counts.set(key, count + 1);
          pairs += count;
          if (selection.selectionSet) below.set(key, [...(below.get(key) ?? []), selection.selectionSet]);
        }
      }
      assertWithin(pairs, operationLimits.maxFieldPairs, 'pairs of repeated fields');
    }
    for (const next of below.values()) if (next.length > 1) follow(next);
  };
  // graphql-js's rule starts again at every selection set.
  visit(document, { SelectionSet: (set) => follow([set]) });
}

function assertWithin(count: number, limit: number, what: string): void {
  if (count <= limit) return;
  throw new GraphQLError(`The operation has over ${limit} ${what}: ask for each field once`, {
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400 } },
  });
}
