import { createServer, STATUS_CODES, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1000;
const KEEP_ALIVE_MS = 5000;
/** On a stop, a connection without a request for about this long is not waited for. */
const IDLE_MS = 200;
/** What the HTTP parser refuses before there is a request, by its error code. */
const PARSER_STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
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
      listener(request, response);
    });
    this.server.on('clientError', answerClientError);
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
    const late = new AbortController();
    const expired = sleep(graceMs, false, { signal: late.signal }).catch(() => true);
    const inTime = await Promise.race([closed, expired]);
    late.abort();
    clearInterval(idle);
    this.server.closeAllConnections();
    await closed;
    return inTime;
  }
}

/** The v2 error shape, also where there is no request yet. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = PARSER_STATUSES[error.code ?? ''] ?? 400;
  const text = STATUS_CODES[status] ?? '';
  const body = JSON.stringify({ errors: [{ error: text, status }] });
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
