import type { Connection } from 'pg';
import { READ_LENGTH, ReadingSocket, type TakePiece } from '../postgres/reading-socket';

/** The socket of a pg connection whose data goes to a borrower and past pg. After `giveBack`, no method changes anything. */
export interface BorrowedSocket {
  /** Leaves further data in the socket until `resume`. */
  pause(): void;
  resume(): void;
  /** True when the socket has nothing more after a piece of a length. TLS, which hands over short pieces, does not tell. */
  isEmptyAfter(length: number): boolean;
  /** Gives the socket back to pg, which reads `unread` before everything that comes later. */
  giveBack(unread?: Buffer): void;
}

/**
 * Takes a socket's data over from pg, for which pg has no interface of its own. Throws an Error, and leaves the socket as it is, unless
 * pg reads it with exactly one 'data' listener, as pg 8 does: without that one, or beside another, answers would be lost or read twice.
 */
export function borrowSocket({ stream }: Connection, takePiece: TakePiece): BorrowedSocket {
  const listeners = stream.listeners('data') as ((piece: Buffer) => void)[];
  const [pgListener] = listeners;
  if (!pgListener || listeners.length > 1) {
    throw new Error(
      `The socket of a pg connection has ${listeners.length} 'data' listeners, but only the data of exactly one can be taken over`,
    );
  }
  let borrowed = true;
  const reading = stream instanceof ReadingSocket ? stream : undefined;
  const listener = (piece: Buffer): void => takePiece(piece, () => undefined);
  if (reading) reading.borrower = takePiece;
  else stream.off('data', pgListener).on('data', listener);
  return {
    // pg reads nothing from a socket that stays paused.
    pause: () => {
      if (borrowed) stream.pause();
    },
    resume: () => {
      if (borrowed) stream.resume();
    },
    isEmptyAfter: (length) => reading !== undefined && length < READ_LENGTH,
    giveBack: (unread) => {
      if (!borrowed) return;
      borrowed = false;
      if (reading) reading.borrower = undefined;
      else stream.off('data', listener).on('data', pgListener);
      if (unread) pgListener(unread);
      stream.resume();
    },
  };
}
