import { Agent, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** One request, ready to be sent again and again. */
export interface HttpRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The status of the answer; 200 by default. */
  readonly status?: number;
}

/** The cost of an answer to its reader. */
export interface Reading {
  readonly wallMs: number;
  /** From the request until the first byte of the body. */
  readonly firstByteMs: number;
  readonly bytes: number;
}

/** A client with one connection that it keeps. */
export class HttpClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  /** Reads an answer to its end and throws it away, or hands its pieces to `take`. Rejects unless it is whole and of the status. */
  read({ url, method = 'GET', headers = {}, body, status = 200 }: HttpRequest, take?: (piece: Buffer) => void): Promise<Reading> {
    const startedAt = performance.now();
    let firstByteMs = 0;
    let bytes = 0;
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers: { ...headers, ...(body && length(body)) }, agent: this.agent }, (response) => {
        if (response.statusCode !== status) reject(new Error(`${url} answered ${response.statusCode}`));
        response.on('data', (piece: Buffer) => {
          if (bytes === 0) firstByteMs = performance.now() - startedAt;
          bytes += piece.length;
          take?.(piece);
        });
        response.on('end', () => resolve({ wallMs: performance.now() - startedAt, firstByteMs, bytes }));
        response.on('error', reject);
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The server closed the kept connection meanwhile: Node's own advice is to try again on another (http, request.reusedSocket).
        if (sent.reusedSocket && error.code === 'ECONNRESET')
          resolve(this.read({ url, method, headers, status, ...(body && { body }) }, take));
        else reject(error);
      });
      sent.end(body);
    });
  }

  /** The same, as the JSON that it is. */
  async readJson(sent: HttpRequest): Promise<unknown> {
    return JSON.parse(await this.readText(sent)) as unknown;
  }

  /** The same, decoded. */
  async readText(sent: HttpRequest): Promise<string> {
    const pieces: Buffer[] = [];
    await this.read(sent, (piece) => pieces.push(piece));
    const decode = { gzip: gunzipSync, br: brotliDecompressSync }[sent.headers?.['Accept-Encoding'] ?? ''];
    const body = Buffer.concat(pieces);
    return (decode?.(body) ?? body).toString();
  }

  close(): void {
    this.agent.destroy();
  }
}

const length = (body: string): Record<string, string> => ({
  'Content-Type': 'application/json',
  'Content-Length': String(Buffer.byteLength(body)),
});
