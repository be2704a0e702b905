import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createServices, type Services } from '../../src/services';
import { readConfig } from '../../src/config';
import { startServe, type ServeProcess } from '../support/command';
import { createTestDatabase, SERVING_PASSWORD, SERVING_ROLE, type TestDatabase } from '../support/database';
import { startDatabaseProxy } from '../support/database-proxy';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { activeReports, EVERYTHING, fillReport } from '../support/long-report';
import { ask } from '../support/http-client';
import { hasPooler, startPooler, type Pooler } from '../support/pooler';
import { hammer, inMs, NotRun, percentile, send, USUAL_WAITS, type Answer, type Finding } from '../trust/attack';

const LINES = 100_000;
const SECONDS = 15;
const CLIENTS = 24;
/** Far fewer connections of the server than the gateways have of the pooler. */
const SERVER_CONNECTIONS = 6;
const MAX_CANCEL_MS = 1000;
const SYSTEM = '/api/v2/authenticated_test_system';
const MONTH = EVERYTHING.replace('2029-12-31', '2020-01-31');

interface Setting {
  readonly database: TestDatabase;
  readonly services: Services;
  readonly organization: TestOrganization;
}

/** Two gateways behind a PgBouncer that shares few connections between them. */
export async function run(): Promise<readonly Finding[]> {
  if (!hasPooler()) throw new NotRun('pgbouncer is not installed');
  const database = await createTestDatabase();
  const services = createServices(readConfig({}), { connectionString: database.url });
  const organization = await createOrganization(services);
  await fillReport(database.client, organization.id, LINES, `''`);
  const setting = { database, services, organization };
  try {
    return [...(await share(setting)), ...(await fail(setting))];
  } finally {
    await services.close();
    await database.drop();
  }
}

const poolerOf = (
  { database }: Setting,
  settings: Readonly<Record<string, string | number>> = {},
  serverUrl = database.url,
): Promise<Pooler> => {
  const { username, password } = new URL(database.url);
  return startPooler(serverUrl, { [username]: decodeURIComponent(password), [SERVING_ROLE]: SERVING_PASSWORD }, settings);
};

const serveThrough = (pooler: Pooler, { database }: Setting, settings: Readonly<Record<string, string>> = {}): Promise<ServeProcess> =>
  startServe({ ...USUAL_WAITS, DATABASE_URL: pooler.through(database.url), DATABASE_POOLER: 'transaction', ...settings });

/** Load from both gateways at once: every answer is right, and the server's connections are as they were. */
async function share(setting: Setting): Promise<Finding[]> {
  const { organization, database } = setting;
  const headers = { Provision: organization.apiProvision };
  // Its connections are not among those of the pooler, so it ends before these are counted.
  const direct = await startServe({ DATABASE_URL: database.url });
  const expected = await send(direct.url + MONTH, { headers }).finally(() => direct.end('SIGTERM'));
  const pooler = await poolerOf(setting, { default_pool_size: SERVER_CONNECTIONS });
  const gateways = await Promise.all([serveThrough(pooler, setting), serveThrough(pooler, setting)]);
  try {
    const wrong: string[] = [];
    const answers: Answer[] = [];
    const reports: Answer[] = [];
    await hammer(CLIENTS, SECONDS, async (client) => {
      const { url } = gateways[client % gateways.length]!;
      const isReport = client % 6 === 0;
      const answer = await send(url + (isReport ? MONTH : SYSTEM), { headers });
      (isReport ? reports : answers).push(answer);
      if (answer.status !== 200 || (isReport && answer.digest !== expected.digest))
        wrong.push(`${answer.status} ${answer.body.slice(0, 80)}`);
    });
    const connections = await countConnections(database.client);
    return [
      {
        name: `two gateways and ${CLIENTS} callers on ${SERVER_CONNECTIONS} connections of the server for ${SECONDS} s`,
        figure: `${answers.length} authentications (p99 ${inMs(percentile(answers, 99))}) and ${reports.length} reports, ${wrong.length} wrong or failed ${wrong.slice(0, 2).join(', ')}; ${connections} connections`,
        holds: wrong.length === 0 && connections <= SERVER_CONNECTIONS && reports.length > 0,
      },
      await leave(setting, gateways[0]),
      await findLeftSettings(setting, pooler),
    ];
  } finally {
    for (const serve of gateways) await serve.end('SIGTERM');
    await pooler.stop();
  }
}

async function countConnections(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND usename = $1`,
    [SERVING_ROLE],
  );
  return rows[0]!.count;
}

/** A reader leaves while the database has given no line. The request to cancel goes through the pooler. */
async function leave({ database, organization }: Setting, { url }: ServeProcess): Promise<Finding> {
  const locker = new Client({ connectionString: database.url });
  await locker.connect();
  const times: { ms: number }[] = [];
  for (let round = 0; round < 10; round++) {
    await locker.query('BEGIN; LOCK TABLE deposit_line');
    const leaving = new AbortController();
    ask(url + EVERYTHING, { headers: { Provision: organization.apiProvision }, signal: leaving.signal }).catch(() => undefined);
    while ((await activeReports(database.client)) === 0) await sleep(5);
    leaving.abort();
    const leftAt = performance.now();
    while ((await activeReports(database.client)) > 0 && performance.now() - leftAt < 10 * MAX_CANCEL_MS) await sleep(5);
    times.push({ ms: performance.now() - leftAt });
    await locker.query('ROLLBACK');
  }
  await locker.end();
  const longest = percentile(times, 100);
  return {
    name: '10 readers who leave before the first line: until the database is idle',
    figure: `longest ${inMs(longest)} (goal ${MAX_CANCEL_MS} ms)`,
    holds: longest <= MAX_CANCEL_MS,
  };
}

/** Reads the settings of the server's connections that others have used before. */
async function findLeftSettings({ database }: Setting, pooler: Pooler): Promise<Finding> {
  const SETTINGS = `SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) AS left FROM pg_settings WHERE source = 'session' AND name NOT IN ('application_name', 'client_encoding')`;
  const found = new Set<string>();
  const url = new URL(pooler.through(database.url));
  url.username = SERVING_ROLE;
  url.password = SERVING_PASSWORD;
  const clients = Array.from({ length: SERVER_CONNECTIONS }, () => new Client({ connectionString: url.href }));
  for (const client of clients) {
    await client.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ left: string | null }>(SETTINGS);
    const { rows: kept } = await client.query('SELECT FROM pg_prepared_statements');
    if (rows[0]!.left !== null) found.add(rows[0]!.left);
    if (kept.length > 0) found.add(`${kept.length} prepared statements`);
  }
  for (const client of clients) {
    await client.query('ROLLBACK');
    await client.end();
  }
  return {
    name: `what is left on the ${SERVER_CONNECTIONS} connections`,
    figure: found.size === 0 ? 'nothing' : [...found].join('; '),
    holds: found.size === 0,
  };
}

interface Ready {
  readonly status: string;
  readonly reason?: string;
}

/** The pooler without room, without its database, and gone: what `/ready` says, and what a caller gets. */
async function fail(setting: Setting): Promise<Finding[]> {
  const { database, organization } = setting;
  const headers = { Provision: organization.apiProvision };
  const tell = async (name: string, { url }: ServeProcess, expected: RegExp): Promise<Finding> => {
    const ready = JSON.parse((await send(`${url}/ready`)).body) as Ready;
    const { status, ms, body } = await send(url + SYSTEM, { headers });
    const told = `${ready.status}${ready.reason === undefined ? '' : `: ${ready.reason}`}`;
    const isContract = /No connection to data source/.test(body) && status === 500;
    return {
      name,
      figure: `/ready says "${told}"; a caller gets ${status} ${body.slice(0, 60)} after ${inMs(ms)}`,
      holds: expected.test(told) && isContract && ms < 4000,
    };
  };
  const findings: Finding[] = [];
  const refusing = await poolerOf(setting);
  const unset = await serveThrough(refusing, setting, { DATABASE_POOLER: 'none' });
  findings.push(await tell('a gateway that does not know of the pooler', unset, /set DATABASE_POOLER to transaction/));
  await unset.end('SIGTERM');

  const gateway = await serveThrough(refusing, setting);
  await send(gateway.url + SYSTEM, { headers });
  await refusing.stop();
  findings.push(await tell('the pooler is gone', gateway, /The database cannot be reached/));
  await gateway.end('SIGTERM');

  const road = await startDatabaseProxy(database.url);
  const cutOff = await poolerOf(setting, {}, road.url);
  const waiting = await serveThrough(cutOff, setting);
  await send(waiting.url + SYSTEM, { headers });
  await road.close();
  findings.push(
    await tell('the pooler has lost the database', waiting, /The (pooler cannot reach the database|database cannot be reached)/),
  );
  await waiting.end('SIGTERM');
  await cutOff.stop();

  const full = await poolerOf(setting, { max_client_conn: 2 });
  const { username, password, pathname } = new URL(database.url);
  const holders = [0, 1].map(
    () => new Client({ connectionString: full.through(`postgresql://${username}:${password}@localhost${pathname}`) }),
  );
  for (const holder of holders) await holder.connect();
  const late = await serveThrough(full, setting);
  findings.push(await tell('the pooler has no connection left', late, /The pooler has no connection left/));
  await late.end('SIGTERM');
  for (const holder of holders) await holder.end();
  await full.stop();
  return findings;
}
