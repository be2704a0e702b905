import { depositBook } from '../support/deposit-book';
import { PATHS } from '../support/doors';
import { withGateway } from '../support/gateway';
import { testOnOwnConnection } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const store = openGateway({ lines: depositBook(10) });
const NAME = 'kept_connections';
/** Longer than idle connections are kept. */
const PAUSE_SECONDS = 11;

/** A process of PostgreSQL that serves the gateway. */
interface Backend {
  readonly pid: number;
  readonly usedAt: Date;
  readonly idleSeconds: number;
}

async function listBackends(): Promise<Backend[]> {
  const { rows } = await store.database.client.query<Backend>(
    `SELECT pid, state_change AS "usedAt", extract(epoch FROM now() - state_change)::float8 AS "idleSeconds"
      FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`,
    [NAME],
  );
  return rows;
}

testOnOwnConnection('the first request and the first report after a pause find a connection that is open', async () => {
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
    await until(async () => {
      await Promise.all([ask(), ask(), ask()]);
      return (await listBackends()).length > 2;
    });
    let kept: Backend[] = [];
    await until(async () => {
      kept = await listBackends();
      return kept.length === 2 && kept.every(({ idleSeconds }) => idleSeconds > PAUSE_SECONDS);
    });
    await ask();
    const backends = await listBackends();
    const usedAgain = kept.filter(({ pid, usedAt }) => backends.some((backend) => backend.pid === pid && backend.usedAt > usedAt));
    expect(usedAgain).toEqual(kept);
  });
});
