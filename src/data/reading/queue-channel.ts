import type { ProcessChannel } from '../../processes/process-channel';
import type { FairQueue } from './fair-queue';
import type { Caller, QueueFigures, ReportQueue } from './report-queue';

const ENTER = 'queue.enter';
const LEAVE = 'queue.leave';
const QUIET = 'queue.quiet';

/** A worker's question for a lane. It has the same number until the lane is given back. */
interface LaneQuestion {
  readonly lane: number;
  readonly caller: Caller;
  /** True for the second lane of a report, which is given at once or not at all. */
  readonly isBeside: boolean;
}

/** The queue of the primary, as a worker uses it. */
export class RemoteQueue implements ReportQueue {
  private lastLane = 0;
  private told = false;

  constructor(
    private readonly channel: ProcessChannel,
    readonly hasSecondLanes: boolean,
  ) {
    channel.handle(QUIET, (isQuiet: boolean) => {
      this.told = isQuiet;
    });
  }

  async enter(caller: Caller, signal: AbortSignal): Promise<() => void> {
    return (await this.ask(caller, signal, false))!;
  }

  enterBeside(caller: Caller, signal: AbortSignal): Promise<(() => void) | undefined> {
    return this.ask(caller, signal, true);
  }

  get isQuiet(): boolean {
    return this.told;
  }

  /** The primary has the figures of all workers. */
  get figures(): QueueFigures {
    return { taken: 0, waiting: 0, turnedAway: { full: 0, late: 0 } };
  }

  private async ask(caller: Caller, signal: AbortSignal, isBeside: boolean): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    const lane = ++this.lastLane;
    const leave = (): void => this.channel.tell(LEAVE, lane);
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        // The primary takes this for a step out of the waiting line as well as for a lane that is given back.
        leave();
        reject(signal.reason as Error);
      };
    });
    signal.addEventListener('abort', onAbort);
    try {
      const isGiven = await Promise.race([this.channel.ask<boolean>(ENTER, { lane, caller, isBeside } satisfies LaneQuestion), aborted]);
      return isGiven ? leave : undefined;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** Serves the queue to a worker. The lanes and the waiting places of a worker that ends are free at once. */
export function serveQueue(channel: ProcessChannel, queue: FairQueue): void {
  const steps = new Map<number, () => void>();
  channel.handle(ENTER, async ({ lane, caller, isBeside }: LaneQuestion): Promise<boolean> => {
    const waiting = new AbortController();
    steps.set(lane, () => waiting.abort(new Error('The reader of a worker has left')));
    try {
      const leaveLane = await (isBeside ? queue.enterBeside(caller, waiting.signal) : queue.enter(caller, waiting.signal));
      // A worker that ends gives back its lanes, and may get one for a reader of its own in that moment.
      if (waiting.signal.aborted) leaveLane?.();
      else if (leaveLane) steps.set(lane, leaveLane);
      else steps.delete(lane);
      return leaveLane !== undefined;
    } catch (error) {
      steps.delete(lane);
      throw error;
    }
  });
  const leave = (lane: number): void => {
    const step = steps.get(lane);
    steps.delete(lane);
    step?.();
  };
  channel.handle(LEAVE, leave);
  let told: boolean | undefined;
  const stopWatching = queue.watch((isQuiet) => {
    // Most changes tell a worker nothing new.
    if (isQuiet !== told) channel.tell(QUIET, isQuiet);
    told = isQuiet;
  });
  channel.closed.addEventListener('abort', () => {
    stopWatching();
    for (const lane of [...steps.keys()]) leave(lane);
  });
}
