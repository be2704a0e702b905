import { randomUUID } from 'node:crypto';
import type { ApolloServer } from '@apollo/server';
import express, { type Express, type Request, type Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Config } from './config';
import { AppError } from './errors';
import { createApolloServer } from './graphql/apollo-server';
import { createGraphqlRoute } from './graphql/graphql-route';
import type { GraphqlContext } from './graphql/row-field';
import { createSchema, type Resolvers } from './graphql/schema';
import { HttpServer } from './http-server';
import { assertPlainHeaders, readCredentials, sessionCookie } from './incoming-request';
import { createPlaygroundRoutes } from './playground/playground-routes';
import { AuthenticationResolver } from './resolvers/authentication-resolver';
import { DepositDetailResolver } from './resolvers/deposit-detail-resolver';
import type { RequestContext } from './resolvers/request-context';
import { ViewerResolver } from './resolvers/viewer-resolver';
import { createV2ErrorHandler, createV2Routes } from './rest/v2-routes';
import { createServices, openDatabase, type OpenDatabase, type Services } from './services';

/** The whole gateway, ready to listen. */
export interface App {
  readonly httpServer: HttpServer;
  /** Whether the database answers and is migrated. */
  isReady(): Promise<boolean>;
  /** Finishes what is in flight and leaves nothing behind. False when answers had to be cut. */
  stop(): Promise<boolean>;
}

const MS_PER_SECOND = 1000;

/** The one composition root: database, services, resolvers, doors. Throws an OperatorError when the database cannot be opened. */
export async function createApp(config: Config, log: Logger): Promise<App> {
  const onConnectionLost = (error: Error): void => log.warn({ reason: error.message }, 'database connection lost');
  const database = await openDatabase(config, { share: false, onLost: onConnectionLost });
  try {
    return await composeApp(config, log, database, onConnectionLost);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function composeApp(config: Config, log: Logger, database: OpenDatabase, onConnectionLost: (error: Error) => void): Promise<App> {
  const services = createServices(config, database.address, onConnectionLost);
  const resolvers = {
    authentication: new AuthenticationResolver(),
    depositDetails: new DepositDetailResolver(services.reports),
    viewer: new ViewerResolver(services.sessions),
  };
  const apollo = createApolloServer(createSchema(resolvers), {
    introspection: config.INTROSPECTION,
    onInternalError: (error, context) => logFailure(log, error, context.requestId),
  });
  await apollo.start();

  const httpServer: HttpServer = new HttpServer(
    createDoors({ config, log, services, resolvers, apollo, isDraining: () => httpServer.draining }),
  );
  return {
    httpServer,
    isReady: () => services.isReady(),
    stop: async () => {
      const graceMs = config.SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND;
      const inTime = await httpServer.drain({ drainMs: config.DRAIN_MILLISECONDS, graceMs });
      await apollo.stop();
      await services.close();
      await database.close();
      return inTime;
    },
  };
}

interface DoorOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly services: Services;
  readonly resolvers: Resolvers;
  readonly apollo: ApolloServer<GraphqlContext>;
  readonly isDraining: () => boolean;
}

function createDoors({ config, log, services, resolvers, apollo, isDraining }: DoorOptions): Express {
  const server = express();
  server.set('case sensitive routing', true);
  server.set('strict routing', true);
  server.set('etag', false);
  server.set('query parser', 'simple');
  server.set('trust proxy', config.TRUST_PROXY);
  server.disable('x-powered-by');

  server.use(pinoHttp({ logger: log, ...requestLog }));
  server.use(helmet({ strictTransportSecurity: false, contentSecurityPolicy: { useDefaults: false, directives: contentSecurityPolicy } }));
  server.use((request, response, next) => {
    response.set('X-Request-Id', requestId(request));
    response.set('Cache-Control', 'no-store');
    // Over plain http a browser must ignore it (RFC 6797 section 7.2).
    if (request.secure) response.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
    assertPlainHeaders(request);
    next();
  });

  const readerStallMs = config.READER_STALL_SECONDS * MS_PER_SECOND;
  const onInternalError = (error: AppError, request: Request): void => logFailure(log, error, requestId(request));
  const openRequest = (request: Request, response: Response): RequestContext => {
    const left = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) left.abort(new ReaderLeft());
    });
    return {
      requestId: requestId(request),
      access: services.access.open(readCredentials(request)),
      snapshot: services.reports.openSnapshot(left.signal),
      sessionCookie: sessionCookie(request, response),
      address: request.ip ?? '',
    };
  };

  server.get('/live', (_request, response) => void response.json({ status: 'live' }));
  server.get('/ready', async (_request, response) => {
    const ready = !isDraining() && (await services.isReady());
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready' });
  });
  server.use('/api/v2', createV2Routes({ resolvers, openRequest, onInternalError, readerStallMs }));
  server.use('/graphql', createGraphqlRoute(apollo, { openRequest, onInternalError, readerStallMs }));
  if (config.PLAYGROUND) server.use('/playground', createPlaygroundRoutes(config.PLAYGROUND_PROVISION));
  server.use(() => {
    throw new AppError('NOT_FOUND');
  });
  server.use(createV2ErrorHandler(onInternalError));
  return server;
}

const requestId = (request: Request): string => request.id as string;

/** What the Playground needs, and what no other answer minds: everything from here, nothing from elsewhere, no eval. */
const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  workerSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** One line for a request: no headers, no query, nothing that could be personal. */
const requestLog = {
  genReqId: () => randomUUID(),
  quietReqLogger: true,
  customLogLevel: (_request: unknown, response: { statusCode: number }) => (response.statusCode >= 500 ? 'error' : 'info'),
  serializers: {
    req: ({ method, url }: { method: string; url: string }) => ({ method, path: url.split('?')[0] }),
    res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
    err: ({ message }: Error) => ({ message }),
  },
} as const;

/** Why a report was given up, where that is nobody's failure. */
class ReaderLeft extends Error {
  override readonly name = 'ReaderLeft';
}

/** The one place where a masked failure is written down. A database's message may repeat a value, so only its kind and place are kept. */
function logFailure(log: Logger, { code, cause }: AppError, requestId: string): void {
  if (cause instanceof ReaderLeft) {
    log.debug({ requestId }, 'the reader has left');
    return;
  }
  const fault = cause instanceof Error ? cause : new Error('Something else than an error was thrown');
  const at = fault.stack?.split('\n').filter((line) => /^ {4}at /.test(line));
  log.error(
    { requestId, code, name: fault.name, sqlState: 'code' in fault ? fault.code : undefined, at: at?.slice(0, 6) },
    'request failed',
  );
}
