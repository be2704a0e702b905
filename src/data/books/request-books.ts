import type { QueryResultRow } from 'pg';
import { Prisma } from '../../generated/prisma/client';
import type { BookSource } from '../reading/book-source';
import type { BookState } from '../reading/replica';
import type { Caller } from '../reading/report-queue';
import type { ReportSnapshot } from '../reading/report-snapshot';
import type { RequestTimes } from '../postgres/request-times';
import { stampOf, type VersionStamp } from '../postgres/version-stamp';
import { Turns } from '../reading/turns';
import type { VersionMemory } from './version-memory';

const { sql } = Prisma;

/** The one for whom the books are read. */
export interface BookReader {
  /** Aborted when the reader has left. */
  readonly signal: AbortSignal;
  /** Resolves to the caller whose lane is used; asked with the first long statement. */
  readonly caller: () => Promise<Caller>;
}

/** The request that the books are opened for. */
export interface BooksRequest extends BookReader {
  /** The organization and the version at which the access was checked; undefined before, and for callers who may read nothing. */
  readonly checkedState: () => BookState | undefined;
  /** Counts the time of waiting. */
  readonly times: RequestTimes;
  /** True when everything is read from the snapshot. */
  readonly isHeld: boolean;
  /** True when no replica is read. */
  readonly isPrimary: boolean;
}

interface BooksParts {
  /** Totals, groups, counts and digests, which are kept by data version. */
  readonly totals: VersionMemory;
  readonly source: BookSource;
  readonly snapshot: ReportSnapshot;
}

/**
 * The books as one request reads them. A short statement sees the newest data and tells the data version that it saw. A long one reads the
 * request's snapshot, and so does every statement of a request that is held. A request that saw two versions is noticed, at no cost to the
 * others. The books must be closed.
 */
export class RequestBooks {
  private readonly seen = new Set<VersionStamp>();
  /** Rows of several statements that arrive at once would keep the event loop busy for long, and other requests waiting. */
  private readonly turns = new Turns();
  private readonly asked = new Map<string, Promise<object>>();
  private isInDoubt = false;

  constructor(
    private readonly parts: BooksParts,
    private readonly request: BooksRequest,
  ) {}

  get snapshot(): ReportSnapshot {
    return this.parts.snapshot;
  }

  get reader(): BookReader {
    return this.request;
  }

  /** Aborts when the answer takes too long, when its reader leaves, and when it is complete. */
  get signal(): AbortSignal {
    return this.snapshot.signal;
  }

  /** The data version that was seen first, or else the one of the check of access; undefined for callers who may read nothing. */
  get version(): VersionStamp | undefined {
    return this.versions[0] ?? this.request.checkedState()?.version;
  }

  /** True when something was read, whose version is known. */
  get haveVersion(): boolean {
    return this.versions.length > 0;
  }

  /** True when the request has seen several data versions, because the books changed meanwhile. An answer must be of one. */
  get haveSeveralVersions(): boolean {
    return this.versions.length > 1;
  }

  /** True when something was read, and all of it is known to be of one data version. */
  get areOfOneVersion(): boolean {
    return this.versions.length === 1 && !this.isInDoubt;
  }

  /** True when the answer as a whole has to be read again from the primary. */
  get areBroken(): boolean {
    return this.parts.source.isBroken;
  }

  /** True when a replica has failed, so that nobody gets what was read. */
  get haveFailed(): boolean {
    return this.parts.source.hasFailed;
  }

  /** Reads the rows of a SELECT over the organization's books, as a short statement. */
  async list<Row extends QueryResultRow>(organizationId: number, select: Prisma.Sql): Promise<Row[]> {
    if (this.request.isHeld) return this.snapshot.list<Row>(select);
    const endTurn = await this.turns.take();
    try {
      return await this.read<Row>(organizationId, select);
    } finally {
      endTurn();
    }
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

  /**
   * Sees the version that a snapshot of a distributed database has come to by its end, and gives back the connection. Call it when nothing
   * more is read.
   */
  async end(): Promise<void> {
    await this.snapshot.end().catch(() => {
      this.isInDoubt = true;
    });
  }

  close(): Promise<void> {
    return this.snapshot.close();
  }

  /** The data versions that the request has seen, those of its snapshot included. */
  private get versions(): readonly VersionStamp[] {
    return [...new Set([...this.seen, ...this.snapshot.versions])];
  }

  /** The version that the next reading is looked for by. */
  private get present(): VersionStamp {
    const version = this.snapshot.version ?? [...this.seen].at(-1) ?? this.request.checkedState()?.version;
    if (version === undefined) throw new Error('The books were asked before their caller was authorized');
    return version;
  }

  private async read<Row extends QueryResultRow>(organizationId: number, select: Prisma.Sql): Promise<Row[]> {
    // The outer join keeps the order of its one right side, and gives a row even when that has none. Rows and version are of one statement,
    // which a distributed database runs on one node.
    const statement = sql`SELECT "seenVersion", source.* FROM (SELECT ${stampOf(organizationId)} AS "seenVersion") AS seen
        LEFT JOIN (SELECT true AS "isRow", found.* FROM (${select}) AS found) AS source ON true`;
    const listed = this.parts.source.run(
      (database) => database.list<Row & { seenVersion: VersionStamp; isRow: true | null }>(statement),
      ([row]) => row!.seenVersion,
    );
    const rows = await this.request.times.database.during(listed, { name: 'SELECT', sql: select.text });
    this.seen.add(rows[0]!.seenVersion);
    return rows[0]!.isRow ? rows : [];
  }

  private async find<Value extends object>(key: string, compute: (snapshot: ReportSnapshot) => Promise<Value>): Promise<Value> {
    const { snapshot } = this;
    if (this.request.isHeld) await snapshot.open();
    const { version, value } = await this.parts.totals.get<Value>(this.present, key, {
      compute: async () => {
        const computed = await compute(snapshot).catch((error: unknown) => {
          // One of the requests that wait for the value then computes it, and the others wait for that one. An AppError would let all
          // of them compute it at once.
          if (this.haveFailed) throw new Error('The replica has failed', { cause: error });
          throw error;
        });
        await snapshot.confirm();
        return { version: snapshot.version!, value: computed };
      },
      // A request that holds a lane waits for no other, which may need that lane.
      patience: () => snapshot.laneTaken,
    });
    this.seen.add(version);
    return value;
  }
}
