import { pipeline, Readable } from 'node:stream';
import { CsvError, parse as parseCsv } from 'csv-parse';
import { chain } from 'stream-chain';
import { parser as jsonParser } from 'stream-json';
import { pick } from 'stream-json/filters/Pick';
import { streamArray } from 'stream-json/streamers/StreamArray';
import { OperatorError } from '../errors';
import type { FileFormat } from './file-format';
import { optionalFields, toLineValues, type RawLine } from './import-line';
import { findJsonFault, findJsonFaultIn } from './json-fault';
import { v2Fields } from './v2-line';

const MAX_LINE_LENGTH = 1_000_000;

type Open = () => AsyncIterable<string>;

/**
 * Reads the lines of a file in constant memory. Throws an OperatorError when the file does not have its format. It may open the file a
 * second time to find the place of the fault.
 */
export async function* readImportLines(format: FileFormat, open: () => AsyncIterable<Buffer>): AsyncGenerator<RawLine> {
  const readers = { json: readJson, ndjson: readNdjson, csv: readCsv };
  yield* readers[format](() => decode(open()));
}

/** Decodes UTF-8 and drops the byte order mark. Throws an OperatorError for other bytes, which would become replacement characters. */
async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of bytes) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new OperatorError('The file is not UTF-8 text', { cause: error });
    throw error;
  }
}

/** Reads a v2 answer: `{"response":[…]}`. */
async function* readJson(open: Open): AsyncGenerator<RawLine> {
  const response = { depth: 0, seen: false, ended: false };
  const follow = (token: { readonly name: string }): unknown => {
    if (response.ended) throw new OperatorError('The file is not a v2 answer in JSON: it has two arrays "response"');
    response.seen = true;
    if (token.name === 'startArray' || token.name === 'startObject') response.depth++;
    if (token.name === 'endArray' || token.name === 'endObject') response.ended = --response.depth === 0;
    return token;
  };
  const lines = chain([Readable.from(open()), jsonParser({ streamValues: false }), pick({ filter: /^response$/ }), follow, streamArray()]);
  try {
    for await (const { key, value } of lines as AsyncIterable<{ key: number; value: unknown }>) yield { line: key + 1, values: value };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    // The parser does not tell the place of a fault.
    const fault = await findJsonFaultIn(open());
    const reason = fault === undefined ? '"response" must be an array' : `it ${fault}`;
    throw new OperatorError(`The file is not a v2 answer in JSON: ${reason}`, { cause: error });
  }
  if (!response.seen) throw new OperatorError('The file is not a v2 answer in JSON: it has no array "response"');
}

/** Reads a JSON object from each line of text and skips empty lines. */
async function* readNdjson(open: Open): AsyncGenerator<RawLine> {
  let line = 0;
  for await (const content of splitLines(open())) {
    line++;
    if (content.trim() === '') continue;
    yield { line, values: parseJson(content, line) };
  }
}

async function* splitLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  let line = 1;
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    line += lines.length;
    if (rest.length > MAX_LINE_LENGTH) throw new OperatorError(`Line ${line} is longer than ${MAX_LINE_LENGTH} characters`);
    yield* lines;
  }
  yield rest;
}

function parseJson(content: string, line: number): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    const fault = findJsonFault(content)?.replace('line 1, ', '') ?? 'is not JSON';
    throw new OperatorError(`Line ${line} ${fault}`, { cause: error });
  }
}

/** Reads CSV (RFC 4180) with a header that names the fields in any order. Lines may end in CRLF, LF or CR. */
async function* readCsv(open: Open): AsyncGenerator<RawLine> {
  const seen = { header: false };
  const records = parseCsv({
    columns: (header: string[]) => {
      seen.header = true;
      return checkHeader(header);
    },
    info: true,
    max_record_size: MAX_LINE_LENGTH,
    // Without this, csv-parse takes the end of the first line as the end of every line, and reads another end as part of a value.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
  });
  // The loop below gets every error, because pipeline passes errors of the source on to `records`.
  pipeline(Readable.from(open()), records, () => undefined);
  let returns = 0;
  try {
    for await (const { record, info } of records as AsyncIterable<{ record: Record<string, string>; info: { lines: number } }>) {
      // csv-parse gives a record the number of its last line, and counts a line for each CR and each LF within a value.
      const content = Object.values(record).join(',');
      returns += count(content, '\r');
      yield { line: info.lines - returns - count(content, '\n'), values: toLineValues(record) };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new OperatorError(`The file is not valid CSV: ${error.message}`, { cause: error });
    throw error;
  }
  if (!seen.header) throw new OperatorError('The file is empty: a CSV file begins with a header that names the fields');
}

const count = (content: string, character: string): number => content.split(character).length - 1;

function checkHeader(header: string[]): string[] {
  const known: readonly string[] = [...v2Fields, ...optionalFields];
  const faults = [
    ...v2Fields.filter((field) => !header.includes(field)).map((field) => `${field} is missing`),
    ...header.filter((name) => !known.includes(name)).map((name) => `${name} is not a field of a deposit line`),
    ...header.filter((name, position) => header.indexOf(name) !== position).map((name) => `${name} stands twice`),
  ];
  if (faults.length > 0) throw new OperatorError(`Line 1, the header: ${faults.join(', ')}`);
  return header;
}
