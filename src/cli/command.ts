import { pino } from 'pino';
import type { Config } from '../config';
import { createServices, openDatabase, type Services } from '../services';
import type { Terminal } from './terminal';

/** What every command is given. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly config: Config;
}

/**
 * Runs a command over the settings' database. An embedded one is started for the command; that of a running gateway is used as it is
 * where the command may share it, and is in use where it may not (OperatorError).
 */
export async function withServices<Result>(
  { config, share = true }: Pick<CommandContext, 'config'> & { readonly share?: boolean },
  use: (services: Services) => Promise<Result>,
): Promise<Result> {
  const log = pino({ level: config.LOG_LEVEL }, pino.destination(2));
  const onLost = (error: Error): void => log.warn({ reason: error.message }, 'database connection lost');
  const database = await openDatabase(config, { share, onLost });
  const services = createServices(config, database.address, onLost);
  // Cut short, it must not leave a server behind; a transaction ends with its connection.
  const onSignal = (): void => void database.abandon().then(() => process.exit(1));
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    return await use(services);
  } finally {
    await services.close();
    await database.close();
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}
