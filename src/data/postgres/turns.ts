/** Lets one statement at a time onto a connection, in the order in which they ask. */
export class Turns {
  private last: Promise<void> = Promise.resolve();
  private unfinished = 0;

  /** True while somebody has a turn or waits for one. */
  get areTaken(): boolean {
    return this.unfinished > 0;
  }

  /** Resolves when all earlier turns have ended, to the function that ends this one. */
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
