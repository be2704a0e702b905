import type { BookTransaction } from '../books/book-transaction';
import { checkForeignKeys } from '../books/foreign-key-check';
import {
  ALLOCATION,
  DEPOSIT,
  DESIGNATION,
  differsFromBooks,
  DONOR,
  joinBooks,
  stagedTable,
  TRANSACTION,
  writtenValues,
  type Entity,
} from './import-entities';
import { readsLines } from './import-staging';
import { IS_CURRENT } from '../books/line-columns';
import { CREATE_TOUCHED, STATED_BY_LOSS, STATED_BY_OWN } from './share-corrections';

/** The numbers of lines that an import read and of entities of each kind that it wrote, new or changed. */
export interface ImportCounts {
  readonly lines: number;
  readonly deposits: number;
  readonly transactions: number;
  readonly allocations: number;
  readonly designations: number;
  readonly donors: number;
}

type EntityCounts = Omit<ImportCounts, 'lines'>;

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

/** True when the organization's books are empty. Call it under the lock of the books. */
export async function areBooksEmpty(books: BookTransaction): Promise<boolean> {
  const { rows } = await books.query<{ areEmpty: boolean }>(ARE_EMPTY, [books.organizationId]);
  return rows[0]!.areEmpty;
}

/** Counts the deposits without a status. Call it before `mergeLines`, after which no deposit is new. */
export async function findAssumptions(books: BookTransaction): Promise<StatusAssumptions> {
  const { rows } = await books.query<Record<keyof StatusAssumptions, string>>(FIND_ASSUMPTIONS, [books.organizationId]);
  return { posted: Number(rows[0]?.posted), kept: Number(rows[0]?.kept), settled: Number(rows[0]?.settled) };
}

/** Writes the new and changed entities of the staged lines into the organization's books, in the order of the foreign keys. */
export async function mergeLines(books: BookTransaction): Promise<EntityCounts> {
  await books.query(CREATE_LEFT);
  return writeEntities(books, async (entity) => {
    const { rows } = await books.query<{ count: string }>(mergeQuery(entity), [books.organizationId]);
    return Number(rows[0]?.count);
  });
}

/**
 * Writes the entities of the staged lines into empty books. They are compared with nothing, and `changed_transaction` does not get them.
 * Each foreign key is of a row that this transaction writes from the same lines, so that nobody else can see or remove it. PostgreSQL
 * therefore need not look each one up: all are checked at once in the end. The first designation locks the row of the organization.
 */
export async function fillBooks(books: BookTransaction): Promise<EntityCounts> {
  await books.query(CREATE_LEFT);
  const insert = async (entity: Entity): Promise<number> => {
    const { rowCount } = await books.query(insertQuery(entity), [books.organizationId]);
    return rowCount ?? 0;
  };
  const trusted = [DONOR, DEPOSIT, TRANSACTION, ALLOCATION];
  const tables = trusted.map(({ table }) => table);
  if (!(await mayTrust(books, tables))) return writeEntities(books, insert);
  const counts = await writeEntities(books, (entity) =>
    trusted.includes(entity) ? books.withoutTriggers(() => insert(entity)) : insert(entity),
  );
  await checkForeignKeys(books, tables);
  return counts;
}

/** True where the role may do without triggers, and the only ones on the tables of the books are those of foreign keys. */
async function mayTrust(books: BookTransaction, tables: readonly string[]): Promise<boolean> {
  const { rows } = await books.query<{ isSuperuser: boolean; hasGrants: boolean; hasTriggers: boolean }>(MAY_TRUST, [tables]);
  const { isSuperuser, hasGrants, hasTriggers } = rows[0]!;
  if (hasTriggers) return false;
  if (isSuperuser || !hasGrants) return isSuperuser;
  const { rows: grants } = await books.query<{ maySet: boolean }>(MAY_SET);
  return grants[0]!.maySet;
}

async function writeEntities(books: BookTransaction, write: (entity: Entity) => Promise<number>): Promise<EntityCounts> {
  const writeAndAnalyze = async (entity: Entity): Promise<number> => {
    const count = await write(entity);
    if (count > MANY_ROWS) await books.query(`ANALYZE ${entity.table}`);
    return count;
  };
  const designations = await writeAndAnalyze(DESIGNATION);
  const donors = await writeAndAnalyze(DONOR);
  const deposits = await writeAndAnalyze(DEPOSIT);
  const transactions = await writeAndAnalyze(TRANSACTION);
  const allocations = await writeAndAnalyze(ALLOCATION);
  return { deposits, transactions, allocations, designations, donors };
}

/** Finds the gifts of which the staged lines state shares that do not add up: their number, and the first in the file's order. */
export async function findMismatches(books: BookTransaction, limit: number): Promise<{ count: number; first: ShareMismatch[] }> {
  const { rows: counts } = await books.query<{ count: string }>(COUNT_MISMATCHES, [books.organizationId]);
  if (counts[0]!.count === '0') return { count: 0, first: [] };
  const { rows } = await books.query<Omit<ShareMismatch, 'line'> & { line: string; count: string }>(FIND_MISMATCHES, [
    books.organizationId,
    limit,
  ]);
  return {
    count: Number(rows[0]?.count ?? 0),
    first: rows.map(({ line, transactionId, amount, shares }) => ({ line: Number(line), transactionId, amount, shares })),
  };
}

const columnsOf = ({ values, derived }: Entity): string => ['organization_id', 'id', ...Object.keys({ ...values, ...derived })].join(', ');

/** Values as columns of a SELECT, by their names. */
const toColumns = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([column, value]) => `${value} AS ${column}`)
    .join(', ');

/** The values of an INSERT from rows that have the id and the values in columns of their names. */
const valuesOf = ({ values, derived }: Entity): string =>
  ['$1::int', 'id', ...Object.keys(values), ...Object.values(derived ?? {})].join(', ');

/** Allocations are written in the order of the file, the others in that of their ids. */
const orderOf = ({ key, isStatedOnce }: Entity): string => (isStatedOnce ? '' : `ORDER BY l.${key}`);

/** The statement that writes entities of which the books have none. The lines have many of a transaction, which agree. */
function insertQuery(entity: Entity): string {
  const { table, key, isStatedOnce, values } = entity;
  const fromLines = `${isStatedOnce ? '' : `DISTINCT ON (l.${key})`} l.${key} AS id, ${toColumns(values)} FROM import_line l`;
  return `
INSERT INTO ${table} (${columnsOf(entity)})
SELECT ${valuesOf(entity)} FROM (
  SELECT ${readsLines(entity) ? fromLines : `l.${key} AS id, ${toColumns(values)} FROM ${stagedTable(entity)} l`} ${orderOf(entity)}
) AS staged`;
}

/**
 * The statement that writes new and changed entities and counts them. Only those that the books have come to the ON CONFLICT: it costs a
 * row half as much again as an INSERT without it, and locks, and so writes, even the rows that it leaves as they are. The effects come first,
 * because Citus runs the parts in their order, and none of them may see what the others write.
 */
function mergeQuery(entity: Entity): string {
  const { table, key, derived, effectColumns, effects } = entity;
  const values = writtenValues(entity);
  const columns = [
    `l.${key} AS id`,
    toColumns(values),
    'old.id IS NOT NULL AS is_old',
    ...(effectColumns === undefined ? [] : [effectColumns]),
  ];
  const insert = `INSERT INTO ${table} (${columnsOf(entity)})
  SELECT ${valuesOf(entity)} FROM differing`;
  const written = Object.keys({ ...values, ...derived });
  return `
WITH differing AS MATERIALIZED (
  SELECT ${columns.join(', ')} FROM ${stagedTable(entity)} l ${joinBooks(entity)}
  WHERE ${differsFromBooks(entity)} ${orderOf(entity)}
)${Object.entries(effects)
    .map(([name, statement]) => `, ${name} AS (\n  ${statement}\n)`)
    .join('')}, added AS (
  ${insert} WHERE NOT is_old
), changed AS (
  ${insert} WHERE is_old
  ON CONFLICT (organization_id, id) DO UPDATE SET ${written.map((column) => `${column} = EXCLUDED.${column}`).join(', ')}
)
SELECT count(*) FROM differing`;
}

const ARE_EMPTY = `
SELECT NOT EXISTS (SELECT FROM designation WHERE organization_id = $1) AND NOT EXISTS (SELECT FROM donor WHERE organization_id = $1)
  AND NOT EXISTS (SELECT FROM deposit WHERE organization_id = $1)
  AND NOT EXISTS (SELECT FROM deposit_line WHERE organization_id = $1 AND ${IS_CURRENT}) AS "areEmpty"`;

/** Before PostgreSQL 15, superusers alone may do without triggers, and there is no function to ask. */
const MAY_TRUST = `
SELECT rolsuper AS "isSuperuser", current_setting('server_version_num')::int >= 150000 AS "hasGrants", EXISTS (
  SELECT FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = ANY ($1::regclass[])
) AS "hasTriggers"
FROM pg_roles WHERE rolname = current_user`;
const MAY_SET = `SELECT has_parameter_privilege('session_replication_role', 'SET') AS "maySet"`;

const FIND_ASSUMPTIONS = `
SELECT count(*) FILTER (WHERE l.deposit_status IS NULL AND d.id IS NULL) AS posted,
  count(d.id) FILTER (WHERE l.deposit_status IS NULL) AS kept,
  count(*) FILTER (WHERE l.deposit_status = 'posted' AND d.status = 'PENDING') AS settled
FROM staged_deposit l
LEFT JOIN deposit d ON d.organization_id = $1 AND d.id = l.deposit_id`;

const CREATE_LEFT = `
CREATE TEMPORARY TABLE left_transaction (id text COLLATE "C" NOT NULL, line bigint NOT NULL) ON COMMIT DROP;
CREATE TEMPORARY TABLE left_deposit (id text COLLATE "C" NOT NULL) ON COMMIT DROP;
${CREATE_TOUCHED}`;

/**
 * The count of gifts whose shares do not add up, among those of a SELECT of ids. Few files tell shares, so these are looked for first.
 */
const countMismatches = (mentioned: string): string => `(
  SELECT count(*)
  FROM (
    SELECT transaction_id, sum(amount) AS shares FROM allocation
    WHERE organization_id = $1 AND amount IS NOT NULL AND transaction_id IN (${mentioned}) GROUP BY transaction_id
  ) AS known
  JOIN transaction gift ON gift.organization_id = $1 AND gift.id = known.transaction_id AND gift.amount <> known.shares
  WHERE NOT EXISTS (
    SELECT FROM allocation other WHERE other.organization_id = $1 AND other.transaction_id = known.transaction_id AND other.amount IS NULL
  )
)`;
// FIND_MISMATCHES needs longer, and runs only when this count is not 0. A gift of both sources counts twice here.
const COUNT_MISMATCHES = `
SELECT ${countMismatches(STATED_BY_OWN)} + ${countMismatches(STATED_BY_LOSS)} AS count`;

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
  ${mismatchesOf(`
    SELECT transaction_id AS id, min(line) AS line FROM import_line
    WHERE transaction_id IN (${STATED_BY_OWN} UNION ALL ${STATED_BY_LOSS}) GROUP BY transaction_id`)}
  UNION ALL
  ${mismatchesOf(`
    SELECT id, min(line) AS line FROM left_transaction gone
    WHERE id IN (${STATED_BY_LOSS}) AND NOT EXISTS (SELECT FROM import_line WHERE transaction_id = gone.id) GROUP BY id`)}
) AS mismatch
ORDER BY line, "transactionId" LIMIT $2`;
