import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { LastUse } from '../data/access/usage-store';
import type { BookFigures } from '../data/books/book-store';
import type { ImportFigures } from '../data/imports/import-store';
import type { SyncState } from '../data/sync/sync-store';
import type { ScheduleFigures } from '../data/mail/schedule-store';
import type { WebhookFigures } from '../data/webhooks/webhook-store';
import type { SeenEvent } from '../domain/audit/audit-service';
import { auditEvents } from '../formats/audit-row';
import type { RequestEnd, RequestObserver } from '../http/request-log';
import type { RequestRecord } from '../http/request-record';
import type { Figures, Services } from '../services';

const MS_PER_SECOND = 1000;
/** The labels of operations come from fixed sets. A manifest may still have thousands of documents, and each label costs a scrape time. */
const MAX_OPERATIONS = 200;
const OTHER = 'other';
const DURATIONS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** The metrics of a process as prom-client adds them up. */
export type MetricsOfProcess = MetricObjectWithValues<MetricValue<string>>[];

/**
 * The metrics of one process of a gateway. The primary of several has those of the whole gateway too, as the only process has. They have a
 * registry of their own, so that several gateways may run in a process. No label holds a name of a person or an organization, an address,
 * or a text that a caller has chosen.
 */
export class GatewayMetrics {
  private readonly registry = new Registry();
  private readonly operations = new Set<string>();
  private books: readonly BookFigures[] = [];
  private imports: readonly ImportFigures[] = [];
  private syncs: readonly SyncState[] = [];
  private webhooks: readonly WebhookFigures[] = [];
  private schedules: readonly ScheduleFigures[] = [];
  private lastUses: readonly LastUse[] = [];
  private isReady = 0;
  private isReading = false;

  private readonly requests = this.counter('gateway_requests_total', 'Requests that have ended, by the first code of their errors', [
    ...['door', 'operation', 'code'],
  ]);
  private readonly durations = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['door'],
    buckets: DURATIONS,
    registers: [this.registry],
  });
  private readonly operationSeconds = this.counter('gateway_operation_seconds_total', 'Time of requests', ['door', 'operation']);
  private readonly queueSeconds = this.counter('gateway_queue_seconds_total', 'Time that requests have waited for a lane', ['door']);
  private readonly databaseSeconds = this.counter('gateway_database_seconds_total', 'Time that requests have waited for the database', [
    'door',
  ]);
  private readonly bytes = this.counter('gateway_sent_bytes_total', 'Bytes of answers on the network', ['door']);
  private readonly lines = this.counter('gateway_lines_total', 'Lines of the report that answers had', ['door']);
  private readonly cost = this.counter('gateway_cost_values_total', 'Values that GraphQL operations were counted to cost', ['operation']);
  private readonly events = this.counter('gateway_events_total', 'Logins, failed logins, lockouts, logouts, refusals, changes of rights', [
    'event',
  ]);

  constructor(
    private readonly services: Pick<
      Services,
      'readFigures' | 'books' | 'imports' | 'syncs' | 'webhooks' | 'schedules' | 'usage' | 'findObstacle'
    >,
    private readonly kind: 'gateway' | 'worker' = 'gateway',
  ) {
    collectDefaultMetrics({ register: this.registry });
    for (const event of auditEvents) this.events.inc({ event }, 0);
    this.addOwn();
    if (this.kind === 'gateway') this.addShared();
  }

  /** Adds the figures that each process has of its own. */
  private addOwn(): void {
    this.gauge('gateway_pool_connections', 'Database connections now, and the requests that wait for one', ['pool', 'state'], ({ pools }) =>
      Object.entries(pools).flatMap(([pool, states]) =>
        Object.entries({ ...states }).map(([state, count]) => [{ pool, state }, count] as const),
      ),
    );
    this.gauge('gateway_replica_used', 'Whether a replica is read: 1, or 0 while it is set aside', ['replica'], ({ replicas }) =>
      replicas.map(({ isUsed }, index) => [{ replica: index + 1 }, isUsed ? 1 : 0]),
    );
    this.total(
      'gateway_replica_readings_total',
      'Requests that read a replica, that it was too late for, and that left it for the primary',
      ['replica', 'outcome'],
      ({ replicas }) =>
        replicas.flatMap(({ read, late, left }, index) =>
          Object.entries({ read, late, left }).map(([outcome, count]) => [{ replica: index + 1, outcome }, count] as const),
        ),
    );
    this.total(
      'gateway_book_memory_total',
      'Totals and answers that were kept from a request before, and that were read from the books',
      ['memory', 'outcome'],
      ({ memories }) =>
        Object.entries(memories).flatMap(([memory, { kept, read }]) =>
          Object.entries({ kept, read }).map(([outcome, count]) => [{ memory, outcome }, count] as const),
        ),
    );
    this.gauge('gateway_audit_rows_waiting', 'Audit rows that wait to be written', [], ({ audit }) => [[{}, audit.waiting]]);
    this.total('gateway_audit_rows_total', 'Audit rows that were written, and that were refused', ['outcome'], ({ audit }) => [
      [{ outcome: 'written' }, audit.written],
      [{ outcome: 'refused' }, audit.refused],
    ]);
  }

  /** Adds the figures of the whole gateway, which one process tells. */
  private addShared(): void {
    this.gauge('gateway_report_lanes', 'Lanes that read a report now', [], ({ queue }) => [[{}, queue.taken]]);
    this.gauge('gateway_reports_waiting', 'Reports that wait for a lane now', [], ({ queue }) => [[{}, queue.waiting]]);
    this.total('gateway_reports_turned_away_total', 'Reports that got no lane', ['reason'], ({ queue }) =>
      Object.entries(queue.turnedAway).map(([reason, count]) => [{ reason }, count]),
    );
    this.total(
      'gateway_provision_guesses_total',
      'Unknown provisions, and requests of addresses that sent too many',
      ['outcome'],
      (figures) => Object.entries({ ...figures.guesses }).map(([outcome, count]) => [{ outcome }, count] as const),
    );
    this.gauge('gateway_ready', 'Whether the gateway can serve: 1 or 0', [], () => [[{}, this.isReady]]);
    this.gauge('gateway_data_version', 'Number of the newest data version', ['organization'], () =>
      this.books.map(({ organizationId, number }) => [{ organization: organizationId }, number]),
    );
    this.gauge('gateway_earliest_data_version', 'Number of the earliest data version whose state is kept', ['organization'], () =>
      this.books.map(({ organizationId, earliest }) => [{ organization: organizationId }, earliest]),
    );
    this.gauge('gateway_data_version_timestamp_seconds', 'Unix time of the newest data version', ['organization'], () =>
      this.books.map(({ organizationId, recordedAt }) => [{ organization: organizationId }, recordedAt.getTime() / MS_PER_SECOND]),
    );
    this.total('gateway_imports_total', 'Imports that have changed the books', ['organization'], () =>
      this.books.map(({ organizationId, imports }) => [{ organization: organizationId }, imports]),
    );
    this.gauge('gateway_import_last_attempt_timestamp_seconds', 'Unix time at which the newest import began', ['organization'], () =>
      this.imports.map(({ organizationId, lastAttemptAt }) => [{ organization: organizationId }, lastAttemptAt.getTime() / MS_PER_SECOND]),
    );
    this.gauge(
      'gateway_import_last_success_timestamp_seconds',
      'Unix time at which the newest import that succeeded ended; 0 before the first',
      ['organization'],
      () =>
        this.imports.map(({ organizationId, lastSuccessAt }) => [
          { organization: organizationId },
          (lastSuccessAt?.getTime() ?? 0) / MS_PER_SECOND,
        ]),
    );
    this.total('gateway_import_failures_total', 'Imports that have failed', ['organization'], () =>
      this.imports.map(({ organizationId, failures }) => [{ organization: organizationId }, failures]),
    );
    this.gauge(
      'gateway_sync_last_success_timestamp_seconds',
      'Unix time at which the newest round of sync that succeeded ended; none before the first',
      ['organization'],
      () =>
        this.syncs.flatMap(({ organizationId, lastSuccessAt }) =>
          lastSuccessAt === null ? [] : [[{ organization: organizationId }, lastSuccessAt.getTime() / MS_PER_SECOND] as const],
        ),
    );
    this.gauge(
      'gateway_sync_history_failing',
      '1 when the newest reading of the whole history by sync has failed, otherwise 0',
      ['organization'],
      () => this.syncs.map(({ organizationId, fullFailure }) => [{ organization: organizationId }, fullFailure === null ? 0 : 1]),
    );
    this.total('gateway_sync_failures_total', 'Rounds of sync that have failed', ['organization'], () =>
      this.syncs.map(({ organizationId, failures }) => [{ organization: organizationId }, failures]),
    );
    this.total('gateway_sync_lines_total', 'Lines that rounds of sync have added, changed and removed', ['organization'], () =>
      this.syncs.map(({ organizationId, linesChanged }) => [{ organization: organizationId }, linesChanged]),
    );
    this.addWebhooks();
    this.addMails();
    this.gauge(
      'gateway_v2_last_use_timestamp_seconds',
      'Unix time of the newest request to v2 with a valid provision',
      ['organization'],
      () => this.lastUses.map(({ organizationId, lastUsedAt }) => [{ organization: organizationId }, lastUsedAt.getTime() / MS_PER_SECOND]),
    );
    // The first scrape tells of the start.
    void this.readDatabase();
  }

  private addWebhooks(): void {
    this.total('gateway_webhook_deliveries_total', 'Attempts of webhooks since the start', ['outcome'], ({ webhooks }) =>
      Object.entries({ ...webhooks }).map(([outcome, count]) => [{ outcome }, count] as const),
    );
    this.gauge(
      'gateway_webhooks',
      'Webhooks that have acknowledged the newest version, that have not, and that are disabled',
      [...['organization', 'state']],
      () =>
        this.webhooks.flatMap(({ organizationId, current, behind, disabled }) =>
          Object.entries({ current, behind, disabled }).map(([state, count]) => [{ organization: organizationId, state }, count] as const),
        ),
    );
    this.gauge(
      'gateway_webhook_lag_seconds',
      'Longest time for which a webhook that is not disabled has missed versions',
      ['organization'],
      () => this.webhooks.map(({ organizationId, lagSeconds }) => [{ organization: organizationId }, lagSeconds]),
    );
  }

  private addMails(): void {
    this.total(
      'gateway_mails_total',
      'Mails since the start that were sent or refused, and attempts that failed',
      ['outcome'],
      ({ mails }) => Object.entries({ ...mails }).map(([outcome, count]) => [{ outcome }, count] as const),
    );
    this.gauge('gateway_schedules', 'Schedules by which reports are mailed, and those that are paused', ['organization', 'state'], () =>
      this.schedules.flatMap(({ organizationId, active, paused }) =>
        Object.entries({ active, paused }).map(([state, count]) => [{ organization: organizationId, state }, count] as const),
      ),
    );
    this.gauge(
      'gateway_mail_lag_seconds',
      'Longest time for which a schedule or a mail has been due and was not sent',
      ['organization'],
      () => this.schedules.map(({ organizationId, lagSeconds }) => [{ organization: organizationId }, lagSeconds]),
    );
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /**
   * The metrics in the text format of Prometheus. No scrape waits for the database: each tells what the database said to one before, so
   * that a database that is away can be seen. It asks the database after it has collected the figures: its own statements would otherwise
   * count as requests that wait for a connection.
   */
  scrape(): Promise<string> {
    return this.registry.metrics().finally(() => this.refresh());
  }

  /** The same for adding up. */
  read(): Promise<MetricsOfProcess> {
    return this.registry.getMetricsAsJSON().finally(() => this.refresh());
  }

  /** Counts an event of the audit. */
  countEvent({ event }: SeenEvent): void {
    this.events.inc({ event });
  }

  /** Counts a request whose answer has ended. */
  readonly observe: RequestObserver = (record, end) => {
    const { door, times, ms, bytes, lines, cost } = record;
    const operation = this.toLabel(record.label);
    // A follower that waits for a change is not slow.
    const seconds = (ms - times.change.ms) / MS_PER_SECOND;
    this.requests.inc({ door, operation, code: toCode(record, end) });
    this.durations.observe({ door }, seconds);
    this.operationSeconds.inc({ door, operation }, seconds);
    this.queueSeconds.inc({ door }, times.queue.ms / MS_PER_SECOND);
    this.databaseSeconds.inc({ door }, times.database.ms / MS_PER_SECOND);
    this.bytes.inc({ door }, bytes);
    if (lines?.total) this.lines.inc({ door }, lines.total);
    if (cost > 0) this.cost.inc({ operation }, cost);
  };

  /** Reads the database again, unless that is under way, or this process is a worker, which does not tell of it. */
  private refresh(): void {
    if (this.kind === 'gateway' && !this.isReading) void this.readDatabase();
  }

  private toLabel(operation: string): string {
    if (this.operations.has(operation)) return operation;
    if (this.operations.size >= MAX_OPERATIONS) return OTHER;
    this.operations.add(operation);
    return operation;
  }

  private async readDatabase(): Promise<void> {
    this.isReading = true;
    const [obstacle, books, imports] = await Promise.allSettled([
      this.services.findObstacle(),
      this.services.books.listFigures(),
      this.services.imports.listFigures(),
    ]);
    this.isReady = obstacle.status === 'fulfilled' && obstacle.value === undefined ? 1 : 0;
    // The books did not change while the database is away.
    if (books.status === 'fulfilled') this.books = books.value;
    if (imports.status === 'fulfilled') this.imports = imports.value;
    // A database that is away would hold up the next reading for a time limit more with each of these.
    if (obstacle.status === 'fulfilled' && books.status === 'fulfilled') await this.readRest();
    this.isReading = false;
  }

  /** Reads after the first three, as a scrape takes no more than three connections from the callers. */
  private async readRest(): Promise<void> {
    const [syncs] = await Promise.allSettled([this.services.syncs.listStates()]);
    if (syncs.status === 'fulfilled') this.syncs = syncs.value;
    const [webhooks] = await Promise.allSettled([this.services.webhooks.listFigures()]);
    if (webhooks.status === 'fulfilled') this.webhooks = webhooks.value;
    const [schedules] = await Promise.allSettled([this.services.schedules.listFigures()]);
    if (schedules.status === 'fulfilled') this.schedules = schedules.value;
    const [lastUses] = await Promise.allSettled([this.services.usage.listLastUses()]);
    if (lastUses.status === 'fulfilled') this.lastUses = lastUses.value;
  }

  private counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge(name: string, help: string, labelNames: string[], read: Read): void {
    const metric: Gauge = new Gauge({ name, help, labelNames, registers: [this.registry], collect: () => this.refill(metric, read) });
  }

  /** A total that is counted elsewhere. */
  private total(name: string, help: string, labelNames: string[], read: Read): void {
    const metric: Counter = new Counter({ name, help, labelNames, registers: [this.registry], collect: () => this.refill(metric, read) });
  }

  private refill(metric: Gauge | Counter, read: Read): void {
    metric.reset();
    for (const [labels, value] of read(this.services.readFigures())) metric.inc(labels, value);
  }
}

type Read = (figures: Figures) => Iterable<readonly [Readonly<Record<string, string | number>>, number]>;

/** The code that a request counts under. */
function toCode({ codes }: RequestRecord, { status, isWhole }: RequestEnd): string {
  if (!isWhole) return 'BROKEN';
  const [first] = codes;
  return first ?? (status === undefined || status < 400 ? 'OK' : String(status));
}
