import type { Worker } from 'node:cluster';
import { createServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeListener, listenAt } from './listener';
import type { ProcessChannel } from './process-channel';
import type { WorkerProcess } from './worker-process';

/** The message that brings a connection to a worker. */
const CONNECTION = { connection: true } as const;
/** The topic of the question whether the worker has the connection that was sent just before. */
const RECEIVED = 'connection.received';
/** The most connections that wait for a worker, as many as a system's own backlog has by default on Linux. */
const MAX_WAITING = 4096;
/** A connection is closed that has waited so long. Its client may have left: nothing of a connection that waits is read. */
const MAX_WAIT_MS = 30_000;
/** On a stop, the time in which workers confirm their last connections. Others, whose event loops may stand still, do not wait for it longer. */
const CONFIRMING_MS = 1000;
const PAUSE_MS = 2;

/**
 * The listener of a gateway with workers. It accepts connections, reads nothing of them, and sends them to its workers in turn, as
 * node:cluster's round robin does. A worker that has not confirmed its last connection gets no other, so that one whose event loop stands
 * still holds up one new connection at most. It is not ended while the gateway serves, because it may go on at any time.
 *
 * node:cluster's own listening does not do. Its round robin (SCHED_RR) reset 51 requests in 8 stops under 8 clients, where this listener
 * reset none. It never ends a connection on its way to a worker that dies, and a worker that once lacked file descriptors gets no connection
 * any more. Workers that accept from one shared socket (SCHED_NONE) share unevenly: of 8 kept connections, one worker had 7 or 8 in 7 of 15
 * rounds, where it has 4 or 5 here. The decision on workers has all figures.
 */
export class ConnectionDistributor {
  // The settings of connections are those that http gives its own.
  private readonly server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) => this.accept(socket));
  /** The workers that can get a connection, in the order in which they have confirmed their last one. */
  private readonly free = new Set<WorkerProcess>();
  /** The workers with a connection on its way. */
  private readonly sending = new Set<WorkerProcess>();
  private readonly waiting = new Set<Socket>();

  get listening(): boolean {
    return this.server.listening;
  }

  /** Listens, and resolves to the port. Rejects when it cannot be had. */
  listen(port: number, host: string): Promise<number> {
    return listenAt(this.server, port, host);
  }

  /** Sends connections to a worker until it ends. */
  add(worker: WorkerProcess): void {
    worker.channel.closed.addEventListener('abort', () => this.free.delete(worker));
    this.free.add(worker);
    this.distribute();
  }

  /**
   * Stops listening without a reset. Resolves when workers have every connection that was accepted, or can get no more of them: `isOver` says
   * when the time is over, and `hasWorkers` whether one lives or starts. Resolves to false when connections were closed that no worker took.
   */
  async close(isOver: () => boolean, hasWorkers: () => boolean): Promise<boolean> {
    if (!this.server.listening) return true;
    await closeListener(this.server, isOver);
    while (this.waiting.size > 0 && hasWorkers() && !isOver()) await sleep(PAUSE_MS);
    const confirmedBy = Date.now() + CONFIRMING_MS;
    while (this.sending.size > 0 && Date.now() < confirmedBy && !isOver()) await sleep(PAUSE_MS);
    return this.dropWaiting();
  }

  /** Closes the connections that wait. Returns true when there are none. */
  dropWaiting(): boolean {
    const isEmpty = this.waiting.size === 0;
    for (const socket of this.waiting) socket.destroy();
    this.waiting.clear();
    return isEmpty;
  }

  private accept(socket: Socket): void {
    // A client may leave before a worker has its connection.
    socket.on('error', () => undefined);
    socket.on('timeout', () => this.waiting.delete(socket) && socket.destroy());
    if (this.waiting.size >= MAX_WAITING) socket.destroy();
    else this.waiting.add(socket.setTimeout(MAX_WAIT_MS));
    this.distribute();
  }

  private distribute(): void {
    for (const worker of this.free) {
      const [socket] = this.waiting;
      if (!socket) return;
      this.waiting.delete(socket);
      this.free.delete(worker);
      void this.send(socket, worker);
    }
  }

  /**
   * Node tells nobody of a connection that a worker lacks the descriptor for, and never closes one that is on its way to a worker that dies.
   * So this process keeps its copy, of which it reads nothing, until the worker has answered a question that comes behind the connection.
   */
  private async send(socket: Socket, worker: WorkerProcess): Promise<void> {
    this.sending.add(worker);
    const unsent = new Promise<'unsent'>((resolve) => worker.sendSocket(CONNECTION, socket, () => resolve('unsent')));
    const received = worker.channel.ask<boolean>(RECEIVED).catch(() => false);
    const outcome = await Promise.race([unsent, received]);
    this.sending.delete(worker);
    if (outcome === 'unsent') {
      this.waiting.add(socket);
      // The worker is about to end, or the system lacks memory for messages.
      await sleep(PAUSE_MS);
    }
    // The worker's copy stays open.
    else if (outcome) socket.destroy();
    else socket.resetAndDestroy();
    if (!worker.channel.closed.aborted) this.free.add(worker);
    this.distribute();
  }
}

/** The worker's end: `serve` gets each connection that the primary sends. */
export function receiveConnections(worker: Worker, channel: ProcessChannel, serve: (socket: Socket) => void): void {
  let isReceived = false;
  worker.on('message', (message: object, socket: unknown) => {
    // A client may have left on the way, or this process may lack the descriptor.
    if (!('connection' in message) || !(socket instanceof Socket)) return;
    serve(socket);
    isReceived = true;
  });
  channel.handle(RECEIVED, () => {
    const answer = isReceived;
    isReceived = false;
    return answer;
  });
}
