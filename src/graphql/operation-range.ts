import { Kind, valueFromASTUntyped, visit, type ArgumentNode, type DocumentNode, type OperationDefinitionNode } from 'graphql';
import type { ReadRange } from '../domain/audit-service';
import { isLocalDate } from '../values/dates';
import { oncePerDocument } from './once-per-document';

/** An operation as the audit names it. */
export interface AskedOperation {
  /** Empty for an operation without a name. */
  readonly name: string;
  /** SHA-256 of the document's text, in hex. */
  readonly hash: string;
  /** True for a trusted document. */
  readonly isTrusted: boolean;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The arguments that choose records, besides the conditions of a `filter`. */
const CONDITIONS = ['search', 'id', 'ids', 'depositId', 'transactionId', 'designationId', 'donorId'];
/** All arguments that a range is read from. */
const CHOOSING = ['startDate', 'endDate', 'pending', 'includePending', 'filter', ...CONDITIONS];

const choosingArguments = oncePerDocument((document) => {
  const found: ArgumentNode[] = [];
  visit(document, {
    [Kind.FIELD]: ({ arguments: args = [] }) => {
      found.push(...args.filter(({ name }) => CHOOSING.includes(name.value)));
    },
  });
  return found;
});

/**
 * The range of an operation: the first and the last day that its fields ask for, where all of them are bounded, and the names of its
 * conditions. The operation must have been validated, so that the names are those of the schema and none is a caller's text.
 */
export function toReadRange({ document, operation, variables }: AskedOperation): ReadRange {
  const values = { ...defaultsOf(operation), ...variables };
  const starts: string[] = [];
  const ends: string[] = [];
  const pendings = new Set<string>();
  const conditions = new Set<string>();
  for (const { name, value: node } of choosingArguments(document)) {
    const value: unknown = valueFromASTUntyped(node, values);
    if (value === undefined || value === null) continue;
    if (name.value === 'startDate' && isLocalDate(value)) starts.push(value);
    else if (name.value === 'endDate' && isLocalDate(value)) ends.push(value);
    else if (name.value === 'pending') pendings.add(JSON.stringify(value));
    else if (name.value === 'includePending') pendings.add(JSON.stringify(value === true ? 'WITH' : 'WITHOUT'));
    else if (name.value === 'filter') for (const path of pathsOf(value)) conditions.add(path);
    else if (CONDITIONS.includes(name.value)) conditions.add(name.value);
  }
  return {
    startDate: starts.sort()[0] ?? null,
    endDate: ends.sort().at(-1) ?? null,
    pending: toPending(pendings),
    conditions: [...conditions].sort(),
  };
}

/** The choice of several fields. Posted and pending deposits together are both. */
function toPending(choices: ReadonlySet<string>): ReadRange['pending'] {
  const known = (['WITH', 'WITHOUT', 'ONLY'] as const).filter((choice) => choices.has(JSON.stringify(choice)));
  return known.length > 1 ? 'WITH' : (known[0] ?? null);
}

const defaultsOf = ({ variableDefinitions = [] }: OperationDefinitionNode): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );

/** The ways to the conditions of a filter, such as `amount.min`. */
function pathsOf(filter: unknown): string[] {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) return [];
  return Object.entries(filter).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const below = pathsOf(value);
    return below.length > 0 ? below.map((path) => `${name}.${path}`) : [name];
  });
}
