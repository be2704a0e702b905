import type { FileFact } from '../files/file-content';
import type { WrittenFormat } from '../files/file-format';
import { GatewayError } from '../session/gateway-client';
import type { AnsweredTables, AnswerRequest } from './answer-tables';
import { readAnswer } from './answer-tables';
import { toWord } from '../values/cell-format';
import { createOutdated, createStopped } from './gateway-faults';
import { toPivot, type KeptPivot, type PivotRequest } from './pivot-rows';
import { loadRows, type LoadedRows } from './row-loader';
import { storeRows, TableStore, type StoredColumn } from './table-store';
import type {
  Arranged,
  Arrangement,
  Cell,
  GrowingTable,
  KeptTable,
  LoadedTable,
  LoadProgress,
  LoadRequest,
  Row,
  TableColumn,
} from '../values/table-types';
import { ValueList } from '../values/value-list';

/** A file to be written of a table's shown rows. */
export interface WriteRequest {
  readonly table: number;
  /** The arrangement whose rows are wanted. */
  readonly serial: number;
  readonly format: WrittenFormat;
  readonly title: string;
  readonly facts: readonly FileFact[];
  readonly columnIds: readonly string[];
}

/** The shortest time between two messages about progress. More of them would keep the page busy. */
const PROGRESS_INTERVAL_MS = 100;

/** The rows with which a table that is not whole is told of first. It is told of again each time it has twice as many. */
const FIRST_ROWS = 1000;

/** Loads tables and keeps them, in a worker, so that nothing of their rows but the visible ones is ever on the page's own thread. */
export class TableKeeper {
  readonly #locales: readonly string[];
  readonly #tables = new Map<number, TableStore>();
  /** The worker that takes the place of a failed one gives no number again. */
  #lastId = Date.now();
  #loading: AbortController | undefined;
  readonly #answering = new Map<number, AbortController>();

  constructor(locales: readonly string[]) {
    this.#locales = locales;
  }

  /**
   * Loads all rows of a source. A newer load stops an older one, which then rejects as stopped. A long table can be used while it grows; it
   * keeps its number when it is whole.
   */
  async load(request: LoadRequest, onProgress: (progress: LoadProgress | GrowingTable) => void): Promise<LoadedTable> {
    this.stop();
    const loading = new AbortController();
    this.#loading = loading;
    const id = ++this.#lastId;
    let columns: StoredColumn[] = [];
    let next = FIRST_ROWS;
    const restart = (): void => {
      columns = request.columns.map((column) => ({ column, values: new ValueList() }));
      next = FIRST_ROWS;
    };
    restart();
    const take = (row: Row): void => columns.forEach(({ column, values }, n) => values.append(toKept(row[n] ?? null, column)));
    const tell = throttle(onProgress, PROGRESS_INTERVAL_MS);
    const tellOf = (progress: LoadProgress, facts: LoadedRows): void => {
      if (progress.rows < next || loading.signal.aborted) return tell(progress);
      next = progress.rows * 2;
      const soFar = columns.map(({ column, values }) => ({ column, values: values.soFar() }));
      onProgress({ ...progress, table: { ...this.#keep(new TableStore(soFar, this.#locales), id), ...facts } });
    };
    const facts = await orStopped(loading.signal, () =>
      loadRows(request, { take, restart }, { signal: loading.signal, onProgress: tellOf }),
    );
    return { ...this.#keep(new TableStore(columns, this.#locales), id), ...facts };
  }

  /** Stops the load that runs, if any. */
  stop(): void {
    this.#loading?.abort();
    this.#loading = undefined;
  }

  /** Sends a GraphQL request and keeps the tables that its answer holds. `ask` is a number of the caller's, by which it stops this. */
  async answer(ask: number, request: AnswerRequest): Promise<AnsweredTables> {
    const answering = new AbortController();
    this.#answering.set(ask, answering);
    try {
      const { tables, ...answer } = await orStopped(answering.signal, () => readAnswer(request, this.#locales, answering.signal));
      return { ...answer, tables: tables.map(({ store, ...found }) => ({ ...found, ...this.#keep(store) })) };
    } finally {
      this.#answering.delete(ask);
    }
  }

  stopAnswer(ask: number): void {
    this.#answering.get(ask)?.abort();
  }

  arrange(id: number, arrangement: Arrangement): Arranged {
    return this.#get(id).arrange(arrangement);
  }

  rowsOf(id: number, serial: number, from: number, to: number): Row[] | undefined {
    return this.#get(id).rowsOf(serial, from, to);
  }

  loadedRows(id: number, from: number, to: number): Row[] {
    return this.#get(id).loadedRows(from, to);
  }

  /** Keeps rows of the page's own as a table. */
  keep(columns: readonly TableColumn[], rows: readonly Row[]): KeptTable {
    return this.#keep(storeRows(columns, rows, this.#locales));
  }

  /** Makes a table of a pivot of all rows. */
  pivot(id: number, request: PivotRequest): KeptPivot {
    const store = this.#get(id);
    const { rows, ...pivot } = toPivot(store.columns, store.loadedRows(0, store.count), request, this.#locales);
    return { ...pivot, ...this.#keep(storeRows(pivot.columns, rows, this.#locales)) };
  }

  cells(id: number, serial: number, from: number, to: number, columnIds: readonly string[], withTitles: boolean): string {
    return this.#get(id).cells(serial, from, to, columnIds, withTitles);
  }

  /** Writes the shown rows with some columns to a file. `write` is a number of the caller's, by which it stops this. */
  async write(write: number, request: WriteRequest, onProgress: (rows: number) => void): Promise<Blob> {
    const writing = new AbortController();
    this.#answering.set(write, writing);
    try {
      // The writers and their libraries load with the first file.
      const { writeFile } = await import('../files/file-writer').catch((cause: unknown) => {
        throw createOutdated(cause);
      });
      const { table, serial, format, title, facts, columnIds } = request;
      const rows = this.#get(table).shownRows(serial, columnIds);
      return await orStopped(writing.signal, () =>
        writeFile({ title, facts, ...rows }, format, { signal: writing.signal, onProgress: (count) => onProgress(count) }),
      );
    } finally {
      this.#answering.delete(write);
    }
  }

  drop(id: number): void {
    this.#tables.delete(id);
  }

  #keep(store: TableStore, id = ++this.#lastId): KeptTable {
    this.#tables.set(id, store);
    return { id, count: store.count, samples: store.samples() };
  }

  #get(id: number): TableStore {
    const store = this.#tables.get(id);
    if (!store) throw new GatewayError('These rows are no longer there. Run it again.', { code: 'TABLE_DROPPED' });
    return store;
  }
}

const toKept = (cell: Cell, { kind }: TableColumn): Cell => (kind === 'word' && typeof cell === 'string' ? toWord(cell) : cell);

/** An arrangement that fails because it was stopped has no fault. */
async function orStopped<Result>(signal: AbortSignal, run: () => Promise<Result>): Promise<Result> {
  const result = await run().catch((error: unknown) => {
    throw signal.aborted ? createStopped() : error;
  });
  if (signal.aborted) throw createStopped();
  return result;
}

function throttle(tell: (progress: LoadProgress) => void, intervalMs: number): (progress: LoadProgress) => void {
  let next = 0;
  return ({ rows, allRows }) => {
    const now = performance.now();
    if (now < next) return;
    next = now + intervalMs;
    tell({ rows, allRows });
  };
}
