import type { RequestHandler } from 'express';

/** The methods that a page on another origin may use at each door (Fetch standard, section 3.3). */
const DOORS: readonly (readonly [path: RegExp, methods: string])[] = [
  [/^\/graphql(\/|$)/, 'GET,POST'],
  [/^\/(api\/v2|export|reports)(\/|$)/, 'GET,HEAD'],
];

/** The headers that the doors read, and those that GraphQL clients and tracing add by themselves. */
const ALLOWED_HEADERS = [
  ...['Content-Type', 'Provision', 'Authorization', 'X-Requested-With'],
  ...['Apollo-Require-Preflight', 'X-Apollo-Operation-Name', 'X-Apollo-Operation-Id', 'X-Apollo-Operation-Type'],
  ...['ApolloGraphQL-Client-Name', 'ApolloGraphQL-Client-Version', 'GraphQL-Client-Name', 'GraphQL-Client-Version'],
  ...['traceparent', 'tracestate', 'baggage', 'sentry-trace'],
].join();

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
];
/** Headers that a page may read beside type and length. A browser shows no trailers to it. */
const EXPOSED_HEADERS = [
  ...['X-Request-Id', 'Retry-After', 'X-GraphQL-Cost', 'Allow', 'Content-Disposition'],
  ...['Id', 'Range', ...TOTALS].map((name) => `X-Export-${name}`),
].join();

/** Chromium keeps the answer to a preflight no longer. */
const MAX_AGE_SECONDS = 7200;

/**
 * Lets pages on these origins call the doors and read every answer, errors too. A page on any other origin gets no CORS header, which is
 * how its browser keeps it out. A preflight is answered before anything is asked of the caller: it carries no credentials.
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const listed = new Set(origins);
  return (request, response, next) => {
    // A shared cache must not give one origin's answer to another.
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
    });
    const methods = DOORS.find(([path]) => path.test(request.path))?.[1];
    if (request.method !== 'OPTIONS' || methods === undefined) {
      next();
      return;
    }
    response.set({
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
    });
    response.status(204).end();
  };
}
