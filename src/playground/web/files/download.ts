import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { createBlobCollector } from './blob-collector';
import { signalSession } from '../session/session-signal';
import type { FileFormat } from '../../../values/file-formats';

export interface DownloadProgress {
  readonly bytes: number;
  readonly rows: number;
  /** The number of rows in the whole file; undefined until it is known. */
  readonly allRows: number | undefined;
}

export interface DownloadedFile {
  readonly name: string;
  readonly content: Blob;
  readonly rows: number;
  /** The digest of the lines: SHA-256, the same as a summary's; null for a user who may not have it. */
  readonly digest: string | null;
}

interface DownloadOptions {
  readonly provision: string;
  readonly format: FileFormat;
  /** False for a CSV file that no spreadsheet reads; true when it is missing. */
  readonly hasBom?: boolean;
  readonly signal: AbortSignal;
  /** Asks for the number of rows, for files that do not begin with it. */
  readonly countRows: (signal: AbortSignal) => Promise<number | undefined>;
  readonly onProgress: (progress: DownloadProgress) => void;
}

interface Receipt {
  readonly outcome: 'whole' | 'broken' | null;
  readonly bytes: number | null;
  readonly fileSha256: string | null;
  readonly lines: number | null;
  readonly digest: string | null;
}

const NEW_LINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSING_BRACE = 0x7d;
const RECEIPT_TRIES = 20;
const RECEIPT_WAIT_MS = 250;

/**
 * Downloads a file and compares its bytes, SHA-256 and number of rows with the gateway's receipt. Throws an Error whose message the page
 * shows when they differ: a file that is not whole is never returned.
 */
export async function download(url: URL, options: DownloadOptions): Promise<DownloadedFile> {
  const address = new URL(url);
  // Excel reads a CSV file as UTF-8 only when it starts with a byte order mark.
  if (options.format === 'csv' && options.hasBom !== false) address.searchParams.set('bom', 'true');
  const content = createBlobCollector('');
  const hash = sha256.create();
  const { response, rows, digest, fileSha256 } = await fetchChecked(address, options, (piece) => {
    hash.update(piece);
    content.add(piece);
  });
  if (fileSha256 !== bytesToHex(hash.digest())) throw createDamaged();
  const name = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? `report.${options.format}`;
  return { name, content: new Blob([content.all()], { type: response.headers.get('Content-Type') ?? '' }), rows, digest };
}

interface CheckedFile {
  /** The answer whose body has been read. */
  readonly response: Response;
  readonly rows: number;
  readonly digest: string | null;
  /** The SHA-256 of all bytes that the gateway's receipt tells. A file that is kept must have it. */
  readonly fileSha256: string | null;
}

const createDamaged = (): Error =>
  new Error('The file arrived damaged: it is not the one that the gateway sent. Nothing was saved. Try again.');

/**
 * Fetches a file and hands its bytes on piece by piece, with the answer that they are of. Resolves only when there are as many bytes and
 * rows as the gateway's receipt tells of a whole file; until then nobody may rely on the pieces.
 */
export async function fetchChecked(
  address: URL,
  { provision, format, signal, countRows, onProgress }: DownloadOptions,
  take: (piece: Uint8Array<ArrayBuffer>, response: Response) => void,
): Promise<CheckedFile> {
  const headers = { Provision: provision };
  const response = await fetch(address, { headers, credentials: 'same-origin', signal });
  if (!response.ok || !response.body) throw new Error(await explain(response));
  signalSession('used');
  const statedRows = response.headers.get('X-Export-Rows');
  let allRows = statedRows === null ? undefined : Number(statedRows);
  const ended = new AbortController();
  if (allRows === undefined) {
    countRows(AbortSignal.any([signal, ended.signal])).then(
      (count) => (allRows = count),
      // Without the count, the page shows the progress without its end.
      () => undefined,
    );
  }
  const counter = createRowCounter(format);
  let bytes = 0;
  try {
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        if (signal.aborted) throw cause;
        throw new Error('The download was cut off. Nothing was saved. Try again.', { cause });
      });
      if (done) break;
      counter.add(value);
      take(value, response);
      bytes += value.length;
      onProgress({ bytes, rows: Math.min(counter.rows(), allRows ?? Infinity), allRows });
    }
  } finally {
    ended.abort();
  }
  const receipt = await fetchReceipt(response.headers.get('X-Export-Id') ?? '', headers, signal);
  const rows = counter.allRows();
  const isWhole =
    receipt.outcome === 'whole' &&
    receipt.bytes === bytes &&
    // A row of a file that does not begin with their number is a line, or one of a summary that was counted before.
    rows === (statedRows === null ? (receipt.lines ?? allRows) : Number(statedRows));
  if (!isWhole) throw createDamaged();
  return { response, rows, digest: receipt.digest, fileSha256: receipt.fileSha256 };
}

/** Lets the browser save a file under its name. */
export function saveFile({ name, content }: Pick<DownloadedFile, 'name' | 'content'>): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Lets the browser take a file from an address of the gateway. */
export function takeFile(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  link.click();
}

interface RowCounter {
  add(piece: Uint8Array): void;
  /** The rows counted so far. */
  rows(): number;
  /** The rows of the file once all of it has been added. */
  allRows(): number;
}

/**
 * Counts complete rows from the bytes. In CSV a row ends at a line break outside quotes, and the header is not counted. In NDJSON every
 * line is a row. In JSON a row ends at a closing brace outside text, because no row holds an object.
 */
function createRowCounter(format: FileFormat): RowCounter {
  if (format === 'ndjson') return createLineCounter();
  const end = format === 'json' ? CLOSING_BRACE : NEW_LINE;
  let count = format === 'csv' ? -1 : 0;
  let isQuoted = false;
  let isEscaped = false;
  return {
    add: (piece) => {
      for (const byte of piece) {
        if (isEscaped) isEscaped = false;
        else if (format === 'json' && byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === end && !isQuoted) count++;
      }
    },
    rows: () => Math.max(count, 0),
    // The last brace of a JSON file closes the file, not a row.
    allRows: () => (format === 'json' ? count - 1 : count),
  };
}

/** NDJSON escapes line breaks in text, so that its quotes need no care. The browser finds the line breaks much faster than a loop. */
function createLineCounter(): RowCounter {
  let count = 0;
  return {
    add: (piece) => {
      for (let at = piece.indexOf(NEW_LINE); at >= 0; at = piece.indexOf(NEW_LINE, at + 1)) count++;
    },
    rows: () => count,
    allRows: () => count,
  };
}

/** Fetches the receipt of a file. The gateway writes it a moment after the last byte, so this asks until it has an outcome. */
async function fetchReceipt(id: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Receipt> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`/export/receipts/${id}`, { headers, credentials: 'same-origin', signal });
    if (!response.ok) throw new Error(await explain(response));
    signalSession('used');
    const receipt = (await response.json()) as Receipt;
    if (receipt.outcome !== null || attempt === RECEIPT_TRIES) return receipt;
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_WAIT_MS));
  }
}

async function explain(response: Response): Promise<string> {
  const body = (await response.json().catch(() => undefined)) as { readonly errors?: readonly { readonly error: string }[] } | undefined;
  return body?.errors?.[0]?.error ?? `The gateway gave no file (HTTP status ${String(response.status)}).`;
}
