import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../support/database';
import { createOrganization, graphql, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { testOnOneNode } from '../support/limited-tests';
import { until } from '../support/until';

const DAYS_BETWEEN = 36_000;
const OTHERS = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

let database: TestDatabase;
let organization: TestOrganization;
beforeAll(async () => {
  database = await createTestDatabase();
  // PostgreSQL counts the pages that a connection has read when it ends, so these end before the test.
  const services = createServices(readConfig(databaseSettings()), { connectionString: database.url });
  organization = await createOrganization(services);
  await importLines(services, organization, [
    v2Line({ deposit_id: 'FIRST', deposit_date: '1900-01-01', transaction_id: 'T1', allocation_id: 'A1' }),
    v2Line({ deposit_id: 'LAST', deposit_date: '2000-01-01', transaction_id: 'T2', allocation_id: 'A2' }),
  ]);
  await services.close();
  // Each day between has a line, as in the books of many years.
  await database.client.query(
    `INSERT INTO deposit_line SELECT (jsonb_populate_record(line, jsonb_build_object('deposit_id', 'D' || n, 'transaction_id', 'B' || n,
      'allocation_id', 'B' || n, 'deposit_date', '1900-01-02'::date + n))).*
    FROM deposit_line AS line, generate_series(1, $1::int) AS n WHERE allocation_id = 'A1'`,
    [DAYS_BETWEEN],
  );
  await database.client.query('VACUUM ANALYZE deposit_line');
  await database.client.query('SELECT pg_stat_force_next_flush()');
});
afterAll(() => database.drop());

/** The pages of current lines, and of their indexes, that ended connections have read so far. */
async function pagesRead(): Promise<number> {
  const { rows } = await database.client.query<{ pages: number }>(
    `SELECT (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int AS pages
    FROM pg_statio_user_tables WHERE relname = 'deposit_line_current'`,
  );
  return rows[0]!.pages;
}

testOnOneNode('totals of deposits that lie years apart are read without the lines between them', async () => {
  const before = await pagesRead();
  await withGateway({ DATABASE_URL: database.url }, async ({ url }) => {
    const query = '{ deposits { nodes { depositId totals { lines byLine { amount } } } } }';
    const { body } = await graphql(url, query, { provision: organization.apiProvision });
    const totals = { lines: 1, byLine: { amount: '10.50' } };
    expect(body).toEqual({ data: { deposits: { nodes: ['FIRST', 'LAST'].map((depositId) => ({ depositId, totals })) } } });
  });
  // The last connection to end is the one that has read the lines, or not.
  await until(async () => (await database.client.query(OTHERS)).rowCount === 0 && (await pagesRead()) > before);
  expect((await pagesRead()) - before).toBeLessThan(50);
});
