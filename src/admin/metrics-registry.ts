import { collectDefaultMetrics, Registry } from 'prom-client';

/** Creates a registry with the metrics of the process. It is not the global one, so that several gateways may run in a process. */
export function createMetricsRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
