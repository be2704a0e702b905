import { LRUCache } from 'lru-cache';
import { AppError, InputError } from '../../errors';
import type { VersionStamp } from '../postgres/version-stamp';

/** A value that was computed from the books, and the data version that it is of. */
export interface VersionedValue<Value> {
  readonly version: VersionStamp;
  readonly value: Value;
}

/** The numbers of values since the start. */
export interface MemoryFigures {
  /** Those that were kept from a request before, or shared with one. */
  readonly kept: number;
  /** Those that were computed from the books. */
  readonly read: number;
}

/** About the bytes that V8 takes for a text, an object or an array beside its content, and for a number or a reference. */
const HEAD_BYTES = 24;
const PLACE_BYTES = 8;
/** The fewest values that there is room for: one that is larger is not kept, because it would drive out all others. */
const LEAST_ENTRIES = 4;

/** The work of the request that asks for a value. */
interface Computing<Value> {
  readonly compute: () => Promise<VersionedValue<Value>>;
  /** Resolves when this request waits for no other any longer. It is asked when another one computes the value. */
  readonly patience: () => Promise<void>;
}

/**
 * Keeps values that were read or computed from the books, such as totals and answers, within a bound of memory. A value is right for as long
 * as it is kept, because the data version is part of its key. Requests that want the same value at the same time compute it once.
 */
export class VersionMemory {
  private readonly kept: LRUCache<string, object>;
  private readonly underWay = new Map<string, Promise<VersionedValue<object>>>();
  private readonly counts = { kept: 0, read: 0 };

  constructor(maxBytes: number) {
    const bound = (bytes: number): number => Math.max(1, Math.floor(bytes));
    const maxEntrySize = bound(maxBytes / LEAST_ENTRIES);
    this.kept = new LRUCache({
      // A bound of 0 keeps nothing.
      maxSize: bound(maxBytes),
      maxEntrySize,
      sizeCalculation: (value, key) => sizeWithin(maxEntrySize, { key, value }),
    });
  }

  get figures(): MemoryFigures {
    return this.counts;
  }

  count(outcome: keyof MemoryFigures): void {
    this.counts[outcome]++;
  }

  /** Returns the value of this version; undefined when it is not kept. */
  find(version: VersionStamp, key: string): object | undefined {
    return this.kept.get(toName(version, key));
  }

  keep(key: string, { version, value }: VersionedValue<object>): void {
    this.kept.set(toName(version, key), value);
  }

  /**
   * Returns the value of this version. `compute` may find that the books have gone on, and then gives a value of a newer version. While
   * another request computes the value, this one waits for it, as long as it has patience.
   */
  async get<Value extends object>(
    version: VersionStamp,
    key: string,
    { compute, patience }: Computing<Value>,
  ): Promise<VersionedValue<Value>> {
    const name = toName(version, key);
    for (let other = this.underWay.get(name); other; other = this.underWay.get(name)) {
      const outcome = await Promise.race([outcomeOf(other), patience()]);
      if (!outcome) break;
      if (outcome.found) {
        this.count('kept');
        return outcome.found as VersionedValue<Value>;
      }
      // A question that is wrong is wrong for everybody who asks it.
      if (outcome.error instanceof InputError) throw outcome.error;
      // A request may be refused a lane that another one gets. A reader who has left makes room for the next at once.
      if (outcome.error instanceof AppError) break;
    }
    const value = this.find(version, key);
    if (value) {
      this.count('kept');
      return { version, value: value as Value };
    }
    const computing = compute();
    this.underWay.set(name, computing);
    try {
      const computed = await computing;
      this.count('read');
      this.keep(key, computed);
      return computed;
    } finally {
      if (this.underWay.get(name) === computing) this.underWay.delete(name);
    }
  }
}

const outcomeOf = (
  computing: Promise<VersionedValue<object>>,
): Promise<{ readonly found?: VersionedValue<object>; readonly error?: unknown }> =>
  computing.then(
    (found) => ({ found }),
    (error: unknown) => ({ error }),
  );

/** About the bytes of a value, or a number above the limit. Texts count two bytes a character, which is the most that they take. */
function sizeWithin(limit: number, value: unknown): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && bytes <= limit) {
    const next = open.pop();
    bytes += PLACE_BYTES;
    if (typeof next === 'string') bytes += HEAD_BYTES + 2 * next.length;
    else if (typeof next === 'object' && next !== null) {
      bytes += HEAD_BYTES;
      for (const part of Array.isArray(next) ? (next as unknown[]) : Object.values(next)) open.push(part);
    }
  }
  return bytes;
}

const toName = (version: VersionStamp, key: string): string => `${version} ${key}`;
