import { pino } from 'pino';
import type { Config } from '../config';
import { AppError, OperatorError } from '../errors';
import { createServices, openDatabase, type OpenDatabase, type Services } from '../services';
import type { Terminal } from './terminal';

/** What every command is given. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly config: Config;
}

interface DatabaseUse extends Pick<CommandContext, 'config'> {
  /** Whether the embedded database of a running gateway may be used too; else it is in use (OperatorError). */
  readonly share?: boolean;
  /** Whether an embedded database that is started for the command is migrated. */
  readonly migrate?: boolean;
}

const lostIn =
  (config: Config) =>
  (error: Error): void =>
    pino({ level: config.LOG_LEVEL }, pino.destination(2)).warn({ reason: error.message }, 'database connection lost');

/** Runs a command over the settings' database; an embedded one is started for the command where none runs. */
export async function withDatabase<Result>(
  { config, share = true, migrate = true }: DatabaseUse,
  use: (database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  return endingAtSignal(openDatabase(config, { share, migrate, onLost: lostIn(config) }), async (database) => {
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  });
}

/** A signal ends the process meanwhile, with the server that was started for it; a transaction ends with its connection. */
export async function endingAtSignal<Result>(
  opening: Promise<OpenDatabase>,
  use: (database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  const onSignal = (): void =>
    void opening
      .then((database) => database.abandon())
      .then(
        () => process.exit(1),
        () => process.exit(1),
      );
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    return await use(await opening);
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}

/** Runs a command with all services over the settings' database. */
export async function withServices<Result>(context: DatabaseUse, use: (services: Services) => Promise<Result>): Promise<Result> {
  return withDatabase(context, ({ address }) => useServices(context.config, address, use));
}

/** Lends all services over a database. */
export async function useServices<Result>(
  config: Config,
  address: OpenDatabase['address'],
  use: (services: Services) => Promise<Result>,
): Promise<Result> {
  const services = createServices(config, address, lostIn(config));
  try {
    return await use(services);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DATA_SOURCE_QUERY_FAILED') throw error;
    // A table that is not there says less to an operator than the migration that would make it.
    const reason = await services.findObstacle();
    throw reason === undefined ? error : new OperatorError(reason, { cause: error });
  } finally {
    await services.close();
  }
}
