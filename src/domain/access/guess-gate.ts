import { LRUCache } from 'lru-cache';
import type { GuessStore } from '../../data/access/guess-store';
import { AppError } from '../../errors';

const MAX_FAMILIAR = 10_000;

export interface GuessFigures {
  readonly unknown: number;
  readonly refused: number;
}

/** The outcome of a look-up. One that failed tells nothing of the UUID. */
export type LookOutcome = 'found' | 'unknown' | 'failed';

/** Decides over all processes of a gateway whether a UUID may be looked up. */
export interface GuessGate {
  /** True for a UUID that was good at this address before. Its look-ups need no permission. */
  isFamiliar(name: string): boolean;
  /**
   * Resolves when the UUID may be looked up, to the function that takes the outcome. `name` stands for the address and the UUID together.
   * Throws TOO_MANY_PROVISIONS when the address has used up its attempts.
   */
  enter(subscriber: string, name: string): Promise<(outcome: LookOutcome) => void>;
  /** The unknown UUIDs that were looked up since the start, and the look-ups that were refused. */
  readonly figures: GuessFigures;
}

/** Creates the memory of familiar UUIDs that a gate keeps. */
export const createFamiliar = (): LRUCache<string, true> => new LRUCache<string, true>({ max: MAX_FAMILIAR });

/** Addresses with UUIDs that are being looked up, and those that wait for an outcome. */
interface Trials {
  count: number;
  readonly waiting: (() => void)[];
}

/**
 * The gate of one process. The counts are in its memory: guesses then cost the database no writes, and a start forgets counts and familiar
 * UUIDs alike. Look-ups at once share the attempts: those that could exceed them wait for the outcome of the others.
 */
export class LocalGuessGate implements GuessGate {
  private readonly familiar = createFamiliar();
  private readonly counts = { unknown: 0, refused: 0 };
  private readonly trials = new Map<string, Trials>();

  constructor(
    private readonly failures: GuessStore,
    private readonly attempts: number,
  ) {}

  get figures(): GuessFigures {
    return this.counts;
  }

  isFamiliar(name: string): boolean {
    return this.familiar.get(name) ?? false;
  }

  async enter(subscriber: string, name: string): Promise<(outcome: LookOutcome) => void> {
    const trials = await this.findPlace(subscriber);
    return (outcome) => void this.end(subscriber, name, trials, outcome);
  }

  private async end(subscriber: string, name: string, trials: Trials, outcome: LookOutcome): Promise<void> {
    if (outcome === 'found') this.familiar.set(name, true);
    if (outcome === 'unknown') {
      this.counts.unknown++;
      await this.failures.add(subscriber);
    }
    trials.count--;
    if (trials.count === 0) this.trials.delete(subscriber);
    for (const wake of trials.waiting.splice(0)) wake();
  }

  private async findPlace(subscriber: string): Promise<Trials> {
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
