import type { QueryResultRow } from 'pg';
import { Prisma } from '../generated/prisma/client';
import type { Database } from './postgres/database';
import type { ReportSnapshot } from './postgres/report-snapshot';
import { selectStamp, type VersionStamp } from './postgres/version-stamp';

const { sql, raw } = Prisma;

/**
 * Reads the books for one request. Each statement sees the newest data and tells the data version that it saw, so that a request whose
 * statements saw two versions is noticed, at no cost to the others. A reader with `isHeld` reads everything from the request's snapshot.
 */
export class BookReader {
  private readonly seen = new Set<VersionStamp>();

  constructor(
    private readonly database: Database,
    private readonly snapshot: ReportSnapshot,
    private readonly isHeld: boolean,
  ) {}

  /** The data versions that the request has seen, those of its snapshot included. An answer must be of one. */
  get versions(): readonly VersionStamp[] {
    const { version } = this.snapshot;
    return [...new Set(version === undefined ? this.seen : [...this.seen, version])];
  }

  /** Reads the rows of a SELECT over the organization's books. */
  async list<Row extends QueryResultRow>(organizationId: number, select: Prisma.Sql): Promise<Row[]> {
    if (this.isHeld) return this.snapshot.list<Row>(select);
    // The outer join keeps the order of its one right side, and gives a row even when that has none.
    const rows = await this.database.list<Row & { seenVersion: VersionStamp; isRow: true | null }>(
      sql`SELECT "seenVersion", source.* FROM (SELECT ${raw(selectStamp('caller.id'))} AS "seenVersion"
          FROM (SELECT ${organizationId}::int AS id) AS caller) AS seen
        LEFT JOIN (SELECT true AS "isRow", found.* FROM (${select}) AS found) AS source ON true`,
    );
    this.seen.add(rows[0]!.seenVersion);
    return rows[0]!.isRow ? rows : [];
  }
}
