import { AppError, type ErrorCode } from '../../errors';
import type { RequestAccess } from './access-service';

/** The errors that say that a caller has lost its rights. Any other, such as a database that is away, ends no answer. */
const LOSSES: ReadonlySet<ErrorCode> = new Set([
  'INVALID_PROVISION',
  'NOT_LOGGED_IN',
  'PROVISION_MISMATCH',
  'UNAUTHORIZED',
  'PRIVILEGE_NOT_FOUND',
  'AGENT_PRIVILEGE_MISSING',
] as const);

interface Answer {
  readonly access: RequestAccess;
  readonly startedAt: number;
  readonly end: (loss: AppError) => void;
}

/**
 * Ends answers that are under way when their callers lose the right to them: a user was disabled, a session ended, a provision was revoked
 * or a privilege was taken back, in this process or in any other. Answers that take longer than the period are checked again in each
 * period, so that one ends within two periods. The checks share statements as those of new requests do.
 */
export class AccessWatch {
  private readonly answers = new Set<Answer>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly periodMs: number) {}

  /** Watches an answer until the function that this returns is called. `end` gets the error of the check that fails. */
  add(access: RequestAccess, end: (loss: AppError) => void): () => void {
    const answer = { access, startedAt: performance.now(), end };
    this.answers.add(answer);
    this.schedule();
    return () => void this.answers.delete(answer);
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => void this.check(), this.periodMs).unref();
  }

  private async check(): Promise<void> {
    const latest = performance.now() - this.periodMs;
    const long = [...this.answers].filter(({ startedAt }) => startedAt <= latest);
    await Promise.all(long.map((answer) => this.checkAnswer(answer)));
    this.timer = undefined;
    if (this.answers.size > 0) this.schedule();
  }

  private async checkAnswer(answer: Answer): Promise<void> {
    const loss = await answer.access.recheck().then(() => undefined, toLoss);
    if (loss && this.answers.delete(answer)) answer.end(loss);
  }
}

const toLoss = (error: unknown): AppError | undefined => (error instanceof AppError && LOSSES.has(error.code) ? error : undefined);
