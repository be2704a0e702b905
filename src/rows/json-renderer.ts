import { BACKSLASH, NULL_MARK } from './copy-encoding';
import { plainBytes, QUOTE, RowRenderer } from './row-renderer';
import type { RowTemplate } from './row-template';

const VERTICAL_TAB = 0x0b;
const VERTICAL_TAB_MARK = 0x76;
const JSON_NULL = Buffer.from('null');
const JSON_PLAIN = plainBytes((byte) => byte < 0x20 || byte === QUOTE || byte === BACKSLASH);

/** Renders JSON. COPY's escapes \b \f \n \r \t and \\ mean the same in JSON, which has no \v. COPY's \N is null. */
export class JsonRenderer extends RowRenderer {
  /** True when a nullable value has its opening quote. */
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
      this.putControl(VERTICAL_TAB);
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

  /** Writes a control character without a short form as \u00XX. */
  private putControl(byte: number): void {
    this.length += this.block.write(`\\u00${byte < 16 ? '0' : ''}${byte.toString(16)}`, this.length, 'latin1');
  }
}
