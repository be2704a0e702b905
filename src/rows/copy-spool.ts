import { setImmediate } from 'node:timers/promises';

/** The most bytes that all spools keep together. A year of 100,000 lines takes 22 MB. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Keeps COPY's output in memory, so that it can be read again without the database. All spools share one bound: a spool that finds no room
 * keeps nothing.
 */
export class CopySpool {
  private static keptBytes = 0;

  private pieces: Buffer[] | undefined = [];
  private bytes = 0;
  private isWhole = false;

  /** The signal aborts when the answer is over, whether its rows were read or not. The memory is free then. */
  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.clear(), { once: true });
  }

  /** Reads output to its end, and keeps it if there is room. */
  async keep(copy: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of copy) this.add(piece);
    this.isWhole = true;
  }

  /** Returns the output, which can be read once, or undefined when it was not kept. */
  read(): AsyncGenerator<Buffer> | undefined {
    return this.isWhole && this.pieces ? readInTurns(this.pieces) : undefined;
  }

  private add(piece: Buffer): void {
    if (!this.pieces) return;
    const { byteLength } = piece;
    if (CopySpool.keptBytes + byteLength > MAX_BYTES) {
      this.clear();
      return;
    }
    // The memory of a piece is used again.
    this.pieces.push(Buffer.from(piece));
    this.bytes += byteLength;
    CopySpool.keptBytes += byteLength;
  }

  private clear(): void {
    CopySpool.keptBytes -= this.bytes;
    this.bytes = 0;
    this.pieces = undefined;
  }
}

/** Reads a piece in each turn of the event loop. A fast reader of rows in memory would otherwise keep all other requests waiting. */
async function* readInTurns(pieces: Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    yield piece;
    await setImmediate();
  }
}
