import { Kind, parse, valueFromASTUntyped, type DocumentNode, type FieldNode, type OperationDefinitionNode } from 'graphql';

export const fileFormats = ['csv', 'ndjson', 'json'] as const;
export type FileFormat = (typeof fileFormats)[number];

const LINE_FIELDS: ReadonlySet<string> = new Set(['depositDetails', 'depositDetailsConnection', 'depositSummary']);
/** The fields of a line that a file has. */
const COLUMNS: ReadonlySet<string> = new Set([
  ...['depositId', 'transactionDate', 'depositDate', 'transactionId', 'allocationId', 'donorId', 'donorFirstName', 'donorLastName'],
  ...['address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'emailAddress', 'amount', 'feeAmount', 'netAmount', 'status'],
  ...['accountType', 'paymentType', 'designationId', 'designation', 'designationMemo', 'mainMemo'],
]);
/** Conditions of a filter that are lists, and their parameters. */
const LISTS: Readonly<Record<string, string>> = {
  depositIds: 'deposit_id',
  transactionIds: 'transaction_id',
  designationIds: 'designation_id',
  donorIds: 'donor_id',
  statuses: 'status',
  accountTypes: 'account_type',
  paymentTypes: 'payment_type',
};

/**
 * All lines of the first report, connection or summary that a query asks for, as parameters of /export/deposit-details. Throws what to
 * tell the person at the page.
 */
export function toExportParameters(query: string, variablesText: string): URLSearchParams {
  const document = parseOrExplain(query);
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const found = operations.flatMap((operation) => rootFields(document, operation).map((field) => ({ operation, field })));
  const first = found.find(({ field }) => LINE_FIELDS.has(field.name.value));
  if (!first) throw new Error('This query asks for no lines. Open an example of deposits, then download.');
  const variables = toVariables(first.operation, variablesText);
  const argument = (name: string): unknown => {
    const node = first.field.arguments?.find((each) => each.name.value === name);
    return node && valueFromASTUntyped(node.value, variables);
  };
  const parameters = new URLSearchParams();
  const set = (name: string, value: unknown): void => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') parameters.append(name, String(value));
  };
  set('start_date', argument('startDate'));
  set('end_date', argument('endDate'));
  set('include_pending', argument('includePending'));
  addFilter(argument('filter'), set);
  const columns = first.field.name.value === 'depositSummary' ? [] : columnsOf(document, first.field);
  if (columns.length > 0) parameters.set('columns', columns.map(toSnakeCase).join(','));
  return parameters;
}

function addFilter(filter: unknown, set: (name: string, value: unknown) => void): void {
  if (typeof filter !== 'object' || filter === null) return;
  const { transactionDate, amount, pending, donorName, ...lists } = filter as Readonly<Record<string, unknown>>;
  const range = (value: unknown): Readonly<Record<string, unknown>> => (value ?? {}) as Readonly<Record<string, unknown>>;
  set('transaction_date_from', range(transactionDate).from);
  set('transaction_date_to', range(transactionDate).to);
  set('amount_min', range(amount).min);
  set('amount_max', range(amount).max);
  set('pending', pending);
  set('donor_name', donorName);
  for (const [name, values] of Object.entries(lists)) {
    const parameter = LISTS[name];
    if (parameter === undefined) throw new Error(`A file cannot be narrowed by ${name}.`);
    for (const value of [values ?? []].flat()) set(parameter, value);
  }
}

/** The fields of lines that a query selects, in its order, each once. */
function columnsOf(document: DocumentNode, field: FieldNode): string[] {
  const names = fieldsOf(document, field.selectionSet?.selections ?? []).flatMap((selected) => {
    if (['nodes', 'edges', 'node'].includes(selected.name.value)) return columnsOf(document, selected);
    return COLUMNS.has(selected.name.value) ? [selected.name.value] : [];
  });
  return [...new Set(names)];
}

const rootFields = (document: DocumentNode, operation: OperationDefinitionNode): FieldNode[] =>
  fieldsOf(document, operation.selectionSet.selections);

function fieldsOf(document: DocumentNode, selections: OperationDefinitionNode['selectionSet']['selections']): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(document, selection.selectionSet.selections);
    const fragment = document.definitions.find(
      (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? fieldsOf(document, fragment.selectionSet.selections) : [];
  });
}

function toVariables({ variableDefinitions = [] }: OperationDefinitionNode, text: string): Record<string, unknown> {
  const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
  );
  return { ...Object.fromEntries(defaults), ...parseVariables(text) };
}

function parseVariables(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new Error('The variables are no JSON.', { cause });
  }
}

function parseOrExplain(query: string): DocumentNode {
  try {
    return parse(query);
  } catch (cause) {
    throw new Error('The query has a syntax error.', { cause });
  }
}

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
