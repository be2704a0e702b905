import type { RowTemplate } from './row-template';

/** Lines of a report that nobody has read yet, all from the request's one snapshot. Reading starts with the first batch asked for. */
export interface RowStream<Row> {
  /**
   * The lines as blocks of a template's bytes; only its columns are read. A block holds good until the next is asked for, because all of
   * them are written into the same memory. Ends early only by throwing.
   */
  bytes(template: RowTemplate): AsyncGenerator<Buffer>;
  /** The lines as objects, for callers that take no bytes; memory grows with the report. */
  objects(): Promise<Row[]>;
}
