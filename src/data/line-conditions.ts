import { Prisma } from '../generated/prisma/client';
import type { LocalDate } from '../values/dates';
import type { Money } from '../values/money';
import { toArrayLiteral } from './postgres/array-literal';

/** Which lines of whose deposits: every condition that is given must hold, both ends of a range included. */
export interface LineSet {
  readonly organizationId: number;
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly pending: PendingChoice;
  readonly filter: LineFilter;
}

/** Pending deposits with the posted ones, without them, or nothing but them. */
export type PendingChoice = 'WITH' | 'WITHOUT' | 'ONLY';

/** A list holds where the line has one of its values. */
export interface LineFilter {
  readonly fromTransactionDate?: LocalDate | undefined;
  readonly toTransactionDate?: LocalDate | undefined;
  readonly depositIds?: readonly string[] | undefined;
  readonly transactionIds?: readonly string[] | undefined;
  readonly designationIds?: readonly number[] | undefined;
  readonly donorIds?: readonly number[] | undefined;
  readonly statuses?: readonly string[] | undefined;
  readonly accountTypes?: readonly string[] | undefined;
  readonly paymentTypes?: readonly string[] | undefined;
  /** Of the whole transaction. */
  readonly minAmount?: Money | undefined;
  readonly maxAmount?: Money | undefined;
  /** How the donor's last name, or first and last name, begins; letters' case does not count. Nobody has no name. */
  readonly donorName?: string | undefined;
}

const { sql, raw } = Prisma;
const NOBODY = 0;

/** The condition over deposit_detail. Every value has a cast, so that it may travel as text. */
export function whereLines({ organizationId, startDate, endDate, pending, filter }: LineSet): Prisma.Sql {
  const conditions = [
    sql`organization_id = ${organizationId}::int`,
    sql`deposit_date BETWEEN ${startDate}::date AND ${endDate}::date`,
    ...wherePending('deposit_status', pending),
  ];
  const add = <Value>(value: Value | undefined, toCondition: (value: Value) => Prisma.Sql): void => {
    if (value !== undefined) conditions.push(toCondition(value));
  };
  add(filter.fromTransactionDate, (date) => sql`transaction_date >= ${date}::date`);
  add(filter.toTransactionDate, (date) => sql`transaction_date <= ${date}::date`);
  add(filter.depositIds, (ids) => sql`deposit_id = ANY(${toArrayLiteral(ids)}::text[])`);
  add(filter.transactionIds, (ids) => sql`transaction_id = ANY(${toArrayLiteral(ids)}::text[])`);
  add(filter.designationIds, (ids) => sql`designation_id = ANY(${toArrayLiteral(ids)}::bigint[])`);
  // The view's donor_id is also 0 for nobody, so that no index has it; the transactions' own has one.
  add(filter.donorIds, (ids) =>
    ids.includes(NOBODY)
      ? sql`donor_id = ANY(${toArrayLiteral(ids)}::bigint[])`
      : sql`transaction_id IN (SELECT id FROM "transaction"
          WHERE organization_id = ${organizationId}::int AND donor_id = ANY(${toArrayLiteral(ids)}::bigint[]))`,
  );
  add(filter.statuses, (texts) => sql`status = ANY(${toArrayLiteral(texts)}::text[])`);
  add(filter.accountTypes, (texts) => sql`account_type = ANY(${toArrayLiteral(texts)}::text[])`);
  add(filter.paymentTypes, (texts) => sql`payment_type = ANY(${toArrayLiteral(texts)}::text[])`);
  add(filter.minAmount, (amount) => sql`amount >= ${amount}::numeric`);
  add(filter.maxAmount, (amount) => sql`amount <= ${amount}::numeric`);
  add(
    filter.donorName,
    (name) => sql`transaction_id IN (SELECT gift.id FROM "transaction" gift JOIN donor USING (organization_id)
      WHERE gift.organization_id = ${organizationId}::int AND donor.id = gift.donor_id AND ${nameBegins(name)})`,
  );
  return Prisma.join(conditions, ' AND ');
}

/** The condition over a deposit's status, where there is one. */
export function wherePending(column: string, pending: PendingChoice): Prisma.Sql[] {
  if (pending === 'WITH') return [];
  return [pending === 'ONLY' ? sql`${raw(column)} = 'PENDING'` : sql`${raw(column)} = 'POSTED'`];
}

/** Of a donor: how the last name begins, or first and last name. */
export const nameBegins = (beginning: string): Prisma.Sql =>
  sql`(starts_with(lower(last_name), lower(${beginning}::text)) OR starts_with(lower(first_name || ' ' || last_name), lower(${beginning}::text)))`;
