import { request, type IncomingMessage } from 'node:http';

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The address of the client, one of this machine. */
  readonly from?: string;
  /** Aborts when the client leaves, with or without its answer. */
  readonly signal?: AbortSignal;
}

/** Sends a request on a connection of its own, with no header but those given. Resolves when the answer begins, before its body is read. */
export function ask(url: string, { method = 'GET', headers, body, from, signal }: Asking = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(
      url,
      { method, headers: { ...headers }, agent: false, ...(from !== undefined && { localAddress: from }), ...(signal && { signal }) },
      resolve,
    )
      .on('error', reject)
      .end(body);
  });
}

/** Reads an answer to its end, or to the place where it broke off. */
export async function readAll(response: IncomingMessage): Promise<{ body: Buffer; complete: boolean }> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece);
  } catch {
    // The answer broke off, and `complete` is false.
  }
  return { body: Buffer.concat(pieces), complete: response.complete };
}
