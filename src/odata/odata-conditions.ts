import { InputError } from '../errors';
import { namesOfConditions, type FileQuery } from '../formats/file-address';
import { lineConditions, type LineCondition, type PendingChoice } from '../formats/line-conditions';
import { groupColumns, type TimeGroup } from '../formats/line-groups';
import { isLineName, lineFields } from '../line/line-fields';
import { ALL_TIME, isLocalDate, type LocalDate } from '../values/dates';
import { isMoney, toCents } from '../values/money';
import { valueAt } from '../values/paths';
import { addDays, toPeriodDates, type PeriodDates, type PeriodName } from '../values/periods';
import { cut, notImplemented, type Comparison, type Literal } from './odata-filter';

/** The comparisons that a property takes: `single` for `eq` alone, `range` for all. */
export type FilterForm = 'single' | 'range';

/** The period whose dates are those of a group, when it is that of a day within. */
const PERIODS: Readonly<Record<TimeGroup, PeriodName>> = {
  DAY: 'today',
  WEEK: 'this-week',
  MONTH: 'this-month',
  QUARTER: 'this-quarter',
  YEAR: 'this-fiscal-year',
};

/** The part of time that a column is of; undefined for any other column, and where its groups are no periods that have a name. */
function timeGroupOf(column: string, { groupBy = [], fiscalYearStart = 1, compareWith }: FileQuery): TimeGroup | undefined {
  const found = groupBy.find((by): by is TimeGroup => Object.hasOwn(PERIODS, by) && groupColumns(by)[0]![0] === column);
  // Quarters of the calendar begin in four months alone.
  if (compareWith || (found === 'QUARTER' && (fiscalYearStart - 1) % 3 !== 0)) return undefined;
  return found;
}

const conditionsOf = (column: string): LineCondition[] =>
  Object.values(lineConditions as Readonly<Record<string, LineCondition>>).filter((each) => 'of' in each && each.of === column);

/** True for the column of the dates of a query's period. A compared period is moved with the first of them. */
const isPeriod = (column: string, { lines: { dateBasis = 'DEPOSIT_DATE' }, compareWith }: FileQuery): boolean =>
  !compareWith && column === (dateBasis === 'DEPOSIT_DATE' ? 'deposit_date' : 'transaction_date');

/** The comparisons that a column of a query takes; undefined for none. Only what files take as parameters is compared. */
export function findFilterForm(column: string, query: FileQuery): FilterForm | undefined {
  if (isPeriod(column, query) || timeGroupOf(column, query)) return 'range';
  if (column === 'deposit_status') return 'single';
  const [condition] = conditionsOf(column);
  return condition && (condition.type === 'date' || condition.type === 'amount' ? 'range' : 'single');
}

/** The query with the rows alone that meet a comparison of a column, in which `findFilterForm` finds a form. Throws INVALID_PARAMETERS. */
export function narrow(query: FileQuery, column: string, { operator, literal, property }: Comparison): FileQuery {
  const isFrom = operator !== 'le';
  const isTo = operator !== 'ge';
  const form = findFilterForm(column, query);
  if (form === undefined) throw notImplemented(`${property} cannot be compared`, 'what $metadata says of each set');
  if (form === 'single' && operator !== 'eq') throw notImplemented(`${property} is compared by ${operator}`, 'eq for it');
  const by = timeGroupOf(column, query);
  if (by || isPeriod(column, query)) {
    const date = toDate(property, literal);
    const period = by ? toPeriodDates(PERIODS[by], { today: date, fiscalYearStart: query.fiscalYearStart ?? 1 }) : undefined;
    return narrowPeriod(query, toRange(date, period, isFrom, isTo));
  }
  if (column === 'deposit_status') return narrowPending(query, toText(property, literal));
  return conditionsOf(column).reduce((narrowed, condition) => {
    if (condition.type === 'date' || condition.type === 'amount') {
      if (condition.compares === '>=' ? !isFrom : !isTo) return narrowed;
      const value = condition.type === 'date' ? toDate(property, literal) : toAmount(property, literal);
      return narrowEnd(narrowed, condition, value);
    }
    return narrowList(narrowed, condition.path, readValue(column, property, literal));
  }, query);
}

/** The days of the groups that are named by a date, or by one from it on, or up to it. Undefined when there are none. */
function toRange(date: LocalDate, period: PeriodDates | undefined, isFrom: boolean, isTo: boolean): PeriodDates | undefined {
  if (!period) return { startDate: isFrom ? date : ALL_TIME.startDate, endDate: isTo ? date : ALL_TIME.endDate };
  // A group is named by its first day.
  const isFirst = period.startDate === date;
  const next = addDays(isLocalDate(period.endDate) ? period.endDate : ALL_TIME.endDate, 1);
  if (isFrom && !isFirst && (isTo || !isLocalDate(next))) return undefined;
  return {
    startDate: !isFrom ? ALL_TIME.startDate : isFirst ? date : next,
    endDate: isTo && isLocalDate(period.endDate) ? period.endDate : ALL_TIME.endDate,
  };
}

function narrowPeriod(query: FileQuery, range: PeriodDates | undefined): FileQuery {
  if (!range) return toNothing(query);
  const { lines } = query;
  const startDate = range.startDate > lines.startDate ? range.startDate : lines.startDate;
  const endDate = range.endDate < lines.endDate ? range.endDate : lines.endDate;
  return startDate > endDate ? toNothing(query) : { ...query, lines: { ...lines, startDate, endDate } };
}

const PENDING: Readonly<Record<string, PendingChoice>> = { posted: 'WITHOUT', pending: 'ONLY' };

function narrowPending(query: FileQuery, status: string): FileQuery {
  const asked = PENDING[status];
  const { pending = query.lines.includePending ? 'WITH' : 'WITHOUT' } = query.lines;
  if (asked === undefined || (pending !== 'WITH' && pending !== asked)) return toNothing(query);
  return { ...query, lines: { ...query.lines, pending: asked } };
}

/** Narrows one end of a range, whose other end may then lie beyond it. */
function narrowEnd(
  query: FileQuery,
  { path, type, compares }: Extract<LineCondition, { readonly type: 'date' | 'amount' }>,
  value: string,
): FileQuery {
  const [name, end] = path.split('.') as ['transactionDate' | 'amount', string];
  const range = query.lines.filter[name] as Readonly<Record<string, string>> | null | undefined;
  const isLess = (one: string, other: string): boolean => (type === 'amount' ? toCents(one)! < toCents(other)! : one < other);
  const before = range?.[end];
  const isNarrower = before == null || (compares === '>=' ? isLess(before, value) : isLess(value, before));
  const narrowed: Readonly<Record<string, string>> = { ...range, ...(isNarrower && { [end]: value }) };
  const [first, last] = type === 'amount' ? [narrowed.min, narrowed.max] : [narrowed.from, narrowed.to];
  if (first != null && last != null && isLess(last, first)) return toNothing(query);
  return withFilter(query, { [name]: narrowed });
}

function narrowList(query: FileQuery, path: string, value: string | number | undefined): FileQuery {
  const before = valueAt(query.lines.filter, [path]) as readonly (string | number)[] | null | undefined;
  const isNone = value === undefined || (before && !before.includes(value));
  return withFilter(query, { [path]: isNone ? [] : [value] });
}

const withFilter = (query: FileQuery, conditions: FileQuery['lines']['filter']): FileQuery => ({
  ...query,
  lines: { ...query.lines, filter: { ...query.lines.filter, ...conditions } },
});

/** The deposits of a query of no lines whose caller has asked for none of them. */
const NO_DEPOSITS: readonly string[] = [];

/** A query of no lines: no deposit is among none. */
function toNothing(query: FileQuery): FileQuery {
  const { depositIds } = query.lines.filter;
  return withFilter(query, { depositIds: depositIds && depositIds !== NO_DEPOSITS ? [] : NO_DEPOSITS });
}

/** The names of the conditions that a caller has asked for. */
export const namesOfAsked = (query: FileQuery): string[] =>
  namesOfConditions(query.lines.filter.depositIds === NO_DEPOSITS ? withFilter(query, { depositIds: undefined }) : query);

/** The value of a column of texts or numbers; undefined for a number that no column has. */
function readValue(column: string, property: string, literal: Literal): string | number | undefined {
  if (!isLineName(column) || lineFields[column].type !== 'number') return toText(property, literal);
  if (literal.type !== 'number') throw toMismatch(property, 'a number');
  // A fraction may be too small for a number, and no id has one.
  const value = /^[-+]?\d+(\.0*)?$/.test(literal.value) ? Number(literal.value) : NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

function toDate(property: string, { type, value }: Literal): LocalDate {
  if (type !== 'date' || !isLocalDate(value)) throw toMismatch(property, 'a date such as 2026-01-31');
  return value;
}

function toText(property: string, { type, value }: Literal): string {
  if (type !== 'text') throw toMismatch(property, 'a text in quotes');
  return value;
}

/** An amount with two decimals. A number that none has is proper OData. */
function toAmount(property: string, { type, value }: Literal): string {
  if (type !== 'number') throw toMismatch(property, 'a number');
  const [, sign, whole = '', cents = ''] = /^([-+]?)0*(\d+)(?:\.(\d{0,2})0*)?$/.exec(value) ?? [];
  const digits = `${whole}.${cents.padEnd(2, '0')}`;
  const amount = sign === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
  if (!isMoney(amount)) throw notImplemented(`${property} is compared with ${cut(value)}`, 'an amount of at most two decimals');
  return amount;
}

const toMismatch = (property: string, expected: string): InputError => new InputError(`$filter: ${property} is compared with ${expected}`);
