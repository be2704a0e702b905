import { unseenCharacters } from '../../formats/import-line';
import { Prisma } from '../../generated/prisma/client';
import { BookTransaction, totalsOf, type ChangeSource, type NewVersion } from './book-transaction';
import { columnsOf, differingColumns, IS_CURRENT } from './line-columns';
import type { Database } from '../postgres/database';
import { rethrowTranslated, toDataSourceError } from '../postgres/database-errors';
import { selectPage, type KeyOrder, type KeysetPage } from '../postgres/keyset';
import { toSqlInstant, VERSION_STAMP, type VersionStamp } from '../postgres/version-stamp';
import type { AsOf } from '../../formats/as-of';
import { beginWith, LONG_SETTINGS } from '../postgres/local-settings';
import type { RequestBooks } from './request-books';

const { sql } = Prisma;

/** A version of an organization's books, with the change that made it and the books' totals at it. Each transaction counts once. */
export interface DataVersion {
  readonly number: number;
  readonly recordedAt: Date;
  readonly cause: ChangeSource['cause'];
  /** False once the state was pruned. */
  readonly isKept: boolean;
  /** The imported file; both are null for other causes. */
  readonly fileName: string | null;
  readonly fileSha256: string | null;
  readonly linesAdded: number;
  readonly linesChanged: number;
  readonly linesRemoved: number;
  readonly lines: number;
  readonly transactions: number;
  readonly amount: string;
  readonly feeAmount: string;
}

/** The versions of a list, and whether the newest stands first. Both ends of the range are included. */
export interface VersionList {
  readonly organizationId: number;
  readonly isDescending: boolean;
  readonly fromNumber?: number | undefined;
  readonly toNumber?: number | undefined;
}

/** A state of the books that was asked for. */
export interface FoundState {
  /** The version, also where its state was pruned. */
  readonly state: VersionStamp | null;
  /** The earliest version whose state is kept. */
  readonly earliest: VersionStamp | null;
  readonly latest: VersionStamp | null;
  /** The time of the database, which the instants of versions are of, in milliseconds of the Unix time. */
  readonly nowMs: number;
}

/** A line that differs from the books. It names columns, not values, because those are personal. */
interface LineDifference {
  readonly allocationId: string;
  /** `missing`: the books have the allocation and no line has it. `surplus`: the other way around. */
  readonly kind: 'missing' | 'surplus' | 'different';
  readonly columns: readonly string[];
}

/** An id that begins or ends with a character that nobody sees. Imports refuse such ids, and once did not. */
interface PaddedId {
  readonly kind: 'allocation' | 'deposit' | 'transaction';
  readonly id: string;
}

/** The outcome of a comparison of an organization's lines with its books. */
export interface BookCheck {
  readonly lines: number;
  readonly differences: number;
  /** The first differences in the order of the allocations' ids. */
  readonly first: readonly LineDifference[];
  readonly version: number;
  /** True when the versions' numbers begin with 1 and have no gap. */
  readonly versionsAreWhole: boolean;
  /** True when the totals of the last version are those of the lines. */
  readonly totalsAgree: boolean;
  /** The number of donors whose names a search would not find, because they were changed by SQL. */
  readonly unsearchableDonors: number;
  /** The first in the order of kinds and ids. */
  readonly paddedIds: { readonly count: number; readonly first: readonly PaddedId[] };
}

/** The newest version of an organization's books, the earliest whose state is kept, and the number of its imports. */
export interface BookFigures {
  readonly organizationId: number;
  readonly number: number;
  readonly earliest: number;
  readonly recordedAt: Date;
  readonly imports: number;
}

/** The versions of the books, and the agreement of the lines with the books. */
export class BookStore {
  constructor(private readonly database: Database) {}

  /** The newest version of every organization that has one. */
  async listFigures(): Promise<BookFigures[]> {
    const rows = await this.database.query<{ id: number; number: string; earliest: string; at: Date; imports: string }>({
      name: 'book-figures',
      text: BOOK_FIGURES,
    });
    return rows.map(({ id, number, earliest, at, imports }) => ({
      organizationId: id,
      number: Number(number),
      earliest: Number(earliest),
      recordedAt: at,
      imports: Number(imports),
    }));
  }

  /** Reads a page of the organization's versions, for a request when its books are given. */
  async listVersions({ isDescending, ...range }: VersionList, page: KeysetPage, books?: RequestBooks): Promise<readonly DataVersion[]> {
    const { organizationId } = range;
    const select = selectPage({
      values: sql`${VERSION_VALUES}, number >= (${selectEarliest(organizationId)}) AS "isKept"`,
      from: sql`data_version AS source`,
      where: isInRange(range),
      order: versionOrder,
      isDescending,
      page,
    });
    const versions = await (books ? books.list<DataVersion>(organizationId, select) : this.database.list<DataVersion>(select));
    return page.fromEnd ? [...versions].reverse() : versions;
  }

  async countVersions(versions: VersionList, books: RequestBooks): Promise<number> {
    const select = sql`SELECT count(*)::float8 AS count FROM data_version WHERE ${isInRange(versions)}`;
    return (await books.list<{ count: number }>(versions.organizationId, select))[0]!.count;
  }

  /** The number of the earliest version whose state is kept. */
  async findEarliest(organizationId: number, books: RequestBooks): Promise<number> {
    const select = sql`SELECT (${selectEarliest(organizationId)})::float8 AS earliest`;
    return (await books.list<{ earliest: number }>(organizationId, select))[0]!.earliest;
  }

  /** The version of a state, and the first that is kept and the last one; null for those that there are not. */
  async findState(organizationId: number, { version, at }: AsOf, books: RequestBooks): Promise<FoundState> {
    // Callers are told whole milliseconds.
    const instant = at && toSqlInstant(at);
    const where = instant ? sql`date_trunc('milliseconds', recorded_at) <= ${instant}::timestamptz` : sql`number = ${version}::bigint`;
    const select = (condition: Prisma.Sql, direction: Prisma.Sql): Prisma.Sql => sql`(SELECT ${VERSION_STAMP} FROM data_version
      WHERE organization_id = ${organizationId}::int AND ${condition} ORDER BY number ${direction} LIMIT 1)`;
    const isKept = sql`number >= (${selectEarliest(organizationId)})`;
    const [found] = await books.list<FoundState>(
      organizationId,
      sql`SELECT ${select(where, sql`DESC`)} AS state, ${select(isKept, sql`ASC`)} AS earliest, ${select(sql`true`, sql`DESC`)} AS latest,
        (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`,
    );
    return found!;
  }

  /** Computes every line from the books and compares it with the one that stands, in one state of the data. */
  async check(organizationId: number, limit: number): Promise<BookCheck> {
    const client = await this.database.longPool.connect().catch(rethrowTranslated);
    try {
      await client.query(beginWith(LONG_SETTINGS, 'ISOLATION LEVEL REPEATABLE READ READ ONLY'));
      const { rows: first } = await client.query<LineDifference & { total: string }>(FIND_DIFFERENCES, [organizationId, limit]);
      const { rows: totals } = await client.query<{ lines: string; agree: boolean }>(COMPARE_TOTALS, [organizationId]);
      const { rows: versions } = await client.query<{ count: string; last: string }>(COUNT_VERSIONS, [organizationId]);
      const { rows: donors } = await client.query<{ count: string }>(COUNT_UNSEARCHABLE, [organizationId]);
      const { rows: padded } = await client.query<PaddedId & { total: string }>(FIND_PADDED, [organizationId, unseenCharacters(), limit]);
      await client.query('COMMIT');
      client.release();
      const { count, last } = versions[0]!;
      return {
        lines: Number(totals[0]!.lines),
        differences: Number(first[0]?.total ?? 0),
        first: first.map(({ allocationId, kind, columns }) => ({ allocationId, kind, columns })),
        version: Number(last),
        versionsAreWhole: count === last,
        totalsAgree: totals[0]!.agree,
        unsearchableDonors: Number(donors[0]!.count),
        paddedIds: { count: Number(padded[0]?.total ?? 0), first: padded.map(({ kind, id }) => ({ kind, id })) },
      };
    } catch (error) {
      client.release(true);
      throw toDataSourceError(error);
    }
  }

  /** Brings all lines in line with the books, as a new version. */
  async repair(organizationId: number): Promise<NewVersion> {
    // The books may have been filled a moment ago. ANALYZE in the transaction would make other organizations' imports wait for its end.
    await this.database.longPool.query('ANALYZE designation, donor, deposit, transaction, allocation').catch(rethrowTranslated);
    return BookTransaction.run(this.database, organizationId, async (books) => {
      await books.lock();
      await books.query(FOLD_NAMES, [organizationId]);
      await books.query(NOTE_ALL, [organizationId]);
      await books.query(NOTE_REMOVED, [organizationId]);
      return books.advance({ cause: 'repair' }, 'all');
    });
  }
}

const isInRange = ({ organizationId, fromNumber = 1, toNumber = Number.MAX_SAFE_INTEGER }: Omit<VersionList, 'isDescending'>): Prisma.Sql =>
  sql`organization_id = ${organizationId}::int AND number BETWEEN ${fromNumber}::bigint AND ${toNumber}::bigint`;

/** The number of the earliest version whose state is kept: that of the last prune, or the first of all. */
const selectEarliest = (organizationId: number): Prisma.Sql =>
  sql`SELECT COALESCE(max(earliest), 1) FROM data_version WHERE organization_id = ${organizationId}::int AND earliest IS NOT NULL`;

/** The order of versions, which lists follow forwards or backwards. */
export const versionOrder: KeyOrder = { columns: { number: 'bigint' } };
const VERSION_VALUES = sql`number::float8 AS number, recorded_at AS "recordedAt", cause, file_name AS "fileName", file_sha256 AS "fileSha256",
  lines_added::float8 AS "linesAdded", lines_changed::float8 AS "linesChanged", lines_removed::float8 AS "linesRemoved",
  lines::float8 AS lines, transactions::float8 AS transactions, amount::text AS amount, fee_amount::text AS "feeAmount"`;

const FIND_DIFFERENCES = `
SELECT COALESCE(computed.allocation_id, line.allocation_id) AS "allocationId",
  CASE WHEN line.allocation_id IS NULL THEN 'missing' WHEN computed.allocation_id IS NULL THEN 'surplus' ELSE 'different' END AS kind,
  ${differingColumns('computed', 'line')} AS columns,
  count(*) OVER () AS total
FROM (SELECT * FROM deposit_detail WHERE organization_id = $1) AS computed
FULL JOIN (SELECT * FROM deposit_line WHERE organization_id = $1 AND ${IS_CURRENT}) AS line ON line.allocation_id = computed.allocation_id
WHERE (${columnsOf('computed')}) IS DISTINCT FROM (${columnsOf('line')})
ORDER BY 1 LIMIT $2`;

const COMPARE_TOTALS = `
SELECT found.lines, (found.lines, found.transactions, found.amount, found.fee_amount) =
  (COALESCE(last.lines, 0), COALESCE(last.transactions, 0), COALESCE(last.amount, 0), COALESCE(last.fee_amount, 0)) AS agree
FROM (${totalsOf(`deposit_line WHERE organization_id = $1 AND ${IS_CURRENT}`)}) AS found
LEFT JOIN (SELECT * FROM data_version WHERE organization_id = $1 ORDER BY number DESC LIMIT 1) AS last ON true`;

const BOOK_FIGURES = `
SELECT organization_id AS id, max(number) AS number, COALESCE(max(earliest), 1) AS earliest, max(recorded_at) AS at, count(*) FILTER (WHERE cause = 'import') AS imports
FROM data_version GROUP BY organization_id`;

const COUNT_VERSIONS = `SELECT count(*), COALESCE(max(number), 0) AS last FROM data_version WHERE organization_id = $1`;

const COUNT_UNSEARCHABLE = `
SELECT count(*) FROM donor WHERE organization_id = $1
  AND search_text <> donor_search_forms(first_name, last_name)`;

// Nearly all ids begin and end with a visible character of ASCII; a search in the list of thousands of unseen ones takes longer.
const FIND_PADDED = `
SELECT kind, id, count(*) OVER () AS total FROM (
  ${['allocation', 'deposit', 'transaction'].map((table) => `SELECT '${table}' AS kind, id FROM ${table} WHERE organization_id = $1`).join(' UNION ALL ')}
) AS known
WHERE id COLLATE "C" !~ '^[!-~](.*[!-~])?$' AND btrim(id, $2) <> id
ORDER BY kind, id COLLATE "C" LIMIT $3`;

const FOLD_NAMES = `
UPDATE donor SET search_text = folded.text
FROM (SELECT id, donor_search_forms(first_name, last_name) AS text FROM donor WHERE organization_id = $1) AS folded
WHERE donor.organization_id = $1 AND donor.id = folded.id AND donor.search_text <> folded.text`;
const NOTE_ALL = 'INSERT INTO changed_transaction SELECT id FROM transaction WHERE organization_id = $1';
const NOTE_REMOVED = `
INSERT INTO removed_allocation
SELECT allocation_id FROM deposit_line line
WHERE organization_id = $1 AND ${IS_CURRENT}
  AND NOT EXISTS (SELECT FROM allocation WHERE organization_id = $1 AND id = line.allocation_id)`;
