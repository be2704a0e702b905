import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OperatorError, reasonOf } from '../errors';
import { SourceError } from './source-error';

/** The credentials of a v2 service (contract section 5). */
export interface SourceCredentials {
  readonly provision: string;
  /** The header `Cookie` of a login session; undefined where the provision alone is granted the report. */
  readonly cookie: string | undefined;
}

export interface ClientOptions {
  /** The address before `/api/v2`. */
  readonly url: URL;
  /** The certificate of an authority that Node does not know, in PEM. */
  readonly authority?: string | undefined;
  /** Milliseconds after which a request is given up, however much of its answer has come. */
  readonly timeoutMs: number;
  /** Aborted when the work as a whole ends. */
  readonly signal: AbortSignal;
  /** Called before each wait for another attempt. */
  readonly onRetry?: (error: SourceError, waitMs: number) => void;
}

/** The bound of one request. */
export interface RequestLimit {
  readonly signal: AbortSignal;
  /** Ends the bound when the answer has been read or left. */
  readonly end: () => void;
}

/** One request and what bounds it. */
export interface V2Request {
  /** The path below `api/v2/`, with the query. */
  readonly path: string;
  readonly credentials: Partial<SourceCredentials>;
  readonly signal: AbortSignal;
}

/** A service that sends nothing for so long has stopped. Its first byte may take as long as the whole answer. */
const STALL_MS = 120_000;
/** Node takes a longer time as none. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 1000;
/** A longer wait is left to the operator, or to the next round. */
const MAX_WAIT_MS = 300_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Asks a v2 service one question at a time. */
export class V2Client {
  private readonly agent: HttpAgent;

  constructor(private readonly options: ClientOptions) {
    const { url, authority } = options;
    const kept = { keepAlive: true, maxSockets: 1 };
    this.agent =
      url.protocol === 'https:' ? new HttpsAgent({ ...kept, ...(authority !== undefined && { ca: authority }) }) : new HttpAgent(kept);
  }

  /**
   * Bounds one request, which ends with the work as a whole or when it has taken too long. It must be ended. Node frees a signal of
   * AbortSignal.timeout() within one of AbortSignal.any() before its time, so there is none here.
   */
  limit(): RequestLimit {
    const { signal: whole, timeoutMs } = this.options;
    const limit = new AbortController();
    const abort = (): void => limit.abort();
    const timer = setTimeout(abort, Math.min(timeoutMs, MAX_TIMER_MS));
    whole.addEventListener('abort', abort);
    if (whole.aborted) abort();
    return {
      signal: limit.signal,
      end: () => {
        clearTimeout(timer);
        whole.removeEventListener('abort', abort);
      },
    };
  }

  /**
   * The answer to a GET, whatever its status is. A redirect within the host is followed; another host does not get the credentials. Throws a
   * SourceError for such a redirect, and the errors of Node when there is no answer: `toSourceError` reads them.
   */
  ask({ path, credentials, signal }: V2Request): Promise<IncomingMessage> {
    const { href } = this.options.url;
    return this.follow(new URL(`api/v2/${path}`, href.endsWith('/') ? href : `${href}/`), credentials, signal);
  }

  /** The bytes of an answer without its coding. An answer that stands still is given up. */
  bodyOf(response: IncomingMessage): Readable {
    const { socket } = response;
    const giveUp = (): void => void response.destroy(new SourceError('The answer has come to a stop', { isPassing: true }));
    socket.setTimeout(STALL_MS).on('timeout', giveUp);
    // The next answer may come on the same connection.
    response.once('close', () => socket.setTimeout(0).off('timeout', giveUp));
    const coding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (coding === 'identity') return response;
    const decoder = DECODERS[coding]?.();
    if (!decoder) response.destroy();
    if (!decoder) throw refuse(`The answer has the coding ${JSON.stringify(coding)}`);
    // The error reaches the reader of the decoder.
    return pipeline(response, decoder, () => undefined) as unknown as Readable;
  }

  /** The reason why an answer did not come or is not whole. Throws when the work as a whole has ended. */
  toSourceError(error: unknown, signal: AbortSignal): SourceError {
    const { timeoutMs, signal: whole } = this.options;
    whole.throwIfAborted();
    if (error instanceof SourceError) return error;
    if (signal.aborted)
      return new SourceError(`The answer takes longer than ${timeoutMs / 1000} seconds`, { isPassing: true, cause: error });
    // The reader of import files tells where the text stops being an answer.
    if (error instanceof OperatorError)
      return new SourceError(error.message.replace(/^The file/, 'The answer'), { isPassing: true, cause: error });
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_')) return new SourceError('The answer cannot be unpacked', { isPassing: true, cause: error });
    if (code !== undefined && isCertificateFault(code)) {
      return new SourceError(`The certificate is not trusted: ${reasonOf(error as Error)}`, { isPassing: false, cause: error });
    }
    return new SourceError(`There is no answer: ${code === 'ECONNRESET' ? 'the connection broke off' : reasonOf(error as Error)}`, {
      isPassing: true,
      cause: error,
    });
  }

  /** Waits before another attempt. Throws the error when none may help, or when there were enough. */
  async waitAfter(error: SourceError, attempt: number): Promise<void> {
    const { signal, onRetry } = this.options;
    const usual = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
    const waitMs = Math.max(error.options.retryAfterMs ?? 0, usual);
    if (!error.options.isPassing || attempt >= MAX_ATTEMPTS || waitMs > MAX_WAIT_MS) throw error;
    onRetry?.(error, waitMs);
    await delay(waitMs, undefined, { signal });
  }

  close(): void {
    this.agent.destroy();
  }

  private async follow(
    address: URL,
    credentials: Partial<SourceCredentials>,
    signal: AbortSignal,
    redirects = 0,
  ): Promise<IncomingMessage> {
    const response = await this.request(address, credentials, signal);
    const status = response.statusCode!;
    if (!REDIRECTS.includes(status)) return response;
    response.resume();
    const target = response.headers.location;
    if (target === undefined || !URL.canParse(target, address.href)) throw refuse(`A redirect (${status}) leads nowhere`);
    const next = new URL(target, address);
    if (next.origin !== address.origin) throw refuse(`A redirect leads to ${next.origin}, which does not get the credentials`);
    if (redirects === MAX_REDIRECTS) throw refuse('The redirects do not end');
    return this.follow(next, credentials, signal, redirects + 1);
  }

  private request(address: URL, { provision, cookie }: Partial<SourceCredentials>, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'deposit-gateway',
      ...(provision !== undefined && { provision }),
      ...(cookie !== undefined && { cookie }),
    };
    const send = address.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const request = send(address, { agent: this.agent, headers, signal }, (response) => {
        isAnswered = true;
        resolve(response);
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // A service may end a connection that it does not use, just while the next request goes out on it.
        const isStale = request.reusedSocket && error.code === 'ECONNRESET' && !isAnswered;
        if (isStale) resolve(this.request(address, { provision, cookie }, signal));
        else reject(error);
      });
      request.end();
    });
  }
}

const UTF8_MARK = /^\u00ef\u00bb\u00bf/;

/**
 * Passes an answer on. Throws for a web page, which many services send to callers whose session has ended, with status 200. `mayPass` tells
 * whether the same request may succeed later.
 */
export async function* withoutPages(body: AsyncIterable<Buffer>, mayPass = true): AsyncGenerator<Buffer> {
  let isAtStart = true;
  for await (const piece of body) {
    const first: string = isAtStart ? piece.toString('latin1').replace(UTF8_MARK, '').trimStart() : '';
    if (first.startsWith('<')) throw new SourceError('The answer is a web page, such as that of a login', { isPassing: mayPass });
    isAtStart &&= first === '';
    yield piece;
  }
}

/** The milliseconds of `Retry-After`: seconds, or a date (RFC 9110 section 10.2.3). */
export function readRetryAfter({ headers }: IncomingMessage): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000;
  const instant = Date.parse(value);
  return Number.isNaN(instant) ? undefined : Math.max(0, instant - Date.now());
}

const refuse = (message: string): SourceError => new SourceError(message, { isPassing: false });

const isCertificateFault = (code: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code);
