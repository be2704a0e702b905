import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { startServe, type ServeProcess } from '../support/command';
import { REPORT } from '../support/long-report';
import { endAtLast } from '../bench/endings';
import { median } from '../bench/results';
import { hammer, inMs, percentile, send, type Answer, type Finding } from '../trust/attack';
import { fillDatabase } from './gateway-pair';
import { startSingleCluster } from './single-cluster';

const ORGANIZATIONS = 200;
const LINES = 10_000;
const SECONDS = 15;
const MS_PER_SECOND = 1000;
const ROUNDS = 2;
/** There are few lanes and waiting places for all, so that nobody is turned away and only the turns count. */
const SETTINGS = { REPORT_CONCURRENCY: '1', REPORT_QUEUE: '400' };
/** The organization that asks with so many clients while each of the others has one. */
const GREEDY_CLIENTS = 40;
const REFUSED_MS = 200;
/** The organization that is served least gets half of the middle one's reports, and the greedy one twice as many, give or take the first turns. */
const MAX_SPREAD = 2;
const FIRST_TURNS = 4;

/** Many organizations read reports at once, one of them with many clients: one process against two workers. */
export async function run(): Promise<readonly Finding[]> {
  const cluster = await startSingleCluster();
  try {
    const { id } = await fillDatabase(cluster.url, LINES);
    const provisions = await addOrganizations(cluster.url, id);
    const findings: Finding[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const workers of ['1', '2']) findings.push(await measure(cluster.url, provisions, workers));
    }
    return findings;
  } finally {
    await cluster.stop();
  }
}

/** Gives the lines of an organization to others, and resolves to a provision of each. */
async function addOrganizations(url: string, model: number): Promise<string[]> {
  const services = createServices(readConfig({ DATABASE_URL: url }), { connectionString: url });
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const provisions: string[] = [];
    for (let count = 0; count < ORGANIZATIONS; count++) {
      const { id, name } = await services.organizations.create(`Church ${count}`, []);
      provisions.push(await services.provisions.create({ organization: name, kind: 'API', label: '', grants: [REPORT_PRIVILEGE] }));
      await copyRows(client, 'deposit_line', model, id);
      await copyRows(client, 'data_version', model, id);
    }
    await client.query('VACUUM ANALYZE deposit_line');
    return provisions;
  } finally {
    await client.end();
    await services.close();
  }
}

async function copyRows(client: Client, table: 'deposit_line' | 'data_version', from: number, to: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'organization_id' AND attgenerated = ''`,
    [table],
  );
  const columns = rows.map(({ name }) => client.escapeIdentifier(name)).join(', ');
  await client.query(`INSERT INTO ${table} (organization_id, ${columns}) SELECT $2, ${columns} FROM ${table} WHERE organization_id = $1`, [
    from,
    to,
  ]);
}

async function measure(url: string, provisions: readonly string[], workers: string): Promise<Finding> {
  const serve: ServeProcess = await startServe({ ...SETTINGS, DATABASE_URL: url, WORKERS: workers });
  const end = endAtLast(async () => void (await serve.end('SIGTERM')));
  const answers: (Answer & { readonly organization: number })[] = [];
  const address = `${serve.url}${REPORT}?start_date=2020-01-01&end_date=2020-04-09`;
  const endsAt = Date.now() + SECONDS * MS_PER_SECOND;
  const ask = async (organization: number): Promise<void> => {
    const answer = await send(address, { headers: { Provision: provisions[organization]! } });
    // Those who still wait at the end are served one after the other, which says nothing about turns.
    if (Date.now() < endsAt) answers.push({ ...answer, organization });
    if (answer.status !== 200) await sleep(REFUSED_MS);
  };
  try {
    const clients = provisions.length + GREEDY_CLIENTS - 1;
    await hammer(clients, SECONDS, (client) => ask(Math.max(client - GREEDY_CLIENTS + 1, 0)));
  } finally {
    await end();
  }
  const good = answers.filter(({ status }) => status === 200);
  const [greedy = 0, ...others] = provisions.map((_, place) => good.filter(({ organization }) => organization === place).length);
  const waits = good.filter(({ organization }) => organization > 0);
  const middle = median(others);
  const [fewest, most] = [Math.min(...others), Math.max(...others)];
  const failures = new Set(answers.filter(({ status }) => status !== 200).map(({ status }) => status));
  return {
    name: `${ORGANIZATIONS} organizations of ${LINES} lines read 100 days, one of them with ${GREEDY_CLIENTS} clients, for ${SECONDS} s, WORKERS=${workers}`,
    figure: `${good.length} reports: each organization with one client ${fewest} to ${most}, half of them ${middle} or more; the one with ${GREEDY_CLIENTS} ${greedy}; p50 ${inMs(percentile(waits, 50))}, p99 ${inMs(percentile(waits, 99))}; ${answers.length - good.length} failed${failures.size > 0 ? ` with ${[...failures].join(', ')}` : ''}`,
    holds: answers.length === good.length && fewest >= middle / MAX_SPREAD - 1 && greedy <= middle * MAX_SPREAD + FIRST_TURNS,
  };
}
