import 'reflect-metadata';
import cluster from 'node:cluster';
import { Socket } from 'node:net';
import { GatewayMetrics } from '../admin/gateway-metrics';
import { createCallersSide, createSignals, forCallers, type CallersSide } from '../app';
import { createSharedMemory } from '../data/access/attempt-memory';
import { RemoteQueue } from '../data/reading/queue-channel';
import { RemoteGuessGate } from '../domain/access/guess-channel';
import { ProcessChannel } from '../processes/process-channel';
import { TOPICS, WORKER_EXITS } from '../processes/worker-topics';
import { createServices } from '../services';
import { createLog } from './gateway-log';
import type { Welcome } from './gateway-primary';
import { onStopSignal } from './stop-signals';

/** The module that a worker of a gateway runs. The primary tells it what to serve, hands it connections, and tells it to end. */

const channel = new ProcessChannel((message) => void process.send?.(message, undefined, undefined, () => undefined));
let side: CallersSide | undefined;
/** The wishes of the primary so far. They may come before this worker can serve. */
const wishes = { drain: false, cut: false };
let gone = 0;
let hasTaken = false;

channel.handle(TOPICS.begin, async (welcome: Welcome) => {
  side = await serve(welcome);
  followWishes();
});
channel.handle(TOPICS.drain, () => {
  wishes.drain = true;
  followWishes();
});
channel.handle(TOPICS.cut, () => {
  wishes.cut = true;
  followWishes();
});
channel.handle(TOPICS.finish, (graceMs: number) => {
  const drained = side?.httpServer.finishTaken(graceMs) ?? Promise.resolve(true);
  void end(drained);
  return drained;
});
channel.handle(TOPICS.taken, () => {
  const answer = hasTaken;
  hasTaken = false;
  return answer;
});

// Ctrl-C, a terminal that closes, and some supervisors signal every process of a group. The primary alone decides.
onStopSignal(() => undefined);
process.on('message', (message: object, socket: unknown) => {
  if (!('connection' in message)) {
    channel.receive(message);
    return;
  }
  // A client may have left on the way, or this process may lack the descriptor.
  if (!(socket instanceof Socket) || !side) return;
  side.httpServer.take(socket, countGone);
  hasTaken = true;
});
// Without its primary node:cluster ends this process, which must not look like the end of a whole answer.
cluster.worker?.on('disconnect', () => side?.httpServer.cutAll());

async function end(drained: Promise<boolean>): Promise<void> {
  const isWhole = await (side?.stop(drained) ?? drained);
  process.exit(isWhole ? WORKER_EXITS.whole : WORKER_EXITS.cut);
}

function followWishes(): void {
  if (wishes.drain) side?.httpServer.startDraining();
  if (wishes.cut) side?.httpServer.cut();
}

/** Tells of the connections that end in a turn of the event loop together. */
function countGone(): void {
  if (gone++ > 0) return;
  setImmediate(() => {
    channel.tell(TOPICS.ended, gone);
    gone = 0;
  });
}

async function serve({ config, serving }: Welcome): Promise<CallersSide> {
  const log = createLog(config.LOG_LEVEL, true);
  const services = createServices(config, serving, {
    ...createSignals(log, () => metrics),
    ...forCallers(config, log),
    shared: {
      processes: config.WORKERS,
      createMemory: createSharedMemory,
      queue: new RemoteQueue(channel, config.REPORT_CONCURRENCY > 1),
      guesses: new RemoteGuessGate(channel),
    },
  });
  const metrics = config.ADMIN_PORT === undefined ? undefined : new GatewayMetrics(services, 'worker');
  channel.handle(TOPICS.metrics, () => metrics?.read());
  return createCallersSide(services, { config, log, metrics });
}
