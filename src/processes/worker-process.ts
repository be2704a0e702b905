import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import { ProcessChannel } from './process-channel';
import { TOPICS, WORKER_EXITS } from './worker-topics';

/** A worker that cannot serve after this time is ended. A busy machine takes a few seconds. */
const START_MS = 60_000;

/** The end of a worker. */
export interface WorkerEnd {
  /** True when it has cut no answer: it was told to end, even if it was killed after its answers, or never served. */
  readonly isWhole: boolean;
  /** The exit status or the signal, in words. */
  readonly how: string;
}

/** A worker as the primary sees it. */
export class WorkerProcess {
  readonly channel: ProcessChannel;
  /** Resolves when the process has ended. Its channel is closed then. */
  readonly ended: Promise<WorkerEnd>;
  /** True since it can serve. */
  hasServed = false;
  /** Undefined until the answers are over, and then whether none was cut. */
  private isWhole: boolean | undefined;

  constructor(private readonly worker: Worker) {
    // A worker may end at any time. The callback keeps what does not reach it from being an error of the primary.
    const send = (message: object): boolean => worker.send(message, undefined, () => undefined);
    this.channel = new ProcessChannel((message) => void listening.then(() => send(message)));
    const listening = new Promise<void>((resolve) => this.channel.handle(TOPICS.listening, resolve));
    worker.on('message', (message: unknown) => this.channel.receive(message));
    this.ended = new Promise((resolve) => {
      const end = (status: number | null, how: string): void => {
        this.channel.close(`A worker has ended: ${how}`);
        resolve({ isWhole: this.isWhole ?? (!this.hasServed || status === WORKER_EXITS.whole), how });
      };
      worker.on('error', (error) => {
        // A process that could not be made has no exit. Other errors are of messages that do not reach it.
        if (worker.process.pid !== undefined) return;
        end(null, error.message);
      });
      worker.once('exit', (status: number | null, signal: string | null) =>
        end(status, signal ? `signal ${signal}` : `exit status ${status}`),
      );
    });
  }

  get pid(): number | undefined {
    return this.worker.process.pid;
  }

  /** Sends the settings, and resolves when the worker can serve. Throws when it cannot in time; it is ended then. */
  async start(settings: object): Promise<void> {
    const late = setTimeout(() => this.channel.close(`It cannot serve after ${START_MS} ms`), START_MS);
    try {
      await this.channel.ask(TOPICS.start, settings);
      this.hasServed = true;
    } catch (error) {
      this.kill();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  /** Sends a message with a connection, of which this process keeps its copy. `onUnsent` is called when the worker cannot get messages. */
  sendSocket(message: object, socket: Socket, onUnsent: () => void): void {
    this.worker.send(message, socket as never, { keepOpen: true }, (error) => error && onUnsent());
  }

  /** True when the worker has said that its answers are over. */
  get isDrained(): boolean {
    return this.isWhole !== undefined;
  }

  /** Tells the worker to end within `closingMs` after its answers, for which it has `graceMs`. One that never served is ended at once. */
  async finish(graceMs: number, closingMs: number): Promise<void> {
    if (!this.hasServed) this.kill();
    // A worker that has ended has its exit status.
    this.isWhole = await this.channel.ask<boolean>(TOPICS.finish, graceMs).catch(() => undefined);
    if (this.isDrained) setTimeout(() => this.kill(), closingMs).unref();
  }

  kill(): void {
    this.worker.process.kill('SIGKILL');
  }
}
