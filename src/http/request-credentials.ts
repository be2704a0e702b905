import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import type { Credentials } from '../domain/access-service';
import type { SessionCookie } from '../resolvers/request-context';

/** Over https the browser itself guards the prefixed name: Secure, this host alone, whole site (RFC 6265bis section 4.1.3). */
const SECURE_COOKIE = '__Host-session';
const PLAIN_COOKIE = 'session';
/** RFC 6750 section 2.1. Another scheme is not for the gateway: a proxy may pass on the one by which it lets people in. */
const BEARER = /^Bearer(?:\s+|$)(.*)/i;

/** What a request says of itself. Forwarded headers count only from the proxies that express trusts. */
export function readCredentials(request: Request): Credentials {
  const cookieToken = parseCookie(request.get('Cookie') ?? '')[cookieName(request)];
  const bearerToken = BEARER.exec(request.get('Authorization') ?? '')?.[1];
  return {
    provision: request.get('Provision'),
    host: hostOf(request),
    // v2 knows cookies alone (contract section 4.2): a bearer that a proxy adds must not take their place there.
    bearerToken: cookieToken !== undefined && request.originalUrl.startsWith('/api/v2/') ? undefined : bearerToken,
    cookieToken,
  };
}

/** Writes the session cookie of an answer. Browsers throw one away that is None and not Secure. */
export function sessionCookie(request: Request, response: Response, sameSite: 'lax' | 'strict' | 'none'): SessionCookie {
  const name = cookieName(request);
  const { secure } = request;
  const attributes = { httpOnly: true, sameSite: sameSite === 'none' && !secure ? 'lax' : sameSite, secure, path: '/' } as const;
  return {
    set: (value, expires) => void response.append('Set-Cookie', stringifySetCookie({ name, value, expires, ...attributes })),
    clear: () => void response.append('Set-Cookie', stringifySetCookie({ name, value: '', expires: new Date(0), ...attributes })),
  };
}

/** Express's type hides that HTTP/1.0 may come without a Host. */
const hostOf = ({ host }: { readonly host?: string }): string => host ?? '';

const cookieName = (request: Request): string => (request.secure ? SECURE_COOKIE : PLAIN_COOKIE);
