import type { Connection } from 'pg';

/** The most bytes that are read in one turn, but for the last piece. TLS hands over pieces of a few kB. */
const BYTES_PER_TURN = 16 * 1024;

/**
 * Lets pg read a long answer piece by piece, each in another turn of the event loop. libuv would otherwise hand over up to 2 MB of a local
 * answer in one turn, and making a thousand rows of it would keep every other request waiting.
 */
export function paceReading({ stream }: Connection): void {
  const [pgListener] = stream.listeners('data') as ((piece: Buffer) => void)[];
  if (!pgListener) throw new Error("The socket of a pg connection has no 'data' listener");
  let bytes = 0;
  stream.off('data', pgListener);
  stream.on('data', (piece: Buffer) => {
    pgListener(piece);
    bytes += piece.length;
    if (bytes < BYTES_PER_TURN) return;
    bytes = 0;
    stream.pause();
    setImmediate(() => stream.resume());
  });
}
