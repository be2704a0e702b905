import { createHash, randomUUID } from 'node:crypto';
import type { NewKey } from '../../data/access/provision-store';

/** The characters of a UUID that people see. The other 24 still have 90 random bits. */
export const FIRST_CHARACTERS = 8;

const sha256 = (content: string | Buffer): Buffer => createHash('sha256').update(content).digest();

/** The SHA-256 of a provision's UUID in lower case, the form in which it is stored. */
export const hashUuid = (uuid: string): Buffer => sha256(uuid.toLowerCase());

/**
 * The proof of a UUID that a link carries: the SHA-256 of its sixteen bytes. Only the hash of the proof is stored, so that who has read the
 * database and the keys of links can still make no link for a provision.
 */
export const toUuidProof = (uuid: string): Buffer => sha256(Buffer.from(uuid.replaceAll('-', ''), 'hex'));

/** A new UUID with its key. It is random (version 4, RFC 9562), so that nobody can guess it. */
export function createUuid(): { readonly uuid: string; readonly key: NewKey } {
  const uuid = randomUUID();
  const key = { uuidHash: hashUuid(uuid), linkHash: sha256(toUuidProof(uuid)), firstCharacters: uuid.slice(0, FIRST_CHARACTERS) };
  return { uuid, key };
}
