import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../errors';
import { WorkerProcess } from './worker-process';
import { TOPICS } from './worker-topics';

/**
 * A worker that ends within this time of its start is followed by another one after a pause, so that a fault at the start does not spin.
 */
const YOUNG_MS = 60_000;
const FIRST_PAUSE_MS = 1000;
/** The pause doubles with each early end, up to this. */
const MAX_PAUSE_MS = 30_000;

interface WorkerSetOptions {
  readonly size: number;
  /** The module that a worker runs. */
  readonly module: string;
  /** Prepares the channel of a worker that starts. The value that is returned tells the worker what to serve. */
  readonly welcome: (worker: WorkerProcess) => object;
  /** Called when a worker can serve. */
  readonly onServing: (worker: WorkerProcess) => void;
  /** Called when a worker has ended that was not told to, or could not start again. Another one is started after the pause. */
  readonly onLost: (lost: { readonly pid: number | undefined; readonly how: string; readonly pauseMs: number }) => void;
}

/**
 * The workers of a gateway: processes that node:cluster starts. A worker that dies is followed by another one. A worker ends by itself when
 * it loses its channel, so none outlives the primary.
 */
export class WorkerSet {
  private readonly workers = new Set<WorkerProcess>();
  private readonly ends = new Set<Promise<boolean>>();
  private readonly stopping = new AbortController();
  private earlyEnds = 0;

  constructor(private readonly options: WorkerSetOptions) {
    cluster.setupPrimary({ exec: options.module, args: [] });
  }

  /** The workers that live. */
  get all(): readonly WorkerProcess[] {
    return [...this.workers];
  }

  /** Starts all workers. Throws an OperatorError when one cannot serve; none is left then. */
  async start(): Promise<void> {
    const outcomes = await Promise.allSettled(Array.from({ length: this.options.size }, () => this.launch()));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (!failed) return;
    this.retire();
    for (const worker of this.all) worker.kill();
    await this.ended();
    const reason = failed.reason as Error;
    throw new OperatorError(`A worker did not start: ${reason.message}`, { cause: reason });
  }

  /** Starts no further worker. */
  retire(): void {
    this.stopping.abort();
  }

  /** Resolves when the last worker has ended: to true when all that lived since `retire` have ended without cutting an answer. */
  async ended(): Promise<boolean> {
    return (await Promise.all(this.ends)).every(Boolean);
  }

  /** Sends a notice to all workers. */
  tell(topic: string, body?: unknown): void {
    for (const { channel } of this.workers) channel.tell(topic, body);
  }

  private async launch(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const startedAt = performance.now();
    const worker = new WorkerProcess(cluster.fork());
    let isServing = false;
    const end = worker.ended.then(({ isWhole, how }) => {
      this.workers.delete(worker);
      if (this.stopping.signal.aborted) return isWhole;
      this.ends.delete(end);
      if (isServing) void this.replace({ pid: worker.pid, how }, performance.now() - startedAt);
      return isWhole;
    });
    this.workers.add(worker);
    this.ends.add(end);
    await worker.channel.ask(TOPICS.begin, this.options.welcome(worker)).catch((error: unknown) => {
      worker.kill();
      throw error;
    });
    isServing = true;
    if (!worker.channel.closed.aborted) this.options.onServing(worker);
  }

  private async replace(lost: { readonly pid: number | undefined; readonly how: string }, livedMs: number): Promise<void> {
    const { signal } = this.stopping;
    this.earlyEnds = livedMs < YOUNG_MS ? this.earlyEnds + 1 : 0;
    const pauseMs = this.earlyEnds === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.earlyEnds - 1), MAX_PAUSE_MS);
    this.options.onLost({ ...lost, pauseMs });
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    const startedAt = performance.now();
    try {
      await this.launch();
    } catch (error) {
      // The workers of a gateway that serves are started again for as long as it takes.
      if (!signal.aborted) void this.replace({ pid: undefined, how: (error as Error).message }, performance.now() - startedAt);
    }
  }
}
