import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { OperatorError } from '../errors';
import { CsvSplitter } from './csv-splitter';
import { createLineReader, optionalFields, type RawLine } from './import-line';
import { v2Fields } from './v2-line';

type Open = () => AsyncIterable<string>;
type LineReader = ReturnType<typeof createLineReader>;

const EMPTY = 'The file is empty: a CSV file begins with a header that names the fields';

/** Reads CSV (RFC 4180) with a header that names the fields in any order. Lines may end in CRLF, LF or CR. */
export async function* readCsv(open: Open, maxRecordLength: number): AsyncGenerator<RawLine> {
  // A character has at most three bytes, and csv-parse counts bytes.
  const splitter = new CsvSplitter(maxRecordLength / 4);
  let toValues: LineReader | undefined;
  let passed = 0;
  const toLines = function* (piece: string, isLast: boolean): Generator<RawLine> {
    for (const { line, fields } of splitter.split(piece, isLast)) {
      if (toValues === undefined) {
        toValues = createLineReader(checkHeader(fields));
        continue;
      }
      passed++;
      yield { line, values: toValues(fields) };
    }
  };
  for await (const piece of open()) {
    yield* toLines(piece, false);
    if (splitter.isOdd) break;
  }
  if (!splitter.isOdd) yield* toLines('', true);
  if (splitter.isOdd) yield* readOddCsv(open, maxRecordLength, passed);
  else if (toValues === undefined) throw new OperatorError(EMPTY);
}

/** Reads CSV by csv-parse, which tells faults, from the line after those that were `passed`. It takes five times as long. */
async function* readOddCsv(open: Open, maxRecordLength: number, passed: number): AsyncGenerator<RawLine> {
  let toValues: LineReader | undefined;
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
  let count = 0;
  try {
    for await (const { record, info } of records as AsyncIterable<{ record: Record<string, string>; info: { lines: number } }>) {
      // csv-parse gives a record the number of its last line, and counts a line for each CR and each LF within a value.
      const fields = Object.values(record);
      const content = fields.join(',');
      returns += countOf(content, '\r');
      if (++count > passed) yield { line: info.lines - returns - countOf(content, '\n'), values: toValues!(fields) };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new OperatorError(`The file is not valid CSV: ${error.message}`, { cause: error });
    throw error;
  }
  if (toValues === undefined) throw new OperatorError(EMPTY);
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

const countOf = (text: string, character: string): number => text.split(character).length - 1;
