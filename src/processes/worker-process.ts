import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { ConnectionTaker } from './connection-dealer';
import { ProcessChannel } from './process-channel';
import { CONNECTION, TOPICS, WORKER_EXITS } from './worker-topics';

/** The end of a worker. */
export interface WorkerEnd {
  /** True when it was told to end and has cut no answer. */
  readonly isWhole: boolean;
  /** The exit status or the signal, in words. */
  readonly how: string;
}

/** A worker as the primary sees it. */
export class WorkerProcess implements ConnectionTaker {
  readonly channel: ProcessChannel;
  /** Resolves when the process has ended. Its channel is closed then. */
  readonly ended: Promise<WorkerEnd>;
  private onTaken: (() => void) | undefined;

  constructor(private readonly worker: Worker) {
    // A worker may end at any time. The callback keeps what does not reach it from being an error of the primary.
    this.channel = new ProcessChannel((message) => void worker.send(message, undefined, () => undefined));
    this.channel.handle(TOPICS.taken, () => this.onTaken?.());
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
        resolve({ isWhole: status === WORKER_EXITS.whole, how: signal ? `signal ${signal}` : `exit status ${status}` });
      });
    });
  }

  get pid(): number | undefined {
    return this.worker.process.pid;
  }

  hand(socket: Socket, taken: () => void, failed: () => void): void {
    this.onTaken = taken;
    this.worker.send(CONNECTION, socket as never, (error) => {
      if (error) failed();
    });
  }

  kill(): void {
    this.worker.process.kill('SIGKILL');
  }
}
