import 'reflect-metadata';
import type { Logger } from 'pino';
import type { Config } from './config';
import { AppError, toAppError } from './errors';
import { createFileRoutes } from './export/file-routes';
import { createApolloServer } from './graphql/apollo-server';
import { CheckedDocuments } from './graphql/checked-documents';
import { createGraphqlRoute } from './graphql/graphql-route';
import { createSchema } from './graphql/schema';
import { createSchemaRoute } from './graphql/schema-route';
import { readTrustedDocuments } from './graphql/trusted-documents';
import { createDoorKit } from './http/door-kit';
import { createExpressApp } from './http/express-app';
import { createHealthRoutes } from './http/health-routes';
import { HttpServer } from './http/http-server';
import { openLinks } from './http/link-requests';
import { createPlaygroundRoutes } from './playground/playground-routes';
import { FileResolver } from './resolvers/file-resolver';
import { SchemaReportDocuments } from './resolvers/report-documents';
import { createResolvers } from './resolvers/resolver-set';
import { createV2Routes } from './rest/v2-routes';
import { createServices, type OpenDatabase, type Services } from './services';

/** The whole gateway, ready to listen. */
export interface App {
  readonly httpServer: HttpServer;
  /** Resolves to the reason why the gateway cannot serve, as a sentence for an operator, or to undefined when it can. */
  findObstacle(): Promise<string | undefined>;
  /** Finishes the answers in flight and closes everything that was opened. Resolves to false when answers were cut. */
  stop(): Promise<boolean>;
}

const MS_PER_SECOND = 1000;
const MS_PER_DAY = 86_400_000;

/** The addresses of one database with the role that serves, and with the one that owns the tables. */
export interface RoleAddresses {
  readonly serving: OpenDatabase['address'];
  readonly owner: OpenDatabase['address'];
}

/** Composes the gateway from services, resolvers and doors over a database. */
export async function createApp(config: Config, { serving, owner }: RoleAddresses, log: Logger): Promise<App> {
  const onConnectionLost = (error: Error): void => log.warn({ reason: error.message }, 'database connection lost');
  const services = createServices(config, serving, onConnectionLost);
  const ownerServices = createServices(config, owner, onConnectionLost);
  const resolvers = createResolvers(services);
  const schema = createSchema(resolvers);
  const documents = new CheckedDocuments();
  const kit = createDoorKit(config, log, services);
  const apollo = createApolloServer(schema, {
    documents,
    introspection: config.INTROSPECTION,
    trustedDocuments: config.TRUSTED_DOCUMENTS === '' ? undefined : readTrustedDocuments(config.TRUSTED_DOCUMENTS),
    budgets: services.budgets,
    onInternalError: (error, { requestId }) => kit.logFailure(error, requestId),
  });
  await apollo.start();

  const doors = createExpressApp(config, log);
  const httpServer = new HttpServer(doors, { keepAliveMs: config.KEEP_ALIVE_SECONDS * MS_PER_SECOND });
  doors.use(createHealthRoutes({ isDraining: () => httpServer.draining, findObstacle: () => services.findObstacle() }));
  doors.use('/api/v2', createV2Routes(resolvers, kit));
  doors.use(openLinks(services.links));
  doors.use(createFileRoutes(new FileResolver(services, new SchemaReportDocuments(schema)), kit));
  doors.use('/graphql', createGraphqlRoute(apollo, documents, kit));
  doors.use(createSchemaRoute(schema, config.INTROSPECTION, kit));
  if (config.PLAYGROUND) doors.use(createPlaygroundRoutes(config.PLAYGROUND_PROVISION));
  doors.use(() => {
    throw new AppError('NOT_FOUND');
  });
  doors.use(kit.createErrorHandler());

  const stopDeleting = config.AUDIT_RETENTION_DAYS === undefined ? undefined : deleteDaily(ownerServices, config.AUDIT_RETENTION_DAYS, log);
  const stop = async (): Promise<boolean> => {
    await stopDeleting?.();
    const graceMs = config.SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND;
    const inTime = await httpServer.drain({ drainMs: config.DRAIN_MILLISECONDS, graceMs });
    await apollo.stop();
    await Promise.all([services.close(), ownerServices.close()]);
    return inTime;
  };
  return { httpServer, findObstacle: () => services.findObstacle(), stop };
}

/** Deletes old rows of the audit now and every day. A failure is logged, and the next day tries again. Returns the function that stops it. */
function deleteDaily({ audit, organizations }: Services, days: number, log: Logger): () => Promise<void> {
  const deleteOld = async (): Promise<void> => {
    for (const { id } of await organizations.list()) await audit.deleteOld(id, days);
  };
  let working = Promise.resolve();
  const start = (): void => {
    working = deleteOld().catch((error: unknown) => log.warn({ code: toAppError(error).code }, 'old audit rows were not deleted'));
  };
  start();
  const timer = setInterval(start, MS_PER_DAY).unref();
  return async () => {
    clearInterval(timer);
    await working;
  };
}
