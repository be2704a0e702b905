/** Lets statements use a connection one at a time, in the order in which they ask. */
export class Turns {
  private last: Promise<void> = Promise.resolve();
  private unfinished = 0;

  /** True while a statement has its turn or waits for one. */
  get areTaken(): boolean {
    return this.unfinished > 0;
  }

  /** Resolves when all earlier turns have ended, to a function that ends this turn. */
  async take(): Promise<() => void> {
    const before = this.last;
    let end!: () => void;
    this.last = new Promise((resolve) => (end = resolve));
    this.unfinished++;
    await before;
    return () => {
      this.unfinished--;
      end();
    };
  }
}
