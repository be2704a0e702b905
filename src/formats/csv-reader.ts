import { Readable } from 'node:stream';
import { parse } from 'papaparse';
import { OperatorError } from '../errors';
import { createLineReader, optionalFields, type RawLine } from './import-line';
import { v2Fields } from './v2-line';

/**
 * Reads CSV (RFC 4180) with a header that names the fields in any order. Lines may end in CRLF, LF or CR. Lines without a value are left out,
 * as are columns without a name and a value: spreadsheets write both. A semicolon or a tab may stand for the comma where the header or a line
 * `sep=;` before it says so. Papa knows one line end for a text and takes a misplaced quote for a character, so `cutRecords` makes the ends one
 * and finds such quotes first. The lines come as many at once as a piece of the text has.
 */
export async function* readCsv(text: AsyncIterable<string>, maxRecordLength: number): AsyncGenerator<readonly RawLine[]> {
  let delimiter: string | undefined;
  let parseRecords: ReturnType<typeof openParser>;
  let header: readonly string[] | undefined;
  /** The places of the columns that have a name. */
  let named: readonly number[] = [];
  let toValues: ReturnType<typeof createLineReader>;
  let rest = '';
  let line = 1;
  const toLines = async (piece: string): Promise<readonly RawLine[]> => {
    const lines: RawLine[] = [];
    const unread = rest + piece;
    // An LF that belongs to a CR at the end may follow.
    const end = unread.length - (unread.endsWith('\r') ? 1 : 0);
    if (delimiter === undefined) {
      delimiter = findDelimiter(unread.slice(0, end));
      if (delimiter === undefined) {
        if (unread.length > 3 * maxRecordLength + 3) throw tooLong(1, maxRecordLength);
        rest = unread;
        return lines;
      }
      parseRecords = openParser(delimiter);
    }
    const cut = cutRecords(unread.slice(0, end), delimiter);
    rest = cut.rest + unread.slice(end);
    const isQuoted = cut.records.includes('"');
    for (const fields of await parseRecords(cut.records)) {
      const first = line;
      line += isQuoted ? countLines(fields) : 1;
      if (fields.every(isBlank) || (header === undefined && fields.length <= 2 && SEPARATOR.test(fields.join(delimiter)))) continue;
      if (cut.records.length > maxRecordLength && fields.join().length > maxRecordLength) throw tooLong(first, maxRecordLength);
      if (header === undefined) {
        header = checkHeader(fields, first);
        named = header.flatMap((name, place) => (name === '' ? [] : [place]));
        toValues = createLineReader(named.map((place) => header![place]!));
      } else if (fields.length === header.length) {
        const unnamed = named.length === header.length ? -1 : fields.findIndex((value, place) => header![place] === '' && !isBlank(value));
        if (unnamed >= 0) throw invalid(first, `has a value in column ${unnamed + 1}, which has no name in the header`);
        lines.push({ line: first, values: toValues(named.length === header.length ? fields : named.map((place) => fields[place]!)) });
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
  if (delimiter === undefined) {
    const at = rest.split(/\r\n|\n|\r/).findIndex((text) => /[^\s,;"]/.test(text));
    if (at >= 0) checkHeader([], at + 1);
    rest = '';
  }
  if (rest !== '') throw invalid(line, 'begins a record with a quote that has no end');
  if (header === undefined) throw new OperatorError('The file is empty: a CSV file begins with a header that names the fields');
}

/**
 * Opens a parser for texts of whole records, one after the other. It is one stream to Papa: V8 is late to free the state of each call of
 * `parse`, with all the values that it gave.
 */
function openParser(delimiter: string): (records: string) => Promise<readonly string[][]> {
  const source = new Readable({ objectMode: true, read: () => undefined });
  let give: (records: string[][]) => void;
  let fail: (error: Error) => void;
  parse<string[], Readable>(source, {
    delimiter,
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
function cutRecords(text: string, delimiter: string): CutRecords {
  const parts = text.split('"');
  let last = 0;
  let fault: string | undefined;
  for (let place = 0; place < parts.length && fault === undefined; place += 2) {
    if (parts[place] === '' || parts[place] === delimiter) continue;
    const part = parts[place]!.replace(/\r\n?/g, '\n');
    if (place > 0 && part[0] !== delimiter && part[0] !== '\n') {
      fault = 'has text behind the quote that ends a value';
      break;
    }
    parts[place] = part;
    if (part.includes('\n')) last = place;
    if (place < parts.length - 1 && ![delimiter, '\n', undefined].includes(part.at(-1)))
      fault = 'has a quote within a value that does not begin with one';
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

/** The line by which a file tells Excel its separator. */
const SEPARATOR = /^sep=([,;\t|])$/i;
const known: readonly string[] = [...v2Fields, ...optionalFields];
const isBlank = (value: string): boolean => value.trim() === '';
const namesField = (names: readonly string[]): boolean => names.some((name) => known.includes(name.trim()));
const cellsOf = (line: string, delimiter: string): string[] => line.split(delimiter).map((cell) => cell.replace(/^\s*"|"\s*$/g, ''));

/**
 * The separator of a file that begins with a text: the one of a line `sep=`, or the one by which the header names fields. Undefined while the
 * first lines are not whole. A comma where no line names a field by any; the header's faults say what is wrong then.
 */
function findDelimiter(text: string): string | undefined {
  const lines = text.split(/\r\n|\n|\r/);
  const whole = lines.slice(0, -1).filter((line) => line.trim() !== '');
  const said = SEPARATOR.exec(whole[0] ?? '');
  if (said) return said[1];
  const found = whole.flatMap((line) => [',', ';', '\t'].filter((delimiter) => namesField(cellsOf(line, delimiter))));
  // Titles stand in the first lines of a file, if they do.
  return found[0] ?? (whole.length > MAX_TITLES ? ',' : undefined);
}

/** The most lines of titles that are looked through for a header. */
const MAX_TITLES = 20;

/** The names of the columns; an empty one for a column that has none. Throws an OperatorError for a header that is none. */
function checkHeader(fields: readonly string[], line: number): readonly string[] {
  const header = fields.map((name) => name.trim());
  if (!namesField(header)) {
    throw new OperatorError(
      `Line ${line} is not a header, because it names no field such as deposit_id: take away the lines before the one with the fields' names`,
    );
  }
  const faults = [
    ...v2Fields.filter((field) => !header.includes(field)).map((field) => `${field} is missing`),
    ...header.filter((name) => name !== '' && !known.includes(name)).map((name) => `${name} is not a field of a deposit line`),
    ...header.filter((name, position) => name !== '' && header.indexOf(name) !== position).map((name) => `${name} stands twice`),
  ];
  if (faults.length > 0) throw new OperatorError(`Line ${line}, the header: ${faults.join(', ')}`);
  return header;
}
