import { BACKSLASH, NEWLINE, NULL_MARK, TAB, UNESCAPED } from './copy-encoding';
import { plainBytes, QUOTE, RowRenderer } from './row-renderer';
import type { RowTemplate } from './row-template';

const APOSTROPHE = 0x27;
const CSV_PLAIN = plainBytes((byte) => byte === TAB || byte === NEWLINE || byte === QUOTE || byte === BACKSLASH);

/** The first bytes that make a spreadsheet read a text as a formula: = + - @ TAB CR (OWASP, CSV injection). */
const FORMULA_STARTS: ReadonlySet<number> = new Set([0x3d, 0x2b, 0x2d, 0x40, 0x09, 0x0d]);

/**
 * Renders CSV (RFC 4180). Free text that a spreadsheet would run as a formula gets an apostrophe before it. Text that already looks guarded
 * gets one too, so that the guard can be taken off without loss.
 */
export class CsvRenderer extends RowRenderer {
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
