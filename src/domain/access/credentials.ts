import { createHash, createHmac } from 'node:crypto';
import type { LinkCaller } from '../../formats/link-address';

/** The credentials and the host of a request, as they were sent. */
export interface Credentials {
  /** The header `Provision`; undefined when there is none. */
  readonly provision: string | undefined;
  /** The Host that the request counts as addressed to, with its port. */
  readonly host: string;
  /** The text after `Bearer` in the header Authorization, even when it is not a token. It takes precedence over the cookie. */
  readonly bearerToken: string | undefined;
  /** The values of the session cookie, of which there may be several. */
  readonly cookieTokens: readonly string[];
  /** The caller whom the link of the request stands for. The provision and both tokens are then undefined. */
  readonly link?: LinkCaller | undefined;
  /** The client's IP address. Forwarded addresses count only from trusted proxies. */
  readonly address: string;
}

/** The text form of a token: 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** The most cookies that are looked up, so that a request tries no lists of tokens. */
const MAX_TOKENS = 3;

/** The texts of a request's cookies that may be session tokens, in their order. */
export const cookieTokensOf = ({ cookieTokens }: Credentials): readonly string[] =>
  [...new Set(cookieTokens)].filter((token) => TOKEN.test(token)).slice(0, MAX_TOKENS);

/**
 * The texts that may be the session token of a request, of which the first that is good counts. A bearer that is not a token is not replaced
 * by the cookie, because the caller has named the session that it means.
 */
export const sessionTokensOf = (credentials: Credentials): readonly string[] =>
  credentials.bearerToken !== undefined ? [credentials.bearerToken] : cookieTokensOf(credentials);

/** The SHA-256 of a token, the only form in which it is stored. Undefined for text that cannot be a token. */
export function hashToken(token: string): Buffer | undefined {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : undefined;
}

/**
 * The proof of a token that a link carries. The token cannot be computed from it, and only its hash is stored: who has read the database
 * and the keys of links can still make no link for a session.
 */
export const toLinkProof = (token: string): Buffer => createHmac('sha256', token).update('link').digest();

export const hashProof = (proof: Buffer): Buffer => createHash('sha256').update(proof).digest();
