import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { startServe, succeed } from '../support/command';
import { inMs, percentile, probe, send, USUAL_WAITS, type Finding } from './attack';

const SECONDS = 5;
const MAX_LIVE_MS = 50;
const MAX_ANSWER_MS = 3500;
const ASKERS = 20;

/** An embedded database that is busy for seconds: its tables are locked, and it computes on every core. */
export async function run(): Promise<readonly Finding[]> {
  const directory = mkdtempSync(join(tmpdir(), 'trust-busy-'));
  chmodSync(directory, 0o755);
  const environment = { DATA_DIR: join(directory, 'data'), DEMO: 'off', ...USUAL_WAITS };
  await succeed(environment, ['migrate']);
  await succeed(environment, ['organization', 'create', 'Church']);
  const provision = (await succeed(environment, ['provision', 'create', '--organization', 'Church', '--kind', 'api']))
    .trim()
    .split('\n')
    .at(-1)!;
  const serve = await startServe(environment);
  try {
    const connect = async (): Promise<Client> => {
      const client = new Client(JSON.parse(readFileSync(join(environment.DATA_DIR, 'address.json'), 'utf8')) as ClientConfig);
      client.on('error', () => undefined);
      await client.connect();
      return client;
    };
    const [locker, busy] = [await connect(), await connect()];
    const asks = () => send(`${serve.url}/api/v2/authenticated_test_system`, { headers: { Provision: provision } });
    for (let n = 0; n < 200; n++) await asks();
    await locker.query('BEGIN; LOCK TABLE provision_key, provision');
    const computing = busy.query('SELECT count(*) FROM generate_series(1, 100000000)').catch(() => undefined);
    const asked = Promise.all(Array.from({ length: ASKERS }, asks));
    const live = await probe(SECONDS, 20, () => send(`${serve.url}/live`));
    const answers = await asked;
    await locker.query('ROLLBACK');
    await locker.end();
    await busy.end();
    await computing;
    await sleep(200);
    const again = (await asks()).status;
    const p99 = percentile(live, 99);
    return [
      {
        name: `/live while the embedded database is busy for ${SECONDS} s`,
        figure: `p99 ${inMs(p99)}, longest ${inMs(percentile(live, 100))} (goal ${MAX_LIVE_MS} ms)`,
        holds: p99 <= MAX_LIVE_MS,
      },
      {
        name: `${ASKERS} requests that wait for it`,
        figure: `longest ${inMs(percentile(answers, 100))} (goal ${MAX_ANSWER_MS} ms), with ${[...new Set(answers.map(({ body }) => body))].join(', ').slice(0, 200)}; afterwards ${again}`,
        holds: percentile(answers, 100) <= MAX_ANSWER_MS && answers.every(({ status }) => status >= 400) && again === 200,
      },
    ];
  } finally {
    await serve.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  }
}
