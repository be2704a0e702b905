import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  OperationTypeNode,
  parse,
  typeFromAST,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { periodNames } from '../../values/periods';

type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A JSON Schema (2020-12), as far as the inputs of tools need one. */
type JsonSchema = Record<string, JsonValue>;

/** The schema of an object of values. */
export type ObjectSchema = {
  readonly type: 'object';
  readonly properties: Record<string, JsonSchema>;
  readonly required: string[];
  readonly additionalProperties: false;
};

/** A query of which a tool is made. */
export interface QueryFacts {
  /** Empty for an operation without a name. */
  readonly name: string;
  /** The names of its root fields as often as it selects them, those of fragments included. */
  readonly fields: readonly string[];
  /** The names under which it asks for the places of pages. */
  readonly pageInfos: ReadonlySet<string>;
  readonly input: ObjectSchema;
}

/** The levels of input objects within each other that a schema tells. */
const MOST_LEVELS = 4;
const JSON_TYPES: Readonly<Record<string, JsonSchema>> = {
  Boolean: { type: 'boolean' },
  Int: { type: 'integer' },
  SafeInt: { type: 'integer' },
  Float: { type: 'number' },
  JSON: {},
  JSONObject: { type: 'object' },
};

/** The characters of the queries whose facts are kept. */
const KEPT_CHARACTERS = 2_000_000;

/** Tells the facts about queries, and keeps them: a list of tools asks for those of many queries, which seldom change. */
export class QueryReader {
  private readonly known = new LRUCache<string, { readonly facts: QueryFacts | undefined }>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: (_facts, query) => Math.max(1, query.length),
  });
  private readonly schemas = new Map<GraphQLInputType, JsonSchema>();

  constructor(private readonly schema: GraphQLSchema) {}

  /**
   * The facts about the only operation of a document, with the schema of its variables; undefined for a document with another number of
   * operations, or with one that is no query. The document is not validated: it is an operator's or was saved, and its run says what is wrong
   * with it.
   */
  facts(query: string): QueryFacts | undefined {
    const known = this.known.get(query) ?? { facts: this.read(parse(query)) };
    this.known.set(query, known);
    return known.facts;
  }

  private read(document: DocumentNode): QueryFacts | undefined {
    const operation = onlyQuery(document);
    if (!operation) return undefined;
    const { name, selectionSet, variableDefinitions = [] } = operation;
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    for (const { variable, type: node, defaultValue } of variableDefinitions) {
      const type = typeFromAST(this.schema, node) as GraphQLInputType | undefined;
      if (!type) continue;
      properties[variable.name.value] = this.schemaOf(type);
      if (isNonNullType(type) && !defaultValue) required.push(variable.name.value);
    }
    const fields = rootFields(selectionSet, document, new Set());
    return { name: name?.value ?? '', fields, pageInfos: pageInfosOf(document), input: toObjectSchema(properties, required) };
  }

  /** The schema of a type. Queries share that of an input object, which is long. */
  private schemaOf(given: GraphQLInputType): JsonSchema {
    const type = getNullableType(given);
    if (!isInputObjectType(type)) return toJsonSchema(type);
    const schema = this.schemas.get(type) ?? toJsonSchema(type);
    this.schemas.set(type, schema);
    return schema;
  }
}

function pageInfosOf(document: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    Field({ name, alias }) {
      if (name.value === 'pageInfo') names.add((alias ?? name).value);
    },
  });
  return names;
}

/** The fields of a selection and of its fragments. A fragment counts once: its fields are the same wherever it is spread. */
const rootFields = ({ selections }: SelectionSetNode, document: DocumentNode, spread: Set<string>): string[] =>
  selections.flatMap((each) => {
    if (each.kind === Kind.FIELD) return [each.name.value];
    if (each.kind === Kind.INLINE_FRAGMENT) return rootFields(each.selectionSet, document, spread);
    const name = each.name.value;
    if (spread.has(name)) return [];
    spread.add(name);
    const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name);
    return (fragments as readonly FragmentDefinitionNode[]).flatMap((one) => rootFields(one.selectionSet, document, spread));
  });

const toObjectSchema = (properties: Record<string, JsonSchema>, required: string[]): ObjectSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** The input of a query some of whose variables have values already, and may be left out. */
export const withValues = ({ properties, required }: ObjectSchema, given: readonly string[]): ObjectSchema =>
  toObjectSchema(
    properties,
    required.filter((name) => !given.includes(name)),
  );

/** The input with a named period, which gives the dates of a report their values. */
export const withPeriod = ({ properties, required }: ObjectSchema): ObjectSchema => {
  const period = { type: 'string', enum: [...periodNames], description: 'A period by its name, in the place of startDate and endDate.' };
  return toObjectSchema({ ...properties, period }, required);
};

function onlyQuery({ definitions }: DocumentNode): OperationDefinitionNode | undefined {
  const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const [first] = operations;
  return operations.length === 1 && first?.operation === OperationTypeNode.QUERY ? first : undefined;
}

function toJsonSchema(given: GraphQLInputType, level = 0): JsonSchema {
  const type = getNullableType(given);
  if (isListType(type)) return { type: 'array', items: toJsonSchema(type.ofType, level) };
  const description: JsonSchema = type.description ? { description: type.description } : {};
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name), ...description };
  if (!isInputObjectType(type)) return { ...(JSON_TYPES[type.name] ?? { type: 'string' }), ...description };
  if (level === MOST_LEVELS) return { type: 'object', ...description };
  const fields = Object.values(type.getFields());
  const properties = fields.map((field): [string, JsonSchema] => {
    const value = toJsonSchema(field.type, level + 1);
    return [field.name, field.description ? { ...value, description: field.description } : value];
  });
  const required = fields.filter(({ type: each, defaultValue }) => isNonNullType(each) && defaultValue === undefined);
  return {
    ...toObjectSchema(
      Object.fromEntries(properties),
      required.map(({ name }) => name),
    ),
    ...description,
  };
}
