import {
  GraphQLError,
  getArgumentValues,
  getNamedType,
  getNullableType,
  getVariableValues,
  isInputObjectType,
  isListType,
  Kind,
  OperationTypeNode,
  parse,
  print,
  specifiedRules,
  typeFromAST,
  validate,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { collectFields } from 'graphql/execution/collectFields';
import { LRUCache } from 'lru-cache';
import type { ReportDocument, ReportDocuments } from '../../domain/reports/saved-report-service';
import { InputError } from '../../errors';
import { columnsOf, findUnmet, type FileQuery } from '../../formats/file-address';
import { readText } from '../../formats/file-parameters';
import { readGroupConditions } from '../../formats/group-conditions';
import { lineFieldAt } from '../../formats/line-records';
import { JsonFault, readJson } from '../../formats/json-text';
import { ALL_TIME } from '../../values/dates';
import { leavesOf, type OperationScope } from '../request/look-ahead';
import { assertFewRepeats, limitOperations, operationLimits } from '../request/operation-limits';
import type { ReportParameter } from './saved-report-types';

type Variables = Readonly<Record<string, unknown>>;

/** The root fields that ask for lines, each with the paths in its selection that lead to the fields of a line or a group. */
const REPORTS: Readonly<Record<string, readonly string[]>> = {
  depositDetails: [''],
  depositDetailsConnection: ['nodes.', 'edges.node.'],
  depositChanges: ['nodes.', 'edges.node.'],
  depositSummary: ['groups.nodes.', 'groups.edges.node.', ''],
};

const NAMES = Object.keys(REPORTS).filter((name) => name !== 'depositSummary');

/** The characters of the queries that are kept parsed, each of which takes some 15 bytes. */
const KEPT_CHARACTERS = 500_000;

/** Reads the queries of saved reports and of `reportFile` against the schema. A request asks for the same query several times. */
export class SchemaReportDocuments implements ReportDocuments {
  private readonly read = new LRUCache<string, DocumentNode>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: (_document, query) => Math.max(1, query.length),
  });

  constructor(private readonly schema: GraphQLSchema) {}

  /**
   * The file of the first report, connection, list of changes or summary that a query asks for. The file has all rows, also when the query asks for a page;
   * its columns are the fields that the query selects. Throws INVALID_PARAMETERS that names the fault.
   */
  toFileQuery({ query, variables }: ReportDocument): FileQuery {
    const { schema } = this;
    const document = this.documentOf(query);
    const operation = onlyOperation(document);
    const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, {
      maxErrors: 1,
      hideSuggestions: true,
    });
    if (!coerced) throw new InputError(`variables: ${errors[0]!.message}`, 'variables');
    const fragments: Record<string, FragmentDefinitionNode> = {};
    for (const each of document.definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments[each.name.value] = each;
    const root = schema.getQueryType()!;
    // graphql-js has accepted a null variable above and refuses it here, when it is the value of an argument that must not be null.
    return naming('variables', () => {
      const fields = collectFields(schema, fragments, coerced, root, operation.selectionSet);
      const nodes = [...fields.values()].find(([node]) => Object.hasOwn(REPORTS, node!.name.value));
      if (!nodes) throw new InputError(`query asks for no lines; use ${NAMES.join(', ')} or depositSummary`, 'query');
      const file = toFile(root, nodes, { schema, fragments, variableValues: coerced });
      const unmet = findUnmet(file);
      if (unmet !== undefined) throw new InputError(`${unmet} has no value that a line could meet`, 'query');
      return file;
    });
  }

  /**
   * The values of a query's variables from the parameters of an address: texts, dates, amounts and enum values as they are, lists by
   * repeating the name, numbers, booleans and objects as JSON. Throws INVALID_PARAMETERS for a name that is not a variable.
   */
  toVariables(query: string, given: Variables): Variables {
    this.assertVariables(query, Object.keys(given));
    const types = new Map(this.definitionsIn(query).map(({ variable, type }) => [variable.name.value, type]));
    const values = Object.entries(given).map(([name, texts]) => {
      const type = typeFromAST(this.schema, types.get(name)!) as GraphQLInputType;
      return [name, toValue(type, name, [texts].flat() as readonly string[])] as const;
    });
    return Object.fromEntries(values);
  }

  /** Throws INVALID_PARAMETERS for a name that is not a variable of the query. */
  assertVariables(query: string, names: readonly string[]): void {
    const known = this.variableNames(query);
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) throw new InputError(`there is no parameter ${unknown}`);
  }

  /** The names of a query's variables. Throws INVALID_PARAMETERS when the query is not valid. */
  variableNames(query: string): string[] {
    return this.definitionsIn(query).map(({ variable }) => variable.name.value);
  }

  /** The variables of a saved query, with their values. The query is not validated: the schema may have changed since it was saved. */
  parameters({ query, variables }: ReportDocument): ReportParameter[] {
    const definitions = onlyOperation(parse(query, { maxTokens: operationLimits.maxTokens })).variableDefinitions ?? [];
    return definitions.map(({ variable: { name: node }, type, defaultValue }) => {
      const name = node.value;
      const value = Object.hasOwn(variables, name) ? variables[name] : defaultValue && valueFromASTUntyped(defaultValue);
      return { name, type: print(type), value: value ?? null };
    });
  }

  private definitionsIn(query: string): readonly VariableDefinitionNode[] {
    return onlyOperation(this.documentOf(query)).variableDefinitions ?? [];
  }

  private documentOf(query: string): DocumentNode {
    const known = this.read.get(query) ?? readDocument(this.schema, query);
    this.read.set(query, known);
    return known;
  }
}

function toFile(root: GraphQLObjectType, nodes: readonly FieldNode[], scope: OperationScope): FileQuery {
  const name = nodes[0]!.name.value;
  const field = root.getFields()[name]!;
  const given = getArgumentValues(field, nodes[0]!, scope.variableValues);
  const { startDate, endDate, dateBasis, includePending, pending, filter, groupBy, fiscalYearStart, compareWith, having, asOf } = given;
  if (compareWith && !startDate) throw new InputError('compareWith needs a startDate to compare with', 'compareWith');
  // getArgumentValues has checked the types by the schema. A file has the same dates as the lines, so that its address tells them.
  const lines = {
    startDate: startDate ?? ALL_TIME.startDate,
    endDate: endDate ?? ALL_TIME.endDate,
    // Deposit dates are the default of the address too.
    ...(dateBasis === 'TRANSACTION_DATE' && { dateBasis }),
    includePending: includePending ?? pending === 'WITH',
    ...(pending === 'ONLY' && { pending }),
    filter: filter ?? {},
    ...(asOf ? { asOf } : {}),
  } as FileQuery['lines'];
  const query = {
    lines,
    groupBy: groupBy as FileQuery['groupBy'],
    changes: given.from ? toChanges(given) : undefined,
    ...(compareWith ? { compareWith: compareWith as FileQuery['compareWith'] } : {}),
    ...(having ? { having: having as FileQuery['having'] } : {}),
    // January is the default of the address too.
    ...(typeof fiscalYearStart === 'number' && fiscalYearStart !== 1 && { fiscalYearStart }),
  };
  const selected = leavesOf(getNamedType(field.type) as GraphQLObjectType, nodes, scope);
  const { all } = columnsOf(query);
  for (const prefix of REPORTS[name]!) {
    const paths = selected.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
    const fields = query.groupBy || query.changes ? paths : paths.map(lineFieldAt);
    const columns = fields.flatMap((field) => Object.keys(all).filter((column) => all[column]!.field === field));
    if (columns.length === 0) continue;
    // A summary whose query selects no groups is one row.
    if (query.groupBy && prefix === '') return toOneRow({ ...query, columns: [...new Set(columns)] });
    return { ...query, columns: [...new Set(columns)] };
  }
  // Falling back on all columns would put names and addresses into the file of a query that asked only for a count.
  if (!query.groupBy) throw new InputError(`query selects no values of the lines in ${name}`, 'query');
  return query;
}

/** The file of the totals of a summary. Conditions choose groups, which such a file lacks. */
function toOneRow(query: FileQuery): FileQuery {
  if (readGroupConditions(query.having).length > 0)
    throw new InputError('having: a file has the groups that it chooses: select them', 'query');
  return { ...query, groupBy: [], having: undefined };
}

const toChanges = ({ from, to, class: classes }: Variables): FileQuery['changes'] =>
  ({ from, ...(to ? { to } : {}), ...(classes ? { classes } : {}) }) as FileQuery['changes'];

function toValue(type: GraphQLInputType, name: string, texts: readonly string[]): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return texts.map((text) => toValue(nullable.ofType, name, [text]));
  if (texts.length > 1) throw new InputError(`${name} must be given once`);
  const isText = !isInputObjectType(nullable) && !NOT_TEXT.has(getNamedType(nullable).name);
  if (!isText) return parseJson(name, texts[0]!);
  const text = readText(texts[0]!);
  if (text === undefined) throw new InputError(`${name} has no value; "" stands for the empty text`);
  return text;
}
/** Scalars whose values are not text. */
const NOT_TEXT: ReadonlySet<string> = new Set(['Boolean', 'Int', 'Float', 'SafeInt']);

function parseJson(name: string, text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonFault) throw new InputError(`${name} ${error.message}`);
    throw error;
  }
}

function onlyOperation({ definitions }: DocumentNode): OperationDefinitionNode {
  const [operation, ...others] = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (!operation || others.length > 0) throw new InputError('query must be a single operation', 'query');
  if (operation.operation !== OperationTypeNode.QUERY) throw new InputError(`query is a ${operation.operation}`, 'query');
  return operation;
}

/** A document has the limits of an operation, since it is followed like one. */
const RULES = [...specifiedRules, limitOperations];

function readDocument(schema: GraphQLSchema, query: string): DocumentNode {
  return naming('query', () => {
    const document = parse(query, { maxTokens: operationLimits.maxTokens });
    assertFewRepeats(document);
    const [error] = validate(schema, document, RULES, { maxErrors: 1, hideSuggestions: true });
    if (error) throw error;
    return document;
  });
}

/** Turns an error of graphql-js into INVALID_PARAMETERS, since the caller wrote the query and its variables. */
function naming<Value>(name: string, find: () => Value): Value {
  try {
    return find();
  } catch (error) {
    if (error instanceof GraphQLError) throw new InputError(`${name}: ${error.message}`, name);
    throw error;
  }
}
