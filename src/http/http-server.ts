import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { nextTick } from 'node:process';
import { connect, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, toErrorBody, type ErrorCode } from '../errors';

const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1000;
/** On a stop, connections without a request are ended this often. */
const IDLE_MS = 200;
/** What the HTTP parser refuses before there is a request, by its error code; anything else is BAD_REQUEST. */
const PARSER_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
};

interface HttpServerOptions {
  /** Milliseconds that a connection may wait for its next request. */
  readonly keepAliveMs: number;
}

interface DrainOptions {
  /** Milliseconds in which requests are still taken, each answered with `Connection: close`, so that clients and balancers can move away. */
  readonly drainMs: number;
  /** Milliseconds for answers in flight to finish after that. */
  readonly graceMs: number;
}

/** An HTTP server with limits for slow clients, whose own errors are JSON, and which stops without resetting anybody's request. */
export class HttpServer {
  readonly server: Server;
  private readonly hurry = new AbortController();
  private readonly unfinished = new Set<ServerResponse>();
  private isDraining = false;

  constructor(listener: RequestListener, { keepAliveMs }: HttpServerOptions) {
    this.server = createServer({
      // Checked with the other headers, and answered in JSON.
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: keepAliveMs,
    });
    this.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.isDraining) response.setHeader('Connection', 'close');
      this.unfinished.add(response);
      response.once('close', () => this.unfinished.delete(response));
      // A proxy's form of target (RFC 9112 section 3.2.2); what follows the authority is what a server is asked for.
      request.url = toOriginForm(request.url ?? '/');
      listener(request, response);
    });
    this.server.on('clientError', answerClientError);
  }

  /** Ends what is still in flight, for those who cannot wait; `drain` then tells that answers were cut. */
  cut(): void {
    this.hurry.abort();
  }

  private cutAll(): void {
    for (const response of this.unfinished) breakOff(response);
    this.server.closeAllConnections();
  }

  get draining(): boolean {
    return this.isDraining;
  }

  /** Resolves to the port. Rejects when it is taken. */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    const address = this.server.address();
    return typeof address === 'object' && address ? address.port : port;
  }

  /** Stops in two phases. False when answers were still in flight at the end of the grace time and had to be cut. */
  async drain({ drainMs, graceMs }: DrainOptions): Promise<boolean> {
    this.isDraining = true;
    if (!this.server.listening) return true;
    await sleep(drainMs);
    const deadline = Date.now() + graceMs;
    const isOver = (): boolean => this.hurry.signal.aborted || Date.now() > deadline;
    const closed = closeListener(this.server, isOver).then(() => true);
    const idle = setInterval(() => this.server.closeIdleConnections(), IDLE_MS);
    const late = sleep(graceMs, false, { signal: this.hurry.signal, ref: false }).catch(() => false);
    const inTime = await Promise.race([closed, late]);
    clearInterval(idle);
    // What comes in while the listener is still closing is cut too.
    const cutting = setInterval(() => this.cutAll(), IDLE_MS);
    this.cutAll();
    await closed;
    clearInterval(cutting);
    return inTime;
  }
}

/**
 * Ends an answer that cannot be finished with a reset. A plain end of the connection would make it whole for HTTP/1.0, which proxies speak
 * to their upstream by default (RFC 9112 section 6.3).
 */
export function breakOff(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
  response.destroy();
}

/** The system's listener below a server, as far as Node passes it on. */
interface ListenHandle {
  listen(backlog: number): number;
}
interface ConnectHandle {
  getpeername(address: object): number;
}

/**
 * Stops listening; resolves when the last connection has ended. The system resets connections that it has made and nobody has accepted yet,
 * so the listener goes only when there are none: its backlog is cut to one place, and the gateway takes that place itself. Node has no
 * public way to do either. Where the system does not play along, or connections keep coming until the grace time is over, the listener is
 * closed without it.
 */
async function closeListener(server: Server, isOver: () => boolean): Promise<void> {
  const { _handle: listener } = server as Server & { readonly _handle?: ListenHandle };
  const address = server.address();
  if (listener?.listen && typeof address === 'object' && address) {
    listener.listen(0);
    const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address.address] ?? address.address;
    while (!(await takeLastPlace(host, address.port)) && !isOver()) await new Promise(setImmediate);
  }
  // Not http's own close(): it also ends connections whose next request is already on its way, which resets that request.
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
}

/** Whether a connection of our own has the listener's one place; on loopback the system makes it at once. */
async function takeLastPlace(host: string, port: number): Promise<boolean> {
  const own = connect(port, host);
  own.on('error', () => undefined).on('connect', () => own.destroy());
  // Node asks the system for the connection one tick later.
  await new Promise<void>((resolve) => nextTick(resolve));
  const { _handle: handle } = own as typeof own & { readonly _handle?: ConnectHandle };
  if (handle?.getpeername({}) === 0) return true;
  own.destroy();
  return false;
}

/** The path and query of a request target, whatever form it has. */
function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  return /^https?:\/\/[^/?#]*(\/.*)$/i.exec(target)?.[1] ?? '/*';
}

/** Answers in the error shape where there is no request that express could see, and ends the connection for both sides. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex & { _httpMessage?: unknown }): void {
  // An answer that is being written must not get another one in its middle.
  if (!socket.writable || socket._httpMessage) {
    socket.destroy();
    return;
  }
  const appError = new AppError(PARSER_ERRORS[error.code ?? ''] ?? 'BAD_REQUEST');
  const body = JSON.stringify(toErrorBody(appError));
  const head = [
    `HTTP/1.1 ${appError.status} ${STATUS_CODES[appError.status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
