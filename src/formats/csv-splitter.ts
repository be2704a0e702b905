/** A record of a CSV file. */
interface CsvRecord {
  /** The number of the line that it begins on, from 1. Line ends within quotes count too, a CR before an LF not. */
  readonly line: number;
  readonly fields: readonly string[];
}

const QUOTE = 34;
const COMMA = 44;
const LF = 10;
const CR = 13;

/**
 * Splits CSV text (RFC 4180; lines end in CRLF, LF or CR) that comes in pieces into records, and leaves out empty lines. It judges nothing:
 * at the first text that may be wrong it stops, and `isOdd` is true from then on. The records before that place are good.
 */
export class CsvSplitter {
  isOdd = false;
  private text = '';
  private at = 0;
  private line = 1;
  /** The number of fields of every record: that of the header. */
  private width: number | undefined;

  /** A record that is longer than so many characters is odd. */
  constructor(private readonly maxLength: number) {}

  /** The records that end in the text so far. The last piece of a text ends its last record. */
  split(piece: string, isLast: boolean): CsvRecord[] {
    this.text = this.text.slice(this.at) + piece;
    this.at = 0;
    const records: CsvRecord[] = [];
    while (!this.isOdd && this.at < this.text.length) {
      const { line } = this;
      const fields = this.take(isLast);
      if (fields === undefined) break;
      if (fields.length === 0) continue;
      this.width ??= fields.length;
      if (fields.length === this.width) records.push({ line, fields });
      else this.isOdd = true;
    }
    if (this.text.length - this.at > this.maxLength) this.isOdd = true;
    return records;
  }

  /** Takes a record off the text: no field for an empty line, undefined when the record may not be at its end or is odd. */
  private take(isLast: boolean): readonly string[] | undefined {
    const { text, at } = this;
    const feed = text.indexOf('\n', at);
    const row = text.slice(at, feed < 0 ? text.length : feed);
    if (row.includes('"')) return this.takeQuoted(isLast);
    const end = row.indexOf('\r');
    // After a CR at the end of the text, an LF may follow.
    if (!isLast && feed < 0 && (end < 0 || end === row.length - 1)) return undefined;
    if (end < 0 || (end === row.length - 1 && feed >= 0)) {
      this.at = feed < 0 ? text.length : feed + 1;
    } else {
      this.at = at + end + 1;
    }
    this.line++;
    const content = end < 0 ? row : row.slice(0, end);
    return content === '' ? [] : content.split(',');
  }

  /** Takes a record off the text, field by field. */
  private takeQuoted(isLast: boolean): readonly string[] | undefined {
    const { text } = this;
    const fields: string[] = [];
    let { at } = this;
    let feeds = 0;
    for (;;) {
      let field: string;
      if (text.charCodeAt(at) === QUOTE) {
        const end = endOfQuoted(text, at);
        // The character after a quote decides whether the quote ends the field.
        if (end < 0 || (end + 1 === text.length && !isLast)) {
          this.isOdd = isLast;
          return undefined;
        }
        const content = text.slice(at + 1, end);
        if (content.includes('\n')) feeds += content.split('\n').length - 1;
        field = content.includes('"') ? content.replaceAll('""', '"') : content;
        at = end + 1;
      } else {
        const end = endOfPlain(text, at);
        if (end === text.length && !isLast) return undefined;
        field = text.slice(at, end);
        at = end;
      }
      fields.push(field);
      const after = text.charCodeAt(at);
      if (after === COMMA) {
        at++;
        continue;
      }
      if (after === CR && at + 1 === text.length && !isLast) return undefined;
      if (at < text.length && after !== LF && after !== CR) {
        this.isOdd = true;
        return undefined;
      }
      // A line that ends in a CR alone may be empty.
      const isEmpty = at === this.at;
      this.at = Math.min(text.length, at + (after === CR && text.charCodeAt(at + 1) === LF ? 2 : 1));
      this.line += feeds + 1;
      return isEmpty ? [] : fields;
    }
  }
}

/** The place of the quote that ends a field, which begins with a quote; -1 when there is none. */
function endOfQuoted(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 2)) {
    if (text.charCodeAt(end + 1) !== QUOTE) return end;
  }
  return -1;
}

/** The place of the comma, line end or quote behind a field without quotes, or the text's end. */
function endOfPlain(text: string, start: number): number {
  let end = start;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === COMMA || code === LF || code === CR || code === QUOTE) break;
  }
  return end;
}
