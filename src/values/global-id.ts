/** The parts of a global id: the kind of the record, and its id among records of that kind. */
export interface GlobalId {
  readonly kind: string;
  readonly id: string;
}

/**
 * The id of a record that no other record of any kind has: base64url of its kind, a colon and its own id. It is opaque to callers but no
 * secret, so that it has no checksum.
 */
export const toGlobalId = (kind: string, id: string | number): string => Buffer.from(`${kind}:${id}`).toString('base64url');

/** The parts of a text that `toGlobalId` has made; undefined for any other text. */
export function fromGlobalId(text: string): GlobalId | undefined {
  const plain = Buffer.from(text, 'base64url').toString();
  const colon = plain.indexOf(':');
  if (colon < 1) return undefined;
  const parts = { kind: plain.slice(0, colon), id: plain.slice(colon + 1) };
  // Node's decoders pass over bytes that are no UTF-8 and characters that are no base64url, so only the text itself proves that it is an id.
  return toGlobalId(parts.kind, parts.id) === text ? parts : undefined;
}
