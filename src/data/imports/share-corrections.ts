import type { BookTransaction } from '../books/book-transaction';

/** A known share that an import changed with its gift, of which the file states no share. Amounts are exact decimal text. */
interface CorrectedShare {
  /** The first line of the gift in the file; the first line that takes a share away when the file has none of the gift. */
  readonly line: number;
  readonly transactionId: string;
  readonly amountBefore: string;
  readonly amount: string;
  readonly allocationId: string;
  readonly shareBefore: string | null;
  /** Null where the share has become unknown. */
  readonly share: string | null;
}

/** The corrected shares: the number of their gifts, their own number, and the first of them in the file's order. */
export interface ShareCorrections {
  readonly gifts: number;
  readonly count: number;
  readonly first: readonly CorrectedShare[];
}

/** The table of the gifts whose amount or whose allocations an import changes. An amount is NULL where it stays. */
export const CREATE_TOUCHED = `
CREATE TEMPORARY TABLE touched_gift (id text COLLATE "C" NOT NULL, amount_before numeric(14,2)) ON COMMIT DROP`;

/**
 * Brings known shares in line with the gifts whose amount or allocations a file changes without stating shares, as a v2 answer does. Call it
 * when allocations are where they shall be.
 */
export async function correctShares(books: BookTransaction, limit: number): Promise<ShareCorrections> {
  await books.query('ANALYZE touched_gift');
  await books.query(CREATE_CORRECTED);
  const { rowCount: count } = await books.query(NOTE_CORRECTED, [books.organizationId]);
  if (!count) return { gifts: 0, count: 0, first: [] };
  await books.query('ANALYZE corrected_share');
  await books.query(CORRECT_SHARES, [books.organizationId]);
  const { rows: gifts } = await books.query<{ count: number }>(COUNT_GIFTS);
  const { rows } = await books.query<Omit<CorrectedShare, 'line'> & { line: string }>(LIST_CORRECTED, [limit]);
  return { gifts: gifts[0]!.count, count, first: rows.map((row) => ({ ...row, line: Number(row.line) })) };
}

const CREATE_CORRECTED = `
CREATE TEMPORARY TABLE corrected_share (
  transaction_id text COLLATE "C", amount_before numeric(14,2), amount numeric(14,2), allocation_id text COLLATE "C",
  share_before numeric(14,2), share numeric(14,2)
) ON COMMIT DROP`;

/**
 * The SELECTs of the gifts that are judged by the file's shares: a line of the file states one, or takes an allocation away and states its
 * share. All others whose shares do not add up are corrected or left as they were.
 */
export const STATED_BY_OWN = 'SELECT transaction_id AS id FROM import_line WHERE allocation_amount IS NOT NULL';
export const STATED_BY_LOSS = `
SELECT gone.id FROM left_transaction gone JOIN import_line l ON l.line = gone.line WHERE l.allocation_amount IS NOT NULL`;

const UNKNOWN = 'SELECT transaction_id FROM import_line WHERE allocation_amount_unknown';

/**
 * The only allocation of a gift takes its amount, unless the file says that its share is unknown. Nothing says how a gift is split that has
 * another amount or other allocations, so that several shares which do not add up become unknown. Known shares beside an unknown one may not
 * hold either. A gift of nothing has shares of nothing; the share of an only allocation is inferred.
 */
const NOTE_CORRECTED = `
INSERT INTO corrected_share
SELECT * FROM (
  SELECT gift.id, COALESCE(gift.amount_before, gift.amount), gift.amount, a.id, a.amount AS share_before,
    CASE WHEN gift.amount = 0 OR (gift.allocations = 1 AND gift.id NOT IN (${UNKNOWN})) THEN gift.amount END AS share
  FROM (
    SELECT t.id, t.amount, touched.amount_before, count(*) AS allocations
    FROM (
      SELECT id, max(amount_before) AS amount_before FROM touched_gift
      WHERE id NOT IN (${STATED_BY_OWN} UNION ALL ${STATED_BY_LOSS}) GROUP BY id
    ) AS touched
    JOIN transaction t ON t.organization_id = $1 AND t.id = touched.id
    JOIN allocation share ON share.organization_id = $1 AND share.transaction_id = t.id
    GROUP BY t.id, t.amount, touched.amount_before
    HAVING CASE count(share.amount)
      WHEN count(*) THEN sum(share.amount) <> t.amount
      WHEN 0 THEN t.amount = 0 AND count(*) > 1
      ELSE true
    END
  ) AS gift
  JOIN allocation a ON a.organization_id = $1 AND a.transaction_id = gift.id
) AS corrected
WHERE share_before IS DISTINCT FROM share`;

const CORRECT_SHARES = `
UPDATE allocation a SET amount = c.share, amount_unknown = a.amount_unknown AND c.share IS NULL FROM corrected_share c WHERE a.organization_id = $1 AND a.id = c.allocation_id`;

const COUNT_GIFTS = 'SELECT count(DISTINCT transaction_id)::int AS count FROM corrected_share';

const LIST_CORRECTED = `
SELECT COALESCE(own.line, gone.line) AS line, c.transaction_id AS "transactionId", c.amount_before::text AS "amountBefore",
  c.amount::text AS amount, c.allocation_id AS "allocationId", c.share_before::text AS "shareBefore", c.share::text AS share
FROM corrected_share c
LEFT JOIN (SELECT transaction_id, min(line) AS line FROM import_line GROUP BY transaction_id) AS own USING (transaction_id)
LEFT JOIN (SELECT id, min(line) AS line FROM left_transaction GROUP BY id) AS gone ON gone.id = c.transaction_id
ORDER BY 1, c.transaction_id, c.allocation_id LIMIT $1`;
