import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { OperatorError } from '../errors';
import { createLineReader, optionalFields, type RawLine } from './import-line';
import { v2Fields } from './v2-line';

type Open = () => AsyncIterable<string>;

/**
 * Reads CSV (RFC 4180) with a header that names the fields in any order. Lines may end in CRLF, LF or CR. Plain records are cut here,
 * because csv-parse takes several times as long. From the first record on that is not plain, csv-parse reads the file again and judges.
 */
export async function* readCsv(open: Open, maxRecordLength: number): AsyncGenerator<RawLine> {
  const records = new PlainRecords(maxRecordLength);
  let toValues: ReturnType<typeof createLineReader> | undefined;
  let count = 0;
  for await (const piece of ended(open())) {
    for (const { line, fields } of records.cut(piece)) {
      if (toValues === undefined) toValues = createLineReader(checkHeader(fields));
      else {
        count++;
        yield { line, values: toValues(fields) };
      }
    }
    if (!records.arePlain) {
      yield* readAnyCsv(open, maxRecordLength, count);
      return;
    }
  }
  if (toValues === undefined) throw new OperatorError(NO_HEADER);
}

const NO_HEADER = 'The file is empty: a CSV file begins with a header that names the fields';

/** The pieces of a text, and then undefined for its end. */
async function* ended(pieces: AsyncIterable<string>): AsyncGenerator<string | undefined> {
  yield* pieces;
  yield undefined;
}

interface CsvRecord {
  /** The number of its first line. */
  readonly line: number;
  readonly fields: string[];
}

/** Cuts a text that comes in pieces into records. */
class PlainRecords {
  /** False when the next record is faulty, or too long to be sure that it is short enough. */
  arePlain = true;
  private text = '';
  private at = 0;
  private line = 1;
  private columns: number | undefined;

  constructor(private readonly maxLength: number) {}

  /** Adds a piece, or the end of the text, and returns the records that are complete. */
  cut(piece: string | undefined): CsvRecord[] {
    this.text = this.text.slice(this.at) + (piece ?? '');
    this.at = 0;
    const records: CsvRecord[] = [];
    for (;;) {
      const record = this.next(piece === undefined);
      if (record === 'odd') this.arePlain = false;
      if (typeof record === 'string') return records;
      // A line without a character is no record.
      if (record.fields.length > 0) records.push(record);
    }
  }

  /** The next record: `more` when the text so far does not have its end, `odd` when it is not plain. */
  private next(isEnd: boolean): CsvRecord | 'more' | 'odd' {
    const { text, line } = this;
    const fields: string[] = [];
    let breaks = 0;
    let at = this.at;
    if (at === text.length) return 'more';
    for (;;) {
      const isQuoted = text[at] === '"';
      const end = isQuoted ? findClosingQuote(text, at) + 1 : findFieldEnd(text, at);
      // Only the next piece tells whether a quote closes a field, and whether LF follows CR.
      if (!isEnd && (end === 0 || end >= text.length - 1)) return this.isLong(text.length) ? 'odd' : 'more';
      if (end === 0) return 'odd';
      const field = isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end);
      if (isQuoted) breaks += countOf(field, '\n');
      fields.push(field);
      at = end + 1;
      if (text[end] === ',') continue;
      if (end < text.length && text[end] !== '\r' && text[end] !== '\n') return 'odd';
      if (text[end] === '\r' && text[at] === '\n') at++;
      const isEmpty = end === this.at;
      if (!isEmpty) this.columns ??= fields.length;
      if (!isEmpty && (fields.length !== this.columns || this.isLong(end))) return 'odd';
      this.at = Math.min(at, text.length);
      this.line += breaks + 1;
      return { line, fields: isEmpty ? [] : fields };
    }
  }

  /** True when a record that ends here may have more bytes than the limit. */
  private isLong(end: number): boolean {
    return (end - this.at) * 3 > this.maxLength;
  }
}

const [COMMA, CR, LF, QUOTE] = [44, 13, 10, 34];

/** The end of a field without quotes, which begins at `at`: the place of the character that ends it. */
function findFieldEnd(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === COMMA || code === CR || code === LF || code === QUOTE) return end;
  }
  return text.length;
}

/** The place of the quote that closes a field, which begins with the quote at `at`; -1 when there is none. */
function findClosingQuote(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  return end;
}

const countOf = (text: string, character: string): number => text.split(character).length - 1;

/** Reads any CSV by csv-parse, and leaves out the first `count` lines. Throws an OperatorError at the first fault. */
async function* readAnyCsv(open: Open, maxRecordLength: number, count: number): AsyncGenerator<RawLine> {
  let toValues: ReturnType<typeof createLineReader> | undefined;
  const records = parse({
    columns: (header: string[]) => {
      toValues = createLineReader(checkHeader(header));
      return header;
    },
    info: true,
    max_record_size: maxRecordLength,
    // Without this, csv-parse takes the end of the first line as the end of every line, and reads another end as part of a value.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
  });
  // The loop below gets every error, because pipeline passes errors of the source on to `records`.
  pipeline(Readable.from(open()), records, () => undefined);
  let returns = 0;
  let position = 0;
  try {
    for await (const { record, info } of records as AsyncIterable<{ record: Record<string, string>; info: { lines: number } }>) {
      // csv-parse gives a record the number of its last line, and counts a line for each CR and each LF within a value.
      const fields = Object.values(record);
      const content = fields.join(',');
      returns += countOf(content, '\r');
      if (++position > count) yield { line: info.lines - returns - countOf(content, '\n'), values: toValues!(fields) };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new OperatorError(`The file is not valid CSV: ${error.message}`, { cause: error });
    throw error;
  }
  if (toValues === undefined) throw new OperatorError(NO_HEADER);
}

function checkHeader(header: readonly string[]): readonly string[] {
  const known: readonly string[] = [...v2Fields, ...optionalFields];
  const faults = [
    ...v2Fields.filter((field) => !header.includes(field)).map((field) => `${field} is missing`),
    ...header.filter((name) => !known.includes(name)).map((name) => `${name} is not a field of a deposit line`),
    ...header.filter((name, position) => header.indexOf(name) !== position).map((name) => `${name} stands twice`),
  ];
  if (faults.length > 0) throw new OperatorError(`Line 1, the header: ${faults.join(', ')}`);
  return header;
}
