import { RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../../errors';
import { createOwnMemory, type AttemptMemory, type CreateAttemptMemory } from './attempt-memory';
import type { Database } from '../postgres/database';

/** The time for which a budget is given. */
export const WINDOW_SECONDS = 60;
const MS_PER_SECOND = 1000;

/** The rest of a budget. */
export interface BudgetState {
  readonly isWithin: boolean;
  readonly remaining: number;
  readonly resetMs: number;
}

/** Milliseconds of the Unix time, by the clock that all processes share. */
const NOW = '(extract(epoch FROM now()) * 1000)::bigint';

/**
 * Adds a cost to those of its minute, or to those of a new one when the minute is over. No row comes back where the budget is too small; a
 * cost of 0 always fits, so that the rest can be told.
 */
const SPEND = `INSERT INTO spent_cost AS spent (key, points, expire) VALUES ($1, $2::int, ${NOW} + ${WINDOW_SECONDS * MS_PER_SECOND})
ON CONFLICT (key) DO UPDATE SET
  points = CASE WHEN spent.expire > ${NOW} THEN spent.points ELSE 0 END + $2::int,
  expire = CASE WHEN spent.expire > ${NOW} THEN spent.expire ELSE EXCLUDED.expire END
WHERE spent.expire <= ${NOW} OR $2::int = 0 OR spent.points + $2::int <= $3::int
RETURNING points, (expire - ${NOW})::float8 AS "resetMs"`;

/**
 * Counts costs by key, for a minute from the first one on. The count is in the database, so that all processes share it, and in memory
 * while the database is away.
 */
export class CostStore {
  private readonly memory: AttemptMemory;

  constructor(
    private readonly database: Database,
    private readonly costPerMinute: number,
    createMemory: CreateAttemptMemory = createOwnMemory,
  ) {
    this.memory = createMemory({ keyPrefix: 'cost', points: costPerMinute, duration: WINDOW_SECONDS });
  }

  /** Takes a cost from the budget of a key. Nothing is taken where the budget is too small. */
  async take(key: string, cost: number): Promise<BudgetState> {
    try {
      const taken = await this.spend(key, cost);
      if (taken) return { ...taken, isWithin: true };
      const rest = (await this.spend(key, 0))!;
      // The minute has ended in between.
      if (rest.remaining >= cost) return await this.take(key, cost);
      return { ...rest, isWithin: false };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return this.takeInMemory(key, cost);
    }
  }

  private async spend(key: string, cost: number): Promise<Omit<BudgetState, 'isWithin'> | undefined> {
    const values = [key, cost, this.costPerMinute];
    const [row] = await this.database.query<{ points: number; resetMs: number }>({ name: 'spent_cost', text: SPEND, values });
    // Another process, with a larger budget, may have spent more than this one gives.
    return row && { remaining: Math.max(0, this.costPerMinute - row.points), resetMs: row.resetMs };
  }

  private async takeInMemory(key: string, cost: number): Promise<BudgetState> {
    try {
      return toState(await this.memory.consume(key, cost), true);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      // The library has counted the cost all the same. It is given back, so that cheaper operations still have what is left.
      return toState(await this.memory.reward(key, cost), false);
    }
  }
}

const toState = ({ remainingPoints, msBeforeNext }: RateLimiterRes, isWithin: boolean): BudgetState => ({
  isWithin,
  remaining: Math.max(0, remainingPoints),
  resetMs: msBeforeNext,
});
