import { proxy } from 'comlink';
import { useEffect, useMemo } from 'react';
import type { AnsweredTables, AnswerRequest } from './answer-tables';
import type { KeptPivot, PivotRequest } from './pivot-rows';
import type { TableKeeper, WriteRequest } from './table-keeper';
import { createWorkerCalls } from './worker-calls';
import type {
  Arranged,
  Arrangement,
  GrowingTable,
  KeptTable,
  LoadedTable,
  LoadProgress,
  LoadRequest,
  Row,
  TableColumn,
} from '../values/table-types';

/** Tables that a worker of their own loads and keeps. Every method may reject with a GatewayError, whose message the page shows. */
export interface TableClient {
  /**
   * Loads all rows of a source. A newer load stops an older one, which rejects with an error that `isStopped` knows. A long table is told of
   * while it grows, and keeps its number when it is whole; where the load fails, it is dropped by whoever was told of it.
   */
  readonly load: (request: LoadRequest, onProgress: (progress: LoadProgress | GrowingTable) => void) => Promise<LoadedTable>;
  /** Stops the load that runs, its requests included. */
  readonly stop: () => Promise<void>;
  /** Sends a GraphQL request. Resolves to the answer with long lists cut, and to the tables that it holds. */
  readonly answer: (request: AnswerRequest, signal?: AbortSignal) => Promise<AnsweredTables>;
  readonly arrange: (table: number, arrangement: Arrangement) => Promise<Arranged>;
  /**
   * Shown rows of an arrangement, from one place up to, and without, another; undefined when a newer one has taken its place. Their cells are
   * in the order of the loaded columns.
   */
  readonly rowsOf: (table: number, serial: number, from: number, to: number) => Promise<readonly Row[] | undefined>;
  /** All rows in the order of the load, from one place up to, and without, another. */
  readonly loadedRows: (table: number, from: number, to: number) => Promise<readonly Row[]>;
  /** Keeps rows that the page has made itself as a table, which is dropped by its number. */
  readonly keep: (columns: readonly TableColumn[], rows: readonly Row[]) => Promise<KeptTable>;
  /** Makes a table of a pivot of all rows, which is dropped by its own number. */
  readonly pivot: (table: number, request: PivotRequest) => Promise<KeptPivot>;
  /** Shown cells of an arrangement as text with tabs, for a spreadsheet. Rejects when a newer one has taken its place. */
  readonly cells: (
    table: number,
    serial: number,
    from: number,
    to: number,
    columnIds: readonly string[],
    withTitles: boolean,
  ) => Promise<string>;
  /**
   * Writes the shown rows of an arrangement, with some columns, to a file. Rejects when a newer one has taken its place, and as stopped when
   * the signal aborts.
   */
  readonly write: (request: WriteRequest, onProgress: (rows: number) => void, signal: AbortSignal) => Promise<Blob>;
  /** Frees the rows of a table. */
  readonly drop: (table: number) => Promise<void>;
  /** Ends the worker with all its tables and requests. A request that still runs never settles. */
  readonly close: () => void;
}

/** Makes a client whose worker starts with the first call. Whoever makes one closes it. */
function createTableClient(): TableClient {
  const { call, tell, close } = createWorkerCalls<TableKeeper>(
    () => new Worker(new URL('./table-worker.ts', import.meta.url), { type: 'module' }),
  );
  let lastAsk = 0;
  return {
    load: (request, onProgress) => call((keeper) => keeper.load(request, proxy(onProgress))),
    stop: () => tell((keeper) => keeper.stop()),
    answer: async (request, signal) => {
      const ask = ++lastAsk;
      const stop = (): void => void tell((keeper) => keeper.stopAnswer(ask));
      signal?.addEventListener('abort', stop);
      try {
        return await call((keeper) => keeper.answer(ask, request));
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    },
    arrange: (table, arrangement) => call((keeper) => keeper.arrange(table, arrangement)),
    rowsOf: (table, serial, from, to) => call((keeper) => keeper.rowsOf(table, serial, from, to)),
    loadedRows: (table, from, to) => call((keeper) => keeper.loadedRows(table, from, to)),
    keep: (columns, rows) => call((keeper) => keeper.keep(columns, rows)),
    pivot: (table, request) => call((keeper) => keeper.pivot(table, request)),
    cells: (table, serial, from, to, columnIds, withTitles) =>
      call((keeper) => keeper.cells(table, serial, from, to, columnIds, withTitles)),
    write: async (request, onProgress, signal) => {
      const write = ++lastAsk;
      const stop = (): void => void tell((keeper) => keeper.stopAnswer(write));
      signal.addEventListener('abort', stop);
      try {
        return await call((keeper) => keeper.write(write, request, proxy(onProgress)));
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
    drop: (table) => tell((keeper) => keeper.drop(table)),
    close,
  };
}

/** The client of a component, which closes with it. A new owner gets a new one, so that nobody sees the tables of another user. */
export function useTableClient(owner: unknown): TableClient {
  const client = useMemo(() => ({ owner, ...createTableClient() }), [owner]);
  useEffect(() => () => client.close(), [client]);
  return client;
}
