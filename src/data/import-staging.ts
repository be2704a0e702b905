import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { ImportLine, ImportStatus } from '../formats/import-line';
import type { BookTransaction } from './book-transaction';
import { toDataSourceError } from './postgres/database-errors';

/** Two lines of a file that contradict each other. */
interface ImportConflict {
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

/** A checked line of a file, to be staged. */
export interface StagedLine {
  /** The number of the line in the file. */
  readonly line: number;
  readonly values: ImportLine;
  /** The status of its deposit, of which the file may tell nothing. */
  readonly status: ImportStatus | undefined;
}

const columnNames = Object.keys(COLUMNS) as Column[];
const valueNames = columnNames.filter((name) => name !== 'line' && name !== 'deposit_status');

/** For each id, the columns in which all lines with that id must agree, because they are stored once. No two lines share an allocation. */
const AGREEMENTS = {
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
} as const satisfies Partial<Record<Column, readonly Column[]>>;

/** Writes the lines into the temporary table `import_line`, at the pace at which the database takes them, and returns their number. */
export async function stageLines(books: BookTransaction, lines: AsyncIterable<readonly StagedLine[]>): Promise<number> {
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
  await books.query(`CREATE TEMPORARY TABLE import_line (${columns.join(', ')}) ON COMMIT DROP`);
  const copy = books.connection.query(copyFrom(`COPY import_line (${['line', 'deposit_status', ...valueNames].join(', ')}) FROM STDIN`));
  let sourceFailed = false;
  const onSourceError = (): void => void (sourceFailed = true);
  await pipeline(Readable.from(toCopyText(lines, onSourceError)), copy).catch((error: unknown) => {
    throw sourceFailed ? error : toDataSourceError(error);
  });
  await books.query('ANALYZE import_line (line, deposit_id, transaction_id, allocation_id, donor_id, designation_id)');
  return copy.rowCount;
}

/** The temporary tables that are staged. Those beside the lines have each entity once when no lines contradict each other. */
export type StagedTable = 'import_line' | (typeof STAGED)[keyof typeof STAGED];
const STAGED = { deposit_id: 'staged_deposit', donor_id: 'staged_donor', designation_id: 'staged_designation' } as const;

/** Writes the entities that have many lines each into temporary tables, one row for each different thing that the lines say of one. */
export async function stageEntities(books: BookTransaction): Promise<void> {
  for (const [key, table] of Object.entries(STAGED) as [keyof typeof STAGED, StagedTable][]) {
    await books.query(stageQuery(key, table));
  }
}

/** Finds contradictions between staged lines with the same id: their number, and the first `limit` of them in the file's order. */
export async function findConflicts(books: BookTransaction, limit: number): Promise<{ count: number; first: ImportConflict[] }> {
  let count = 0;
  const found: ImportConflict[] = [];
  for (const [key, fields] of Object.entries(AGREEMENTS) as [Column, readonly Column[]][]) {
    const { rows: differing } = await books.query(differenceQuery(key, fields));
    if (differing.length === 0) continue;
    const { rows } = await books.query<ConflictRow>(conflictQuery(key, fields), [limit]);
    count += Number(rows[0]?.count ?? 0);
    found.push(
      ...rows.flatMap((row) => row.fields.map((field) => ({ line: Number(row.line), firstLine: Number(row.first_line), field, key }))),
    );
  }
  return { count, first: found.sort((a, b) => a.line - b.line).slice(0, limit) };
}

/** Writes lines as COPY's text. A missing value is NULL. Calls `onError` when the lines themselves throw. */
async function* toCopyText(lines: AsyncIterable<readonly StagedLine[]>, onError: () => void): AsyncGenerator<string> {
  let piece = '';
  try {
    for await (const some of lines) {
      for (const { line, values, status } of some) {
        piece += `${line}\t${toCopyValue(status)}`;
        for (const name of valueNames) piece += `\t${toCopyValue(values[name])}`;
        piece += '\n';
        if (piece.length < PIECE_LENGTH) continue;
        yield piece;
        piece = '';
      }
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

/** Donor 0 is nobody, so its lines need not agree. */
const linesWith = (key: Column): string => (key === 'donor_id' ? 'import_line WHERE donor_id > 0' : 'import_line');

const isStaged = (key: Column): key is keyof typeof STAGED => Object.hasOwn(STAGED, key);

const stageQuery = (key: keyof typeof STAGED, table: StagedTable): string => `
CREATE TEMPORARY TABLE ${table} ON COMMIT DROP AS SELECT DISTINCT ${[key, ...AGREEMENTS[key]].join(', ')} FROM ${linesWith(key)};
ANALYZE ${table} (${key})`;

/** The query that returns a row when lines with the same id contradict each other. It needs no sort, and most files have no contradiction. */
function differenceQuery(key: Column, fields: readonly Column[]): string {
  const said = isStaged(key) ? STAGED[key] : `(SELECT DISTINCT ${[key, ...fields].join(', ')} FROM ${linesWith(key)}) AS said`;
  return `SELECT FROM ${fields.includes(key) ? linesWith(key) : said} GROUP BY ${key} HAVING count(*) > 1 LIMIT 1`;
}

/** The query for contradictions. Its text is built only from the column names above. */
function conflictQuery(key: Column, fields: readonly Column[]): string {
  const differs = (field: Column): string =>
    field === key ? `line <> first_value(line) OVER same` : `${field} IS DISTINCT FROM first_value(${field}) OVER same`;
  const differing = fields.map((field) => `CASE WHEN ${differs(field)} THEN '${field}' END`).join(', ');
  return `
SELECT line, first_line, fields, sum(cardinality(fields)) OVER () AS count FROM (
  SELECT line, first_value(line) OVER same AS first_line, array_remove(ARRAY[${differing}], NULL) AS fields
  FROM ${linesWith(key)}
  WINDOW same AS (PARTITION BY ${key} ORDER BY line)
) AS compared
WHERE cardinality(fields) > 0
ORDER BY line LIMIT $1`;
}
