import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { runCommand, startServe, succeed } from '../support/command';
import { createOrganization, graphql, importLines, v2Line, withGateway, type TestOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { readScrape, valueOf } from '../support/scrape-reader';
import { until } from '../support/until';
import { startWorkerGateway } from '../support/worker-gateway';

const gateway = openGateway();
const SYSTEM = '/api/v2/authenticated_test_system';
const SESSION = '/api/v2/authenticated_test_session';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const DAY_MS = 86_400_000;

interface Use {
  readonly organization: string;
  readonly provision: string;
  readonly label: string;
  readonly path: string;
  readonly userAgent: string;
  readonly requests: number;
  readonly errors: number;
  readonly lines: number;
  readonly lastUsedAt: string;
}

const create = (): Promise<TestOrganization> => createOrganization(gateway.services);
const environment = () => ({ DATABASE_URL: gateway.database.url });
const usageOf = async ({ name }: Pick<TestOrganization, 'name'>, ...options: string[]): Promise<Use[]> =>
  JSON.parse(await succeed(environment(), ['usage', '--organization', name, '--json', ...options])) as Use[];
/** The uses as path, user agent, requests, errors and lines. */
const countsOf = async (organization: TestOrganization): Promise<unknown[][]> =>
  (await usageOf(organization))
    .map(({ path, userAgent, requests, errors, lines }) => [path, userAgent, requests, errors, lines])
    .sort((one, other) => String(one).localeCompare(String(other)));
const ask = async (url: string, provision: string, userAgent: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
  const response = await fetch(url, { headers: { Provision: provision, 'User-Agent': userAgent, ...headers } });
  await response.arrayBuffer();
  return response.status;
};

/** Uses another gateway over the same database. It has written its counts when it is stopped. */
const counted = (use: (url: string) => Promise<unknown>, settings: Readonly<Record<string, string>> = {}): Promise<void> =>
  withGateway({ DATABASE_URL: gateway.database.url, ...settings }, async ({ url }) => void (await use(url)));

describe('an operator who asks who still calls v2', () => {
  test('sees requests, errors and lines by provision, path and user agent', async () => {
    const own = await create();
    await importLines(gateway.services, own, [v2Line(), v2Line({ allocation_id: 'P101', transaction_id: 'P11' })]);
    const year = `${REPORT}?start_date=2024-01-01&end_date=2024-12-31`;
    await counted(async (url) => {
      for (const userAgent of ['reports/1.0', 'reports/1.0', 'nightly']) await ask(url + SYSTEM, own.apiProvision, userAgent);
      expect(await ask(url + SESSION, own.webProvision, 'nightly')).toBe(422);
      expect(await ask(url + year, own.apiProvision, 'reports/1.0')).toBe(200);
      expect(await ask(`${url}${REPORT}?start_date=never`, own.apiProvision, 'reports/1.0')).toBe(422);
    });
    expect(await countsOf(own)).toEqual([
      [SESSION, 'nightly', 1, 1, 0],
      [SYSTEM, 'nightly', 1, 0, 0],
      [SYSTEM, 'reports/1.0', 2, 0, 0],
      [REPORT, 'reports/1.0', 2, 1, 2],
    ]);
    const [session] = (await usageOf(own)).filter(({ path }) => path === SESSION);
    expect(session).toEqual({
      ...{ organization: own.name, provision: own.webProvision.slice(0, 8), label: '', number: expect.any(Number) as number },
      ...{ path: SESSION, userAgent: 'nightly', requests: 1, errors: 1, lines: 0 },
      lastUsedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
    expect(Math.abs(Date.now() - Date.parse(session!.lastUsedAt))).toBeLessThan(DAY_MS);
  });

  test('sees a table, which names the provision, and the newest use first', async () => {
    const own = await create();
    await gateway.services.provisions.label(own.apiProvision, 'nightly job');
    await counted(async (url) => {
      await ask(url + SYSTEM, own.apiProvision, 'first');
      await ask(url + SYSTEM, own.apiProvision, '');
    });
    const { status, stdout } = await runCommand(environment(), ['usage', '--organization', own.name, '--days', '1']);
    const [header, ...rows] = stdout.trimEnd().split('\n');
    expect(status).toBe(0);
    expect(header).toMatch(/^ORGANIZATION +PROVISION +LABEL +PATH +USER AGENT +REQUESTS +ERRORS +LINES +LAST USE$/);
    const start = `^${own.name} +${own.apiProvision.slice(0, 8)} +nightly job +${SYSTEM} +`;
    expect(rows).toEqual([
      expect.stringMatching(new RegExp(`${start}\\(none\\) +1 +0 +0 +[\\d-]+T`)),
      expect.stringMatching(new RegExp(`${start}first +1 +0 +0 +[\\d-]+T`)),
    ]);
    const all = await runCommand(environment(), ['usage']);
    expect(all.stdout).toContain(own.name);
    expect((await runCommand(environment(), ['usage', '--organization', 'Nobody'])).stderr).toBe('There is no organization "Nobody"\n');
    expect((await runCommand(environment(), ['usage', '--days', '0'])).status).toBe(2);
  });

  test('sees no request without a valid provision, and none to another door', async () => {
    const own = await create();
    await counted(async (url) => {
      expect(await ask(url + SYSTEM, randomUUID(), 'stranger')).toBe(422);
      expect(await ask(url + SYSTEM, '', 'stranger')).toBe(422);
      await gateway.services.provisions.revoke(own.webProvision);
      expect(await ask(url + SYSTEM, own.webProvision, 'revoked')).toBe(422);
      await graphql(url, '{ authenticatedTestSystem { message } }', { provision: own.apiProvision });
      expect(await ask(`${url}/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-01-31`, own.apiProvision, 'file')).toBe(200);
      expect(await ask(url + SYSTEM, own.apiProvision, 'known')).toBe(200);
    });
    expect(await countsOf(own)).toEqual([[SYSTEM, 'known', 1, 0, 0]]);
    const { rows } = await gateway.database.client.query(`SELECT FROM v2_usage WHERE user_agent IN ('stranger', 'revoked', 'file')`);
    expect(rows).toEqual([]);
  });

  test('reads bounded, printable names without the credentials that a caller has put into its own', async () => {
    const own = await create();
    const token = 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4';
    await counted(async (url) => {
      await ask(url + SYSTEM, own.apiProvision, `a ${own.apiProvision} ${own.apiProvision.replaceAll('-', '').toUpperCase()} ${token}`);
      await ask(url + SYSTEM, own.apiProvision, 'Zoë');
      await ask(url + SYSTEM, own.apiProvision, 'long '.repeat(1000));
      // The name is cut within the last UUID.
      await ask(url + SYSTEM, own.apiProvision, `cut ${`${own.apiProvision} `.repeat(14)}`);
    });
    const expected = ['a * * *', `cut ${'* '.repeat(13).trim()}`, 'long '.repeat(40).trim(), 'Zo?'];
    expect((await countsOf(own)).map(([, userAgent]) => userAgent)).toEqual(expected);
  });

  test('sees twenty user agents of a provision on a day, and the rest as other, however they come', async () => {
    const own = await create();
    for (const batch of [0, 1, 2]) {
      await counted(async (url) => {
        for (let number = 0; number < 15; number++) await ask(url + SYSTEM, own.apiProvision, `agent-${batch}-${number}`);
        await ask(url + SESSION, own.webProvision, `web-${batch}`);
      });
    }
    const uses = await usageOf(own);
    const agents = uses.filter(({ path }) => path === SYSTEM);
    expect(agents.reduce((sum, { requests }) => sum + requests, 0)).toBe(45);
    expect(agents).toHaveLength(21);
    expect(agents.find(({ userAgent }) => userAgent === 'other')!.requests).toBe(25);
    expect(agents.filter(({ userAgent }) => userAgent.startsWith('agent-0-'))).toHaveLength(15);
    expect(uses.filter(({ path }) => path === SESSION).map(({ userAgent }) => userAgent)).toHaveLength(3);
  });

  test('sees one sum of gateways that serve at the same time, behind a pooler too', async () => {
    const own = await create();
    await counted(async (one) => {
      await counted(
        async (other) => {
          await Promise.all([one, one, other].map((url) => ask(url + SYSTEM, own.apiProvision, 'shared')));
        },
        { DATABASE_POOLER: 'transaction' },
      );
    });
    expect(await countsOf(own)).toEqual([[SYSTEM, 'shared', 3, 0, 0]]);
  });

  test('sees a request within seconds, and one whose writing failed when the database takes it again', async () => {
    const own = await create();
    await gateway.database.client.query('ALTER TABLE v2_usage RENAME TO v2_usage_away');
    const said = (): object[] =>
      gateway.logLines
        .map((line) => JSON.parse(line) as { msg: string; requests: number; sqlState: string })
        .filter(({ msg }) => msg.startsWith('counts of v2'));
    try {
      await ask(gateway.url + SYSTEM, own.apiProvision, 'patient');
      await until(() => said().length > 0);
    } finally {
      await gateway.database.client.query('ALTER TABLE v2_usage_away RENAME TO v2_usage');
    }
    expect(said()).toMatchObject([{ msg: 'counts of v2 requests wait for the database', requests: 1, sqlState: '42P01' }]);
    await ask(gateway.url + SYSTEM, own.apiProvision, 'patient');
    await until(async () => (await usageOf(own)).length > 0);
    expect(await countsOf(own)).toEqual([[SYSTEM, 'patient', 2, 0, 0]]);
  });

  test('keeps what others did when an organization is deleted before its counts are written', async () => {
    const [own, gone] = [await create(), await create()];
    await counted(async (url) => {
      for (const { apiProvision } of [own, gone]) await ask(url + SYSTEM, apiProvision, 'late');
      await gateway.services.organizations.delete(gone.name, gone.name);
    });
    expect(await countsOf(own)).toEqual([[SYSTEM, 'late', 1, 0, 0]]);
  });
});

describe('an operator who stops a gateway', () => {
  test('by SIGTERM loses no count', async () => {
    const own = await create();
    const serve = await startServe({ ...environment(), PROVISION_ATTEMPTS: '100000' });
    const asked = Array.from({ length: 200 }, () => ask(serve.url + SYSTEM, own.apiProvision, 'until the end').catch(() => 0));
    await Promise.race(asked);
    const status = await serve.end('SIGTERM');
    const answered = (await Promise.all(asked)).filter((each) => each === 200).length;
    expect([status, answered > 0]).toEqual([0, true]);
    expect(await countsOf(own)).toEqual([[SYSTEM, 'until the end', answered, 0, 0]]);
  });

  test('by SIGKILL loses the counts of the last ten seconds at most', async () => {
    const own = await create();
    const serve = await startServe({ ...environment(), PROVISION_ATTEMPTS: '100000' });
    for (let number = 0; number < 20; number++) expect(await ask(serve.url + SYSTEM, own.apiProvision, 'early')).toBe(200);
    await setTimeout(10_000);
    expect(await ask(serve.url + SYSTEM, own.apiProvision, 'late')).toBe(200);
    await serve.end('SIGKILL');
    expect(await countsOf(own)).toContainEqual([SYSTEM, 'early', 20, 0, 0]);
  });

  test('of two workers loses no count, and has one sum', async () => {
    const workers = await startWorkerGateway(
      { DATABASE_URL: gateway.database.url },
      { given: { ...gateway.database, drop: async () => undefined } },
    );
    const { apiProvision } = workers.organization;
    const statuses = await Promise.all(
      Array.from({ length: 40 }, () => ask(workers.url + SYSTEM, apiProvision, 'both', { Connection: 'close' })),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await workers.stop()).toBe(0);
    expect(await countsOf(workers.organization)).toEqual([[SYSTEM, 'both', 40, 0, 0]]);
  });
});

test('an operator keeps counts for some days, and those of earlier days go', async () => {
  const own = await create();
  await counted((url) => ask(url + SYSTEM, own.apiProvision, 'old'));
  const { client } = gateway.database;
  const age = (days: number) =>
    client.query(`UPDATE v2_usage SET day = (now() AT TIME ZONE 'UTC')::date - $1::int WHERE organization_id = $2`, [days, own.id]);
  const counts = async (): Promise<number> => (await client.query('SELECT FROM v2_usage WHERE organization_id = $1', [own.id])).rowCount!;
  await age(30);
  await counted(async (url) => await ask(url + SYSTEM, own.apiProvision, 'new'), { USAGE_RETENTION_DAYS: '30' });
  expect(await counts()).toBe(2);
  expect(await usageOf(own, '--days', '30')).toHaveLength(1);
  expect(await usageOf(own, '--days', '31')).toHaveLength(2);
  await age(31);
  await counted(() => until(async () => (await counts()) === 0), { USAGE_RETENTION_DAYS: '30' });
});

describe("an operator's program", () => {
  const TOKEN = 'an-operators-token-of-enough-length';

  test('finds the list in GraphQL and the newest use in the metrics', async () => {
    const own = await create();
    const silent = await create();
    await counted((url) => ask(url + SYSTEM, own.apiProvision, 'program'));
    await withGateway({ DATABASE_URL: gateway.database.url, ADMIN_PORT: '0', ADMIN_TOKEN: TOKEN }, async ({ adminUrl }) => {
      const query =
        'query ($organization: String) { usage(organization: $organization, days: 2) { organization provision path userAgent requests errors lines lastUsedAt } }';
      const response = await fetch(`${adminUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ query, variables: { organization: own.name } }),
      });
      const [use] = await usageOf(own);
      expect(await response.json()).toEqual({
        data: {
          usage: [
            {
              ...{ organization: own.name, provision: own.apiProvision.slice(0, 8), path: SYSTEM, userAgent: 'program' },
              ...{ requests: 1, errors: 0, lines: 0, lastUsedAt: use!.lastUsedAt },
            },
          ],
        },
      });
      const lastUse = async ({ id }: TestOrganization) =>
        valueOf(await readScrape(adminUrl), 'gateway_v2_last_use_timestamp_seconds', { organization: `${id}` });
      await until(async () => (await lastUse(own)) !== undefined);
      expect(await lastUse(own)).toBe(Date.parse(use!.lastUsedAt) / 1000);
      expect(await lastUse(silent)).toBeUndefined();
    });
  });
});
