import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip, type BrotliCompress, type Gzip } from 'node:zlib';
import { breakOff } from './http-server';

/** A piece of an answer: finished text, or rows that are still to be read. A block of rows is valid until the next block is asked for. */
export type AnswerPiece = string | AsyncGenerator<Buffer>;

/** The content codings of an answer's body (RFC 9110 section 8.4.1). */
const contentCodings = ['br', 'gzip', 'identity'] as const;
export type ContentCoding = (typeof contentCodings)[number];

/** The coding that the reader prefers; `identity` when the reader asks for none. */
export function toContentCoding(request: { acceptsEncodings(codings: string[]): string | false }): ContentCoding {
  const accepted = request.acceptsEncodings([...contentCodings]);
  return contentCodings.find((coding) => coding === accepted) ?? 'identity';
}

/** The least pace of a reader. Time in which the gateway has nothing to send does not count. */
export interface ReaderPace {
  /** Milliseconds of waiting for the reader over which the pace is measured. */
  readonly windowMs: number;
  /** Bytes of the answer before compression. A reader that takes no bytes at all is too slow for any pace. */
  readonly bytesPerSecond: number;
}

interface RowSenderOptions {
  /** Sets status and headers. It is called when the first block of rows is there, so that an earlier failure still gets an error answer. */
  readonly setHeaders: () => void;
  /** No byte is sent before this resolves. The rows are read meanwhile. */
  readonly ready?: Promise<void> | undefined;
  /** Aborts when the rows are given up. The answer is then cut off. */
  readonly signal: AbortSignal;
  /** The connection of a reader that is slower is reset. */
  readonly readerPace: ReaderPace;
  /** The coding that the reader asked for. Short answers are not compressed. */
  readonly coding: ContentCoding;
  /** The trailers to send after all rows (RFC 9110 section 6.5). `setHeaders` must announce them in the header Trailer. */
  readonly trailers?: () => Readonly<Record<string, string>>;
}

/** A shorter text or first block is not worth compressing. */
const MIN_COMPRESSED_BYTES = 4096;
const CHUNK_LENGTH = 64 * 1024;
/** The number of times that the reader's pace is checked in each window. */
const PACE_CHECKS = 10;
const MS_PER_SECOND = 1000;

/** The levels that cost a reader on a fast network the least time. Each needs the memory of one small window. */
const BROTLI = { chunkSize: CHUNK_LENGTH, params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 } };
const GZIP = { level: 1, chunkSize: CHUNK_LENGTH };

interface Compression {
  readonly open: () => BrotliCompress | Gzip;
  readonly whole: (text: string) => Promise<Buffer>;
}

const compressions: Readonly<Record<Exclude<ContentCoding, 'identity'>, Compression>> = {
  br: { open: () => createBrotliCompress(BROTLI), whole: (text) => promisify(brotliCompress)(text, BROTLI) },
  gzip: { open: () => createGzip(GZIP), whole: (text) => promisify(gzip)(text, GZIP) },
};

/**
 * Writes an answer whose rows arrive while it is written, at the reader's pace and in constant memory.
 * Throws the error that the rows throw. Nothing has been sent when they throw before their first block. When they throw later, the
 * connection is reset first, so that a part of an answer is never taken for the whole.
 */
export async function sendRows(response: ServerResponse, pieces: readonly AnswerPiece[], options: RowSenderOptions): Promise<void> {
  const firstRows = pieces.find((piece) => typeof piece !== 'string');
  if (!firstRows) {
    const text = pieces.map(String).join('');
    const coding = text.length >= MIN_COMPRESSED_BYTES ? options.coding : 'identity';
    const body = coding === 'identity' ? text : await compressions[coding].whole(text);
    await options.ready;
    options.setHeaders();
    setCoding(response, coding);
    response.end(body);
    // A short answer is in the operating system's hands by now.
    if (response.socket?.writableLength !== 0) await withWriter(response, 'identity', options, (writer) => writer.finish());
    return;
  }
  const firstBlock = await firstRows.next();
  await options.ready;
  options.setHeaders();
  const isLong = !firstBlock.done && firstBlock.value.length >= MIN_COMPRESSED_BYTES;
  const hasMoreLists = pieces.some((piece) => typeof piece !== 'string' && piece !== firstRows);
  const coding = isLong || hasMoreLists ? options.coding : 'identity';
  setCoding(response, coding);
  if (response.req.method === 'HEAD') {
    await firstRows.return(undefined);
    response.end();
    return;
  }

  await withWriter(response, coding, options, async (writer) => {
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        writer.addText(piece);
        continue;
      }
      if (piece === firstRows && !firstBlock.done) await writer.write(firstBlock.value);
      for await (const rows of piece) await writer.write(rows);
    }
    if (options.trailers) response.addTrailers(options.trailers());
    await writer.end();
  });
}

/** Watches the reader while an answer is written. Resets the connection of one that fails, and throws its error. */
async function withWriter(
  response: ServerResponse,
  coding: ContentCoding,
  options: RowSenderOptions,
  write: (writer: AnswerWriter) => Promise<void>,
): Promise<void> {
  const writer = new AnswerWriter(response, coding, options);
  try {
    await write(writer);
  } catch (error) {
    breakOff(response);
    options.signal.throwIfAborted();
    throw error;
  } finally {
    writer.close();
  }
}

function setCoding(response: ServerResponse, coding: ContentCoding): void {
  response.appendHeader('Vary', 'Accept-Encoding');
  if (coding === 'identity') return;
  response.setHeader('Content-Encoding', coding);
  // Compressed bytes are other bytes, and have a tag of their own (RFC 9110 section 8.8.3.3).
  const tag = response.getHeader('ETag');
  if (typeof tag === 'string') response.setHeader('ETag', tag.replace(/"$/, `-${coding}"`));
}

/**
 * Writes at the reader's pace. Each call resolves when the caller may overwrite the bytes that it passed, and rejects when the reader
 * leaves or the signal aborts.
 */
class AnswerWriter {
  private readonly target: Writable;
  private readonly compressor: BrotliCompress | Gzip | undefined;
  private readonly signal: AbortSignal;
  private readonly pace: PaceMeter;
  private readonly paceTimer: NodeJS.Timeout;
  private text = '';
  private fail: (() => void) | undefined;

  constructor(
    private readonly response: ServerResponse,
    coding: ContentCoding,
    { signal, readerPace }: RowSenderOptions,
  ) {
    this.compressor = coding === 'identity' ? undefined : compressions[coding].open();
    this.compressor?.on('error', () => breakOff(response)).pipe(response);
    this.target = this.compressor ?? response;
    this.signal = signal;
    this.pace = new PaceMeter(readerPace);
    this.paceTimer = setInterval(() => {
      // The answer to a pipelined request has no connection before the answers ahead of it are sent.
      if (!response.socket) this.pace.skipWaiting();
      else if (this.pace.isTooSlow(sentOf(response))) breakOff(response);
    }, readerPace.windowMs / PACE_CHECKS);
    response.on('close', this.onGone);
    signal.addEventListener('abort', this.onGone);
  }

  /** Keeps text until the next block of rows or the end, and sends it together with that. */
  addText(text: string): void {
    this.text += text;
  }

  write(rows: Buffer): Promise<void> {
    return this.settle(rows.length, (done) => {
      this.target.cork();
      if (this.text !== '') this.target.write(this.text);
      this.text = '';
      this.target.write(rows, done);
      this.target.uncork();
    });
  }

  /** Ends the answer, and resolves as `finish`. */
  end(): Promise<void> {
    return this.finish(() => this.target.end(this.text));
  }

  /** Resolves when the whole answer, to which nothing more is added, has left the process. */
  finish(end: () => void = () => undefined): Promise<void> {
    this.pace.acceptAnyPace();
    return this.settle(0, (done) => {
      // Node also emits `finish` when the connection is reset while bytes wait.
      this.response.once('finish', () => {
        if (!this.response.destroyed) done();
      });
      end();
    });
  }

  close(): void {
    clearInterval(this.paceTimer);
    this.response.off('close', this.onGone);
    this.signal.removeEventListener('abort', this.onGone);
    this.compressor?.destroy();
  }

  private async settle(bytes: number, start: (done: (error?: Error | null) => void) => void): Promise<void> {
    this.pace.startWaiting();
    await new Promise<void>((resolve, reject) => {
      this.fail = () => reject(new Error('The connection was closed before the answer was whole'));
      if (this.signal.aborted || this.response.closed) this.fail();
      // A destroyed response emits `close`, which calls `fail`; by then `signal` says whether the reader has left.
      else if (!this.response.destroyed) start((error) => (error ? breakOff(this.response) : resolve()));
    }).finally(() => {
      this.fail = undefined;
      this.pace.stopWaiting(bytes);
    });
  }

  private readonly onGone = (): void => this.fail?.();
}

/** The bytes of a connection that have left the gateway's memory. */
const sentOf = ({ socket }: ServerResponse): number => (socket ? socket.bytesWritten - socket.writableLength : 0);

/** Measures the bytes that a reader takes, and the time that the gateway waits for it. */
class PaceMeter {
  private bytes = 0;
  private waitedMs = 0;
  private waitingSince: number | undefined;
  private sent = 0;
  private isAnyPaceEnough = false;

  constructor(private readonly pace: ReaderPace) {}

  /** From now on accepts any reader that takes bytes at all: the rest of the answer is in memory and occupies no lane of the queue. */
  acceptAnyPace(): void {
    this.isAnyPaceEnough = true;
  }

  startWaiting(): void {
    this.waitingSince = performance.now();
  }

  stopWaiting(bytes: number): void {
    this.waitedMs = this.waited();
    this.waitingSince = undefined;
    this.bytes += bytes;
  }

  /** Leaves out the time that the gateway has waited by now, which was not the reader's. */
  skipWaiting(): void {
    if (this.waitingSince !== undefined) this.startWaiting();
  }

  /** True when the reader was too slow in a window that has ended. Otherwise the next window begins. `sent` is the number of bytes sent. */
  isTooSlow(sent: number): boolean {
    const { windowMs, bytesPerSecond } = this.pace;
    const waitedMs = this.waited();
    if (waitedMs < windowMs) return false;
    if (this.bytes === 0 && sent === this.sent) return true;
    if (!this.isAnyPaceEnough && this.bytes < (waitedMs / MS_PER_SECOND) * bytesPerSecond) return true;
    this.sent = sent;
    if (this.waitingSince !== undefined) this.startWaiting();
    this.waitedMs = 0;
    this.bytes = 0;
    return false;
  }

  private waited(): number {
    return this.waitedMs + (this.waitingSince === undefined ? 0 : performance.now() - this.waitingSince);
  }
}
