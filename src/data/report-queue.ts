import { AppError } from '../errors';

interface ReportQueueOptions {
  /** How many may be inside at once. */
  readonly width: number;
  /** How many may wait in line. */
  readonly maxWaiting: number;
  /** Milliseconds that one may wait. */
  readonly maxWaitMs: number;
}

/** A busy gateway is worth another try after so long. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Lets so many reports be read at once; the others wait in line, first come, first served, whoever asks. Who finds the line full, or has
 * waited too long, is turned away at once rather than kept: with NO_DATA_SOURCE_CONNECTION and a time to come back.
 */
export class ReportQueue {
  private inside = 0;
  /** Lets each of those who wait in. */
  private readonly line: (() => void)[] = [];

  constructor(private readonly options: ReportQueueOptions) {}

  /** Resolves inside; `leave` must follow. Rejects with the signal's reason when it aborts first. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { width, maxWaiting, maxWaitMs } = this.options;
    if (this.inside < width) {
      this.inside++;
      return;
    }
    if (this.line.length >= maxWaiting) throw turnedAway(`${maxWaiting} reports are waiting already`);
    await new Promise<void>((resolve, reject) => {
      const letIn = (): void => settle(resolve);
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        then();
      };
      const stepOut = (reason: Error): void => {
        this.line.splice(this.line.indexOf(letIn), 1);
        settle(() => reject(reason));
      };
      const onAbort = (): void => stepOut(signal.reason as Error);
      const timer = setTimeout(() => stepOut(turnedAway(`The report waited ${maxWaitMs} ms for its turn`)), maxWaitMs);
      signal.addEventListener('abort', onAbort);
      this.line.push(letIn);
    });
  }

  /** Whether only one report is under way. */
  get isQuiet(): boolean {
    return this.inside === 1;
  }

  /** Whether one more would be let in at once. */
  get hasRoom(): boolean {
    return this.inside < this.options.width;
  }

  leave(): void {
    const next = this.line.shift();
    if (next) next();
    else this.inside--;
  }
}

/** In the log, what tells a busy gateway from a lost database. */
class ReportTurnedAway extends Error {
  override readonly name = 'ReportTurnedAway';
}

const turnedAway = (why: string): AppError =>
  new AppError('NO_DATA_SOURCE_CONNECTION', { cause: new ReportTurnedAway(why), retryAfterSeconds: RETRY_AFTER_SECONDS });
