import { AppError, toAppError } from '../errors';
import type { ChainPlace, NewAuditRow } from '../formats/audit-row';
import { toChain, type AuditChainStore } from './audit-chain-store';
import { findSqlFault, QUERY_CANCELED, READ_ONLY } from './postgres/sql-fault';

interface AuditWriterOptions {
  /** The longest wait of a caller for its row to be written, in milliseconds. */
  readonly maxWaitMs: number;
  /** The most rows that may wait to be written, also those that nobody waits for. A caller's row is refused when there are so many. */
  readonly maxWaiting: number;
  /** Called when rows that nobody waits for cannot be written: once until the database takes rows again, and when they are given up. */
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
   * Undefined for a row that nobody waits for. It is tried again until it is written. It tells the end of a reading whose start was written,
   * so that refused starts bound the number of these rows.
   */
  readonly caller?: { readonly resolve: () => void; readonly reject: (error: AppError) => void };
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

/**
 * Writes rows into the chains of organizations. Rows of an organization that arrive while others are written share the next statement. A row
 * that cannot be written in time is refused.
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

  /** Writes a row that nobody waits for, as soon as the database takes it. */
  writeLater(organizationId: number, row: NewAuditRow): void {
    this.add(organizationId, { row });
  }

  /** Writes all rows that wait, and gives up those that the database does not take. */
  async close(): Promise<void> {
    await Promise.all([...this.chains].map(([organizationId, chain]) => chain.working ?? this.work(organizationId, chain)));
    for (const [organizationId, { retry, rows, failure }] of this.chains) {
      clearTimeout(retry);
      if (rows.length > 0) this.options.onUnwritten?.({ organizationId, rows: rows.length, isLost: true, error: failure ?? notWritten() });
    }
  }

  private wait(organizationId: number, row: NewAuditRow): Promise<void> {
    if (this.waiting >= this.options.maxWaiting) return Promise.reject(notWritten());
    return new Promise<void>((resolve, reject) => {
      const waiting: WaitingRow = { row, caller: { resolve: () => settle(resolve), reject: (error) => settle(() => reject(error)) } };
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
    const chain = this.chains.get(organizationId) ?? { rows: [], end: undefined, working: undefined, retry: undefined, failure: undefined };
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
    clearTimeout(chain.retry);
    // The rows of this turn of the event loop are written together.
    await Promise.resolve();
    while (chain.rows.length > 0) {
      const batch = chain.rows.splice(0, BATCH_ROWS);
      const outcome = await this.writeBatch(organizationId, chain, batch).catch(toFailure);
      this.settle(organizationId, chain, batch, outcome);
      if (outcome instanceof AppError && chain.rows.every(({ caller }) => !caller)) break;
    }
    chain.working = undefined;
    if (chain.rows.length > 0) {
      chain.retry = setTimeout(() => {
        chain.working ??= this.work(organizationId, chain);
      }, RETRY_MS).unref();
    }
  }

  /** Answers the callers of rows, and keeps those that nobody waits for when they could not be written. */
  private settle(organizationId: number, chain: Chain, batch: readonly WaitingRow[], outcome: Outcome): void {
    const failure = outcome instanceof AppError ? outcome : undefined;
    const kept = failure ? batch.filter(({ caller }) => !caller) : [];
    chain.rows.unshift(...kept);
    this.waiting -= batch.length - kept.length;
    if (outcome === 'written') this.written += batch.length;
    for (const { caller } of batch) {
      if (outcome === 'written') caller?.resolve();
      // The rows of an organization that was deleted are of no use to anybody.
      else caller?.reject(failure ?? notWritten());
    }
    if (failure && kept.length > 0 && !chain.failure)
      this.options.onUnwritten?.({ organizationId, rows: kept.length, isLost: false, error: failure });
    if (kept.length > 0 || !failure) chain.failure = failure;
  }

  /** Writes rows, unless their organization was deleted. */
  private async writeBatch(organizationId: number, chain: Chain, batch: readonly WaitingRow[]): Promise<Exclude<Outcome, AppError>> {
    const rows = batch.map(({ row }) => row);
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
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
        if (last && !(await this.store.append(organizationId, newest, added))) continue;
        chain.end = last ? { number: last.number, hash: last.hash } : newest;
        return 'written';
      }
    } catch (error) {
      chain.end = undefined;
      throw error;
    }
    throw notWritten();
  }
}

type Outcome = 'written' | 'deleted' | AppError;

/** An organization's rows that wait. */
interface Chain {
  readonly rows: WaitingRow[];
  /** The newest place, where it is known. Other processes may have added rows behind it. */
  end: ChainPlace | undefined;
  /** Resolves when no row waits, or when the database takes none. */
  working: Promise<void> | undefined;
  retry: NodeJS.Timeout | undefined;
  /** The failure of rows that nobody waits for; undefined when the last rows were written. */
  failure: AppError | undefined;
}

/** States that pass by themselves: another statement holds the row up, or the server takes no writes because another one leads now. */
const PASSING: readonly unknown[] = [QUERY_CANCELED, READ_ONLY];

function toFailure(error: unknown): AppError {
  const failure = toAppError(error);
  return PASSING.includes(findSqlFault(failure)?.sqlState) ? notWritten(failure.cause) : failure;
}

/** A reading whose row cannot be written has no answer, and its caller may try again. */
const notWritten = (cause?: unknown): AppError => new AppError('NO_DATA_SOURCE_CONNECTION', { cause, retryAfterSeconds: 1 });
