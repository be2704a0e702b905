import { isDistributed, isPooled } from '../support/database';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { graphql, startGateway, v2Line, type TestGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { readScrape, valueOf } from '../support/scrape-reader';
import { until } from '../support/until';

/** The statement that begins a report whose state a second connection may read. */
const SHARING = 'pg_export_snapshot';
/** The statement by which a second connection reads that state. */
const SHARED = 'SET TRANSACTION SNAPSHOT';
/** A word of the message that opens a connection. */
const OPENING = 'application_name';
/** Far shorter than the gateway's waits for the database, and far longer than one for a second connection. */
const SOON_MS = 60_000;

const RANGE = 'startDate: "2020-01-01", endDate: "2029-12-31"';
const TOTALS = `{ depositSummary(${RANGE}) { all { lines } } }`;
const BOTH = `{ depositSummary(${RANGE}) { all { lines } digest } }`;

const store = openGateway({ lines: [v2Line()] });
let proxy: DatabaseProxy;
let gateway: TestGateway;

const start = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  proxy = await startDatabaseProxy(store.database.url);
  gateway = await startGateway({ DATABASE_URL: proxy.url, BOOK_MEMORY_MEGABYTES: '0', ADMIN_PORT: '0', ...settings });
};
afterEach(async () => {
  await gateway.stop();
  await proxy.close();
});

const ask = async (query: string, url = gateway.url): Promise<unknown> =>
  (await graphql(url, query, { provision: store.organization.apiProvision })).body;

/** The reasons of the connections that were lost, as operators read them. */
const lost = (): string[] =>
  gateway.logLines
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly reason: string })
    .filter(({ msg }) => msg === 'database connection lost')
    .map(({ reason }) => reason);

/** The connections of the long pool in a state. */
const longConnections = async (state: string): Promise<number | undefined> =>
  valueOf(await readScrape(gateway.adminUrl), 'gateway_pool_connections', { pool: 'long', state });

describe('a caller of totals and a digest gets both soon', () => {
  beforeEach(async () => {
    await start({ REPORT_CONCURRENCY: '2' });
    // These open one connection for reports, and more for short statements than a request needs.
    await Promise.all([TOTALS, ...Array<string>(5).fill('{ authenticatedTestSystem { message } }')].map((query) => ask(query)));
    await until(async () => (await longConnections('idle')) === 1);
  });

  test('on two connections, and no operator is told of a loss', async () => {
    expect(await ask(BOTH)).toEqual(await ask(BOTH, store.url));
    await until(async () => (await longConnections('idle')) === 2);
    expect(lost()).toEqual([]);
  });

  test('though the database has no connection left for the second one, and operators are told its state', async () => {
    const expected = await ask(BOTH, store.url);
    await store.database.client.query(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 1', current_database()); END $$`);
    try {
      expect(await ask(BOTH)).toEqual(expected);
    } finally {
      await store.database.client.query(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT -1', current_database()); END $$`);
    }
    // A pooler has a connection left that it has opened before.
    expect(lost()).toEqual(isPooled ? [] : ['A second connection for a report failed: SQLSTATE 53300']);
  });

  test.each(
    [
      ['does not let the second connection in', OPENING] as const,
      ['lets the first statement of the second connection wait, as a pooler does that has none left', SHARED] as const,
      // The nodes of distributed books share no state by a statement.
    ].filter(([, text]) => !(isDistributed && text === SHARED)),
  )('though the database %s, and operators are told', async (_what, text) => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let holds = 0;
    const hold = (): Promise<void> => {
      holds++;
      return held;
    };
    proxy.before(text, hold);
    const startedAt = performance.now();
    expect(await ask(BOTH)).toEqual(await ask(BOTH, store.url));
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
    expect(holds).toBe(1);
    expect(lost()).toEqual(['A second connection for a report failed: The database cannot be reached']);
    // A connection that comes too late is kept for the next report, and one whose statement came too late is closed.
    release();
    await until(async () => (await longConnections('busy')) === 0);
    await until(async () => (await longConnections('idle')) === (text === OPENING ? 2 : 1));
    expect(await ask(BOTH)).toEqual(await ask(BOTH, store.url));
    await until(async () => (await longConnections('idle')) === 2);
  });
});

test('a caller of totals and a digest has nothing prepared for a second connection where there is one lane', async () => {
  await start({ REPORT_CONCURRENCY: '1' });
  let shares = 0;
  proxy.before(SHARING, async () => void shares++);
  expect(await ask(BOTH)).toEqual(await ask(BOTH, store.url));
  expect(shares).toBe(0);
});
