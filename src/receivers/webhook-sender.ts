import { lookup } from 'node:dns';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIpAddress, isPrivateAddress, withoutBrackets } from '../values/addresses';

/** The outcome of an attempt: the status of the answer, or a short word for the reason why there is none. */
export type WebhookOutcome = { readonly status: number } | { readonly failure: string };

/** One attempt. */
export interface WebhookAttempt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;
/** More of an answer is not read. Its status counts all the same. */
const MAX_ANSWER_BYTES = 65_536;

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection broken',
  ENOTFOUND: 'unknown name',
  EAI_AGAIN: 'unknown name',
  ADDRESS_REFUSED: 'address refused',
};
const CERTIFICATE_FAULT = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

/** Sends messages to receivers. Redirects are not followed: a receiver could send the gateway to a neighbour that trusts it. */
export class WebhookSender {
  /** With `allowsPrivate`, receivers may be at private addresses, and those may be without TLS. */
  constructor(private readonly allowsPrivate: boolean) {}

  /** Sends one message. Resolves to what happened, also when there was no answer. Rejects when the signal has ended the attempt. */
  async send({ url, headers, body, signal }: WebhookAttempt): Promise<WebhookOutcome> {
    const target = new URL(url);
    const address = withoutBrackets(target.hostname);
    // Node looks up no name that is an address.
    if (isIpAddress(address) && this.isRefused(target.protocol, address)) return { failure: FAILURES.ADDRESS_REFUSED! };
    const limit = new AbortController();
    const abort = (): void => limit.abort();
    const timer = setTimeout(abort, TIMEOUT_MS);
    signal.addEventListener('abort', abort);
    try {
      if (signal.aborted) abort();
      const outcome = await post(target, { headers, body, signal: limit.signal, lookup: this.lookupFor(target.protocol) });
      signal.throwIfAborted();
      return outcome;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  private isRefused(protocol: string, address: string): boolean {
    const isPrivate = isPrivateAddress(address);
    return this.allowsPrivate ? protocol === 'http:' && !isPrivate : protocol === 'http:' || isPrivate;
  }

  /** Looks up a name once. The connection goes to the addresses that were checked, whatever the name leads to a moment later. */
  private lookupFor(protocol: string): LookupFunction {
    return (name, options, done) =>
      lookup(name, { ...options, all: true }, (error, addresses) => {
        if (error) return done(error, []);
        const [first] = addresses;
        if (!first || addresses.some(({ address }) => this.isRefused(protocol, address))) done(withCode('ADDRESS_REFUSED'), []);
        else if (options.all) done(null, addresses);
        else done(null, first.address, first.family);
      });
  }
}

interface Post extends Omit<WebhookAttempt, 'url'> {
  readonly lookup: LookupFunction;
}

/** Resolves when the answer has ended, was long enough, or will not come. */
function post(target: URL, { headers, body, signal, lookup }: Post): Promise<WebhookOutcome> {
  const send = target.protocol === 'https:' ? requestHttps : requestHttp;
  const all = {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'deposit-gateway',
  };
  return new Promise((resolve) => {
    let status: number | undefined;
    let failure = 'no answer';
    // An agent could keep a connection to an address that was checked for another message.
    const request = send(target, { method: 'POST', agent: false, headers: all, signal, lookup });
    request.on('response', (response: IncomingMessage) => {
      status = response.statusCode;
      let bytes = 0;
      response.on('error', () => undefined);
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > MAX_ANSWER_BYTES) response.destroy();
      });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      failure = signal.aborted ? 'timeout' : nameFailure(error.code ?? '');
    });
    request.on('close', () => resolve(status === undefined ? { failure } : { status }));
    request.end(body);
  });
}

const nameFailure = (code: string): string => FAILURES[code] ?? (CERTIFICATE_FAULT.test(code) ? 'certificate' : 'no answer');

const withCode = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });
