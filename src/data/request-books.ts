import type { QueryResultRow } from 'pg';
import { Prisma } from '../generated/prisma/client';
import type { BookSource } from './postgres/book-source';
import type { BookState } from './postgres/replica';
import type { Caller } from './postgres/report-queue';
import type { ReportSnapshot } from './postgres/report-snapshot';
import type { RequestTimes } from './postgres/request-times';
import { stampOf, type VersionStamp } from './postgres/version-stamp';
import { Turns } from './postgres/turns';
import type { VersionedValue, VersionMemory } from './version-memory';

const { sql } = Prisma;

/** The request that the books are opened for. */
export interface BooksRequest {
  /** Aborted when the reader has left. */
  readonly signal: AbortSignal;
  /** Resolves to the caller whose lane is used; asked with the first long statement. */
  readonly caller: () => Promise<Caller>;
  /** The organization and the version at which the access was checked; undefined before, and for callers who may read nothing. */
  readonly checkedState: () => BookState | undefined;
  /** Counts the time of waiting. */
  readonly times: RequestTimes;
  /** True when everything is read from the snapshot. */
  readonly isHeld: boolean;
  /** True when no replica is read. */
  readonly isPrimary: boolean;
}

/** What was read of the books, by the data version. Each part has room of its own, because a value may have cost the reading of a year. */
export interface KeptBooks {
  /** Totals, groups, counts and digests. */
  readonly values: VersionMemory;
  /** The rows of short statements. */
  readonly rows: VersionMemory;
}

/**
 * The books as one request reads them. A short statement sees the newest data and tells the data version that it saw, so that a request whose
 * statements saw two versions is noticed, at no cost to the others. A long one reads the request's snapshot, and so does every statement of
 * a request that is held. The books must be closed.
 */
export class RequestBooks {
  private readonly seen = new Set<VersionStamp>();
  /** Rows of several statements that arrive at once would keep the event loop busy for long, and other requests waiting. */
  private readonly turns = new Turns();
  private readonly asked = new Map<string, Promise<object>>();

  constructor(
    private readonly kept: KeptBooks,
    private readonly source: BookSource,
    readonly snapshot: ReportSnapshot,
    private readonly request: BooksRequest,
  ) {}

  /** Aborts when the answer takes too long, when its reader leaves, and when it is complete. */
  get signal(): AbortSignal {
    return this.snapshot.signal;
  }

  /** The data version that was seen first, and at the latest with the check of the access; undefined for callers who may read nothing. */
  get version(): VersionStamp | undefined {
    return this.versions[0] ?? this.request.checkedState()?.version;
  }

  /** True when a statement has told its data version. */
  get haveVersion(): boolean {
    return this.versions.length > 0;
  }

  /** True when the statements saw several data versions, because the books changed between them. An answer must be of one. */
  get haveSeveralVersions(): boolean {
    return this.versions.length > 1;
  }

  /** True when the answer as a whole has to be read again from the primary, because a replica failed after a part of it was read. */
  get areBroken(): boolean {
    return this.source.isBroken;
  }

  /**
   * Reads the rows of a SELECT over the organization's books, as a short statement. They are kept by the data version, and other requests may
   * get the same objects.
   */
  async list<Row extends QueryResultRow>(organizationId: number, select: Prisma.Sql): Promise<readonly Row[]> {
    if (this.request.isHeld) return this.snapshot.list<Row>(select);
    const checked = this.request.checkedState();
    if (!checked) return (await this.read<Row>(organizationId, select)).value;
    const { version, value } = await this.kept.rows.get<readonly Row[]>(checked.version, JSON.stringify([select.text, select.values]), {
      compute: () => this.read(organizationId, select),
      lane: this.snapshot.laneTaken,
    });
    this.seen.add(version);
    return value;
  }

  /**
   * Returns a value that is computed from the snapshot, or kept from a request before that read the same data version. The key tells the
   * value from all others, of other organizations and other tiers too.
   */
  once<Value extends object>(key: string, compute: (snapshot: ReportSnapshot) => Promise<Value>): Promise<Value> {
    const known = this.asked.get(key) ?? this.find(key, compute);
    this.asked.set(key, known);
    return known as Promise<Value>;
  }

  /** Sees the version of rows that are read after everything else, whose snapshot must be of the version of the rest. */
  async openForRows(): Promise<void> {
    // When it cannot be opened, the rows fail with the same error, at the place where they are read.
    await this.snapshot.open().catch(() => undefined);
  }

  /** Sees the version that a snapshot of a distributed database has come to by its end. */
  async confirm(): Promise<void> {
    await this.snapshot.confirm().catch(() => undefined);
  }

  close(): Promise<void> {
    return this.snapshot.close();
  }

  /** The data versions that the request has seen, those of its snapshot included. */
  private get versions(): readonly VersionStamp[] {
    return [...new Set([...this.seen, ...this.snapshot.versions])];
  }

  private async read<Row extends QueryResultRow>(organizationId: number, select: Prisma.Sql): Promise<VersionedValue<readonly Row[]>> {
    // The outer join keeps the order of its one right side, and gives a row even when that has none.
    const endTurn = await this.turns.take();
    const statement = sql`SELECT "seenVersion", source.* FROM (SELECT ${stampOf(organizationId)} AS "seenVersion") AS seen
        LEFT JOIN (SELECT true AS "isRow", found.* FROM (${select}) AS found) AS source ON true`;
    const listed = this.source.run(
      (database) => database.list<Row & { seenVersion: VersionStamp; isRow: true | null }>(statement),
      ([row]) => row!.seenVersion,
    );
    const rows = await this.request.times.database.during(listed, { name: 'SELECT', sql: select.text }).finally(endTurn);
    this.seen.add(rows[0]!.seenVersion);
    return { version: rows[0]!.seenVersion, value: rows[0]!.isRow ? rows : [] };
  }

  private async find<Value extends object>(key: string, compute: (snapshot: ReportSnapshot) => Promise<Value>): Promise<Value> {
    const { snapshot, request } = this;
    if (request.isHeld) await snapshot.open();
    const present = snapshot.version ?? [...this.seen].at(-1) ?? request.checkedState()?.version;
    if (present === undefined) throw new Error('A value was asked for before its caller was authorized');
    const { version, value } = await this.kept.values.get<Value>(present, key, {
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
