import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionDealer } from '../processes/connection-dealer';
import { closeListener, listenAt } from './listener';

const SETTLING_PAUSE_MS = 2;

/** The listener of a gateway with workers. It accepts connections, reads nothing of them, and deals them to the workers. */
export class DealtListener {
  readonly dealer = new ConnectionDealer();
  // The settings of connections are those that http gives its own.
  private readonly server: Server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) =>
    this.dealer.take(socket),
  );

  get listening(): boolean {
    return this.server.listening;
  }

  listen(port: number, host: string): Promise<number> {
    return listenAt(this.server, port, host);
  }

  /**
   * Stops listening without a reset. Resolves when a worker has every connection that was accepted, or when `isOver` says that the time is.
   */
  async close(isOver: () => boolean): Promise<void> {
    if (!this.server.listening) return;
    await closeListener(this.server, isOver);
    while (!this.dealer.isSettled && !isOver()) await sleep(SETTLING_PAUSE_MS);
  }
}
