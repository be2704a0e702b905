import { AppError, OperatorError } from '../../errors';

const ANSWER_IS_OVER = new Error('The answer is over');

interface DeadlineOptions {
  /** Aborted when the reader has left. */
  readonly readerLeft: AbortSignal;
  readonly timeoutMs: number;
  /** Called when the answer is given up, to stop the work that is under way for it. */
  readonly onGiveUp: () => void;
}

/** Gives an answer up when its reader leaves or its time is over. The signal aborts then, and also when the answer is complete. */
export class AnswerDeadline {
  /** Created when the signal is first asked for, because most answers need none. */
  private controller: AbortController | undefined;
  private over: { readonly reason: unknown } | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Listens for the reader's leaving from the first use on. An answer that needs no deadline is then freed early. */
  private onReaderLeft: (() => void) | undefined;

  constructor(private readonly options: DeadlineOptions) {}

  get signal(): AbortSignal {
    if (!this.controller) {
      this.watchReader();
      this.controller = new AbortController();
      if (this.over) this.controller.abort(this.over.reason);
    }
    return this.controller.signal;
  }

  /** Starts the time limit. Later calls change nothing. */
  start(): void {
    this.watchReader();
    const { timeoutMs } = this.options;
    const late = new OperatorError(`The report took over ${timeoutMs} ms`);
    this.timer ??= setTimeout(() => this.giveUp(new AppError('DATA_SOURCE_QUERY_FAILED', { cause: late })), timeoutMs);
  }

  /** Ends the answer. The signal aborts, so that no further work begins for it. */
  end(): void {
    clearTimeout(this.timer);
    if (this.onReaderLeft) this.options.readerLeft.removeEventListener('abort', this.onReaderLeft);
    this.abort(ANSWER_IS_OVER);
  }

  private watchReader(): void {
    const { readerLeft } = this.options;
    if (this.over || this.onReaderLeft) return;
    this.onReaderLeft = () => this.giveUp(readerLeft.reason);
    if (readerLeft.aborted) this.abort(readerLeft.reason);
    else readerLeft.addEventListener('abort', this.onReaderLeft, { once: true });
  }

  private giveUp(reason: unknown): void {
    this.abort(reason);
    this.options.onGiveUp();
  }

  private abort(reason: unknown): void {
    this.over ??= { reason };
    this.controller?.abort(reason);
  }
}
