import { EventEmitter, once } from 'node:events';
import { Command } from 'commander';
import type { Logger } from 'pino';
import { createApp, type App, type RoleAddresses } from '../../app';
import type { Config } from '../../config';
import { describePlace } from '../../data/postgres/database-place';
import { findServingPlace } from '../../databases';
import type { DemoCredentials } from '../../domain/imports/demo-service';
import { OperatorError } from '../../errors';
import { warnAway, type CommandContext } from '../command';
import { baseUrl, describeDemo, openWithDemo } from './demo-command';
import { drainMsOf } from '../drain-time';
import { createLog } from '../gateway-log';
import { onStopSignal } from '../stop-signals';

/** `serve`: runs the gateway until SIGTERM, SIGINT or SIGHUP. Resolves when everything it started has ended. */
export function serveCommand(context: () => CommandContext): Command {
  return new Command('serve').action(async () => {
    const { config } = context();
    const log = createLog(config.LOG_LEVEL, config.WORKERS > 1);
    const stopping = waitForStop();
    const { database, demo } = await openWithDemo(config, (error) => warnAway(log, error));
    if (database.outerPlace !== undefined) log.warn({ place: database.outerPlace }, 'the data lie outside DATA_DIR');
    try {
      const preset = config.PLAYGROUND_PROVISION || (demo?.webProvision ?? '');
      const addresses = { serving: await database.servingAddress(), owner: database.address };
      const app = await createProcesses({ ...config, PLAYGROUND_PROVISION: preset }, addresses, log);
      try {
        // A stop ends a start that takes long.
        const isStopped = (await Promise.race([app.start(), stopping.asked])) !== undefined;
        if (!isStopped) await listen(app, demo, context(), log);
      } catch (error) {
        await app.stop(0);
        throw error;
      }
      const signal = await stopping.asked;
      const drainMs = drainMsOf(config, signal);
      log.info({ reason: signal, drainMs }, 'stopping');
      void stopping.insisted.then(() => app.cut());
      if (!(await app.stop(drainMs))) throw new OperatorError('Answers were cut off, because they did not finish within the grace time');
    } finally {
      await database.close();
    }
    log.info('stopped');
  });
}

/** Creates the gateway in this process, or in workers of it. */
async function createProcesses(config: Config, addresses: RoleAddresses, log: Logger): Promise<App> {
  if (config.WORKERS === 1) return createApp(config, addresses, log);
  // A gateway without workers does not load node:cluster.
  const { createPrimary } = await import('../gateway-primary');
  return createPrimary(config, addresses, log);
}

/** Starts to listen and tells the operator the address. */
async function listen(app: App, demo: DemoCredentials | undefined, { config, terminal }: CommandContext, log: Logger): Promise<void> {
  const { port, adminPort } = await app.listen();
  const url = baseUrl(config, port);
  // Many people read a log, and it is kept for long, so credentials go to a terminal only.
  if (demo && terminal.output.isTTY) terminal.output.write(`${describeDemo(demo, url)}\n`);
  else if (demo) log.info('there is a demo organization: `deposit-gateway demo --show` prints its provisions and login');
  if (adminPort !== undefined) log.info({ url: baseUrl({ HOST: config.ADMIN_HOST }, adminPort) }, 'listening for operators');
  log.info({ url, database: describePlace(findServingPlace(config)), ...(config.WORKERS > 1 && { workers: config.WORKERS }) }, 'listening');
  const reason = await app.findObstacle();
  if (reason !== undefined) log.warn({ reason }, 'not ready');
}

/** npm passes on a Ctrl-C that the terminal has already sent to every process, so a second signal within this time is the same one. */
const SAME_WISH_MS = 1000;

/**
 * Waits for a first signal, which asks to stop, and a second, which asks not to wait for balancers and answers in flight. From now on
 * no signal of these ends the process by itself.
 */
function waitForStop(): { asked: Promise<string>; insisted: Promise<void> } {
  const signals = new EventEmitter<{ asked: [string]; insisted: [] }>();
  let askedAt: number | undefined;
  const onSignal = (signal: string): void => {
    if (askedAt === undefined) signals.emit('asked', signal);
    else if (Date.now() - askedAt > SAME_WISH_MS) signals.emit('insisted');
    askedAt ??= Date.now();
  };
  onStopSignal(onSignal);
  return {
    asked: once(signals, 'asked').then(([signal]) => String(signal)),
    insisted: once(signals, 'insisted').then(() => undefined),
  };
}
