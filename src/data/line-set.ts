import { conditionNames, type ConditionName, type LineFilter, type PendingChoice } from '../formats/line-conditions';
import { Prisma } from '../generated/prisma/client';
import type { LocalDate } from '../values/dates';
import { toArrayLiteral } from './postgres/array-literal';

/** The lines of an organization's deposits in a period, narrowed by a filter; both ends of the period are included. */
export interface LineSet {
  readonly organizationId: number;
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly pending: PendingChoice;
  readonly filter: LineFilter;
}

const { sql, raw } = Prisma;
const NOBODY = 0;

/** The SQL of each condition over deposit_detail. Every value has a cast, because a COPY sends its values as text. */
const CONDITIONS: { readonly [Name in ConditionName]: (value: NonNullable<LineFilter[Name]>, organizationId: number) => Prisma.Sql } = {
  fromTransactionDate: (date) => sql`transaction_date >= ${date}::date`,
  toTransactionDate: (date) => sql`transaction_date <= ${date}::date`,
  minAmount: (amount) => sql`amount >= ${amount}::numeric`,
  maxAmount: (amount) => sql`amount <= ${amount}::numeric`,
  depositIds: (ids) => sql`deposit_id = ANY(${toArrayLiteral(ids)}::text[])`,
  transactionIds: (ids) => sql`transaction_id = ANY(${toArrayLiteral(ids)}::text[])`,
  designationIds: (ids) => sql`designation_id = ANY(${toArrayLiteral(ids)}::bigint[])`,
  // The view writes a missing donor as 0, so no index covers its donor_id. The gift's own donor_id has an index; it is null for nobody.
  donorIds: (ids, organizationId) =>
    ids.includes(NOBODY)
      ? sql`donor_id = ANY(${toArrayLiteral(ids)}::bigint[])`
      : sql`transaction_id IN (SELECT id FROM "transaction"
          WHERE organization_id = ${organizationId}::int AND donor_id = ANY(${toArrayLiteral(ids)}::bigint[]))`,
  statuses: (texts) => sql`status = ANY(${toArrayLiteral(texts)}::text[])`,
  accountTypes: (texts) => sql`account_type = ANY(${toArrayLiteral(texts)}::text[])`,
  paymentTypes: (texts) => sql`payment_type = ANY(${toArrayLiteral(texts)}::text[])`,
  donorName: (name, organizationId) => sql`transaction_id IN (SELECT gift.id FROM "transaction" gift JOIN donor USING (organization_id)
      WHERE gift.organization_id = ${organizationId}::int AND donor.id = gift.donor_id AND ${nameBegins(name)})`,
};

/** The WHERE clause that selects a line set from deposit_detail. */
export function whereLines({ organizationId, startDate, endDate, pending, filter }: LineSet): Prisma.Sql {
  const conditions = [
    sql`organization_id = ${organizationId}::int`,
    sql`deposit_date BETWEEN ${startDate}::date AND ${endDate}::date`,
    ...wherePending('deposit_status', pending),
    ...conditionNames.flatMap((name) => whereCondition(name, filter[name], organizationId)),
  ];
  return Prisma.join(conditions, ' AND ');
}

function whereCondition<Name extends ConditionName>(name: Name, value: LineFilter[Name], organizationId: number): Prisma.Sql[] {
  return value === undefined ? [] : [CONDITIONS[name](value, organizationId)];
}

/** The condition on a deposit's status; none when posted and pending deposits are both wanted. */
export function wherePending(column: string, pending: PendingChoice): Prisma.Sql[] {
  if (pending === 'WITH') return [];
  return [pending === 'ONLY' ? sql`${raw(column)} = 'PENDING'` : sql`${raw(column)} = 'POSTED'`];
}

/** A condition on a donor: the last name, or "first last", begins with the text, in any case of letters. */
export const nameBegins = (beginning: string): Prisma.Sql =>
  sql`(starts_with(lower(last_name), lower(${beginning}::text)) OR starts_with(lower(first_name || ' ' || last_name), lower(${beginning}::text)))`;
