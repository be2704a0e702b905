import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** A row whose caller waits. */
interface AwaitedRow {
  readonly row: NewAuditRow;
  readonly settle: (failure?: AppError) => void;
}

/**
 * A row that nobody waits for. It tells the end of a reading whose start was written, or was accepted, so that refused starts bound the
 * number of these rows.
 */
interface UnawaitedRow {
  readonly row: NewAuditRow;
  /** The times that the database has refused it. Such a row is written alone, as it may be the cause. */
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
 * Writes rows into the chains of organizations. Rows of an organization that arrive while others are written share a statement.
 *
 * A caller's row is tried once, and refused when it cannot be written in time. The rows that nobody waits for are one list. Its first row is
 * tried at once. While rows stay in the list, it is tried each second, with the rows that have come meanwhile.
 */
export class AuditWriter {
  private readonly chains = new Map<number, Chain>();
  private readonly closing = new AbortController();
  private waiting = 0;
  private written = 0;
  private refused = 0;

  constructor(
    private readonly store: AuditChainStore,
    private readonly options: AuditWriterOptions,
  ) {
    // Each chain that pauses listens.
    setMaxListeners(0, this.closing.signal);
  }

  /** The rows that wait, and those that were written and refused since the start. */
  get figures(): AuditFigures {
    return { waiting: this.waiting, written: this.written, refused: this.refused };
  }

  /**
   * Resolves when the row is written. Throws NO_DATA_SOURCE_CONNECTION when it was not written in time, or when too many rows wait, and
   * DATA_SOURCE_QUERY_FAILED when the database refuses it.
   */
  async write(organizationId: number, row: NewAuditRow): Promise<void> {
    this.assertRoom();
    const chain = this.chainOf(organizationId);
    this.waiting++;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const awaited: AwaitedRow = { row, settle: (failure) => (failure ? reject(failure) : resolve()) };
        timer = setTimeout(() => {
          chain.awaited = chain.awaited.filter((each) => each !== awaited);
          reject(notWritten());
        }, this.options.maxWaitMs);
        if (chain.awaited.push(awaited) === 1) void inTurn(chain, () => this.writeAwaited(chain));
      });
    } catch (error) {
      this.refused++;
      throw error;
    } finally {
      clearTimeout(timer);
      this.waiting--;
    }
  }

  /** Resolves at once, and writes the row as `writeLater` does. Throws NO_DATA_SOURCE_CONNECTION when too many rows wait. */
  async accept(organizationId: number, row: NewAuditRow): Promise<void> {
    this.assertRoom();
    this.writeLater(organizationId, row);
  }

  /** Writes a row that nobody waits for, as soon as the database takes it. */
  writeLater(organizationId: number, row: NewAuditRow): void {
    const chain = this.chainOf(organizationId);
    this.waiting++;
    chain.unawaited.push({ row, refusals: 0 });
    chain.writing ??= this.writeUnawaited(chain);
  }

  /** Writes all rows that wait, and those that come before `last` resolves. Gives up those that the database does not take. */
  async close(last?: Promise<void>): Promise<void> {
    this.closing.abort();
    await last;
    await Promise.all(
      [...this.chains.values()].map(async (chain) => {
        let turn: unknown;
        // A full batch of callers' rows gives the rest of them the next turn.
        while (turn !== chain.turn) {
          turn = chain.turn;
          await turn;
          await chain.writing;
        }
      }),
    );
  }

  private assertRoom(): void {
    if (this.waiting < this.options.maxWaiting) return;
    this.refused++;
    throw notWritten();
  }

  private chainOf(organizationId: number): Chain {
    const chain = this.chains.get(organizationId) ?? { organizationId, awaited: [], unawaited: [], turn: Promise.resolve() };
    this.chains.set(organizationId, chain);
    return chain;
  }

  private async writeAwaited(chain: Chain): Promise<void> {
    const batch = chain.awaited.splice(0, BATCH_ROWS);
    // All of them were refused while the turns before took their time.
    if (batch.length === 0) return;
    if (chain.awaited.length > 0) void inTurn(chain, () => this.writeAwaited(chain));
    const failure = await this.append(chain, batch).then((isThere) => (isThere ? undefined : notWritten()), toFailure);
    for (const { settle } of batch) settle(failure);
  }

  /** Tries the rows that nobody waits for, each second, until none is left. When the writer closes, they are tried at once and then lost. */
  private async writeUnawaited(chain: Chain): Promise<void> {
    let failure: AppError | undefined;
    while (chain.unawaited.length > 0) {
      await chain.turn;
      const isLast = this.closing.signal.aborted;
      const tried = new Set(chain.unawaited);
      failure = await this.tryUnawaited(chain, failure);
      if (failure && isLast) {
        // Rows that have come meanwhile are tried once, too.
        const staying = chain.unawaited.splice(0);
        chain.unawaited.push(...staying.filter((row) => !tried.has(row)));
        const lost = staying.length - chain.unawaited.length;
        this.waiting -= lost;
        this.report(chain, lost, { isLost: true, error: failure });
      } else if (failure) await sleep(RETRY_MS, undefined, { signal: this.closing.signal, ref: false }).catch(() => undefined);
    }
    chain.writing = undefined;
  }

  /** Tries the rows of the list. Those that cannot be written stay in it, unless they are lost; the last failure of them is returned. */
  private async tryUnawaited(chain: Chain, before: AppError | undefined): Promise<AppError | undefined> {
    const due = chain.unawaited.splice(0);
    let last: AppError | undefined;
    while (due.length > 0) {
      const batch = takeBatch(due);
      // A statement may have failed after it was carried out. The rows of an organization that was deleted are of no use to anybody.
      const failure = await inTurn(chain, () => this.append(chain, batch, before !== undefined)).then(() => undefined, toFailure);
      if (!failure) {
        this.waiting -= batch.length;
        continue;
      }
      const isRefusal = !isPassing(failure);
      if (isRefusal) for (const each of batch) each.refusals++;
      if (isRefusal && batch.length > 1) {
        // One of them is the cause.
        due.unshift(...batch);
        continue;
      }
      const kept = batch.filter(({ refusals }) => refusals < MAX_REFUSALS);
      this.waiting -= batch.length - kept.length;
      // While the database takes no rows, the others need not be tried.
      const staying = isRefusal ? kept : [...kept, ...due.splice(0)];
      chain.unawaited.unshift(...staying);
      if (!before && !last) this.report(chain, staying.length, { isLost: false, error: failure });
      this.report(chain, batch.length - kept.length, { isLost: true, error: failure });
      last = failure;
    }
    return last;
  }

  private report({ organizationId }: Chain, rows: number, unwritten: Pick<UnwrittenRows, 'isLost' | 'error'>): void {
    if (rows > 0) this.options.onUnwritten?.({ organizationId, rows, ...unwritten });
  }

  /** Adds rows behind the end of the chain, but for those that `mayStand` there and do. False when their organization was deleted. */
  private async append(chain: Chain, waiting: readonly { readonly row: NewAuditRow }[], mayStand = false): Promise<boolean> {
    const { organizationId } = chain;
    const rows = waiting.map(({ row }) => row);
    const entries = rows.map(({ entry }) => entry);
    let conflict: unknown;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        // The place is unknown after a failure, or when another process has moved the chain. Some of the rows may be there then.
        const end = chain.end && !mayStand ? { newest: chain.end, known: [] } : await this.store.findEnd(organizationId, entries);
        chain.end = undefined;
        if (!end) return false;
        const { newest, known } = end;
        const isNew = ({ entry, part }: NewAuditRow): boolean => !known.includes(`${entry} ${part}`);
        const added = toChain(organizationId, newest, rows.filter(isNew));
        const { number, hash } = added.at(-1) ?? newest;
        if (added.length > 0 && !(await this.store.append(organizationId, newest, added))) continue;
        chain.end = { number, hash };
        this.written += rows.length;
        return true;
      } catch (error) {
        if (!findSqlFault(error)?.sqlState.startsWith(ROLLED_BACK)) throw error;
        conflict = error;
      }
    }
    throw notWritten(conflict);
  }
}

/** An organization's chain, and the rows that wait to be added. */
interface Chain {
  readonly organizationId: number;
  awaited: AwaitedRow[];
  readonly unawaited: UnawaitedRow[];
  /** The newest place, where it is known. Other processes may have added rows behind it. */
  end?: ChainPlace | undefined;
  /** Resolves when the statements that were begun or are in turn have ended. */
  turn: Promise<unknown>;
  /** Resolves when no row is left that nobody waits for. */
  writing?: Promise<void> | undefined;
}

/** Runs work after the work that came before it: a chain grows by one statement at a time. */
function inTurn<Result>(chain: Chain, work: () => Promise<Result>): Promise<Result> {
  const done = chain.turn.then(work);
  chain.turn = done.catch(() => undefined);
  return done;
}

/** Takes the first rows that one statement writes: a row that was refused is alone. */
function takeBatch(rows: UnawaitedRow[]): UnawaitedRow[] {
  const refused = rows.slice(0, BATCH_ROWS).findIndex(({ refusals }) => refusals > 0);
  return rows.splice(0, refused < 0 ? BATCH_ROWS : Math.max(refused, 1));
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
