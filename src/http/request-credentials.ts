import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import type { Credentials } from '../domain/access/credentials';
import type { LinkCaller } from '../formats/link-address';
import type { SessionCookie } from '../resolvers/request/request-context';

/** The prefix makes browsers insist on Secure, Path=/ and no Domain, so that only this host can set it (RFC 6265bis section 4.1.3). */
export const SECURE_COOKIE = '__Host-deposit-gateway-session';
/** A browser sends it to every port of a host, so that it must not have a name that other applications give to theirs. */
export const PLAIN_COOKIE = 'deposit-gateway-session';
/** The Bearer scheme (RFC 6750 section 2.1). Other schemes are ignored: a proxy may pass on the credentials that it checks itself. */
const BEARER = /^Bearer(?:\s+|$)(.*)/i;
/** The Basic scheme (RFC 7617 section 2). */
const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/** The credentials that count at a door: all, the provision without a session, or the provision as the password of Basic. */
export type CredentialForm = 'all' | 'provision' | 'basic';

/**
 * Reads the credentials that a request carries: those in its headers, or the caller whom its link stands for. Forwarded headers count only
 * from the proxies that Express trusts.
 */
export function readCredentials(request: Request, link: LinkCaller | undefined, form: CredentialForm): Credentials {
  const from = { host: hostOf(request), address: request.ip ?? '', bearerToken: undefined, cookieTokens: [] };
  if (link) return { provision: undefined, ...from, link };
  if (form === 'basic') return { provision: readBasicPassword(request.get('Authorization')), ...from };
  if (form === 'provision') return { provision: request.get('Provision'), ...from };
  const cookieTokens = readCookies(request.get('Cookie') ?? '', cookieName(request));
  const bearerToken = BEARER.exec(request.get('Authorization') ?? '')?.[1];
  return {
    provision: request.get('Provision'),
    ...from,
    // v2 has sessions by cookie (contract section 4.2), so a bearer token that a proxy adds must not replace the cookie there.
    bearerToken: cookieTokens.length > 0 && request.originalUrl.startsWith('/api/v2/') ? undefined : bearerToken,
    cookieTokens,
  };
}

/** The password in a header Authorization of the Basic scheme; undefined in any other. The user's name ends at the first colon. */
export function readBasicPassword(header: string | undefined): string | undefined {
  const [, encoded] = BASIC.exec(header ?? '') ?? [];
  return encoded && /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1];
}

/** Writes the session cookie of an answer. Over plain http SameSite=None becomes lax, because browsers reject None without Secure. */
export function sessionCookie(request: Request, response: Response, sameSite: 'lax' | 'strict' | 'none'): SessionCookie {
  const name = cookieName(request);
  const { secure } = request;
  const attributes = { httpOnly: true, sameSite: sameSite === 'none' && !secure ? 'lax' : sameSite, secure, path: '/' } as const;
  return {
    set: (value, expires) => void response.append('Set-Cookie', stringifySetCookie({ name, value, expires, ...attributes })),
    clear: () => void response.append('Set-Cookie', stringifySetCookie({ name, value: '', expires: new Date(0), ...attributes })),
  };
}

/** The values of all cookies of a name: another path, or an earlier release, may have set one that comes first (RFC 6265 section 5.4). */
const readCookies = (header: string, name: string): string[] => header.split(';').flatMap((pair) => parseCookie(pair)[name] ?? []);

/** Express types `host` as text, but an HTTP/1.0 request may have no Host header. */
export const hostOf = ({ host }: { readonly host?: string }): string => host ?? '';

const cookieName = (request: Request): string => (request.secure ? SECURE_COOKIE : PLAIN_COOKIE);
