import {
  Kind,
  OperationTypeNode,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql';
import type { ReadRange } from '../../domain/audit/audit-service';
import { asOfNames, parseAsOf, toStateCondition, type AsOf } from '../../formats/as-of';
import { transactionDateNames, type DateBasis } from '../../formats/line-conditions';
import { isLocalDate, type LocalDate } from '../../values/dates';
import { oncePerDocument } from './once-per-document';

/** An operation that was found in its document. */
export interface AskedOperation {
  /** Empty for an operation without a name. */
  readonly name: string;
  /** SHA-256 of the document's text, in hex. */
  readonly hash: string;
  /** True for a trusted document. */
  readonly isTrusted: boolean;
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The facts about an operation that the log, the metrics and the audit need. */
export interface OperationFacts {
  /** As its caller named it; empty without a name. */
  readonly name: string;
  readonly hash: string;
  /** A name that no caller has chosen: that of a trusted document, or of the one field of the schema that is asked for. */
  readonly label: string;
  readonly isChange: boolean;
  /** True when the answer depends on nothing but the books and the caller's rights to them. */
  readonly readsBooksAlone: boolean;
}

/** The label of an operation that asks for several fields, or for fragments. */
const SEVERAL = 'several';

/**
 * The root fields whose values are the same for all members of an organization who have, or lack, the right to read donors, as long as the
 * books do not change.
 */
export const bookFields: ReadonlySet<string> = new Set([
  ...[
    'allocations',
    'closedThrough',
    'dataVersion',
    'dataVersions',
    'deposit',
    'depositChanges',
    'depositDetailsConnection',
    'depositSummary',
    'deposits',
    'designation',
  ],
  ...['designations', 'donor', 'donors', 'history', 'periodCloses', 'transaction', 'transactions', '__typename'],
]);

/** Anybody may write anything as the name of an operation, a donor's name too, so only names of trusted documents become labels. */
export function toFacts(asked: AskedOperation): OperationFacts {
  const { name, hash, isTrusted, operation } = asked;
  const fields = new Set(operation.selectionSet.selections.map((each) => (each.kind === Kind.FIELD ? each.name.value : SEVERAL)));
  const [field = SEVERAL] = fields.size === 1 ? fields : [];
  const { roots } = fieldsOf(asked);
  return {
    name,
    hash,
    label: isTrusted && name !== '' ? name : field,
    isChange: operation.operation === OperationTypeNode.MUTATION,
    readsBooksAlone: operation.operation === OperationTypeNode.QUERY && roots.every((root) => bookFields.has(root)),
  };
}

/** The fields that the audit and the memory of answers know an operation by, those of the fragments that it spreads included. */
interface OperationFields {
  readonly roots: readonly string[];
  readonly choosing: readonly ChoosingField[];
}

/** A field of an operation, with the arguments that choose records. */
interface ChoosingField {
  /** True when the field reads deposits of the days that its own arguments bound, which are all days where it takes none. */
  readonly readsDays: boolean;
  /** True when it reads lines beyond its own arguments: a change tells where a line came from, and where it went. */
  readonly readsBeyond: boolean;
  readonly given: ReadonlyMap<string, ValueNode>;
}

/** The root fields that read no deposits. Any other one without dates, also one that is added later, reads those of all days. */
const WITHOUT_DAYS: ReadonlySet<string> = new Set([
  ...['authenticatedTestSession', 'authenticatedTestSystem', 'errorCodes', 'provision', 'viewer'],
  ...['closedThrough', 'dataVersion', 'dataVersions', 'history', 'periodCloses', 'savedReports'],
]);
/** The arguments that choose records, besides the conditions of a `filter`. */
const STATES = [asOfNames.operation, 'from', 'to'];
const CONDITIONS = ['search', 'id', 'ids', 'depositId', 'transactionId', 'designationId', 'donorId'];

const knownFields = oncePerDocument(() => new Map<OperationDefinitionNode, OperationFields>());

function fieldsOf({ schema, document, operation }: AskedOperation): OperationFields {
  const known = knownFields(document);
  const found = known.get(operation) ?? findFields(schema, document, operation);
  known.set(operation, found);
  return found;
}

function findFields(schema: GraphQLSchema, { definitions }: DocumentNode, operation: OperationDefinitionNode): OperationFields {
  const roots: string[] = [];
  const found: ChoosingField[] = [];
  const types = new TypeInfo(schema);
  const spread = new Set<string>();
  const visitor = visitWithTypeInfo(types, {
    [Kind.FIELD]: (node: FieldNode) => {
      const name = node.name.value;
      const takesDates = types.getFieldDef()?.args.some((argument) => argument.name === 'startDate') ?? false;
      const isRoot = types.getParentType() === schema.getQueryType();
      if (isRoot) roots.push(name);
      const readsDays = takesDates || (isRoot && !name.startsWith('__') && !WITHOUT_DAYS.has(name));
      found.push({
        readsDays,
        readsBeyond: isRoot && name === 'depositChanges',
        given: new Map(node.arguments?.map((argument) => [argument.name.value, argument.value])),
      });
    },
    [Kind.FRAGMENT_SPREAD]: ({ name }) => void spread.add(name.value),
  });
  visit(operation, visitor);
  // The set grows while fragments spread others. The type of a fragment says all of its place that counts here.
  for (const name of spread) {
    const fragment = definitions.find((each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === name);
    if (fragment) visit(fragment, visitor);
  }
  return { roots, choosing: found.filter(({ readsDays, given }) => readsDays || given.size > 0) };
}

/**
 * The range of an operation: the first and the last day that its fields read, the choice of pending deposits, and the names of its
 * conditions. A field without a bound makes the bound of the operation null, since the range must not be narrower than what is read. Fields
 * that `@skip` or `@include` leaves out count too. The operation must have been validated, so that the names are those of the schema and
 * none is a caller's text.
 */
export function toReadRange(asked: AskedOperation): ReadRange {
  const values = { ...defaultsOf(asked.operation), ...asked.variables };
  const starts: (LocalDate | null)[] = [];
  const ends: (LocalDate | null)[] = [];
  const pendings: ReadRange['pending'][] = [];
  const conditions = new Set<string>();
  const addPeriod = ({ startDate, endDate }: Period): void => {
    starts.push(isLocalDate(startDate) ? startDate : null);
    ends.push(isLocalDate(endDate) ? endDate : null);
  };
  for (const { readsDays, readsBeyond, given } of fieldsOf(asked).choosing) {
    const valueOf = (name: string): unknown => {
      const node = given.get(name);
      return node && valueFromASTUntyped(node, values);
    };
    if (readsBeyond) {
      addPeriod({});
      pendings.push('WITH');
    } else if (readsDays) {
      addPeriod({ startDate: valueOf('startDate'), endDate: valueOf('endDate') });
      pendings.push(toPending(valueOf('pending'), valueOf('includePending')));
    }
    if (valueOf('dateBasis') === ('TRANSACTION_DATE' satisfies DateBasis)) conditions.add(transactionDateNames.operation);
    for (const name of STATES) {
      const state = toState(valueOf(name));
      if (state) conditions.add(toStateCondition(name, state));
    }
    const compareWith = valueOf('compareWith');
    if (compareWith) addPeriod(compareWith);
    for (const path of pathsOf(valueOf('filter'))) conditions.add(path);
    for (const path of pathsOf(valueOf('having'))) conditions.add(`having.${path}`);
    for (const name of CONDITIONS) if ((valueOf(name) ?? null) !== null) conditions.add(name);
  }
  return {
    startDate: starts.includes(null) ? null : (starts.sort()[0] ?? null),
    endDate: ends.includes(null) ? null : (ends.sort().at(-1) ?? null),
    pending: toOnePending(pendings),
    conditions: [...conditions].sort(),
  };
}

/** The state that an argument names. */
function toState(given: unknown): AsOf | undefined {
  const { version, at } = (given ?? {}) as { readonly version?: unknown; readonly at?: unknown };
  return parseAsOf(String(at ?? version));
}

interface Period {
  readonly startDate?: unknown;
  readonly endDate?: unknown;
}

/** The choice that a field makes; null when it makes none. */
function toPending(pending: unknown, includePending: unknown): ReadRange['pending'] {
  if (typeof includePending === 'boolean') return includePending ? 'WITH' : 'WITHOUT';
  return pending === 'WITH' || pending === 'WITHOUT' || pending === 'ONLY' ? pending : null;
}

/** The choice of several fields. Posted and pending deposits together are both; a field that makes no choice leaves none. */
function toOnePending(choices: readonly ReadRange['pending'][]): ReadRange['pending'] {
  const [first = null, ...others] = new Set(choices);
  if (choices.includes(null)) return null;
  return others.length > 0 ? 'WITH' : first;
}

const defaultsOf = ({ variableDefinitions = [] }: OperationDefinitionNode): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );

/** The ways to conditions within an argument, such as `amount.min`. */
function pathsOf(given: unknown): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  return Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const below = pathsOf(value);
    return below.length > 0 ? below.map((path) => `${name}.${path}`) : [name];
  });
}
