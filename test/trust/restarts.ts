import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { startServe, succeed } from '../support/command';
import { freePort } from '../support/free-port';
import { SERVING_ROLE } from '../support/database';
import { assertInstalled, inMs, probe, send, USUAL_WAITS, type Answer, type Finding } from './attack';
import { makeClusterDirectory, startCluster, type Cluster } from './postgres-cluster';

const RESTARTS = 3;
const TERMINATIONS = 100;
const MAX_RECOVERY_MS = 1000;
const MAX_FAILOVER_MS = 5000;
/** The answer of /ready may be a second old. */
const MAX_READY_MS = 2000;
const PATH = '/api/v2/authenticated_test_system';

/** Restarts PostgreSQL at once, ends its connections one by one, and moves it to a standby behind HAProxy. */
export async function run(): Promise<readonly Finding[]> {
  assertInstalled('haproxy');
  const directory = makeClusterDirectory();
  const running: Cluster[] = [];
  try {
    const primary = await startCluster(directory.path);
    running.push(primary);
    const standby = await primary.follow();
    running.push(standby);
    const proxy = await startProxy(directory.path, [primary.port, standby.port]);
    await createServingRole(primary);
    const environment = { ...USUAL_WAITS, DATABASE_URL: primary.url.replace(`:${primary.port}/`, `:${proxy.port}/`) };
    await succeed(environment, ['migrate']);
    await succeed(environment, ['organization', 'create', 'Church']);
    const provision = (await succeed(environment, ['provision', 'create', '--organization', 'Church', '--kind', 'api']))
      .trim()
      .split('\n')
      .at(-1)!;
    const serve = await startServe(environment);
    const ask = () => send(serve.url + PATH, { headers: { Provision: provision } });
    try {
      return [
        await restart(primary, ask),
        await terminate(primary, ask),
        await failOver(primary, standby, ask, serve.url),
        { name: 'the gateway', figure: serve.child.exitCode === null ? 'ran all the time' : 'ended', holds: serve.child.exitCode === null },
      ];
    } finally {
      await serve.end('SIGTERM');
      await proxy.stop();
    }
  } finally {
    // One of them is stopped already.
    for (const cluster of running) await cluster.stop().catch(() => undefined);
    directory.remove();
  }
}

async function createServingRole({ url }: Cluster): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE ROLE ${SERVING_ROLE} LOGIN`);
  await client.end();
}

const isContract = ({ status, body }: Answer): boolean =>
  status === 200 || /No connection to data source|Data source query failed/.test(body);

/** The milliseconds until an answer is good. */
async function untilGood(ask: () => Promise<Answer>): Promise<number> {
  const startedAt = Date.now();
  while ((await ask()).status !== 200) {
    if (Date.now() - startedAt > 30_000) break;
    await sleep(10);
  }
  return Date.now() - startedAt;
}

async function restart(primary: Cluster, ask: () => Promise<Answer>): Promise<Finding> {
  let longest = 0;
  const answers: Answer[] = [];
  for (let round = 0; round < RESTARTS; round++) {
    const asking = probe(2, 20, ask);
    await primary.restart();
    longest = Math.max(longest, await untilGood(ask));
    answers.push(...(await asking));
  }
  const others = answers.filter((answer) => !isContract(answer));
  return {
    name: `${RESTARTS} immediate restarts of PostgreSQL`,
    figure: `good again after ${inMs(longest)} (goal ${MAX_RECOVERY_MS} ms); of ${answers.length} requests ${answers.filter(({ status }) => status !== 200).length} failed, with other texts than the contract's ${others.length}`,
    holds: longest <= MAX_RECOVERY_MS && others.length === 0,
  };
}

async function terminate(primary: Cluster, ask: () => Promise<Answer>): Promise<Finding> {
  const client = new Client({ connectionString: primary.url });
  await client.connect();
  const asking = probe(5, 10, ask);
  let ended = 0;
  const answers: Answer[] = [];
  while (ended < TERMINATIONS) {
    const { rows } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
    );
    ended += rows.length;
    // On a busy machine the requests beside this one may be over before so many connections were opened.
    answers.push(await ask());
  }
  answers.push(...(await asking));
  await client.end();
  const recovery = await untilGood(ask);
  const others = answers.filter((answer) => !isContract(answer));
  return {
    name: `${ended} connections ended`,
    figure: `of ${answers.length} requests ${answers.filter(({ status }) => status !== 200).length} failed, with other texts than the contract's ${others.length}; good again after ${inMs(recovery)}`,
    holds: others.length === 0 && recovery <= MAX_RECOVERY_MS,
  };
}

async function failOver(primary: Cluster, standby: Cluster, ask: () => Promise<Answer>, url: string): Promise<Finding> {
  await primary.stop();
  await sleep(300);
  const ready = async (): Promise<number> => (await send(`${url}/ready`)).status;
  const during = await ready();
  const startedAt = Date.now();
  await standby.promote();
  const acceptedAt = Date.now();
  await untilGood(ask);
  const afterMs = Date.now() - acceptedAt;
  for (const end = Date.now() + MAX_READY_MS; (await ready()) !== 200 && Date.now() < end;) await sleep(50);
  return {
    name: 'the standby takes over behind HAProxy',
    figure: `good ${inMs(afterMs)} after the standby was promoted, which took ${inMs(acceptedAt - startedAt)} (goal ${MAX_FAILOVER_MS} ms with checks every 200 ms); /ready ${during} meanwhile, while the address leads to a standby; ${await ready()} afterwards`,
    holds: afterMs <= MAX_FAILOVER_MS && (await ready()) === 200,
  };
}

/** HAProxy before two servers: the second one is asked when the first one is gone. */
export async function startProxy(directory: string, ports: readonly number[]) {
  const port = await freePort();
  const config = join(directory, 'haproxy.cfg');
  writeFileSync(
    config,
    `defaults\n  mode tcp\n  timeout connect 1s\n  timeout client 60s\n  timeout server 60s\nlisten postgres\n  bind 127.0.0.1:${port}\n  option redispatch\n${ports
      .map(
        (each, n) =>
          `  server pg${n} 127.0.0.1:${each} check inter 200ms fall 2 rise 1 on-marked-down shutdown-sessions${n > 0 ? ' backup' : ''}\n`,
      )
      .join('')}`,
  );
  const child = spawn('haproxy', ['-f', config], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await sleep(500);
  return {
    port,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
