import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Client } from 'pg';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { startGateway, type TestGateway } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { activeReports, breakReports, EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';
import { until } from '../support/until';

const LINES = 5000;
/** Each deposit has five lines. */
const DAY_LINES = 5;
const FIRST_DAY = `${REPORT}?start_date=2020-01-01&end_date=2020-01-01`;
/** The statements that the access of a request takes. */
const ACCESS_STATEMENTS = 1;
/** The statements that a report takes: BEGIN, the parameters, COPY, COMMIT. */
const REPORT_STATEMENTS = 4;
/** No request waits so long in a test. A request that is turned away under this setting is turned away at once. */
const NO_END = { REPORT_QUEUE_SECONDS: '3600' };

/** Holds the data. */
const store = openGateway({ countsStatements: true });
const { organization } = store;
/** The proxy between the gateway under test and the database. */
let proxy: DatabaseProxy;
let gateway: TestGateway;

beforeAll(() => fillReport(store.database.client, organization.id, LINES, `repeat('m', 2500)`));

/** With one connection for short queries, requests reach the queue in the order in which their access was asked for. */
async function start(settings: Readonly<Record<string, string>>): Promise<void> {
  proxy = await startDatabaseProxy(store.database.url);
  gateway = await startGateway({ DATABASE_URL: proxy.url, REPORT_CONCURRENCY: '1', POOL_SIZE: '1', ...settings });
}
afterEach(async () => {
  await gateway.stop();
  await proxy.close();
});

const get = (path: string, signal?: AbortSignal): Promise<IncomingMessage> =>
  ask(gateway.url + path, { headers: { Provision: organization.apiProvision }, ...(signal && { signal }) });
const post = (query: string): Promise<IncomingMessage> =>
  ask(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { Provision: organization.apiProvision, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
const listOf = (day: string): string => `depositDetails(startDate: "${day}", endDate: "${day}") { depositId }`;
const list = (day: string): Promise<IncomingMessage> => post(`{ ${listOf(day)} }`);
const page = (order: string): Promise<IncomingMessage> =>
  post(`{ depositDetailsConnection(startDate: "2020-01-01", first: 1, orderBy: { field: ${order} }) { nodes { depositId } } }`);

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

async function answerOf(response: Promise<IncomingMessage>): Promise<Answer> {
  const { statusCode, headers } = await response;
  return { status: statusCode, headers, body: JSON.parse((await readAll(await response)).body.toString()) as unknown };
}

/** Sends a report and resolves when the gateway has asked for its access; it then waits in line if it has to. */
async function lineUp(send: () => Promise<IncomingMessage>): Promise<{ response: Promise<IncomingMessage> }> {
  const before = proxy.statements();
  const response = send();
  response.catch(() => undefined);
  await until(() => proxy.statements() >= before + ACCESS_STATEMENTS);
  return { response };
}

const linesOf = async (response: IncomingMessage): Promise<number> => {
  const { body, complete } = await readAll(response);
  expect([response.statusCode, complete]).toEqual([200, true]);
  return (JSON.parse(body.toString()) as { response: object[] }).response.length;
};

async function expectTurnedAwayOverRest(response: Promise<IncomingMessage>): Promise<void> {
  const { status, headers, body } = await answerOf(response);
  expect([status, headers['retry-after'], headers['content-type']]).toEqual([429, '5', 'application/json; charset=utf-8']);
  expect(body).toEqual({ errors: [{ error: 'Too many of your requests are waiting', status: 429 }] });
}

async function expectTurnedAwayOverGraphql(response: Promise<IncomingMessage>): Promise<void> {
  const { status, headers, body } = await answerOf(response);
  expect([status, headers['retry-after']]).toEqual([429, '5']);
  expect(body).toEqual({
    errors: [
      {
        message: 'Too many of your requests are waiting',
        path: ['depositDetails'],
        extensions: { code: 'TOO_MANY_REQUESTS', requestId: REQUEST_ID },
      },
    ],
    data: { depositDetails: null },
  });
}

/** Measures how long something takes, in milliseconds. */
async function time(what: Promise<void>): Promise<number> {
  const started = Date.now();
  await what;
  return Date.now() - started;
}

describe('a reader who finds all places taken', () => {
  test('waits while another reads, and gets a whole report then', async () => {
    await start({ REPORT_QUEUE: '1' });
    const first = await get(EVERYTHING);
    const second = await lineUp(() => get(EVERYTHING));
    // The second has the one place in line.
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    expect([proxy.statements(), await activeReports(store.database.client)]).toEqual([3 * ACCESS_STATEMENTS + REPORT_STATEMENTS, 1]);
    expect(await linesOf(first)).toBe(LINES);
    expect(await linesOf(await second.response)).toBe(LINES);
    expect(proxy.statements()).toBe(3 * ACCESS_STATEMENTS + 2 * REPORT_STATEMENTS);
  });

  test('is served in the order of coming, over REST and GraphQL alike', async () => {
    await start({});
    const first = await get(EVERYTHING);
    const served: string[] = [];
    const coming: Promise<void>[] = [];
    for (const name of ['REST 1', 'GraphQL 2', 'REST 3', 'GraphQL 4', 'REST 5']) {
      const { response } = await lineUp(() => (name.startsWith('REST') ? get(FIRST_DAY) : list('2020-01-01')));
      coming.push(answerOf(response).then(({ status }) => void served.push(`${name}: ${status}`)));
    }
    expect(served).toEqual([]);
    await linesOf(first);
    await Promise.all(coming);
    expect(served).toEqual(['REST 1: 200', 'GraphQL 2: 200', 'REST 3: 200', 'GraphQL 4: 200', 'REST 5: 200']);
  });

  test('is turned away at once when the line is full too, and may come back', async () => {
    await start({ REPORT_QUEUE: '1', ...NO_END });
    const first = await get(EVERYTHING);
    const second = await lineUp(() => get(EVERYTHING));
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    await expectTurnedAwayOverGraphql(list('2020-01-01'));
    expect(await linesOf(first)).toBe(LINES);
    // It now has the first one's place, and the line has room for one again.
    const reading = await second.response;
    const third = await lineUp(() => get(FIRST_DAY));
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    expect(await linesOf(reading)).toBe(LINES);
    expect(await linesOf(await third.response)).toBe(DAY_LINES);
    expect(await linesOf(await get(FIRST_DAY))).toBe(DAY_LINES);
  });

  test('is turned away at once where nobody may wait', async () => {
    await start({ REPORT_QUEUE: '0', ...NO_END });
    const first = await get(EVERYTHING);
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    expect(await linesOf(first)).toBe(LINES);
    expect(await linesOf(await get(FIRST_DAY))).toBe(DAY_LINES);
  });

  test('is turned away after waiting too long, and leaves the place in line to the next', async () => {
    await start({ REPORT_QUEUE: '2', REPORT_QUEUE_SECONDS: '3' });
    const first = await get(EVERYTHING);
    const waited = await Promise.all([
      time(expectTurnedAwayOverRest(get(FIRST_DAY))),
      time(expectTurnedAwayOverGraphql(list('2020-01-01'))),
    ]);
    expect(waited.filter((ms) => ms < 3000)).toEqual([]);
    const next = [await lineUp(() => get(FIRST_DAY)), await lineUp(() => get(FIRST_DAY))];
    first.destroy();
    for (const { response } of next) expect(await linesOf(await response)).toBe(DAY_LINES);
    expect([proxy.statements(), proxy.cancellations()]).toEqual([5 * ACCESS_STATEMENTS + 3 * REPORT_STATEMENTS, 1]);
  });

  test('may take the whole time of a report after the wait', async () => {
    await start({ REPORT_TIMEOUT_SECONDS: '2' });
    const stalled = [await get(EVERYTHING), await lineUp(() => get(EVERYTHING))] as const;
    expect(await linesOf(await get(FIRST_DAY))).toBe(DAY_LINES);
    expect((await readAll(stalled[0])).complete).toBe(false);
    expect((await readAll(await stalled[1].response)).complete).toBe(false);
  });

  test('gives up the place in line by leaving, and nothing of it reaches the database', async () => {
    await start({ REPORT_QUEUE: '1' });
    const first = await get(EVERYTHING);
    const leaving = new AbortController();
    const left = await lineUp(() => get(FIRST_DAY, leaving.signal));
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    leaving.abort();
    await expect(left.response).rejects.toThrow('aborted');
    const brokenOff = () => gateway.logLines.filter((line) => line.includes('request broken off'));
    await until(() => brokenOff().length > 0);
    expect(brokenOff().join()).not.toMatch(/"(status|codes)":/);
    // No status: it never got an answer.
    expect(brokenOff().map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 30,
        time: expect.any(Number) as number,
        pid: expect.any(Number) as number,
        hostname: expect.any(String) as string,
        requestId: expect.any(String) as string,
        method: 'GET',
        path: REPORT,
        ms: expect.any(Number) as number,
        msg: 'request broken off',
      }),
    ]);
    const next = await lineUp(() => get(FIRST_DAY));
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    expect(await linesOf(first)).toBe(LINES);
    expect(await linesOf(await next.response)).toBe(DAY_LINES);
    expect(proxy.statements()).toBe(5 * ACCESS_STATEMENTS + 2 * REPORT_STATEMENTS);
  });

  test('gets in when the one who reads leaves', async () => {
    await start({ REPORT_QUEUE: '1' });
    const first = await get(EVERYTHING);
    const second = await lineUp(() => get(FIRST_DAY));
    // The second has the one place in line.
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    first.destroy();
    expect(await linesOf(await second.response)).toBe(DAY_LINES);
  });

  test('keeps nobody from short requests', async () => {
    await start({ REPORT_QUEUE: '1' });
    const first = await get(EVERYTHING);
    const second = await lineUp(() => get(FIRST_DAY));
    const provision = organization.apiProvision;
    expect((await answerOf(get('/api/v2/authenticated_test_system'))).body).toEqual({
      data: { message: 'System request authenticated', provision },
    });
    expect((await answerOf(post('{ authenticatedTestSystem { message } }'))).body).toEqual({
      data: { authenticatedTestSystem: { message: 'System request authenticated' } },
    });
    expect((await answerOf(page('DATE'))).body).toEqual({ data: { depositDetailsConnection: { nodes: [{ depositId: 'D0' }] } } });
    expect((await answerOf(get('/live'))).body).toEqual({ status: 'live' });
    expect((await answerOf(get('/ready'))).body).toEqual({ status: 'ready' });
    // The lines in another order are no short request: they are sorted first.
    expect((await answerOf(page('AMOUNT'))).status).toBe(429);
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    expect([await linesOf(first), await linesOf(await second.response)]).toEqual([LINES, DAY_LINES]);
  });
});

describe('a report that fails in the database', () => {
  test('leaves its place to the next', async () => {
    await start({ REPORT_QUEUE: '0' });
    const { client } = store.database;
    await client.query('ALTER TABLE deposit_line RENAME TO deposit_line_away');
    const failed = [await answerOf(get(FIRST_DAY)), await answerOf(list('2020-01-01')), await answerOf(get(FIRST_DAY))];
    await client.query('ALTER TABLE deposit_line_away RENAME TO deposit_line');
    expect(failed.map(({ status }) => status)).toEqual([404, 200, 404]);
    expect(failed[0]!.body).toEqual({ errors: [{ error: 'Data source query failed', status: 404 }] });
    expect(await linesOf(await get(FIRST_DAY))).toBe(DAY_LINES);
  });

  test('leaves its place too where it got no connection at all', async () => {
    await start({ REPORT_QUEUE: '0', DATABASE_CONNECT_MILLISECONDS: '1500' });
    // The one connection for short queries is there before. From now on none is made.
    expect((await get('/api/v2/authenticated_test_system')).statusCode).toBe(200);
    proxy.freezeAt('application_name');
    const { status, headers, body } = await answerOf(get(FIRST_DAY));
    expect([status, headers['retry-after'], body]).toEqual([
      500,
      '1',
      { errors: [{ error: 'No connection to data source', status: 500 }] },
    ]);
    proxy.freezeAt('nothing of this kind');
    expect(await linesOf(await get(FIRST_DAY))).toBe(DAY_LINES);
  });

  test('lets in who waits', async () => {
    await start({});
    const { client } = store.database;
    const other = new Client({ connectionString: store.database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('LOCK TABLE deposit_line');
      const first = await lineUp(() => get(FIRST_DAY));
      await until(async () => (await activeReports(client)) === 1);
      const second = await lineUp(() => get(FIRST_DAY));
      await breakReports(client);
      const { status, body } = await answerOf(first.response);
      expect([status, body]).toEqual([500, { errors: [{ error: 'No connection to data source', status: 500 }] }]);
      await other.query('ROLLBACK');
      expect(await linesOf(await second.response)).toBe(DAY_LINES);
    } finally {
      await other.end();
    }
  });
});

test('an operation that fails before all of it was read gives its place back', async () => {
  await start({ REPORT_QUEUE: '0' });
  const period = 'startDate: "2020-01-01", endDate: "2029-12-31"';
  const wrong = `wrong: depositDetailsConnection(${period}, first: 0) { totalCount }`;
  for (const others of [
    `a: depositSummary(${period}) { all { lines } }`,
    `a: depositSummary(${period}) { all { lines } digest } b: depositSummary(${period}) { digest all { lines } }`,
    `a: depositDetailsConnection(${period}) { totalCount summary { digest } }`,
  ]) {
    for (const fields of [`${others} ${wrong}`, `${wrong} ${others}`]) {
      expect((await answerOf(post(`{ ${fields} }`))).body).toMatchObject({
        errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
        data: { wrong: null },
      });
      const released = async () => (await answerOf(list('2020-01-01'))).status === 200;
      await until(released);
      expect(await activeReports(store.database.client)).toBe(0);
    }
  }
});

test('an operation with two lists takes one place, and gives back one', async () => {
  await start({ REPORT_QUEUE: '0' });
  const operation = `{ first: ${listOf('2020-01-01')} second: ${listOf('2020-01-02')} }`;
  const day = (depositId: string) => Array.from({ length: DAY_LINES }, () => ({ depositId }));
  for (let round = 0; round < 2; round++) {
    expect((await answerOf(post(operation))).body).toEqual({ data: { first: day('D0'), second: day('D1') } });
    const reading = await get(EVERYTHING);
    await expectTurnedAwayOverRest(get(FIRST_DAY));
    expect(await linesOf(reading)).toBe(LINES);
  }
});
