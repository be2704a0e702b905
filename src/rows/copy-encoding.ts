/** Writes a row in COPY's text format. */
export function toCopyRow(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => (value === null ? '\\N' : String(value).replace(/[\\\b\t\n\v\f\r]/g, toCopyEscape))).join('\t')}\n`;
}

/** The values of a row in COPY's text format, without its line feed. None of them is null. */
const readCopyRow = (row: string): string[] =>
  row.split('\t').map((value) => value.replace(/\\(.)/gs, (_escape, character: string) => ESCAPED[character] ?? character));

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** Keeps the last row of COPY's text output, whose pieces may be cut anywhere. */
export class LastRow {
  private whole: Buffer | undefined;
  private begun: Buffer = Buffer.alloc(0);

  add(piece: Buffer): void {
    const end = piece.lastIndexOf(LINE_FEED);
    if (end < 0) {
      this.begun = Buffer.concat([this.begun, piece]);
      return;
    }
    const start = end === 0 ? -1 : piece.lastIndexOf(LINE_FEED, end - 1);
    this.whole = start < 0 ? Buffer.concat([this.begun, piece.subarray(0, end)]) : Buffer.from(piece.subarray(start + 1, end));
    this.begun = Buffer.from(piece.subarray(end + 1));
  }

  /** The values of the row; undefined when there was none. */
  get values(): string[] | undefined {
    return this.whole && readCopyRow(this.whole.toString());
  }
}

const LINE_FEED = 0x0a;

const toCopyEscape = (character: string): string =>
  ({ '\b': '\\b', '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r' })[character] ?? `\\${character}`;
