import { BACKSLASH, NEWLINE, TAB } from './copy-encoding';
import type { RowTemplate } from './row-template';

export const QUOTE = 0x22;
/** The size of a block, in bytes: about as much as a socket takes at once. */
const BLOCK_LENGTH = 128 * 1024;
/** A bound on the bytes that one byte of input becomes, apart from literals. The longest are a quote and \u00XX. */
const LONGEST_BYTE = 8;

/** A table with 1 for each byte that is copied as it is, and 0 for each special byte. */
export function plainBytes(isSpecial: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isSpecial(byte) ? 0 : 1));
}

/** The table for moments when no byte is copied as it is: an escape is open, or a value or row has not begun. */
const NONE_PLAIN = plainBytes(() => true);

/**
 * Renders COPY's text output, which may be cut anywhere, as a template's rows, byte by byte. It writes into the same block again and again,
 * so that a report of any length costs the same memory. The bytes that `take` returns are valid until the next call of `render`.
 */
export abstract class RowRenderer {
  protected readonly block: Buffer;
  protected length = 0;
  /** True when a value has begun and its first byte decides what stands before it. */
  protected pending = false;
  private escaped = false;
  private inRow = false;
  private isFirstRow = true;
  private column = 0;
  /** The literals before each column, then the one after the last column, then the one between two rows. */
  private readonly literals: Literals;
  private readonly view: DataView;
  private readonly limit: number;

  protected constructor(
    { before, end, separator }: RowTemplate,
    private readonly plain: Uint8Array,
    /** For each column, true when `beginValue` and `endValue` are called for its values. */
    private readonly guarded: readonly boolean[],
  ) {
    this.literals = new Literals([...before, end, separator]);
    const reserve = this.literals.view.byteLength + LONGEST_BYTE;
    this.block = Buffer.allocUnsafeSlow(Math.max(BLOCK_LENGTH, 2 * reserve));
    this.view = new DataView(this.block.buffer);
    this.limit = this.block.length - reserve;
  }

  /** Renders the input from `start` until the input ends or the block is full. Returns the position that it reached. */
  render(copy: Buffer, start: number): number {
    const { block, limit } = this;
    const end = copy.length;
    let at = start;
    let length = this.length;
    let plain = this.plainNow();
    while (at < end && length <= limit) {
      // The whole report goes through this loop, so it uses local variables alone and one bound for input and output.
      const runEnd = Math.min(end, at + limit - length + 1);
      let byte = copy[at++]!;
      while (plain[byte] === 1 && at < runEnd) {
        block[length++] = byte;
        byte = copy[at++]!;
      }
      if (plain[byte] === 1) {
        block[length++] = byte;
        continue;
      }
      this.length = length;
      this.interpret(byte);
      length = this.length;
      plain = this.plainNow();
    }
    this.length = length;
    return at;
  }

  /** Returns the bytes that were rendered since the last call. */
  take(): Buffer {
    const taken = this.block.subarray(0, this.length);
    this.length = 0;
    return taken;
  }

  private plainNow(): Uint8Array {
    return this.inRow && !this.pending && !this.escaped ? this.plain : NONE_PLAIN;
  }

  private interpret(byte: number): void {
    if (!this.inRow) this.beginRow();
    if (this.escaped) {
      this.escaped = false;
      this.putEscape(byte);
    } else if (byte === TAB) {
      if (this.guarded[this.column]) this.endValue();
      this.beginColumn(this.column + 1);
    } else if (byte === NEWLINE) this.endRow();
    else if (byte === BACKSLASH) this.escaped = true;
    else this.putByte(byte);
  }

  private beginRow(): void {
    this.inRow = true;
    if (!this.isFirstRow) this.putLiteral(this.guarded.length + 1);
    this.isFirstRow = false;
    if (this.guarded.length > 0) this.beginColumn(0);
  }

  private beginColumn(column: number): void {
    this.column = column;
    this.putLiteral(column);
    if (this.guarded[column]) this.beginValue();
  }

  private endRow(): void {
    if (this.guarded[this.column]) this.endValue();
    this.putLiteral(this.guarded.length);
    this.inRow = false;
  }

  private putLiteral(position: number): void {
    const { view, starts, lengths } = this.literals;
    const end = this.length + lengths[position]!;
    for (let from = starts[position]!, to = this.length; to < end; from += 8, to += 8) this.view.setFloat64(to, view.getFloat64(from));
    this.length = end;
  }

  protected abstract beginValue(): void;
  protected abstract endValue(): void;
  /** Writes a byte of a value, escaped when it must be. */
  protected abstract putByte(byte: number): void;
  /** Writes the character that a backslash and this byte stand for. */
  protected abstract putEscape(byte: number): void;
}

/**
 * A template's literals, laid out so that they can be copied eight bytes at a time. That takes a third off the time of a report. Bytes that
 * are copied beyond a literal's end are overwritten by those that follow. Copying a float64 may alter only a NaN, and no eight bytes of
 * printable ASCII are one.
 */
class Literals {
  readonly view: DataView;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;

  constructor(literals: readonly Buffer[]) {
    let start = 0;
    this.starts = Int32Array.from(literals, ({ length }) => (start += paddedLength(length)) - paddedLength(length));
    this.lengths = Int32Array.from(literals, ({ length }) => length);
    const bytes = new Uint8Array(start);
    literals.forEach((literal, position) => bytes.set(literal, this.starts[position]));
    if (bytes.some((byte) => byte > 0x7e)) throw new Error(`A literal of a row is not ASCII: ${literals.join('')}`);
    this.view = new DataView(bytes.buffer);
  }
}

const paddedLength = (length: number): number => Math.ceil(length / 8) * 8;
