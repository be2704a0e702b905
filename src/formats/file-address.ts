import { InputError } from '../errors';
import { ALL_TIME, type LocalDate } from '../values/dates';
import { valueAt } from '../values/paths';
import type { FileFormat } from '../values/file-formats';
import { periodNames, type FindDates, type PeriodDates, type PeriodName } from '../values/periods';
import { asOfNames, toStateCondition, type AsOf } from './as-of';
import { changeClasses, type ChangeClass } from '../values/change-classes';
import {
  changeColumns,
  JOURNAL,
  journalColumns,
  lineColumns,
  parseColumns,
  summaryColumns,
  type ColumnChoice,
  type FileJournal,
} from './file-columns';
import { createFileLayout, type FileColumns, type FileLayout } from './file-format';
import {
  amount,
  assertBooked,
  choice,
  date,
  FOLLOWING,
  flag,
  id,
  isName,
  JOURNAL_PARAMETERS,
  list,
  month,
  name,
  number,
  readValue,
  state,
  toJournalConditions,
  word,
  writeText,
  type Parameter,
} from './file-parameters';
import { figureRanges, RANGE_ENDS, type GroupConditionsInput } from './group-conditions';
import {
  dateBases,
  lineConditions,
  pendingChoices,
  transactionDateNames,
  type DateBasis,
  type LineFilterInput,
  type PendingChoice,
} from './line-conditions';
import { GROUPED_BY, groupBys, type GroupBy } from './line-groups';

/** A query string as Express parses it. A name that is given several times has an array. */
export type QueryString = Readonly<Record<string, unknown>>;

/** The lines of a file, with the names of GraphQL's arguments. */
interface FileLines {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly dateBasis?: DateBasis;
  readonly includePending: boolean;
  /** Takes precedence over `includePending`. */
  readonly pending?: PendingChoice;
  readonly filter: LineFilterInput;
  /** The state of the books; the newest one when it is missing. */
  readonly asOf?: AsOf;
}

/** The changes of a file: those between two states of the books. */
interface FileChanges {
  readonly from: AsOf;
  /** The newest state when it is missing. */
  readonly to?: AsOf | undefined;
  /** All classes when it is missing. */
  readonly classes?: readonly ChangeClass[];
  /** The place that a follower has come to. */
  readonly place?: string;
  /** The seconds that a follower waits for a change; undefined for a file of no follower. */
  readonly waitSeconds?: number;
}

/** The content of a file: its lines, groups, changes or journal, and its columns. */
export interface FileQuery {
  readonly lines: FileLines;
  /** The changes of the lines; undefined for a file of the lines themselves, or of a summary. */
  readonly changes?: FileChanges | undefined;
  /** The entries of a journal; undefined for another file. */
  readonly journal?: FileJournal | undefined;
  /** The grouping of a summary; undefined for another file. */
  readonly groupBy?: readonly GroupBy[] | undefined;
  /** The first month of a summary's quarters and years, 1 to 12. */
  readonly fiscalYearStart?: number;
  /** The period whose figures stand beside those of a summary. */
  readonly compareWith?: PeriodDates | undefined;
  /** The conditions on the groups of a summary. */
  readonly having?: GroupConditionsInput | undefined;
  /** The names of the columns, in order; undefined for the usual columns. */
  readonly columns?: readonly string[] | undefined;
}

const totalsOptions = ['headers', 'skip'] as const;
type TotalsOption = (typeof totalsOptions)[number];

/** The options of a file's delivery, which do not change its rows. */
export interface FileOptions {
  /** True when CSV begins with a byte order mark, from which Excel recognizes UTF-8. */
  readonly hasBom: boolean;
  /**
   * `headers`: the totals are read before the rows. `skip`: they are not read. Undefined: trailers for a file of lines, headers for a file
   * of a summary.
   */
  readonly totals?: TotalsOption;
}

const CONDITION_TYPES = {
  date,
  amount,
  name,
  ids: (...path: string[]) => list(id(...path)),
  words: (...path: string[]) => list(word(...path)),
  numbers: (...path: string[]) => list(number(...path)),
  late: flag,
};

const PERIOD_PARAMETERS: Readonly<Record<string, Parameter>> = {
  start_date: date('lines', 'startDate'),
  end_date: date('lines', 'endDate'),
  date_basis: choice(...dateBases)('lines', 'dateBasis'),
  include_pending: flag('lines', 'includePending'),
  ...Object.fromEntries(
    Object.values(lineConditions).map(({ parameter: name, path, type }) => [
      name,
      CONDITION_TYPES[type]('lines', 'filter', ...path.split('.')),
    ]),
  ),
  pending: choice(...pendingChoices)('lines', 'pending'),
};
const COMPARED_DATES = ['compare_start_date', 'compare_end_date'] as const;
const FIGURE_TYPES = { count: number, amount, date };
/** The parameters that compare a summary with another period and choose its groups. */
const GROUP_PARAMETERS: Readonly<Record<string, Parameter>> = {
  [COMPARED_DATES[0]]: date('compareWith', 'startDate'),
  [COMPARED_DATES[1]]: date('compareWith', 'endDate'),
  ...Object.fromEntries(
    figureRanges.flatMap(({ type, path, parameter: beginning }) =>
      RANGE_ENDS[type].map((end) => [`${beginning}_${end}`, FIGURE_TYPES[type]('having', ...path, end)]),
    ),
  ),
};
const LINE_PARAMETERS = { ...PERIOD_PARAMETERS, [asOfNames.file]: state('lines', 'asOf') };
/** The reports that files are of, by their names in addresses, each with its parameters. */
const PARAMETERS = {
  'deposit-details': LINE_PARAMETERS,
  'deposit-summary': {
    ...LINE_PARAMETERS,
    group_by: list(choice(...groupBys)('groupBy')),
    fiscal_year_start: month('fiscalYearStart'),
    ...GROUP_PARAMETERS,
  },
  'deposit-changes': {
    from: state('changes', 'from'),
    to: state('changes', 'to'),
    class: list(choice(...changeClasses)('changes', 'classes')),
    ...PERIOD_PARAMETERS,
  },
  journal: {
    start_date: PERIOD_PARAMETERS.start_date!,
    end_date: PERIOD_PARAMETERS.end_date!,
    [asOfNames.file]: LINE_PARAMETERS[asOfNames.file],
    ...JOURNAL_PARAMETERS,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Parameter>>>>;
export type FileReport = keyof typeof PARAMETERS;
export const fileReports = Object.keys(PARAMETERS) as readonly FileReport[];
const DATES = ['start_date', 'end_date'] as const;
const NEEDED: readonly string[] = [...DATES, 'from'];
/** The parameter that stands in place of two dates. */
const PERIOD = 'period';
const namedPeriod = choice(...periodNames)();
/** The parameters whose texts may be empty. */
const WORDS: ReadonlySet<string> = new Set(
  Object.values(lineConditions).flatMap(({ parameter: name, type }) => (type === 'words' ? [name] : [])),
);
const COLUMNS = 'columns';
const OPTIONS = { bom: choice('true', 'false')('bom'), totals: choice(...totalsOptions)('totals') } as const;

/** The parameters that no variable of a saved report may be named like. */
export const reservedNames: readonly string[] = [...Object.keys(OPTIONS), PERIOD];

/** The parameters of FileOptions. */
export const fileOptionNames: readonly string[] = Object.keys(OPTIONS);

/** The report that a file is of. */
export const reportOf = ({ groupBy, changes, journal }: Pick<FileQuery, 'groupBy' | 'changes' | 'journal'>): FileReport =>
  journal ? 'journal' : changes ? 'deposit-changes' : groupBy ? 'deposit-summary' : 'deposit-details';

const parametersOf = (report: FileReport): Readonly<Record<string, Parameter>> => PARAMETERS[report];

/** The first and the last day that the lines of a file are of: with a period that is compared, those of both together. */
export function daysOf({ lines, compareWith }: FileQuery): PeriodDates {
  const [starts, ends] = [
    [lines.startDate, compareWith?.startDate ?? lines.startDate],
    [lines.endDate, compareWith?.endDate ?? lines.endDate],
  ];
  return { startDate: starts.toSorted()[0]!, endDate: ends.toSorted()[1]! };
}

/** The columns that a file can have. */
export function columnsOf({
  groupBy,
  changes,
  lines,
  compareWith,
  journal,
}: Pick<FileQuery, 'groupBy' | 'changes' | 'lines' | 'compareWith' | 'journal'>): ColumnChoice {
  if (journal) return journalColumns(journal.layout);
  if (changes) return changeColumns;
  return groupBy
    ? summaryColumns(groupBy, compareWith !== undefined)
    : lineColumns((lines.pending ?? (lines.includePending ? 'WITH' : 'WITHOUT')) !== 'WITHOUT');
}

/** The chosen columns of a file, in their order. */
export function chosenColumns(query: FileQuery): FileColumns {
  const { all, usual } = columnsOf(query);
  return query.columns ? Object.fromEntries(query.columns.map((name) => [name, all[name]!])) : usual;
}

/**
 * Reads a file's content from its address. A named period becomes the dates that it has now. Throws INVALID_PARAMETERS with the parameter
 * and its fault.
 */
export function parseFileQuery(report: FileReport, address: QueryString, findDates: FindDates): FileQuery {
  if (report === 'deposit-changes' && address.since !== undefined) return parseFollowing(address);
  const { dates, others } = parsePeriod(address, DATES, findDates);
  const given: QueryString = dates ? { ...others, start_date: dates.startDate, end_date: dates.endDate } : others;
  const known = parametersOf(report);
  assertKnown(given, [...Object.keys(known), COLUMNS, ...fileOptionNames]);
  const query: Tree = {
    lines: { includePending: false, filter: {} },
    ...(report === 'deposit-summary' && { groupBy: [] }),
    ...(report === 'journal' && { journal: { ...JOURNAL } }),
  };
  for (const [name, parameter] of Object.entries(known)) {
    const value = readValue(name, parameter, given[name]);
    if (value !== undefined) put(query, parameter.path, value);
    else if (NEEDED.includes(name)) throw new InputError(`${name} is missing`);
  }
  const lacking = COMPARED_DATES.find((name) => given[name] === undefined);
  if (query.compareWith !== undefined && lacking !== undefined) throw new InputError(`${lacking} is missing: a period has two dates`);
  if (report === 'journal') assertBooked(given);
  const columns = given[COLUMNS];
  const read = query as unknown as FileQuery;
  return columns === undefined ? read : { ...read, columns: parseColumns(columns, columnsOf(read)) };
}

/**
 * Reads the parameter that stands in place of the two dates, and returns the other parameters beside it. `dates` is undefined without it.
 * Throws INVALID_PARAMETERS for an unknown period, and for one beside a date.
 */
export function parsePeriod(
  { [PERIOD]: given, ...others }: QueryString,
  names: readonly [start: string, end: string],
  findDates: FindDates,
): { readonly dates: PeriodDates | undefined; readonly others: QueryString } {
  const name = readValue(PERIOD, namedPeriod, given) as PeriodName | undefined;
  if (name === undefined) return { dates: undefined, others };
  const date = names.find((each) => others[each] !== undefined);
  if (date !== undefined) throw new InputError(`${PERIOD} stands in place of ${names.join(' and ')}: give it without ${date}`);
  return { dates: findDates(name), others };
}

/** Reads a file's options from its address. Throws as `parseFileQuery`. */
export function parseFileOptions(given: QueryString): FileOptions {
  const read = (name: keyof typeof OPTIONS): unknown => readValue(name, OPTIONS[name], given[name]);
  const totals = read('totals') as TotalsOption | undefined;
  return { hasBom: read('bom') === 'true', ...(totals && { totals }) };
}

/** Reads what a follower asks for: the changes of all lines since a version. Throws as `parseFileQuery`. */
function parseFollowing(given: QueryString): FileQuery {
  const other = Object.keys(given).find((name) => Object.hasOwn(PARAMETERS['deposit-changes'], name) || name === PERIOD);
  if (other !== undefined) throw new InputError(`since is of all lines: give it without ${other}`);
  assertKnown(given, [...Object.keys(FOLLOWING), ...fileOptionNames]);
  const place = readValue('since', FOLLOWING.since, given.since) as string;
  const waitSeconds = (readValue('wait', FOLLOWING.wait, given.wait) ?? 0) as number;
  const lines = { ...ALL_TIME, includePending: false, pending: 'WITH', filter: {} } as const;
  return { lines, changes: { from: { version: Number.parseInt(place, 10) }, place, waitSeconds } };
}

/** The query string of a file's address, from which `parseFileQuery` reads the same query. */
export function formatFileQuery(query: FileQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, { path, write = String }] of Object.entries(parametersOf(reportOf(query)))) {
    for (const value of [parameterAt(query, path) ?? []].flat()) {
      if (value !== '' || WORDS.has(name)) parameters.append(name, writeText(write(value)));
    }
  }
  if (query.columns) parameters.set(COLUMNS, query.columns.join(','));
  // Commas need no escapes in a query (RFC 3986 section 3.4), and the columns are easier to read without.
  return parameters.toString().replaceAll('%2C', ',');
}

/** The parameter whose value, a donor's name, no receipt keeps: a row of the audit could not forget it. */
export const UNKEPT = lineConditions.donorName.parameter;

/**
 * The address of a file as its receipt keeps it, from which the same file is made in the receipt's state; changes are `from` a version. Null for conditions that no
 * address can express.
 */
export function formatKeptAddress(query: FileQuery, hasBom: boolean, from?: number): string | null {
  if (findUnmet(query) !== undefined) return null;
  if (query.changes?.place !== undefined) return `since=${query.changes.place}`;
  const { asOf: _state, filter, ...lines } = query.lines;
  const changes = query.changes && { ...query.changes, to: undefined, ...(from !== undefined && { from: { version: from } }) };
  const address = formatFileQuery({ ...query, changes, lines: { ...lines, filter: { ...filter, donorName: undefined } } });
  return hasBom ? `${address}&bom=true` : address;
}

/** Reads an address of `formatKeptAddress`, with the donor's name that it lacks. */
export function parseKeptAddress(
  report: FileReport,
  address: string,
  donorName?: string,
): Pick<FileOptions, 'hasBom'> & { readonly query: FileQuery } {
  const parameters = new URLSearchParams(address);
  const given: Record<string, unknown> = Object.fromEntries([...parameters.keys()].map((key) => [key, parameters.getAll(key)]));
  if (given[COLUMNS]) given[COLUMNS] = parameters.get(COLUMNS);
  if (donorName !== undefined) given[UNKEPT] = donorName;
  const findDates: FindDates = () => {
    throw new Error('A kept address has dates and no period');
  };
  return { query: parseFileQuery(report, given, findDates), hasBom: parseFileOptions(given).hasBom };
}

const BOM = '\uFEFF';

/**
 * The layout of a file with its chosen columns. A byte order mark, from which Excel recognizes UTF-8, stands before CSV alone. A follower's file
 * ends with the place that it has come to.
 */
export function toFileLayout(query: FileQuery, format: FileFormat, hasBom: boolean, place = ''): FileLayout {
  const layout = createFileLayout(format, chosenColumns(query), query.changes?.place === undefined ? undefined : { next: place });
  return hasBom && format === 'csv' ? { ...layout, head: BOM + layout.head } : layout;
}

/** The path of a condition that no line meets, or undefined. No address can express it. An empty name is no condition. */
export function findUnmet(query: FileQuery): string | undefined {
  if (query.changes?.classes?.length === 0) return 'class';
  const unmet = Object.values(lineConditions).find(({ path, type }) => {
    const value = parameterAt(query, ['lines', 'filter', ...path.split('.')]);
    if (Array.isArray(value)) return value.every((each) => each === '' && type !== 'words');
    return type === 'name' && typeof value === 'string' && value !== '' && !isName(value);
  });
  return unmet && `filter.${unmet.path}`;
}

/** The parameters of the conditions that a file has, without their values, which may be personal, and its groupings. */
export const namesOfConditions = (query: FileQuery): string[] => [
  ...Object.entries({ ...PERIOD_PARAMETERS, ...GROUP_PARAMETERS })
    .filter(
      ([name, { path }]) => (path[1] === 'filter' || path[0] !== 'lines' || name === 'pending') && (parameterAt(query, path) ?? '') !== '',
    )
    .map(([name]) => name),
  ...(query.lines.dateBasis === 'TRANSACTION_DATE' ? [transactionDateNames.file] : []),
  ...(query.lines.asOf ? [toStateCondition(asOfNames.file, query.lines.asOf)] : []),
  ...toJournalConditions(query),
  ...(query.changes ? [toStateCondition('from', query.changes.from)] : []),
  ...(query.changes?.to ? [toStateCondition('to', query.changes.to)] : []),
  ...(query.changes?.classes ?? []).map((name) => `class=${name}`),
  ...(query.groupBy ?? []).map((by) => GROUPED_BY + by),
];

function assertKnown(given: QueryString, names: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new InputError(`there is no parameter ${unknown}`);
}

type Value = string | number | boolean;

interface Tree {
  [step: string]: unknown;
}

function put(tree: Tree, [step, ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) tree[step!] = value;
  else put((tree[step!] ??= {}) as Tree, rest, value);
}

/** The value of a parameter. GraphQL's null means the same as a missing value. */
const parameterAt = (query: FileQuery, path: readonly string[]): Value | readonly Value[] | undefined =>
  (valueAt(query, path) ?? undefined) as Value | readonly Value[] | undefined;
