import { request, type IncomingMessage } from 'node:http';
import { createOrganization, graphql, withGateway, type RunningGateway } from '../support/gateway';
import { SERVING_ROLE } from '../support/database';
import { ask, readAll } from '../support/http-client';
import { activeReports as countReports, EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { testOnOneNode } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

/** Few long lines are written sooner than many short ones, and are more than the buffers of a connection hold as well. */
const LINES = 20_000;
const MB = 1024 * 1024;

const gateway = openGateway({ settings: { REPORT_CONCURRENCY: '8', READER_STALL_SECONDS: '600' } });
const { organization } = gateway;

const fill = (target: RunningGateway, organizationId: number, lines: number): Promise<void> =>
  fillReport(target.database.client, organizationId, lines, `repeat('m', 2800)`);

beforeAll(() => fill(gateway, organization.id, LINES));

/** Asks for the whole report and reads none of it. */
const startReport = (target: RunningGateway = gateway, provision = organization.apiProvision): Promise<IncomingMessage> =>
  ask(target.url + EVERYTHING, { headers: { Provision: provision } });

const activeReports = (target: RunningGateway = gateway): Promise<number> => countReports(target.database.client);

describe('a long report', () => {
  test('arrives whole, every line once and in order', async () => {
    const { body, complete } = await readAll(await startReport());
    const { response } = JSON.parse(body.toString()) as {
      response: { allocation_id: string; deposit_date: string; deposit_id: string; transaction_id: string }[];
    };
    expect([complete, response.length, new Set(response.map((line) => line.allocation_id)).size]).toEqual([true, LINES, LINES]);
    const keys = response.map((line) => [line.deposit_date, line.deposit_id, line.transaction_id].join('\0'));
    expect(keys.findIndex((key, n) => n > 0 && key < keys[n - 1]!)).toBe(-1);
  });

  test('is cancelled in the database when its reader leaves, long before a slow reader is given up', async () => {
    const response = await startReport();
    expect(await activeReports()).toBe(1);
    response.destroy();
    await until(async () => (await activeReports()) === 0);
  });

  test('is logged as broken off when its reader left, by the id of the answer', async () => {
    const response = await startReport();
    const requestId = response.headers['x-request-id'] as string;
    response.destroy();
    const lines = () => gateway.logLines.filter((line) => line.includes(requestId));
    await until(() => lines().length > 0);
    await until(async () => (await activeReports()) === 0);
    expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 30,
        time: expect.any(Number) as number,
        pid: expect.any(Number) as number,
        hostname: expect.any(String) as string,
        requestId,
        method: 'GET',
        path: REPORT,
        status: 200,
        ms: expect.any(Number) as number,
        msg: 'request broken off',
      }),
    ]);
  });

  testOnOneNode('is cancelled while the database has not given a line yet', async () => {
    await withGateway({}, async (own) => {
      const { id, apiProvision } = await createOrganization(own.services);
      await fill(own, id, 10);
      await own.database.client.query(`CREATE FUNCTION slowly(text) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT $1 FROM pg_sleep(30)'`);
      await own.database.client.query(`ALTER TABLE deposit_line RENAME TO quick_line;
        CREATE VIEW deposit_line AS SELECT * FROM quick_line WHERE slowly(main_memo) IS NOT NULL;
        GRANT SELECT ON deposit_line TO ${SERVING_ROLE}`);
      const url = `${own.url}${REPORT}?start_date=2020-01-01&end_date=2029-12-31`;
      const sent = request(url, { headers: { Provision: apiProvision }, agent: false });
      sent.on('error', () => undefined).end();
      await until(async () => (await activeReports(own)) === 1);
      sent.destroy();
      await until(async () => (await activeReports(own)) === 0);
    });
  });

  test('that breaks off cannot be taken for a whole one', async () => {
    const response = await startReport();
    await gateway.database.client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY%'`,
    );
    const { body, complete } = await readAll(response);
    expect(complete).toBe(false);
    expect(body.toString().endsWith(']}')).toBe(false);
    expect((await fetch(`${gateway.url}/live`)).status).toBe(200);
  });

  test('is given up when its reader stops reading, and costs no memory meanwhile', async () => {
    const before = process.memoryUsage().rss;
    await withGateway({ DATABASE_URL: gateway.database.url, READER_STALL_SECONDS: '2', REPORT_CONCURRENCY: '8' }, async (own) => {
      const stalled = await Promise.all(Array.from({ length: 8 }, () => startReport(own)));
      await until(async () => (await activeReports()) === 0);
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * MB);
      for (const response of stalled) expect((await readAll(response)).complete).toBe(false);
    });
  });

  test('is given up when it takes too long', async () => {
    // The time limit leaves a busy machine time for the first line. Before it, the answer would be a whole error.
    const settings = { DATABASE_URL: gateway.database.url, REPORT_TIMEOUT_SECONDS: '3', READER_STALL_SECONDS: '600' };
    await withGateway(settings, async (own) => {
      const response = await startReport(own);
      await until(async () => (await activeReports()) === 0);
      expect((await readAll(response)).complete).toBe(false);
    });
  });

  test('leaves short requests their own connections', async () => {
    // As many connections for short requests as there are reports: they would have none left if reports took theirs.
    const pools = { REPORT_CONCURRENCY: '8', POOL_SIZE: '8', DATABASE_CONNECT_MILLISECONDS: '30000' };
    await withGateway({ DATABASE_URL: gateway.database.url, READER_STALL_SECONDS: '600', ...pools }, async (own) => {
      const stalled = await Promise.all(Array.from({ length: 8 }, () => startReport(own)));
      expect(stalled.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(200));
      const { body } = await graphql(own.url, '{ authenticatedTestSystem { message } }', { provision: organization.apiProvision });
      expect(body).toEqual({ data: { authenticatedTestSystem: { message: 'System request authenticated' } } });
      for (const response of stalled) response.destroy();
      await until(async () => (await activeReports()) === 0);
    });
  });
});

test('all lines of an answer are of one moment, however many lists it holds', async () => {
  await withGateway({}, async (own) => {
    const { id, apiProvision } = await createOrganization(own.services);
    await fill(own, id, 3000);
    const writing = { on: true };
    // At every moment each deposit is either in its own decade or in the next one.
    const writer = (async () => {
      while (writing.on) {
        await own.database.client.query(
          `UPDATE deposit SET deposit_date = CASE WHEN deposit_date < '2030-01-01' THEN deposit_date + 3653 ELSE deposit_date - 3653 END`,
        );
        await own.services.books.repair(id);
      }
    })();
    const query = `{ early: depositDetails(startDate: "2020-01-01", endDate: "2029-12-31") { allocationId }
                     late: depositDetails(startDate: "2030-01-01", endDate: "2039-12-31") { allocationId } }`;
    try {
      for (let round = 0; round < 15; round++) {
        const { body } = await graphql(own.url, query, { provision: apiProvision });
        const { early, late } = body.data as Record<'early' | 'late', { allocationId: string }[]>;
        expect([early.length + late.length, new Set([...early, ...late].map(({ allocationId }) => allocationId)).size]).toEqual([
          3000, 3000,
        ]);
      }
    } finally {
      writing.on = false;
      await writer;
    }
  });
});
