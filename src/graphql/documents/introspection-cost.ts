import {
  getArgumentValues,
  getNamedType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';

interface Request {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly variables: Readonly<Record<string, unknown>>;
}

const metaFields = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]));

/**
 * Counts the values that an introspecting root field is answered with. The count is exact, because the schema is at hand. The count of a
 * type is remembered for each selection, so that counting is quick even when the answer would be long.
 */
export function countIntrospected(nodes: readonly FieldNode[], { schema, fragments, variables }: Request): number {
  const meta = metaFields.get(nodes[0]!.name.value);
  // The field is __typename.
  if (!meta) return 1;
  const info = { schema } as GraphQLResolveInfo;
  const selections = new Map<readonly FieldNode[], ReadonlyMap<string, readonly FieldNode[]>>();
  const counts = new Map<readonly FieldNode[], Map<unknown, number>>();

  const countOf = (type: GraphQLObjectType, value: unknown, selected: readonly FieldNode[]): number => {
    const known = counts.get(selected) ?? new Map<unknown, number>();
    counts.set(selected, known);
    const before = known.get(value);
    if (before !== undefined) return before;
    const subfields = selections.get(selected) ?? collectSubfields(schema, fragments, variables, type, selected);
    selections.set(selected, subfields);
    let count = 1;
    for (const below of subfields.values()) {
      const field = type.getFields()[below[0]!.name.value];
      count += field ? countField(field, value, below) : 1;
    }
    known.set(value, count);
    return count;
  };

  const countField = (field: typeof SchemaMetaFieldDef, source: unknown, below: readonly FieldNode[]): number => {
    const result: unknown = field.resolve?.(source, getArgumentValues(field, below[0]!, variables), undefined, info);
    const values = Array.isArray(result) ? (result as readonly unknown[]) : [result];
    const type = getNamedType(field.type);
    if (!isObjectType(type)) return values.length;
    return values.reduce<number>((sum, value) => sum + (value === null || value === undefined ? 1 : countOf(type, value, below)), 0);
  };
  return countField(meta, undefined, nodes);
}
