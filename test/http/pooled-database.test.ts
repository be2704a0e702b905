import { Client } from 'pg';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { depositBook } from '../support/deposit-book';
import { viaRest } from '../support/doors';
import { graphql, login, startGateway, type TestGateway } from '../support/gateway';
import { EVERYTHING, REPORT } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway({ lines: depositBook(60), loggedIn: true });
const { organization } = gateway;

/** The requests that use every kind of statement: reports, files with their totals, lists, totals, groups, logins and what users save. */
const READS: readonly ((url: string) => Promise<unknown>)[] = [
  (url) => rest(url, `${REPORT}?start_date=2024-01-01&end_date=2024-01-31&include_pending=true`),
  (url) => rest(url, '/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31&totals=headers'),
  (url) => rest(url, '/export/deposit-summary.json?group_by=DONOR'),
  (url) =>
    ask(
      url,
      '{ deposits(first: 5, orderBy: { field: AMOUNT }) { nodes { depositId transactions(first: 2) { nodes { transactionId } } } } }',
    ),
  (url) => ask(url, '{ depositDetailsConnection(first: 3) { nodes { allocationId } totalCount } }'),
  (url) => ask(url, '{ depositSummary(startDate: "2024-01-01", endDate: "2024-12-31") { all { lines transactions } digest } }'),
  (url) => ask(url, '{ dataVersions(first: 2) { nodes { number cause } } }'),
  async (url) => viaRest(url, 'session', { provision: organization.webProvision, cookie: await login(url, organization.webProvision) }),
];

async function rest(url: string, path: string): Promise<unknown> {
  const response = await fetch(url + path, { headers: { Provision: organization.apiProvision } });
  return [response.status, await response.text()];
}

async function ask(url: string, query: string): Promise<unknown> {
  return (await graphql(url, query, { provision: organization.apiProvision })).body;
}

async function readAll(url: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const read of READS) answers.push(await read(url));
  return answers;
}

/** Starts a gateway that takes its database for one behind a pooler of transactions, with a witness of what it sends there. */
async function startPooled(settings: Readonly<Record<string, string>> = {}): Promise<{ pooled: TestGateway; proxy: DatabaseProxy }> {
  const proxy = await startDatabaseProxy(gateway.database.url);
  return { proxy, pooled: await startGateway({ DATABASE_URL: proxy.url, DATABASE_POOLER: 'transaction', ...settings }) };
}

async function withPooled(
  settings: Readonly<Record<string, string>>,
  use: (pooled: TestGateway, proxy: DatabaseProxy) => Promise<void>,
): Promise<void> {
  const { pooled, proxy } = await startPooled(settings);
  try {
    await use(pooled, proxy);
  } finally {
    await pooled.stop();
    await proxy.close();
  }
}

describe('a gateway behind a pooler of transactions', () => {
  test('answers as one without it, opens connections without settings, and keeps no statement prepared', async () => {
    const expected = await readAll(gateway.url);
    await withPooled({}, async (pooled, proxy) => {
      expect(await readAll(pooled.url)).toEqual(expected);
      expect(await (await fetch(`${pooled.url}/ready`)).json()).toEqual({ status: 'ready' });
      expect(proxy.startupParameters()).toEqual(['application_name', 'client_encoding', 'database', 'user']);
      expect(proxy.keptNames()).toEqual([]);
    });
  });

  test('sends a short statement and its settings in one round trip, and has it ended at its time limit', async () => {
    await withPooled({ DATABASE_ANSWER_MILLISECONDS: '1000' }, async (pooled, proxy) => {
      const mine = { provision: organization.webProvision, cookie: gateway.cookie };
      expect(await viaRest(pooled.url, 'session', mine)).toBe('granted');
      const before = proxy.roundTrips();
      expect(await viaRest(pooled.url, 'session', mine)).toBe('granted');
      expect(proxy.roundTrips()).toBe(before + 1);

      await gateway.database.client.query('BEGIN; LOCK TABLE session');
      const told = await viaRest(pooled.url, 'session', mine).finally(() => gateway.database.client.query('ROLLBACK'));
      expect(told).toBe('Data source query failed');
    });
  });
});

test('a reader who leaves has the statement cancelled by the request of the protocol, which poolers pass on', async () => {
  const { pooled, proxy } = await startPooled();
  const { client } = gateway.database;
  const locker = new Client({ connectionString: gateway.database.url });
  await locker.connect();
  const isReading = async (): Promise<boolean> =>
    ((await client.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'COPY%'`))
      .rowCount ?? 0) > 0;
  try {
    await locker.query('BEGIN; LOCK TABLE deposit_line');
    const leaving = new AbortController();
    const answer = fetch(pooled.url + EVERYTHING, { headers: { Provision: organization.apiProvision }, signal: leaving.signal });
    answer.catch(() => undefined);
    await until(isReading);
    leaving.abort();
    await until(async () => !(await isReading()));
    expect(proxy.cancellations()).toBe(1);
  } finally {
    await locker.end();
    await pooled.stop();
    await proxy.close();
  }
});
