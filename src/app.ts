import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import { createAdminApp } from './admin/admin-app';
import { createMetricsRoutes } from './admin/metrics-routes';
import { GatewayMetrics } from './admin/gateway-metrics';
import type { Config } from './config';
import { AppError, OperatorError, toAppError } from './errors';
import { createFileRoutes } from './export/file-routes';
import { createApolloServer } from './graphql/apollo-server';
import { CheckedDocuments } from './graphql/checked-documents';
import { createGraphqlRoute } from './graphql/graphql-route';
import { createOperatorsRoute } from './graphql/operators-route';
import { createOperatorsSchema, createSchema } from './graphql/schema';
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
import { createOperatorSet } from './resolvers/operators/operator-set';
import { createResolvers } from './resolvers/resolver-set';
import { createV2Routes } from './rest/v2-routes';
import type { Operator, SeenEvent } from './domain/audit-service';
import type { RequestTracer } from './tracing/request-tracer';
import { createServices, type OpenDatabase, type Services } from './services';

/** The whole gateway, ready to listen. */
export interface App {
  readonly httpServer: HttpServer;
  /** Listens at the addresses of the settings. Throws an OperatorError that names the address that cannot be had. */
  listen(): Promise<ListeningPorts>;
  /** Resolves to the reason why the gateway cannot serve, as a sentence for an operator, or to undefined when it can. */
  findObstacle(): Promise<string | undefined>;
  /** Finishes the answers in flight and closes everything that was opened. Resolves to false when answers were cut. */
  stop(): Promise<boolean>;
}

/** The ports that a gateway listens on. */
interface ListeningPorts {
  readonly port: number;
  /** Undefined when ADMIN_PORT is not set. */
  readonly adminPort: number | undefined;
}

const MS_PER_SECOND = 1000;
const MS_PER_DAY = 86_400_000;
/** The database connections for short queries of operators. None is opened before an operator asks, or old audit rows are deleted. */
const OWNER_CONNECTIONS = 2;
/** On a stop: the time for an operator's answer to finish. */
const ADMIN_GRACE_MS = 1000;

/** The addresses of one database with the role that serves, and with the one that owns the tables. */
export interface RoleAddresses {
  readonly serving: OpenDatabase['address'];
  readonly owner: OpenDatabase['address'];
}

/** Composes the gateway from services, resolvers and doors over a database. */
export async function createApp(config: Config, { serving, owner }: RoleAddresses, log: Logger): Promise<App> {
  const onConnectionLost = (error: Error): void => log.warn({ reason: error.message }, 'database connection lost');
  const onEvent = (event: SeenEvent): void => {
    log.info(event, 'audited');
    metrics?.countEvent(event);
  };
  const onReplicaChange = (replica: number, reason: string | undefined): void => {
    if (reason === undefined) log.info({ replica }, 'replica is read');
    else log.warn({ replica, reason }, 'replica is set aside');
  };
  const replicas = config.DATABASE_REPLICA_URLS.map((connectionString) => ({ connectionString }));
  const services: Services & { close(): Promise<void> } = createServices(config, serving, {
    ...{ onConnectionLost, onEvent, replicas, onReplicaChange },
  });
  const metrics = config.ADMIN_PORT === undefined ? undefined : new GatewayMetrics(services);
  const operatorAddress = new AsyncLocalStorage<string>();
  const findOperator = (): Operator => ({ door: 'operators', account: null, address: operatorAddress.getStore() ?? null });
  const ownerConfig = { ...config, POOL_SIZE: OWNER_CONNECTIONS, REPORT_CONCURRENCY: 1 };
  const ownerServices = createServices(ownerConfig, owner, { onConnectionLost, onEvent, findOperator });
  const tracer = config.OTEL_EXPORTER_OTLP_ENDPOINT === '' ? undefined : startTracer(config);
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

  const doors = createExpressApp(config, log, { observe: metrics?.observe, trace: tracer && ((record) => tracer.begin(record)) });
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

  const operators =
    config.ADMIN_TOKEN === ''
      ? []
      : [
          createOperatorsRoute(createOperatorsSchema(createOperatorSet(ownerServices)), {
            token: config.ADMIN_TOKEN,
            onInternalError: kit.logFailure,
            during: (address, answer) => operatorAddress.run(address, answer),
          }),
        ];
  const adminApp = createAdminApp(config, log, [...(metrics ? [createMetricsRoutes(metrics)] : []), ...operators], metrics?.observe);
  const adminServer = new HttpServer(adminApp, { keepAliveMs: config.KEEP_ALIVE_SECONDS * MS_PER_SECOND });
  const listen = async (): Promise<ListeningPorts> => {
    const adminPort = config.ADMIN_PORT === undefined ? undefined : await listenAt(adminServer, config.ADMIN_PORT, config.ADMIN_HOST);
    return { port: await listenAt(httpServer, config.PORT, config.HOST), adminPort };
  };

  const stopDeleting = config.AUDIT_RETENTION_DAYS === undefined ? undefined : deleteDaily(ownerServices, config.AUDIT_RETENTION_DAYS, log);
  const stop = async (): Promise<boolean> => {
    await stopDeleting?.();
    const graceMs = config.SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND;
    const inTime = await httpServer.drain({ drainMs: config.DRAIN_MILLISECONDS, graceMs });
    await apollo.stop();
    // The metrics can be read until the last answer has left.
    await adminServer.drain({ drainMs: 0, graceMs: ADMIN_GRACE_MS });
    await Promise.all([services.close(), ownerServices.close()]);
    await tracer?.close();
    return inTime;
  };
  return { httpServer, listen, findObstacle: () => services.findObstacle(), stop };
}

/** Loads the libraries of tracing, which a gateway without traces does not need. */
function startTracer(config: Config): RequestTracer {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- The libraries take 80 ms to load.
  const { RequestTracer: Tracer } = require('./tracing/request-tracer') as typeof import('./tracing/request-tracer');
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: serviceName, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  return new Tracer({ endpoint, serviceName, ratio });
}

async function listenAt(server: HttpServer, port: number, host: string): Promise<number> {
  try {
    return await server.listen(port, host);
  } catch (error) {
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${(error as Error).message}`, { cause: error });
  }
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
