import { donorTexts } from '../../line/line-fields';
import type { BookTransaction } from '../books/book-transaction';
import { toErasedMemos } from '../books/erasure-store';

/** The counts of texts that an import has erased again, of donors of the register. */
export interface ErasedAgain {
  /** The lines of the source that had texts of them. */
  readonly lines: number;
  /** The donors of these lines. */
  readonly donors: number;
  /** The earlier states of lines that had memos, in gifts that the import has made theirs. */
  readonly states: number;
}

/**
 * Empties the texts of donors who were erased in the staged lines, before anything is compared or written. Call it under the lock of the
 * books, so that an erasure that was made while the lines were read holds too.
 */
export async function eraseStaged(books: BookTransaction, erased: readonly string[]): Promise<Omit<ErasedAgain, 'states'>> {
  if (erased.length === 0) return { lines: 0, donors: 0 };
  const { rows: counts } = await books.query<{ lines: number; donors: number }>(ERASE_STAGED, [erased]);
  return counts[0]!;
}

/**
 * Empties the memos of what an import has made gifts of donors who were erased: a file need not have all allocations of a gift. Call it after
 * the entities are merged.
 */
export async function eraseMerged(books: BookTransaction, erased: readonly string[]): Promise<void> {
  if (erased.length > 0) await books.query(ERASE_MERGED, [books.organizationId, erased]);
}

/**
 * Empties the memos in the earlier states of gifts that a version has made gifts of donors who were erased. The version goes into the register
 * with these donors, because it changes what older states say. Call it after the lines of the version are written. Returns the number of
 * states.
 */
export async function eraseEarlier(books: BookTransaction, erased: readonly string[], version: number): Promise<number> {
  if (erased.length === 0) return 0;
  const { rows } = await books.query<{ gift: string }>(ERASE_EARLIER, [books.organizationId, erased, version]);
  const gifts = [...new Set(rows.map(({ gift }) => gift))];
  if (gifts.length > 0) await books.query(REGISTER_AGAIN, [books.organizationId, gifts, version]);
  return rows.length;
}

/** The numbers of the donors who were erased. */
export async function listErased(books: BookTransaction): Promise<string[]> {
  return (await books.query<{ id: string }>(LIST_ERASED, [books.organizationId])).rows.map(({ id }) => id);
}

const CHANGED_GIFTS =
  'SELECT id FROM transaction WHERE organization_id = $1 AND donor_id = ANY ($2::bigint[]) AND id IN (SELECT id FROM changed_transaction)';
const ERASE_MERGED = `
UPDATE allocation SET memo = '' WHERE organization_id = $1 AND memo <> '' AND transaction_id IN (${CHANGED_GIFTS})`;
const ERASE_EARLIER = `${toErasedMemos(CHANGED_GIFTS)} RETURNING transaction_id AS gift`;
const REGISTER_AGAIN = `
INSERT INTO erased_donor (organization_id, donor_id, version, reason)
SELECT DISTINCT ON (donor_id) organization_id, donor_id, $3::bigint, reason FROM erased_donor
WHERE organization_id = $1 AND donor_id IN (SELECT donor_id FROM transaction WHERE organization_id = $1 AND id = ANY ($2::text[]))
ORDER BY donor_id, version DESC`;
const LIST_ERASED = 'SELECT DISTINCT donor_id AS id FROM erased_donor WHERE organization_id = $1';
const ERASE_STAGED = `
WITH erased AS (
  UPDATE import_line SET ${donorTexts.map((column) => `${column} = ''`).join(', ')}
  WHERE donor_id = ANY ($1::bigint[]) AND (${donorTexts.join(', ')}) <> (${donorTexts.map(() => `''`).join(', ')})
  RETURNING donor_id
)
SELECT count(*)::float8 AS lines, count(DISTINCT donor_id)::float8 AS donors FROM erased`;
