import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, toErrorBody, type ErrorCode } from './errors';

const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1000;
const KEEP_ALIVE_MS = 5000;
/** On a stop, connections without a request are ended this often. */
const IDLE_MS = 200;
/** What the HTTP parser refuses before there is a request, by its error code; anything else is BAD_REQUEST. */
const PARSER_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
};

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
  private isDraining = false;

  constructor(listener: RequestListener) {
    this.server = createServer({
      // Checked with the other headers, and answered in JSON.
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
    this.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.isDraining) response.setHeader('Connection', 'close');
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
    // Not http's own close(): it also ends connections whose next request is already on its way, which resets that request.
    const closed = new Promise<boolean>((resolve) => NetServer.prototype.close.call(this.server, () => resolve(true)));
    const idle = setInterval(() => this.server.closeIdleConnections(), IDLE_MS);
    const late = sleep(graceMs, false, { signal: this.hurry.signal, ref: false }).catch(() => false);
    const inTime = await Promise.race([closed, late]);
    clearInterval(idle);
    this.server.closeAllConnections();
    await closed;
    return inTime;
  }
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
