import type { ServerResponse } from 'node:http';

/** What an answer is made of, in order: text as it stands, and rows still to come. */
export type AnswerPiece = string | AsyncGenerator<Buffer>;

interface RowAnswerOptions {
  /** Sets status and headers; called once the first batch of rows is there, so that a failure before it can still be a proper error. */
  readonly begin: () => void;
  /** Aborted when the rows are given up; what is left of the answer then is cut off. */
  readonly signal: AbortSignal;
  /** Milliseconds that the reader may leave its socket full before it is let go. */
  readonly readerStallMs: number;
}

/**
 * Writes an answer whose rows come while it is written: at the reader's pace, in constant memory.
 * Throws what the rows throw. Before the first batch nothing was sent; after it the connection is destroyed first, so that a part can
 * never be taken for the whole.
 */
export async function sendRows(response: ServerResponse, pieces: readonly AnswerPiece[], options: RowAnswerOptions): Promise<void> {
  const firstRows = pieces.find((piece) => typeof piece !== 'string');
  if (!firstRows) {
    options.begin();
    response.end(pieces.map(String).join(''));
    return;
  }
  const firstBatch = await firstRows.next();
  options.begin();
  if (response.req.method === 'HEAD') {
    await firstRows.return(undefined);
    response.end();
    return;
  }

  const writer = new Writer(response, options.signal);
  response.setTimeout(options.readerStallMs, () => {
    if (writer.waits) response.destroy();
  });
  try {
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        await writer.write(piece);
        continue;
      }
      if (piece === firstRows && !firstBatch.done) await writer.write(firstBatch.value);
      for await (const rows of piece) await writer.write(rows);
    }
    await writer.end();
  } catch (error) {
    response.destroy();
    options.signal.throwIfAborted();
    throw error;
  } finally {
    writer.close();
  }
}

/** Writes at the reader's pace: what was written may be overwritten once `write` has resolved. Fails when the reader leaves or the signal aborts. */
class Writer {
  private fail: (() => void) | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly signal: AbortSignal,
  ) {
    response.on('close', this.onGone);
    signal.addEventListener('abort', this.onGone);
  }

  write(piece: Buffer | string): Promise<void> {
    return this.settle((done) => this.response.write(piece, done));
  }

  end(): Promise<void> {
    return this.settle((done) => this.response.end(done));
  }

  close(): void {
    this.response.off('close', this.onGone);
    this.signal.removeEventListener('abort', this.onGone);
  }

  /** Whether it is the reader's turn. */
  get waits(): boolean {
    return this.fail !== undefined;
  }

  private async settle(start: (done: (error?: Error | null) => void) => void): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.fail = () => reject(new Error('The connection was closed before the answer was whole'));
      if (this.signal.aborted || this.response.destroyed) this.fail();
      else start((error) => (error ? reject(error) : resolve()));
    }).finally(() => {
      this.fail = undefined;
    });
  }

  private readonly onGone = (): void => this.fail?.();
}
