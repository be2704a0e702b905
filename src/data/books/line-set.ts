import {
  conditionNames,
  lineConditions,
  type ConditionName,
  type DateBasis,
  type LineCondition,
  type LineFilter,
  type PendingChoice,
} from '../../formats/line-conditions';
import { Prisma } from '../../generated/prisma/client';
import { lineFields } from '../../line/line-fields';
import type { LocalDate } from '../../values/dates';
import { isLate } from './late-lines';
import { IS_CURRENT, SQL_TYPES } from './line-columns';
import { numberOf, type VersionStamp } from '../postgres/version-stamp';
import { isAmong } from '../postgres/value-list';

/** The lines of an organization in a period, narrowed by a filter; both ends of the period are included. */
export interface LineSet {
  readonly organizationId: number;
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  /** The date of a line that must lie in the period. */
  readonly dateBasis: DateBasis;
  readonly pending: PendingChoice;
  readonly filter: LineFilter;
  /** The only deposit dates of the set's lines, where they are known. An index has the lines by these. */
  readonly days?: readonly LocalDate[] | undefined;
  /** The data version whose lines are meant; undefined for the newest one. */
  readonly state?: VersionStamp | undefined;
}

const { sql, raw } = Prisma;

/** The column of deposit_line with the date that a line set goes by. */
export const DATE_COLUMNS: Readonly<Record<DateBasis, string>> = { DEPOSIT_DATE: 'deposit_date', TRANSACTION_DATE: 'transaction_date' };

/** The WHERE clause that selects a line set from deposit_line. */
export const whereLines = (lineSet: LineSet): Prisma.Sql =>
  sql`${whereState(lineSet.state)} AND organization_id = ${lineSet.organizationId}::int AND ${whereInside(lineSet)}`;

/** The condition on lines of the organization, in any state, that lie in the set's period and fit its filter. */
export function whereInside(lineSet: LineSet): Prisma.Sql {
  const { startDate, endDate, dateBasis, pending, days } = lineSet;
  const conditions = [
    days ? isAmong('deposit_date', days, 'date') : sql`${raw(DATE_COLUMNS[dateBasis])} BETWEEN ${startDate}::date AND ${endDate}::date`,
    ...wherePending('deposit_status', pending),
    ...conditionNames.flatMap((name) => whereCondition(name, lineSet)),
  ];
  return Prisma.join(conditions, ' AND ');
}

/** The condition on the lines of a state. Those of the newest one are in a partition of their own. */
export function whereState(state: VersionStamp | undefined): Prisma.Sql {
  if (state === undefined) return raw(IS_CURRENT);
  const number = numberOf(state);
  return sql`since <= ${number}::bigint AND until > ${number}::bigint`;
}

/** The SQL of a condition over deposit_line. Every value has a cast, because a COPY sends its values as text. */
function whereCondition(name: ConditionName, lineSet: LineSet): Prisma.Sql[] {
  const value = lineSet.filter[name];
  if (value === undefined) return [];
  const condition: LineCondition = lineConditions[name];
  if (condition.type === 'name') return [hasName('donor_search', value as string)];
  if (condition.type === 'late') return [sql`${isLate(lineSet)} = ${value}::boolean`];
  const column = condition.of;
  const type = SQL_TYPES[lineFields[column].type];
  if (condition.compares === undefined) return [isAmong(column, value as readonly string[] | readonly number[], type)];
  return [sql`${raw(`${column} ${condition.compares}`)} ${value}::${raw(type)}`];
}

/** The condition on a deposit's status; none when posted and pending deposits are both wanted. */
export function wherePending(column: string, pending: PendingChoice): Prisma.Sql[] {
  if (pending === 'WITH') return [];
  return [pending === 'ONLY' ? sql`${raw(column)} = 'PENDING'` : sql`${raw(column)} = 'POSTED'`];
}

/**
 * A condition on names in the form of the SQL functions search_forms and donor_search_forms: a word of a form begins with the text, which may
 * go on into the words that follow. The subquery keeps PostgreSQL from folding the text again for every row. A text of which nothing is left
 * names nobody.
 */
export const hasName = (column: string, beginning: string): Prisma.Sql =>
  sql`strpos(' ' || ${raw(column)}, (SELECT ' ' || NULLIF(fold_for_search(${beginning}::text), ''))) > 0`;
