import { Prisma } from '../../generated/prisma/client';
import { numberOf, type VersionStamp } from '../postgres/version-stamp';

/** The organization and the state whose closes are meant; without a state, those of the newest one. */
interface ClosedBooks {
  readonly organizationId: number;
  readonly state?: VersionStamp | undefined;
}

const { sql, raw } = Prisma;

/** The condition that a close of the newest state is in force. */
export const IS_IN_FORCE = 'reopened_version IS NULL';

/** The condition on the closes of an organization that are in force in a state. */
export function whereInForce({ organizationId, state }: ClosedBooks): Prisma.Sql {
  const ofOrganization = sql`organization_id = ${organizationId}::int`;
  if (state === undefined) return sql`${ofOrganization} AND ${raw(IS_IN_FORCE)}`;
  const number = numberOf(state);
  return sql`${ofOrganization} AND version <= ${number}::bigint AND (reopened_version IS NULL OR reopened_version > ${number}::bigint)`;
}

/**
 * The expression that is true for a late line: its money has changed since the close that covers its deposit date, which is the one in force
 * with the first date that is not before it. The closes become two arrays once for the statement, and each line is a search in one of them.
 */
export function isLate(books: ClosedBooks): Prisma.Sql {
  const closes = (values: string): Prisma.Sql =>
    sql`(SELECT array_agg(${raw(values)} ORDER BY through) FROM period_close WHERE ${whereInForce(books)})`;
  return sql`COALESCE(money_since > ${closes('version')}[width_bucket(deposit_date, ${closes('through + 1')}) + 1], false)`;
}

/** The lines as a table, with the column `late` where it is asked for. */
export const linesFrom = (books: ClosedBooks, hasLate: boolean): Prisma.Sql =>
  hasLate ? sql`(SELECT *, ${isLate(books)} AS late FROM deposit_line)` : sql`deposit_line`;
