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

export interface QueueState {
  /** True while exactly one lane is taken. */
  readonly isQuiet: boolean;
  /** True when a report of any caller would get a lane at once. */
  readonly hasRoom: boolean;
}

/** The queue that limits how many reports a gateway reads at once, over all its processes. */
export interface ReportQueue {
  /**
   * Resolves when the caller has a lane, to the function that gives it back. Rejects with TOO_MANY_REQUESTS when the caller is turned away,
   * and with the signal's reason when that aborts first.
   */
  enter(caller: Caller, signal: AbortSignal): Promise<() => void>;
  /** In a worker, the state that the primary has told last. */
  readonly state: QueueState;
  readonly figures: QueueFigures;
}
