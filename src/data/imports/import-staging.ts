import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { ImportLine, ImportStatus } from '../../formats/import-line';
import type { BookTransaction } from '../books/book-transaction';
import { COLUMNS, type Column } from './import-columns';
import {
  DEPOSIT,
  DESIGNATION,
  differsFromBooks,
  DONOR,
  ENTITIES,
  joinBooks,
  linesOf,
  stagedTable,
  TRANSACTION,
  ALLOCATION,
  type Entity,
} from './import-entities';
import { toDataSourceError } from '../postgres/database-errors';

/** Two lines of a file that contradict each other. */
interface ImportConflict {
  readonly line: number;
  readonly firstLine: number;
  readonly field: string;
  /** The id that both lines share. */
  readonly key: string;
}

/**
 * The number of characters that are sent to the database at once. V8 is late to free a string of 128 kB, and a character may take two
 * bytes.
 */
const PIECE_LENGTH = 32_768;

interface ConflictRow {
  line: string;
  first_line: string;
  fields: string[];
  count: string;
}

/** A checked line of a file, to be staged. */
export interface StagedLine {
  /** The number of the line in the file. */
  readonly line: number;
  readonly values: ImportLine;
  /** The status of its deposit, of which the file may tell nothing. */
  readonly status: ImportStatus | undefined;
}

const ids = ['line', ...ENTITIES.map(({ key }) => key)];
const valueNames = [...COLUMNS.keys()].filter((name) => name !== 'line' && name !== 'deposit_status');

/** Writes the lines into the temporary table `import_line`, at the pace at which the database takes them, and returns their number. */
export async function stageLines(books: BookTransaction, lines: AsyncIterable<readonly StagedLine[]>): Promise<number> {
  const columns = Array.from(COLUMNS, ([name, type]) => `${name} ${type}`);
  await books.query(`CREATE TEMPORARY TABLE import_line (${columns.join(', ')}) ON COMMIT DROP`);
  const copy = books.connection.query(copyFrom(`COPY import_line (${['line', 'deposit_status', ...valueNames].join(', ')}) FROM STDIN`));
  let sourceFailed = false;
  const onSourceError = (): void => void (sourceFailed = true);
  await pipeline(Readable.from(toCopyText(lines, onSourceError)), copy).catch((error: unknown) => {
    throw sourceFailed ? error : toDataSourceError(error);
  });
  // Each id has many lines or few, and 3,000 rows tell which. Ten times as many, PostgreSQL's default, take 0.2 s.
  await books.query(
    `ALTER TABLE import_line ${ids.map((id) => `ALTER ${id} SET STATISTICS 10`).join(', ')}; ANALYZE import_line (${ids.join(', ')})`,
  );
  return copy.rowCount;
}

/**
 * Writes the entities of the lines into temporary tables, with a row for each form in which lines have one. For empty books these are the
 * deposits, donors and designations, which have many lines each. For other books they are all deposits, and the donors, designations,
 * transactions and allocations that differ from the books. Rows that other SQL adds or deletes meanwhile may undo the import.
 */
export async function stageEntities(books: BookTransaction, areNew: boolean): Promise<void> {
  for (const entity of ENTITIES) {
    if (areNew && readsLines(entity)) continue;
    const isCompared = !areNew && entity !== DEPOSIT;
    await books.query(createStaged(entity));
    await books.query(fillStaged(entity, isCompared), isCompared ? [books.organizationId] : []);
    await books.query(`ANALYZE ${stagedTable(entity)} (${entity.key})`);
  }
}

/** Finds contradictions between staged lines with the same id: their number, and the first `limit` of them in the file's order. */
export async function findConflicts(
  books: BookTransaction,
  limit: number,
  areNew: boolean,
): Promise<{ count: number; first: ImportConflict[] }> {
  let count = 0;
  const found: ImportConflict[] = [];
  for (const entity of ENTITIES) {
    const { key } = entity;
    const { rows: differing } = await books.query(differenceQuery(entity, areNew));
    if (differing.length === 0) continue;
    const { rows } = await books.query<ConflictRow>(conflictQuery(entity), [limit]);
    count += Number(rows[0]?.count ?? 0);
    found.push(
      ...rows.flatMap((row) => row.fields.map((field) => ({ line: Number(row.line), firstLine: Number(row.first_line), field, key }))),
    );
  }
  return { count, first: found.sort((a, b) => a.line - b.line).slice(0, limit) };
}

/**
 * Makes staged lines with the same id agree: all get the facts of the last one of them. A gift brings the facts of its deposit and its donor
 * with it. Of an allocation the last line stays. Returns the number of lines that went.
 */
export async function settleConflicts(books: BookTransaction): Promise<number> {
  const { rowCount } = await books.query(`
DELETE FROM import_line l USING import_line last WHERE last.allocation_id = l.allocation_id AND last.line > l.line`);
  for (const entity of [TRANSACTION, DEPOSIT, DONOR, DESIGNATION]) {
    const brought = entity === TRANSACTION ? [...DEPOSIT.stated, ...DONOR.stated] : [];
    const names = [...entity.stated, ...brought];
    await books.query(`
UPDATE import_line l SET ${names.map((name) => `${name} = last.${name}`).join(', ')}
FROM (SELECT DISTINCT ON (${entity.key}) * FROM import_line ORDER BY ${entity.key}, line DESC) AS last
WHERE last.${entity.key} = l.${entity.key} AND (${columnsOfLine('last', names)}) IS DISTINCT FROM (${columnsOfLine('l', names)})`);
  }
  return rowCount ?? 0;
}

const columnsOfLine = (alias: string, names: readonly Column[]): string => names.map((name) => `${alias}.${name}`).join(', ');

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

function toCopyValue(value: string | number | boolean | null | undefined): string {
  if (value === undefined || value === null) return '\\N';
  if (typeof value !== 'string') return String(value);
  // Few texts have a character to escape, and a search is quicker than a replacement.
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => COPY_ESCAPES[character]!) : value;
}

/** True for the kinds of which most lines have an entity of their own. New books are written from the lines themselves. */
export const readsLines = (entity: Entity): boolean => entity === TRANSACTION || entity === ALLOCATION;

const statedColumns = ({ key, stated }: Entity): string => [key, ...stated].map((column) => `l.${column}`).join(', ');

const createStaged = (entity: Entity): string =>
  `CREATE TEMPORARY TABLE ${stagedTable(entity)} ON COMMIT DROP AS SELECT ${statedColumns(entity)} FROM import_line l WITH NO DATA`;

const fillStaged = (entity: Entity, isCompared: boolean): string => `
INSERT INTO ${stagedTable(entity)}
SELECT ${entity.isStatedOnce ? '' : 'DISTINCT'} ${statedColumns(entity)} FROM ${linesOf(entity, isCompared ? joinBooks(entity) : '')}
${isCompared ? `AND ${differsFromBooks(entity)}` : ''}`;

/**
 * The query that returns a row when lines with the same id contradict each other. It needs no sort, and most files have no contradiction.
 * Lines that contradict each other cannot all agree with the books, so at least one of them was staged.
 */
function differenceQuery(entity: Entity, areNew: boolean): string {
  const { key, isStatedOnce } = entity;
  const distinct = (lines: string): string => `(SELECT DISTINCT ${statedColumns(entity)} FROM ${lines}) AS l`;
  const from = isStatedOnce
    ? 'import_line l'
    : areNew && readsLines(entity)
      ? distinct(linesOf(entity))
      : areNew || entity === DEPOSIT
        ? `${stagedTable(entity)} l`
        : distinct(`${linesOf(entity)} AND l.${key} IN (SELECT ${key} FROM ${stagedTable(entity)})`);
  return `SELECT FROM ${from} GROUP BY l.${key} HAVING count(*) > 1 LIMIT 1`;
}

/** The query for contradictions. Its text is built only from the names of columns. */
function conflictQuery(entity: Entity): string {
  const { key, stated, isStatedOnce } = entity;
  const fields = isStatedOnce ? [key] : stated;
  const differs = (field: Column): string =>
    field === key ? `line <> first_value(line) OVER same` : `${field} IS DISTINCT FROM first_value(${field}) OVER same`;
  const differing = fields.map((field) => `CASE WHEN ${differs(field)} THEN '${field}' END`).join(', ');
  return `
SELECT line, first_line, fields, sum(cardinality(fields)) OVER () AS count FROM (
  SELECT line, first_value(line) OVER same AS first_line, array_remove(ARRAY[${differing}], NULL) AS fields
  FROM ${linesOf(entity)}
  WINDOW same AS (PARTITION BY ${key} ORDER BY line)
) AS compared
WHERE cardinality(fields) > 0
ORDER BY line LIMIT $1`;
}
