import express, { type Request, type Response } from 'express';
import { AppError } from '../errors';
import { assertWholeCharacters, JsonFault, readJson } from '../formats/json-text';
import { parseQueryString, QueryFault } from './query-string';

/** Longer than any operation. */
const MAX_BODY = '100kb';
/** Compressed bodies are refused, because 100 kB can expand to 100 MB. */
const readBytes = express.raw({ limit: MAX_BODY, inflate: false, type: 'application/json' });
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;
/** JSON between systems is UTF-8 (RFC 8259 section 8.1), whose name many programs write without the hyphen. */
const UTF8 = /^utf-?8$/i;
/** The parameters whose values are JSON (GraphQL over HTTP, section 6.2.1). */
const JSON_PARAMETERS = ['variables', 'extensions'];

/** JSON that is no GraphQL request, because it is a text, a number or null. */
export class NoObjectError extends AppError {
  constructor() {
    super('BAD_REQUEST', { fault: 'the body is not a JSON object' });
  }
}

/** False for a body that says that it is not UTF-8. */
export function isUtf8Body(request: Request): boolean {
  const [, charset = 'utf-8'] = CHARSET.exec(request.get('Content-Type') ?? '') ?? [];
  return UTF8.test(charset);
}

/**
 * Reads the JSON of a GraphQL request into `request.body`, which stays undefined for a request without a body or with one of another media
 * type. Resolves to its bytes. Throws BAD_REQUEST with the place of what cannot be read in the body or the address, and quotes nothing: a
 * body may hold a password.
 */
export async function readOperation(request: Request, response: Response): Promise<Buffer | undefined> {
  if (!isUtf8Body(request)) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  assertDecodable(searchOf(request));
  await new Promise<void>((resolve, reject) => {
    readBytes(request, response, (fault?: Error) => (fault ? reject(fault) : resolve()));
  });
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes)) return undefined;
  request.body = bytes.length === 0 ? {} : toObject(bytes);
  return bytes;
}

/** The query string of the address with its question mark, as GraphQL servers read it. Express would end it at a `#`. */
export function searchOf({ originalUrl }: Request): string {
  const query = originalUrl.indexOf('?');
  return query < 0 ? '' : originalUrl.slice(query);
}

/** GraphQL servers read the address themselves, and put U+FFFD in the place of what cannot be decoded. */
function assertDecodable(search: string): void {
  const parameters = refusing('', () => parseQueryString(search.slice(1)));
  for (const name of JSON_PARAMETERS) {
    for (const json of [parameters[name] ?? []].flat()) refusing(`${name} `, () => assertWholeCharacters(json));
  }
}

function toObject(bytes: Buffer): object {
  const value = refusing('the body ', () => readJson(bytes));
  if (typeof value !== 'object' || value === null) throw new NoObjectError();
  return value;
}

/** Turns a fault of reading into BAD_REQUEST; the fault follows the name of what was read. */
function refusing<Value>(what: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof QueryFault || error instanceof JsonFault) throw new AppError('BAD_REQUEST', { fault: what + error.message });
    throw error;
  }
}
