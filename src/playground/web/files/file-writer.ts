import { createBlobCollector } from './blob-collector';
import { readChunks, type FileContent, type WriteOptions } from './file-content';
import { fileFormats } from '../../../values/file-formats';
import type { WrittenFormat } from './file-format';
import { createTextLayout } from './text-layout';
import { writeXlsx } from './xlsx-writer';

/**
 * Writes a table to a file. It needs neither a document nor a window, so that a worker can call it, and its libraries
 * are large: import it when a file is wanted. Rejects with the signal's reason when the
 * file is cancelled, and with an Error whose message the page shows when the table does not fit into the format.
 */
export async function writeFile(content: FileContent, format: WrittenFormat, options: WriteOptions = {}): Promise<Blob> {
  if (format === 'xlsx') return writeXlsx(content, options);
  const { head, toText, tail } = createTextLayout(format, content.columns);
  const encoder = new TextEncoder();
  const file = createBlobCollector(fileFormats[format].mediaType);
  file.add(encoder.encode(head));
  for await (const chunk of readChunks(content, options)) file.add(encoder.encode(toText(chunk)));
  file.add(encoder.encode(tail));
  return file.all();
}
