import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config';
import { AppError, InputError } from '../errors';
import { withoutPort } from '../values/addresses';
import { allowOrigins } from './cross-origin';
import { parseQueryString, QueryFault, type Parameters } from './query-string';
import { logRequests, warnOfProxies, type RequestWatch } from './request-log';
import { setSecurityHeaders } from './security-headers';

const MAX_HEADERS = 100;

/** An Express application without routes: its settings, and the middleware that every request passes before it reaches a door. */
export function createExpressApp(config: Config, log: Logger, watch: RequestWatch = {}): Express {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.set('etag', false);
  app.set('query parser', readParameters);
  app.set('trust proxy', config.TRUST_PROXY);
  app.disable('x-powered-by');

  app.use(readForwarded);
  app.use(logRequests(log, watch));
  app.use(warnOfProxies(log));
  app.use(setSecurityHeaders());
  if (config.CORS_ORIGINS.length > 0) app.use(allowOrigins(config.CORS_ORIGINS, config.CORS_HEADERS));
  app.use(refuseAmbiguousHeaders);
  return app;
}

/** Some proxies write a port behind each address, which is another one for each connection and would make each a caller of its own. */
const readForwarded: RequestHandler = ({ headers }, _response, next) => {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded === 'string') headers['x-forwarded-for'] = forwarded.split(',').map(withoutPort).join(',');
  next();
};

/**
 * The parameters of an address. Express asks for them each time that a door reads `request.query`, so that a door that reads them after its
 * checks of access refuses them in their place. Throws INVALID_PARAMETERS that names the parameter.
 */
function readParameters(text: string | undefined): Parameters {
  try {
    return parseQueryString(text ?? '');
  } catch (error) {
    if (error instanceof QueryFault) throw new InputError(error.message);
    throw error;
  }
}

/** Refuses what the HTTP parser accepts: no Host, several (RFC 9112 section 3.2), or more headers than Node keeps. */
export const refuseAmbiguousHeaders: RequestHandler = ({ rawHeaders, httpVersion }, _response, next) => {
  if (rawHeaders.length / 2 > MAX_HEADERS) throw new AppError('HEADERS_TOO_LARGE');
  const hosts = rawHeaders.filter((name, position) => position % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) throw new AppError('BAD_REQUEST');
  next();
};
