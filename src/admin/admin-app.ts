import express, { type Express, type RequestHandler, type Router } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config';
import { AppError } from '../errors';
import { createErrorHandler } from '../http/error-handler';
import { refuseAmbiguousHeaders } from '../http/express-app';
import { logRequests, type RequestObserver } from '../http/request-log';
import { setSecurityHeaders } from '../http/security-headers';
import { toHostName } from '../values/addresses';

/** The names of this machine for itself. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The operators' application, which has a port of its own. It has no CORS, so that no page can read it, and it answers to the names of the
 * settings alone. The first router that knows a path answers it.
 */
export function createAdminApp(
  { ADMIN_HOST, ADMIN_NAMES }: Config,
  log: Logger,
  routers: readonly Router[],
  observe?: RequestObserver,
): Express {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.set('etag', false);
  app.disable('x-powered-by');
  app.use(logRequests(log, { observe }));
  app.use(setSecurityHeaders());
  app.use(refuseAmbiguousHeaders);
  app.use(refuseOtherNames([...LOOPBACK, ADMIN_HOST, ...ADMIN_NAMES]));
  for (const router of routers) app.use(router);
  app.use(() => {
    throw new AppError('NOT_FOUND');
  });
  app.use(createErrorHandler(log));
  return app;
}

/**
 * Refuses a Host that is neither one of these names nor the address at which the connection has arrived. A page whose own name was made to
 * stand for this machine (DNS rebinding) could otherwise read the answers.
 */
function refuseOtherNames(names: readonly string[]): RequestHandler {
  const known = new Set(names.map(toHostName));
  return ({ headers, socket }, _response, next) => {
    const name = toHostName(headers.host ?? '');
    // An IPv4 address arrives at a socket for both families with this prefix.
    const own = toHostName((socket.localAddress ?? '').replace(/^::ffff:/, ''));
    if (!known.has(name) && name !== own) throw new AppError('NOT_FOUND');
    next();
  };
}
