import type { ExecutionResult } from 'graphql';
import { toPreview } from './answer-preview';
import { postVersioned, type GraphQLRequest } from '../session/gateway-client';
import { gatherLists, type Json, type ListedObject } from './result-lists';
import { TableStore } from './table-store';
import type { Cell, ColumnKind, LoadedTable, TableColumn } from '../values/table-types';
import { ValueList } from '../values/value-list';

export interface AnswerRequest {
  readonly provision: string;
  readonly request: GraphQLRequest;
  readonly headers: Readonly<Record<string, unknown>> | undefined;
}

/** An answer of the gateway, and the tables that its lists make. */
export interface AnsweredTables {
  /** The answer, whose long lists are cut. */
  readonly preview: ExecutionResult;
  readonly tables: readonly AnsweredTable[];
}

/** A list of an answer as a table. */
export interface AnsweredTable extends Pick<LoadedTable, 'id' | 'count' | 'samples' | 'version'> {
  /** The path of the list in the answer, such as `depositSummary.groups.nodes`. */
  readonly name: string;
  readonly columns: readonly TableColumn[];
}

interface FoundTable extends Pick<AnsweredTable, 'name' | 'columns' | 'version'> {
  readonly store: TableStore;
}

/** Sends a request and makes a table of every list of objects in its answer. */
export async function readAnswer(
  { provision, request, headers }: AnswerRequest,
  locales: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly preview: ExecutionResult; readonly tables: readonly FoundTable[] }> {
  const { answer, version = 0 } = await postVersioned(provision, request, { headers, signal });
  const tables = [...gatherLists(answer.data)]
    .map(([name, objects]) => ({ version, ...toTable(name, objects, locales) }))
    .filter(({ columns }) => columns.length > 0);
  return { preview: toPreview(answer, locales), tables };
}

const DECIMAL = /^-?\d+\.\d+$/;
/** When every amount of a column is unknown, only the column's name shows that it holds money. */
const MONEY_NAME = /amount$/i;
/** The number of a record is a name, and has no separators between thousands. */
const ID_NAME = /Id$/;

interface GatheredColumn {
  readonly values: ValueList;
  /** The kind that all values so far have in common; undefined while there is none. */
  kind: ColumnKind | undefined;
}

/**
 * Makes a table of a list's objects. Objects inside a row become columns like `key.month`. The sum of a column may count money twice,
 * because the query decides what a row is, so no column adds.
 */
function toTable(name: string, objects: readonly ListedObject[], locales: readonly string[]): Omit<FoundTable, 'version'> {
  const gathered = new Map<string, GatheredColumn>();
  const take = (row: number, column: string, value: Cell): void => {
    let known = gathered.get(column);
    if (!known) gathered.set(column, (known = { values: new ValueList(), kind: undefined }));
    fill(known.values, row);
    known.values.append(value);
    if (value !== null) known.kind = commonKind(known.kind, value);
  };
  const flatten = (row: number, object: Json, prefix: string): void => {
    for (const [key, value] of Object.entries(object)) {
      const column = prefix + key;
      if (isObject(value)) flatten(row, value, `${column}.`);
      else if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
        take(row, column, value);
    }
  };
  objects.forEach(({ of, object }, row) => {
    flatten(row, of, '');
    flatten(row, object, '');
  });
  const names = [...gathered.keys()];
  // An object that is null in one row and has columns like `donor.id` in another gets no column `donor`.
  const parents = new Set(names.flatMap((column) => prefixesOf(column)));
  const stored = [...gathered].flatMap(([id, { values, kind }]) => {
    if (parents.has(id)) return [];
    fill(values, objects.length);
    return { column: { id, title: id, kind: toKind(id, kind), adds: false, isCode: ID_NAME.test(id) }, values };
  });
  return { name, columns: stored.map(({ column }) => column), store: new TableStore(stored, locales) };
}

/** Rows that do not have the column get an empty text. */
function fill(values: ValueList, length: number): void {
  while (values.length < length) values.append('');
}

function commonKind(before: ColumnKind | undefined, value: Cell): ColumnKind {
  const own = typeof value === 'number' ? 'count' : typeof value === 'string' && DECIMAL.test(value) ? 'money' : 'text';
  return before === undefined || before === own ? own : 'text';
}

function toKind(id: string, kind: ColumnKind | undefined): ColumnKind {
  if (kind === undefined) return MONEY_NAME.test(id) ? 'money' : 'text';
  return kind === 'count' && ID_NAME.test(id) ? 'text' : kind;
}

/** The names of the objects that a column's value is in, such as `key` of `key.month`. */
function prefixesOf(column: string): string[] {
  const parts = column.split('.');
  return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join('.'));
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
