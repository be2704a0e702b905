import { userInfo } from 'node:os';
import type { Logger } from 'pino';
import type { Config } from '../config';
import type { UnwrittenRows } from '../data/audit/audit-writer';
import { describePlace, type DatabasePlace } from '../data/postgres/database-place';
import { findSqlFault, MISSING_GRANT } from '../data/postgres/sql-fault';
import type { Operator } from '../domain/audit/audit-service';
import { AppError, OperatorError } from '../errors';
import { logUnwritten } from '../http/request-log';
import { findPlace, openDatabase, type OpenDatabase } from '../databases';
import { createServices, type Services } from '../services';
import { logOf } from './command-log';
import { onStopSignal } from './stop-signals';
import type { Terminal } from './terminal';

/** The terminal, the options and the settings that every command gets. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly json: boolean;
  /** The version of the gateway. */
  readonly version: string;
  readonly config: Config;
  /** Tells the operator which database the command uses, once. */
  readonly tellDatabase: (place: DatabasePlace, words: string) => void;
}

type DatabaseTelling = Pick<CommandContext, 'config' | 'tellDatabase'>;

interface DatabaseUse extends DatabaseTelling {
  /** True, the default, when the command may use the embedded database of a running gateway. Otherwise that is an OperatorError. */
  readonly share?: boolean;
  /** True, the default, when an embedded database that is started for the command is migrated first. */
  readonly migrate?: boolean;
  /** True when the command may make an embedded database where there is none. By default that is an OperatorError: nobody means an empty one. */
  readonly mayMake?: boolean;
  /** True when the command ends by itself at a signal. By default a signal ends the process at once. */
  readonly hasOwnStop?: boolean;
}

/** Tells the operator which database the settings name. */
export function tellDatabase({ config, tellDatabase: tell }: DatabaseTelling): void {
  const place = findPlace(config);
  tell(place, describePlace(place));
}

const lostIn =
  (config: Config) =>
  (error: Error): void =>
    logOf(config).warn({ reason: error.message }, 'database connection lost');

/** Tells the operator why an embedded database that was started here does not answer. */
export const warnAway = (log: Logger, { message }: Error): void => log.warn({ reason: message }, 'the embedded database is away');

/** Runs a command over the database that the settings name. The embedded database is started for the command when it does not run yet. */
export async function withDatabase<Result>(
  { share = true, migrate = true, mayMake = false, hasOwnStop = false, ...context }: DatabaseUse,
  use: (database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  const { config } = context;
  const opening = openDatabase(config, { share, migrate, mayMake, onAway: (error) => warnAway(logOf(config), error) });
  const useAndClose = async (database: OpenDatabase): Promise<Result> => {
    tellDatabase(context);
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  };
  return hasOwnStop ? useAndClose(await opening) : endingAtSignal(opening, useAndClose);
}

/**
 * Uses a database while signals end the process. The database server that was started for it ends too; an open transaction ends with its
 * connection.
 */
export async function endingAtSignal<Result>(
  opening: Promise<OpenDatabase>,
  use: (database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  const off = onStopSignal(
    () =>
      void opening
        .then((database) => database.abandon())
        .then(
          () => process.exit(1),
          () => process.exit(1),
        ),
  );
  try {
    return await use(await opening);
  } finally {
    off();
  }
}

/** Runs a command over the database that the settings name, with all services. */
export async function withServices<Result>(context: DatabaseUse, use: (services: Services) => Promise<Result>): Promise<Result> {
  return withDatabase(context, ({ address }) => useServices(context.config, address, use));
}

/** Runs a function with all services over a database, and closes them after it. */
export async function useServices<Result>(
  config: Config,
  address: OpenDatabase['address'],
  use: (services: Services) => Promise<Result>,
): Promise<Result> {
  const onUnwritten = (unwritten: UnwrittenRows): void => logUnwritten(logOf(config), unwritten);
  const services = createServices(config, address, { onConnectionLost: lostIn(config), onUnwritten, findOperator });
  try {
    return await use(services);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DATA_SOURCE_QUERY_FAILED') throw error;
    // A missing migration tells an operator more than the missing table that made the query fail.
    const reason = (await services.findObstacle()) ?? describeMissingGrant(error);
    throw reason === undefined ? error : new OperatorError(reason, { cause: error });
  } finally {
    await services.close();
  }
}

const findOperator = (): Operator => ({ door: 'command', account: findAccount(), address: null });

/** The account of the operating system, or its number where it has no name, as in a container. */
function findAccount(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

function describeMissingGrant(error: AppError): string | undefined {
  const { sqlState, relation = 'a table' } = findSqlFault(error.cause) ?? {};
  if (sqlState !== MISSING_GRANT) return undefined;
  return `The database user lacks a grant on ${relation}: give the address of the owner in OWNER_DATABASE_URL`;
}
