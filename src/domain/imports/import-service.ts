import type { ChangePreview, ChangeSource, NewVersion } from '../../data/books/book-transaction';
import type { ImportCounts, ShareMismatch, StatusAssumptions } from '../../data/imports/import-merge';
import type { ClosedChanges } from '../../data/imports/closed-changes';
import type { ErasedAgain } from '../../data/imports/erased-lines';
import type { CompleteRange, MissingLines, RemovalCounts } from '../../data/imports/import-removal';
import type { StagedLine } from '../../data/imports/import-staging';
import type { ShareCorrections } from '../../data/imports/share-corrections';
import type { ImportFigures, ImportStore } from '../../data/imports/import-store';
import { AppError, OperatorError } from '../../errors';
import type { Money } from '../../values/money';
import type { PeriodDates } from '../../values/periods';
import { parseImportLine, type ImportStatus, type LineFault, type RawLine } from '../../formats/import-line';

const MAX_FAULTS = 20;
/** The number of lines of each kind that a trial shows, and of corrected shares. */
const MAX_SHOWN = 20;
/** The number of closed months that a refusal names. */
const MAX_MONTHS = 12;

/** The error of an import that wrote nothing, because some of its lines are wrong. */
export class ImportError extends OperatorError {
  constructor(
    /** The first faults, in the file's order. */
    readonly faults: readonly LineFault[],
    readonly faultCount: number,
  ) {
    super(`Nothing was imported: ${faultCount} ${faultCount === 1 ? 'fault' : 'faults'}`);
  }
}

/** The error of an import that wrote nothing, because it would have changed lines of periods that it must leave alone. */
export class PeriodsChanged extends Error {
  constructor(readonly periods: readonly PeriodDates[]) {
    super('The import would change lines of other periods');
  }
}

/** The numbers of what an import wrote, removed and assumed. */
export interface ImportResult extends ImportCounts {
  readonly assumed: StatusAssumptions;
  readonly removed: RemovalCounts;
  /** The shares that follow the gifts that the file corrects without stating shares. */
  readonly correctedShares: ShareCorrections;
  /** The gifts whose shares do not add up, which the import was told to take: their number and the first of them. */
  readonly mismatches: { readonly count: number; readonly first: readonly ShareMismatch[] };
  /** The data version that the import made; null when it changed nothing. */
  readonly version: NewVersion | null;
  /** The change in detail; null when the import is no trial, or changes nothing. */
  readonly preview: ChangePreview | null;
  /** The changes of money at closed dates, which the import was told to let in as late; null when there are none. */
  readonly late: ClosedChanges | null;
  /** The lines that had texts of donors who were erased. They were imported without these. */
  readonly erasedAgain: ErasedAgain;
  /** The reason for which the import itself would be refused after this trial; null when it would not. */
  readonly refusal: string | null;
}

export interface ImportOptions {
  /** The status of deposits whose lines do not state one. */
  readonly status?: ImportStatus | undefined;
  /** Tells the origin of the lines. It is called when all of them have been read. */
  readonly source: () => ChangeSource;
  /** The range that the file has all lines of. Other lines of the books in it are removed. */
  readonly complete?: CompleteRange | undefined;
  /** The number of lines that may be removed; by default 5 % of the range's lines, and at least 20, but none for a file without lines. */
  readonly maxRemoved?: number | undefined;
  /** True when gifts may have shares that do not add up to their amount. */
  readonly allowsMismatch?: boolean | undefined;
  /** True when the last line of several that contradict each other is right. Otherwise they are faults. */
  readonly isLastRight?: boolean | undefined;
  /** True when changes of money at closed dates are let in as late. Otherwise the import throws PERIOD_CLOSED, and changes nothing. */
  readonly acceptsLate?: boolean | undefined;
  /** The periods whose lines must not change. The import throws PeriodsChanged, and changes nothing, when they would. */
  readonly unchanged?: readonly PeriodDates[] | undefined;
  /** Called before the books change, to throw when the import may no longer go on. */
  readonly assertMayChange?: (() => Promise<void>) | undefined;
  /** True when the import is undone at its end. A trial may remove any number of lines. */
  readonly isTrial?: boolean | undefined;
  /** True when the figures of imports tell of it, whether it succeeds or not. Those of the demo and trials are no imports of a source. */
  readonly isCounted?: boolean | undefined;
}

/**
 * The number of lines that an import removes from a range of so many unless it is told a limit. A file without lines is most likely one that
 * was never written.
 */
const usualLimit = ({ standing, staged }: MissingLines): number => (staged === 0 ? 0 : Math.max(20, Math.floor(standing / 20)));

export class ImportService {
  constructor(private readonly store: ImportStore) {}

  /**
   * Imports all lines in one transaction, or throws an ImportError and imports none. Entities that have not changed are left alone. Throws
   * an OperatorError when more lines of the complete range are missing than may be removed.
   */
  async importLines(organizationId: number, lines: AsyncIterable<readonly RawLine[]>, options: ImportOptions): Promise<ImportResult> {
    if (!options.isCounted) return this.importAll(organizationId, lines, options);
    await this.store.beginAttempt(organizationId);
    return this.importAll(organizationId, lines, options).catch(async (error: unknown) => {
      // A database that is away has made the import fail, and its own error says so. The attempt stands without a success then.
      await this.store.countFailure(organizationId).catch(() => undefined);
      throw error;
    });
  }

  /** The newest attempts of every organization that has tried an import. */
  listFigures(): Promise<ImportFigures[]> {
    return this.store.listFigures();
  }

  private async importAll(organizationId: number, lines: AsyncIterable<readonly RawLine[]>, options: ImportOptions): Promise<ImportResult> {
    const { source, complete, maxRemoved, allowsMismatch = false, acceptsLate = false, isTrial = false, isCounted = false } = options;
    const faults = new Faults();
    // A complete file of posted deposits says that its deposits are posted.
    const status = options.status ?? (complete?.pending === 'WITHOUT' ? 'posted' : undefined);

    async function* goodLines(): AsyncGenerator<readonly StagedLine[]> {
      for await (const some of lines) {
        const good: StagedLine[] = [];
        for (const raw of some) {
          const values = parseImportLine(raw);
          if (Array.isArray(values)) {
            faults.add(values);
            continue;
          }
          const staged = { line: raw.line, values, status: values.deposit_status ?? status };
          if (complete) faults.add(findOutside(staged, complete));
          good.push(staged);
        }
        if (faults.count === 0) yield good;
      }
    }

    return this.store.inTransaction(organizationId, isTrial, async (transaction) => {
      await transaction.stage(goodLines());
      if (faults.count === 0) {
        const { first, count } = await transaction.findConflicts(MAX_FAULTS, options.isLastRight);
        faults.add(
          first.map(({ line, field, firstLine, key }) => ({ line, field, reason: describeConflict(field, key, firstLine) })),
          count,
        );
      }
      faults.assertNone();
      const { counts: merged, assumed } = await transaction.merge();
      const removal = complete ? findRefusal(await transaction.noteMissing(complete), complete, maxRemoved) : null;
      if (removal !== null && !isTrial) throw new OperatorError(`Nothing was imported: ${removal}`);
      const allocations = complete ? await transaction.removeMissing() : 0;
      const removed = { allocations, ...(await transaction.removeEmpty(complete)) };
      const correctedShares = await transaction.correctShares(MAX_SHOWN);
      const counts = { ...merged, allocations: merged.allocations + (await transaction.markUnknownShares()) };
      const mismatches = await transaction.findMismatches(MAX_FAULTS);
      if (!allowsMismatch) faults.add(mismatches.first.map(describeMismatch), mismatches.count);
      faults.assertNone();
      const { lines: _lines, ...written } = counts;
      const isChanged = [...Object.values(written), ...Object.values(removed)].some((count) => count > 0);
      if (isChanged) await options.assertMayChange?.();
      const version = isChanged ? await transaction.advance(source()) : null;
      const changed = version && options.unchanged ? await transaction.findChanged(version.number, options.unchanged) : [];
      if (changed.length > 0) throw new PeriodsChanged(changed);
      const late = version && (await transaction.findClosedChanges(version.number, MAX_MONTHS));
      const fault = late && !acceptsLate ? describeClosed(late) : null;
      if (fault !== null && !isTrial) throw new AppError('PERIOD_CLOSED', { fault });
      const refusal = removal ?? fault;
      if (isCounted) await transaction.noteSuccess();
      const preview = isTrial && version ? await transaction.preview(version.number, MAX_SHOWN) : null;
      if (version) await transaction.eraseEarlier(version.number);
      const { erasedAgain } = transaction;
      return { ...counts, assumed, removed, correctedShares, mismatches, version, preview, late, erasedAgain, refusal };
    });
  }
}

/** The first faults of a file, and the number of all. */
class Faults {
  private readonly first: LineFault[] = [];
  count = 0;

  /** Adds faults. `count` is their number when only the first of them are given. */
  add(found: readonly LineFault[], count = found.length): void {
    this.count += count;
    this.first.push(...found.slice(0, MAX_FAULTS - this.first.length));
  }

  assertNone(): void {
    if (this.count > 0) throw new ImportError(this.first, this.count);
  }
}

/** The faults of a line that does not belong to the range that its file is declared complete for. */
function findOutside({ line, values, status }: StagedLine, { periods, pending }: CompleteRange): LineFault[] {
  const faults: LineFault[] = [];
  const { deposit_date: date } = values;
  if (!periods.some(({ startDate, endDate }) => date >= startDate && date <= endDate))
    faults.push({ line, field: 'deposit_date', reason: `is not ${describePeriods(periods)}` });
  if (pending === 'WITHOUT' && status === 'pending')
    faults.push({ line, field: 'deposit_status', reason: 'is pending in a file that is complete for posted deposits alone' });
  return faults;
}

/** The reason to refuse the removal of the lines that the file lacks, or null. The usual limit is one of each period. */
function findRefusal(noted: readonly MissingLines[], { periods }: CompleteRange, maxRemoved: number | undefined): string | null {
  const describe = (missing: number, standing: number, of: readonly PeriodDates[], limit: number): string | null =>
    missing <= limit
      ? null
      : `the file lacks ${missing} lines of the books, which have ${standing} ${describePeriods(of)}; at most ${limit} may be removed (--max-removed)`;
  const sum = (name: 'missing' | 'standing'): number => noted.reduce((all, each) => all + each[name], 0);
  if (maxRemoved !== undefined) return describe(sum('missing'), sum('standing'), periods, maxRemoved);
  for (const each of noted) {
    const refusal = describe(each.missing, each.standing, [each.period], usualLimit(each));
    if (refusal !== null) return refusal;
  }
  return null;
}

/** The closed months whose money an import would change, with the sums over their lines that it would add. */
function describeClosed({ closedThrough, lines, lineAmount, count, months }: ClosedChanges): string {
  const named = months.map((each) => `${each.month}: ${countLines(each.lines)}, ${toSigned(each.lineAmount)}`);
  const more = count > months.length ? `; and ${count - months.length} more months` : '';
  return `the books are closed through ${closedThrough}, and ${countLines(lines)} of closed dates would change by ${toSigned(lineAmount)} (${named.join('; ')}${more}); --late accept lets them in as late`;
}

const toSigned = (amount: Money): string => (/^-|^0\.00$/.test(amount) ? amount : `+${amount}`);
const countLines = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'}`;

/** The periods as one, from the first date to the last. */
const describePeriods = (periods: readonly PeriodDates[]): string => `from ${periods[0]!.startDate} to ${periods.at(-1)!.endDate}`;

function describeConflict(field: string, key: string, firstLine: number): string {
  return field === key ? `is the same as in line ${firstLine}` : `differs from line ${firstLine}, which has the same ${key}`;
}

const describeMismatch = ({ line, transactionId, shares, amount }: ShareMismatch): LineFault => ({
  line,
  field: 'allocation_amount',
  reason: `adds up to ${shares} over the gift ${transactionId}, whose amount is ${amount}`,
});
