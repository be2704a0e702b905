import { kill } from 'node:process';
import { ask } from '../support/http-client';
import { until } from '../support/until';
import { withWorkers, type WorkerGateway } from '../support/worker-gateway';

const statusOf = async (gateway: WorkerGateway): Promise<number> => (await ask(`${gateway.url}/live`)).resume().statusCode!;

test('a connection on its way to a worker that dies is broken off, and its gateway goes on', async () => {
  await withWorkers({}, async (gateway) => {
    await statusOf(gateway);
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
