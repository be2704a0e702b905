import { AppError, toAppError } from '../../errors';
import type { ChainPlace, NewAuditRow } from '../../formats/audit-row';
import { toChain, type AuditChainStore } from './audit-chain-store';
import { findSqlFault, LOCK_TIMEOUT, QUERY_CANCELED, READ_ONLY } from '../postgres/sql-fault';

interface AuditWriterOptions {
  /** The longest wait of a caller for its row to be written, in milliseconds. */
  readonly maxWaitMs: number;
  /** The most rows that may wait to be written, also those that nobody waits for. A caller's row is refused when there are so many. */
  readonly maxWaiting: number;
  /** Called when rows that nobody waits for cannot be written: once until they are, and when they are given up. */
  readonly onUnwritten?: ((unwritten: UnwrittenRows) => void) | undefined;
}

/** Rows of an organization that nobody waits for and that could not be written. */
export interface UnwrittenRows {
  readonly organizationId: number;
  readonly rows: number;
  /** False for rows that are tried again each second. */
  readonly isLost: boolean;
  readonly error: AppError;
}

/** A row that waits to be written. */
interface WaitingRow {
  readonly row: NewAuditRow;
  /**
   * Undefined for a row that nobody waits for. It is tried again while the database takes none, and lost when it alone is refused. It tells
   * the end of a reading whose start was written, or was accepted, so that refused starts bound the number of these rows.
   */
  readonly caller?: { readonly resolve: () => void; readonly reject: (error: AppError) => void };
  /** The times that the database has refused a row that nobody waits for. Such a row is written alone, as it may be the cause. */
  refusals: number;
}

export interface AuditFigures {
  readonly waiting: number;
  readonly written: number;
  readonly refused: number;
}

/** The most rows that one statement writes. */
const BATCH_ROWS = 200;
/** A chain that several gateways add to may have moved again after it was read. */
const MAX_TRIES = 20;
const RETRY_MS = 1000;
/** A row that nobody waits for is lost when the database has refused it so many times. */
const MAX_REFUSALS = 5;

/**
 * Writes rows into the chains of organizations. Rows of an organization that arrive while others are written share the next statement. A
 * row that cannot be written in time is refused.
 */
export class AuditWriter {
  private readonly chains = new Map<number, Chain>();
  private waiting = 0;
  private written = 0;
  private refused = 0;

  constructor(
    private readonly store: AuditChainStore,
    private readonly options: AuditWriterOptions,
  ) {}

  /** The rows that wait, and those that were written and refused since the start. */
  get figures(): AuditFigures {
    return { waiting: this.waiting, written: this.written, refused: this.refused };
  }

  /**
   * Resolves when the row is written. Throws NO_DATA_SOURCE_CONNECTION when it was not written in time, or when too many rows wait, and
   * DATA_SOURCE_QUERY_FAILED when the database refuses it.
   */
  async write(organizationId: number, row: NewAuditRow): Promise<void> {
    try {
      await this.wait(organizationId, row);
    } catch (error) {
      this.refused++;
      throw error;
    }
  }

  /** Resolves at once, and writes the row as `writeLater` does. Throws NO_DATA_SOURCE_CONNECTION when too many rows wait. */
  async accept(organizationId: number, row: NewAuditRow): Promise<void> {
    if (this.waiting >= this.options.maxWaiting) {
      this.refused++;
      throw notWritten();
    }
    this.writeLater(organizationId, row);
  }

  /** Writes a row that nobody waits for, as soon as the database takes it. */
  writeLater(organizationId: number, row: NewAuditRow): void {
    this.add(organizationId, { row, refusals: 0 });
  }

  /** Writes all rows that wait, and gives up those that the database does not take. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.chains].map(async ([organizationId, chain]) => {
        await chain.working;
        // Rows that came while that work failed have not been tried.
        await this.retry(organizationId, chain);
        clearTimeout(chain.retry);
        this.report(organizationId, chain.kept.length, { isLost: true, error: chain.failure ?? notWritten() });
      }),
    );
  }

  private wait(organizationId: number, row: NewAuditRow): Promise<void> {
    if (this.waiting >= this.options.maxWaiting) return Promise.reject(notWritten());
    return new Promise<void>((resolve, reject) => {
      const caller = { resolve: () => settle(resolve), reject: (error: AppError) => settle(() => reject(error)) };
      const waiting: WaitingRow = { row, caller, refusals: 0 };
      const timer = setTimeout(() => {
        this.drop(organizationId, waiting);
        reject(notWritten());
      }, this.options.maxWaitMs);
      const settle = (how: () => void): void => {
        clearTimeout(timer);
        how();
      };
      this.add(organizationId, waiting);
    });
  }

  private add(organizationId: number, waiting: WaitingRow): void {
    const chain = this.chains.get(organizationId) ?? createChain();
    this.chains.set(organizationId, chain);
    chain.rows.push(waiting);
    this.waiting++;
    chain.working ??= this.work(organizationId, chain);
  }

  private drop(organizationId: number, waiting: WaitingRow): void {
    const rows = this.chains.get(organizationId)?.rows ?? [];
    const at = rows.indexOf(waiting);
    if (at < 0) return;
    rows.splice(at, 1);
    this.waiting--;
  }

  private async work(organizationId: number, chain: Chain): Promise<void> {
    // The rows of this turn of the event loop are written together.
    await Promise.resolve();
    while (chain.rows.length > 0) {
      const batch = takeBatch(chain.rows);
      const outcome = await this.writeBatch(organizationId, chain, batch).catch(toFailure);
      if (outcome instanceof AppError) this.settleFailed(organizationId, chain, batch, outcome);
      else this.settle(chain, batch, outcome);
    }
    chain.working = undefined;
  }

  /** Tries kept rows again. */
  private retry(organizationId: number, chain: Chain): Promise<void> {
    clearTimeout(chain.retry);
    chain.retry = undefined;
    chain.rows.push(...chain.kept.splice(0));
    return (chain.working ??= this.work(organizationId, chain));
  }

  private settle(chain: Chain, batch: readonly WaitingRow[], outcome: 'written' | 'deleted'): void {
    this.waiting -= batch.length;
    if (outcome === 'written') this.written += batch.length;
    for (const { caller } of batch) {
      if (outcome === 'written') caller?.resolve();
      // The rows of an organization that was deleted are of no use to anybody.
      else caller?.reject(notWritten());
    }
    if (chain.failure && ![...chain.rows, ...chain.kept].some(isUnawaited)) chain.failure = undefined;
  }

  /** Answers the callers of rows that could not be written, and keeps the rows that nobody waits for. */
  private settleFailed(organizationId: number, chain: Chain, batch: readonly WaitingRow[], failure: AppError): void {
    const unawaited = batch.filter(isUnawaited);
    if (!isPassing(failure)) {
      for (const waiting of unawaited) waiting.refusals++;
      if (unawaited.length > 0 && batch.length > 1) {
        // One of the rows that nobody waits for may be the cause: the callers' rows are written without them, and then each one alone.
        chain.rows.unshift(...batch.filter(({ caller }) => caller), ...unawaited);
        return;
      }
    }
    for (const { caller } of batch) caller?.reject(failure);
    const kept = unawaited.filter(({ refusals }) => refusals < MAX_REFUSALS);
    this.waiting -= batch.length - kept.length;
    // While the database takes no rows, only those of callers are tried before the next second.
    if (isPassing(failure)) kept.push(...takeUnawaited(chain.rows));
    chain.kept.push(...kept);
    if (chain.kept.length > 0) chain.retry ??= setTimeout(() => void this.retry(organizationId, chain), RETRY_MS).unref();
    if (!chain.failure) this.report(organizationId, kept.length, { isLost: false, error: failure });
    this.report(organizationId, unawaited.filter(({ refusals }) => refusals >= MAX_REFUSALS).length, { isLost: true, error: failure });
    if (kept.length > 0) chain.failure = failure;
  }

  private report(organizationId: number, rows: number, unwritten: Pick<UnwrittenRows, 'isLost' | 'error'>): void {
    if (rows > 0) this.options.onUnwritten?.({ organizationId, rows, ...unwritten });
  }

  /** Writes rows, unless their organization was deleted. */
  private async writeBatch(organizationId: number, chain: Chain, batch: readonly WaitingRow[]): Promise<'written' | 'deleted'> {
    const rows = batch.map(({ row }) => row);
    let conflict: unknown;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        const outcome = await this.tryBatch(organizationId, chain, rows);
        if (outcome !== 'moved') return outcome;
      } catch (error) {
        chain.end = undefined;
        if (!findSqlFault(error)?.sqlState.startsWith(ROLLED_BACK)) throw error;
        conflict = error;
      }
    }
    throw notWritten(conflict);
  }

  /** Writes rows behind the end of the chain, unless another process has moved it since. */
  private async tryBatch(organizationId: number, chain: Chain, rows: readonly NewAuditRow[]): Promise<'written' | 'deleted' | 'moved'> {
    // A statement may have failed after it was carried out. The place is unknown then, and some of the rows may be there.
    const entries = rows.map(({ entry }) => entry);
    const end = chain.end ? { newest: chain.end, known: [] } : await this.store.findEnd(organizationId, entries);
    if (!end) return 'deleted';
    const { newest, known } = end;
    const added = toChain(
      organizationId,
      newest,
      rows.filter(({ entry, part }) => !known.includes(`${entry} ${part}`)),
    );
    const last = added.at(-1);
    chain.end = undefined;
    if (last && !(await this.store.append(organizationId, newest, added))) return 'moved';
    chain.end = last ? { number: last.number, hash: last.hash } : newest;
    return 'written';
  }
}

/** An organization's rows that wait. */
interface Chain {
  readonly rows: WaitingRow[];
  /** Rows that nobody waits for and that could not be written. They are tried again after a second. */
  readonly kept: WaitingRow[];
  /** The newest place, where it is known. Other processes may have added rows behind it. */
  end: ChainPlace | undefined;
  /** Resolves when all rows but the kept ones are settled. */
  working: Promise<void> | undefined;
  retry: NodeJS.Timeout | undefined;
  /** The failure of rows that nobody waits for; undefined when none of them waits any more. */
  failure: AppError | undefined;
}

const createChain = (): Chain => ({
  rows: [],
  kept: [],
  end: undefined,
  working: undefined,
  retry: undefined,
  failure: undefined,
});

const isUnawaited = ({ caller }: WaitingRow): boolean => !caller;

/** Takes the first rows that one statement writes: a row that was refused is alone. */
function takeBatch(rows: WaitingRow[]): WaitingRow[] {
  const refused = rows.slice(0, BATCH_ROWS).findIndex(({ refusals }) => refusals > 0);
  return rows.splice(0, refused < 0 ? BATCH_ROWS : Math.max(refused, 1));
}

function takeUnawaited(rows: WaitingRow[]): WaitingRow[] {
  const [taken, left] = [rows.filter(isUnawaited), rows.filter(({ caller }) => caller)];
  rows.splice(0, rows.length, ...left);
  return taken;
}

/** The class of transactions that PostgreSQL undid because of another one: a deadlock, or a conflict of serializable ones. */
const ROLLED_BACK = '40';
/** The class of servers that lack room or connections. */
const LACKING = '53';
/** States that pass by themselves: another statement holds the row up, or the server takes no writes because another one leads now. */
const PASSING: readonly string[] = [QUERY_CANCELED, READ_ONLY, LOCK_TIMEOUT];

function toFailure(error: unknown): AppError {
  const failure = toAppError(error);
  const { sqlState = '' } = findSqlFault(failure) ?? {};
  const passes = PASSING.includes(sqlState) || [ROLLED_BACK, LACKING].includes(sqlState.slice(0, 2));
  return passes ? notWritten(failure.cause) : failure;
}

const isPassing = ({ code }: AppError): boolean => code === 'NO_DATA_SOURCE_CONNECTION';

/** A reading whose row cannot be written has no answer, and its caller may try again. */
const notWritten = (cause?: unknown): AppError => new AppError('NO_DATA_SOURCE_CONNECTION', { cause, retryAfterSeconds: 1 });
