/** The organization and the credential for which a report is read. */
export interface Caller {
  readonly organizationId: number;
  /** The user or the provision within the organization. */
  readonly credential: string;
}

/** The reports that are read, that wait, and that were turned away since the start: because too many waited, or they for too long. */
export interface QueueFigures {
  readonly taken: number;
  readonly waiting: number;
  readonly turnedAway: Readonly<Record<'full' | 'late', number>>;
}

/** The queue that limits how many reports a gateway reads at once, over all its processes. */
export interface ReportQueue {
  /**
   * Resolves when the caller has a lane, to the function that gives it back. Rejects with TOO_MANY_REQUESTS when the caller is turned away,
   * and with the signal's reason when that aborts first.
   */
  enter(caller: Caller, signal: AbortSignal): Promise<() => void>;
  /**
   * Takes a second lane for the only report that is read, as `enter` does, but waits for nothing: it resolves to undefined when another
   * report is read, or when there is one lane alone.
   */
  enterBeside(caller: Caller, signal: AbortSignal): Promise<(() => void) | undefined>;
  /** False when there is one lane alone, so that no report gets a second one. */
  readonly hasSecondLanes: boolean;
  /** True while exactly one lane is taken. In a worker, as the primary has told last. */
  readonly isQuiet: boolean;
  readonly figures: QueueFigures;
}
