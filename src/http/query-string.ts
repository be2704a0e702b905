import { decodeUtf8, Utf8Fault } from '../values/utf8';

/** The parameters of a query string. A name that is given several times has an array. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>;

/** A query string that cannot be decoded. The message names the parameter, and no value. */
export class QueryFault extends Error {
  override readonly name = 'QueryFault';
}

const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

/**
 * Reads a query string as forms write it (WHATWG URL, section 5.1), but strictly. Node's own reader and URLSearchParams put U+FFFD in the
 * place of bytes that are not UTF-8, and pass over a `%` that begins no escape. Throws a QueryFault.
 */
export function parseQueryString(text: string): Parameters {
  const parameters: Record<string, string | string[]> = Object.create(null) as object as Record<string, string | string[]>;
  for (const part of text.split('&')) {
    if (part === '') continue;
    const end = part.indexOf('=');
    const given = end < 0 ? part : part.slice(0, end);
    const name = decode(given, `the name "${given}"`);
    const value = end < 0 ? '' : decode(part.slice(end + 1), name);
    const before = parameters[name];
    if (typeof before === 'object') before.push(value);
    else parameters[name] = before === undefined ? value : [before, value];
  }
  return parameters;
}

function decode(given: string, what: string): string {
  if (BAD_ESCAPE.test(given)) throw new QueryFault(`${what} has a % that begins no escape, such as %25`);
  const text = given.replaceAll('+', ' ');
  const bytes = Buffer.from(
    text.replaceAll(/%(..)/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (error instanceof Utf8Fault) throw new QueryFault(`${what} ${error.message}`, { cause: error });
    throw error;
  }
}
