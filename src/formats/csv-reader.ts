import { Readable } from 'node:stream';
import { parse } from 'papaparse';
import { OperatorError } from '../errors';
import { createLineReader, optionalFields, type RawLine } from './import-line';
import { v2Fields } from './v2-line';

/**
 * Reads CSV (RFC 4180) with a header that names the fields in any order. Lines may end in CRLF, LF or CR. Empty lines are left out, and an
 * empty text in quotes on a line of its own is one. Papa knows one line end for a text and takes a misplaced quote for a character, so
 * `cutRecords` makes the ends one and finds such quotes first. The lines come as many at once as a piece of the text has.
 */
export async function* readCsv(text: AsyncIterable<string>, maxRecordLength: number): AsyncGenerator<readonly RawLine[]> {
  const parseRecords = openParser();
  let header: readonly string[] | undefined;
  let toValues: ReturnType<typeof createLineReader>;
  let rest = '';
  let line = 1;
  const toLines = async (piece: string): Promise<readonly RawLine[]> => {
    const lines: RawLine[] = [];
    const unread = rest + piece;
    // An LF that belongs to a CR at the end may follow.
    const end = unread.length - (unread.endsWith('\r') ? 1 : 0);
    const cut = cutRecords(unread.slice(0, end));
    rest = cut.rest + unread.slice(end);
    const isQuoted = cut.records.includes('"');
    for (const fields of await parseRecords(cut.records)) {
      const first = line;
      line += isQuoted ? countLines(fields) : 1;
      if (fields.length === 1 && fields[0] === '') continue;
      if (cut.records.length > maxRecordLength && fields.join().length > maxRecordLength) throw tooLong(first, maxRecordLength);
      if (header === undefined) {
        header = checkHeader(fields);
        toValues = createLineReader(header);
      } else if (fields.length === header.length) {
        lines.push({ line: first, values: toValues(fields) });
      } else {
        throw invalid(first, `must have ${header.length} values, like the header, not ${fields.length}`);
      }
    }
    if (cut.fault !== undefined) throw invalid(line, cut.fault);
    // Quotes make a record at most three times as long as its values with commas between them.
    if (rest.length > 3 * maxRecordLength + 3) throw tooLong(line, maxRecordLength);
    return lines;
  };
  for await (const piece of text) yield await toLines(piece);
  yield await toLines('\n');
  if (rest !== '') throw invalid(line, 'begins a record with a quote that has no end');
  if (header === undefined) throw new OperatorError('The file is empty: a CSV file begins with a header that names the fields');
}

/**
 * Opens a parser for texts of whole records, one after the other. It is one stream to Papa: V8 is late to free the state of each call of
 * `parse`, with all the values that it gave.
 */
function openParser(): (records: string) => Promise<readonly string[][]> {
  const source = new Readable({ objectMode: true, read: () => undefined });
  let give: (records: string[][]) => void;
  let fail: (error: Error) => void;
  parse<string[], Readable>(source, {
    delimiter: ',',
    newline: '\n',
    chunk: ({ data }) => give(data),
    error: (error) => fail(error),
    complete: () => undefined,
  });
  return (records) =>
    new Promise((resolve, reject) => {
      [give, fail] = [resolve, reject];
      source.push(records);
    });
}

interface CutRecords {
  /** The text of whole records. Each ends in an LF, whatever its end was. */
  readonly records: string;
  /** The text from the begin of the first record that is not whole, or that has the fault. */
  readonly rest: string;
  readonly fault?: string | undefined;
}

/**
 * Cuts a text, which begins with a record, behind the last record that ends in it. Quotes split it into parts that are by turns outside and
 * within quotes, because two quotes in a row, which stand for one, have an empty part outside between them.
 */
function cutRecords(text: string): CutRecords {
  const parts = text.split('"');
  let last = 0;
  let fault: string | undefined;
  for (let place = 0; place < parts.length && fault === undefined; place += 2) {
    if (parts[place] === '' || parts[place] === ',') continue;
    const part = parts[place]!.replace(/\r\n?/g, '\n');
    if (place > 0 && !/^[,\n]/.test(part)) {
      fault = 'has text behind the quote that ends a value';
      break;
    }
    parts[place] = part;
    if (part.includes('\n')) last = place;
    if (place < parts.length - 1 && !/[,\n]$/.test(part)) fault = 'has a quote within a value that does not begin with one';
  }
  const end = parts[last]!.lastIndexOf('\n') + 1;
  return {
    records: [...parts.slice(0, last), parts[last]!.slice(0, end)].join('"'),
    rest: [parts[last]!.slice(end), ...parts.slice(last + 1)].join('"'),
    fault,
  };
}

/** The number of lines of a record: a CR within quotes ends none. */
const countLines = (fields: readonly string[]): number =>
  fields.reduce((count, field) => (field.includes('\n') ? count + field.split('\n').length - 1 : count), 1);

const invalid = (line: number, fault: string): OperatorError => new OperatorError(`The file is not valid CSV: line ${line} ${fault}`);
const tooLong = (line: number, maxLength: number): OperatorError =>
  invalid(line, `begins a record of more than ${maxLength} characters; a quote may have no end`);

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
