import { readFileSync } from 'node:fs';
import { nextTick } from 'node:process';
import { connect, Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** On a stop, the listener is tried at this interval until it can be closed. */
const CLOSING_PAUSE_MS = 1;
/** A client whose handshake was held up sends again after 0.2 s, and then after twice as long each time. */
const HANDSHAKE_PAUSE_MS = 400;
/** Handshakes that do not end in this time are given up. */
const HANDSHAKE_MS = 3000;

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
 * there are none: its backlog is cut to one place, the gateway's own connection takes that place, and no other one is on its way in. Node has
 * no public API for the first two steps. When they do not work, the listener is closed all the same, when `isOver` says that the time is.
 */
export async function closeListener(server: NetServer, isOver: () => boolean): Promise<{ readonly emptied: Promise<void> }> {
  const { _handle: listener } = server as NetServer & { readonly _handle?: ListenHandle };
  const address = server.address();
  if (listener?.listen && typeof address === 'object' && address) {
    listener.listen(0);
    const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address.address] ?? address.address;
    const patientUntil = Date.now() + HANDSHAKE_MS;
    while (!isOver()) {
      if (!(await takeLastPlace(host, address.port))) await sleep(CLOSING_PAUSE_MS);
      else if (isContested(address.port, Date.now() < patientUntil)) await sleep(HANDSHAKE_PAUSE_MS);
      else break;
    }
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

/** Linux's tables of connections. A row begins with its number, the local and the remote address, the state and the lengths of its queues. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const ROW = /^ *\d+: \w+:(?<port>\w+) \w+:\w+ (?<state>\w+) \w+:(?<queue>\w+) /gm;
const SYN_RECEIVED = '03';
const LISTENING = '0A';

/**
 * True while another connection than our own is on its way in. Linux may let in two at once where there is one place. It may also hold a
 * connection half open that began before the last place was taken, and whose client takes it for established: that client sends again, and
 * is let in when there is a place. Other systems than Linux do not tell.
 */
function isContested(port: number, countsHalfOpen: boolean): boolean {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return TABLES.flatMap((table) => [...readTable(table).matchAll(ROW)]).some(({ groups: row }) => {
    if (row?.port !== wanted) return false;
    return (row.state === LISTENING && Number.parseInt(row.queue!, 16) > 1) || (countsHalfOpen && row.state === SYN_RECEIVED);
  });
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
