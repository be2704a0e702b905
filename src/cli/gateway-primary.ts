import { extname, join } from 'node:path';
import type { Logger } from 'pino';
import { GatewayMetrics, type MetricsOfProcess } from '../admin/gateway-metrics';
import { SummedMetrics } from '../admin/summed-metrics';
import { createOperatorsSide, createSignals, deleteOldUsage, deliver, orExplain, type App, type RoleAddresses } from '../app';
import type { Config } from '../config';
import { serveAttemptMemories } from '../data/access/attempt-memory';
import { serveQueue } from '../data/reading/queue-channel';
import { serveGuesses } from '../domain/access/guess-channel';
import { WorkerSet } from '../processes/worker-set';
import { TOPICS } from '../processes/worker-topics';
import type { OpenDatabase } from '../databases';
import { createServices, createSharedParts } from '../services';

/** The settings and the database's address, by which a worker starts. */
export interface WorkerSettings {
  readonly config: Config;
  readonly serving: OpenDatabase['address'];
}

const WORKER_MODULE = join(__dirname, `gateway-worker${extname(__filename)}`);
const MS_PER_SECOND = 1000;
/** The primary reads the database's state and the figures of metrics, deletes old counts of v2, delivers webhooks and sends mails. */
const POOL_SIZE = 2;
/**
 * The statements of the audit that follow each other after the answers when the database gives no answer, each with a wait for a connection:
 * the one that is under way, the one behind it, and the last one of the rows that nobody waits for.
 */
const CLOSING_TRIES = 3;

/**
 * Composes the gateway of several processes. The primary has the database, the port of operators, the listener of callers, and all that the
 * gateway counts and shares out once. Its workers answer the callers.
 */
export function createPrimary(config: Config, { serving, owner }: RoleAddresses, log: Logger): App {
  const shared = createSharedParts(config);
  serveAttemptMemories();
  const signals = createSignals(log, () => metrics);
  const services = createServices({ ...config, POOL_SIZE }, serving, { ...signals, shared });
  const metrics = config.ADMIN_PORT === undefined ? undefined : new GatewayMetrics(services);
  // A gateway whose workers do not start says that alone.
  let stopDeleting = (): Promise<void> => Promise.resolve();
  let stopDelivering = (): Promise<unknown> => Promise.resolve();
  const summed = metrics && new SummedMetrics(metrics);
  const operators = createOperatorsSide(owner, { config, log, metrics, signals }, summed);
  const workers = new WorkerSet({
    size: config.WORKERS,
    module: WORKER_MODULE,
    settings: { config, serving } satisfies WorkerSettings,
    onStarting: ({ channel }) => {
      serveQueue(channel, shared.queue);
      serveGuesses(channel, shared.guesses);
    },
    onServing: ({ channel }) => {
      const reader = { read: () => channel.ask<MetricsOfProcess>(TOPICS.metrics) };
      channel.closed.addEventListener('abort', () => void summed?.remove(reader));
      summed?.add(reader);
    },
    onLost: ({ pid, how, pauseMs }) => log.error({ worker: pid, how, pauseMs }, 'a worker ended; another one is started after the pause'),
  });

  const graceMs = config.SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND;
  const closingMs = CLOSING_TRIES * (config.DATABASE_CONNECT_MILLISECONDS + config.DATABASE_ANSWER_MILLISECONDS);
  const stopWorkers = async (drainMs: number): Promise<boolean> => {
    const [isWhole] = await Promise.all([workers.stop({ drainMs, graceMs, closingMs }), stopDeleting(), stopDelivering()]);
    await services.close();
    return isWhole;
  };
  return {
    start: async () => {
      await workers.start();
      stopDeleting = deleteOldUsage(services, config.USAGE_RETENTION_DAYS, log);
      stopDelivering = deliver(services, config, log);
    },
    listen: async () => {
      const adminPort = await operators.listen();
      return { port: await orExplain(workers.listen(config.PORT, config.HOST), config.PORT, config.HOST), adminPort };
    },
    findObstacle: () => services.findObstacle(),
    stop: (drainMs) => operators.stop(() => stopWorkers(drainMs)),
    cut: () => workers.cut(),
  };
}
