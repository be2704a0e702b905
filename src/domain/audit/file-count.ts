import { createHash } from 'node:crypto';

/** A file as it is sent: texts and rows, in order. */
export type FilePieces = readonly (string | AsyncGenerator<Buffer>)[];

/** Counts the bytes of a file that leave, before any content coding. */
export class FileCount {
  private readonly hash = createHash('sha256');
  private bytes = 0;

  /** The pieces to send. A block has left when the next one is asked for; the text before the rows goes with their first block. */
  toPieces(head: string, rows: AsyncIterable<Buffer>, tail: string): FilePieces {
    return [head, this.count(head, rows, tail), tail];
  }

  /** The bytes so far, and their SHA-256 in hex. */
  get facts(): { readonly bytes: number; readonly fileSha256: string } {
    return { bytes: this.bytes, fileSha256: this.hash.copy().digest('hex') };
  }

  private async *count(head: string, rows: AsyncIterable<Buffer>, tail: string): AsyncGenerator<Buffer> {
    let before = head;
    for await (const block of rows) {
      yield block;
      this.add(before);
      this.add(block);
      before = '';
    }
    // A file without rows has its block too, so that its text counts when that has left.
    if (before !== '') yield Buffer.alloc(0);
    this.add(before + tail);
  }

  private add(part: string | Buffer): void {
    this.hash.update(part);
    this.bytes += Buffer.byteLength(part);
  }
}
