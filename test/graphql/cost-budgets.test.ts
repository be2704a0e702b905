import { databaseSettings, rolesOf } from '../support/database';
import { startDatabaseProxy } from '../support/database-proxy';
import { createOrganization, importLines, startGateway, v2Line, withGateway } from '../support/gateway';
import { createApp } from '../../src/app';
import { readConfig } from '../../src/config';
import { pino } from 'pino';

/** Costs 5: the connection, and two nodes with their names. */
const QUERY = '{ designations(first: 2) { nodes { name } } }';
const COST = 5;
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';

interface Asking {
  readonly query?: string;
  readonly provision: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(url: string, { query = QUERY, provision, headers }: Asking) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: provision, ...headers },
    body: JSON.stringify({ query }),
  });
  const left = /^"cost";r=(\d+);t=(\d+)$/
    .exec(response.headers.get('ratelimit') ?? '')
    ?.slice(1)
    .map(Number);
  const text = await response.text();
  return { status: response.status, headers: response.headers, remaining: left?.[0], reset: left?.[1], text };
}

describe('the cost of an operation', () => {
  test('is in the answer when it is asked for, beside lines that are streamed and beside errors too', async () => {
    await withGateway({}, async ({ url, services }) => {
      const organization = await createOrganization(services);
      await importLines(services, organization, [v2Line()]);
      const provision = organization.apiProvision;
      const asked = { provision, headers: { 'X-GraphQL-Cost': 'yes' } };
      const cost = (requested: number) => ({ extensions: { cost: { requested, limit: 250_000 } } });
      const read = async (query: string) => JSON.parse((await send(url, { ...asked, query })).text) as object;
      expect(await read(QUERY)).toEqual({ data: { designations: { nodes: [{ name: 'General Fund' }] } }, ...cost(COST) });
      expect(await read(`{ depositDetails(${RANGE}) { amount } }`)).toEqual({
        data: { depositDetails: [{ amount: '10.50' }] },
        ...cost(1),
      });
      expect(await read('{ deposits(first: 0) { totalCount } }')).toMatchObject({ data: { deposits: null }, ...cost(2) });
      const many = await read('{ deposits(first: 500) { nodes { transactions(first: 500) { nodes { id } } } } }');
      expect(many).toMatchObject({ errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }], ...cost(501_001) });
      // An answer that is written with pauses.
      expect(await read('{ designations(first: 1000) { nodes { id name } } }')).toMatchObject({ ...cost(3001) });
      expect((await send(url, { provision })).text).toBe('{"data":{"designations":{"nodes":[{"name":"General Fund"}]}}}\n');
    });
  });
});

describe('without a budget', () => {
  test('answers tell of none', async () => {
    await withGateway({}, async ({ url, database, services }) => {
      const { apiProvision: provision } = await createOrganization(services);
      const { status, headers } = await send(url, { provision });
      expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([200, null, null]);
      expect((await database.client.query('SELECT FROM spent_cost')).rowCount).toBe(0);
    });
  });
});

describe('a provision with a budget', () => {
  test('is told what is left of it, and is refused when it is used up, until the minute is over', async () => {
    await withGateway({ COST_PER_MINUTE: '12' }, async ({ url, database, services, logLines }) => {
      const [one, other] = [await createOrganization(services), await createOrganization(services)];
      const first = await send(url, { provision: one.apiProvision });
      expect([first.status, first.headers.get('ratelimit-policy'), first.remaining]).toEqual([200, '"cost";q=12;w=60;qu="values"', 7]);
      expect(first.reset).toBeGreaterThan(0);
      expect(first.reset).toBeLessThanOrEqual(60);
      expect((await send(url, { provision: one.apiProvision })).remaining).toBe(2);

      const refused = await send(url, { provision: one.apiProvision });
      expect([refused.status, refused.remaining]).toEqual([429, 2]);
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait).toBe(refused.reset);
      expect(wait).toBeGreaterThan(0);
      expect(JSON.parse(refused.text)).toMatchObject({
        errors: [
          {
            message: 'The budget of this minute is used up: the operation costs 5 values, and 2 of 12 are left',
            extensions: { code: 'BUDGET_EXCEEDED' },
          },
        ],
      });
      // What is left is still there for a cheaper operation, mutations cost nothing, and others have a budget of their own.
      expect(await send(url, { query: '{ __typename }', provision: one.apiProvision })).toMatchObject({ status: 200, remaining: 1 });
      const mutation = 'mutation { logout { __typename } }';
      expect(await send(url, { query: mutation, provision: one.apiProvision })).toMatchObject({ status: 200, remaining: undefined });
      // A stranger gets nothing from a public provision, and takes nothing from its users.
      expect(await send(url, { provision: one.webProvision, query: '{ __typename }' })).toMatchObject({
        status: 200,
        remaining: undefined,
      });
      expect(await send(url, { provision: other.apiProvision })).toMatchObject({ status: 200, remaining: 7 });

      // The minute is over.
      await database.client.query('UPDATE spent_cost SET expire = expire - 60000');
      expect(await send(url, { provision: one.apiProvision })).toMatchObject({ status: 200, remaining: 7 });
      const kept = JSON.stringify((await database.client.query('SELECT key FROM spent_cost')).rows) + logLines.join('');
      for (const provision of [one.apiProvision, one.webProvision, other.apiProvision]) expect(kept).not.toContain(provision);
    });
  });

  test('is told that an operation costs more than a minute has, with no time to come back', async () => {
    await withGateway({ COST_PER_MINUTE: '4' }, async ({ url, services }) => {
      const { apiProvision: provision } = await createOrganization(services);
      const { status, headers, text, remaining } = await send(url, { provision });
      expect([status, headers.get('retry-after'), remaining]).toEqual([429, null, 4]);
      expect(text).toContain('the operation costs 5 values, and a minute has 4');
    });
  });

  test('pays once for an operation that runs again because the books have changed', async () => {
    await withGateway({}, async ({ database, services }) => {
      const organization = await createOrganization(services);
      await importLines(services, organization, [v2Line()]);
      const proxy = await startDatabaseProxy(database.url);
      try {
        await withGateway({ DATABASE_URL: proxy.url, COST_PER_MINUTE: '100', BOOK_MEMORY_MEGABYTES: '0' }, async ({ url }) => {
          const asked = { query: '{ deposits(first: 5) { nodes { depositDate } totalCount } }', provision: organization.apiProvision };
          const calm = await send(url, asked);
          const changed = new Promise<void>((resolve) => {
            proxy.before('count(*)::float8', async () => {
              await importLines(services, organization, [v2Line({ transaction_id: 'P11', allocation_id: 'P110' })]);
              resolve();
            });
          });
          const moved = await send(url, asked);
          await changed;
          expect([calm.headers.get('x-data-version'), moved.headers.get('x-data-version')]).toEqual(['1', '2']);
          expect(calm.remaining! - moved.remaining!).toBe(100 - calm.remaining!);
        });
      } finally {
        await proxy.close();
      }
    });
  });

  test('has the same budget in every process', async () => {
    const gateway = await startGateway({ COST_PER_MINUTE: '23' });
    const config = readConfig({
      ...databaseSettings(),
      PORT: '0',
      DATABASE_URL: gateway.database.url,
      COST_PER_MINUTE: '23',
      DRAIN_MILLISECONDS: '0',
    });
    const second = await createApp(config, rolesOf(gateway.database.url), pino({ level: 'silent' }));
    try {
      const { port } = await second.listen();
      const { apiProvision: provision } = await createOrganization(gateway.services);
      const urls = [gateway.url, `http://127.0.0.1:${port}`];
      const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => send(urls[n % 2]!, { provision })));
      // The budget pays for four of them, whichever come first.
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(4).fill(200), ...Array<number>(8).fill(429)]);
      expect(await send(urls[0]!, { provision, query: '{ __typename }' })).toMatchObject({ remaining: 2 });
      expect(await send(urls[1]!, { provision, query: '{ __typename }' })).toMatchObject({ remaining: 1 });
    } finally {
      await second.stop(0);
      await gateway.stop();
    }
  });

  test('has no more than a budget in a minute that begins while an operation is refused', async () => {
    const store = await startGateway();
    const proxy = await startDatabaseProxy(store.database.url);
    try {
      await withGateway({ DATABASE_URL: proxy.url, COST_PER_MINUTE: '12' }, async ({ url }) => {
        const { apiProvision: provision } = await createOrganization(store.services);
        for (const remaining of [7, 2]) expect(await send(url, { provision })).toMatchObject({ remaining });
        const endMinute = async () => void (await store.database.client.query('UPDATE spent_cost SET expire = expire - 60000'));
        // The second statement of the next operation comes when the minute is over.
        proxy.before('spent_cost', () => {
          proxy.before('spent_cost', endMinute);
          return Promise.resolve();
        });
        const statuses = [];
        for (let count = 0; count < 5; count++) statuses.push((await send(url, { provision })).status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(2);
      });
    } finally {
      await proxy.close();
      await store.stop();
    }
  });

  test('is refused without a fault where another process has spent more than this one gives', async () => {
    await withGateway({ COST_PER_MINUTE: '50' }, async ({ url, database, services }) => {
      const { apiProvision: provision } = await createOrganization(services);
      for (let count = 0; count < 4; count++) expect(await send(url, { provision })).toMatchObject({ status: 200 });
      await withGateway({ COST_PER_MINUTE: '12', DATABASE_URL: database.url }, async (smaller) => {
        const { status, remaining, text } = await send(smaller.url, { provision });
        expect([status, remaining]).toEqual([429, 0]);
        expect(text).toContain('and 0 of 12 are left');
      });
      expect(await send(url, { provision })).toMatchObject({ status: 200, remaining: 25 });
    });
  });

  test('keeps a budget in memory while its counter cannot be reached', async () => {
    await withGateway({ COST_PER_MINUTE: '8' }, async ({ url, database, services }) => {
      const { apiProvision: provision } = await createOrganization(services);
      await database.client.query('DROP TABLE spent_cost');
      expect(await send(url, { provision })).toMatchObject({ status: 200, remaining: 3 });
      expect(await send(url, { provision })).toMatchObject({ status: 429, remaining: 3 });
    });
  });
});
