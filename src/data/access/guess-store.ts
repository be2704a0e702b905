import { RateLimiterMemory } from 'rate-limiter-flexible';

const WINDOW_SECONDS = 60;
const MS_PER_SECOND = 1000;

/** The failures of a key in the current minute. */
export interface Guesses {
  readonly count: number;
  /** Seconds until they are forgotten. */
  readonly resetSeconds: number;
}

/**
 * Counts failures by key, for a minute from the first one on, in the memory of the process: a guess of a stranger costs the database no
 * write.
 */
export class GuessStore {
  // The guard has the limit. The library's own, `points`, is not used.
  private readonly counter = new RateLimiterMemory({ points: 1, duration: WINDOW_SECONDS });

  async find(key: string): Promise<Guesses> {
    const state = await this.counter.get(key);
    return { count: state?.consumedPoints ?? 0, resetSeconds: Math.ceil((state?.msBeforeNext ?? 0) / MS_PER_SECOND) };
  }

  async add(key: string): Promise<void> {
    await this.counter.penalty(key);
  }
}
