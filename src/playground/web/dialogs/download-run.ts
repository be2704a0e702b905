import { createCellFormat, formatRows } from '../values/cell-format';
import { download, saveFile, type DownloadedFile } from '../files/download';
import type { DownloadableReport } from './downloadable-report';
import type { LineFileColumns } from '../files/file-columns';
import type { WrittenFormat } from '../files/file-format';
import { fetchFileAddress, fetchTotals, type ReportQuery } from '../files/file-url';

/** The columns of a file: those on the screen, or one of the gateway's choices for lines. */
export type ColumnChoice = 'screen' | LineFileColumns;

export interface DownloadChoice {
  readonly columns: ColumnChoice;
  readonly format: WrittenFormat;
}

export interface FileProgress {
  readonly rows: number;
  /** The number of rows in the whole file; undefined until it is known. */
  readonly allRows: number | undefined;
  /** The bytes that have arrived; undefined for a file that the page writes. */
  readonly bytes?: number;
}

interface RunOptions {
  readonly provision: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FileProgress) => void;
}

/**
 * Makes the chosen file and lets the browser save it. Returns the sentence that tells of it. Throws an Error whose message the page shows.
 */
export async function runDownload(report: DownloadableReport, choice: DownloadChoice, options: RunOptions): Promise<string> {
  const { columns, format } = choice;
  const { request } = report;
  const file =
    columns !== 'screen' && format !== 'xlsx' && request
      ? await fetchFile(request, columns, format, options)
      : { ...(await writeRows(report, format, options)), digest: null };
  options.signal.throwIfAborted();
  saveFile(file);
  return describeFile(file);
}

async function writeRows({ count, fileName, write }: DownloadableReport, format: WrittenFormat, { signal, onProgress }: RunOptions) {
  onProgress({ rows: 0, allRows: count });
  const content = await write(format, (rows) => onProgress({ rows, allRows: count }), signal);
  return { name: `${fileName}.${format}`, content, rows: count };
}

/** Downloads the gateway's own file, which is checked against its receipt. */
async function fetchFile(
  request: ReportQuery,
  columns: LineFileColumns,
  format: Exclude<WrittenFormat, 'xlsx'>,
  { provision, signal, onProgress }: RunOptions,
): Promise<DownloadedFile> {
  const { url } = await fetchFileAddress(provision, request, format, signal);
  url.searchParams.set('columns', columns);
  const countRows = async (until: AbortSignal) => (await fetchTotals(provision, request, until))?.lines;
  return download(url, { provision, format, signal, countRows, onProgress });
}

/** Tells what was saved, such as “555 rows in gifts-2026-10.csv, checked: digest 3f1c…”. A file without a digest was not checked. */
export function describeFile({ rows, name, digest }: Pick<DownloadedFile, 'rows' | 'name' | 'digest'>): string {
  return `${formatRows(rows, navigator.languages)} in ${name}${digest === null ? '' : `, checked: digest ${digest.slice(0, 12)}…`}`;
}

/** Tells how far a file is, such as “1,000 of 2,500 rows, 0.3 MB”. */
export function describeProgress(progress: FileProgress | undefined): string {
  if (!progress) return 'Preparing the file…';
  const { rows, allRows, bytes } = progress;
  const { languages } = navigator;
  const { format } = createCellFormat(languages);
  const part = allRows === undefined ? formatRows(rows, languages) : `${format(rows, 'count')} of ${formatRows(allRows, languages)}`;
  return bytes === undefined ? part : `${part}, ${(bytes / 1e6).toFixed(1)} MB`;
}
