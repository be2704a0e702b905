import { OperatorError } from '../errors';
import { readCsv } from './csv-reader';
import type { ImportFormat } from '../values/file-formats';
import type { RawLine } from './import-line';
import { findJsonFault } from './json-fault';
import { readResponse } from './response-reader';

const MAX_LINE_LENGTH = 1_000_000;
/** The number of bytes that are read as one text. V8 is late to free a string of 128 kB, and a character may take two bytes. */
const PIECE_LENGTH = 32_768;

/**
 * Reads the lines of a file in constant memory, some at a time: waiting for each line would take longer than most of the work on it. Throws
 * an OperatorError when the file does not have its format. It reads the file once, so that a pipe may stand for it.
 */
export function readImportLines(format: ImportFormat, file: AsyncIterable<Buffer>): AsyncIterable<readonly RawLine[]> {
  const text = decodeText(file);
  switch (format) {
    case 'json':
      return readResponse(text);
    case 'ndjson':
      return readNdjson(text);
    case 'csv':
      return readCsv(text, MAX_LINE_LENGTH);
  }
}

const CUT_OFF = 'The file ends within a character of UTF-8, so it is not whole: a download may have been cut off';

/** The beginnings of files that are no text of lines, and what to do with each. The longer ones come before those that they begin with. */
const FOREIGN: readonly (readonly [start: readonly number[], sentence: string])[] = [
  [[0x50, 0x4b], 'The file is a spreadsheet or an archive (zip): open it and save it as "CSV UTF-8"'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'The file is an old spreadsheet (xls): open it and save it as "CSV UTF-8"'],
  [[0x1f, 0x8b], 'The file is compressed (gzip): unpack it first'],
  [[0x25, 0x50, 0x44, 0x46], 'The file is a PDF: ask its source for CSV or JSON'],
  [[0xff, 0xfe, 0, 0], 'The file is UTF-32 text: save it as UTF-8'],
  [[0, 0, 0xfe, 0xff], 'The file is UTF-32 text: save it as UTF-8'],
];
/** The encodings that a byte order mark tells. */
const MARKED: readonly (readonly [start: readonly number[], encoding: string])[] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];
const findStart = <Meaning>(table: readonly (readonly [readonly number[], Meaning])[], head: Buffer): Meaning | undefined =>
  table.find(([start]) => start.every((byte, at) => head[at] === byte))?.[1];
const MAX_START = 4;
/** True for the first bytes of UTF-16 or UTF-32 without its mark, which has NULs beside each letter of its header. */
const looksWide = (head: Buffer): boolean => [2, 3].includes(head.filter((byte) => byte === 0).length);

/**
 * Decodes UTF-8, or UTF-16 with its byte order mark, and drops the mark. Throws an OperatorError for other bytes, which would become
 * replacement characters.
 */
export async function* decodeText(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let encoding = 'utf-8';
  let isAtEnd = false;
  const open = (head: Buffer): InstanceType<typeof TextDecoder> => {
    const foreign = findStart(FOREIGN, head);
    if (foreign !== undefined) throw new OperatorError(foreign);
    encoding = findStart(MARKED, head) ?? 'utf-8';
    if (encoding === 'utf-8' && looksWide(head)) throw new OperatorError('The file is UTF-16 text without its mark: save it as UTF-8');
    return new TextDecoder(encoding, { fatal: true });
  };
  try {
    let head: Buffer = Buffer.alloc(0);
    for await (const read of bytes) {
      const piece = head.length > 0 ? Buffer.concat([head, read]) : read;
      head = Buffer.alloc(0);
      if (!decoder && piece.length < MAX_START) {
        head = piece;
        continue;
      }
      decoder ??= open(piece.subarray(0, MAX_START));
      for (let at = 0; at < piece.length; at += PIECE_LENGTH) yield decoder.decode(piece.subarray(at, at + PIECE_LENGTH), { stream: true });
    }
    decoder ??= open(head);
    yield decoder.decode(head, { stream: true });
    isAtEnd = true;
    yield decoder.decode();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    if (isAtEnd && encoding === 'utf-8') throw new OperatorError(CUT_OFF, { cause: error });
    throw new OperatorError(
      encoding === 'utf-8'
        ? 'The file is not UTF-8 text, but perhaps Windows-1252 (ANSI), as spreadsheets save it: save it as "CSV UTF-8"'
        : 'The file is not whole UTF-16 text',
      { cause: error },
    );
  }
}

/** Reads a JSON object from each line of text and skips empty lines. */
async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<readonly RawLine[]> {
  let line = 0;
  for await (const contents of splitLines(text)) {
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
