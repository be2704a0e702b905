import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip, type BrotliCompress, type Gzip } from 'node:zlib';
import { breakOff } from './http-server';

/** What an answer is made of, in order: text as it stands, and rows still to come. A block of rows holds good until the next is asked for. */
export type AnswerPiece = string | AsyncGenerator<Buffer>;

/** How the body of an answer may be coded (RFC 9110 section 8.4.1). */
const contentCodings = ['br', 'gzip', 'identity'] as const;
export type ContentCoding = (typeof contentCodings)[number];

/** What the reader likes best; who does not ask, gets the answer as it is. */
export function toContentCoding(request: { acceptsEncodings(codings: string[]): string | false }): ContentCoding {
  const accepted = request.acceptsEncodings([...contentCodings]);
  return contentCodings.find((coding) => coding === accepted) ?? 'identity';
}

/** How fast a reader must be. Time in which the gateway has nothing to send does not count. */
export interface ReaderPace {
  /** Milliseconds of waiting for the reader over which the pace is measured. */
  readonly windowMs: number;
  /** Bytes of the uncoded answer; a reader that takes none at all is too slow for any pace. */
  readonly bytesPerSecond: number;
}

interface RowSenderOptions {
  /** Sets status and headers; called once the first block of rows is there, so that a failure before it can still be a proper error. */
  readonly sendHead: () => void;
  /** Aborted when the rows are given up; what is left of the answer then is cut off. */
  readonly signal: AbortSignal;
  /** A reader that is slower is let go. */
  readonly readerPace: ReaderPace;
  /** What the reader asked for. Short answers go out as they are. */
  readonly coding: ContentCoding;
  /** What to tell when all rows have been written (RFC 9110 section 6.5); `begin` announces it. */
  readonly trailers?: () => Readonly<Record<string, string>>;
}

/** Below this, an answer is not worth compressing. */
const MIN_COMPRESSED_BYTES = 4096;
const CHUNK_LENGTH = 64 * 1024;
/** The reader's pace is looked at so often in its window. */
const PACE_CHECKS = 10;
const MS_PER_SECOND = 1000;

/** At the levels that cost a local reader the least time; memory is that of one small window. */
const compressors: Readonly<Record<Exclude<ContentCoding, 'identity'>, () => BrotliCompress | Gzip>> = {
  br: () =>
    createBrotliCompress({
      chunkSize: CHUNK_LENGTH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 },
    }),
  gzip: () => createGzip({ level: 1, chunkSize: CHUNK_LENGTH }),
};

/**
 * Writes an answer whose rows come while it is written: at the reader's pace, in constant memory.
 * Throws what the rows throw. Before the first block nothing was sent; after it the connection is reset first, so that a part can never be
 * taken for the whole.
 */
export async function sendRows(response: ServerResponse, pieces: readonly AnswerPiece[], options: RowSenderOptions): Promise<void> {
  const firstRows = pieces.find((piece) => typeof piece !== 'string');
  if (!firstRows) {
    options.sendHead();
    response.end(pieces.map(String).join(''));
    return;
  }
  const firstBlock = await firstRows.next();
  options.sendHead();
  const isLong = !firstBlock.done && firstBlock.value.length >= MIN_COMPRESSED_BYTES;
  const hasMoreLists = pieces.some((piece) => typeof piece !== 'string' && piece !== firstRows);
  const coding = isLong || hasMoreLists ? options.coding : 'identity';
  response.appendHeader('Vary', 'Accept-Encoding');
  if (coding !== 'identity') response.setHeader('Content-Encoding', coding);
  if (response.req.method === 'HEAD') {
    await firstRows.return(undefined);
    response.end();
    return;
  }

  const writer = new AnswerWriter(response, coding, options);
  try {
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
  } catch (error) {
    breakOff(response);
    options.signal.throwIfAborted();
    throw error;
  } finally {
    writer.close();
  }
}

/** Writes at the reader's pace: each call resolves when what was written may be overwritten. Fails when the reader leaves or the signal aborts. */
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
    this.compressor = coding === 'identity' ? undefined : compressors[coding]();
    this.compressor?.on('error', () => breakOff(response)).pipe(response);
    this.target = this.compressor ?? response;
    this.signal = signal;
    this.pace = new PaceMeter(readerPace);
    this.paceTimer = setInterval(() => {
      if (this.pace.isTooSlow(sentOf(response))) breakOff(response);
    }, readerPace.windowMs / PACE_CHECKS);
    response.on('close', this.onGone);
    signal.addEventListener('abort', this.onGone);
  }

  /** Text leaves together with what comes after it. */
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

  /** Resolves when the whole answer has left. */
  end(): Promise<void> {
    this.pace.acceptAnyPace();
    return this.settle(0, (done) => {
      this.response.once('finish', done);
      this.target.end(this.text);
    });
  }

  close(): void {
    clearInterval(this.paceTimer);
    this.response.off('close', this.onGone);
    this.signal.removeEventListener('abort', this.onGone);
    this.compressor?.destroy();
  }

  private async settle(bytes: number, start: (done: (error?: Error | null) => void) => void): Promise<void> {
    this.pace.begin();
    await new Promise<void>((resolve, reject) => {
      this.fail = () => reject(new Error('The connection was closed before the answer was whole'));
      if (this.signal.aborted || this.response.closed) this.fail();
      // What is destroyed tells so by its close, and who has left is known by then.
      else if (!this.response.destroyed) start((error) => (error ? breakOff(this.response) : resolve()));
    }).finally(() => {
      this.fail = undefined;
      this.pace.end(bytes);
    });
  }

  private readonly onGone = (): void => this.fail?.();
}

/** The bytes of a connection that are not in the gateway's memory any more. */
const sentOf = ({ socket }: ServerResponse): number => (socket ? socket.bytesWritten - socket.writableLength : 0);

/** Measures what a reader takes in the time that is waited for it. */
class PaceMeter {
  private bytes = 0;
  private waitedMs = 0;
  private waitingSince: number | undefined;
  private sent = 0;
  private isAnyPaceEnough = false;

  constructor(private readonly pace: ReaderPace) {}

  /** From now on only a reader that takes nothing is too slow: what is left is in memory, and holds no lane. */
  acceptAnyPace(): void {
    this.isAnyPaceEnough = true;
  }

  begin(): void {
    this.waitingSince = performance.now();
  }

  end(bytes: number): void {
    this.waitedMs = this.waited();
    this.waitingSince = undefined;
    this.bytes += bytes;
  }

  /** Begins a new window at the end of one that was fast enough. `sent` are the bytes that have left so far. */
  isTooSlow(sent: number): boolean {
    const { windowMs, bytesPerSecond } = this.pace;
    const waitedMs = this.waited();
    if (waitedMs < windowMs) return false;
    if (this.bytes === 0 && sent === this.sent) return true;
    if (!this.isAnyPaceEnough && this.bytes < (waitedMs / MS_PER_SECOND) * bytesPerSecond) return true;
    this.sent = sent;
    if (this.waitingSince !== undefined) this.begin();
    this.waitedMs = 0;
    this.bytes = 0;
    return false;
  }

  private waited(): number {
    return this.waitedMs + (this.waitingSince === undefined ? 0 : performance.now() - this.waitingSince);
  }
}
