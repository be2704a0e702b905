import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import { createAdminApp } from './admin/admin-app';
import { createMetricsRoutes, type MetricsSource } from './admin/metrics-routes';
import { GatewayMetrics } from './admin/gateway-metrics';
import type { Config } from './config';
import { AppError, OperatorError, toAppError } from './errors';
import { createFileRoutes } from './export/file-routes';
import { createApolloServer } from './graphql/apollo-server';
import { CheckedDocuments } from './graphql/documents/checked-documents';
import { createGraphqlRoute } from './graphql/graphql-route';
import { KeptAnswers } from './graphql/answers/kept-answers';
import { createOperatorsRoute } from './graphql/operators-route';
import { createOperatorsSchema, createSchema, describeField } from './graphql/schema';
import { OperationRun } from './graphql/operation-run';
import { createSchemaRoute } from './graphql/schema-route';
import { AgentAnswers } from './agents/agent-answers';
import { AgentTools } from './agents/agent-tools';
import { createAgentsRoute } from './agents/agents-route';
import { readTrustedDocuments } from './graphql/documents/trusted-documents';
import { createDoorKit } from './http/door-kit';
import { createExpressApp } from './http/express-app';
import { createHealthRoutes } from './http/health-routes';
import { HttpServer } from './http/http-server';
import { openLinks } from './http/link-requests';
import { logFailure, logUnwritten, logUnwrittenUsage, type RequestObserver } from './http/request-log';
import { countUsage } from './http/request-usage';
import { ReadableReports } from './odata/odata-reports';
import { createOdataRoute } from './odata/odata-route';
import { createPlaygroundRoutes } from './playground/playground-routes';
import { FileResolver } from './resolvers/reports/file-resolver';
import { FileMailedReports } from './resolvers/reports/mailed-reports';
import { SchemaReportDocuments } from './resolvers/reports/report-documents';
import { QueryReader } from './resolvers/reports/variable-schemas';
import { createOperatorSet } from './resolvers/operators/operator-set';
import { createResolvers } from './resolvers/resolver-set';
import { createV2Document } from './rest/v2-document';
import { createV2Routes } from './rest/v2-routes';
import type { Operator } from './domain/audit/audit-service';
import type { RequestTracer } from './tracing/request-tracer';
import type { OpenDatabase } from './databases';
import { createServices, type ServiceOptions, type Services } from './services';

/** The whole gateway, ready to listen. */
export interface App {
  /** Starts the workers, when there are any, and the deliveries of webhooks. Throws an OperatorError when one cannot serve, or when `stop` is called meanwhile. */
  start(): Promise<void>;
  /** Listens at the addresses of the settings. Throws an OperatorError that names the address that cannot be had. */
  listen(): Promise<ListeningPorts>;
  /** Resolves to the reason why the gateway cannot serve, as a sentence for an operator, or to undefined when it can. */
  findObstacle(): Promise<string | undefined>;
  /**
   * Goes on to serve for `drainMs`, so that balancers notice, then finishes the answers in flight and closes everything that was opened.
   * Resolves to false when answers were cut.
   */
  stop(drainMs: number): Promise<boolean>;
  /** Ends the drain and the grace time of `stop` at once. */
  cut(): void;
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

/** The parts of a gateway that the doors of callers and the port of operators both use. */
interface SideOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Undefined when there is no port that tells them. */
  readonly metrics: GatewayMetrics | undefined;
  readonly signals: Signals;
}

/** The functions by which services tell of lost connections, of audit rows that fail, and of the audit's events. */
type Signals = Required<Pick<ServiceOptions, 'onConnectionLost' | 'onUnwritten' | 'onUnwrittenUsage' | 'onEvent'>>;

/** The doors of callers, which stand in each worker of a gateway. */
export interface CallersSide {
  readonly httpServer: HttpServer;
  /** Closes everything that was opened, when `drained` says that no connection is left. Resolves to what that resolves to. */
  readonly stop: (drained: Promise<boolean>) => Promise<boolean>;
}

/** The port of operators and their daily work, which a gateway has once. */
export interface OperatorsSide {
  /** Resolves to undefined when ADMIN_PORT is not set. Throws an OperatorError that names the address that cannot be had. */
  listen(): Promise<number | undefined>;
  /** Ends the work of operators. `drained` resolves when callers have their answers: the port can be asked until then. */
  stop<Outcome>(drained: () => Promise<Outcome>): Promise<Outcome>;
}

/** Composes the gateway from services, resolvers and doors over a database, in one process. */
export async function createApp(config: Config, { serving, owner }: RoleAddresses, log: Logger): Promise<App> {
  const signals = createSignals(log, () => metrics);
  const services = createServices(config, serving, { ...signals, ...forCallers(config, log) });
  const metrics = config.ADMIN_PORT === undefined ? undefined : new GatewayMetrics(services);
  const side = { config, log, metrics, signals };
  const operators = createOperatorsSide(owner, side, metrics);
  const { httpServer, stop } = await createCallersSide(services, side);
  const stopDeleting = deleteOldUsage(services, config.USAGE_RETENTION_DAYS, log);
  let stopDelivering = (): Promise<unknown> => Promise.resolve();
  const listen = async (): Promise<ListeningPorts> => {
    const adminPort = await operators.listen();
    return { port: await orExplain(httpServer.listen(config.PORT, config.HOST), config.PORT, config.HOST), adminPort };
  };
  const graceMs = config.SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND;
  return {
    start: () => {
      stopDelivering = deliver(services, config, log);
      return Promise.resolve();
    },
    listen,
    cut: () => httpServer.cut(),
    findObstacle: () => services.findObstacle(),
    stop: (drainMs) =>
      operators.stop(async () => {
        const drained = httpServer.drain({ drainMs, graceMs });
        await Promise.all([stopDeleting(), stopDelivering()]);
        return stop(drained);
      }),
  };
}

/** Logs what services signal, and counts events. `metrics` is a function because metrics are made after the services that they read. */
export const createSignals = (log: Logger, metrics: () => GatewayMetrics | undefined): Signals => ({
  onConnectionLost: (error) => log.warn({ reason: error.message }, 'database connection lost'),
  onUnwritten: (unwritten) => logUnwritten(log, unwritten),
  onUnwrittenUsage: (unwritten) => logUnwrittenUsage(log, unwritten),
  onEvent: (event) => {
    log.info(event, 'audited');
    metrics()?.countEvent(event);
  },
});

/** The options of the services that callers are answered by: the replicas, and the function that logs how they are. */
export const forCallers = (config: Config, log: Logger): Pick<ServiceOptions, 'isServing' | 'replicas' | 'onReplicaChange'> => ({
  isServing: true,
  replicas: config.DATABASE_REPLICA_URLS.map((connectionString) => ({ connectionString })),
  onReplicaChange: (replica, reason) => {
    if (reason === undefined) log.info({ replica }, 'replica is read');
    else log.warn({ replica, reason }, 'replica is set aside');
  },
});

/** Composes the doors of callers over services, which they close. */
export async function createCallersSide(
  services: Services & { close(): Promise<void> },
  { config, log, metrics }: Omit<SideOptions, 'signals'>,
): Promise<CallersSide> {
  const tracer = config.OTEL_EXPORTER_OTLP_ENDPOINT === '' ? undefined : await startTracer(config);
  const resolvers = createResolvers(services);
  const schema = createSchema(resolvers);
  const documents = new CheckedDocuments();
  const kit = createDoorKit(config, log, services);
  const trustedDocuments = config.TRUSTED_DOCUMENTS === '' ? undefined : readTrustedDocuments(config.TRUSTED_DOCUMENTS);
  const apollo = createApolloServer(schema, {
    documents,
    introspection: config.INTROSPECTION,
    trustedDocuments,
    budgets: services.budgets,
    onInternalError: (error, { requestId }) => kit.logFailure(error, requestId),
  });
  await apollo.start();

  const count = countUsage(services.usageCounter);
  const observe: RequestObserver = (record, end) => {
    metrics?.observe(record, end);
    count(record, end);
  };
  const doors = createExpressApp(config, log, { observe, trace: tracer && ((record) => tracer.begin(record)) });
  const httpServer = new HttpServer(doors, { keepAliveMs: config.KEEP_ALIVE_SECONDS * MS_PER_SECOND });
  doors.use(createHealthRoutes({ isDraining: () => httpServer.draining, findObstacle: () => services.findObstacle() }));
  const document = createV2Document((type, field) => describeField(schema, type, field));
  doors.use('/api/v2', createV2Routes(resolvers, kit, document));
  doors.use(openLinks(services.links));
  const reportDocuments = new SchemaReportDocuments(schema);
  const files = new FileResolver(services, reportDocuments, () => httpServer.draining);
  doors.use(createFileRoutes(files, kit));
  doors.use(createOdataRoute(files, new ReadableReports(services.savedReports, reportDocuments), kit));
  const keptAnswers = services.answers && new KeptAnswers(services.answers, services.keys);
  const runParts = { apollo, documents, kit, keptAnswers, budgets: services.budgets };
  doors.use('/graphql', createGraphqlRoute(runParts));
  if (config.AGENTS) {
    doors.use(
      createAgentsRoute({
        kit,
        tools: new AgentTools({
          savedReports: services.savedReports,
          documents: trustedDocuments?.all ?? [],
          queries: new QueryReader(schema),
        }),
        answers: new AgentAnswers({ files, links: services.links }),
        origins: config.CORS_ORIGINS,
        run: (request, response, operation) =>
          new OperationRun(request, response, runParts, { ...operation, authorize: (access) => access.authorizeAgent() }),
      }),
    );
  }
  doors.use(createSchemaRoute(schema, config.INTROSPECTION, kit));
  if (config.PLAYGROUND) doors.use(createPlaygroundRoutes(config.PLAYGROUND_PROVISION));
  doors.use(() => {
    throw new AppError('NOT_FOUND');
  });
  doors.use(kit.createErrorHandler());

  const stop = async (drained: Promise<boolean>): Promise<boolean> => {
    const inTime = await drained;
    await apollo.stop();
    await services.close();
    await tracer?.close();
    return inTime;
  };
  return { httpServer, stop };
}

/** Composes the port of operators and their daily work, over the role that owns the tables. `source` has the metrics of the gateway. */
export function createOperatorsSide(
  owner: OpenDatabase['address'],
  { config, log, metrics, signals }: SideOptions,
  source: MetricsSource | undefined,
): OperatorsSide {
  const operatorAddress = new AsyncLocalStorage<string>();
  const findOperator = (): Operator => ({ door: 'operators', account: null, address: operatorAddress.getStore() ?? null });
  const ownerConfig = { ...config, POOL_SIZE: OWNER_CONNECTIONS, REPORT_CONCURRENCY: 1 };
  const services = createServices(ownerConfig, owner, { ...signals, findOperator });
  const onInternalError = (error: AppError, requestId: string): void => logFailure(log, error, requestId);
  const operators =
    config.ADMIN_TOKEN === ''
      ? []
      : [
          createOperatorsRoute(createOperatorsSchema(createOperatorSet(services)), {
            token: config.ADMIN_TOKEN,
            onInternalError,
            during: (address, answer) => operatorAddress.run(address, answer),
          }),
        ];
  const app = createAdminApp(config, log, [...(source ? [createMetricsRoutes(source)] : []), ...operators], metrics?.observe);
  const server = new HttpServer(app, { keepAliveMs: config.KEEP_ALIVE_SECONDS * MS_PER_SECOND });
  const stopDeleting = config.AUDIT_RETENTION_DAYS === undefined ? undefined : deleteOldRows(services, config.AUDIT_RETENTION_DAYS, log);
  return {
    listen: async () =>
      config.ADMIN_PORT === undefined
        ? undefined
        : orExplain(server.listen(config.ADMIN_PORT, config.ADMIN_HOST), config.ADMIN_PORT, config.ADMIN_HOST),
    stop: async (drained) => {
      // Balancers learn of the stop at once, whatever operators' work is under way.
      const deleted = stopDeleting?.();
      const outcome = await drained();
      await deleted;
      // The metrics can be read until the last answer has left.
      await server.drain({ drainMs: 0, graceMs: ADMIN_GRACE_MS });
      await services.close();
      return outcome;
    },
  };
}

/** Loads the libraries of tracing, which take 80 ms and which a gateway without traces does not need. */
async function startTracer(config: Config): Promise<RequestTracer> {
  const { RequestTracer: Tracer } = await import('./tracing/request-tracer');
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: serviceName, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  return new Tracer({ endpoint, serviceName, ratio });
}

/** Resolves to the port of a server that begins to listen. Throws an OperatorError that names the address when it cannot be had. */
export async function orExplain(listening: Promise<number>, port: number, host: string): Promise<number> {
  try {
    return await listening;
  } catch (error) {
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Deletes old rows of the audit now and every day. The failure of one organization is logged, and the next day tries again; the others go
 * on. Returns the function that stops it and undoes the deletion that is under way.
 */
function deleteOldRows({ audit, organizations }: Services, days: number, log: Logger): () => Promise<void> {
  const warn = (facts: object, error: unknown): void =>
    log.warn({ ...facts, code: toAppError(error).code }, 'old audit rows were not deleted');
  const deleteOld = async (stopping: AbortSignal): Promise<void> => {
    for (const { id } of await organizations.list()) {
      if (stopping.aborted) return;
      await audit.deleteOld(id, days, stopping).catch((error: unknown) => warn({ organization: id }, error));
    }
  };
  return repeatDaily((stopping) => deleteOld(stopping).catch((error: unknown) => warn({}, error)));
}

/** Deletes old counts of v2 requests now and every day. A failure is logged, and the next day tries again. Returns the function that stops it. */
export const deleteOldUsage = ({ usage }: Pick<Services, 'usage'>, days: number, log: Logger): (() => Promise<void>) =>
  repeatDaily((stopping) =>
    usage
      .deleteOld(days, stopping)
      .catch((error: unknown) => log.warn({ code: toAppError(error).code }, 'old counts of v2 requests were not deleted')),
  );

/** Tells receivers of new data versions from now on. Returns the function that stops it, and resolves when nothing is under way. */
function deliverWebhooks({ webhookDeliveries }: Pick<Services, 'webhookDeliveries'>, log: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const running = webhookDeliveries.run(stopping.signal, {
    onFailing: (hook) => log.warn(hook, 'a webhook fails'),
    onDisabled: (hook) => log.error(hook, 'a webhook was disabled'),
    onDatabaseFault: (error) => log.warn({ code: toAppError(error).code }, 'webhooks wait for the database'),
  });
  return () => {
    stopping.abort();
    return running;
  };
}

/** Sends reports on their schedules from now on, where a mail server is set. Returns the function that stops it, as `deliverWebhooks`. */
function deliverMails(services: Services, log: Logger): () => Promise<void> {
  if (!services.mailDeliveries) return () => Promise.resolve();
  const stopping = new AbortController();
  const documents = new SchemaReportDocuments(createSchema());
  const reports = new FileMailedReports(new FileResolver(services, documents, () => false), documents, services.books);
  const running = services.mailDeliveries.run(reports, stopping.signal, {
    onPaused: (schedule) => log.warn(schedule, 'a schedule was paused: nobody may get its mails'),
    onFailed: ({ isOver, ...mail }) => (isOver ? log.error(mail, 'a mail was given up') : log.warn(mail, 'a mail fails')),
    onDatabaseFault: (error) => log.warn({ code: toAppError(error).code }, 'mails wait for the database'),
  });
  return () => {
    stopping.abort();
    return running;
  };
}

/** Tells receivers and sends mails from now on, but for a gateway under maintenance, which mails nothing. */
export function deliver(services: Services, { UNDER_MAINTENANCE }: Config, log: Logger): () => Promise<unknown> {
  const stops = [deliverWebhooks(services, log), ...(UNDER_MAINTENANCE ? [] : [deliverMails(services, log)])];
  return () => Promise.all(stops.map((stop) => stop()));
}

/** Does work now and every day. Returns the function that aborts it, and resolves when what is under way has ended. */
function repeatDaily(work: (stopping: AbortSignal) => Promise<void>): () => Promise<void> {
  const stopping = new AbortController();
  let working = Promise.resolve();
  const start = (): void => {
    working = work(stopping.signal);
  };
  start();
  const timer = setInterval(start, MS_PER_DAY).unref();
  return async () => {
    stopping.abort();
    clearInterval(timer);
    await working;
  };
}
