import type { RequestHandler } from 'express';
import { isForwarded, isHeaderName } from '../values/header-names';

/** The methods that a page on another origin may use at each door (Fetch standard, section 3.3). */
const DOORS: readonly (readonly [path: RegExp, methods: string])[] = [
  [/^\/graphql(\/|$)/, 'GET,POST'],
  [/^\/(api\/v2|export|reports|odata)(\/|$)/, 'GET,HEAD'],
  [/^\/mcp$/, 'POST'],
  [/^\/schema\.graphql$/, 'GET,HEAD'],
];

/** The request headers that the doors read, and those that GraphQL clients and tracing libraries add. */
const ALLOWED_HEADERS = [
  ...['Content-Type', 'Provision', 'Authorization', 'X-Requested-With', 'If-None-Match', 'X-Min-Data-Version', 'X-GraphQL-Cost'],
  ...['Apollo-Require-Preflight', 'X-Apollo-Operation-Name', 'X-Apollo-Operation-Id', 'X-Apollo-Operation-Type'],
  ...['ApolloGraphQL-Client-Name', 'ApolloGraphQL-Client-Version', 'GraphQL-Client-Name', 'GraphQL-Client-Version'],
  ...['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
  ...['OData-Version', 'OData-MaxVersion', 'Prefer'],
  ...['traceparent', 'tracestate', 'baggage', 'sentry-trace', 'X-Request-Id'],
];

const TOTALS = [
  'Rows',
  'Lines',
  'Transactions',
  'Deposits',
  'Amount-By-Line',
  'Amount-By-Transaction',
  'Amount-By-Allocation',
  'Unknown-Allocations',
  'Digest',
  'Money-Digest',
];
/** The headers of an answer that a page may read beside its type and length. Browsers never show trailers to a page. */
const EXPOSED_HEADERS = [
  ...['X-Request-Id', 'Retry-After', 'X-GraphQL-Cost', 'X-Data-Version', 'ETag', 'Allow', 'Content-Disposition', 'Provision-Expires'],
  ...['X-Closed-Through', 'Deprecation', 'Sunset', 'Link', 'RateLimit', 'RateLimit-Policy', 'Server-Timing'],
  ...['OData-Version', 'Preference-Applied'],
  ...['Id', 'Range', 'Date-Basis', 'From-Version', 'Place', ...TOTALS].map((name) => `X-Export-${name}`),
].join();

/** The longest time that Chromium keeps the answer to a preflight. */
const MAX_AGE_SECONDS = 7200;

/**
 * Lets pages on these origins call the doors and read every answer, errors too. An answer to a page on any other origin has no CORS header,
 * so the browser keeps the page from reading it. A preflight is answered without any check of the caller, since it carries no credentials.
 * `headers` are more request headers, in lower case, that these pages may send; a `*` at the end of one stands for every ending.
 */
export function allowOrigins(origins: readonly string[], headers: readonly string[]): RequestHandler {
  const listed = new Set(origins);
  const allowed = [...ALLOWED_HEADERS, ...headers.filter((name) => !name.endsWith('*'))].join();
  const beginnings = headers.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (request, response, next) => {
    // Without Vary, a shared cache could give one origin's answer to another.
    response.vary('Origin');
    const origin = request.get('Origin');
    if (origin === undefined || !listed.has(origin)) {
      next();
      return;
    }
    response.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': EXPOSED_HEADERS,
      'Timing-Allow-Origin': origin,
    });
    const methods = DOORS.find(([path]) => path.test(request.path))?.[1];
    if (request.method !== 'OPTIONS' || methods === undefined) {
      next();
      return;
    }
    response.set({
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': [allowed, ...findAsked(request.get('Access-Control-Request-Headers'), beginnings)].join(),
      'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
    });
    response.status(204).end();
  };
}

/** The names of headers that a preflight asks for and that begin with one of these texts. The answer repeats them. Browsers write them in lower case. */
const findAsked = (asked = '', beginnings: readonly string[]): string[] =>
  asked
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !isForwarded(name) && isHeaderName(name) && beginnings.some((beginning) => name.startsWith(beginning)));
