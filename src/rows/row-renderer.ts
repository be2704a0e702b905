import type { RowTemplate } from './row-template';

const TAB = 0x09;
const NEWLINE = 0x0a;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const BACKSLASH = 0x5c;
const NULL_MARK = 0x4e;
const VERTICAL_TAB_MARK = 0x76;
const JSON_NULL = Buffer.from('null');
/** A block is handed on when it is full; about as large as a socket takes at once. */
const BLOCK_LENGTH = 128 * 1024;
/** The most that one byte of input becomes, literals aside: a quote and \u00XX. */
const LONGEST_BYTE = 8;

/** What COPY writes after a backslash, as the byte it stands for (PostgreSQL manual, COPY, text format). */
const UNESCAPED: Readonly<Record<number, number>> = { 0x62: 0x08, 0x66: 0x0c, 0x6e: 0x0a, 0x72: 0x0d, 0x74: 0x09, 0x76: 0x0b };

/** First bytes by which a spreadsheet takes text for a formula: = + - @ TAB CR (OWASP, CSV injection). */
const FORMULA_STARTS: ReadonlySet<number> = new Set([0x3d, 0x2b, 0x2d, 0x40, 0x09, 0x0d]);

/** For every byte, 1 where it goes into the output as it stands. */
function plainBytes(isSpecial: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isSpecial(byte) ? 0 : 1));
}

const JSON_PLAIN = plainBytes((byte) => byte < 0x20 || byte === QUOTE || byte === BACKSLASH);
const CSV_PLAIN = plainBytes((byte) => byte === TAB || byte === NEWLINE || byte === QUOTE || byte === BACKSLASH);
/** While the next byte has a meaning of its own, whatever it is. */
const NONE_PLAIN = plainBytes(() => true);

/** COPY's text output, cut anywhere, as a template's rows. A block holds good until the next is asked for. */
export async function* renderRows(copy: AsyncIterable<Buffer>, template: RowTemplate): AsyncGenerator<Buffer> {
  const renderer = template.encoding === 'json' ? new JsonRenderer(template) : new CsvRenderer(template);
  for await (const piece of copy) {
    let at = renderer.render(piece, 0);
    while (at < piece.length) {
      yield renderer.take();
      at = renderer.render(piece, at);
    }
  }
  const rest = renderer.take();
  if (rest.length > 0) yield rest;
}

/** A row as COPY writes it in its text format. */
export function toCopyRow(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => (value === null ? '\\N' : String(value).replace(/[\\\t\n\r]/g, toCopyEscape))).join('\t')}\n`;
}
const toCopyEscape = (character: string): string => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[character] ?? `\\${character}`;

/**
 * Turns COPY's text output, cut anywhere, into a template's rows, byte by byte. Writes into one block, over and over, so that a report of
 * any length costs the same memory: what `take` returns holds good until the next call of `render`.
 */
abstract class RowRenderer {
  protected readonly block: Buffer;
  protected length = 0;
  /** The value has begun, but its first byte decides how. */
  protected pending = false;
  private escaped = false;
  private inRow = false;
  private isFirstRow = true;
  private column = 0;
  /** Before each column, after the last, between two rows. */
  private readonly literals: Literals;
  private readonly view: DataView;
  private readonly limit: number;

  protected constructor(
    { before, end, separator }: RowTemplate,
    private readonly plain: Uint8Array,
    /** For each column, whether its values want a look at their beginning and their end. */
    private readonly guarded: readonly boolean[],
  ) {
    this.literals = new Literals([...before, end, separator]);
    const reserve = this.literals.view.byteLength + LONGEST_BYTE;
    this.block = Buffer.allocUnsafeSlow(Math.max(BLOCK_LENGTH, 2 * reserve));
    this.view = new DataView(this.block.buffer);
    this.limit = this.block.length - reserve;
  }

  /** Renders from a position on until the input or the block is at its end; returns the position reached. */
  render(copy: Buffer, start: number): number {
    const { block, limit } = this;
    const end = copy.length;
    let at = start;
    let length = this.length;
    let plain = this.plainNow();
    while (at < end && length <= limit) {
      // The loop that the whole report goes through: locals alone, and one bound for input and output.
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

  /** What was rendered since the last call. */
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
  /** A byte of a value, whichever it is. */
  protected abstract putByte(byte: number): void;
  /** The byte after a backslash. */
  protected abstract putEscape(byte: number): void;
}

/**
 * A template's literals, laid out to be copied eight bytes at a time, which takes a third off the time of a report; what is copied beyond
 * a literal's end is written over by what follows it. In printable ASCII no eight bytes are a NaN, the only number that a copy may alter.
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

/** COPY's escapes are almost JSON's: \b \f \n \r \t and \\ mean the same, \v does not exist there, \N is null. */
class JsonRenderer extends RowRenderer {
  /** A nullable value got its opening quote. */
  private quoted = false;

  constructor(template: RowTemplate) {
    const guarded = template.columns.map(({ kind }) => kind === 'nullable');
    super(template, JSON_PLAIN, guarded);
  }

  protected beginValue(): void {
    this.pending = true;
    this.quoted = false;
  }

  protected endValue(): void {
    if (this.pending) this.putOpeningQuote();
    if (this.quoted) this.block[this.length++] = QUOTE;
  }

  protected putByte(byte: number): void {
    if (this.pending) this.putOpeningQuote();
    if (byte < 0x20) {
      this.putControl(byte);
      return;
    }
    if (byte === QUOTE) this.block[this.length++] = BACKSLASH;
    this.block[this.length++] = byte;
  }

  protected putEscape(byte: number): void {
    if (byte === NULL_MARK) {
      this.pending = false;
      this.length += JSON_NULL.copy(this.block, this.length);
      return;
    }
    if (this.pending) this.putOpeningQuote();
    if (byte === VERTICAL_TAB_MARK) {
      this.putControl(0x0b);
      return;
    }
    this.block[this.length++] = BACKSLASH;
    this.block[this.length++] = byte;
  }

  private putOpeningQuote(): void {
    this.pending = false;
    this.quoted = true;
    this.block[this.length++] = QUOTE;
  }

  /** A control character as JSON writes those without a short form: \u00XX. */
  private putControl(byte: number): void {
    this.length += this.block.write(`\\u00${byte < 16 ? '0' : ''}${byte.toString(16)}`, this.length, 'latin1');
  }
}

/**
 * RFC 4180. Free text that a spreadsheet would run as a formula gets an apostrophe before it, and so does text that already looks so
 * guarded: the guard can be taken off again without loss.
 */
class CsvRenderer extends RowRenderer {
  constructor(template: RowTemplate) {
    const guarded = template.columns.map(({ freeText }) => freeText ?? false);
    super(template, CSV_PLAIN, guarded);
  }

  protected beginValue(): void {
    this.pending = true;
  }

  protected endValue(): void {
    this.pending = false;
  }

  protected putByte(byte: number): void {
    if (this.pending && byte !== APOSTROPHE) {
      this.pending = false;
      if (FORMULA_STARTS.has(byte)) this.block[this.length++] = APOSTROPHE;
    }
    this.block[this.length++] = byte;
    if (byte === QUOTE) this.block[this.length++] = QUOTE;
  }

  protected putEscape(byte: number): void {
    if (byte !== NULL_MARK) this.putByte(UNESCAPED[byte] ?? byte);
  }
}
