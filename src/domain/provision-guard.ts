import { LRUCache } from 'lru-cache';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { AppError } from '../errors';
import { subscriberOf } from '../values/addresses';

const WINDOW_SECONDS = 60;
const MAX_FAMILIAR = 10_000;

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
  private readonly failures: RateLimiterMemory;
  private readonly familiar = new LRUCache<string, true>({ max: MAX_FAMILIAR });
  private readonly trials = new Map<string, Trials>();

  constructor(private readonly attempts: number) {
    this.failures = new RateLimiterMemory({ keyPrefix: 'provision', points: attempts, duration: WINDOW_SECONDS });
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
      else await this.failures.penalty(subscriber);
      return found;
    } finally {
      trials.count--;
      if (trials.count === 0) this.trials.delete(subscriber);
      for (const wake of trials.waiting.splice(0)) wake();
    }
  }

  private async enter(subscriber: string): Promise<Trials> {
    for (;;) {
      const state = await this.failures.get(subscriber);
      const trials = this.trials.get(subscriber) ?? { count: 0, waiting: [] };
      if ((state?.consumedPoints ?? 0) + trials.count < this.attempts) {
        trials.count++;
        this.trials.set(subscriber, trials);
        return trials;
      }
      if (trials.count === 0) throw new AppError('TOO_MANY_PROVISIONS', { retryAfterSeconds: Math.ceil(state!.msBeforeNext / 1000) });
      await new Promise<void>((wake) => trials.waiting.push(wake));
    }
  }
}
