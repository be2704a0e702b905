import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { GatewayMetrics, type MetricsOfProcess } from '../admin/gateway-metrics';
import { SummedMetrics } from '../admin/summed-metrics';
import { createOperatorsSide, createSignals, orExplain, type App, type RoleAddresses } from '../app';
import type { Config } from '../config';
import { serveAttemptMemories } from '../data/access/attempt-memory';
import { serveQueue } from '../data/reading/queue-channel';
import { serveGuesses } from '../domain/access/guess-channel';
import { DealtListener } from '../http/dealt-listener';
import type { WorkerProcess } from '../processes/worker-process';
import { WorkerSet } from '../processes/worker-set';
import { TOPICS } from '../processes/worker-topics';
import type { OpenDatabase } from '../databases';
import { createServices, createSharedParts } from '../services';

/** The settings and the database of a worker. They go over the channel, which no other process can read. */
export interface Welcome {
  readonly config: Config;
  readonly serving: OpenDatabase['address'];
}

const WORKER_MODULE = join(__dirname, `gateway-worker${extname(__filename)}`);
const MS_PER_SECOND = 1000;
/** A worker whose answers are not over so long after the grace time is killed: its event loop stands still. */
const KILL_MARGIN_MS = 2000;
/** After the answers, rows of the audit that wait are tried twice, each time by a statement that may need a connection. */
const CLOSING_TRIES = 2;

/**
 * Composes the gateway of several processes. The primary has the database, the port of operators, the listener of callers, and all that the
 * gateway counts and shares out once. Its workers answer the callers.
 */
export async function createPrimary(config: Config, { serving, owner }: RoleAddresses, log: Logger): Promise<App> {
  const shared = createSharedParts(config);
  serveAttemptMemories();
  // The primary asks the database for its state alone.
  const services = createServices({ ...config, POOL_SIZE: 1 }, serving, { shared });
  const metrics = config.ADMIN_PORT === undefined ? undefined : new GatewayMetrics(services);
  const summed = metrics && new SummedMetrics(metrics);
  const operators = createOperatorsSide(owner, { config, log, metrics, signals: createSignals(log, () => metrics) }, summed);
  const listener = new DealtListener();
  const workers = new WorkerSet({
    size: config.WORKERS,
    module: WORKER_MODULE,
    welcome: ({ channel }): Welcome => {
      serveQueue(channel, shared.queue);
      serveGuesses(channel, shared.guesses);
      return { config, serving };
    },
    onServing: (worker) => {
      const { channel } = worker;
      const workerMetrics = { read: () => channel.ask<MetricsOfProcess>(TOPICS.metrics) };
      channel.handle(TOPICS.ended, (count: number) => listener.dealer.ended(worker, count));
      channel.closed.addEventListener('abort', () => {
        listener.dealer.remove(worker);
        void summed?.remove(workerMetrics);
      });
      listener.dealer.add(worker);
      summed?.add(workerMetrics);
    },
    onLost: ({ pid, how, pauseMs }) => log.error({ worker: pid, how, pauseMs }, 'a worker ended; another one is started after the pause'),
  });
  await workers.start();

  const hurry = new AbortController();
  const stopWorkers = async (drainMs: number): Promise<boolean> => {
    workers.retire();
    workers.tell(TOPICS.drain);
    if (listener.listening) await sleep(drainMs, undefined, { signal: hurry.signal }).catch(() => undefined);
    const deadline = Date.now() + config.SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND;
    await listener.close(() => hurry.signal.aborted || Date.now() > deadline);
    const graceMs = hurry.signal.aborted ? 0 : Math.max(deadline - Date.now(), 0);
    const closingMs = CLOSING_TRIES * (config.DATABASE_CONNECT_MILLISECONDS + config.DATABASE_ANSWER_MILLISECONDS) + KILL_MARGIN_MS;
    for (const worker of workers.all) void worker.finish(graceMs, closingMs);
    const kill = setTimeout(() => killUndrained(workers.all), graceMs + KILL_MARGIN_MS);
    hurry.signal.addEventListener('abort', () => setTimeout(() => killUndrained(workers.all), KILL_MARGIN_MS).unref());
    const isWhole = await workers.ended();
    clearTimeout(kill);
    await services.close();
    return isWhole;
  };
  return {
    listen: async () => {
      const adminPort = await operators.listen();
      return { port: await orExplain(listener.listen(config.PORT, config.HOST), config.PORT, config.HOST), adminPort };
    },
    findObstacle: () => services.findObstacle(),
    stop: (drainMs) => operators.stop(() => stopWorkers(drainMs)),
    cut: () => {
      hurry.abort();
      workers.tell(TOPICS.cut);
    },
  };
}

function killUndrained(workers: readonly WorkerProcess[]): void {
  for (const worker of workers) if (!worker.isDrained) worker.kill();
}
