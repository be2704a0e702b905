import type { Socket } from 'node:net';

/** `taken`: the worker has the connection. `broken`: it could not get it, or has died, and the connection was reset. `unsent`: it has ended. */
export type HandOutcome = 'taken' | 'broken' | 'unsent';

/** A worker that connections are dealt to. */
export interface ConnectionTaker {
  /** Hands a connection over, and closes this process's copy of it. A connection that is `unsent` is as before. */
  hand(socket: Socket): Promise<HandOutcome>;
}

interface Hand {
  /** True while a connection is on its way. A worker that is busy with something else does not get a second one. */
  isWaiting: boolean;
  open: number;
  /** The number of the deal by which it last got a connection. */
  lastDeal: number;
}

/** The most connections that wait for a worker, as many as a system's own backlog has by default on Linux. */
const MAX_WAITING = 4096;

/**
 * Deals new connections to the workers: each goes to the worker that has the fewest. One that has not taken its last connection yet gets
 * no other, so that a worker whose event loop stands still holds up one new connection at most.
 */
export class ConnectionDealer {
  private readonly hands = new Map<ConnectionTaker, Hand>();
  private readonly waiting: Socket[] = [];
  private deals = 0;

  add(taker: ConnectionTaker): void {
    this.hands.set(taker, { isWaiting: false, open: 0, lastDeal: 0 });
    this.deal();
  }

  remove(taker: ConnectionTaker): void {
    this.hands.delete(taker);
    this.deal();
  }

  /** Counts the end of connections of a worker. */
  ended(taker: ConnectionTaker, count: number): void {
    const hand = this.hands.get(taker);
    if (hand) hand.open -= count;
  }

  take(socket: Socket): void {
    // A client may leave before a worker has its connection.
    socket.on('error', () => undefined);
    if (this.waiting.length >= MAX_WAITING) socket.destroy();
    else this.waiting.push(socket);
    this.deal();
  }

  /** True when every connection that was taken is at a worker, or when there is no worker any more. */
  get isSettled(): boolean {
    return this.hands.size === 0 || (this.waiting.length === 0 && ![...this.hands.values()].some(({ isWaiting }) => isWaiting));
  }

  private deal(): void {
    for (;;) {
      const [next] = [...this.hands]
        .filter(([, { isWaiting }]) => !isWaiting)
        .toSorted(([, one], [, other]) => one.open - other.open || one.lastDeal - other.lastDeal);
      const socket = next && this.waiting.shift();
      if (!socket) break;
      const [taker, hand] = next;
      hand.isWaiting = true;
      hand.open++;
      hand.lastDeal = ++this.deals;
      void this.settle(taker, hand, socket);
    }
  }

  private async settle(taker: ConnectionTaker, hand: Hand, socket: Socket): Promise<void> {
    const outcome = await taker.hand(socket);
    if (outcome === 'unsent') {
      this.waiting.unshift(socket);
      this.remove(taker);
      return;
    }
    if (outcome === 'broken') hand.open--;
    hand.isWaiting = false;
    this.deal();
  }
}
