import type { BookTransaction } from './book-transaction';

/** The numbers of lines that an import read and of entities of each kind that it wrote, new or changed. */
export interface ImportCounts {
  readonly lines: number;
  readonly deposits: number;
  readonly transactions: number;
  readonly allocations: number;
  readonly designations: number;
  readonly donors: number;
}

/** The numbers of deposits whose status an operator should know of. The lines of the first two do not say what they are. */
export interface StatusAssumptions {
  /** New deposits, which are taken for posted. */
  readonly posted: number;
  /** Deposits that the books already have, which keep their status. */
  readonly kept: number;
  /** Deposits that are pending in the books, and posted in the file or by its range. */
  readonly settled: number;
}

/** A gift whose shares are all known and do not add up to its amount. Amounts are exact decimal text. */
export interface ShareMismatch {
  /** The first line of the gift in the file; the first line that takes a share away when the file has none of the gift. */
  readonly line: number;
  readonly transactionId: string;
  readonly amount: string;
  readonly shares: string;
}

/**
 * The number of written rows that needs new statistics. Without them the planner knows nothing of new rows, and reads all of a new
 * organization's to check each foreign key to them. ANALYZE takes as long for a few rows of a large table as for many.
 */
const MANY_ROWS = 1000;

/** Counts the deposits without a status. Call it before `mergeLines`, after which no deposit is new. */
export async function findAssumptions(books: BookTransaction): Promise<StatusAssumptions> {
  const { rows } = await books.query<Record<keyof StatusAssumptions, string>>(FIND_ASSUMPTIONS, [books.organizationId]);
  return { posted: Number(rows[0]?.posted), kept: Number(rows[0]?.kept), settled: Number(rows[0]?.settled) };
}

/** Writes the new and changed entities of the staged lines into the organization's books, in the order of the foreign keys. */
export async function mergeLines(books: BookTransaction): Promise<ImportCounts> {
  const write = async (statement: string, table: string): Promise<number> => {
    const { rows } = await books.query<{ count: string }>(statement, [books.organizationId]);
    const count = Number(rows[0]?.count);
    if (count > MANY_ROWS) await books.query(`ANALYZE ${table}`);
    return count;
  };
  const designations = await write(MERGE_DESIGNATIONS, 'designation');
  const donors = await write(MERGE_DONORS, 'donor');
  const deposits = await write(MERGE_DEPOSITS, 'deposit');
  await books.query(CREATE_LEFT);
  await books.query(NOTE_LEFT_DEPOSITS, [books.organizationId]);
  const transactions = await write(MERGE_TRANSACTIONS, 'transaction');
  await books.query(NOTE_LEFT, [books.organizationId]);
  const allocations = await write(MERGE_ALLOCATIONS, 'allocation');
  const { rows } = await books.query<{ count: string }>('SELECT count(*) FROM import_line');
  return { lines: Number(rows[0]?.count), deposits, transactions, allocations, designations, donors };
}

/** Finds the gifts that the staged lines touch and whose shares do not add up: their number, and the first in the file's order. */
export async function findMismatches(books: BookTransaction, limit: number): Promise<{ count: number; first: ShareMismatch[] }> {
  const { rows } = await books.query<Omit<ShareMismatch, 'line'> & { line: string; count: string }>(FIND_MISMATCHES, [
    books.organizationId,
    limit,
  ]);
  return {
    count: Number(rows[0]?.count ?? 0),
    first: rows.map(({ line, transactionId, amount, shares }) => ({ line: Number(line), transactionId, amount, shares })),
  };
}

/**
 * The statement that writes entities and counts them. Each RETURNING gives `id`, and `is_old` for an entity that the books had already.
 * `changed` selects the transactions whose lines the written entities change. Unchanged entities must not come to the INSERT, whose
 * ON CONFLICT locks, and so writes, even the rows that it leaves as they are.
 */
const mergeQuery = (insert: string, changed: string): string => `
WITH written AS (${insert}
), noted AS (
  INSERT INTO changed_transaction ${changed}
)
SELECT count(*) FROM written`;

const MERGE_DESIGNATIONS = mergeQuery(
  `
INSERT INTO designation (organization_id, id, name)
SELECT DISTINCT ON (l.designation_id) $1::int, l.designation_id, l.designation
FROM import_line l LEFT JOIN designation old ON old.organization_id = $1 AND old.id = l.designation_id
WHERE old.name IS DISTINCT FROM l.designation
ORDER BY l.designation_id
ON CONFLICT (organization_id, id) DO UPDATE SET name = EXCLUDED.name
RETURNING id, xmax <> 0 AS is_old`,
  `SELECT a.transaction_id FROM allocation a JOIN written w ON w.is_old AND a.designation_id = w.id WHERE a.organization_id = $1`,
);

const MERGE_DONORS = mergeQuery(
  `
INSERT INTO donor
  (organization_id, id, first_name, last_name, address1, address2, address3, city, state, zip, phone, email, search_text)
SELECT *, fold_for_search(donor_first_name || ' ' || donor_last_name || ' ' || donor_first_name) FROM (
  SELECT DISTINCT ON (l.donor_id) $1::int, l.donor_id, l.donor_first_name, l.donor_last_name, l.address1, l.address2, l.address3,
    l.city, l.state, l.zip, l.phone, l.email_address
  FROM import_line l LEFT JOIN donor old ON old.organization_id = $1 AND old.id = l.donor_id
  WHERE l.donor_id > 0 AND
    (old.first_name, old.last_name, old.address1, old.address2, old.address3, old.city, old.state, old.zip, old.phone, old.email)
    IS DISTINCT FROM
    (l.donor_first_name, l.donor_last_name, l.address1, l.address2, l.address3, l.city, l.state, l.zip, l.phone, l.email_address)
  ORDER BY l.donor_id
) AS staged
ON CONFLICT (organization_id, id) DO UPDATE SET
  (first_name, last_name, address1, address2, address3, city, state, zip, phone, email, search_text) =
  (EXCLUDED.first_name, EXCLUDED.last_name, EXCLUDED.address1, EXCLUDED.address2, EXCLUDED.address3,
   EXCLUDED.city, EXCLUDED.state, EXCLUDED.zip, EXCLUDED.phone, EXCLUDED.email, EXCLUDED.search_text)
RETURNING id, xmax <> 0 AS is_old`,
  `SELECT t.id FROM transaction t JOIN written w ON w.is_old AND t.donor_id = w.id WHERE t.organization_id = $1`,
);

const FIND_ASSUMPTIONS = `
SELECT count(*) FILTER (WHERE l.deposit_status IS NULL AND d.id IS NULL) AS posted,
  count(d.id) FILTER (WHERE l.deposit_status IS NULL) AS kept,
  count(*) FILTER (WHERE l.deposit_status = 'posted' AND d.status = 'PENDING') AS settled
FROM (SELECT DISTINCT deposit_id, deposit_status FROM import_line) l
LEFT JOIN deposit d ON d.organization_id = $1 AND d.id = l.deposit_id`;

// A v2 line does not say whether its deposit is pending: a deposit in the books keeps its status, a new one is posted.
const MERGE_DEPOSITS = mergeQuery(
  `
INSERT INTO deposit (organization_id, id, deposit_date, status)
SELECT DISTINCT ON (l.deposit_id) $1::int, l.deposit_id, l.deposit_date, COALESCE(upper(l.deposit_status)::deposit_status, old.status, 'POSTED')
FROM import_line l LEFT JOIN deposit old ON old.organization_id = $1 AND old.id = l.deposit_id
WHERE (old.deposit_date, old.status) IS DISTINCT FROM
  (l.deposit_date, COALESCE(upper(l.deposit_status)::deposit_status, old.status, 'POSTED'))
ORDER BY l.deposit_id
ON CONFLICT (organization_id, id) DO UPDATE SET (deposit_date, status) = (EXCLUDED.deposit_date, EXCLUDED.status)
RETURNING id, xmax <> 0 AS is_old`,
  `SELECT t.id FROM transaction t JOIN written w ON w.is_old AND t.deposit_id = w.id WHERE t.organization_id = $1`,
);

const MERGE_TRANSACTIONS = mergeQuery(
  `
INSERT INTO transaction
  (organization_id, id, deposit_id, donor_id, transaction_date, amount, fee_amount, status, account_type, payment_type, main_memo)
SELECT DISTINCT ON (l.transaction_id) $1::int, l.transaction_id, l.deposit_id, NULLIF(l.donor_id, 0), l.transaction_date, l.amount,
  l.fee_amount, l.status, l.account_type, l.payment_type, l.main_memo
FROM import_line l LEFT JOIN transaction old ON old.organization_id = $1 AND old.id = l.transaction_id
WHERE (old.deposit_id, old.donor_id, old.transaction_date, old.amount, old.fee_amount, old.status, old.account_type, old.payment_type, old.main_memo)
  IS DISTINCT FROM
  (l.deposit_id, NULLIF(l.donor_id, 0), l.transaction_date, l.amount, l.fee_amount, l.status, l.account_type, l.payment_type, l.main_memo)
ORDER BY l.transaction_id
ON CONFLICT (organization_id, id) DO UPDATE SET
  (deposit_id, donor_id, transaction_date, amount, fee_amount, status, account_type, payment_type, main_memo) =
  (EXCLUDED.deposit_id, EXCLUDED.donor_id, EXCLUDED.transaction_date, EXCLUDED.amount, EXCLUDED.fee_amount,
   EXCLUDED.status, EXCLUDED.account_type, EXCLUDED.payment_type, EXCLUDED.main_memo)
RETURNING id`,
  'SELECT id FROM written',
);

/** The transactions that lose an allocation to another, each with the line that says so, and the deposits that lose a transaction. */
const CREATE_LEFT = `
CREATE TEMPORARY TABLE left_transaction (id text COLLATE "C" NOT NULL, line bigint NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE left_deposit (id text COLLATE "C" NOT NULL) ON COMMIT DROP`;
const NOTE_LEFT_DEPOSITS = `
INSERT INTO left_deposit
SELECT DISTINCT t.deposit_id FROM import_line l JOIN transaction t ON t.organization_id = $1 AND t.id = l.transaction_id
WHERE t.deposit_id <> l.deposit_id`;
// A transaction that loses an allocation may infer another share from then on.
const NOTE_LEFT = `
WITH noted AS (
  INSERT INTO left_transaction
  SELECT a.transaction_id, l.line FROM import_line l JOIN allocation a ON a.organization_id = $1 AND a.id = l.allocation_id
  WHERE a.transaction_id <> l.transaction_id
  RETURNING id
)
INSERT INTO changed_transaction SELECT id FROM noted`;

// A line may also lack the share: a share in the books then stays.
const MERGE_ALLOCATIONS = mergeQuery(
  `
INSERT INTO allocation (organization_id, id, transaction_id, designation_id, amount, memo)
SELECT $1::int, l.allocation_id, l.transaction_id, l.designation_id, COALESCE(l.allocation_amount, old.amount), l.designation_memo
FROM import_line l LEFT JOIN allocation old ON old.organization_id = $1 AND old.id = l.allocation_id
WHERE (old.transaction_id, old.designation_id, old.amount, old.memo) IS DISTINCT FROM
  (l.transaction_id, l.designation_id, COALESCE(l.allocation_amount, old.amount), l.designation_memo)
ON CONFLICT (organization_id, id) DO UPDATE SET (transaction_id, designation_id, amount, memo) =
  (EXCLUDED.transaction_id, EXCLUDED.designation_id, EXCLUDED.amount, EXCLUDED.memo)
RETURNING transaction_id`,
  'SELECT transaction_id FROM written',
);

/**
 * The SELECT of gifts whose shares do not add up, among those that a SELECT of ids and lines of the file mentions. A gift with an unknown
 * share contradicts nothing.
 */
const mismatchesOf = (mentioned: string): string => `
SELECT touched.line, gift.id AS "transactionId", gift.amount::text AS amount, sum(share.amount)::text AS shares
FROM (${mentioned}) AS touched
JOIN transaction gift ON gift.organization_id = $1 AND gift.id = touched.id
JOIN allocation share ON share.organization_id = $1 AND share.transaction_id = touched.id
GROUP BY touched.line, gift.id, gift.amount
HAVING count(share.amount) = count(*) AND sum(share.amount) <> gift.amount`;

// PostgreSQL cannot estimate the number of gifts of both sources together, and would look up gift by gift.
const FIND_MISMATCHES = `
SELECT *, count(*) OVER () AS count FROM (
  ${mismatchesOf('SELECT transaction_id AS id, min(line) AS line FROM import_line GROUP BY transaction_id')}
  UNION ALL
  ${mismatchesOf(`
    SELECT id, min(line) AS line FROM left_transaction gone
    WHERE NOT EXISTS (SELECT FROM import_line WHERE transaction_id = gone.id) GROUP BY id`)}
) AS mismatch
ORDER BY line, "transactionId" LIMIT $2`;
