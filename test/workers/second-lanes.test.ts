import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { kill } from 'node:process';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { activeReports, EVERYTHING, fillReport } from '../support/long-report';
import { until } from '../support/until';
import { startWorkerGateway, type WorkerGateway } from '../support/worker-gateway';

const LINES = 20_000;
const ROUNDS = 4;
const SYSTEM = '/api/v2/authenticated_test_system';
/** The statement that begins a report whose state a second connection may read. */
const SHARING = 'pg_export_snapshot';
/** The statement by which a second connection reads that state. */
const SHARED = 'SET TRANSACTION SNAPSHOT';
const TOTALS = '{ depositSummary(startDate: "2020-01-01", endDate: "2029-12-31") { all { lines } digest } }';

let proxy: DatabaseProxy;
let gateway: WorkerGateway;
let other: TestOrganization;

beforeAll(async () => {
  const front = async (url: string): Promise<string> => {
    proxy = await startDatabaseProxy(url);
    return proxy.url;
  };
  gateway = await startWorkerGateway({ REPORT_CONCURRENCY: '2', REPORT_QUEUE_SECONDS: '5', SUMMARY_MEMORY_MEGABYTES: '0' }, { front });
  other = await createOrganization(gateway.services);
  for (const { id } of [gateway.organization, other]) await fillReport(gateway.database.client, id, LINES, `repeat('m', 500)`);
});
afterAll(async () => {
  await gateway.stop();
  await proxy.close();
});

/** Asks on a kept connection, which stays with its worker. */
async function askKept(agent: Agent, path: string, body?: string): Promise<IncomingMessage> {
  const headers = { Provision: gateway.organization.apiProvision, 'Content-Type': 'application/json' };
  const asking = request(gateway.url + path, { agent, headers, ...(body !== undefined && { method: 'POST' }) }).end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return response;
}

/** Resolves when no report is read. A lane is given back a moment after its answer. */
const untilFree = (): Promise<void> => until(async () => (await gateway.metric('gateway_report_lanes')) === 0);

const summaryOf = async (answer: Promise<IncomingMessage>): Promise<unknown> => JSON.parse((await readAll(await answer)).body.toString());

test('a caller of totals and a digest gets both, though another report takes the lane of the second connection in that moment', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const query = JSON.stringify({ query: TOTALS });
  const quiet = await summaryOf(askKept(agent, '/graphql', query));
  expect(quiet).toMatchObject({ data: { depositSummary: { all: { lines: LINES } } } });
  await readAll(await askKept(agent, SYSTEM));
  const checks = () => gateway.logged('request completed').filter(({ path }) => path === SYSTEM);
  await until(() => checks().length === 1);
  const worker = checks()[0]!.pid as number;

  const { client } = gateway.database;
  const begun = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%${SHARING}%'`;
  // The worker may hear of the other report first after all, in some of the rounds.
  for (let round = 0; round < ROUNDS; round++) {
    await untilFree();
    // The worker learns that its report is read alone, and stands still before it learns that this is so no more.
    proxy.before(SHARING, async () => void kill(worker, 'SIGSTOP'));
    const asked = summaryOf(askKept(agent, '/graphql', query));
    await until(async () => (await client.query(begun)).rowCount === 1);
    const standing = await ask(gateway.url + EVERYTHING, { headers: { Provision: other.apiProvision } });
    await until(async () => (await activeReports(client)) === 1);
    kill(worker, 'SIGCONT');
    try {
      expect(await asked).toEqual(quiet);
      await until(async () => (await gateway.metric('gateway_report_lanes')) === 1);
    } finally {
      standing.destroy();
    }
  }
  // The second connection has not waited in line for as long as a report may.
  expect(await gateway.metric('gateway_reports_turned_away_total', { reason: 'late' })).toBe(0);
  agent.destroy();
});

test('a caller of totals and a digest gets both, though the second connection is cut before its first row', async () => {
  await untilFree();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const query = JSON.stringify({ query: TOTALS });
  const whole = await summaryOf(askKept(agent, '/graphql', query));
  await untilFree();
  let cuts = 0;
  proxy.before(SHARED, async () => {
    cuts++;
    throw new Error('The connection is cut');
  });
  expect(await summaryOf(askKept(agent, '/graphql', query))).toEqual(whole);
  expect(cuts).toBe(1);
  agent.destroy();
});
