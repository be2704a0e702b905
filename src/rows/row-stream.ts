import { CsvRenderer } from './csv-renderer';
import { JsonRenderer } from './json-renderer';
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

/** Renders COPY's text output, cut anywhere, as a template's rows. A block holds good until the next is asked for. */
export async function* renderRows(copy: AsyncIterable<Buffer>, template: RowTemplate): AsyncGenerator<Buffer> {
  const renderer = template.encoding === 'json' ? new JsonRenderer(template) : new CsvRenderer(template);
  for await (const piece of copy) {
    let at = renderer.render(piece, 0);
    while (at < piece.length) {
      yield renderer.take();
      at = renderer.render(piece, at);
    }
  }
  const rest = renderer.take();
  if (rest.length > 0) yield rest;
}
