import { decodeUtf8, Utf8Fault } from '../values/utf8';
import { findJsonFault } from './json-fault';

/** Longer texts are not searched for the fault, because the search blocks the event loop. */
const MAX_LOCATED_LENGTH = 20_000;
/** An escape within JSON: a pair of halves, a half alone, or any other. A backslash that is escaped itself begins none. */
const ESCAPE = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|[^])/g;
const MAY_BE_HALF = /\\u[dD][89a-fA-F]/;

/** The fault of a text that should be JSON. The message follows the text's name and quotes nothing, since the text may be personal. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
}

/**
 * Reads JSON. Throws a JsonFault for bytes that are not UTF-8, for a text that is not JSON, and for an escape of half a character, such as
 * `\ud800`: JSON's grammar takes it, but no UTF-8 can hold it, and the database would get U+FFFD.
 */
export function readJson(given: Uint8Array | string): unknown {
  const text = typeof given === 'string' ? given : decode(given).replace(/^\uFEFF/, '');
  const value = parse(text);
  assertWholeCharacters(text);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's message quotes the text.
    throw new JsonFault((text.length <= MAX_LOCATED_LENGTH ? findJsonFault(text) : undefined) ?? 'is not JSON');
  }
}

/** Throws a JsonFault for JSON with an escape of half a character. */
export function assertWholeCharacters(json: string): void {
  if (!MAY_BE_HALF.test(json)) return;
  for (const { index, groups } of json.matchAll(ESCAPE)) {
    if (groups?.half === undefined) continue;
    const lines = json.slice(0, index).split('\n');
    throw new JsonFault(`has half of a character at line ${lines.length}, column ${Array.from(lines.at(-1)!).length + 1}`);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (error instanceof Utf8Fault) throw new JsonFault(error.message, { cause: error });
    throw error;
  }
}
