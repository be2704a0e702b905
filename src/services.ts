import type { Config } from './config';
import { AccessStore } from './data/access/access-store';
import { AuditChainStore } from './data/audit/audit-chain-store';
import { AuditStore } from './data/audit/audit-store';
import { AuditWriter, type AuditFigures, type UnwrittenRows } from './data/audit/audit-writer';
import { BookOpener } from './data/books/book-opener';
import { BookLineStore } from './data/reports/book-line-store';
import { BookStore } from './data/books/book-store';
import { ErasureStore } from './data/books/erasure-store';
import { HistoryStore } from './data/books/history-store';
import { PeriodStore } from './data/books/period-store';
import { CostStore } from './data/access/cost-store';
import { DepositChangeStore } from './data/reports/deposit-change-store';
import { DepositDetailStore } from './data/reports/deposit-detail-store';
import { DepositSummaryStore } from './data/reports/deposit-summary-store';
import type { CreateAttemptMemory } from './data/access/attempt-memory';
import { GuessStore } from './data/access/guess-store';
import { ImportStore } from './data/imports/import-store';
import { KnownAddressStore } from './data/access/known-address-store';
import { LinkKeyStore } from './data/access/link-key-store';
import { LoginAttemptStore } from './data/access/login-attempt-store';
import { OrganizationStore } from './data/access/organization-store';
import { ProvisionStore } from './data/access/provision-store';
import { citus, ColumnPacking } from './data/schema/citus';
import { Database, type DatabaseAddress, type PoolFigures } from './data/postgres/database';
import { FairQueue } from './data/reading/fair-queue';
import { findObstacle } from './data/schema/migrations';
import type { ReplicaFigures } from './data/reading/replica';
import { Replicas } from './data/reading/replicas';
import type { QueueFigures, ReportQueue } from './data/reading/report-queue';
import { FundBudgetStore } from './data/reports/fund-budget-store';
import { JournalAccountStore } from './data/reports/journal-account-store';
import { JournalStore } from './data/reports/journal-store';
import { SavedReportStore } from './data/reports/saved-report-store';
import { SessionStore } from './data/access/session-store';
import { SyncStore } from './data/sync/sync-store';
import { UsageStore } from './data/access/usage-store';
import { UserStore } from './data/access/user-store';
import { MailStore } from './data/mail/mail-store';
import { ScheduleStore } from './data/mail/schedule-store';
import { DeliveryStore } from './data/webhooks/delivery-store';
import { WebhookStore } from './data/webhooks/webhook-store';
import { VersionMemory, type MemoryFigures } from './data/books/version-memory';
import { AccessService } from './domain/access/access-service';
import { AuditReadings } from './domain/audit/audit-readings';
import { AccessWatch } from './domain/access/access-watch';
import { AuditService, type Operator, type SeenEvent } from './domain/audit/audit-service';
import { BackupService } from './domain/backup/backup-service';
import { BookService } from './domain/books/book-service';
import { ErasureService } from './domain/reports/erasure-service';
import { HistoryService } from './domain/reports/history-service';
import { PeriodService } from './domain/reports/period-service';
import { BudgetService } from './domain/access/budget-service';
import { DemoService } from './domain/imports/demo-service';
import { DepositChangeService } from './domain/reports/deposit-change-service';
import { DepositDetailService } from './domain/reports/deposit-detail-service';
import { DepositSummaryService } from './domain/reports/deposit-summary-service';
import { LocalGuessGate, type GuessFigures, type GuessGate } from './domain/access/guess-gate';
import { ImportService } from './domain/imports/import-service';
import { KeyRing } from './domain/paging/key-ring';
import { LinkService } from './domain/access/link-service';
import { LoginGuard } from './domain/access/login-guard';
import { ParityService } from './domain/parity/parity-service';
import { ProvisionGuard } from './domain/access/provision-guard';
import { OrganizationService } from './domain/access/organization-service';
import { ProvisionService } from './domain/access/provision-service';
import { RightsAudit } from './domain/audit/rights-audit';
import { UsageCounter, type UnwrittenUsage } from './domain/access/usage-counter';
import { UsageService } from './domain/access/usage-service';
import { UserService } from './domain/access/user-service';
import { FundBudgetService } from './domain/reports/fund-budget-service';
import { JournalAccountService } from './domain/reports/journal-account-service';
import { JournalService } from './domain/reports/journal-service';
import { SavedReportService } from './domain/reports/saved-report-service';
import { SessionService } from './domain/access/session-service';
import { ProofService } from './domain/proof/proof-service';
import { SyncService } from './domain/sync/sync-service';
import { MailDeliveries, type MailFigures } from './domain/mail/mail-deliveries';
import { ScheduleService } from './domain/mail/schedule-service';
import { WebhookDeliveries, type DeliveryFigures } from './domain/webhooks/webhook-deliveries';
import { WebhookService } from './domain/webhooks/webhook-service';
import { MailSender } from './receivers/mail-sender';
import { WebhookSender } from './receivers/webhook-sender';
import { toMailServer } from './values/mail-addresses';

/** The services that all doors use, over one database. */
export interface Services {
  readonly access: AccessService;
  readonly accessWatch: AccessWatch;
  readonly sessions: SessionService;
  readonly depositDetails: DepositDetailService;
  readonly depositChanges: DepositChangeService;
  readonly depositSummaries: DepositSummaryService;
  readonly audit: AuditService;
  readonly journals: JournalService;
  readonly journalAccounts: JournalAccountService;
  readonly fundBudgets: FundBudgetService;
  readonly savedReports: SavedReportService;
  readonly budgets: BudgetService;
  readonly links: LinkService;
  readonly keys: KeyRing;
  readonly organizations: OrganizationService;
  readonly provisions: ProvisionService;
  readonly users: UserService;
  readonly usage: UsageService;
  readonly usageCounter: UsageCounter;
  readonly books: BookService;
  readonly history: HistoryService;
  readonly periods: PeriodService;
  readonly erasures: ErasureService;
  /** Whole answers by data version; undefined where nothing is kept. */
  readonly answers: VersionMemory | undefined;
  readonly imports: ImportService;
  readonly syncs: SyncService;
  readonly webhooks: WebhookService;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly schedules: ScheduleService;
  /** Undefined where no mail server is set. */
  readonly mailDeliveries: MailDeliveries | undefined;
  readonly parity: ParityService;
  readonly proofs: ProofService;
  readonly demo: DemoService;
  readonly backups: BackupService;
  /** The reason why the gateway cannot serve, for an operator; undefined when the database answers and has the newest migration. */
  findObstacle(): Promise<string | undefined>;
  /** The figures of now, and the counts since the start. Reading them costs next to nothing. */
  readFigures(): Figures;
}

export interface Figures {
  readonly queue: QueueFigures;
  /** The pools by their names: `short` and `long`, and those of each replica with its number, such as `short of replica 1`. */
  readonly pools: Readonly<Record<string, PoolFigures>>;
  readonly replicas: readonly ReplicaFigures[];
  readonly audit: AuditFigures;
  readonly guesses: GuessFigures;
  readonly webhooks: DeliveryFigures;
  /** Undefined where no mail server is set. */
  readonly mails: MailFigures | undefined;
  /** The memories for what was read from the books, by their names: `totals` and `answers`. */
  readonly memories: Readonly<Record<string, MemoryFigures>>;
}

const MS_PER_SECOND = 1000;
const BYTES_PER_KILOBYTE = 1000;
const BYTES_PER_MEGABYTE = 1_000_000;
/** The parts of the memory for the books. A total may have cost the reading of a year, and an answer only that of a page. */
const MEMORY_SHARES = { totals: 0.5, answers: 0.5 };
/** The fewest connections for short queries that a process has, so that a slow one does not hold up all others. */
const MIN_POOL_SIZE = 2;
/** The most audit rows that may wait in memory. Some hundred bytes each, they take a few megabytes. */
const MAX_WAITING_AUDIT_ROWS = 5000;

/** The parts of the services that all processes of a gateway share. */
export interface SharedParts {
  /** The number of processes that share the connections for short queries and the memory for what was read. */
  readonly processes: number;
  readonly queue: ReportQueue;
  readonly guesses: GuessGate;
  /** Creates the counts that stand in for those of the database while it is away. */
  readonly createMemory?: CreateAttemptMemory | undefined;
}

/** Creates the parts that are shared, for one process or for the primary of several. */
export const createSharedParts = (config: Config): SharedParts & { readonly queue: FairQueue } => ({
  processes: 1,
  queue: new FairQueue({
    width: config.REPORT_CONCURRENCY,
    guests: config.REPORT_CONCURRENCY,
    maxWaiting: config.REPORT_QUEUE,
    maxWaitMs: config.REPORT_QUEUE_SECONDS * MS_PER_SECOND,
  }),
  guesses: new LocalGuessGate(new GuessStore(), config.PROVISION_ATTEMPTS),
});

export interface ServiceOptions {
  /** Called when an idle connection is lost. */
  readonly onConnectionLost?: (error: Error) => void;
  /** Called when rows of the audit that nobody waits for cannot be written. */
  readonly onUnwritten?: (unwritten: UnwrittenRows) => void;
  /** Called when counts of v2 requests cannot be written. */
  readonly onUnwrittenUsage?: (unwritten: UnwrittenUsage) => void;
  /** Called with each event that the audit gets. */
  readonly onEvent?: (event: SeenEvent) => void;
  /** The operator of now, where operators use these services. */
  readonly findOperator?: () => Operator;
  /** The servers that the books are read from beside the address; none unless they are given. */
  readonly replicas?: readonly DatabaseAddress[];
  /** Called with the number of a replica, and the reason when it is set aside, or undefined when it serves. */
  readonly onReplicaChange?: (replica: number, reason: string | undefined) => void;
  /** The parts that are shared with other processes; those of this process alone unless they are given. */
  readonly shared?: SharedParts;
  /** True for the services that a gateway answers callers by. */
  readonly isServing?: boolean;
}

/** Wires stores and services over a database. A connection is opened only when one is needed. */
export function createServices(
  config: Config,
  address: DatabaseAddress,
  {
    onConnectionLost = () => undefined,
    onUnwritten,
    onUnwrittenUsage,
    onEvent,
    findOperator,
    replicas: addresses = [],
    onReplicaChange: onChange = () => undefined,
    shared = createSharedParts(config),
    isServing = false,
  }: ServiceOptions = {},
): Services & { close(): Promise<void> } {
  const { queue, guesses, createMemory, processes } = shared;
  const isOnCitus = config.DATABASE_ENGINE === 'citus';
  // The second half is for the extra lanes of organizations that hold no lane.
  const longConnections = config.REPORT_CONCURRENCY * 2;
  const poolSize = processes === 1 ? config.POOL_SIZE : Math.max(Math.floor(config.POOL_SIZE / processes), MIN_POOL_SIZE);
  const open = (server: DatabaseAddress, onLost: (error: Error) => void, purpose: 'readings' | 'checks' = 'readings'): Database =>
    new Database({
      address: server,
      poolSize: purpose === 'checks' ? 1 : poolSize,
      // Every process may need all of them; the queue sees to it that no more are in use.
      longConnections,
      keptLongConnections: Math.ceil(longConnections / processes),
      connectTimeoutMs: config.DATABASE_CONNECT_MILLISECONDS,
      answerTimeoutMs: config.DATABASE_ANSWER_MILLISECONDS,
      isPooled: config.DATABASE_POOLER === 'transaction',
      ...(isOnCitus && { placement: citus }),
      onConnectionLost: onLost,
    });
  const database = open(address, onConnectionLost);
  const replicas = new Replicas(database, { addresses, open, waitMs: config.REPLICA_WAIT_MILLISECONDS, onChange });
  const keptBytes = (config.BOOK_MEMORY_MEGABYTES * BYTES_PER_MEGABYTE) / processes;
  const remember = (share: number): VersionMemory => new VersionMemory(keptBytes * share);
  const totals = remember(MEMORY_SHARES.totals);
  const answers = keptBytes === 0 ? undefined : remember(MEMORY_SHARES.answers);
  const opener = new BookOpener({
    database,
    replicas,
    queue,
    totals,
    timeoutMs: config.REPORT_TIMEOUT_SECONDS * MS_PER_SECOND,
  });
  const books = new BookService(new BookStore(database), opener);
  const depositDetails = new DepositDetailService(
    new DepositDetailStore(database, isServing && isOnCitus ? new ColumnPacking() : undefined),
  );
  const chains = new AuditChainStore(database);
  const auditWriter = new AuditWriter(chains, {
    maxWaitMs: config.DATABASE_ANSWER_MILLISECONDS,
    maxWaiting: MAX_WAITING_AUDIT_ROWS,
    onUnwritten,
  });
  const audit = new AuditService(new AuditStore(database), chains, auditWriter, new AuditReadings(auditWriter), onEvent, findOperator);
  const userStore = new UserStore(database);
  const sessionStore = new SessionStore(database, config.SESSION_IDLE_MINUTES);
  const savedReportStore = new SavedReportStore(database);
  const rights = new RightsAudit(audit);
  const keys = new KeyRing(new LinkKeyStore(database));
  const organizations = new OrganizationService(new OrganizationStore(database), rights);
  const provisions = new ProvisionService(organizations, new ProvisionStore(database), savedReportStore, rights);
  const imports = new ImportService(new ImportStore(database));
  const erasures = new ErasureService(new ErasureStore(database), rights);
  const logins = new LoginGuard(new KnownAddressStore(database), new LoginAttemptStore(database, createMemory), config.LOGIN_ATTEMPTS);
  const usageStore = new UsageStore(database);
  const usageCounter = new UsageCounter(usageStore, onUnwrittenUsage);
  const users = new UserService({ organizations, users: userStore, sessions: sessionStore, logins, rights });
  const scheduleStore = new ScheduleStore(database);
  const savedReports = new SavedReportService(savedReportStore, scheduleStore, rights);
  const depositSummaries = new DepositSummaryService(new DepositSummaryStore(), depositDetails);
  const depositChanges = new DepositChangeService(new DepositChangeStore());
  const journalAccounts = new JournalAccountService(new JournalAccountStore(database), rights);
  const journals = new JournalService(new JournalStore(), books, journalAccounts);
  const webhookDeliveries = new WebhookDeliveries(new DeliveryStore(database), new WebhookSender(config.WEBHOOK_PRIVATE_ADDRESSES));
  const mailStore = new MailStore(database);
  const mailServer = toMailServer(config.SMTP_URL);
  const mailDeliveries =
    mailServer &&
    new MailDeliveries({
      ...{ store: mailStore, savedReports, audit, page: config.PLAYGROUND_URL! },
      sender: new MailSender(mailServer, config.MAIL_FROM, config.SHUTDOWN_GRACE_SECONDS * MS_PER_SECOND),
      maxBytes: config.MAIL_ATTACHMENT_KILOBYTES * BYTES_PER_KILOBYTE,
      makingSeconds: config.REPORT_QUEUE_SECONDS + config.REPORT_TIMEOUT_SECONDS,
    });
  return {
    access: new AccessService({
      store: new AccessStore(database, config.SESSION_IDLE_MINUTES),
      guard: new ProvisionGuard(guesses),
      underMaintenance: config.UNDER_MAINTENANCE,
    }),
    accessWatch: new AccessWatch(config.ACCESS_CHECK_SECONDS * MS_PER_SECOND),
    sessions: new SessionService(userStore, sessionStore, logins, audit, {
      sessionHours: config.SESSION_HOURS,
      sessionIdleMinutes: config.SESSION_IDLE_MINUTES,
    }),
    depositDetails,
    depositChanges,
    depositSummaries,
    audit,
    journals,
    journalAccounts,
    fundBudgets: new FundBudgetService(new FundBudgetStore(database), rights),
    savedReports,
    budgets: new BudgetService(new CostStore(database, config.COST_PER_MINUTE, createMemory), config.COST_PER_MINUTE),
    links: new LinkService(keys, config.DOWNLOAD_LINK_MINUTES),
    keys,
    organizations,
    provisions,
    users,
    usage: new UsageService(usageStore, organizations),
    usageCounter,
    books,
    history: new HistoryService(new HistoryStore(database), rights),
    periods: new PeriodService(new PeriodStore(database, queue), { books, depositDetails, rights }),
    erasures,
    answers,
    imports,
    syncs: new SyncService(new SyncStore(database), { imports, books, depositDetails, erasures }),
    webhooks: new WebhookService(organizations, new WebhookStore(database), rights, config.WEBHOOK_PRIVATE_ADDRESSES),
    webhookDeliveries,
    schedules: new ScheduleService({
      ...{ organizations, savedReports, rights, mails: mailStore },
      schedules: scheduleStore,
      isOn: mailServer !== undefined,
    }),
    mailDeliveries,
    parity: new ParityService({ books, lines: new BookLineStore(), savedReports, audit }),
    proofs: new ProofService({ audit, books, depositDetails, depositSummaries, depositChanges, erasures, journals }),
    demo: new DemoService({ organizations, provisions, users, imports }),
    backups: new BackupService(address, books, depositDetails, audit),
    findObstacle: () => findObstacle(database, { mustLead: true }),
    readFigures: () => ({
      queue: queue.figures,
      audit: auditWriter.figures,
      guesses: guesses.figures,
      webhooks: webhookDeliveries.figures,
      mails: mailDeliveries?.figures,
      memories: { totals: totals.figures, ...(answers && { answers: answers.figures }) },
      pools: { ...database.figures, ...replicas.pools },
      replicas: replicas.figures,
    }),
    close: async () => {
      await Promise.all([audit.close(), usageCounter.close()]);
      await Promise.all([replicas.close(), database.close()]);
    },
  };
}
