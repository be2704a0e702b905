/** Counts the time in which at least one of a request's waits is under way, so that waits at the same time count once. */
export class Stopwatch {
  private underWay = 0;
  private since = 0;
  private stopped = 0;

  /** Milliseconds of waiting until now. */
  get ms(): number {
    return this.stopped + (this.underWay > 0 ? performance.now() - this.since : 0);
  }

  start(): void {
    if (this.underWay++ === 0) this.since = performance.now();
  }

  stop(): void {
    if (--this.underWay === 0) this.stopped += performance.now() - this.since;
  }

  async during<Value>(wait: Promise<Value>): Promise<Value> {
    this.start();
    try {
      return await wait;
    } finally {
      this.stop();
    }
  }
}

/** The time that a request has waited for a lane of the report queue, and for the database. */
export class RequestTimes {
  readonly queue = new Stopwatch();
  readonly database = new Stopwatch();
}
