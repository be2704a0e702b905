import { nextTick } from 'node:process';
import { connect, Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** On a stop, the listener is tried at this interval until it can be closed. */
const CLOSING_PAUSE_MS = 1;

/** Listens, and resolves to the port. Rejects when it is taken. */
export async function listenAt(server: NetServer, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

/** The part that is used here of Node's internal handle of a listening socket. */
interface ListenHandle {
  listen(backlog: number): number;
}
interface ConnectHandle {
  getpeername(address: object): number;
}

/**
 * Stops listening when no connection waits to be accepted. Resolves to a promise that resolves when the last connection has ended. The
 * operating system resets connections that it has established and the process has not accepted yet, so the listener is closed only when
 * there are none: its backlog is cut to one place, and the gateway's own connection takes that place. Node has no public API for either
 * step. When they do not work, the listener is closed all the same, when `isOver` says that the time is.
 */
export async function closeListener(server: NetServer, isOver: () => boolean): Promise<{ readonly emptied: Promise<void> }> {
  const { _handle: listener } = server as NetServer & { readonly _handle?: ListenHandle };
  const address = server.address();
  if (listener?.listen && typeof address === 'object' && address) {
    listener.listen(0);
    const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address.address] ?? address.address;
    while (!(await takeLastPlace(host, address.port)) && !isOver()) await sleep(CLOSING_PAUSE_MS);
  }
  // http's own close() would also close connections whose next request is already on its way, and so reset that request.
  return { emptied: new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve())) };
}

/** Resolves to true when our own connection has got the listener's only place. On loopback the system establishes it at once. */
async function takeLastPlace(host: string, port: number): Promise<boolean> {
  const own = connect(port, host);
  own.on('error', () => undefined).on('connect', () => own.destroy());
  // Node makes the system call for the connection one tick later.
  await new Promise<void>((resolve) => nextTick(resolve));
  const { _handle: handle } = own as typeof own & { readonly _handle?: ConnectHandle };
  if (handle?.getpeername({}) === 0) return true;
  own.destroy();
  return false;
}
