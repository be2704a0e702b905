import { depositBook } from '../support/deposit-book';
import { graphql, withGateway } from '../support/gateway';
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

test('a caller who makes up many statements has the connection replaced, and one who repeats a few does not', async () => {
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
