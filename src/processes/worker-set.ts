import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../errors';
import { ConnectionDistributor } from './connection-distributor';
import { WorkerProcess } from './worker-process';
import { TOPICS } from './worker-topics';

/**
 * A worker that ends within this time of its start is followed by another one after a pause, so that a fault at the start does not spin.
 */
const YOUNG_MS = 60_000;
const FIRST_PAUSE_MS = 1000;
/** The pause doubles with each early end, up to this. */
const MAX_PAUSE_MS = 30_000;
/** A worker whose answers are not over so long after the grace time is killed: its event loop stands still. */
const KILL_MARGIN_MS = 2000;

interface WorkerSetOptions {
  readonly size: number;
  /** The module that a worker runs. */
  readonly module: string;
  /** The settings that each worker starts with. They go over its channel, which no other process can read. */
  readonly settings: object;
  /** Called when a worker starts, before it gets its settings. */
  readonly onStarting: (worker: WorkerProcess) => void;
  /** Called when a worker can serve. */
  readonly onServing: (worker: WorkerProcess) => void;
  /** Called when a worker has ended that was not told to, or could not start again. Another one is started after the pause. */
  readonly onLost: (lost: { readonly pid: number | undefined; readonly how: string; readonly pauseMs: number }) => void;
}

interface StopTimes {
  /** Milliseconds in which new requests are still answered. */
  readonly drainMs: number;
  /** Milliseconds after `drainMs` in which answers in flight may finish. */
  readonly graceMs: number;
  /** Milliseconds after the answers in which a worker closes what it has open. */
  readonly closingMs: number;
}

/**
 * The workers of a gateway: processes that node:cluster starts. A worker that dies is followed by another one. A worker ends by itself when
 * it loses its channel, so none outlives the primary.
 */
export class WorkerSet {
  private readonly workers = new Set<WorkerProcess>();
  private readonly ends = new Set<Promise<boolean>>();
  private readonly connections = new ConnectionDistributor();
  private readonly stopping = new AbortController();
  private readonly cutting = new AbortController();
  private earlyEnds = 0;
  /** True when no process could be made for the last worker. */
  private lacksProcess = false;

  constructor(private readonly options: WorkerSetOptions) {
    cluster.setupPrimary({ exec: options.module, args: [] });
  }

  /** Starts all workers. Throws an OperatorError when one cannot serve, or when `stop` is called meanwhile; none is left then. */
  async start(): Promise<void> {
    const outcomes = await Promise.allSettled(Array.from({ length: this.options.size }, () => this.launch()));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (!failed) return;
    // A stop meanwhile ends the workers by itself.
    if (!this.stopping.signal.aborted) for (const worker of this.workers) worker.kill();
    this.stopping.abort();
    await this.ended();
    const reason = failed.reason as Error;
    throw new OperatorError(`A worker did not start: ${reason.message}`, { cause: reason });
  }

  /** Listens for callers, and resolves to the port. Rejects when it cannot be had. */
  listen(port: number, host: string): Promise<number> {
    return this.connections.listen(port, host);
  }

  /** Stops listening and ends all workers. Resolves to false when answers were cut, or callers got none. */
  async stop({ drainMs, graceMs, closingMs }: StopTimes): Promise<boolean> {
    const { signal } = this.cutting;
    this.stopping.abort();
    this.tell(TOPICS.drain);
    if (this.connections.listening) await sleep(drainMs, undefined, { signal }).catch(() => undefined);
    const deadline = Date.now() + graceMs;
    const isTaken = await this.connections.close(
      () => signal.aborted || Date.now() > deadline,
      () => this.workers.size > 0,
    );
    const leftMs = signal.aborted ? 0 : Math.max(deadline - Date.now(), 0);
    for (const worker of this.workers) void worker.finish(leftMs, closingMs + KILL_MARGIN_MS);
    const kill = setTimeout(() => this.killUndrained(), leftMs + KILL_MARGIN_MS);
    signal.addEventListener('abort', () => setTimeout(() => this.killUndrained(), KILL_MARGIN_MS).unref());
    const isWhole = await this.ended();
    clearTimeout(kill);
    return isWhole && isTaken;
  }

  /** Ends the times of `stop` at once. */
  cut(): void {
    this.cutting.abort();
    this.tell(TOPICS.cut);
  }

  /** Resolves when the last worker has ended: to true when all that lived since the stop have ended without cutting an answer. */
  private async ended(): Promise<boolean> {
    return (await Promise.all(this.ends)).every(Boolean);
  }

  private tell(topic: string): void {
    for (const { channel } of this.workers) channel.tell(topic);
  }

  private killUndrained(): void {
    for (const worker of this.workers) if (!worker.isDrained) worker.kill();
  }

  private async launch(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const startedAt = performance.now();
    const worker = new WorkerProcess(cluster.fork());
    this.lacksProcess = worker.pid === undefined;
    const end = worker.ended.then(({ isWhole, how }) => {
      this.workers.delete(worker);
      if (this.stopping.signal.aborted) return isWhole;
      this.ends.delete(end);
      if (worker.hasServed) void this.replace({ pid: worker.pid, how }, performance.now() - startedAt);
      return isWhole;
    });
    this.workers.add(worker);
    this.ends.add(end);
    this.options.onStarting(worker);
    await worker.start(this.options.settings);
    if (worker.channel.closed.aborted) return;
    this.connections.add(worker);
    this.options.onServing(worker);
  }

  private async replace(lost: { readonly pid: number | undefined; readonly how: string }, livedMs: number): Promise<void> {
    const { signal } = this.stopping;
    this.earlyEnds = livedMs < YOUNG_MS ? this.earlyEnds + 1 : 0;
    const pauseMs = this.earlyEnds === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (this.earlyEnds - 1), MAX_PAUSE_MS);
    this.options.onLost({ ...lost, pauseMs });
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    const startedAt = performance.now();
    // The connections that wait may have the file descriptors that a process needs.
    if (this.lacksProcess && !signal.aborted) this.connections.dropWaiting();
    try {
      await this.launch();
    } catch (error) {
      // The workers of a gateway that serves are started again for as long as it takes.
      if (!signal.aborted) void this.replace({ pid: undefined, how: (error as Error).message }, performance.now() - startedAt);
    }
  }
}
