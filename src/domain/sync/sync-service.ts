import { randomUUID } from 'node:crypto';
import type { NewVersion } from '../../data/books/book-transaction';
import type { ClosedChanges } from '../../data/imports/closed-changes';
import type { ErasedAgain } from '../../data/imports/erased-lines';
import type { SyncHolder, SyncState, SyncStore } from '../../data/sync/sync-store';
import { AppError, describeError, OperatorError } from '../../errors';
import type { RawLine } from '../../formats/import-line';
import { hashLine, LineSum } from '../../formats/line-sum';
import { v2Layouts } from '../../formats/v2-line';
import { SourceError } from '../../source/source-error';
import type { V2Source } from '../../source/v2-source';
import type { LocalDate } from '../../values/dates';
import type { PeriodDates } from '../../values/periods';
import type { BookService } from '../books/book-service';
import { PeriodsChanged, type ImportService } from '../imports/import-service';
import { toLineSet, type DepositDetailService } from '../reports/deposit-detail-service';
import type { ErasureService } from '../reports/erasure-service';
import { LinePlaces } from './line-places';
import { Answer, ErasedDonors, readAnswer, splitLines, toSourceLine } from './source-reading';
import { planRound, type PlanOptions } from './sync-plan';

/** The organization whose books follow a source. */
export interface SyncTarget {
  readonly organizationId: number;
  /** Opens the old service for one round, with the credentials that its files have then: a login may have been renewed. */
  readonly openSource: () => Promise<V2Source>;
  /** True when the last of several lines that contradict each other is right. Otherwise nothing of the round is imported. */
  readonly isLastRight: boolean;
  /** The most lines that a round may remove; by default as an import. */
  readonly maxRemoved: number | undefined;
  /** True when changes of money at closed dates are let in as late. Otherwise nothing of the round is imported. */
  readonly acceptsLate: boolean;
}

/** A target whose old service is open for a round. */
interface OpenTarget extends Omit<SyncTarget, 'openSource'> {
  readonly source: V2Source;
  readonly erased: ErasedDonors;
}

/** A data version that a round has made. */
export interface SyncedVersion extends NewVersion {
  /** The changes of money at closed dates that were let in; null without any. */
  readonly late: ClosedChanges | null;
}

/** The outcome of a round. */
export interface SyncRound {
  readonly kind: 'first' | 'window' | 'full';
  readonly from: LocalDate;
  readonly to: LocalDate;
  /** The lines of the source in the periods that were read whole. */
  readonly lines: number;
  /** The data versions that the round has made. */
  readonly versions: readonly SyncedVersion[];
  /** The periods that the source did not stop changing. They are left to the next round. */
  readonly moving: readonly PeriodDates[];
  /** The lines of the source that have texts of donors who were erased. The books do not have these. */
  readonly erasedAgain: ErasedAgain;
}

/** Tells how far a round is. */
export interface RoundProgress {
  readonly period: PeriodDates;
  /** The periods that were read, and all of the round. */
  readonly done: number;
  readonly total: number;
  readonly lines: number;
}

/** The first run imports so many lines at a time, and at least a month. An import of a few lines takes as long as one of thousands. */
const MONTHS_OF_LINES = 20_000;
/** No old service has an earlier deposit, and each month is asked for three times. */
const FIRST_DATE = '1900-01-01';
/** The times that a period is read while the source changes. */
const MAX_READINGS = 3;
/** A sync says so often that it still runs. */
const HOLD_MS = 15_000;

/** Another sync has taken this one's place, or its readings were forgotten. */
export class SyncEnded extends OperatorError {
  constructor() {
    super('Another sync of the organization has run: this one changes nothing more');
  }
}

/** The source has changed between the reading of a period and its import. */
class SourceMoved extends Error {
  constructor(readonly period: PeriodDates) {
    super('The source has changed meanwhile');
  }
}

/** Keeps the books of an organization equal to an old v2 service. */
export class SyncService {
  constructor(
    private readonly store: SyncStore,
    private readonly services: {
      readonly imports: ImportService;
      readonly books: BookService;
      readonly depositDetails: DepositDetailService;
      readonly erasures: ErasureService;
    },
  ) {}

  /** The states of every organization that has a sync. */
  listStates(): Promise<SyncState[]> {
    return this.store.list();
  }

  /** Ends the following of a source, whose readings are forgotten. Throws an OperatorError when there are none, or when a sync runs. */
  async end(organizationId: number): Promise<void> {
    if (!(await this.store.forget(organizationId)))
      throw new OperatorError('The organization follows no old service, or a sync of it runs');
  }

  /**
   * Runs `work` while no other sync of the organization runs. Throws an OperatorError when there is one. Another sync may begin when this one
   * is not heard of for a minute, as while the database is away: `assertHeld` tells.
   */
  async alone<Result>(organizationId: number, work: (hold: Hold) => Promise<Result>): Promise<Result> {
    const holder = { organizationId, holder: randomUUID() };
    const keep = (): Promise<boolean> => this.store.keep(holder);
    if (!(await this.store.hold(holder)))
      throw new OperatorError('Another sync of the organization runs, or was killed within the last minute');
    const timer = setInterval(() => void keep().catch(() => undefined), HOLD_MS);
    try {
      return await work({
        ...holder,
        assertHeld: async () => {
          if (!(await keep())) throw new SyncEnded();
        },
      });
    } finally {
      clearInterval(timer);
      // A sync that cannot tell its end keeps others out for a minute.
      await this.store.release(holder).catch(() => undefined);
    }
  }

  /**
   * Sets the first deposit date of the history. Another one than before lets the first run begin anew. Throws an OperatorError when there is
   * none yet and none is given.
   */
  async begin(hold: Hold, since: LocalDate | undefined): Promise<void> {
    const state = await this.store.find(hold.organizationId);
    if (since !== undefined && (since < FIRST_DATE || since > new Date().toISOString()))
      throw new OperatorError(`--since must be a date from ${FIRST_DATE} to today`);
    if (since !== undefined && since !== state?.since) await this.store.begin(hold, since);
    else if (since === undefined && state?.since == null)
      throw new OperatorError('The first run needs --since, the first deposit date of the history');
  }

  /** Runs one round and notes its outcome. Throws an OperatorError when it fails; the books are then as they were. */
  async round(target: SyncTarget, hold: Hold, options: PlanOptions, onProgress: (progress: RoundProgress) => void): Promise<SyncRound> {
    const { organizationId } = target;
    const state = await this.store.find(organizationId);
    if (state?.since == null) throw new OperatorError('The sync was begun by nobody');
    const { kind, periods } = planRound({ ...state, since: state.since }, options);
    const versions: SyncedVersion[] = [];
    const readsAll = kind !== 'window' || periods[0]!.startDate <= state.since;
    const fullFailureAfter = (failure: string | null): string | null => {
      if (kind !== 'window') return failure;
      return options.fullDays === undefined || (readsAll && failure === null) ? null : state.fullFailure;
    };
    let source: V2Source | undefined;
    try {
      source = await target.openSource();
      const erased = new ErasedDonors(await this.services.erasures.findDonors(organizationId));
      if (kind === 'full') await this.store.noteFullTry(hold);
      // The first run imports some months at a time, so that it can go on where it was ended.
      const most = kind === 'first' ? MONTHS_OF_LINES : Infinity;
      const moving: PeriodDates[] = [];
      let lines = 0;
      for (let done = 0; done < periods.length;) {
        const maxRemoved = target.maxRemoved === undefined ? undefined : target.maxRemoved - sumOf(versions, 'removed');
        const read = await this.read({ ...target, source, erased, maxRemoved }, hold, periods.slice(done), most, (period, number, more) =>
          onProgress({ period, done: done + number, total: periods.length, lines: lines + more }),
        );
        done += read.periods;
        lines += read.lines;
        moving.push(...read.moving);
        if (read.version) versions.push(read.version);
        // A month that the source does not stop changing holds up all later ones of the first run.
        if (moving.length > 0) break;
        if (kind === 'first') await this.store.noteRead(hold, periods[done - 1]!.endDate);
      }
      await hold.assertHeld();
      const failure = moving.length > 0 ? `The source did not stop changing ${describe(moving)}` : null;
      const end = {
        linesChanged: countLines(versions),
        failure,
        isFull: readsAll && failure === null,
        fullFailure: fullFailureAfter(failure),
      };
      await this.store.noteRound(hold, end);
      const [from, to] = [periods[0]!.startDate, periods.at(-1)!.endDate];
      return { kind, from, to, lines, versions, moving, erasedAgain: erased.again };
    } catch (error) {
      // A signal that ends the sync is no failure of the round.
      const isEnded = error instanceof Error && error.name === 'AbortError';
      if (isEnded && versions.length === 0) throw error;
      const failure = isEnded ? 'Ended by a signal' : describeFailure(error);
      // The database may be what has failed.
      const fullFailure = isEnded ? state.fullFailure : fullFailureAfter(failure);
      const end = { linesChanged: countLines(versions), failure, isFull: false, fullFailure };
      await this.store.noteRound(hold, end).catch(() => undefined);
      throw error;
    } finally {
      source?.close();
    }
  }

  /** Reads periods until they have `most` lines, and imports those that differ from the books, all of them as one data version. */
  private async read(
    target: OpenTarget,
    hold: Hold,
    periods: readonly PeriodDates[],
    most: number,
    onRead: (period: PeriodDates, number: number, lines: number) => void,
  ): Promise<ReadPeriods> {
    const moving: PeriodDates[] = [];
    const differing = new Map<PeriodDates, Answer>();
    const agreeing = new Map<PeriodDates, number>();
    let [number, lines] = [0, 0];
    for (const period of periods) {
      const look = await this.look(target, period);
      if (look === 'moving') moving.push(period);
      else if (look instanceof Answer) differing.set(period, look);
      else agreeing.set(period, look.lines);
      lines += look === 'moving' ? 0 : look instanceof Answer ? look.sum.lines : look.lines;
      onRead(period, ++number, lines);
      if (lines >= most) break;
    }
    const imported = await this.importDiffering(target, hold, { differing, agreeing, moving });
    const equal = [...agreeing.values()].reduce((sum, count) => sum + count, 0);
    return { periods: number, moving, version: imported.version, lines: equal + imported.lines };
  }

  /**
   * Imports the differing periods, some times when the source changes or fails meanwhile. What does not stop changing joins `moving`. A period
   * that agreed, and would change by the import of another one, contradicts that one: the two are imported together, where it is seen.
   */
  private async importDiffering(
    target: OpenTarget,
    hold: Hold,
    { differing, agreeing, moving }: Looks,
  ): Promise<{ readonly version: SyncedVersion | null; readonly lines: number }> {
    const { source, erased } = target;
    const readPosted = async (period: PeriodDates): Promise<void> =>
      void differing.set(period, await readAnswer(source, { ...period, includePending: false }, erased));
    const moves = new Map<PeriodDates, number>();
    let failures = 0;
    while (differing.size > 0) {
      try {
        return await this.importPeriods(target, hold, differing, [...agreeing.keys()]);
      } catch (error) {
        if (error instanceof SourceError) await source.waitAfter(error, ++failures);
        else if (error instanceof PeriodsChanged) for (const period of error.periods) await readPosted(period);
        else if (!(error instanceof SourceMoved)) throw error;
        else {
          const count = (moves.get(error.period) ?? 0) + 1;
          moves.set(error.period, count);
          if (count < MAX_READINGS) await readPosted(error.period);
          else if (differing.delete(error.period)) moving.push(error.period);
        }
        for (const period of differing.keys()) agreeing.delete(period);
      }
    }
    return { version: null, lines: 0 };
  }

  /**
   * Reads a period without pending deposits, with them, and without them again, as long as it agrees with the books. Returns the first answer
   * when it does not, and otherwise the number of lines. A source that changes meanwhile is asked again, some times.
   */
  private async look(
    { source, organizationId, erased }: OpenTarget,
    period: PeriodDates,
  ): Promise<Answer | { readonly lines: number } | 'moving'> {
    for (let attempt = 1; attempt <= MAX_READINGS; attempt++) {
      const posted = await readAnswer(source, { ...period, includePending: false }, erased);
      if (!(await this.areInBooks(organizationId, period, 'WITHOUT', posted.sum))) return posted;
      const all = await readAnswer(source, { ...period, includePending: true }, erased);
      if (!(await this.areInBooks(organizationId, period, 'WITH', all.sum))) return posted;
      const after = await readAnswer(source, { ...period, includePending: false }, erased);
      erased.note(period, all);
      if (after.sum.equals(posted.sum)) return { lines: all.sum.lines };
    }
    return 'moving';
  }

  /** True when the books have these lines in a period, and no others. */
  private async areInBooks(organizationId: number, period: PeriodDates, pending: 'WITH' | 'WITHOUT', lines: LineSum): Promise<boolean> {
    const { books, depositDetails } = this.services;
    const opened = books.openForOperator(organizationId);
    try {
      const sum = new LineSum();
      const rows = depositDetails.bytes(toLineSet(organizationId, { ...period, pending }), v2Layouts.ndjson.template, opened.snapshot);
      for await (const line of splitLines(rows)) sum.add(hashLine(line));
      return sum.equals(lines);
    } finally {
      await opened.close();
    }
  }

  /**
   * Imports periods, of each of which the answer without pending deposits was read before. The answers with them and without them again are
   * read in the transaction. Throws SourceMoved, and changes nothing, when they contradict each other.
   */
  private async importPeriods(
    { organizationId, source, erased, isLastRight, maxRemoved, acceptsLate }: OpenTarget,
    hold: Hold,
    periods: ReadonlyMap<PeriodDates, Answer>,
    unchanged: readonly PeriodDates[],
  ): Promise<{ readonly version: SyncedVersion | null; readonly lines: number }> {
    const places = new LinePlaces();
    // The months go in their order, so that the last of contradicting lines is that of the latest month.
    const inOrder = [...periods].sort(([one], [other]) => (one.startDate < other.startDate ? -1 : 1));
    async function* lines(): AsyncGenerator<readonly RawLine[]> {
      for (const [period, posted] of inOrder) {
        const before = places.begin(period);
        const all = new Answer(erased, posted.otherDeposits);
        erased.note(period, all);
        for await (const some of source.lines({ ...period, includePending: true })) {
          yield some.map((raw) => {
            const values = toSourceLine(raw, period);
            const deposit_status = all.add(values) ? 'posted' : 'pending';
            places.count++;
            return { line: before + raw.line, values: Object.assign(values, { deposit_status }) };
          });
        }
        const after = await readAnswer(source, { ...period, includePending: false }, erased);
        if (!all.known.equals(posted.sum) || !after.sum.equals(posted.sum)) throw new SourceMoved(period);
      }
    }
    try {
      const { version, late, erasedAgain } = await this.services.imports.importLines(organizationId, lines(), {
        source: () => ({ cause: 'sync' }),
        complete: { periods: inOrder.map(([period]) => period), pending: 'WITH' },
        maxRemoved,
        isLastRight,
        acceptsLate,
        unchanged,
        assertMayChange: hold.assertHeld,
      });
      erased.noteStates(erasedAgain.states);
      return { version: version && { ...version, late }, lines: places.count };
    } catch (error) {
      throw places.inWordsOfSource(error);
    }
  }
}

/** The periods of a round by what was seen of them. */
interface Looks {
  /** The answers without pending deposits of periods that differ from the books. */
  readonly differing: Map<PeriodDates, Answer>;
  /** The numbers of lines of periods that agree with the books. */
  readonly agreeing: Map<PeriodDates, number>;
  readonly moving: PeriodDates[];
}

/** The outcome of the reading of periods. */
interface ReadPeriods {
  /** The number of periods that were read. */
  readonly periods: number;
  readonly lines: number;
  readonly moving: readonly PeriodDates[];
  readonly version: SyncedVersion | null;
}

/** The right of one sync to change the books. */
export interface Hold extends SyncHolder {
  /** Throws an OperatorError when another sync may run. */
  readonly assertHeld: () => Promise<void>;
}

/** The failure of a round in words: the fault of an error that tells one is a part of them. */
export function describeFailure(error: unknown): string {
  if (error instanceof AppError) return describeError(error);
  return error instanceof Error ? error.message : String(error);
}

const describe = (periods: readonly PeriodDates[]): string =>
  periods.map(({ startDate, endDate }) => `from ${startDate} to ${endDate}`).join(', ');

const sumOf = (versions: readonly NewVersion[], kind: keyof NewVersion['lines']): number =>
  versions.reduce((sum, { lines }) => sum + lines[kind], 0);
const countLines = (versions: readonly NewVersion[]): number =>
  sumOf(versions, 'added') + sumOf(versions, 'changed') + sumOf(versions, 'removed');
