import type { Socket } from 'node:net';
import { platform } from 'node:os';
import type { Connection, Submittable } from 'pg';
import { limitAnswer } from '../postgres/answer-timeout';
import { borrowSocket, type BorrowedSocket } from './borrowed-socket';
import { sendStatement, type Statement } from '../postgres/statement-messages';

/** Frames of PostgreSQL's protocol: a type, a length that counts itself, the content (manual, Message Formats). */
const HEADER_LENGTH = 5;
const LENGTH_LENGTH = 4;
const DATA_ROW = 0x44;
const COPY_DATA = 0x64;
const COPY_OUT = 0x48;
const COPY_DONE = 0x63;
const ERROR_RESPONSE = 0x45;
/** The most bytes of output that wait for their reader in memory. Further output stays in the socket. */
const MAX_WAITING_BYTES = 128 * 1024;
/**
 * PostgreSQL sends 8 kB at a time. When this much has come, the socket is left alone for a moment after each piece that has emptied it.
 * The pieces that gather meanwhile take one turn of the event loop instead of many, and PostgreSQL has nobody to wake. A local socket of
 * macOS holds no more than 8 kB.
 */
const GATHERED_FROM_BYTES = platform() === 'linux' ? 256 * 1024 : Infinity;
/** Node has no shorter timer. A local socket of Linux has room for what PostgreSQL sends in this time, or for a little less. */
const GATHERING_MS = 1;
/** A pause that has gathered so much has filled a local socket, and PostgreSQL has waited for its end. */
const FULL_SOCKET_BYTES = 192 * 1024;
/** After such a pause, so much is read as it comes. */
const UNGATHERED_BYTES = 256 * 1024;

export interface CopyOptions {
  readonly before: readonly Statement[];
  readonly text: string;
  readonly after: readonly Statement[];
  /** Milliseconds within which the statements before the COPY must be answered. */
  readonly answerTimeoutMs: number;
  /** Waits while no output is there, and may give up by an error. */
  readonly waiting: { during(output: Promise<void>): Promise<void> };
  /** Gets the first value of the last statement before the COPY. */
  readonly onAnswer: (value: string) => void;
  /** Gets the first value of each row of the statements after the COPY. */
  readonly onAnswerAfter?: (value: string) => void;
}

/** A piece of the output, and the function that gives its memory back. */
interface Piece {
  readonly content: Buffer;
  readonly release: () => void;
}

/**
 * A COPY … TO STDOUT for pg's `client.query`, sent together with the statements around it: one round trip for all. Its output is read
 * straight from the socket, without a message object for every row, at the reader's pace.
 */
export class CopyQuery implements Submittable {
  private socket: BorrowedSocket | undefined;
  private readonly waiting: Piece[] = [];
  private waitingBytes = 0;
  private readBytes = 0;
  private gatheredFromBytes = GATHERED_FROM_BYTES;
  /** The bytes that had been read when the last pause ended, until what it has gathered is known. */
  private resumedAtBytes = Infinity;
  private gathering: NodeJS.Timeout | undefined;
  private wake: (() => void) | undefined;
  private finished = false;
  private failure: unknown;
  private answered: (() => void) | undefined;

  private readonly header = Buffer.alloc(HEADER_LENGTH);
  private headerLength = 0;
  private contentLeft = 0;
  /** The content of the last row before the output. */
  private row: Buffer[] = [];

  constructor(private readonly options: CopyOptions) {}

  /** Reads the output in COPY's text format, cut anywhere. A piece is valid until the next is asked for. Throws the database's error. */
  async *read(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = this.waiting.shift();
      if (piece) {
        this.waitingBytes -= piece.content.length;
        yield piece.content;
        piece.release();
        continue;
      }
      if (this.failure !== undefined) throw this.failure as Error;
      if (this.finished) return;
      if (!this.gathering) this.socket?.resume();
      await this.options.waiting.during(
        new Promise<void>((resolve) => {
          this.wake = resolve;
        }),
      );
    }
  }

  /** Returns the Error for which nothing was sent: pg passes it to `handleError` and goes on with its next query. */
  submit(connection: Connection): Error | undefined {
    try {
      this.socket = borrowSocket(connection, this.takePiece);
    } catch (error) {
      return error as Error;
    }
    const { before, text, after, answerTimeoutMs } = this.options;
    this.answered = limitAnswer(connection, answerTimeoutMs);
    const stream = connection.stream as Socket;
    stream.cork();
    for (const statement of before) sendStatement(connection, statement);
    connection.flush();
    for (const statement of [{ text }, ...after]) sendStatement(connection, statement);
    connection.sync();
    stream.uncork();
    return undefined;
  }

  handleError(error: unknown): void {
    this.returnSocket();
    this.failure = error;
    this.wake?.();
  }

  /** pg calls this with the rows of the statements after the COPY. */
  handleDataRow({ fields }: { readonly fields: readonly [string, ...unknown[]] }): void {
    this.options.onAnswerAfter?.(fields[0]);
  }

  handleCommandComplete(): void {
    // pg's client calls this on every query. The end comes with handleReadyForQuery.
  }

  handleReadyForQuery(): void {
    this.finished = true;
    this.wake?.();
  }

  private readonly takePiece = (piece: Buffer, release: () => void): void => {
    this.answered?.();
    let read = 0;
    let kept = 0;
    while (read < piece.length) {
      if (this.contentLeft > 0) {
        const size = Math.min(this.contentLeft, piece.length - read);
        if (this.header[0] === COPY_DATA) {
          // The content overwrites the frame headers before it, so that all contents of a piece are contiguous.
          piece.copyWithin(kept, read, read + size);
          kept += size;
        } else if (this.header[0] === DATA_ROW) this.row.push(Buffer.from(piece.subarray(read, read + size)));
        read += size;
        this.contentLeft -= size;
        continue;
      }
      this.header[this.headerLength++] = piece[read++]!;
      if (this.headerLength < HEADER_LENGTH) continue;
      if (this.header[0] === ERROR_RESPONSE || this.header[0] === COPY_DONE) {
        // pg reads the rest itself: the end of the COPY, or the error in its place. Its parser keeps the buffer that it is given.
        this.returnSocket(Buffer.concat([this.header, piece.subarray(read)]));
        break;
      }
      this.headerLength = 0;
      this.contentLeft = this.header.readUInt32BE(1) - LENGTH_LENGTH;
      if (this.header[0] === DATA_ROW) this.row = [];
      else if (this.header[0] === COPY_OUT) this.options.onAnswer(firstValue(Buffer.concat(this.row)));
    }
    this.readBytes += piece.length;
    if (this.socket?.isEmptyAfter(piece.length)) this.leaveEmptied();
    if (kept > 0) this.keep({ content: piece.subarray(0, kept), release });
    else release();
  };

  /** Lets output gather in a socket that was emptied, unless PostgreSQL is too quick for that. */
  private leaveEmptied(): void {
    if (this.readBytes - this.resumedAtBytes >= FULL_SOCKET_BYTES) this.gatheredFromBytes = this.readBytes + UNGATHERED_BYTES;
    this.resumedAtBytes = Infinity;
    if (this.readBytes > this.gatheredFromBytes) this.gather();
  }

  private gather(): void {
    this.socket?.pause();
    this.gathering = setTimeout(() => {
      this.gathering = undefined;
      this.resumedAtBytes = this.readBytes;
      if (this.waitingBytes <= MAX_WAITING_BYTES) this.socket?.resume();
    }, GATHERING_MS);
  }

  private keep(piece: Piece): void {
    this.waiting.push(piece);
    this.waitingBytes += piece.content.length;
    if (this.waitingBytes > MAX_WAITING_BYTES) this.socket?.pause();
    this.wake?.();
  }

  private returnSocket(unread?: Buffer): void {
    this.answered?.();
    clearTimeout(this.gathering);
    this.socket?.giveBack(unread);
    this.socket = undefined;
  }
}

/** The first value of a DataRow: the number of values, then the length and the bytes of each. */
function firstValue(row: Buffer): string {
  const start = 2 + LENGTH_LENGTH;
  return row.toString('utf8', start, start + row.readUInt32BE(2));
}
