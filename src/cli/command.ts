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
  const opening = openDatabase(config, { share, migrate, onLost: lostIn(config) });
  // Cut short, a command must not leave a server behind; a transaction ends with its connection.
  const onSignal = (): void =>
    void opening
      .then((database) => database.abandon())
      .then(
        () => process.exit(1),
        () => process.exit(1),
      );
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    const database = await opening;
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}

/** The same with all services over it. */
export async function withServices<Result>(context: DatabaseUse, use: (services: Services) => Promise<Result>): Promise<Result> {
  return withDatabase(context, async ({ address }) => {
    const services = createServices(context.config, address, lostIn(context.config));
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
  });
}
