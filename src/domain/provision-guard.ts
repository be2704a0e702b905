import { LRUCache } from 'lru-cache';
import type { GuessStore } from '../data/guess-store';
import { AppError } from '../errors';
import { subscriberOf } from '../values/addresses';

const MAX_FAMILIAR = 10_000;

export interface GuessFigures {
  readonly unknown: number;
  readonly refused: number;
}

/** Addresses with UUIDs that are being looked up, and those that wait for an outcome. */
interface Trials {
  count: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits the guessing of provisions. An address may send so many unknown UUIDs in a minute; then no new one is looked up for it. UUIDs that
 * were good at this address before are not affected, so that guessers behind a shared address stop no application that works.
 * The counts are in the memory of the process: guesses then cost the database no writes, and a start forgets counts and familiar UUIDs alike.
 */
export class ProvisionGuard {
  private readonly familiar = new LRUCache<string, true>({ max: MAX_FAMILIAR });
  private readonly counts = { unknown: 0, refused: 0 };
  private readonly trials = new Map<string, Trials>();

  constructor(
    private readonly failures: GuessStore,
    private readonly attempts: number,
  ) {}

  /** The unknown UUIDs that were looked up since the start, and the look-ups that were refused. */
  get figures(): GuessFigures {
    return this.counts;
  }

  /**
   * Looks up a UUID for a caller at an address; `find` resolves to null for an unknown one. Throws TOO_MANY_PROVISIONS when the address has
   * used up its attempts. Look-ups at once share the attempts: those that could exceed them wait for the outcome of the others.
   */
  async look<Found>(address: string, uuidHash: Buffer, find: () => Promise<Found | null>): Promise<Found | null> {
    const subscriber = subscriberOf(address);
    const name = `${subscriber} ${uuidHash.toString('base64url')}`;
    if (this.familiar.get(name)) return find();
    const trials = await this.enter(subscriber);
    try {
      const found = await find();
      if (found) this.familiar.set(name, true);
      else {
        this.counts.unknown++;
        await this.failures.add(subscriber);
      }
      return found;
    } finally {
      trials.count--;
      if (trials.count === 0) this.trials.delete(subscriber);
      for (const wake of trials.waiting.splice(0)) wake();
    }
  }

  private async enter(subscriber: string): Promise<Trials> {
    for (;;) {
      const { count, resetSeconds } = await this.failures.find(subscriber);
      const trials = this.trials.get(subscriber) ?? { count: 0, waiting: [] };
      if (count + trials.count < this.attempts) {
        trials.count++;
        this.trials.set(subscriber, trials);
        return trials;
      }
      if (trials.count === 0) {
        this.counts.refused++;
        throw new AppError('TOO_MANY_PROVISIONS', { retryAfterSeconds: resetSeconds });
      }
      await new Promise<void>((wake) => trials.waiting.push(wake));
    }
  }
}
