import 'reflect-metadata';
import { GatewayMetrics } from '../admin/gateway-metrics';
import { createCallersSide, createSignals, forCallers } from '../app';
import { createSharedMemory } from '../data/access/attempt-memory';
import { RemoteQueue } from '../data/reading/queue-channel';
import { RemoteGuessGate } from '../domain/access/guess-channel';
import { runWorker } from '../processes/worker-runner';
import { TOPICS } from '../processes/worker-topics';
import { createServices } from '../services';
import { explainCrashes } from './crash';
import { createLog } from './gateway-log';
import type { WorkerSettings } from './gateway-primary';
import { onStopSignal } from './stop-signals';

/** The module that a worker of a gateway runs. */

explainCrashes();
// Ctrl-C, a terminal that closes, and some supervisors signal every process of a group. The primary alone decides.
onStopSignal(() => undefined);
void runWorker(({ config, serving }: WorkerSettings, channel) => {
  const log = createLog(config.LOG_LEVEL, true);
  const services = createServices(config, serving, {
    ...createSignals(log, () => metrics),
    ...forCallers(config, log),
    shared: {
      processes: config.WORKERS,
      createMemory: createSharedMemory,
      queue: new RemoteQueue(channel, config.REPORT_CONCURRENCY > 1),
      guesses: new RemoteGuessGate(channel),
    },
  });
  const metrics = config.ADMIN_PORT === undefined ? undefined : new GatewayMetrics(services, 'worker');
  channel.handle(TOPICS.metrics, () => metrics?.read());
  return createCallersSide(services, { config, log, metrics });
}).then((status) => process.exit(status));
