import { RowRenderer } from './row-renderer';
import type { RowTemplate } from './row-template';

/** The number of the rendering. It must be raised when the same rows in the same template become other bytes. */
export const RENDERING = 2;

/** The rows of a file, all from the request's one snapshot. They are not read before a caller asks for the first of them. */
export interface FileRows {
  /** A text that tells these rows from others of the same data version: organization, arguments, and what the caller may see. */
  readonly key: string;
  /**
   * Reads the rows as blocks of a template's bytes. Only the template's columns are read. A block is valid until the next one is asked for,
   * because all blocks use the same memory. The rows end early only by an error.
   */
  bytes(template: RowTemplate): AsyncGenerator<Buffer>;
  /** The number of rows that `bytes` has given; undefined until it has given the last of them. */
  readonly rowCount?: () => number | undefined;
}

/** The rows of a report. */
export interface RowStream<Row> extends FileRows {
  /** Reads the rows as objects, for callers that cannot use bytes. The memory grows with the report. */
  objects(): Promise<Row[]>;
}

/**
 * Renders COPY's text output, which may be cut anywhere, as a template's rows. A block is valid until the next one is asked for. `onEnd`
 * gets the number of rows when all have been rendered.
 */
export async function* renderRows(
  copy: AsyncIterable<Buffer>,
  template: RowTemplate,
  onEnd?: (rows: number) => void,
): AsyncGenerator<Buffer> {
  // A report that still waits for its first rows occupies no renderer.
  let renderer: RowRenderer | undefined;
  for await (const piece of copy) {
    renderer ??= RowRenderer.open(template);
    yield* renderer.add(piece);
  }
  if (!renderer) {
    onEnd?.(0);
    return;
  }
  const rest = renderer.end();
  onEnd?.(renderer.rows);
  if (rest.length > 0) yield rest;
  renderer.release();
}
