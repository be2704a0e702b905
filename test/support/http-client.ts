import { request, type IncomingMessage } from 'node:http';

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborted when the client leaves, whether or not it has its answer. */
  readonly signal?: AbortSignal;
}

/** Asks on a connection of its own, and adds no header of its own choice. Resolves when the answer begins; nothing of it is read yet. */
export function ask(url: string, { method = 'GET', headers, body, signal }: Asking = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers: { ...headers }, agent: false, ...(signal && { signal }) }, resolve)
      .on('error', reject)
      .end(body);
  });
}

/** Reads to the end, or to where the answer broke off. */
export async function readAll(response: IncomingMessage): Promise<{ body: Buffer; complete: boolean }> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece);
  } catch {
    // Broken off: `complete` says so.
  }
  return { body: Buffer.concat(pieces), complete: response.complete };
}
