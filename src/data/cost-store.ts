import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from './postgres/database';

/** The time for which a budget is given. */
export const WINDOW_SECONDS = 60;

/** The rest of a budget. */
export interface BudgetState {
  readonly isWithin: boolean;
  readonly remaining: number;
  readonly resetMs: number;
}

/**
 * Counts costs by key, for a minute from the first one on. The count is in the database, so that all processes share it, and in memory while
 * the database is away.
 */
export class CostStore {
  private readonly limiter: RateLimiterPostgres;

  constructor(database: Database, costPerMinute: number) {
    const options = { keyPrefix: 'cost', points: costPerMinute, duration: WINDOW_SECONDS };
    this.limiter = new RateLimiterPostgres({
      ...options,
      storeClient: database.pool,
      tableName: 'spent_cost',
      tableCreated: true,
      clearExpiredByTimeout: true,
      insuranceLimiter: new RateLimiterMemory(options),
    });
  }

  /** Takes a cost from the budget of a key. Nothing is taken where the budget is too small. */
  async take(key: string, cost: number): Promise<BudgetState> {
    try {
      return toState(await this.limiter.consume(key, cost), true);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      // The library has counted the cost all the same. It is given back, so that cheaper operations still have what is left.
      return toState(await this.limiter.reward(key, cost), false);
    }
  }
}

const toState = ({ remainingPoints, msBeforeNext }: RateLimiterRes, isWithin: boolean): BudgetState => ({
  isWithin,
  remaining: Math.max(0, remainingPoints),
  resetMs: msBeforeNext,
});
