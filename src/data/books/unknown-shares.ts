import type { BookTransaction } from './book-transaction';

/**
 * Marks the shares that the staged lines say are unknown and that the books would infer, because the gift has no other allocation: a file
 * of one fund has the other ones left out. Call it when shares are corrected. Returns the number of marked allocations that the merge has
 * not written. In books that were empty before, the merge has written all of them.
 */
export async function markUnknownShares(books: BookTransaction, wereEmpty: boolean): Promise<number> {
  await books.query(CREATE_UNKNOWN);
  const { rowCount } = await books.query(NOTE_UNKNOWN, [books.organizationId]);
  if (!rowCount) return 0;
  await books.query('ANALYZE unknown_share');
  await books.query(MARK_UNKNOWN, [books.organizationId]);
  if (wereEmpty) return 0;
  const { rows } = await books.query<{ count: number }>(COUNT_UNWRITTEN);
  return rows[0]!.count;
}

const CREATE_UNKNOWN = 'CREATE TEMPORARY TABLE unknown_share (id text COLLATE "C" NOT NULL) ON COMMIT DROP';

// The count is a lookup for each line of the file. As NOT EXISTS, PostgreSQL joins all allocations with each other, expects that one is left,
// and reads the file again for each that is: 25,000 lines into books of 150,000 took minutes. Its condition names the file, so that it is
// checked after the file has chosen the allocations.
const NOTE_UNKNOWN = `
INSERT INTO unknown_share
SELECT a.id
FROM (SELECT allocation_id FROM import_line WHERE allocation_amount_unknown) AS file
JOIN allocation a ON a.organization_id = $1 AND a.id = file.allocation_id
WHERE a.amount IS NULL AND NOT a.amount_unknown AND (
  SELECT count(*) FROM allocation other
  WHERE other.organization_id = $1 AND other.transaction_id = a.transaction_id AND other.id <> file.allocation_id
) = 0`;

const MARK_UNKNOWN = `
WITH marked AS (
  UPDATE allocation a SET amount_unknown = true FROM unknown_share u WHERE a.organization_id = $1 AND a.id = u.id RETURNING a.transaction_id
)
INSERT INTO changed_transaction SELECT transaction_id FROM marked`;

const COUNT_UNWRITTEN = `
SELECT count(*)::int AS count FROM unknown_share u
LEFT JOIN (SELECT allocation_id FROM staged_allocation) AS written ON written.allocation_id = u.id
WHERE written.allocation_id IS NULL`;
