import type { LocalDate } from '../../values/dates';
import type { Database } from '../postgres/database';
import { toSqlInstant } from '../postgres/version-stamp';
import { BookTransaction } from './book-transaction';
import { IS_IN_FORCE } from './late-lines';

/** A version, and its instant. */
interface KeptVersion {
  readonly number: number;
  readonly recordedAt: Date;
}

/** The old states that a prune takes out of the history. */
export interface Prune {
  /** The earliest version whose state is kept; null before the first change of the books. */
  readonly earliest: KeptVersion | null;
  /** The versions whose states can be asked for no more. */
  readonly versions: number;
  /** The states of lines that none of the kept versions has. */
  readonly lineStates: number;
  /** The dates of the closes in force whose report as it was closed is among the states, in order. Their figures stay. */
  readonly closes: readonly LocalDate[];
}

/** A prune that was made. */
export interface MadePrune extends Prune {
  /** The data version that the prune is; null when there was nothing to take out. */
  readonly version: number | null;
}

/** Takes old states out of the history of the books. */
export class HistoryStore {
  constructor(private readonly database: Database) {}

  /** The states that `prune` would take out. */
  find(organizationId: number, before: Date): Promise<Prune> {
    return BookTransaction.run(this.database, organizationId, (books) => findPrune(books, before), { writesLines: false });
  }

  /**
   * Deletes the states of lines that no instant from `before` on needs, as a data version. `onReady` is called before, when nothing else can
   * change the books any more. Without an old state that differs from the kept ones it writes nothing.
   */
  prune(organizationId: number, before: Date, onReady: (prune: Prune) => Promise<void>): Promise<MadePrune> {
    const prune = async (books: BookTransaction): Promise<MadePrune> => {
      await books.lock();
      const found = await findPrune(books, before);
      if (found.versions === 0) return { ...found, version: null };
      await onReady(found);
      const version = await books.advanceAlone('prune');
      const earliest = found.earliest!.number;
      const { rowCount } = await books.query(DELETE_STATES, [organizationId, earliest]);
      await books.query(NOTE_EARLIEST, [organizationId, version, earliest]);
      return { ...found, lineStates: rowCount ?? 0, version };
    };
    return BookTransaction.run(this.database, organizationId, prune, { writesLines: false });
  }
}

async function findPrune(books: BookTransaction, before: Date): Promise<Prune> {
  const { organizationId } = books;
  const { rows } = await books.query<Bounds>(FIND_BOUNDS, [organizationId, toSqlInstant(before)]);
  const [found] = rows;
  if (!found) return { earliest: null, versions: 0, lineStates: 0, closes: [] };
  const { number, recordedAt, first } = found;
  if (number === first) return { earliest: { number, recordedAt }, versions: 0, lineStates: 0, closes: [] };
  const { rows: counts } = await books.query<{ count: number }>(COUNT_STATES, [organizationId, number]);
  const { rows: closes } = await books.query<{ through: LocalDate }>(LIST_CLOSES, [organizationId, first, number]);
  return {
    earliest: { number, recordedAt },
    versions: number - first,
    lineStates: counts[0]!.count,
    closes: closes.map(({ through }) => through),
  };
}

interface Bounds extends KeptVersion {
  /** The number of the earliest version until now. */
  readonly first: number;
}

// The earliest version that is kept is the last one before the instant that has changed a line. Versions after it that have changed none, such
// as closes, have the same state. So a prune of every night adds no version to books that stand still.
const FIND_BOUNDS = `
WITH kept AS (
  SELECT number, recorded_at, lines_added + lines_changed + lines_removed > 0 AS has_changes FROM data_version
  WHERE organization_id = $1 AND number >= (SELECT COALESCE(max(earliest), 1) FROM data_version WHERE organization_id = $1 AND earliest IS NOT NULL)
), bounds AS (
  SELECT min(number) AS first, max(number) FILTER (WHERE has_changes AND date_trunc('milliseconds', recorded_at) <= $2::timestamptz) AS last
  FROM kept
)
SELECT number::float8 AS number, recorded_at AS "recordedAt", first::float8 AS first
FROM bounds JOIN kept ON number = GREATEST(first, last)`;

const STATES = 'deposit_line WHERE organization_id = $1 AND until <= $2::bigint';
const COUNT_STATES = `SELECT count(*)::float8 AS count FROM ${STATES}`;
const DELETE_STATES = `DELETE FROM ${STATES}`;
const NOTE_EARLIEST = 'UPDATE data_version SET earliest = $3::bigint WHERE organization_id = $1 AND number = $2::bigint';
const LIST_CLOSES = `
SELECT through::text AS through FROM period_close WHERE organization_id = $1 AND ${IS_IN_FORCE} AND version >= $2::bigint AND version < $3::bigint ORDER BY through`;
