import type { QueryResultRow } from 'pg';
import { Prisma } from '../generated/prisma/client';
import type { BookSource } from './postgres/book-source';
import type { ReportSnapshot } from './postgres/report-snapshot';
import type { RequestTimes } from './postgres/request-times';
import { stampOf, type VersionStamp } from './postgres/version-stamp';
import { Turns } from './postgres/turns';
import type { VersionMemory } from './version-memory';

const { sql } = Prisma;

/** The request that a BookReader reads for. */
export interface ReaderOptions {
  readonly snapshot: ReportSnapshot;
  /** The data version that the request's access was checked at; undefined before, and for callers who may read nothing. */
  readonly accessVersion: () => VersionStamp | undefined;
  /** True when everything is read from the snapshot. */
  readonly isHeld: boolean;
  /** Counts the time of waiting. */
  readonly times: RequestTimes;
  readonly source: BookSource;
}

/**
 * Reads the books for one request. Each statement sees the newest data and tells the data version that it saw, so that a request whose
 * statements saw two versions is noticed, at no cost to the others. A reader with `isHeld` reads everything from the request's snapshot.
 */
export class BookReader {
  private readonly seen = new Set<VersionStamp>();
  /** Rows of several statements that arrive at once would keep the event loop busy for long, and other requests waiting. */
  private readonly turns = new Turns();
  private readonly asked = new Map<string, Promise<object>>();

  constructor(
    private readonly memory: VersionMemory,
    private readonly options: ReaderOptions,
  ) {}

  /** The data versions that the request has seen, those of its snapshot included. An answer must be of one. */
  get versions(): readonly VersionStamp[] {
    return [...new Set([...this.seen, ...this.options.snapshot.versions])];
  }

  /** Reads the rows of a SELECT over the organization's books. */
  async list<Row extends QueryResultRow>(organizationId: number, select: Prisma.Sql): Promise<Row[]> {
    if (this.options.isHeld) return this.options.snapshot.list<Row>(select);
    // The outer join keeps the order of its one right side, and gives a row even when that has none.
    const endTurn = await this.turns.take();
    const statement = sql`SELECT "seenVersion", source.* FROM (SELECT ${stampOf(organizationId)} AS "seenVersion") AS seen
        LEFT JOIN (SELECT true AS "isRow", found.* FROM (${select}) AS found) AS source ON true`;
    const listed = this.options.source.run(
      (database) => database.list<Row & { seenVersion: VersionStamp; isRow: true | null }>(statement),
      ([row]) => row!.seenVersion,
    );
    const rows = await this.options.times.database.during(listed, { name: 'SELECT', sql: select.text }).finally(endTurn);
    this.seen.add(rows[0]!.seenVersion);
    return rows[0]!.isRow ? rows : [];
  }

  /**
   * Returns a value that is computed from the request's snapshot, or kept from a request before that read the same data version. The key
   * tells the value from all others, of other organizations and other tiers too.
   */
  once<Value extends object>(key: string, compute: (snapshot: ReportSnapshot) => Promise<Value>): Promise<Value> {
    const known = this.asked.get(key) ?? this.find(key, compute);
    this.asked.set(key, known);
    return known as Promise<Value>;
  }

  private async find<Value extends object>(key: string, compute: (snapshot: ReportSnapshot) => Promise<Value>): Promise<Value> {
    const { snapshot, isHeld, accessVersion } = this.options;
    if (isHeld) await snapshot.open();
    const present = snapshot.version ?? [...this.seen].at(-1) ?? accessVersion();
    if (present === undefined) throw new Error('A value was asked for before its caller was authorized');
    const { version, value } = await this.memory.get<Value>(present, key, {
      compute: async () => {
        const computed = await compute(snapshot);
        await snapshot.confirm();
        return { version: snapshot.version!, value: computed };
      },
      lane: snapshot.laneTaken,
    });
    this.seen.add(version);
    return value;
  }
}
