import { Database } from '../../src/data/postgres/database';
import { isAmong, rowsOf } from '../../src/data/postgres/value-list';
import { Prisma } from '../../src/generated/prisma/client';
import { depositBook } from '../support/deposit-book';
import { graphql, withGateway } from '../support/gateway';
import { testOnOwnConnection } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';

const store = openGateway({ lines: depositBook(10) });
const NAME = 'kept_statements';

/** The process of the gateway's only short connection. */
async function backend(): Promise<number | undefined> {
  const { rows } = await store.database.client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() ORDER BY backend_start DESC LIMIT 1',
    [NAME],
  );
  return rows[0]?.pid;
}

testOnOwnConnection('a caller who makes up many statements has the connection replaced, and one who repeats a few does not', async () => {
  const url = new URL(store.database.url);
  url.searchParams.set('application_name', NAME);
  await withGateway({ DATABASE_URL: url.href, POOL_SIZE: '1' }, async (gateway) => {
    const ask = async (first: number): Promise<void> => {
      const { body } = await graphql(gateway.url, `{ deposits(first: ${first}) { nodes { depositId } } }`, {
        provision: store.organization.apiProvision,
      });
      expect(body.errors).toBeUndefined();
    };
    await ask(1);
    const first = await backend();
    expect(first).toBeDefined();
    for (let count = 0; count < 100; count++) await ask(1 + (count % 10));
    expect(await backend()).toBe(first);
    for (let length = 1; length <= 100; length++) await ask(length);
    expect(await backend()).not.toBe(first);
  });
});

describe('a kept statement for one value is planned once for all values, as one for many is', () => {
  const { sql } = Prisma;
  const among = (ids: readonly number[]) => sql`SELECT id FROM numbered WHERE ${isAmong('id', ids, 'bigint')}`;
  const ofRows = (ids: readonly number[]) =>
    sql`SELECT found.id FROM ${rowsOf(ids, 'bigint')} AS origin(id)
      CROSS JOIN LATERAL (SELECT id FROM numbered WHERE numbered.id = origin.id ORDER BY id LIMIT 1) AS found`;
  testOnOwnConnection.each([
    ['a condition', 1, among],
    ['a condition', 30, among],
    ['a list of each', 1, ofRows],
    ['a list of each', 30, ofRows],
  ])('in %s, for %i', async (_place, count, toStatement) => {
    const database = new Database({
      ...{ address: { connectionString: store.database.url }, poolSize: 1, longConnections: 1 },
      ...{ connectTimeoutMs: 10_000, answerTimeoutMs: 60_000, onConnectionLost: () => undefined },
    });
    try {
      await store.database.client.query('CREATE TABLE IF NOT EXISTS numbered AS SELECT generate_series(1, 5000)::bigint AS id');
      await store.database.client.query('CREATE UNIQUE INDEX IF NOT EXISTS numbered_id ON numbered (id)');
      await store.database.client.query('ANALYZE numbered');
      const runs = 12;
      for (let run = 0; run < runs; run++) {
        const ids = Array.from({ length: count }, (_, index) => 1 + run * count + index);
        expect(await database.list(toStatement(ids))).toEqual(ids.map((id) => ({ id: String(id) })));
      }
      const [kept] = await database.list(
        sql`SELECT custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements WHERE statement NOT LIKE '%pg_prepared_statements%'`,
      );
      // PostgreSQL plans a statement five times before it decides.
      expect(kept).toEqual({ custom: 5, generic: runs - 5 });
    } finally {
      await database.close();
    }
  });
});
