import { InputError } from '../errors';
import { describeDateFault, isLocalDate, type LocalDate } from '../values/dates';
import { toCents } from '../values/money';
import { lineColumns, summaryColumns, type ColumnChoice } from './file-columns';
import type { FileColumns } from './file-format';
import { conditionNames, isPersonal, lineConditions, pendingChoices, type LineFilterInput, type PendingChoice } from './line-conditions';
import { groupBys, type GroupBy } from './line-groups';

/** A query string as Express gives it: each name once or more than once. */
export type QueryString = Readonly<Record<string, unknown>>;

/** Which lines, as GraphQL's arguments name it. */
interface FileLines {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly includePending: boolean;
  readonly filter: LineFilterInput & { readonly pending?: PendingChoice | null | undefined };
}

/** What a file is of. */
export interface FileQuery {
  readonly lines: FileLines;
  /** Undefined for the lines themselves; of a summary, what it is grouped by. */
  readonly groupBy?: readonly GroupBy[] | undefined;
  /** The names of its columns in their order; undefined for the usual ones. */
  readonly columns?: readonly string[] | undefined;
}

/** How a file is given. */
export interface FileOptions {
  /** Whether CSV begins with a byte order mark, by which Excel knows UTF-8. */
  readonly hasBom: boolean;
  /** Whether control totals and digest are worked out before the first row leaves. */
  readonly hasTotals: boolean;
}

/** A parameter of a file's address, and where its value stands in the query. */
interface Parameter {
  readonly path: readonly string[];
  readonly read: (text: string) => unknown;
  readonly expected: string;
  /** What is wrong with a value that was given once, where that says more than what was expected. */
  readonly describeFault?: (text: string) => string;
  readonly isList?: boolean;
}

const parameter =
  (expected: string, read: (text: string) => unknown) =>
  (...path: string[]): Parameter => ({ path, read, expected });
const list = (parameter: Parameter): Parameter => ({ ...parameter, isList: true });

const text = parameter('given once', (value) => value);
const date = (...path: string[]): Parameter => ({
  path,
  read: (value) => (isLocalDate(value) ? value : undefined),
  expected: 'a date YYYY-MM-DD',
  describeFault: describeDateFault,
});
const amount = parameter('an amount like 10.00', (value) => (toCents(value) === undefined ? undefined : value));
const number = parameter('a number', (value) =>
  /^-?[0-9]{1,16}$/.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : undefined,
);
const flag = parameter('true or false', (value) => (value === 'true' ? true : value === 'false' ? false : undefined));
const choice = (...choices: readonly string[]) =>
  parameter(`${choices.slice(0, -1).join(', ')} or ${choices.at(-1)!}`, (value) => choices.find((each) => each === value));

const CONDITION_TYPES = {
  date,
  amount,
  text,
  texts: (...path: string[]) => list(text(...path)),
  numbers: (...path: string[]) => list(number(...path)),
};

const LINE_PARAMETERS: Readonly<Record<string, Parameter>> = {
  start_date: date('lines', 'startDate'),
  end_date: date('lines', 'endDate'),
  include_pending: flag('lines', 'includePending'),
  ...Object.fromEntries(
    Object.values(lineConditions).map(({ parameter: name, path, type }) => [
      name,
      CONDITION_TYPES[type]('lines', 'filter', ...path.split('.')),
    ]),
  ),
  pending: choice(...pendingChoices)('lines', 'filter', 'pending'),
};
const SUMMARY_PARAMETERS: Readonly<Record<string, Parameter>> = {
  ...LINE_PARAMETERS,
  group_by: list(choice(...groupBys)('groupBy')),
};
const NEEDED = ['start_date', 'end_date'];
const COLUMNS = 'columns';
const OPTIONS = { bom: choice('true', 'false')('bom'), totals: choice('headers', 'skip')('totals') } as const;

/** The names that say how a file is given, and not of what. */
export const fileOptionNames: readonly string[] = Object.keys(OPTIONS);

const parametersOf = ({ groupBy }: Pick<FileQuery, 'groupBy'>) => (groupBy ? SUMMARY_PARAMETERS : LINE_PARAMETERS);

/** The columns that a file can have. */
export function columnsOf({ groupBy, lines }: Pick<FileQuery, 'groupBy' | 'lines'>): ColumnChoice {
  return groupBy
    ? summaryColumns(groupBy)
    : lineColumns((lines.filter.pending ?? (lines.includePending ? 'WITH' : 'WITHOUT')) !== 'WITHOUT');
}

/** The chosen columns of a file, in their order. */
export function chosenColumns(query: FileQuery): FileColumns {
  const { all, usual } = columnsOf(query);
  return query.columns ? Object.fromEntries(query.columns.map((name) => [name, all[name]!])) : usual;
}

/** Reads what a file is of from its address. Throws INVALID_PARAMETERS that names what is wrong. */
export function parseFileQuery(report: 'lines' | 'summary', given: QueryString): FileQuery {
  const groupBy = report === 'summary' ? [] : undefined;
  const known = parametersOf({ groupBy });
  assertKnown(given, [...Object.keys(known), COLUMNS, ...fileOptionNames]);
  const query: Tree = { lines: { includePending: false, filter: {} }, ...(groupBy && { groupBy }) };
  for (const [name, parameter] of Object.entries(known)) {
    const value = readValue(name, parameter, given[name]);
    if (value !== undefined) put(query, parameter.path, value);
    else if (NEEDED.includes(name)) throw new InputError(`${name} is missing`);
  }
  const columns = given[COLUMNS];
  const read = query as unknown as FileQuery;
  return columns === undefined ? read : { ...read, columns: parseColumns(columns, columnsOf(read)) };
}

/** Reads how a file is given. Throws as `parseFileQuery`. */
export function parseFileOptions(given: QueryString): FileOptions {
  const read = (name: keyof typeof OPTIONS): unknown => readValue(name, OPTIONS[name], given[name]);
  return { hasBom: read('bom') === 'true', hasTotals: read('totals') !== 'skip' };
}

/** The query string of a file's address: what `parseFileQuery` reads the same query from. */
export function formatFileQuery(query: FileQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, { path }] of Object.entries(parametersOf(query))) {
    for (const value of [valueAt(query, path) ?? []].flat()) parameters.append(name, String(value));
  }
  if (query.columns) parameters.set(COLUMNS, query.columns.join(','));
  // Commas need no escapes in a query (RFC 3986 section 3.4), and the columns are for people to read.
  return parameters.toString().replaceAll('%2C', ',');
}

/** A condition with an empty list, which no line meets and no address can tell; undefined where there is none. */
export const findEmptyList = (query: FileQuery): string | undefined =>
  Object.values(LINE_PARAMETERS)
    .map(({ path }) => path)
    .find((path) => [valueAt(query, path)].some((value) => Array.isArray(value) && value.length === 0))
    ?.slice(1)
    .join('.');

/** The names of the conditions that narrow a file, without their values: those may be of persons. */
export const namesOfConditions = (query: FileQuery): string[] =>
  Object.entries(LINE_PARAMETERS)
    .filter(([, { path }]) => path.includes('filter') && valueAt(query, path) !== undefined)
    .map(([name]) => name);

function assertKnown(given: QueryString, names: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new InputError(`there is no parameter ${unknown}`);
}

function readValue(name: string, { read, expected, describeFault, isList }: Parameter, given: unknown): unknown {
  if (given === undefined) return undefined;
  const texts = [given].flat().map(String);
  const values = texts.map(read);
  if (describeFault && texts.length === 1 && values[0] === undefined) throw new InputError(`${name}: ${describeFault(texts[0]!)}`);
  if (values.includes(undefined) || (texts.length > 1 && !isList)) throw new InputError(`${name} must be ${expected}`);
  return isList ? values : values[0];
}

/** Names of columns in their order, `all` or `v2` among them for several. Throws INVALID_PARAMETERS. */
export function parseColumns(given: unknown, { all, groups }: ColumnChoice): readonly string[] {
  const words = typeof given === 'string' ? given.split(',') : [];
  const names = words.flatMap((word) => (Object.hasOwn(groups, word) ? groups[word]! : [word]));
  const areKnown = names.every((name) => Object.hasOwn(all, name));
  if (names.length === 0 || !areKnown || new Set(names).size !== names.length) {
    throw new InputError(`${COLUMNS} must be names of fields of the report, each once, separated by commas`);
  }
  return names;
}

/** True when one of these names of conditions, as `namesOfConditions` gives them, tells donors apart. */
export const tellsDonorsByName = (names: readonly string[]): boolean =>
  conditionNames.some((name) => isPersonal(name) && names.includes(lineConditions[name].parameter));

type Value = string | number | boolean;

interface Tree {
  [step: string]: unknown;
}

function put(tree: Tree, [step, ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) tree[step!] = value;
  else put((tree[step!] ??= {}) as Tree, rest, value);
}

/** Null, as GraphQL gives what was left open, is as good as nothing. */
function valueAt(query: FileQuery, path: readonly string[]): Value | readonly Value[] | undefined {
  const value = path.reduce<unknown>((tree, step) => (tree as Tree | null | undefined)?.[step], query);
  return (value ?? undefined) as Value | readonly Value[] | undefined;
}
