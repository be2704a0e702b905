import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import { AppError, toErrorBody, type ErrorCode } from '../errors';
import { closeListener, listenAt } from '../processes/listener';
import { createMessageClasses } from './message-classes';

const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 8000;
/** A slow request is closed up to this time later. */
const CHECK_INTERVAL_MS = 1000;
/** On a stop, connections without a request are closed at this interval. */
const IDLE_MS = 200;
/** Our error codes for the faults that the HTTP parser finds before there is a request. Any other fault is BAD_REQUEST. */
const PARSER_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
};

/** The fault of a request target that is not ASCII (RFC 3986 section 2): some clients send letters without escapes. */
const UNESCAPED = 'the address has characters that need escapes, as é needs %C3%A9';

interface HttpServerOptions {
  /** Milliseconds that a connection may wait for its next request. */
  readonly keepAliveMs: number;
}

interface DrainOptions {
  /** Milliseconds in which new requests are still answered, with `Connection: close`, so that clients and balancers can move away. */
  readonly drainMs: number;
  /** Milliseconds after `drainMs` in which answers in flight may finish. */
  readonly graceMs: number;
}

/** An HTTP server that limits slow clients, answers its own errors in JSON, and stops without resetting a client's request. */
export class HttpServer {
  readonly server: Server;
  private readonly hurry = new AbortController();
  private readonly unfinished = new Set<ServerResponse>();
  /** Connections that another process has accepted and sent. */
  private readonly received = new Set<Socket>();
  private isWatching = false;
  private isDraining = false;

  constructor(app: Express, { keepAliveMs }: HttpServerOptions) {
    this.server = createServer({
      ...createMessageClasses(app),
      // `refuseAmbiguousHeaders` checks the Host header instead, and answers in JSON.
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
      // A client may send the absolute form of the target, as it does to a proxy (RFC 9112 section 3.2.2). Routing needs path and query.
      request.url = toOriginForm(request.url ?? '/');
      app(request, response);
    });
    // Node would answer an expectation that it does not know by itself. A server may pass it by (RFC 9110 section 10.1.1).
    this.server.on('checkExpectation', (request, response) => this.server.emit('request', request, response));
    this.server.on('clientError', answerClientError);
  }

  /** Ends the times of `drain` at once: answers in flight are cut, and `drain` resolves to false. */
  cut(): void {
    this.hurry.abort();
  }

  /** Resets the connections of all answers in flight, now. */
  cutAll(): void {
    for (const response of this.unfinished) breakOff(response);
    this.server.closeAllConnections();
  }

  get draining(): boolean {
    return this.isDraining;
  }

  /** Resolves to the port. Rejects when it is taken. */
  listen(port: number, host: string): Promise<number> {
    return listenAt(this.server, port, host);
  }

  /** Serves a connection that another process has accepted. */
  serve(socket: Socket): void {
    // Node watches the times of slow clients from this event on, which a server that does not listen itself lacks.
    if (!this.isWatching) this.server.emit('listening');
    this.isWatching = true;
    this.received.add(socket);
    socket.once('close', () => this.received.delete(socket));
    // As http's own connections are: the client may end its side before it has its answer.
    socket.allowHalfOpen = true;
    this.server.emit('connection', socket);
  }

  /** Answers with `Connection: close` from now on. */
  startDraining(): void {
    this.isDraining = true;
  }

  /** Stops in two phases. Resolves to false when answers were still in flight at the end of the grace time and were cut. */
  async drain({ drainMs, graceMs }: DrainOptions): Promise<boolean> {
    this.startDraining();
    if (!this.server.listening) return true;
    await sleep(drainMs, undefined, { signal: this.hurry.signal }).catch(() => undefined);
    return this.finish(graceMs, async (isOver) => (await closeListener(this.server, isOver)).emptied);
  }

  /** Lets the answers on received connections finish, when no further connection comes. Resolves as `drain` does. */
  finishReceived(graceMs: number): Promise<boolean> {
    return this.finish(graceMs, async () => {
      await Promise.all([...this.received].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    });
  }

  private async finish(graceMs: number, close: (isOver: () => boolean) => Promise<void>): Promise<boolean> {
    const deadline = Date.now() + graceMs;
    const isOver = (): boolean => this.hurry.signal.aborted || Date.now() > deadline;
    const closed = close(isOver).then(() => true);
    const idle = setInterval(() => this.server.closeIdleConnections(), IDLE_MS);
    const late = sleep(graceMs, false, { signal: this.hurry.signal, ref: false }).catch(() => false);
    const inTime = await Promise.race([closed, late]);
    clearInterval(idle);
    const isWhole = inTime || this.unfinished.size === 0;
    // Connections that arrive while the listener is still closing are cut too.
    const cutting = setInterval(() => this.cutAll(), IDLE_MS);
    this.cutAll();
    await closed;
    clearInterval(cutting);
    return isWhole;
  }
}

/**
 * Resets the connection of an answer that cannot be finished. HTTP/1.0, which proxies speak to their upstream by default, takes a plain end
 * of the connection for the end of a whole answer (RFC 9112 section 6.3).
 */
export function breakOff(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
  response.destroy();
}

/** The path and query of a request target in origin form or absolute form; `/*` for any other target, which no route matches. */
function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  return /^https?:\/\/[^/?#]*(\/.*)$/i.exec(target)?.[1] ?? '/*';
}

/**
 * Answers bytes that are not a request, or not a whole one in time, so that no door answers them, with the contract's error body, and closes
 * the connection.
 */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex & { _httpMessage?: ServerResponse }): void {
  const { _httpMessage: response } = socket;
  // An answer must not be written into the middle of another, nor in the place of the answer to a whole request before this one.
  if (!socket.writable || response?.headersSent || response?.req.complete) {
    socket.destroy();
    return;
  }
  const fault = error.code === 'HPE_INVALID_URL' ? UNESCAPED : undefined;
  const appError = new AppError(PARSER_ERRORS[error.code ?? ''] ?? 'BAD_REQUEST', fault === undefined ? {} : { fault });
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
