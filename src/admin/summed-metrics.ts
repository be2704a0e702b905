import { AggregatorRegistry, type Aggregator, type Registry } from 'prom-client';
import type { GatewayMetrics, MetricsOfProcess } from './gateway-metrics';
import type { MetricsSource } from './metrics-routes';

/** The longest wait for a worker's metrics. Those that were read last stand for it then. */
const MAX_WAIT_MS = 1000;
/** Totals and histograms only ever grow, so those of a worker that has ended are kept. */
const GROWING = ['counter', 'histogram'];
/** A sum of these says nothing. The worst process counts. */
const WORST = /^nodejs_eventloop_lag_/;
/** The least of these counts: the oldest process is the gateway's own, and a replica is read when every worker reads it. */
const LEAST: readonly string[] = ['process_start_time_seconds', 'gateway_replica_used'];

/** A process whose metrics are added to those of others. */
export interface MetricsReader {
  read(): Promise<MetricsOfProcess>;
}

/** The metrics of a gateway with workers: those of all its processes, added up. */
export class SummedMetrics implements MetricsSource {
  private readonly readers = new Map<MetricsReader, MetricsOfProcess>();
  private ended: MetricsOfProcess = [];

  constructor(private readonly own: GatewayMetrics) {}

  get contentType(): string {
    return this.own.contentType;
  }

  add(reader: MetricsReader): void {
    this.readers.set(reader, []);
  }

  /** Forgets a process that has ended, but for its totals as they were read last: a total that shrinks would look like a start. */
  async remove(reader: MetricsReader): Promise<void> {
    const last = this.readers.get(reader) ?? [];
    this.readers.delete(reader);
    const growing = last.filter(({ type }) => GROWING.includes(String(type)));
    this.ended = await addUp([this.ended, growing]).getMetricsAsJSON();
  }

  async scrape(): Promise<string> {
    const [own] = await Promise.all([this.own.read(), ...[...this.readers.keys()].map((reader) => this.ask(reader))]);
    return addUp([own, this.ended, ...this.readers.values()]).metrics();
  }

  private async ask(reader: MetricsReader): Promise<void> {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, MAX_WAIT_MS, undefined).unref());
    const metrics = await Promise.race([reader.read().catch(() => undefined), late]);
    if (metrics && this.readers.has(reader)) this.readers.set(reader, metrics);
  }
}

function addUp(processes: readonly MetricsOfProcess[]): Registry {
  return AggregatorRegistry.aggregate(
    processes.map((metrics) => metrics.map((metric) => ({ ...metric, aggregator: aggregatorOf(metric) }))),
  );
}

function aggregatorOf({ name, aggregator }: MetricsOfProcess[number]): Aggregator {
  if (WORST.test(name)) return 'max';
  return LEAST.includes(name) ? 'min' : aggregator;
}
