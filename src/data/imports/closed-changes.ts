import type { BookTransaction } from '../books/book-transaction';
import { IS_IN_FORCE } from '../books/late-lines';
import { IS_CURRENT } from '../books/line-columns';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';

/** The changes of money that an import made at closed dates of a month. */
interface ClosedMonthChange {
  /** YYYY-MM. */
  readonly month: string;
  /** The number of changed lines. One that moved from a closed date to another counts in both months. */
  readonly lines: number;
  /** The change of the sum over the posted lines, by which closed months are told; negative where it falls. */
  readonly lineAmount: Money;
}

/** The changes of money that an import made at closed dates. */
export interface ClosedChanges {
  readonly closedThrough: LocalDate;
  readonly lines: number;
  readonly lineAmount: Money;
  /** The number of months, and the first of them. */
  readonly count: number;
  readonly months: readonly ClosedMonthChange[];
}

/**
 * Finds what a version that was just made has changed at closed dates: lines that stood there before it, and lines that stand there now.
 * Null when nothing is closed, or nothing of it has changed.
 */
export async function findClosedChanges(books: BookTransaction, version: number, limit: number): Promise<ClosedChanges | null> {
  const { organizationId } = books;
  const { rows: closed } = await books.query<{ through: LocalDate | null }>(FIND_CLOSED_THROUGH, [organizationId]);
  const closedThrough = closed[0]!.through;
  if (closedThrough === null) return null;
  const { rows } = await books.query<Omit<ClosedMonthChange, 'month'> & { month: string | null; count: number }>(FIND_CHANGES, [
    ...[organizationId, version, closedThrough, limit],
  ]);
  const all = rows.find(({ month }) => month === null);
  if (!all || all.lines === 0) return null;
  const months = rows.flatMap(({ month, lines, lineAmount }) => (month === null ? [] : [{ month, lines, lineAmount }]));
  return { closedThrough, lines: all.lines, lineAmount: all.lineAmount, count: all.count, months };
}

const FIND_CLOSED_THROUGH = `SELECT max(through)::text AS through FROM period_close WHERE organization_id = $1 AND ${IS_IN_FORCE}`;

const POSTED = `CASE WHEN deposit_status = 'POSTED' THEN amount ELSE 0.00 END`;

// A full join has no plan that looks through all lines of one side for each of the other, whatever PostgreSQL expects. A line whose money has
// stayed has carried the version of its money over.
const FIND_CHANGES = `
WITH changed AS (
  SELECT COALESCE(earlier.allocation_id, later.allocation_id) AS allocation_id,
    earlier.deposit_date AS earlier_date, earlier.posted AS earlier_amount, later.deposit_date AS later_date, later.posted AS later_amount
  FROM (SELECT allocation_id, deposit_date, ${POSTED} AS posted FROM deposit_line WHERE organization_id = $1 AND until = $2::bigint) AS earlier
  FULL JOIN (
    SELECT allocation_id, deposit_date, ${POSTED} AS posted, money_since FROM deposit_line WHERE organization_id = $1 AND ${IS_CURRENT} AND since = $2::bigint
  ) AS later ON later.allocation_id = earlier.allocation_id
  WHERE (earlier.deposit_date <= $3::date OR later.deposit_date <= $3::date) AND COALESCE(later.money_since = $2::bigint, true)
), side AS (
  SELECT allocation_id, earlier_date AS deposit_date, -earlier_amount AS amount FROM changed WHERE earlier_date <= $3::date
  UNION ALL
  SELECT allocation_id, later_date, later_amount FROM changed WHERE later_date <= $3::date
)
SELECT month, count(DISTINCT allocation_id)::float8 AS lines, COALESCE(sum(amount), 0.00)::text AS "lineAmount",
  count(*) OVER ()::float8 - 1 AS count
FROM (SELECT *, to_char(deposit_date::timestamp, 'YYYY-MM') AS month FROM side) AS placed
GROUP BY GROUPING SETS ((month), ())
ORDER BY month NULLS FIRST LIMIT $4::int + 1`;
