import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { kill } from 'node:process';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { activeReports, EVERYTHING, fillReport } from '../support/long-report';
// Both tests wait for the name of a state.
import { testOnOneNode as test } from '../support/limited-tests';
import { startTraceCollector, type TraceCollector } from '../support/trace-collector';
import { until } from '../support/until';
import { startWorkerGateway, type WorkerGateway } from '../support/worker-gateway';

const LINES = 5000;
const SYSTEM = '/api/v2/authenticated_test_system';
/** The statement that begins a report whose state a second connection may read. */
const SHARING = 'pg_export_snapshot';
/** The statement by which a second connection reads that state. */
const SHARED = 'SET TRANSACTION SNAPSHOT';
/** The kind of a span that is a request (OpenTelemetry protocol, SpanKind). */
const SERVER = 2;
const TOTALS = '{ depositSummary(startDate: "2020-01-01", endDate: "2029-12-31") { all { lines } digest } }';

let proxy: DatabaseProxy;
let collector: TraceCollector;
let gateway: WorkerGateway;
let other: TestOrganization;

beforeAll(async () => {
  const front = async (url: string): Promise<string> => {
    proxy = await startDatabaseProxy(url);
    return proxy.url;
  };
  collector = await startTraceCollector();
  const lanes = { REPORT_CONCURRENCY: '2', REPORT_QUEUE_SECONDS: '5', BOOK_MEMORY_MEGABYTES: '0' };
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' };
  gateway = await startWorkerGateway({ ...lanes, ...traces }, { front });
  other = await createOrganization(gateway.services);
  for (const { id } of [gateway.organization, other]) await fillReport(gateway.database.client, id, LINES, `repeat('m', 2500)`);
});
afterAll(async () => {
  await gateway.stop();
  await proxy.close();
  collector.close();
});

/** Asks on a kept connection, which stays with its worker. */
async function askKept(agent: Agent, path: string, body?: string, traced: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  const headers = { Provision: gateway.organization.apiProvision, 'Content-Type': 'application/json', ...traced };
  const asking = request(gateway.url + path, { agent, headers, ...(body !== undefined && { method: 'POST' }) }).end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return response;
}

/** A connection that is kept, and the process of its worker. */
interface KeptConnection {
  readonly agent: Agent;
  readonly worker: number;
}

async function keepConnection(): Promise<KeptConnection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const response = await askKept(agent, SYSTEM);
  await readAll(response);
  const find = () => gateway.logged('request completed').find(({ requestId }) => requestId === response.headers['x-request-id']);
  await until(() => find() !== undefined);
  return { agent, worker: find()!.pid as number };
}

/** Resolves when no report is read. A lane is given back a moment after its answer. */
const untilFree = (): Promise<void> => until(async () => (await gateway.metric('gateway_report_lanes')) === 0);

/** The names of the waits in the trace of an answer. Resolves when the trace is there. */
async function waitsOf(trace: string): Promise<string[]> {
  const spans = () => collector.spans.filter(({ traceId }) => traceId === trace);
  await until(() => spans().some(({ kind }) => kind === SERVER));
  return spans().map(({ name }) => name);
}

/** The reasons of the connections that were lost so far, as operators read them. */
const lost = () => gateway.logged('database connection lost').map(({ reason }) => reason);

const summaryOf = async (answer: IncomingMessage): Promise<unknown> => JSON.parse((await readAll(answer)).body.toString());

test('a caller of totals and a digest gets both, though another report takes the lane of the second connection in that moment', async () => {
  const kept = [await keepConnection(), await keepConnection(), await keepConnection()];
  // The workers get new connections in turn.
  const [reading, beside] = kept.filter(({ worker }, _n, all) => all.filter((other) => other.worker === worker).length === 2);
  const query = JSON.stringify({ query: TOTALS });
  const quiet = await summaryOf(await askKept(reading!.agent, '/graphql', query));
  expect(quiet).toMatchObject({ data: { depositSummary: { all: { lines: LINES } } } });

  const { client } = gateway.database;
  const begun = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%${SHARING}%'`;
  await untilFree();
  const { length: before } = lost();
  // The worker learns that its report is read alone, and stands still before it learns that this is so no more.
  proxy.before(SHARING, async () => {
    // When this is answered, the worker has done all that it does before the answer to the statement.
    await readAll(await askKept(beside!.agent, SYSTEM));
    kill(reading!.worker, 'SIGSTOP');
  });
  const trace = randomBytes(16).toString('hex');
  const asked = askKept(reading!.agent, '/graphql', query, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
  let standing: IncomingMessage | undefined;
  try {
    await until(async () => (await client.query(begun)).rowCount === 1);
    standing = await ask(gateway.url + EVERYTHING, { headers: { Provision: other.apiProvision } });
    await until(async () => (await activeReports(client)) === 1);
    kill(reading!.worker, 'SIGCONT');
    expect(await summaryOf(await asked)).toEqual(quiet);
    await until(async () => (await gateway.metric('gateway_report_lanes')) === 1);
  } finally {
    kill(reading!.worker, 'SIGCONT');
    standing?.destroy();
    for (const { agent } of kept) agent.destroy();
  }
  // It has asked for a second lane in vain, and has opened no second connection.
  const waits = (await waitsOf(trace)).filter((name) => ['wait for a lane', 'connect', 'BEGIN', 'COPY'].includes(name));
  expect(waits).toEqual(['wait for a lane', 'connect', 'BEGIN', 'wait for a lane', 'COPY']);
  // The second connection has not waited in line for as long as a report may.
  expect(await gateway.metric('gateway_reports_turned_away_total', { reason: 'late' })).toBe(0);
  // A lane that another report has is no loss.
  expect(lost()).toHaveLength(before);
});

test('a caller of totals and a digest gets both, though the second connection is cut before its first row', async () => {
  await untilFree();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const query = JSON.stringify({ query: TOTALS });
  const whole = await summaryOf(await askKept(agent, '/graphql', query));
  await untilFree();
  const { length: before } = lost();
  let cuts = 0;
  proxy.before(SHARED, async () => {
    cuts++;
    throw new Error('The connection is cut');
  });
  expect(await summaryOf(await askKept(agent, '/graphql', query))).toEqual(whole);
  expect(cuts).toBe(1);
  expect(lost().slice(before)).toEqual(['A second connection for a report failed: The database cannot be reached']);
  agent.destroy();
});
