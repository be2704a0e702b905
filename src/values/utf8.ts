import { isUtf8 } from 'node:buffer';

/** Bytes that are not UTF-8, and the place of the first of them, counted from 1. The message follows the name of what was read. */
export class Utf8Fault extends Error {
  override readonly name = 'Utf8Fault';

  constructor(readonly byte: number) {
    super(`is not UTF-8 at byte ${byte}`);
  }
}

/**
 * Decodes UTF-8 (RFC 3629). Throws a Utf8Fault for any other bytes: Node's own decoder puts U+FFFD in their place, so that a text is silently
 * another one.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = given.toString();
  if (isUtf8(bytes)) return text;
  // The first U+FFFD that the bytes do not hold stands in the place of the fault. Up to there the text is that of the bytes.
  let place = 0;
  for (const piece of text.split(REPLACEMENT)) {
    place += Buffer.byteLength(piece);
    if (!given.subarray(place, place + REPLACEMENT_BYTES.length).equals(REPLACEMENT_BYTES)) break;
    place += REPLACEMENT_BYTES.length;
  }
  throw new Utf8Fault(place + 1);
}

const REPLACEMENT = '\uFFFD';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** True for a text that another program may have decoded from bytes that are not UTF-8, as Node decodes arguments and the environment. */
export const mayBeMisread = (text: string): boolean => text.includes(REPLACEMENT);

/** True for a text whose escapes, such as `%C3%A9`, are those of UTF-8. The parser of database addresses throws at any other. */
export function mayBeUnescaped(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
