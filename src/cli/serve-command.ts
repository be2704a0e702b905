import { once } from 'node:events';
import { Command } from 'commander';
import { pino } from 'pino';
import { createApp } from '../app';
import { OperatorError } from '../errors';
import type { CommandContext } from './command';
import { baseUrl, describeDemo, ensureDemo } from './demo-command';

/** `serve`: runs the gateway until SIGTERM or SIGINT. Resolves when everything it started has ended. */
export function serveCommand(context: () => CommandContext): Command {
  return new Command('serve').description('runs the gateway until it is told to stop (what npm start does)').action(async () => {
    const { config, terminal } = context();
    const log = pino({ level: config.LOG_LEVEL });
    const stopping = stopSignals();
    const demo = await ensureDemo(config);
    const app = await createApp({ ...config, PLAYGROUND_PROVISION: config.PLAYGROUND_PROVISION || (demo?.webProvision ?? '') }, log);
    try {
      const port = await app.httpServer.listen(config.PORT, config.HOST);
      const url = baseUrl(config, port);
      if (demo) terminal.output.write(`${describeDemo(demo, url)}\n`);
      log.info({ url }, 'listening');
    } catch (error) {
      await app.stop();
      throw new OperatorError(`Cannot listen on ${config.HOST}:${config.PORT}: ${(error as Error).message}`, { cause: error });
    }

    log.info({ reason: await stopping.first }, 'stopping');
    void stopping.second.then(() => app.httpServer.server.closeAllConnections());
    if (!(await app.stop())) throw new OperatorError('Answers were cut off, because they did not finish within the grace time');
    log.info('stopped');
  });
}

/** The first reason to stop, and the second, for those who cannot wait. */
function stopSignals(): { first: Promise<string>; second: Promise<unknown> } {
  const signal = (): Promise<string> =>
    Promise.race([once(process, 'SIGTERM').then(() => 'SIGTERM'), once(process, 'SIGINT').then(() => 'SIGINT')]);
  const first = signal();
  return { first, second: first.then(signal) };
}
