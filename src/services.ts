import type { Config } from './config';
import { AccessStore } from './data/access-store';
import { AuditStore } from './data/audit-store';
import { DepositDetailStore } from './data/deposit-detail-store';
import { DepositSummaryStore } from './data/deposit-summary-store';
import { DirectoryInUseError } from './data/embedded/directory-lock';
import { EmbeddedPostgres } from './data/embedded/embedded-postgres';
import { EntityStore } from './data/entity-store';
import { ImportStore } from './data/import-store';
import { KnownAddressStore } from './data/known-address-store';
import { LoginAttemptStore } from './data/login-attempt-store';
import { OrganizationStore } from './data/organization-store';
import { Database, type DatabaseAddress } from './data/postgres/database';
import { FairQueue } from './data/postgres/fair-queue';
import { applyMigrations, findDrift, findObstacle, listMissingMigrations } from './data/postgres/migration-engine';
import { SavedReportStore } from './data/saved-report-store';
import { SessionStore } from './data/session-store';
import { UserStore } from './data/user-store';
import { AccessService } from './domain/access-service';
import { AuditService } from './domain/audit-service';
import { DemoService } from './domain/demo-service';
import { DepositDetailService } from './domain/deposit-detail-service';
import { DepositSummaryService } from './domain/deposit-summary-service';
import { EntityService } from './domain/entity-service';
import { ImportService } from './domain/import-service';
import { LoginGuard } from './domain/login-guard';
import { OrganizationService } from './domain/organization-service';
import { SavedReportService } from './domain/saved-report-service';
import { SessionService } from './domain/session-service';

/** Everything behind the doors, over one database. */
export interface Services {
  readonly access: AccessService;
  readonly sessions: SessionService;
  readonly logins: LoginGuard;
  readonly depositDetails: DepositDetailService;
  readonly depositSummaries: DepositSummaryService;
  readonly entities: EntityService;
  readonly audit: AuditService;
  readonly savedReports: SavedReportService;
  readonly organizations: OrganizationService;
  readonly imports: ImportService;
  readonly demo: DemoService;
  /** Why the gateway cannot serve, in words for an operator; undefined where the database answers and every migration was applied to it. */
  findObstacle(): Promise<string | undefined>;
}

/** A database that was reached or started; closing it also stops what was started. */
export interface OpenDatabase {
  readonly address: DatabaseAddress;
  /** Applies the migrations that are missing and returns their names. */
  migrate(): Promise<string[]>;
  /** The migrations that are missing. Changes nothing. */
  listMissingMigrations(): Promise<string[]>;
  /** The SQL by which the schema is ahead of its migrations. */
  findDrift(): Promise<string>;
  close(): Promise<void>;
  /** Stops what was started at once, whoever still uses it. */
  abandon(): Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();
const MS_PER_SECOND = 1000;

/**
 * The database of the settings: DATABASE_URL's, or the embedded one, which is migrated at its start unless told otherwise. A command may
 * share the embedded one of a running gateway; a gateway has its own or is refused (OperatorError).
 */
export async function openDatabase(
  config: Config,
  options: { readonly share: boolean; readonly migrate?: boolean; readonly onLost: (error: Error) => void },
): Promise<OpenDatabase> {
  const open = (address: DatabaseAddress, close = nothing, abandon = nothing): OpenDatabase => ({
    address,
    migrate: () => applyMigrations(address),
    listMissingMigrations: () => listMissingMigrations(address),
    findDrift: () => findDrift(address),
    close,
    abandon,
  });
  if (config.DATABASE_URL !== '') return open({ connectionString: config.DATABASE_URL });
  for (;;) {
    const shared = options.share ? await EmbeddedPostgres.share(config.DATA_DIR) : undefined;
    if (shared) return open(shared.address, () => shared.leave());
    try {
      const prepare = options.migrate === false ? nothing : applyMigrations;
      const embedded = await EmbeddedPostgres.start(config.DATA_DIR, prepare, options.onLost);
      // Other commands may still be sharing what this one started.
      return open(
        embedded.address,
        () => embedded.stop(options.share ? 'smart' : 'fast'),
        () => embedded.stop('fast'),
      );
    } catch (error) {
      // Another command was faster: then it can be shared.
      if (!options.share || !(error instanceof DirectoryInUseError)) throw error;
    }
  }
}

/** Wires stores and services over a database. Nothing is connected before it is used. */
export function createServices(
  config: Config,
  address: DatabaseAddress,
  onConnectionLost: (error: Error) => void,
): Services & { close(): Promise<void> } {
  const database = new Database({
    address,
    poolSize: config.POOL_SIZE,
    // As many again for organizations that read none.
    longConnections: config.REPORT_CONCURRENCY * 2,
    connectTimeoutMs: config.DATABASE_CONNECT_MILLISECONDS,
    answerTimeoutMs: config.DATABASE_ANSWER_MILLISECONDS,
    onConnectionLost,
  });
  const queue = new FairQueue({
    width: config.REPORT_CONCURRENCY,
    guests: config.REPORT_CONCURRENCY,
    maxWaiting: config.REPORT_QUEUE,
    maxWaitMs: config.REPORT_QUEUE_SECONDS * MS_PER_SECOND,
  });
  const reports = new DepositDetailService(new DepositDetailStore(database, queue), config.REPORT_TIMEOUT_SECONDS * MS_PER_SECOND);
  const users = new UserStore(database);
  const organizations = new OrganizationService(new OrganizationStore(database), users);
  const imports = new ImportService(new ImportStore(database));
  const logins = new LoginGuard(new KnownAddressStore(database), new LoginAttemptStore(database), config.LOGIN_ATTEMPTS);
  return {
    access: new AccessService(new AccessStore(database, config.SESSION_IDLE_MINUTES), config.UNDER_MAINTENANCE),
    sessions: new SessionService(users, new SessionStore(database), logins, {
      sessionHours: config.SESSION_HOURS,
      sessionIdleMinutes: config.SESSION_IDLE_MINUTES,
    }),
    logins,
    depositDetails: reports,
    depositSummaries: new DepositSummaryService(new DepositSummaryStore(), reports),
    entities: new EntityService(new EntityStore(database)),
    audit: new AuditService(new AuditStore(database)),
    savedReports: new SavedReportService(new SavedReportStore(database)),
    organizations,
    imports,
    demo: new DemoService(organizations, imports),
    findObstacle: () => findObstacle(database),
    close: () => database.close(),
  };
}
