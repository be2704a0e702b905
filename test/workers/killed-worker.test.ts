import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../support/http-client';
import { until } from '../support/until';
import { withWorkers, type WorkerGateway } from '../support/worker-gateway';

/** A worker confirms a connection within milliseconds; a busy machine takes longer. */
const CONFIRMED_MS = 2000;
const statusOf = async (gateway: WorkerGateway): Promise<number> => (await ask(`${gateway.url}/live`)).resume().statusCode!;

test('a connection on its way to a worker that dies is broken off, and its gateway goes on', async () => {
  await withWorkers({}, async (gateway) => {
    await statusOf(gateway);
    // A worker that has not confirmed its last connection yet would get none of those below. It answers a request before that.
    await sleep(CONFIRMED_MS);
    const [still] = gateway.pids();
    kill(still!, 'SIGSTOP');
    const outcomes: unknown[] = [];
    for (let n = 0; n < 20; n++)
      void statusOf(gateway)
        .catch((error: unknown) => (error as NodeJS.ErrnoException).code)
        .then((outcome) => outcomes.push(outcome));
    await until(() => outcomes.length === 19);
    kill(still!, 'SIGKILL');
    await until(() => outcomes.length === 20);
    expect(outcomes).toEqual([...Array<number>(19).fill(200), 'ECONNRESET']);
    await until(() => gateway.pids().length === 2);
    expect(await statusOf(gateway)).toBe(200);
    expect(await gateway.serve.end('SIGTERM')).toBe(0);
  });
});
