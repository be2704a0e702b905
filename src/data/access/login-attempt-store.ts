import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../../errors';
import { createOwnMemory, type CreateAttemptMemory } from './attempt-memory';
import type { Database } from '../postgres/database';

const WINDOW_SECONDS = 15 * 60;
const TAKE_BACK = 'UPDATE login_attempt SET points = points - 1 WHERE key = $1 AND points > 0 AND expire < $2';

/** Counts login attempts by key. The count is in the database, so that all replicas share it, and in memory while the database is away. */
export class LoginAttemptStore {
  constructor(
    private readonly database: Database,
    private readonly createMemory: CreateAttemptMemory = createOwnMemory,
  ) {}

  /** Creates the limit for one kind of key, such as an address: at most this many attempts in 15 minutes. */
  limit(kind: string, attempts: number): LoginLimit {
    const options = { keyPrefix: kind, points: attempts, duration: WINDOW_SECONDS };
    const limiter = new RateLimiterPostgres({
      ...options,
      storeClient: this.database.pool,
      tableName: 'login_attempt',
      tableCreated: true,
      clearExpiredByTimeout: true,
      insuranceLimiter: this.createMemory(options),
    });
    return new LoginLimit(limiter, this.database);
  }
}

const toRefusal = ({ msBeforeNext }: RateLimiterRes): AppError =>
  new AppError('TOO_MANY_LOGIN_ATTEMPTS', { retryAfterSeconds: Math.ceil(msBeforeNext / 1000) });

/** An attempt that was counted. */
export interface CountedAttempt {
  /** TOO_MANY_LOGIN_ATTEMPTS when the key had used up its attempts of the last 15 minutes before. */
  readonly refusal?: AppError;
  /** Counts it no more. An attempt whose 15 minutes are over counts for nothing already, and takes nothing from the next. */
  readonly takeBack: () => Promise<void>;
}

/** The next 15 minutes of a key end at least 15 minutes after these. Half of that tells the two apart, although clocks differ. */
const BETWEEN_ENDS_MS = (WINDOW_SECONDS * 1000) / 2;

export class LoginLimit {
  constructor(
    private readonly limiter: RateLimiterPostgres,
    private readonly database: Database,
  ) {}

  /** Counts an attempt, also one that it refuses. */
  async count(key: string): Promise<CountedAttempt> {
    const counted = await this.limiter.consume(key).catch((refused: unknown) => {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return refused;
    });
    const values = [this.limiter.getKey(key), Date.now() + counted.msBeforeNext + BETWEEN_ENDS_MS];
    return {
      ...(counted.consumedPoints > this.limiter.points && { refusal: toRefusal(counted) }),
      takeBack: async () => void (await this.database.query({ text: TAKE_BACK, values })),
    };
  }

  /** Counts nothing. Returns TOO_MANY_LOGIN_ATTEMPTS when the key has used up its attempts of the last 15 minutes. */
  async findRefusal(key: string): Promise<AppError | undefined> {
    const counted = await this.limiter.get(key);
    return counted && counted.consumedPoints >= this.limiter.points ? toRefusal(counted) : undefined;
  }

  /** Forgets the attempts of all keys that begin with `keyStart`. */
  async clear(keyStart: string): Promise<void> {
    await this.database.query({
      text: 'DELETE FROM login_attempt WHERE starts_with(key, $1)',
      values: [this.limiter.getKey(keyStart)],
    });
  }
}
