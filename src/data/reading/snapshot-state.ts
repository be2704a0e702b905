/** The states of a snapshot, and those that each may become. */
const TRANSITIONS = {
  // Nothing was asked yet. The first statement takes a connection, or fails to.
  unopened: ['busy', 'failed', 'closed'],
  // The transaction waits for a statement. Ending and closing commit it.
  idle: ['busy', 'ended', 'closed'],
  // A statement is under way. Closing cancels it.
  busy: ['idle', 'ended', 'failed', 'closed'],
  // The last COPY or `end` has committed the transaction. A statement that comes too late fails.
  ended: ['failed', 'closed'],
  // A later statement would see another state of the data, so there is none.
  failed: ['closed'],
  closed: [],
} as const satisfies Record<string, readonly string[]>;
type State = keyof typeof TRANSITIONS;

/** The state that a snapshot is in. */
export class SnapshotState {
  private state: State = 'unopened';

  get current(): State {
    return this.state;
  }

  /** Throws when the state cannot become this one. */
  move(to: State): void {
    const allowed: readonly State[] = TRANSITIONS[this.state];
    if (!allowed.includes(to)) throw new Error(`A snapshot cannot become ${to} once it is ${this.state}`);
    this.state = to;
  }
}
