import { hkdfSync, randomBytes } from 'node:crypto';
import type { LinkKeyStore } from '../../data/access/link-key-store';
import type { Eventually } from './loader';

const KEY_BYTES = 32;
/** A key is the newest for 23 hours. The keys that a process knows may be a minute old, so that it is in use for a day at most. */
const NEWEST_SECONDS = 23 * 60 * 60;
/** Keys that were read earlier are read again, so that a key that an operator deletes is forgotten by all processes. */
const MAX_KNOWN_MS = 60_000;
/** A link or cursor that fits no known key may be of a new one. Keys are read again at most this often: anybody can send such texts. */
const MIN_REREAD_MS = 1000;

/** A key that the processes of all gateways share. It signs links itself; every other use derives a key of its own. */
export class SharedKey {
  private readonly derived = new Map<string, Buffer>();

  constructor(
    /** The key that links are signed with. */
    readonly forLinks: Buffer,
    /** Seconds since it was made, when it was read. */
    readonly age: number,
  ) {}

  /** The key for another use, by HKDF (RFC 5869). */
  for(use: string): Buffer {
    const known = this.derived.get(use) ?? Buffer.from(hkdfSync('sha256', this.forLinks, '', `deposit-gateway ${use}`, KEY_BYTES));
    this.derived.set(use, known);
    return known;
  }
}

interface KnownKeys {
  /** Requests at the same time share a reading. */
  keys: Eventually<readonly SharedKey[]>;
  readonly readAt: number;
}

/** The keys of links and cursors. They are in the database, made by chance, and replaced daily. */
export class KeyRing {
  private known: KnownKeys | undefined;
  private making: Promise<SharedKey> | undefined;

  constructor(private readonly store: LinkKeyStore) {}

  /** The key for new links and cursors, at once where it is known. Requests that find none make one together. */
  newest(): Eventually<SharedKey> {
    const keys = this.keys(MAX_KNOWN_MS);
    const known = keys instanceof Promise ? undefined : findNewest(keys);
    return known ?? (this.making ??= this.make(keys).finally(() => (this.making = undefined)));
  }

  /** The key that this is true for; undefined when no process has made one. */
  async find(fits: (key: SharedKey) => boolean): Promise<SharedKey | undefined> {
    return (await this.keys(MAX_KNOWN_MS)).find(fits) ?? (await this.keys(MIN_REREAD_MS)).find(fits);
  }

  private async make(keys: Eventually<readonly SharedKey[]>): Promise<SharedKey> {
    const known = findNewest(await keys) ?? findNewest(await this.keys(0));
    if (known) return known;
    // Two processes may both add a key. Each uses the newest that it reads, and both are known to all.
    await this.store.insert(randomBytes(KEY_BYTES));
    return findNewest(await this.keys(0))!;
  }

  /** The keys, the newest first, whose reading began at most this long ago. */
  private keys(maxAgeMs: number): Eventually<readonly SharedKey[]> {
    const now = performance.now();
    if (this.known && now - this.known.readAt < maxAgeMs) return this.known.keys;
    const keys = this.store.list().then((rows) => rows.map(({ key, age }) => new SharedKey(key, age)));
    const known: KnownKeys = { keys, readAt: now };
    this.known = known;
    keys.then(
      (read) => (known.keys = read),
      // A reading that failed is not remembered.
      () => (this.known === known ? (this.known = undefined) : undefined),
    );
    return keys;
  }
}

const findNewest = ([newest]: readonly SharedKey[]): SharedKey | undefined => (newest && newest.age < NEWEST_SECONDS ? newest : undefined);
