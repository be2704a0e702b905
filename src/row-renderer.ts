import type { RowTemplate } from './row-template';

const TAB = 0x09;
const NEWLINE = 0x0a;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const BACKSLASH = 0x5c;
const NULL_MARK = 0x4e;
const JSON_NULL = Buffer.from('null');

/** What COPY writes after a backslash, as the byte it stands for (PostgreSQL manual, COPY, text format). */
const UNESCAPED: Readonly<Record<number, number>> = { 0x62: 0x08, 0x66: 0x0c, 0x6e: 0x0a, 0x72: 0x0d, 0x74: 0x09, 0x76: 0x0b };

/** First bytes by which a spreadsheet takes text for a formula: = + - @ TAB CR (OWASP, CSV injection). */
const FORMULA_STARTS: ReadonlySet<number> = new Set([0x3d, 0x2b, 0x2d, 0x40, 0x09, 0x0d]);

/** Turns COPY's text output into a template's rows, byte by byte; its input may be cut anywhere. */
export interface RowRenderer {
  render(copy: Buffer): Buffer;
}

export function createRowRenderer(template: RowTemplate): RowRenderer {
  return template.encoding === 'json' ? new JsonRenderer(template) : new CsvRenderer(template);
}

/** A buffer that grows. Its room for the input still to come is kept at two bytes for each, the most that ordinary bytes become. */
class Output {
  bytes: Buffer;
  length = 0;

  constructor(inputLength: number) {
    this.bytes = Buffer.allocUnsafe(inputLength * 3 + 1024);
  }

  /** Makes room for `size` bytes now, and for `inputLeft` bytes of input after them. */
  reserve(size: number, inputLeft: number): void {
    const needed = this.length + size + inputLeft * 2 + 16;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  put(piece: Buffer, inputLeft: number): void {
    this.reserve(piece.length, inputLeft);
    for (let at = 0; at < piece.length; at++) this.bytes[this.length++] = piece[at]!;
  }

  /** A control character as JSON writes those without a short form: \u00XX. */
  putControl(byte: number, inputLeft: number): void {
    this.reserve(6, inputLeft);
    this.length += this.bytes.write(`\\u00${byte < 16 ? '0' : ''}${byte.toString(16)}`, this.length, 'latin1');
  }

  get written(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}

/** Where the reader stands, kept between two pieces of input. */
abstract class Renderer implements RowRenderer {
  protected column = 0;
  protected escaped = false;
  private betweenRows = true;
  private firstRow = true;

  constructor(protected readonly template: RowTemplate) {}

  abstract render(copy: Buffer): Buffer;
  protected abstract beginValue(): void;
  protected abstract endValue(out: Output, inputLeft: number): void;

  protected beginRow(out: Output, inputLeft: number): void {
    if (!this.betweenRows) return;
    this.betweenRows = false;
    if (!this.firstRow) out.put(this.template.separator, inputLeft);
    this.firstRow = false;
    this.column = 0;
    const before = this.template.before[0];
    if (!before) return;
    out.put(before, inputLeft);
    this.beginValue();
  }

  protected nextColumn(out: Output, inputLeft: number): void {
    this.endValue(out, inputLeft);
    out.put(this.template.before[++this.column]!, inputLeft);
    this.beginValue();
  }

  protected endRow(out: Output, inputLeft: number): void {
    if (this.template.columns.length > 0) this.endValue(out, inputLeft);
    out.put(this.template.end, inputLeft);
    this.betweenRows = true;
  }

  protected get atRowStart(): boolean {
    return this.betweenRows;
  }
}

/** COPY's escapes are almost JSON's: \b \f \n \r \t and \\ mean the same, \v does not exist there, \N is null. */
class JsonRenderer extends Renderer {
  /** Of a nullable value, nothing was read yet; its opening quote waits. */
  private unopened = false;
  private open = false;

  render(copy: Buffer): Buffer {
    const out = new Output(copy.length);
    const { length } = copy;
    for (let at = 0; at < length; at++) {
      const byte = copy[at]!;
      if (this.atRowStart) this.beginRow(out, length - at);
      if (this.escaped) {
        this.escaped = false;
        this.putEscape(byte, out, length - at);
      } else if (byte === TAB) this.nextColumn(out, length - at);
      else if (byte === NEWLINE) this.endRow(out, length - at);
      else if (byte === BACKSLASH) this.escaped = true;
      else {
        if (this.unopened) this.openValue(out, length - at);
        if (byte >= 0x20 && byte !== QUOTE) out.bytes[out.length++] = byte;
        else if (byte === QUOTE) {
          out.bytes[out.length++] = BACKSLASH;
          out.bytes[out.length++] = QUOTE;
        } else out.putControl(byte, length - at);
      }
    }
    return out.written;
  }

  protected beginValue(): void {
    this.unopened = this.template.columns[this.column]!.kind === 'nullable';
    this.open = false;
  }

  protected endValue(out: Output, inputLeft: number): void {
    if (this.unopened) this.openValue(out, inputLeft);
    if (this.open) {
      out.reserve(1, inputLeft);
      out.bytes[out.length++] = QUOTE;
    }
  }

  private openValue(out: Output, inputLeft: number): void {
    out.reserve(1, inputLeft);
    out.bytes[out.length++] = QUOTE;
    this.unopened = false;
    this.open = true;
  }

  private putEscape(byte: number, out: Output, inputLeft: number): void {
    if (byte === NULL_MARK) {
      this.unopened = false;
      out.put(JSON_NULL, inputLeft);
      return;
    }
    if (this.unopened) this.openValue(out, inputLeft);
    if (byte === 0x76) {
      out.putControl(0x0b, inputLeft);
      return;
    }
    out.reserve(2, inputLeft);
    out.bytes[out.length++] = BACKSLASH;
    out.bytes[out.length++] = byte;
  }
}

/**
 * RFC 4180. Free text that a spreadsheet would run as a formula gets an apostrophe before it, and so does text that already looks so
 * guarded: the guard can be taken off again without loss.
 */
class CsvRenderer extends Renderer {
  /** In free text: how many apostrophes it began with, while nothing else was read; -1 afterwards. */
  private apostrophes = -1;

  render(copy: Buffer): Buffer {
    const out = new Output(copy.length);
    const { length } = copy;
    for (let at = 0; at < length; at++) {
      const byte = copy[at]!;
      if (this.atRowStart) this.beginRow(out, length - at);
      if (this.escaped) {
        this.escaped = false;
        if (byte !== NULL_MARK) this.putByte(UNESCAPED[byte] ?? byte, out, length - at);
      } else if (byte === TAB) this.nextColumn(out, length - at);
      else if (byte === NEWLINE) this.endRow(out, length - at);
      else if (byte === BACKSLASH) this.escaped = true;
      else this.putByte(byte, out, length - at);
    }
    return out.written;
  }

  protected beginValue(): void {
    this.apostrophes = this.template.columns[this.column]!.freeText ? 0 : -1;
  }

  protected endValue(out: Output, inputLeft: number): void {
    this.putApostrophes(0, out, inputLeft);
  }

  private putByte(byte: number, out: Output, inputLeft: number): void {
    if (this.apostrophes >= 0) {
      if (byte === APOSTROPHE) {
        this.apostrophes++;
        return;
      }
      this.putApostrophes(FORMULA_STARTS.has(byte) ? 1 : 0, out, inputLeft);
    }
    out.reserve(2, inputLeft);
    out.bytes[out.length++] = byte;
    if (byte === QUOTE) out.bytes[out.length++] = QUOTE;
  }

  private putApostrophes(extra: number, out: Output, inputLeft: number): void {
    const count = this.apostrophes + extra;
    this.apostrophes = -1;
    if (count > 0) out.put(Buffer.alloc(count, APOSTROPHE), inputLeft);
  }
}
