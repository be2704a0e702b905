import { OperatorError } from '../errors';
import { readCsv } from './csv-reader';
import type { FileFormat } from './file-format';
import type { RawLine } from './import-line';
import { findJsonFault } from './json-fault';
import { readResponse } from './response-reader';

const MAX_LINE_LENGTH = 1_000_000;
/** The number of bytes that are read as one text. V8 is late to free a string of 128 kB, and a character may take two bytes. */
const PIECE_LENGTH = 32_768;

type Open = () => AsyncIterable<string>;

/**
 * Reads the lines of a file in constant memory, some at a time: waiting for each line would take longer than most of the work on it. Throws
 * an OperatorError when the file does not have its format. It may open the file a second time to find the place of the fault.
 */
export function readImportLines(format: FileFormat, open: () => AsyncIterable<Buffer>): AsyncIterable<readonly RawLine[]> {
  const text = (): AsyncIterable<string> => decode(open());
  switch (format) {
    case 'json':
      return readResponse(text);
    case 'ndjson':
      return readNdjson(text);
    case 'csv':
      return readCsv(text(), MAX_LINE_LENGTH);
  }
}

/** Decodes UTF-8 and drops the byte order mark. Throws an OperatorError for other bytes, which would become replacement characters. */
async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of bytes) {
      for (let at = 0; at < piece.length; at += PIECE_LENGTH) yield decoder.decode(piece.subarray(at, at + PIECE_LENGTH), { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new OperatorError('The file is not UTF-8 text', { cause: error });
    throw error;
  }
}

/** Reads a JSON object from each line of text and skips empty lines. */
async function* readNdjson(open: Open): AsyncGenerator<readonly RawLine[]> {
  let line = 0;
  for await (const contents of splitLines(open())) {
    const lines: RawLine[] = [];
    for (const content of contents) {
      line++;
      if (content.trim() !== '') lines.push({ line, values: parseJson(content, line) });
    }
    yield lines;
  }
}

/** Splits a text into lines, which come as many at once as a piece of the text has. */
async function* splitLines(text: AsyncIterable<string>): AsyncGenerator<string[]> {
  let rest = '';
  let line = 1;
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    line += lines.length;
    if (rest.length > MAX_LINE_LENGTH) throw new OperatorError(`Line ${line} is longer than ${MAX_LINE_LENGTH} characters`);
    yield lines;
  }
  yield [rest];
}

function parseJson(content: string, line: number): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    const fault = findJsonFault(content)?.replace('line 1, ', '') ?? 'is not JSON';
    throw new OperatorError(`Line ${line} ${fault}`, { cause: error });
  }
}
