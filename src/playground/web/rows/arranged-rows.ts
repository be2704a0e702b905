import { useCallback, useEffect, useRef, useState } from 'react';
import type { TableClient } from './table-client';
import type { Arranged, Arrangement, LoadedTable, Row } from '../values/table-types';

/** Rows are fetched from the worker in windows of this many. */
const WINDOW = 100;
/** Windows that are kept. Those that were scrolled out of sight long ago are fetched again. */
const MAX_WINDOWS = 40;

interface Shown {
  readonly table: number;
  readonly arrangement: Arrangement;
  readonly arranged: Arranged;
  readonly windows: Map<number, readonly Row[]>;
}

export interface ArrangedRows {
  /** The rows of the newest finished arrangement; undefined before the first one. */
  readonly arranged: Arranged | undefined;
  readonly arrangement: Arrangement | undefined;
  /** True while the worker still arranges. */
  readonly isBusy: boolean;
  /** A shown row; undefined until it has been fetched. */
  readonly rowAt: (place: number) => Row | undefined;
  /** Fetches the rows from one place to another, both included, when they are not there yet. */
  readonly want: (from: number, to: number) => void;
}

/**
 * Arranges a table in the worker, again when it has grown, and fetches the rows that come into view. The rows before stay until the new ones
 * are there.
 */
export function useArrangedRows(
  client: TableClient,
  { id, count }: Pick<LoadedTable, 'id' | 'count'>,
  arrangement: Arrangement,
  onProblem: (error: unknown) => void,
): ArrangedRows {
  const [shown, setShown] = useState<Shown>();
  const [, setArrivals] = useState(0);
  const view = useRef({ from: 0, to: WINDOW });
  const wanted = useRef({ id, count, arrangement });
  const isArranging = useRef(false);
  const pending = useRef(new Set<string>());
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  /** Tells a problem, unless it is of a table that is shown no more: its rows may have been dropped. */
  const report = useCallback(
    (table: number, error: unknown) => {
      if (!isGone.current && wanted.current.id === table) onProblem(error);
    },
    [onProblem],
  );

  useEffect(() => {
    wanted.current = { id, count, arrangement };
    // One arrangement runs at a time, so that a person who types fast waits for the last one only.
    if (isArranging.current) return;
    isArranging.current = true;
    const run = async (): Promise<void> => {
      for (let done: object | undefined; done !== wanted.current && !isGone.current;) {
        const now = wanted.current;
        done = now;
        await arrange(now).catch((error: unknown) => report(now.id, error));
      }
      isArranging.current = false;
    };
    const arrange = async (now: typeof wanted.current): Promise<void> => {
      const arranged = await client.arrange(now.id, now.arrangement);
      const place = Math.floor(Math.min(view.current.from, Math.max(0, arranged.count - 1)) / WINDOW);
      // The rows in view come with the arrangement, so that the table does not go blank between them.
      const rows = await client.rowsOf(now.id, arranged.serial, place * WINDOW, (place + 1) * WINDOW);
      setShown({ table: now.id, arrangement: now.arrangement, arranged, windows: new Map(rows && [[place, rows]]) });
    };
    void run();
  }, [client, id, count, arrangement, report]);

  // Rows of another table are never shown under this one's columns.
  const current = shown?.table === id ? shown : undefined;
  const want = useCallback(
    (from: number, to: number) => {
      view.current = { from, to };
      if (!current) return;
      const { table, arranged, windows } = current;
      for (let place = Math.floor(from / WINDOW); place <= Math.floor(to / WINDOW); place++) {
        const key = [table, arranged.serial, place].join();
        if (windows.has(place) || pending.current.has(key)) continue;
        pending.current.add(key);
        client
          .rowsOf(table, arranged.serial, place * WINDOW, (place + 1) * WINDOW)
          .then((rows) => {
            if (!rows) return;
            windows.set(place, rows);
            const [oldest] = windows.keys();
            if (windows.size > MAX_WINDOWS && oldest !== undefined) windows.delete(oldest);
            setArrivals((count) => count + 1);
          })
          .catch((error: unknown) => report(table, error))
          .finally(() => pending.current.delete(key));
      }
    },
    [client, current, report],
  );
  const rowAt = (place: number): Row | undefined => current?.windows.get(Math.floor(place / WINDOW))?.[place % WINDOW];
  return {
    arranged: current?.arranged,
    arrangement: current?.arrangement,
    isBusy: current?.arrangement !== arrangement,
    rowAt,
    want,
  };
}
