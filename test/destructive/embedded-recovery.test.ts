import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { startServe, succeed, type Environment } from '../support/command';

let root: string;
const settings = (name: string): Environment => ({ DATA_DIR: join(root, name), DEMO: 'off' });

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gateway-recovery-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
});
afterAll(() => rmSync(root, { recursive: true }));

test.concurrent('a gateway waits for a recovery that takes more than a minute, and says so', async () => {
  const environment = settings('recovering');
  await succeed(environment, ['migrate']);
  const cluster = join(root, 'recovering/postgres/cluster');
  // PostgreSQL asks an archive that takes its time for the log that it recovers from, and refuses connections meanwhile.
  const archive = 'test -e asked || { touch asked; sleep 70; }; false';
  await appendFile(join(cluster, 'postgresql.conf'), `restore_command = '${archive}'\n`);
  await writeFile(join(cluster, 'recovery.signal'), '');
  const gateway = await startServe(environment);
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
  const log = join(root, 'recovering/postgres/server.log');
  const notes = gateway
    .output()
    .split('\n')
    .filter((line) => line.includes('the embedded database is away'))
    .map((line) => (JSON.parse(line) as { reason: string }).reason);
  expect(notes).toEqual([`The embedded PostgreSQL is still starting. After a power cut or a kill it recovers first: ${log} tells more`]);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test.concurrent('a gateway that stops lets its database bring the data to a slow disk', async () => {
  const gateway = await startServe(settings('slow'));
  const client = new Client(JSON.parse(await readFile(join(root, 'slow/address.json'), 'utf8')) as ClientConfig);
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`);
  const { pid } = rows[0]!;
  kill(pid, 'SIGSTOP');
  const ended = gateway.end('SIGTERM');
  // PostgreSQL itself ends a server that is told to leave its data as they are within five seconds.
  await sleep(40_000);
  kill(pid, 'SIGCONT');
  expect(await ended).toBe(0);
  const log = await readFile(join(root, 'slow/postgres/server.log'), 'utf8');
  expect(log).toContain('database system is shut down');
  expect(log).not.toContain('immediate shutdown');
});
