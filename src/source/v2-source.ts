import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { errorTable, OperatorError } from '../errors';
import { readImportLines } from '../formats/import-format';
import type { RawLine } from '../formats/import-line';
import type { PeriodDates } from '../values/periods';
import { SourceError } from './source-error';

/** The credentials of a v2 service (contract section 5). */
export interface SourceCredentials {
  readonly provision: string;
  /** The header `Cookie` of a login session; undefined where the provision alone is granted the report. */
  readonly cookie: string | undefined;
}

export interface SourceOptions extends SourceCredentials {
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

export interface ReportQuery extends PeriodDates {
  readonly includePending: boolean;
}

const REPORT = 'api/v2/deposit_detail_designation_detail_with_contact_info';
/** A service that sends nothing for so long has stopped. Its first byte may take as long as the whole answer. */
const STALL_MS = 120_000;
const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 1000;
/** A longer wait is left to the next round. */
const MAX_WAIT_MS = 300_000;
const MAX_REDIRECTS = 3;
/** The length of an error's body that is read. */
const MAX_ERROR_BYTES = 16_384;
const REDIRECTS = [301, 302, 303, 307, 308];
/** The statuses after which the same request may succeed: those of the contract for a data source that is away, and of proxies. */
const PASSING = [404, 408, 425, 429, 500, 502, 503, 504];
/** The texts of the contract that come with status 422 and pass (section 7). */
const PASSING_TEXTS: readonly string[] = [errorTable.UNDER_MAINTENANCE.text, errorTable.ESTABLISHING_SESSION_FAILED.text];

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** An old service that answers v2. It is asked one question at a time. */
export class V2Source {
  private readonly agent: HttpAgent;

  constructor(private readonly options: SourceOptions) {
    const { url, authority } = options;
    const kept = { keepAlive: true, maxSockets: 1 };
    this.agent =
      url.protocol === 'https:' ? new HttpsAgent({ ...kept, ...(authority !== undefined && { ca: authority }) }) : new HttpAgent(kept);
  }

  /**
   * Asks for the report, and again when that may help: after a while that doubles, or as long as the service asks for. `use` gets the lines
   * of each attempt from the first on. Throws a SourceError.
   */
  async read<Result>(query: ReportQuery, use: (lines: AsyncIterable<readonly RawLine[]>) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await use(this.lines(query));
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        await this.waitAfter(error, attempt);
      }
    }
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

  /** The lines of one answer, as they come. Throws a SourceError when the answer is not whole. */
  async *lines(query: ReportQuery): AsyncGenerator<readonly RawLine[]> {
    const signal = AbortSignal.any([this.options.signal, AbortSignal.timeout(this.options.timeoutMs)]);
    try {
      const response = await this.ask(this.toAddress(query), signal);
      yield* readImportLines('json', withoutPages(this.bodyOf(response)));
      if (!response.complete) throw new SourceError('The answer breaks off', { isPassing: true });
    } catch (error) {
      this.options.signal.throwIfAborted();
      throw this.toSourceError(error, signal);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private toAddress({ startDate, endDate, includePending }: ReportQuery): URL {
    const { url } = this.options;
    const address = new URL(REPORT, url.href.endsWith('/') ? url.href : `${url.href}/`);
    address.search = new URLSearchParams({ start_date: startDate, end_date: endDate, include_pending: String(includePending) }).toString();
    return address;
  }

  /** The answer with status 200. A redirect within the host is followed; another host does not get the credentials. */
  private async ask(address: URL, signal: AbortSignal, redirects = 0): Promise<IncomingMessage> {
    const response = await this.request(address, signal);
    const status = response.statusCode!;
    if (status === 200) return response;
    if (REDIRECTS.includes(status)) {
      response.resume();
      const target = response.headers.location;
      if (target === undefined || !URL.canParse(target, address.href)) throw refuse(`A redirect (${status}) leads nowhere`);
      const next = new URL(target, address);
      if (next.origin !== address.origin) throw refuse(`A redirect leads to ${next.origin}, which does not get the credentials`);
      if (redirects === MAX_REDIRECTS) throw refuse('The redirects do not end');
      return this.ask(next, signal, redirects + 1);
    }
    const text = await readErrorText(response);
    const isPassing = PASSING.includes(status) || (text !== undefined && PASSING_TEXTS.includes(text));
    throw new SourceError(`The answer is ${status}${text === undefined ? '' : `: ${text}`}`, {
      isPassing,
      retryAfterMs: readRetryAfter(response),
    });
  }

  private request(address: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const { provision, cookie } = this.options;
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'deposit-gateway',
      provision,
      ...(cookie !== undefined && { cookie }),
    };
    const send = address.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const request = send(address, { agent: this.agent, headers, signal }, resolve);
      request.on('error', reject).end();
    });
  }

  /** The bytes of an answer without its coding. An answer that stands still is given up. */
  private bodyOf(response: IncomingMessage): Readable {
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

  private toSourceError(error: unknown, signal: AbortSignal): Error {
    if (error instanceof SourceError) return error;
    const { timeoutMs } = this.options;
    if (signal.aborted)
      return new SourceError(`The answer takes longer than ${timeoutMs / 1000} seconds`, { isPassing: true, cause: error });
    // The reader of import files tells where the text stops being an answer.
    if (error instanceof OperatorError)
      return new SourceError(error.message.replace(/^The file/, 'The answer'), { isPassing: true, cause: error });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_')) return new SourceError('The answer cannot be unpacked', { isPassing: true, cause: error });
    if (code !== undefined && isCertificateFault(code)) {
      return new SourceError(`The certificate is not trusted: ${message}`, { isPassing: false, cause: error });
    }
    return new SourceError(`There is no answer: ${code === 'ECONNRESET' ? 'the connection broke off' : message}`, {
      isPassing: true,
      cause: error,
    });
  }
}

/** Passes an answer on. Throws for a web page, which many services send to callers whose session has ended, with status 200. */
async function* withoutPages(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isAtStart = true;
  for await (const piece of body) {
    const first: string = isAtStart ? piece.toString('latin1').trimStart() : '';
    if (first.startsWith('<')) throw new SourceError('The answer is a web page, such as that of a login', { isPassing: true });
    isAtStart &&= first === '';
    yield piece;
  }
}

const refuse = (message: string): SourceError => new SourceError(message, { isPassing: false });

const isCertificateFault = (code: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code);

/** The text of an error's body in the form of the contract (section 2.3); undefined for any other body. */
async function readErrorText(response: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_ERROR_BYTES) return undefined;
  }
  try {
    const { errors } = JSON.parse(Buffer.concat(pieces).toString()) as { errors?: readonly { error?: unknown }[] };
    const text = errors?.[0]?.error;
    return typeof text === 'string' ? text.slice(0, 200) : undefined;
  } catch {
    return undefined;
  }
}

/** The milliseconds of `Retry-After`: seconds, or a date (RFC 9110 section 10.2.3). */
function readRetryAfter({ headers }: IncomingMessage): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000;
  const instant = Date.parse(value);
  return Number.isNaN(instant) ? undefined : Math.max(0, instant - Date.now());
}
