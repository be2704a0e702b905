import { Prisma } from '../../generated/prisma/client';
import { AppError } from '../../errors';
import type { LocalDate } from '../../values/dates';
import type { Money } from '../../values/money';
import type { Database } from '../postgres/database';
import { selectPage, type KeyOrder, type KeysetPage } from '../postgres/keyset';
import { numberOf, type VersionStamp } from '../postgres/version-stamp';
import type { ReportQueue } from '../reading/report-queue';
import type { ReportSnapshot } from '../reading/report-snapshot';
import { BookTransaction } from './book-transaction';
import { IS_CURRENT } from './line-columns';
import { IS_IN_FORCE, whereInForce } from './late-lines';
import type { BookReader, RequestBooks } from './request-books';

/** A month, or the part of one, that a close closed, with the figures of its posted lines at that moment. */
export interface ClosedMonth {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly lines: number;
  readonly transactions: number;
  readonly deposits: number;
  /** The sum over the lines, which counts a split gift once for each of them. */
  readonly lineAmount: Money;
  readonly transactionAmount: Money;
  /** The sum over the shares; null where there are lines and no share is known. */
  readonly allocationAmount: Money | null;
  readonly unknownAllocations: number;
  /** SHA-256 of the v2 lines, and of their money alone, in hex. */
  readonly digest: string;
  readonly moneyDigest: string;
}

/** A close of the books up to a date. Its instants are those of its versions. */
export interface PeriodClose {
  /** The data version that closed. */
  readonly version: number;
  readonly through: LocalDate;
  readonly closedAt: Date;
  readonly closedBy: string | null;
  readonly note: string | null;
  /** The data version that reopened; null while the close is in force. */
  readonly reopenedVersion: number | null;
  readonly reopenedAt: Date | null;
  readonly reopenedBy: string | null;
  readonly reopenReason: string | null;
  readonly months: readonly ClosedMonth[];
}

/** The days of the books that a close is made from. */
export interface OpenDays {
  readonly closedThrough: LocalDate | null;
  /** The first deposit date of a line; null without lines. */
  readonly firstDate: LocalDate | null;
}

/** A close to be made: of the months as they were read at a version. */
export interface NewClose {
  readonly through: LocalDate;
  readonly closedBy: string | null;
  readonly note: string | null;
  readonly months: readonly ClosedMonth[];
  readonly version: VersionStamp;
  /** The caller in whose lane the change waits for imports; undefined for an operator. */
  readonly reader: BookReader | undefined;
}

/** A reopening that was made. */
export interface Reopened {
  readonly version: number;
  /** The dates of the closes that were reopened, in order. */
  readonly reopened: readonly LocalDate[];
  readonly closedThrough: LocalDate | null;
}

/** A reopening to be made. */
export interface Reopening {
  readonly through: LocalDate;
  readonly reopenedBy: string | null;
  readonly reason: string;
  /** As of a close. */
  readonly reader: BookReader | undefined;
}

const { sql, raw } = Prisma;

/** The longest wait for an import to end. */
const MAX_WAIT_MS = 10_000;

export const closeOrder: KeyOrder = { columns: { version: 'bigint' } };

/** The closes of the books. */
export class PeriodStore {
  /** The organizations whose books a close or a reopening of this process is about to change. */
  private readonly changing = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly queue: ReportQueue,
  ) {}

  /** The days of the newest state that a snapshot reads. */
  async findOpenDays(organizationId: number, snapshot: ReportSnapshot): Promise<OpenDays> {
    const [found] = await snapshot.list<OpenDays>(sql`SELECT (${selectThrough(organizationId)}) AS "closedThrough", (
        SELECT min(deposit_date)::text FROM deposit_line WHERE organization_id = ${organizationId}::int AND ${raw(IS_CURRENT)}
      ) AS "firstDate"`);
    return found!;
  }

  /** The last closed date of a state, or of the newest one; null where none is closed. */
  async findClosedThrough(organizationId: number, state: VersionStamp | undefined, books: RequestBooks): Promise<LocalDate | null> {
    const select = sql`SELECT (${selectThrough(organizationId, state)}) AS through`;
    return (await books.list<{ through: LocalDate | null }>(organizationId, select))[0]!.through;
  }

  /** Reads a page of the closes, the newest first. */
  async listCloses(organizationId: number, page: KeysetPage, books: RequestBooks): Promise<readonly PeriodClose[]> {
    const where = sql`organization_id = ${organizationId}::int`;
    const select = selectPage({ values: closeValues(organizationId), from: CLOSES, where, order: closeOrder, isDescending: true, page });
    const closes = await books.list<PeriodClose & Record<string, unknown>>(organizationId, select);
    return page.fromEnd ? [...closes].reverse() : closes;
  }

  async countCloses(organizationId: number, books: RequestBooks): Promise<number> {
    const select = sql`SELECT count(*)::float8 AS count FROM period_close WHERE organization_id = ${organizationId}::int`;
    return (await books.list<{ count: number }>(organizationId, select))[0]!.count;
  }

  /**
   * Writes a close as a data version. `onReady` is called before, when nothing else can change the books any more. Returns undefined, and
   * writes nothing, when the books have gone on since the months were read.
   */
  insert(organizationId: number, close: NewClose, onReady: () => Promise<void>): Promise<PeriodClose | undefined> {
    return this.change(organizationId, close.reader, async (books) => {
      const { rows } = await books.query<{ number: string }>(NEWEST, [organizationId]);
      if (Number(rows[0]!.number) !== numberOf(close.version)) return undefined;
      await onReady();
      const version = await books.advanceAlone('close');
      await books.query(INSERT_CLOSE, [organizationId, version, close.through, close.closedBy, close.note]);
      await books.query(INSERT_MONTHS, [organizationId, version, JSON.stringify(close.months)]);
      return findClose(books, version);
    });
  }

  /**
   * Reopens the close of a date that is in force, and every later one, as a data version. `onReady` gets the dates of all closes in force, and
   * throws when that date is not among them.
   */
  reopen(
    organizationId: number,
    { through, reopenedBy, reason, reader }: Reopening,
    onReady: (inForce: readonly LocalDate[]) => Promise<void>,
  ): Promise<Reopened> {
    return this.change(organizationId, reader, async (books) => {
      const { rows } = await books.query<{ through: LocalDate }>(LIST_IN_FORCE, [organizationId]);
      const dates = rows.map((row) => row.through);
      await onReady(dates);
      const version = await books.advanceAlone('reopen');
      await books.query(REOPEN, [organizationId, through, version, reopenedBy, reason]);
      const closedThrough = dates.findLast((date) => date < through) ?? null;
      return { version, reopened: dates.filter((date) => date >= through), closedThrough };
    });
  }

  /**
   * Changes the books in a lane of the reader: its connection is one of those that reports have. One change of an
   * organization waits at a time, because its lane reads nothing meanwhile.
   */
  private async change<Result>(
    organizationId: number,
    reader: BookReader | undefined,
    work: (books: BookTransaction) => Promise<Result>,
  ): Promise<Result> {
    if (this.changing.has(organizationId))
      throw new AppError('BOOKS_CHANGING', {
        fault: 'another close or reopening is under way; try again when it has ended',
        retryAfterSeconds: 10,
      });
    this.changing.add(organizationId);
    let leave: (() => void) | undefined;
    try {
      leave = reader && (await this.queue.enter(await reader.caller(), reader.signal));
      const change = async (books: BookTransaction): Promise<Result> => {
        await books.lock(MAX_WAIT_MS);
        return work(books);
      };
      return await BookTransaction.run(this.database, organizationId, change, { writesLines: false });
    } finally {
      leave?.();
      this.changing.delete(organizationId);
    }
  }
}

const selectThrough = (organizationId: number, state?: VersionStamp): Prisma.Sql =>
  sql`SELECT max(through)::text FROM period_close WHERE ${whereInForce({ organizationId, state })}`;

/** The members of a month, by the columns that hold them. */
const MONTH_COLUMNS: Readonly<Record<keyof ClosedMonth, readonly [column: string, type: string]>> = {
  startDate: ['start_date', 'date'],
  endDate: ['end_date', 'date'],
  lines: ['lines', 'bigint'],
  transactions: ['transactions', 'bigint'],
  deposits: ['deposits', 'bigint'],
  lineAmount: ['line_amount', 'numeric'],
  transactionAmount: ['transaction_amount', 'numeric'],
  allocationAmount: ['allocation_amount', 'numeric'],
  unknownAllocations: ['unknown_allocations', 'bigint'],
  digest: ['digest', 'text'],
  moneyDigest: ['money_digest', 'text'],
};
const months = Object.entries(MONTH_COLUMNS);
/** The members of a month as JSON. Amounts are text there, so that no digit is lost. */
const MONTH_VALUES = months.map(([name, [column, type]]) => `'${name}', ${column}${type === 'numeric' ? '::text' : ''}`).join(', ');

/** The values of closes. Each subquery names the organization, by which a distributed database finds its node. */
function closeValues(organizationId: number): Prisma.Sql {
  const ofOrganization = sql`organization_id = ${organizationId}::int`;
  const instantOf = (column: string): Prisma.Sql =>
    sql`(SELECT recorded_at FROM data_version WHERE ${ofOrganization} AND number = source.${raw(column)})`;
  return sql`version::float8 AS version, through::text AS through, ${instantOf('version')} AS "closedAt", closed_by AS "closedBy", note,
    reopened_version::float8 AS "reopenedVersion", ${instantOf('reopened_version')} AS "reopenedAt", reopened_by AS "reopenedBy",
    reopen_reason AS "reopenReason", COALESCE((SELECT json_agg(json_build_object(${raw(MONTH_VALUES)}) ORDER BY start_date)
      FROM closed_month WHERE ${ofOrganization} AND close_version = source.version), '[]') AS months`;
}
const CLOSES = sql`period_close AS source`;

async function findClose(books: BookTransaction, version: number): Promise<PeriodClose> {
  const { organizationId } = books;
  const { text, values } = sql`SELECT ${closeValues(organizationId)} FROM ${CLOSES}
    WHERE organization_id = ${organizationId}::int AND version = ${version}::bigint`;
  return (await books.query<PeriodClose & Record<string, unknown>>(text, values)).rows[0]!;
}

const NEWEST = 'SELECT COALESCE(max(number), 0) AS number FROM data_version WHERE organization_id = $1';
const INSERT_CLOSE = `
INSERT INTO period_close (organization_id, version, through, closed_by, note) VALUES ($1, $2::bigint, $3::date, $4, $5)`;
// The names in JSON are those of the members.
const INSERT_MONTHS = `
INSERT INTO closed_month (organization_id, close_version, ${months.map(([, [column]]) => column).join(', ')})
SELECT $1::int, $2::bigint, ${months.map(([name]) => `"${name}"`).join(', ')}
FROM json_to_recordset($3) AS month (${months.map(([name, [, type]]) => `"${name}" ${type}`).join(', ')})`;
const LIST_IN_FORCE = `
SELECT through::text AS through FROM period_close
WHERE organization_id = $1 AND ${IS_IN_FORCE} ORDER BY through`;
const REOPEN = `
UPDATE period_close SET reopened_version = $3::bigint, reopened_by = $4, reopen_reason = $5
WHERE organization_id = $1 AND through >= $2::date AND ${IS_IN_FORCE}`;
