import { AppError } from '../errors';
import type { ChainPlace, NewAuditRow } from '../formats/audit-row';
import { toChain, type AuditChainStore } from './audit-chain-store';

interface AuditWriterOptions {
  /** The longest wait of a caller for its row to be written, in milliseconds. */
  readonly maxWaitMs: number;
  /** The most rows that may wait to be written. */
  readonly maxWaiting: number;
}

/** A row that waits to be written. */
interface WaitingRow {
  readonly row: NewAuditRow;
  /** Undefined for a row that nobody waits for. It is tried again until it is written. */
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

  /** Resolves when the row is written. Throws NO_DATA_SOURCE_CONNECTION when it was not written in time, or when too many rows wait. */
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
    for (const chain of this.chains.values()) clearTimeout(chain.retry);
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
    const chain = this.chains.get(organizationId) ?? { rows: [], end: undefined, working: undefined, retry: undefined };
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
      this.waiting -= batch.length;
      const outcome = await this.writeBatch(organizationId, chain, batch).catch(notWritten);
      if (outcome === 'written') {
        this.written += batch.length;
        for (const { caller } of batch) caller?.resolve();
        continue;
      }
      const failure = outcome === 'deleted' ? notWritten() : outcome;
      for (const { caller } of batch) caller?.reject(failure);
      // The rows of an organization that was deleted are of no use to anybody.
      if (outcome === 'deleted') continue;
      const kept = batch.filter(({ caller }) => !caller);
      chain.rows.unshift(...kept);
      this.waiting += kept.length;
      if (chain.rows.every(({ caller }) => !caller)) break;
    }
    chain.working = undefined;
    if (chain.rows.length > 0) {
      chain.retry = setTimeout(() => {
        chain.working ??= this.work(organizationId, chain);
      }, RETRY_MS).unref();
    }
  }

  /** Writes rows, unless their organization was deleted. */
  private async writeBatch(organizationId: number, chain: Chain, batch: readonly WaitingRow[]): Promise<'written' | 'deleted'> {
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

/** An organization's rows that wait. */
interface Chain {
  readonly rows: WaitingRow[];
  /** The newest place, where it is known. Other processes may have added rows behind it. */
  end: ChainPlace | undefined;
  /** Resolves when no row waits, or when the database takes none. */
  working: Promise<void> | undefined;
  retry: NodeJS.Timeout | undefined;
}

/** A reading whose row cannot be written has no answer, and its caller may try again. */
const notWritten = (cause?: unknown): AppError => new AppError('NO_DATA_SOURCE_CONNECTION', { cause, retryAfterSeconds: 1 });
