import { WINDOW_SECONDS, type CostStore } from '../../data/access/cost-store';
import { AppError } from '../../errors';

/** The budget of a provision after an operation. */
export interface Budget {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Seconds until the whole budget is there again. */
  readonly resetSeconds: number;
  /** Why the operation may not run; undefined when its cost was taken. */
  readonly refusal: AppError | undefined;
}

const MS_PER_SECOND = 1000;

/** Limits what the operations of a provision may cost in a minute. */
export class BudgetService {
  constructor(
    private readonly store: CostStore,
    private readonly costPerMinute: number,
  ) {}

  get isLimited(): boolean {
    return this.costPerMinute > 0;
  }

  /** Takes the cost of an operation from its provision's budget. Undefined when there is no limit. */
  async spend(provisionId: number, cost: number): Promise<Budget | undefined> {
    const { costPerMinute: limit } = this;
    if (limit === 0) return undefined;
    const state = { limit, windowSeconds: WINDOW_SECONDS };
    if (cost > limit) {
      // No waiting helps, so the error tells no time to come back.
      const refusal = new AppError('BUDGET_EXCEEDED', { fault: `the operation costs ${cost} values, and a minute has ${limit}` });
      const { remaining, resetMs } = await this.store.take(String(provisionId), 0);
      return { ...state, remaining, resetSeconds: Math.ceil(resetMs / MS_PER_SECOND), refusal };
    }
    const { isWithin, remaining, resetMs } = await this.store.take(String(provisionId), cost);
    const resetSeconds = Math.ceil(resetMs / MS_PER_SECOND);
    const fault = `the operation costs ${cost} values, and ${remaining} of ${limit} are left`;
    const refusal = isWithin ? undefined : new AppError('BUDGET_EXCEEDED', { fault, retryAfterSeconds: Math.max(1, resetSeconds) });
    return { ...state, remaining, resetSeconds, refusal };
  }
}
