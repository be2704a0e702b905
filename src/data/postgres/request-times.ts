/** A wait of a request, as its trace tells it. */
export interface Wait {
  /** The name from a fixed set, such as `COPY`. */
  readonly name: string;
  /** The statement, without its parameters. It holds no value of a caller. */
  readonly sql?: string;
}

/** The spans of a request that is traced. */
export interface RequestSpans {
  /** Begins the span of a wait. The function ends it, with the error where it failed. */
  wait(wait: Wait): (error?: unknown) => void;
  /** Begins the span of an operation, under which the waits are until it ends. */
  resolve(): (name: string) => void;
}

/** Counts the time in which at least one of a request's waits is under way, so that waits at the same time count once. */
export class Stopwatch {
  private underWay = 0;
  private since = 0;
  private stopped = 0;

  constructor(private readonly spansOf: () => RequestSpans | undefined = () => undefined) {}

  /** Milliseconds of waiting until now. */
  get ms(): number {
    return this.stopped + (this.underWay > 0 ? performance.now() - this.since : 0);
  }

  /** Counts a wait. It has a span of its own when it is named and the request is traced. */
  async during<Value>(wait: Promise<Value>, named?: Wait): Promise<Value> {
    const endSpan = named && this.spansOf()?.wait(named);
    if (this.underWay++ === 0) this.since = performance.now();
    try {
      const value = await wait;
      endSpan?.();
      return value;
    } catch (error) {
      endSpan?.(error);
      throw error;
    } finally {
      if (--this.underWay === 0) this.stopped += performance.now() - this.since;
    }
  }
}

/** The time that a request has waited for a lane of the report queue, for the database, and for a change of the books. */
export class RequestTimes {
  /** Undefined when the request is not traced. */
  spans: RequestSpans | undefined;
  readonly queue = new Stopwatch(() => this.spans);
  readonly database = new Stopwatch(() => this.spans);
  readonly change = new Stopwatch(() => this.spans);
}
