import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from './config';
import { DirectoryInUseError } from './data/embedded/directory-lock';
import { EmbeddedPostgres } from './data/embedded/embedded-postgres';
import type { DatabaseAddress } from './data/postgres/database';
import { toPlace, type DatabasePlace } from './data/postgres/database-place';
import { applyMigrations, compareMigrations, type MigrationState } from './data/schema/migrations';
import { renewServingRole } from './data/schema/serving-role';

/** A database that is reached by its address, or an embedded one that was started or is shared. */
export interface OpenDatabase {
  /** The address of the role that owns the tables. */
  readonly address: DatabaseAddress;
  /** Resolves to the address of the role that has only the rights that serving takes. */
  readonly servingAddress: () => Promise<DatabaseAddress>;
  /** The place of an embedded database's data when it is not in the data directory; undefined when it is, and for one that is shared. */
  readonly outerPlace?: string | undefined;
  /** Applies the migrations that are missing and returns their names. `onWait` is called when a table that others read holds one up. */
  migrate(onWait?: () => void): Promise<string[]>;
  /** The migrations that the database and this gateway do not share. Changes nothing. */
  compareMigrations(): Promise<MigrationState>;
  /** Leaves the database. An embedded one that was started here is stopped. */
  close(): Promise<void>;
  /** Stops an embedded database that was started here, even while other commands use it. */
  abandon(): Promise<void>;
}

/** The database of the settings, with the role that owns the tables. */
export const findPlace = ({ DATABASE_URL, OWNER_DATABASE_URL, DATA_DIR }: Config): DatabasePlace =>
  toPlace(OWNER_DATABASE_URL || DATABASE_URL, DATA_DIR);

/** The same with the role that serves. */
export const findServingPlace = ({ DATABASE_URL, DATA_DIR }: Config): DatabasePlace => toPlace(DATABASE_URL, DATA_DIR);

const nothing = (): Promise<void> => Promise.resolve();
const PASSABLE = 0o711;

/**
 * Opens the database of the settings: the one of DATABASE_URL, or else the embedded one, which is migrated at its start unless `migrate` is
 * false. With `share`, as a command does, an embedded database that is already running is shared. Without it, as a gateway does, that is an
 * OperatorError. An embedded database that is not there is made with `mayMake` alone; otherwise that is an OperatorError, too. `onAway` is
 * told why one that was started here does not answer.
 */
export async function openDatabase(
  config: Config,
  options: { readonly share: boolean; readonly mayMake: boolean; readonly migrate?: boolean; readonly onAway: (error: Error) => void },
): Promise<OpenDatabase> {
  const isOwn = config.DATABASE_URL !== '';
  const open = (address: DatabaseAddress, close = nothing, abandon = nothing): OpenDatabase => ({
    address,
    servingAddress: () => (isOwn ? Promise.resolve({ connectionString: config.DATABASE_URL }) : renewServingRole(address)),
    migrate: (onWait) => applyMigrations(address, { onWait, mustDistribute: config.DATABASE_ENGINE === 'citus' }),
    compareMigrations: () => compareMigrations(address),
    close,
    abandon,
  });
  if (isOwn) return open({ connectionString: config.OWNER_DATABASE_URL || config.DATABASE_URL });
  for (;;) {
    const shared = options.share ? await EmbeddedPostgres.share(config.DATA_DIR) : undefined;
    if (shared) return open(shared.address, () => shared.leave());
    if (!options.mayMake) await EmbeddedPostgres.assertDatabase(config.DATA_DIR);
    try {
      const prepare = options.migrate === false ? nothing : (address: DatabaseAddress) => applyMigrations(address);
      const embedded = await EmbeddedPostgres.start(config.DATA_DIR, prepare, options.onAway);
      // Other commands may still share the database that this one started, so the stop waits for them.
      const opened = open(
        embedded.address,
        () => embedded.stop(options.share ? 'smart' : 'fast'),
        () => embedded.stop('fast'),
      );
      return { ...opened, outerPlace: embedded.outerPlace };
    } catch (error) {
      // Another command started the database first: the next round shares it.
      if (!options.share || !(error instanceof DirectoryInUseError)) throw error;
    }
  }
}

/**
 * Fills an empty database: the one of DATABASE_URL, or else an embedded one, which is in place when it has been filled and not before. The
 * signal gives it up; `fill` heeds it by itself over DATABASE_URL.
 */
export function buildDatabase(config: Config, signal: AbortSignal, fill: (address: DatabaseAddress) => Promise<void>): Promise<void> {
  if (config.DATABASE_URL !== '') return fill({ connectionString: config.OWNER_DATABASE_URL || config.DATABASE_URL });
  return EmbeddedPostgres.build(config.DATA_DIR, signal, fill);
}

/** The place of the embedded database's data when it is not in DATA_DIR; undefined when it is, and with DATABASE_URL. */
export const findOuterPlace = ({ DATABASE_URL, DATA_DIR }: Config): Promise<string | undefined> =>
  DATABASE_URL === '' ? EmbeddedPostgres.findOuterPlace(DATA_DIR) : Promise.resolve(undefined);

/** Fills an embedded database in a directory of its own, which is removed after it. The signal gives it up. */
export async function withScratchDatabase(signal: AbortSignal, fill: (address: DatabaseAddress) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'deposit-gateway-verify-'));
  try {
    // Started by root, PostgreSQL runs under another account, which must pass through. The data lie in a directory below, which is closed.
    await chmod(directory, PASSABLE);
    await EmbeddedPostgres.build(directory, signal, fill);
  } finally {
    await EmbeddedPostgres.remove(directory);
  }
}
