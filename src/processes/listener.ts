import { readFileSync } from 'node:fs';
import { nextTick } from 'node:process';
import { connect, Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** On a stop, the listener is tried at this interval until it can be closed. */
const CLOSING_PAUSE_MS = 1;
/** While another connection is on its way in, it is looked for at this interval. A look at 50,000 connections takes 55 ms. */
const HANDSHAKE_PAUSE_MS = 100;
/**
 * A connection that is not in after this time is given up. A client whose handshake was held up sends its data again after 0.2 s, and then
 * after twice as long each time. To one that sends nothing, the system answers again after 1 s. More time would not fit into the 10 s that
 * Docker gives, of which 8 are the drain's.
 */
const HANDSHAKE_MS = 1200;

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
    let patientUntil: number | undefined;
    const isPatient = (): boolean => !isOver() && Date.now() < (patientUntil ??= Date.now() + HANDSHAKE_MS);
    while (!isOver()) {
      if (!(await takeLastPlace(host, address.port))) await sleep(CLOSING_PAUSE_MS);
      else if (!isPatient() || !isContested(address.port)) break;
      else {
        // The last place stays free meanwhile.
        do await sleep(HANDSHAKE_PAUSE_MS);
        while (isPatient() && isContested(address.port));
      }
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
 * is let in when there is a place. Only ports are compared, so that connections to a listener at another address count too. Other systems
 * than Linux do not tell.
 */
function isContested(port: number): boolean {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return TABLES.flatMap((table) => [...readTable(table).matchAll(ROW)]).some(({ groups: row }) => {
    if (row?.port !== wanted) return false;
    return row.state === SYN_RECEIVED || (row.state === LISTENING && Number.parseInt(row.queue!, 16) > 1);
  });
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
