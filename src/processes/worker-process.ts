import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import { ProcessChannel } from './process-channel';
import { TOPICS, WORKER_EXITS } from './worker-topics';

/** The end of a worker. */
export interface WorkerEnd {
  /** True when it was told to end and has cut no answer, even if it was killed after its answers. */
  readonly isWhole: boolean;
  /** The exit status or the signal, in words. */
  readonly how: string;
}

/** A worker as the primary sees it. */
export class WorkerProcess {
  readonly channel: ProcessChannel;
  /** Resolves when the process has ended. Its channel is closed then. */
  readonly ended: Promise<WorkerEnd>;
  /** Undefined until the answers are over, and then whether none was cut. */
  private isWhole: boolean | undefined;

  constructor(private readonly worker: Worker) {
    // A worker may end at any time. The callback keeps what does not reach it from being an error of the primary.
    this.channel = new ProcessChannel((message) => void worker.send(message, undefined, () => undefined));
    worker.on('message', (message: unknown) => this.channel.receive(message));
    this.ended = new Promise((resolve) => {
      worker.on('error', (error) => {
        // A process that could not be made has no exit. Other errors are of messages that do not reach it.
        if (worker.process.pid !== undefined) return;
        this.channel.close();
        resolve({ isWhole: false, how: error.message });
      });
      worker.once('exit', (status: number | null, signal: string | null) => {
        this.channel.close();
        resolve({ isWhole: this.isWhole ?? status === WORKER_EXITS.whole, how: signal ? `signal ${signal}` : `exit status ${status}` });
      });
    });
  }

  get pid(): number | undefined {
    return this.worker.process.pid;
  }

  /** Sends a message with a connection, of which this process keeps its copy. `onUnsent` is called when the worker cannot get messages. */
  sendSocket(message: object, socket: Socket, onUnsent: () => void): void {
    this.worker.send(message, socket as never, { keepOpen: true }, (error) => error && onUnsent());
  }

  /** True when the worker has said that its answers are over. */
  get isDrained(): boolean {
    return this.isWhole !== undefined;
  }

  /** Tells the worker to end within `closingMs` after its answers, for which it has `graceMs`. */
  async finish(graceMs: number, closingMs: number): Promise<void> {
    // A worker that has ended has its exit status.
    this.isWhole = await this.channel.ask<boolean>(TOPICS.finish, graceMs).catch(() => undefined);
    if (this.isDrained) setTimeout(() => this.kill(), closingMs).unref();
  }

  kill(): void {
    this.worker.process.kill('SIGKILL');
  }
}
