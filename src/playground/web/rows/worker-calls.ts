import { wrap, type Remote } from 'comlink';
import { createOutdated, passGatewayErrors } from './gateway-faults';

/** The calls of an object in a worker that starts with the first of them. */
export interface WorkerCalls<Keeper> {
  /** Calls the object. Rejects as outdated when the worker cannot start or dies, whose calls Comlink never settles. */
  readonly call: <Result>(run: (keeper: Remote<Keeper>) => Promise<Result>) => Promise<Result>;
  /** Tells the object what nobody wants any more. A worker that has failed, or has not begun, has nothing of it. */
  readonly tell: (run: (keeper: Remote<Keeper>) => Promise<void>) => Promise<void>;
  /** Ends the worker. A call that still runs never settles. */
  readonly close: () => void;
}

interface RunningWorker<Keeper> {
  readonly worker: Worker;
  readonly keeper: Remote<Keeper>;
  /** Rejects the calls that are under way, when the worker fails. */
  readonly calls: Set<(error: Error) => void>;
}

passGatewayErrors();

/** Makes the calls of a worker that `open` starts. Whoever makes them closes them. */
export function createWorkerCalls<Keeper>(open: () => Worker): WorkerCalls<Keeper> {
  let running: RunningWorker<Keeper> | undefined;
  const start = (): RunningWorker<Keeper> => {
    const worker = open();
    const calls: RunningWorker<Keeper>['calls'] = new Set();
    const fail = (): void => {
      worker.terminate();
      if (running?.worker === worker) running = undefined;
      for (const reject of calls) reject(createOutdated());
    };
    worker.addEventListener('error', fail);
    worker.addEventListener('messageerror', fail);
    return { worker, keeper: wrap<Keeper>(worker), calls };
  };
  const call: WorkerCalls<Keeper>['call'] = (run) => {
    const { keeper, calls } = (running ??= start());
    return new Promise((resolve, reject) => {
      calls.add(reject);
      void run(keeper)
        .then(resolve, reject)
        .finally(() => calls.delete(reject));
    });
  };
  return {
    call,
    tell: async (run) => {
      if (running) await call(run).catch(() => undefined);
    },
    close: () => {
      running?.worker.terminate();
      running = undefined;
    },
  };
}
