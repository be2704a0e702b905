import cluster from 'node:cluster';
import type { Socket } from 'node:net';
import { receiveConnections } from './connection-distributor';
import { ProcessChannel } from './process-channel';
import { TOPICS, WORKER_EXITS } from './worker-topics';

/** A server in a worker, as its primary controls it. */
interface WorkerServer {
  readonly httpServer: {
    serve(socket: Socket): void;
    startDraining(): void;
    cut(): void;
    cutAll(): void;
    finishReceived(graceMs: number): Promise<boolean>;
  };
  /** Closes everything that was opened, when `drained` says that no connection is left. Resolves to what that resolves to. */
  stop(drained: Promise<boolean>): Promise<boolean>;
}

/**
 * Runs this process as a worker until the primary says that it ends. Resolves to the exit status. `start` gets the settings that the primary
 * sends.
 */
export function runWorker(start: (settings: never, channel: ProcessChannel) => Promise<WorkerServer>): Promise<number> {
  const worker = cluster.worker!;
  const channel = new ProcessChannel((message) => void worker.send(message, undefined, () => undefined));
  let starting: Promise<WorkerServer> | undefined;
  let server: WorkerServer | undefined;
  /** Messages may come before this worker can serve. One that cannot start has answered so. */
  const whenStarted = (act: (started: WorkerServer) => void): void => void starting?.then(act, () => undefined);

  channel.handle(TOPICS.start, async (settings: never) => {
    starting = start(settings, channel);
    server = await starting;
  });
  channel.handle(TOPICS.drain, () => whenStarted(({ httpServer }) => httpServer.startDraining()));
  channel.handle(TOPICS.cut, () => whenStarted(({ httpServer }) => httpServer.cut()));
  receiveConnections(worker, channel, (socket) => server?.httpServer.serve(socket));
  worker.on('message', (message: unknown) => channel.receive(message));
  // Without its primary node:cluster ends this process, which must not look like the end of a whole answer.
  worker.on('disconnect', () => server?.httpServer.cutAll());
  // A module that sends messages of its own finds a closed channel while this process ends.
  worker.on('error', () => undefined);
  const ended = new Promise<number>((resolve) => {
    channel.handle(TOPICS.finish, (graceMs: number) => {
      const drained = server?.httpServer.finishReceived(graceMs) ?? Promise.resolve(true);
      void (server?.stop(drained) ?? drained).then((isWhole) => resolve(isWhole ? WORKER_EXITS.whole : WORKER_EXITS.cut));
      return drained;
    });
  });
  channel.tell(TOPICS.listening);
  return ended;
}
