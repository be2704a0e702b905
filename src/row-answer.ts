import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

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

  async function* body(): AsyncGenerator<Buffer | string> {
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        yield piece;
        continue;
      }
      if (piece === firstRows && !firstBatch.done) yield firstBatch.value;
      yield* piece;
    }
  }
  response.setTimeout(options.readerStallMs, () => {
    if (response.writableNeedDrain) response.destroy();
  });
  try {
    await pipeline(body(), response, { signal: options.signal });
  } catch (error) {
    options.signal.throwIfAborted();
    throw error;
  }
}
