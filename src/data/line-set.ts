import { conditionNames, type ConditionName, type DateBasis, type LineFilter, type PendingChoice } from '../formats/line-conditions';
import { Prisma } from '../generated/prisma/client';
import type { LocalDate } from '../values/dates';
import { IS_CURRENT } from './line-columns';
import { isAmong } from './postgres/value-list';

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
}

const { sql, raw } = Prisma;

/** The column of deposit_line with the date that a line set goes by. */
export const DATE_COLUMNS: Readonly<Record<DateBasis, string>> = { DEPOSIT_DATE: 'deposit_date', TRANSACTION_DATE: 'transaction_date' };

/** The SQL of each condition over deposit_line. Every value has a cast, because a COPY sends its values as text. */
const CONDITIONS: { readonly [Name in ConditionName]: (value: NonNullable<LineFilter[Name]>) => Prisma.Sql } = {
  fromTransactionDate: (date) => sql`transaction_date >= ${date}::date`,
  toTransactionDate: (date) => sql`transaction_date <= ${date}::date`,
  minAmount: (amount) => sql`amount >= ${amount}::numeric`,
  maxAmount: (amount) => sql`amount <= ${amount}::numeric`,
  depositIds: (ids) => isAmong('deposit_id', ids, 'text'),
  transactionIds: (ids) => isAmong('transaction_id', ids, 'text'),
  designationIds: (ids) => isAmong('designation_id', ids, 'bigint'),
  donorIds: (ids) => isAmong('donor_id', ids, 'bigint'),
  statuses: (texts) => isAmong('status', texts, 'text'),
  accountTypes: (texts) => isAmong('account_type', texts, 'text'),
  paymentTypes: (texts) => isAmong('payment_type', texts, 'text'),
  donorName: (name) => hasName('donor_search', name),
};

/** The WHERE clause that selects a line set from deposit_line. */
export function whereLines({ organizationId, startDate, endDate, dateBasis, pending, filter, days }: LineSet): Prisma.Sql {
  const conditions = [
    raw(IS_CURRENT),
    sql`organization_id = ${organizationId}::int`,
    days ? isAmong('deposit_date', days, 'date') : sql`${raw(DATE_COLUMNS[dateBasis])} BETWEEN ${startDate}::date AND ${endDate}::date`,
    ...wherePending('deposit_status', pending),
    ...conditionNames.flatMap((name) => whereCondition(name, filter[name])),
  ];
  return Prisma.join(conditions, ' AND ');
}

function whereCondition<Name extends ConditionName>(name: Name, value: LineFilter[Name]): Prisma.Sql[] {
  return value === undefined ? [] : [CONDITIONS[name](value)];
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
