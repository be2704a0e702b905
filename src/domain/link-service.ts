import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { LinkKey, LinkKeyStore } from '../data/link-key-store';
import { AppError } from '../errors';
import { toLink, toSignedText, type Link, type LinkCaller } from '../formats/link-address';
import type { RequestAccess } from './access-service';

const KEY_BYTES = 32;
/** A key signs for 23 hours and is kept for 25: a link lives for an hour at most, and a key's age is that of its last reading. */
const SIGNING_SECONDS = 23 * 60 * 60;
const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1000;
/** Keys that were read earlier are read again, so that a key that an operator deletes is forgotten by all processes. */
const MAX_KNOWN_MS = 60_000;
/** A signature that fits no known key may be of a new one. Keys are read again at most this often, because anybody can send signatures. */
const MIN_REREAD_MS = 1000;

interface KnownKeys {
  /** Requests at the same time share a reading. */
  readonly keys: Promise<readonly LinkKey[]>;
  readonly readAt: number;
}

/**
 * Signs links to files, and checks them. A link stands for its caller at one address for some minutes. It grants nothing by itself: every
 * download checks what the caller may do at that moment.
 */
export class LinkService {
  private known: KnownKeys | undefined;
  private making: Promise<Buffer> | undefined;

  constructor(
    private readonly store: LinkKeyStore,
    private readonly linkMinutes: number,
  ) {}

  /** The link to the address of a file, for the caller of a request. Throws an AppError. */
  async sign(address: string, access: RequestAccess): Promise<string> {
    const caller = await access.caller.forLink();
    const expires = Math.floor(Date.now() / MS_PER_SECOND) + this.linkMinutes * SECONDS_PER_MINUTE;
    const text = toSignedText(address, expires, caller);
    return toLink(text, toSignature(await this.signingKey(), text));
  }

  /** The caller whom a link stands for. Throws INVALID_LINK. */
  async open({ signedText, signature, expires, caller }: Link): Promise<LinkCaller> {
    const isSigned = (keys: readonly LinkKey[]): boolean =>
      keys.map(({ key }) => timingSafeEqual(toSignature(key, signedText), signature)).includes(true);
    if (!isSigned(await this.keys(MAX_KNOWN_MS)) && !isSigned(await this.keys(MIN_REREAD_MS)))
      throw new AppError('INVALID_LINK', { fault: 'its signature is wrong' });
    if (expires * MS_PER_SECOND <= Date.now()) throw new AppError('INVALID_LINK', { fault: 'it has expired' });
    return caller;
  }

  /** The key to sign with. Requests that find none make one together. */
  private async signingKey(): Promise<Buffer> {
    const known = findYoung(await this.keys(MAX_KNOWN_MS));
    if (known) return known;
    this.making ??= this.makeKey().finally(() => (this.making = undefined));
    return this.making;
  }

  private async makeKey(): Promise<Buffer> {
    const known = findYoung(await this.keys(0));
    if (known) return known;
    // Two processes may both add a key. Each signs with the newest that it reads, and both are known to all.
    await this.store.insert(randomBytes(KEY_BYTES));
    return findYoung(await this.keys(0))!;
  }

  /** The keys, whose reading began at most this long ago. */
  private keys(maxAgeMs: number): Promise<readonly LinkKey[]> {
    const now = performance.now();
    if (this.known && now - this.known.readAt < maxAgeMs) return this.known.keys;
    const known = { keys: this.store.list(), readAt: now };
    this.known = known;
    // A reading that failed is not remembered.
    known.keys.catch(() => {
      if (this.known === known) this.known = undefined;
    });
    return known.keys;
  }
}

const findYoung = ([newest]: readonly LinkKey[]): Buffer | undefined => (newest && newest.age < SIGNING_SECONDS ? newest.key : undefined);

const toSignature = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
