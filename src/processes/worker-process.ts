import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { ConnectionTaker, HandOutcome } from './connection-dealer';
import { ProcessChannel } from './process-channel';
import { CONNECTION, TOPICS, WORKER_EXITS } from './worker-topics';

/** The end of a worker. */
export interface WorkerEnd {
  /** True when it was told to end and has cut no answer, even if it was killed after its answers. */
  readonly isWhole: boolean;
  /** The exit status or the signal, in words. */
  readonly how: string;
}

/** A worker as the primary sees it. */
export class WorkerProcess implements ConnectionTaker {
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

  /**
   * Node tells nobody of a connection that a worker lacks the descriptor for, and never closes one that is on its way to a worker that dies.
   * So this process keeps its copy, of which it reads nothing, until the worker has answered a question that comes behind the connection.
   */
  async hand(socket: Socket): Promise<HandOutcome> {
    const unsent = new Promise<HandOutcome>((resolve) => {
      this.worker.send(CONNECTION, socket as never, { keepOpen: true }, (error) => error && resolve('unsent'));
    });
    const answered = this.channel.ask<boolean>(TOPICS.taken).then(
      (isTaken): HandOutcome => (isTaken ? 'taken' : 'broken'),
      (): HandOutcome => 'broken',
    );
    const outcome = await Promise.race([unsent, answered]);
    // The worker's copy stays open.
    if (outcome === 'taken') socket.destroy();
    else if (outcome === 'broken') socket.resetAndDestroy();
    return outcome;
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
