import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net';

/** The size of a buffer that a socket reads into. A shorter piece has left the socket empty. */
export const READ_LENGTH = 64 * 1024;
/** The most buffers that wait for their next use. */
const MAX_IDLE = 32;

const idle: Buffer[] = [];
const takeBuffer = (): Buffer => idle.pop() ?? Buffer.allocUnsafeSlow(READ_LENGTH);
const giveBack = (buffer: Buffer): void => {
  if (idle.length < MAX_IDLE) idle.push(buffer);
};

/** Gets a piece of a socket's data. Its memory is used again once `release` is called, and freed when that never happens. */
export type TakePiece = (piece: Buffer, release: () => void) => void;

/**
 * A socket that reads into buffers which are used again and again. Node would make a buffer of 64 kB for each piece, however small, and
 * free it later. Listeners of 'data' get copies, and a borrower gets the buffers themselves.
 */
export class ReadingSocket extends Socket {
  /** Gets all data, past the listeners of 'data'. */
  borrower: TakePiece | undefined;

  constructor() {
    let buffer = takeBuffer();
    const take = (length: number): boolean => {
      const full = buffer;
      if (!this.borrower) {
        this.emit('data', Buffer.from(full.subarray(0, length)));
        return true;
      }
      buffer = takeBuffer();
      this.borrower(full.subarray(0, length), () => giveBack(full));
      return true;
    };
    const options: SocketConstructorOpts & ConnectOpts = { onread: { buffer: () => buffer, callback: take } };
    super(options);
    this.once('close', () => giveBack(buffer));
  }
}
