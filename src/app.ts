import 'reflect-metadata';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { parse } from 'node:querystring';
import type { ApolloServer } from '@apollo/server';
import express, { type Express, type Request, type Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import type { Config } from './config';
import { allowOrigins } from './cross-origin';
import { AppError } from './errors';
import { createApolloServer } from './graphql/apollo-server';
import { createExportRoutes } from './export/export-routes';
import { CheckedDocuments } from './graphql/checked-documents';
import { createGraphqlRoute } from './graphql/graphql-route';
import type { GraphqlContext } from './graphql/row-field';
import { createSchema, type Resolvers } from './graphql/schema';
import { readTrustedDocuments } from './graphql/trusted-documents';
import { HttpServer } from './http-server';
import { assertPlainHeaders, readCredentials, sessionCookie } from './incoming-request';
import { createPlaygroundRoutes } from './playground/playground-routes';
import { AuthenticationResolver } from './resolvers/authentication-resolver';
import { DepositDetailResolver } from './resolvers/deposit-detail-resolver';
import { ExportResolver } from './resolvers/export-resolver';
import { logFailure, logRequests, ReaderLeft, requestId, warnOfProxies } from './request-log';
import { createRequestRouter } from './request-router';
import type { RequestContext } from './resolvers/request-context';
import { SavedReportResolver } from './resolvers/saved-report-resolver';
import { ViewerResolver } from './resolvers/viewer-resolver';
import { createV2ErrorHandler, createV2Routes } from './rest/v2-routes';
import { createServices, openDatabase, type OpenDatabase, type Services } from './services';

/** The whole gateway, ready to listen. */
export interface App {
  readonly httpServer: HttpServer;
  /** Why it cannot serve, in words for an operator; undefined where it can. */
  findObstacle(): Promise<string | undefined>;
  /** Finishes what is in flight and leaves nothing behind. False when answers had to be cut. */
  stop(): Promise<boolean>;
}

const MS_PER_SECOND = 1000;
const BYTES_PER_KILOBYTE = 1000;

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
    depositDetails: new DepositDetailResolver(services.reports, services.summaries),
    viewer: new ViewerResolver(services.sessions),
    savedReports: new SavedReportResolver(services.savedReports, services.summaries),
  };
  const schema = createSchema(resolvers);
  const documents = new CheckedDocuments();
  const apollo = createApolloServer(schema, {
    documents,
    introspection: config.INTROSPECTION,
    trustedDocuments: config.TRUSTED_DOCUMENTS === '' ? undefined : readTrustedDocuments(config.TRUSTED_DOCUMENTS),
    onInternalError: (error, context) => logFailure(log, error, context.requestId),
  });
  await apollo.start();

  const httpServer: HttpServer = new HttpServer(
    createDoors({
      ...{ config, log, services, documents, apollo, isDraining: () => httpServer.draining },
      resolvers: { ...resolvers, exports: new ExportResolver(services, schema) },
    }),
    { keepAliveMs: config.KEEP_ALIVE_SECONDS * MS_PER_SECOND },
  );
  return {
    httpServer,
    findObstacle: () => services.findObstacle(),
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
  readonly resolvers: Resolvers & { readonly exports: ExportResolver };
  readonly documents: CheckedDocuments;
  readonly apollo: ApolloServer<GraphqlContext>;
  readonly isDraining: () => boolean;
}

function createDoors({ config, log, services, resolvers, documents, apollo, isDraining }: DoorOptions): Express {
  const server = express();
  server.set('case sensitive routing', true);
  server.set('strict routing', true);
  server.set('etag', false);
  // Every name counts: Node would leave out those after the thousandth. The length of an address is bounded with its headers.
  server.set('query parser', (text: string) => parse(text, '&', '=', { maxKeys: 0 }));
  server.set('trust proxy', config.TRUST_PROXY);
  server.disable('x-powered-by');

  const fixedHeaders = recordSecurityHeaders();
  const warnOfProxy = warnOfProxies(log);
  server.use(logRequests(log));
  server.use((request, response, next) => {
    warnOfProxy(request);
    response.setHeaders(fixedHeaders);
    response.set('X-Request-Id', requestId(response));
    // Over plain http a browser must ignore it (RFC 6797 section 7.2).
    if (request.secure) response.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
    next();
  });
  if (config.CORS_ORIGINS.length > 0) server.use(allowOrigins(config.CORS_ORIGINS));
  server.use((request, _response, next) => {
    assertPlainHeaders(request);
    next();
  });

  const readerPace = {
    windowMs: config.READER_STALL_SECONDS * MS_PER_SECOND,
    bytesPerSecond: config.READER_KILOBYTES_PER_SECOND * BYTES_PER_KILOBYTE,
  };
  const onInternalError = (error: AppError, response: Response): void => logFailure(log, error, requestId(response));
  const openRequest = (request: Request, response: Response): RequestContext => {
    const left = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) left.abort(new ReaderLeft());
    });
    const access = services.access.open(readCredentials(request));
    return {
      requestId: requestId(response),
      access,
      snapshot: services.reports.openSnapshot(left.signal, () => access.caller()),
      records: services.records.open(),
      refused: new Set(),
      sessionCookie: sessionCookie(request, response, config.SESSION_SAME_SITE),
      address: request.ip ?? '',
    };
  };

  server.get('/live', (_request, response) => void response.json({ status: 'live' }));
  server.get('/ready', async (_request, response) => {
    const reason = isDraining() ? 'The gateway is stopping' : await services.findObstacle();
    if (reason === undefined) response.json({ status: 'ready' });
    else response.status(503).json({ status: 'not ready', reason });
  });
  const createRouter = createRequestRouter(openRequest);
  server.use('/api/v2', createV2Routes({ resolvers, createRouter, onInternalError, readerPace }));
  server.use(createExportRoutes({ resolver: resolvers.exports, createRouter, readerPace }));
  server.use('/graphql', createGraphqlRoute(apollo, { documents, openRequest, onInternalError, readerPace }));
  if (config.PLAYGROUND) {
    server.get('/', (_request, response) => response.redirect('/playground'));
    server.use('/playground', createPlaygroundRoutes(config.PLAYGROUND_PROVISION));
  }
  server.use(() => {
    throw new AppError('NOT_FOUND');
  });
  server.use(createV2ErrorHandler(onInternalError));
  return server;
}

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

/** helmet's headers are the same on every answer, so that it is asked once. */
function recordSecurityHeaders(): Map<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const secure = helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: { useDefaults: false, directives: contentSecurityPolicy },
  });
  secure(request, response, () => response.setHeader('Cache-Control', 'no-store'));
  return new Map(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}
