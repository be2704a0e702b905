import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { OrderKey } from '../../data/postgres/keyset';
import type { KeyRing, SharedKey } from './key-ring';
import type { PlaceForm } from './keyset-page';

const CIPHER = 'aes-256-gcm';
const MARK_BYTES = 6;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Names of usual lengths make places of one length, so that a place does not tell how long a name is. */
const BLOCK_BYTES = 64;

/** Tells the keys apart. It tells nothing of the key. */
export const markOf = (key: SharedKey): string => key.for('marks of cursors').toString('base64url', 0, MARK_BYTES);

/**
 * The sealed places in the cursors of a request: AES-256-GCM, by a key that all gateways of the database share, so that nobody reads or
 * forges the names in them. A place is sealed for its list alone, whose query is authenticated with it.
 */
export class SealedPlaces {
  /** The mark of the key that cursors of the answer are sealed by; undefined while it has none. */
  private usedMark: string | undefined;

  constructor(private readonly keys: KeyRing) {}

  get keyMark(): string | undefined {
    return this.usedMark;
  }

  /** The form of sealed places, with the keys of the places that a request has sent. Nothing is read where it has sent none. */
  async open(places: readonly string[]): Promise<PlaceForm> {
    const marks = new Set(places.map((place) => toMark(Buffer.from(place, 'base64url'))));
    const opening = new Map<string, SharedKey>();
    for (const mark of marks) {
      const key = await this.keys.find((each) => markOf(each) === mark);
      if (key) opening.set(mark, key);
    }
    return {
      write: (place, query) => {
        const write = (key: SharedKey): string => {
          this.usedMark = markOf(key);
          return seal(key, place, query).toString('base64url');
        };
        const key = this.keys.newest();
        return key instanceof Promise ? key.then(write) : write(key);
      },
      read: (text, query) => {
        const bytes = Buffer.from(text, 'base64url');
        const key = opening.get(toMark(bytes));
        return key ? unseal(key, bytes, query) : 'expired';
      },
    };
  }
}

const toMark = (bytes: Buffer): string => bytes.toString('base64url', 0, MARK_BYTES);

/**
 * Seals a place. Equal places of a list have equal bytes, so that equal questions have equal answers: the nonce is computed from all that it
 * is used for, and two different places share none (as in RFC 5297, which Node has no cipher for).
 */
function seal(key: SharedKey, place: OrderKey, query: string): Buffer {
  const text = Buffer.from(JSON.stringify(place));
  const padded = Buffer.alloc(Math.ceil(text.length / BLOCK_BYTES) * BLOCK_BYTES, ' ');
  text.copy(padded);
  const nonce = createHmac('sha256', key.for('nonces of cursors')).update(`${query}\n`).update(padded).digest().subarray(0, NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key.for('cursors'), nonce).setAAD(Buffer.from(query));
  const sealed = [cipher.update(padded), cipher.final()];
  return Buffer.concat([Buffer.from(markOf(key), 'base64url'), nonce, ...sealed, cipher.getAuthTag()]);
}

/** Undefined for bytes that no gateway has sealed for this list. */
function unseal(key: SharedKey, bytes: Buffer, query: string): OrderKey | undefined {
  const [start, end] = [MARK_BYTES + NONCE_BYTES, bytes.length - TAG_BYTES];
  if (start >= end) return undefined;
  const decipher = createDecipheriv(CIPHER, key.for('cursors'), bytes.subarray(MARK_BYTES, start), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(query)).setAuthTag(bytes.subarray(end));
  const text = decipher.update(bytes.subarray(start, end));
  try {
    decipher.final();
  } catch {
    // Node tells a wrong tag by an error alone.
    return undefined;
  }
  return JSON.parse(text.toString()) as OrderKey;
}
