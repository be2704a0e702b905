import type { Cell, ColumnKind, Row, TableColumn } from '../values/table-types';

/** Something to know about the rows, such as their period, the version of the books, or a total. */
export interface FileFact {
  /** The fact's name as people say it, such as “What one row is” or “Received”. */
  readonly name: string;
  /** Null is unknown. */
  readonly value: Cell;
  readonly kind: ColumnKind;
}

/** The rows of a table in pieces. */
export interface FileRows {
  /** The columns in the order of the file. Each row has a cell for each of them. */
  readonly columns: readonly TableColumn[];
  readonly rows: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;
}

/** A table to be written to a file. */
export interface FileContent extends FileRows {
  readonly title: string;
  readonly facts: readonly FileFact[];
}

/** A table of a workbook, by the name of its sheet. */
export interface FileSheet extends FileRows {
  readonly sheet: string;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of rows written so far. */
  readonly onProgress?: (rows: number) => void;
}

/** The rows that are written before a file is asked again whether it is still wanted. */
const CHUNK_ROWS = 1000;
/** A worker that is busy for longer hears too late that a file is cancelled. */
const BUSY_MS = 50;

/** Gives the rows in short chunks, and tells the progress after each. Throws the signal's reason when the file is cancelled. */
export async function* readChunks(content: FileRows, { signal, onProgress }: WriteOptions): AsyncGenerator<readonly Row[]> {
  let count = 0;
  let pausedAt = performance.now();
  for await (const rows of content.rows) {
    for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
      signal?.throwIfAborted();
      const chunk = rows.slice(start, start + CHUNK_ROWS);
      yield chunk;
      count += chunk.length;
      onProgress?.(count);
      if (performance.now() - pausedAt > BUSY_MS) {
        await new Promise((resolve) => setTimeout(resolve));
        pausedAt = performance.now();
      }
    }
  }
  signal?.throwIfAborted();
}
