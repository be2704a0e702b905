import type { Connection } from 'pg';

/** A shorter piece is most likely a whole answer. */
const LONG_PIECE = 16 * 1024;

/**
 * Lets pg read a long answer piece by piece, each in another turn of the event loop. libuv would otherwise hand over up to 2 MB of a local
 * answer in one turn, and making a thousand rows of it would keep every other request waiting.
 */
export function paceReading({ stream }: Connection): void {
  const [pgListener] = stream.listeners('data') as ((piece: Buffer) => void)[];
  if (!pgListener) throw new Error("The socket of a pg connection has no 'data' listener");
  stream.off('data', pgListener);
  stream.on('data', (piece: Buffer) => {
    pgListener(piece);
    if (piece.length < LONG_PIECE) return;
    stream.pause();
    setImmediate(() => stream.resume());
  });
}
