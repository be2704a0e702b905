import { expose } from 'comlink';
import type { DownloadableReport } from '../../../src/playground/web/dialogs/downloadable-report';
import type { WrittenFormat } from '../../../src/playground/web/files/file-format';
import { writeFile } from '../../../src/playground/web/files/file-writer';
import type { Row } from '../../../src/playground/web/values/table-types';

let rows: readonly Row[] = [];
let writing = new AbortController();

/** A worker that holds the rows of a table and writes files of them. */
const worker = {
  hold: (held: readonly Row[], repeats: number): void => {
    rows = Array.from({ length: repeats }, () => held).flat();
  },
  write: (format: WrittenFormat, { title, columns, facts }: Content, onProgress: (rows: number) => void): Promise<Blob> => {
    writing = new AbortController();
    return writeFile({ title, columns, facts, rows: [rows] }, format, { signal: writing.signal, onProgress });
  },
  cancel: (): void => writing.abort(),
};

type Content = Pick<DownloadableReport, 'title' | 'columns' | 'facts'>;
export type WriteWorker = typeof worker;

expose(worker);
