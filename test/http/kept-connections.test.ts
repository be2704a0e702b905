import { setTimeout as sleep } from 'node:timers/promises';
import { depositBook } from '../support/deposit-book';
import { PATHS } from '../support/doors';
import { withGateway } from '../support/gateway';
import { testOnOwnConnection } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';

const store = openGateway({ lines: depositBook(10) });
const NAME = 'kept_connections';
/** Longer than idle connections are kept. */
const PAUSE_MS = 11_000;

/** The processes of PostgreSQL that serve the gateway. */
async function backends(): Promise<number[]> {
  const { rows } = await store.database.client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() ORDER BY pid',
    [NAME],
  );
  return rows.map(({ pid }) => pid);
}

testOnOwnConnection(
  'the first request and the first report after a pause find a connection that is open',
  async () => {
    const url = new URL(store.database.url);
    url.searchParams.set('application_name', NAME);
    await withGateway({ DATABASE_URL: url.href }, async (gateway) => {
      const ask = async (): Promise<void> => {
        for (const path of [PATHS.system, PATHS.report.replace('2024-01-02', '2024-01-01')]) {
          const response = await fetch(gateway.url + path, { headers: { Provision: store.organization.apiProvision } });
          expect(response.status).toBe(200);
          await response.text();
        }
      };
      await Promise.all([ask(), ask(), ask()]);
      expect((await backends()).length).toBeGreaterThan(2);
      await sleep(PAUSE_MS);
      const kept = await backends();
      expect(kept).toHaveLength(2);
      await ask();
      expect(await backends()).toEqual(expect.arrayContaining(kept));
    });
  },
  30_000,
);
