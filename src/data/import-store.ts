import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { BookTransaction, type ChangeSource, type NewVersion } from './book-transaction';
import type { Database } from './postgres/database';
import { toDataSourceError } from './postgres/database-errors';

/** The numbers of lines that an import read and of entities of each kind that it wrote, new or changed. */
export interface ImportCounts {
  readonly lines: number;
  readonly deposits: number;
  readonly transactions: number;
  readonly allocations: number;
  readonly designations: number;
  readonly donors: number;
}

/** The numbers of deposits whose lines do not say whether they are posted or pending. */
export interface StatusAssumptions {
  /** New deposits, which are taken for posted. */
  readonly posted: number;
  /** Deposits that the books already have, which keep their status. */
  readonly kept: number;
}

/** Two lines of a file that contradict each other. */
export interface ImportConflict {
  readonly line: number;
  readonly firstLine: number;
  readonly field: string;
  /** The id that both lines share. */
  readonly key: string;
}

/** The number of characters that are sent to the database at once. V8 is late to free a string of 128 kB, and a character may take two bytes. */
const PIECE_LENGTH = 32_768;

/** The columns of the staging table, in order. They have the names of the file's columns. */
const COLUMNS = {
  line: 'bigint NOT NULL',
  deposit_id: 'text COLLATE "C" NOT NULL',
  transaction_date: 'date NOT NULL',
  deposit_date: 'date NOT NULL',
  transaction_id: 'text COLLATE "C" NOT NULL',
  allocation_id: 'text COLLATE "C" NOT NULL',
  donor_id: 'bigint NOT NULL',
  donor_first_name: 'text NOT NULL',
  donor_last_name: 'text NOT NULL',
  address1: 'text NOT NULL',
  address2: 'text NOT NULL',
  address3: 'text NOT NULL',
  city: 'text NOT NULL',
  state: 'text NOT NULL',
  zip: 'text NOT NULL',
  phone: 'text NOT NULL',
  email_address: 'text NOT NULL',
  amount: 'numeric(14,2) NOT NULL',
  fee_amount: 'numeric(14,2) NOT NULL',
  status: 'text NOT NULL',
  account_type: 'text NOT NULL',
  payment_type: 'text NOT NULL',
  designation_id: 'bigint NOT NULL',
  designation: 'text NOT NULL',
  designation_memo: 'text NOT NULL',
  main_memo: 'text NOT NULL',
  deposit_status: 'text',
  allocation_amount: 'numeric(14,2)',
} as const;

interface ConflictRow {
  line: string;
  first_line: string;
  fields: string[];
  count: string;
}

type Column = keyof typeof COLUMNS;
export type StagedLine = { readonly [Name in Column]?: string | number | undefined };

const columnNames = Object.keys(COLUMNS) as Column[];

/** For each id, the columns in which all lines with that id must agree, because they are stored once. No two lines share an allocation. */
const AGREEMENTS: Readonly<Partial<Record<Column, readonly Column[]>>> = {
  deposit_id: ['deposit_date', 'deposit_status'],
  transaction_id: [
    'deposit_id',
    'transaction_date',
    'donor_id',
    'amount',
    'fee_amount',
    'status',
    'account_type',
    'payment_type',
    'main_memo',
  ],
  allocation_id: ['allocation_id'],
  donor_id: ['donor_first_name', 'donor_last_name', 'address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'email_address'],
  designation_id: ['designation'],
};

export class ImportStore {
  constructor(private readonly database: Database) {}

  /** Runs an import in one transaction: committed when `work` resolves, undone when it throws. */
  inTransaction<Result>(organizationId: number, work: (transaction: ImportTransaction) => Promise<Result>): Promise<Result> {
    return BookTransaction.run(this.database, organizationId, (books) => work(new ImportTransaction(books)));
  }
}

export class ImportTransaction {
  constructor(private readonly books: BookTransaction) {}

  /** Writes the lines into a temporary table, at the pace at which the database takes them. */
  async stage(lines: AsyncIterable<StagedLine>): Promise<void> {
    const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
    await this.books.query(`CREATE TEMPORARY TABLE import_line (${columns.join(', ')}) ON COMMIT DROP`);
    const copy = this.books.connection.query(copyFrom(`COPY import_line (${columnNames.join(', ')}) FROM STDIN`));
    let sourceFailed = false;
    const onSourceError = (): void => void (sourceFailed = true);
    await pipeline(Readable.from(toCopyText(lines, onSourceError)), copy).catch((error: unknown) => {
      throw sourceFailed ? error : toDataSourceError(error);
    });
    await this.books.query('ANALYZE import_line');
  }

  /** Finds contradictions between lines with the same id: their number, and the first `limit` of them in the file's order. */
  async findConflicts(limit: number): Promise<{ count: number; first: ImportConflict[] }> {
    let count = 0;
    const found: ImportConflict[] = [];
    for (const [key, fields] of Object.entries(AGREEMENTS) as [Column, readonly Column[]][]) {
      const { rows } = await this.books.query<ConflictRow>(conflictQuery(key, fields), [limit]);
      count += Number(rows[0]?.count ?? 0);
      found.push(
        ...rows.flatMap((row) => row.fields.map((field) => ({ line: Number(row.line), firstLine: Number(row.first_line), field, key }))),
      );
    }
    return { count, first: found.sort((a, b) => a.line - b.line).slice(0, limit) };
  }

  /**
   * Counts the deposits without a status. Call it before `merge`, after which no deposit is new. From here to the end of the transaction no
   * other import of the organization runs.
   */
  async findAssumptions(): Promise<StatusAssumptions> {
    await this.books.lock();
    const { rows } = await this.books.query<Record<keyof StatusAssumptions, string>>(FIND_ASSUMPTIONS, [this.books.organizationId]);
    return { posted: Number(rows[0]?.posted), kept: Number(rows[0]?.kept) };
  }

  /**
   * Writes the new and changed entities into the organization's data, in the order of the foreign keys, and then the lines. Nothing is
   * written, and there is no new version, when the books have all of it already.
   */
  async merge(source: ChangeSource): Promise<{ readonly counts: ImportCounts; readonly version: NewVersion | null }> {
    const write = async (statement: string, table: string): Promise<number> => {
      const { rows } = await this.books.query<{ count: string }>(statement, [this.books.organizationId]);
      const count = Number(rows[0]?.count);
      // Without ANALYZE the planner knows nothing of the new rows, and reads the whole organization to check each foreign key to them.
      if (count > 0) await this.books.query(`ANALYZE ${table}`);
      return count;
    };
    const designations = await write(MERGE_DESIGNATIONS, 'designation');
    const donors = await write(MERGE_DONORS, 'donor');
    const deposits = await write(MERGE_DEPOSITS, 'deposit');
    const transactions = await write(MERGE_TRANSACTIONS, 'transaction');
    await this.books.query(NOTE_MOVED_ALLOCATIONS, [this.books.organizationId]);
    const allocations = await write(MERGE_ALLOCATIONS, 'allocation');
    const { rows } = await this.books.query<{ count: string }>('SELECT count(*) FROM import_line');
    const counts = { lines: Number(rows[0]?.count), deposits, transactions, allocations, designations, donors };
    const isChanged = designations + donors + deposits + transactions + allocations > 0;
    return { counts, version: isChanged ? await this.books.advance(source) : null };
  }
}

/** Writes lines as COPY's text. A missing value is NULL. Calls `onError` when the lines themselves throw. */
async function* toCopyText(lines: AsyncIterable<StagedLine>, onError: () => void): AsyncGenerator<string> {
  let piece = '';
  try {
    for await (const line of lines) {
      piece += `${columnNames.map((name) => toCopyValue(line[name])).join('\t')}\n`;
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
    }
    yield piece;
  } catch (error) {
    onError();
    throw error;
  }
}

const COPY_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function toCopyValue(value: string | number | undefined): string {
  if (value === undefined) return '\\N';
  if (typeof value === 'number') return String(value);
  // Few texts have a character to escape, and a search is quicker than a replacement.
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => COPY_ESCAPES[character]!) : value;
}

/** The query for contradictions. Its text is built only from the column names above. Donor 0 is nobody, so its lines need not agree. */
function conflictQuery(key: Column, fields: readonly Column[]): string {
  const differs = (field: Column): string =>
    field === key ? `line <> first_value(line) OVER same` : `${field} IS DISTINCT FROM first_value(${field}) OVER same`;
  const differing = fields.map((field) => `CASE WHEN ${differs(field)} THEN '${field}' END`).join(', ');
  return `
SELECT line, first_line, fields, sum(cardinality(fields)) OVER () AS count FROM (
  SELECT line, first_value(line) OVER same AS first_line, array_remove(ARRAY[${differing}], NULL) AS fields
  FROM import_line ${key === 'donor_id' ? 'WHERE donor_id > 0' : ''}
  WINDOW same AS (PARTITION BY ${key} ORDER BY line)
) AS compared
WHERE cardinality(fields) > 0
ORDER BY line LIMIT $1`;
}

/**
 * The statement that writes entities and counts them. Each RETURNING gives `id`, and `is_old` for an entity that the books had already.
 * `changed` selects the transactions whose lines the written entities change.
 */
const mergeQuery = (insert: string, changed: string): string => `
WITH written AS (${insert}
), noted AS (
  INSERT INTO changed_transaction ${changed}
)
SELECT count(*) FROM written`;

const MERGE_DESIGNATIONS = mergeQuery(
  `
INSERT INTO designation AS old (organization_id, id, name)
SELECT DISTINCT ON (designation_id) $1::int, designation_id, designation FROM import_line ORDER BY designation_id
ON CONFLICT (organization_id, id) DO UPDATE SET name = EXCLUDED.name
WHERE old.name <> EXCLUDED.name
RETURNING id, xmax <> 0 AS is_old`,
  `SELECT a.transaction_id FROM allocation a JOIN written w ON w.is_old AND a.designation_id = w.id WHERE a.organization_id = $1`,
);

const MERGE_DONORS = mergeQuery(
  `
INSERT INTO donor AS old
  (organization_id, id, first_name, last_name, address1, address2, address3, city, state, zip, phone, email, search_text)
SELECT *, fold_for_search(donor_first_name || ' ' || donor_last_name || ' ' || donor_first_name) FROM (
  SELECT DISTINCT ON (donor_id) $1::int, donor_id, donor_first_name, donor_last_name, address1, address2, address3,
    city, state, zip, phone, email_address
  FROM import_line WHERE donor_id > 0 ORDER BY donor_id
) AS staged
ON CONFLICT (organization_id, id) DO UPDATE SET
  (first_name, last_name, address1, address2, address3, city, state, zip, phone, email, search_text) =
  (EXCLUDED.first_name, EXCLUDED.last_name, EXCLUDED.address1, EXCLUDED.address2, EXCLUDED.address3,
   EXCLUDED.city, EXCLUDED.state, EXCLUDED.zip, EXCLUDED.phone, EXCLUDED.email, EXCLUDED.search_text)
WHERE (old.first_name, old.last_name, old.address1, old.address2, old.address3, old.city, old.state, old.zip, old.phone, old.email) <>
  (EXCLUDED.first_name, EXCLUDED.last_name, EXCLUDED.address1, EXCLUDED.address2, EXCLUDED.address3,
   EXCLUDED.city, EXCLUDED.state, EXCLUDED.zip, EXCLUDED.phone, EXCLUDED.email)
RETURNING id, xmax <> 0 AS is_old`,
  `SELECT t.id FROM transaction t JOIN written w ON w.is_old AND t.donor_id = w.id WHERE t.organization_id = $1`,
);

const FIND_ASSUMPTIONS = `
SELECT count(*) FILTER (WHERE d.id IS NULL) AS posted, count(d.id) AS kept
FROM (SELECT DISTINCT deposit_id FROM import_line WHERE deposit_status IS NULL) l
LEFT JOIN deposit d ON d.organization_id = $1 AND d.id = l.deposit_id`;

// A v2 line does not say whether its deposit is pending: a deposit in the books keeps its status, a new one is posted.
const MERGE_DEPOSITS = mergeQuery(
  `
INSERT INTO deposit AS old (organization_id, id, deposit_date, status)
SELECT DISTINCT ON (l.deposit_id) $1::int, l.deposit_id, l.deposit_date, COALESCE(upper(l.deposit_status)::deposit_status, d.status, 'POSTED')
FROM import_line l LEFT JOIN deposit d ON d.organization_id = $1 AND d.id = l.deposit_id
ORDER BY l.deposit_id
ON CONFLICT (organization_id, id) DO UPDATE SET (deposit_date, status) = (EXCLUDED.deposit_date, EXCLUDED.status)
WHERE (old.deposit_date, old.status) <> (EXCLUDED.deposit_date, EXCLUDED.status)
RETURNING id, xmax <> 0 AS is_old`,
  `SELECT t.id FROM transaction t JOIN written w ON w.is_old AND t.deposit_id = w.id WHERE t.organization_id = $1`,
);

const MERGE_TRANSACTIONS = mergeQuery(
  `
INSERT INTO transaction AS old
  (organization_id, id, deposit_id, donor_id, transaction_date, amount, fee_amount, status, account_type, payment_type, main_memo)
SELECT DISTINCT ON (transaction_id)
  $1::int, transaction_id, deposit_id, NULLIF(donor_id, 0), transaction_date, amount, fee_amount, status, account_type, payment_type, main_memo
FROM import_line ORDER BY transaction_id
ON CONFLICT (organization_id, id) DO UPDATE SET
  (deposit_id, donor_id, transaction_date, amount, fee_amount, status, account_type, payment_type, main_memo) =
  (EXCLUDED.deposit_id, EXCLUDED.donor_id, EXCLUDED.transaction_date, EXCLUDED.amount, EXCLUDED.fee_amount,
   EXCLUDED.status, EXCLUDED.account_type, EXCLUDED.payment_type, EXCLUDED.main_memo)
WHERE (old.deposit_id, old.donor_id, old.transaction_date, old.amount, old.fee_amount, old.status, old.account_type, old.payment_type, old.main_memo)
  IS DISTINCT FROM
  (EXCLUDED.deposit_id, EXCLUDED.donor_id, EXCLUDED.transaction_date, EXCLUDED.amount, EXCLUDED.fee_amount,
   EXCLUDED.status, EXCLUDED.account_type, EXCLUDED.payment_type, EXCLUDED.main_memo)
RETURNING id`,
  'SELECT id FROM written',
);

// A transaction that loses an allocation may infer another share from then on.
const NOTE_MOVED_ALLOCATIONS = `
INSERT INTO changed_transaction
SELECT a.transaction_id FROM import_line l JOIN allocation a ON a.organization_id = $1 AND a.id = l.allocation_id
WHERE a.transaction_id <> l.transaction_id`;

// A line may also lack the share: a share in the books then stays.
const MERGE_ALLOCATIONS = mergeQuery(
  `
INSERT INTO allocation AS old (organization_id, id, transaction_id, designation_id, amount, memo)
SELECT $1::int, l.allocation_id, l.transaction_id, l.designation_id, COALESCE(l.allocation_amount, a.amount), l.designation_memo
FROM import_line l LEFT JOIN allocation a ON a.organization_id = $1 AND a.id = l.allocation_id
ON CONFLICT (organization_id, id) DO UPDATE SET (transaction_id, designation_id, amount, memo) =
  (EXCLUDED.transaction_id, EXCLUDED.designation_id, EXCLUDED.amount, EXCLUDED.memo)
WHERE (old.transaction_id, old.designation_id, old.amount, old.memo)
  IS DISTINCT FROM (EXCLUDED.transaction_id, EXCLUDED.designation_id, EXCLUDED.amount, EXCLUDED.memo)
RETURNING transaction_id`,
  'SELECT transaction_id FROM written',
);
