import type { PendingChoice } from '../../formats/line-conditions';
import type { PeriodDates } from '../../values/periods';
import type { BookTransaction } from '../books/book-transaction';
import { IS_CURRENT } from '../books/line-columns';

/** The lines that a file has all of: those of deposits in some periods. */
export interface CompleteRange {
  readonly periods: readonly PeriodDates[];
  /** WITHOUT: posted deposits alone. */
  readonly pending: Exclude<PendingChoice, 'ONLY'>;
}

/** The allocations that the books have in a period and the file has not, the lines that stand in it, and those that the file has in it. */
export interface MissingLines {
  readonly period: PeriodDates;
  readonly missing: number;
  readonly standing: number;
  readonly staged: number;
}

/** The numbers of entities that were removed. */
export interface RemovalCounts {
  readonly allocations: number;
  readonly transactions: number;
  readonly deposits: number;
}

/**
 * Notes the allocations of the range that no staged line has. Call it once, after the merge: lines that moved must already stand where the
 * file has them.
 */
export async function noteMissing(books: BookTransaction, range: CompleteRange): Promise<MissingLines[]> {
  const noted: MissingLines[] = [];
  for (const [number, values] of valuesOf(books, range).entries()) {
    const { rows } = await books.query<Record<'missing' | 'standing' | 'staged', string>>(NOTE_MISSING, values);
    const { missing, standing, staged } = rows[0]!;
    noted.push({ period: range.periods[number]!, missing: Number(missing), standing: Number(standing), staged: Number(staged) });
  }
  return noted;
}

/** Removes the noted allocations and returns their number. */
export async function removeMissing(books: BookTransaction): Promise<number> {
  // PostgreSQL keeps no statistics of temporary tables by itself.
  await books.query('ANALYZE removed_allocation');
  const { rowCount } = await books.query(REMOVE_ALLOCATIONS, [books.organizationId]);
  return rowCount ?? 0;
}

/**
 * Removes transactions and deposits that have nothing left: those that the staged lines have moved everything away from, and those of a
 * complete range. Donors and designations stay.
 */
export async function removeEmpty(books: BookTransaction, range?: CompleteRange): Promise<Omit<RemovalCounts, 'allocations'>> {
  const removed = { transactions: 0, deposits: 0 };
  await books.query('ANALYZE left_transaction');
  for (const values of valuesOf(books, range)) removed.transactions += (await books.query(REMOVE_TRANSACTIONS, values)).rowCount ?? 0;
  await books.query('ANALYZE left_deposit');
  for (const values of valuesOf(books, range)) removed.deposits += (await books.query(REMOVE_DEPOSITS, values)).rowCount ?? 0;
  return removed;
}

/** The values of a statement about each period, which uses the index of deposit dates. Without a range, one without dates has no row. */
const valuesOf = ({ organizationId }: BookTransaction, range: CompleteRange | undefined): readonly (readonly unknown[])[] =>
  range
    ? range.periods.map(({ startDate, endDate }) => [organizationId, startDate, endDate, range.pending === 'WITH'])
    : [[organizationId, null, null, false]];

/** The condition on rows that have a deposit's date and status in the columns of these names. */
const inRange = (date: string, status: string): string => `${date} BETWEEN $2::date AND $3::date AND ($4::boolean OR ${status} = 'POSTED')`;

// Citus joins a temporary table with the books as a subquery, not inside of a NOT EXISTS.
const NOTE_MISSING = `
WITH noted AS (
  INSERT INTO removed_allocation
  SELECT a.id
  FROM deposit d
  JOIN transaction t ON t.organization_id = $1 AND t.deposit_id = d.id
  JOIN allocation a ON a.organization_id = $1 AND a.transaction_id = t.id
  LEFT JOIN (SELECT allocation_id FROM import_line) AS file ON file.allocation_id = a.id
  WHERE d.organization_id = $1 AND ${inRange('d.deposit_date', 'd.status')} AND file.allocation_id IS NULL
  RETURNING id
)
SELECT (SELECT count(*) FROM noted) AS missing, (
  SELECT count(*) FROM deposit_line WHERE organization_id = $1 AND ${IS_CURRENT} AND ${inRange('deposit_date', 'deposit_status')}
) AS standing, (SELECT count(*) FROM import_line WHERE deposit_date BETWEEN $2::date AND $3::date) AS staged`;

// The gifts that lose an allocation may infer another share from then on.
const REMOVE_ALLOCATIONS = `
WITH gone AS (
  DELETE FROM allocation a USING removed_allocation r WHERE a.organization_id = $1 AND a.id = r.id RETURNING a.transaction_id
), touched AS (
  INSERT INTO touched_gift (id) SELECT transaction_id FROM gone
)
INSERT INTO changed_transaction SELECT transaction_id FROM gone`;

const REMOVE_TRANSACTIONS = `
WITH gone AS (
  DELETE FROM transaction t
  WHERE organization_id = $1 AND NOT EXISTS (SELECT FROM allocation a WHERE a.organization_id = $1 AND a.transaction_id = t.id)
    AND id IN (
      SELECT inside.id FROM deposit d JOIN transaction inside ON inside.organization_id = $1 AND inside.deposit_id = d.id
      WHERE d.organization_id = $1 AND ${inRange('d.deposit_date', 'd.status')}
      UNION SELECT id FROM left_transaction
    )
  RETURNING deposit_id
)
INSERT INTO left_deposit SELECT deposit_id FROM gone`;

const REMOVE_DEPOSITS = `
DELETE FROM deposit d
WHERE organization_id = $1 AND NOT EXISTS (SELECT FROM transaction t WHERE t.organization_id = $1 AND t.deposit_id = d.id)
  AND id IN (
    SELECT id FROM deposit WHERE organization_id = $1 AND ${inRange('deposit_date', 'status')}
    UNION SELECT id FROM left_deposit
  )`;
