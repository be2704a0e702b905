import { BookTransaction, type ChangePreview, type ChangeSource, type NewVersion } from '../books/book-transaction';
import {
  areBooksEmpty,
  fillBooks,
  findAssumptions,
  findMismatches,
  mergeLines,
  type ImportCounts,
  type StatusAssumptions,
} from './import-merge';
import { noteMissing, removeEmpty, removeMissing, type CompleteRange } from './import-removal';
import { eraseEarlier, eraseMerged, eraseStaged, listErased, type ErasedAgain } from './erased-lines';
import { findConflicts, settleConflicts, stageEntities, stageLines, type StagedLine } from './import-staging';
import type { Database } from '../postgres/database';
import type { PeriodDates } from '../../values/periods';
import { findClosedChanges, type ClosedChanges } from './closed-changes';
import { correctShares, type ShareCorrections } from './share-corrections';
import { markUnknownShares } from '../books/unknown-shares';

/** The imports of an organization that were tried, whether or not they changed the books. */
export interface ImportFigures {
  readonly organizationId: number;
  /** The time at which the newest attempt began. */
  readonly lastAttemptAt: Date;
  /** The time at which the newest import that succeeded ended; null before the first. */
  readonly lastSuccessAt: Date | null;
  /** The number of attempts that ended in a failure. One that was killed is none. */
  readonly failures: number;
}

export class ImportStore {
  constructor(private readonly database: Database) {}

  /** Notes that an import begins, before its transaction, so that an import that is killed leaves a trace. */
  async beginAttempt(organizationId: number): Promise<void> {
    await this.database.query({ name: 'begin-import', text: BEGIN_ATTEMPT, values: [organizationId] });
  }

  /** Counts an import that has failed. Its transaction is undone, so that this is a statement of its own. */
  async countFailure(organizationId: number): Promise<void> {
    await this.database.query({ name: 'count-import-failure', text: COUNT_FAILURE, values: [organizationId] });
  }

  /** The figures of every organization that has tried an import. */
  listFigures(): Promise<ImportFigures[]> {
    return this.database.query<ImportFigures>({ name: 'import-figures', text: LIST_FIGURES });
  }

  /**
   * Runs an import in one transaction: committed when `work` resolves, undone when it throws or when the import is a trial. Two imports of
   * an organization follow each other from `findConflicts` on.
   */
  inTransaction<Result>(
    organizationId: number,
    isTrial: boolean,
    work: (transaction: ImportTransaction) => Promise<Result>,
  ): Promise<Result> {
    return BookTransaction.run(this.database, organizationId, (books) => work(new ImportTransaction(books)), {
      end: isTrial ? 'ROLLBACK' : 'COMMIT',
    });
  }
}

/** The steps of an import, in the order in which they are called. */
export class ImportTransaction {
  private lines = 0;
  private isFirst = false;
  private erased: readonly string[] = [];
  private again: ErasedAgain = { lines: 0, donors: 0, states: 0 };

  constructor(private readonly books: BookTransaction) {}

  /** The counts of texts that were erased again, which are known after `eraseEarlier`. */
  get erasedAgain(): ErasedAgain {
    return this.again;
  }

  async stage(lines: AsyncIterable<readonly StagedLine[]>): Promise<void> {
    this.lines = await stageLines(this.books, lines);
  }

  /**
   * Finds the staged lines that contradict each other, or settles them by the last line of each. From here to the end of the transaction no
   * other import of the organization runs.
   */
  async findConflicts(limit: number, isLastRight = false): ReturnType<typeof findConflicts> {
    await this.books.lock();
    this.isFirst = await areBooksEmpty(this.books);
    if (isLastRight) this.lines -= await settleConflicts(this.books);
    this.erased = await listErased(this.books);
    this.again = { ...(await eraseStaged(this.books, this.erased)), states: 0 };
    await stageEntities(this.books, this.isFirst);
    return findConflicts(this.books, limit, this.isFirst);
  }

  /** Merges the staged lines into the books. */
  async merge(): Promise<{ readonly counts: ImportCounts; readonly assumed: StatusAssumptions }> {
    const assumed = await findAssumptions(this.books);
    const counts = this.isFirst ? await fillBooks(this.books) : await mergeLines(this.books);
    if (!this.isFirst) await eraseMerged(this.books, this.erased);
    return { counts: { lines: this.lines, ...counts }, assumed };
  }

  noteMissing(range: CompleteRange): ReturnType<typeof noteMissing> {
    return noteMissing(this.books, range);
  }

  removeMissing(): ReturnType<typeof removeMissing> {
    return removeMissing(this.books);
  }

  /** A first import has moved nothing away from anything. */
  async removeEmpty(range: CompleteRange | undefined): ReturnType<typeof removeEmpty> {
    return this.isFirst ? { transactions: 0, deposits: 0 } : removeEmpty(this.books, range);
  }

  markUnknownShares(): Promise<number> {
    return markUnknownShares(this.books, this.isFirst);
  }

  /** A first import corrects nothing. */
  async correctShares(limit: number): Promise<ShareCorrections> {
    return this.isFirst ? { gifts: 0, count: 0, first: [] } : correctShares(this.books, limit);
  }

  findMismatches(limit: number): ReturnType<typeof findMismatches> {
    return findMismatches(this.books, limit);
  }

  /** Writes the lines and the data version of the changed books. */
  advance(source: ChangeSource): Promise<NewVersion> {
    return this.books.advance(source, this.isFirst ? 'first' : 'changed');
  }

  /** Erases what a version that was just made has given to donors who were erased. A first import has no earlier states. */
  async eraseEarlier(version: number): Promise<void> {
    if (!this.isFirst) this.again = { ...this.again, states: await eraseEarlier(this.books, this.erased, version) };
  }

  /** The periods in which a version that was just made has added or ended lines. */
  async findChanged(version: number, periods: readonly PeriodDates[]): Promise<PeriodDates[]> {
    const changed: PeriodDates[] = [];
    for (const period of periods) {
      const values = [this.books.organizationId, version, period.startDate, period.endDate];
      const { rows } = await this.books.query<{ found: boolean }>(HAS_CHANGED, values);
      if (rows[0]!.found) changed.push(period);
    }
    return changed;
  }

  /** Finds what a version that was just made has changed at closed dates; null when it has changed nothing there. */
  findClosedChanges(version: number, limit: number): Promise<ClosedChanges | null> {
    return findClosedChanges(this.books, version, limit);
  }

  /** Notes that the import has succeeded. It holds when the transaction is committed, and never without the books. */
  async noteSuccess(): Promise<void> {
    await this.books.query(NOTE_SUCCESS, [this.books.organizationId]);
  }

  preview(version: number, limit: number): Promise<ChangePreview> {
    return this.books.preview(version, limit);
  }
}

const HAS_CHANGED = `SELECT EXISTS (
  SELECT FROM deposit_line
  WHERE organization_id = $1 AND deposit_date BETWEEN $3::date AND $4::date AND (since = $2::bigint OR until = $2::bigint)
) AS found`;

/** An organization that was deleted meanwhile has no attempt: the import itself says so. */
const BEGIN_ATTEMPT = `
INSERT INTO import_attempt (organization_id, last_attempt_at) SELECT id, clock_timestamp() FROM organization WHERE id = $1
ON CONFLICT (organization_id) DO UPDATE SET last_attempt_at = EXCLUDED.last_attempt_at`;
const COUNT_FAILURE = 'UPDATE import_attempt SET failures = failures + 1 WHERE organization_id = $1';
const NOTE_SUCCESS = 'UPDATE import_attempt SET last_success_at = clock_timestamp() WHERE organization_id = $1';
const LIST_FIGURES = `
SELECT organization_id AS "organizationId", last_attempt_at AS "lastAttemptAt", last_success_at AS "lastSuccessAt", failures FROM import_attempt`;
