import { Readable } from 'node:stream';
import { parse } from 'papaparse';
import { OperatorError } from '../errors';
import { isLineName, v2Names } from '../line/line-fields';
import { createLineReader, type RawLine } from './import-line';

/**
 * Reads CSV (RFC 4180) with a header that names the fields in any order. Lines may end in CRLF, LF or CR. Lines without a value are left out,
 * as are columns without a name and a value: spreadsheets write both. A semicolon or a tab may stand for the comma where the header or a line
 * `sep=;` before it says so. Papa knows one line end for a text and takes a misplaced quote for a character, so `cutRecords` makes the ends one
 * and finds such quotes first. The lines come as many at once as a piece of the text has, or as several of them where a record is long.
 */
export async function* readCsv(text: AsyncIterable<string>, maxRecordLength: number): AsyncGenerator<readonly RawLine[]> {
  // Quotes make a record at most three times as long as its values with commas between them.
  const maxLength = 3 * maxRecordLength + 3;
  let start: TableStart = { text: '', skipped: 0 };
  let parseRecords: ReturnType<typeof openParser>;
  let header: readonly string[] | undefined;
  /** The places of the columns that have a name. */
  let named: readonly number[] = [];
  let toValues: ReturnType<typeof createLineReader>;
  let rest = '';
  let line = 1;
  const toLines = async (piece: string): Promise<readonly RawLine[]> => {
    const lines: RawLine[] = [];
    let unread = rest + piece;
    if (start.delimiter === undefined) {
      const end = endOf(unread);
      start = findStart(unread.slice(0, end), line, start.said);
      line += start.skipped;
      unread = start.text + unread.slice(end);
      if (start.delimiter === undefined) {
        if (unread.length > maxLength) throw tooLong(line, maxRecordLength);
        rest = unread;
        return lines;
      }
      parseRecords = openParser(start.delimiter);
    }
    const end = endOf(unread);
    const cut = cutRecords(unread.slice(0, end), start.delimiter);
    rest = cut.rest + unread.slice(end);
    const isQuoted = cut.records.includes('"');
    for (const fields of await parseRecords(cut.records)) {
      const first = line;
      line += isQuoted ? countLines(fields) : 1;
      if (fields.every(isBlank)) continue;
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
    if (rest.length > maxLength) throw tooLong(line, maxRecordLength);
    return lines;
  };
  let waiting = '';
  for await (const piece of text) {
    waiting += piece;
    // A record that is not whole is gone over again when as much has come again, so that its time grows with its length alone.
    if (waiting.length < rest.length && rest.length + waiting.length <= maxLength) continue;
    yield await toLines(waiting);
    waiting = '';
  }
  yield await toLines(`${waiting}\n`);
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

/** The length of a text without a CR at its end, because an LF that belongs to it may follow. */
const endOf = (text: string): number => text.length - (text.endsWith('\r') ? 1 : 0);

/** The line by which a file tells Excel its separator. A spreadsheet may have put it in quotes and filled it up with separators. */
const SEPARATOR = /^"?sep=([,;\t|])"?[\s,;|]*$/i;
/** The separators that are looked for in a header. The last is taken only where a line `sep=|` says it. */
const DELIMITERS = [',', ';', '\t', '|'];
const LINE_END = /\r\n|\n|\r/;
const toName = (cell: string): string => cell.trim().toLowerCase();
const isBlank = (value: string): boolean => value.trim() === '';
const namesField = (names: readonly string[]): boolean => names.some((name) => isLineName(toName(name)));
const cellsOf = (line: string, delimiter: string): string[] => line.split(delimiter).map((cell) => cell.replace(/^\s*"|"\s*$/g, ''));

interface TableStart {
  /** The text from the begin of the header, or of the first line that is not whole. */
  readonly text: string;
  /** The number of lines that were left out before it. */
  readonly skipped: number;
  /** The separator that a line `sep=` says. */
  readonly said?: string | undefined;
  /** The separator of the header; undefined while its first line is not whole. */
  readonly delimiter?: string;
}

/**
 * Finds the header of a text that begins with a line: rows of blanks and separators alone, marks of UTF-8 and a line `sep=` may stand before
 * it. Throws an OperatorError where the first other line names no field, or names them by a separator that the file does not tell.
 */
function findStart(text: string, line: number, said?: string): TableStart {
  const content = text.search(/[^\s,;|"]/);
  const before = content < 0 ? text : text.slice(0, content);
  const blanks = before.slice(0, Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1);
  // An odd number of quotes means that a value goes on in the next line.
  const isOpen = blanks.split('"').length % 2 === 0;
  const skipped = isOpen ? 0 : blanks.split(LINE_END).length - 1;
  const rest = text.slice(isOpen ? 0 : blanks.length).replace(/^\uFEFF+/, '');
  const end = LINE_END.exec(rest);
  if (end === null) return { text: rest, skipped, said };
  const first = rest.slice(0, end.index);
  const separator = said === undefined ? SEPARATOR.exec(first)?.[1] : undefined;
  if (separator !== undefined) {
    const next = findStart(rest.slice(end.index + end[0].length), line + skipped + 1, separator);
    return { ...next, skipped: skipped + 1 + next.skipped };
  }
  if (isOpen) return { text: rest, skipped, said, delimiter: said ?? ',' };
  const found = [said ?? ',', ...DELIMITERS].find((delimiter) => namesField(cellsOf(first, delimiter)));
  if (found === undefined) throw noHeader(line + skipped);
  if (found !== said && (said !== undefined || found === '|')) {
    throw new OperatorError(
      `Line ${line + skipped}, the header, has "${found}" between its names: the file must begin with the line sep=${found}`,
    );
  }
  return { text: rest, skipped, said, delimiter: found };
}

const noHeader = (line: number): OperatorError =>
  new OperatorError(
    `Line ${line} is not a header, because it names no field such as deposit_id: the line with the fields' names must be the first`,
  );

/** The names of the columns; an empty one for a column that has none. Throws an OperatorError for a header that is none. */
function checkHeader(fields: readonly string[], line: number): readonly string[] {
  const header = fields.map(toName);
  if (!namesField(header)) throw noHeader(line);
  const faults = [
    ...v2Names.filter((field) => !header.includes(field)).map((field) => `${field} is missing`),
    ...header.filter((name) => name !== '' && !isLineName(name)).map((name) => `${name} is not a field of a deposit line`),
    ...header.filter((name, position) => name !== '' && header.indexOf(name) !== position).map((name) => `${name} stands twice`),
  ];
  if (faults.length > 0) throw new OperatorError(`Line ${line}, the header: ${faults.join(', ')}`);
  return header;
}
