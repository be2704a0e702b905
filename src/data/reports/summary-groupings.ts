import { groupColumns, type FieldGroup, type GroupBy, type TimeGroup } from '../../formats/line-groups';
import { fieldGroups, lineFields, type EntityKind, type LineName } from '../../line/line-fields';
import { daysBetween, monthsBetween, type LocalDate } from '../../values/dates';
import { CASTS, SQL_TYPES } from '../books/line-columns';
import type { KeyType } from '../postgres/keyset';

/** The steps by which a compared period is moved: by days, by whole weeks or by whole months. */
type Moves = 'days' | 'weeks' | 'months';

/** The column that makes groups. */
interface KeyColumn {
  readonly type: KeyType;
  /** The SQL over a row of deposit_line. `date` is the SQL of the date that the line set goes by, moved when it is one of the compared period. */
  readonly expression: (date: string, fiscalYearStart: number) => string;
  /** Missing where the groups are no dates. */
  readonly moves?: Moves;
}

interface Grouping {
  readonly key: KeyColumn;
  /** The columns of a line that name its group beside the key, in the order of `groupColumns`: all lines of a group have the same. */
  readonly labels?: readonly string[];
  /** The lines of one deposit, or even of one transaction, may be in several groups. Dates split deposits where they are of transactions. */
  readonly splits?: 'deposits' | 'transactions';
}

const period = (moves: Moves, expression: KeyColumn['expression']): Grouping => ({ key: { type: 'date', expression, moves } });
/**
 * The first day of a part of a year that begins with any month. A fiscal year that begins before year 1 is named by the first day of all.
 */
const firstDay =
  (part: 'quarter' | 'year') =>
  (date: string, fiscalYearStart: number): string => {
    const months = `make_interval(months => ${fiscalYearStart - 1})`;
    return `GREATEST((date_trunc('${part}', ${date}::timestamp - ${months}) + ${months})::date, '0001-01-01')`;
  };

const TIMES: Readonly<Record<TimeGroup, Grouping>> = {
  DAY: period('days', (date) => date),
  WEEK: period('weeks', (date) => `GREATEST(date_trunc('week', ${date}::timestamp)::date, '0001-01-01')`),
  MONTH: period('months', (date) => `date_trunc('month', ${date}::timestamp)::date`),
  QUARTER: period('months', firstDay('quarter')),
  YEAR: period('months', firstDay('year')),
};

/** A group by a value of a gift has parts of deposits, and one by a value of a share has parts of gifts. */
const SPLITS: Readonly<Record<EntityKind, Grouping['splits']>> = {
  ...{ deposit: undefined, transaction: 'deposits', donor: 'deposits', allocation: 'transactions', designation: 'transactions' },
};
/** The names belong to the id, and grouping by an id is quicker than by an id and names. No group is of a boolean. */
function byField([name, ...labels]: readonly [LineName, ...LineName[]]): Grouping {
  const { type, of } = lineFields[name];
  return { key: { type: SQL_TYPES[type] as KeyType, expression: () => name }, labels, splits: SPLITS[of] };
}

/** The ways to group lines. */
export const groupings: Readonly<Record<GroupBy, Grouping>> = {
  ...TIMES,
  ...(Object.fromEntries(Object.entries(fieldGroups).map(([by, names]) => [by, byField(names)])) as Record<FieldGroup, Grouping>),
};

/**
 * The fields of a group's key, each with its SQL over a row of the figures. The one that makes the group comes first, in the column `key`.
 */
export const groupValues = (by: GroupBy, key: string): (readonly [field: string, expression: string])[] =>
  groupColumns(by).map(([, { field, type }], index) => [
    field,
    `figure.${index === 0 ? key : labelOf(groupings[by].labels![index - 1]!)}${CASTS[type] ?? ''}`,
  ]);

/** The column of the figures that holds a label of the groups. */
export const labelOf = (label: string): string => `${label}_label`;

/**
 * The SQL of the date of a line in a compared period, which is in `column`, moved by the distance between the beginnings of both periods. Days move by
 * months where both periods begin on the same day of a month, so that a day is compared with the same day of last year.
 */
export function moveOf(column: string, moves: Moves, from: LocalDate, to: LocalDate): string {
  if (from === to) return column;
  const days = daysBetween(from, to);
  if (moves === 'weeks') return `(${column} + ${Math.round(days / 7) * 7})`;
  if (moves === 'days' && from.slice(8) !== to.slice(8)) return `(${column} + ${days})`;
  return `(${column} + make_interval(months => ${monthsBetween(from, to)}))::date`;
}
