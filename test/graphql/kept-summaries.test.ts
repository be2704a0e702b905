import { ACCESS, askAnew, openCountedStore } from '../support/counted-store';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

/** A gift of 1.00 by a donor of its own. */
const gift = (number: number) =>
  v2Line({
    ...{ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, donor_id: number },
    ...{ amount: '1.00', fee_amount: '0.00', net_amount: '1.00' },
  });
const gateway = openGateway({ countsStatements: true, lines: [gift(1), gift(2)], loggedIn: true });
const { organization } = gateway;

const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const SUMMARY = `{ depositSummary(${RANGE}, groupBy: [DESIGNATION]) { all { lines byTransaction { amount } } groups(first: 1000) { nodes { all { lines } } } digest } }`;
const PAGE = `{ depositDetailsConnection(${RANGE}, first: 1) { nodes { amount } totalCount summary(groupBy: [MONTH]) { groups(first: 1000) { nodes { all { lines } } } } } }`;
const store = openCountedStore(gateway);
const { countStatements } = store;
const watched = (settings: Readonly<Record<string, string>>, work: (url: string) => Promise<void>): Promise<void> =>
  store.withReader(settings, ({ url }) => work(url));
const member = () => ({ provision: organization.apiProvision });

describe('a member who asks for the totals of a version again', () => {
  test('gets them without their lines being read: totals, groups, digest and count', async () => {
    await watched({}, async (url) => {
      for (const [query, rows] of [
        [SUMMARY, 0],
        // The lines of the page are read again.
        [PAGE, 1],
      ] as const) {
        const first = await askAnew(url, query, member());
        expect(first.body.errors).toBeUndefined();
        const again = async () => expect((await askAnew(url, query, member())).body).toEqual(first.body);
        // The first answer's transaction ends after its bytes were sent.
        await again();
        expect(await countStatements(again)).toBe(ACCESS + rows);
      }
    });
  });

  test('gets counts of deposits and donors that were not asked for before', async () => {
    const ask = async (url: string, figures: string) => {
      const parts = `all { ${figures} } groups(first: 1000) { nodes { pending: all { ${figures} } } }`;
      const query = `{ depositSummary(${RANGE}, pending: WITH, groupBy: [MONTH]) { ${parts} } }`;
      const { body } = await askAnew(url, query, member());
      return body.data?.depositSummary;
    };
    await watched({}, async (url) => {
      for (const figures of [{ lines: 2 }, { deposits: 2 }, { donors: 2 }, { deposits: 2, donors: 2 }]) {
        const expected = { all: figures, groups: { nodes: [{ pending: figures }] } };
        expect(await ask(url, Object.keys(figures).join(' '))).toEqual(expected);
      }
    });
  });

  test('gets new ones as soon as the books have changed', async () => {
    await watched({}, async (url) => {
      const own = await createOrganization(gateway.services);
      await importLines(gateway.services, own, [gift(1), gift(2)]);
      await askAnew(url, SUMMARY, { provision: own.apiProvision });
      await importLines(gateway.services, own, [gift(3)]);
      const { body } = await askAnew(url, SUMMARY, { provision: own.apiProvision });
      expect(body.data).toMatchObject({
        depositSummary: { all: { lines: 3, byTransaction: { amount: '3.00' } }, groups: { nodes: [{ all: { lines: 3 } }] } },
      });
    });
  });

  test('reads them again where nothing is kept', async () => {
    await watched({ BOOK_MEMORY_MEGABYTES: '0' }, async (url) => {
      const ask = () => askAnew(url, SUMMARY, member());
      for (let time = 0; time < 3; time++) expect(await countStatements(ask)).toBeGreaterThan(ACCESS + 2);
    });
  });

  test('is not given the number of donors that a member with the privilege was given', async () => {
    await watched({}, async (url) => {
      const query = `{ depositSummary(${RANGE}) { all { donors } } }`;
      const { provisions } = gateway.services;
      const plain = await provisions.create({ organization: organization.name, kind: 'API', label: 'plain', grants: [] });
      expect((await askAnew(url, query, member())).body.data).toMatchObject({ depositSummary: { all: { donors: 2 } } });
      expect((await askAnew(url, query, { provision: plain })).body).toMatchObject({
        data: { depositSummary: { all: { donors: null } } },
        errors: [{ extensions: { code: 'PRIVILEGE_NOT_FOUND' } }],
      });
      const file = (provision: string) =>
        fetch(`${url}/export/deposit-summary.csv?start_date=2024-01-01&end_date=2024-12-31&columns=donors`, {
          headers: { Provision: provision },
        }).then((answer) => answer.text());
      expect(await file(organization.apiProvision)).toContain('2');
      expect(await file(plain)).not.toContain('2');
    });
  });
});

describe('members who ask for the same totals at the same time', () => {
  const COUNT = 20;
  const askAll = (url: string) => Promise.all(Array.from({ length: COUNT }, () => askAnew(url, SUMMARY, member())));

  async function isLocked(): Promise<boolean> {
    const { rows } = await gateway.database.client.query(`SELECT FROM pg_locks WHERE relation = 'deposit_line'::regclass AND NOT granted`);
    return rows.length > 0;
  }

  /** Requests that come later and read no lines have been answered: all earlier ones have been authorized, and wait. */
  const untilAllWait = (url: string) => Promise.all(Array.from({ length: COUNT }, () => askAnew(url, '{ __typename }', member())));

  test('have them computed once', async () => {
    await watched({}, async (url) => {
      const { client } = gateway.database;
      let computed = 0;
      const count = (): Promise<void> => {
        computed++;
        store.proxy.before('line_of_transaction', count);
        return Promise.resolve();
      };
      store.proxy.before('line_of_transaction', count);
      // The lines are locked until all requests wait, so that none comes when the totals are kept already.
      await client.query('BEGIN; LOCK TABLE deposit_line');
      const asking = askAll(url);
      await until(isLocked);
      await untilAllWait(url);
      await client.query('ROLLBACK');
      const answers = await asking;
      expect(answers.map(({ body }) => body.errors)).toEqual(answers.map(() => undefined));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      // One statement for the totals, and one for the groups.
      expect(computed).toBe(2);
    });
  });

  test('get them when the one who asked first has left', async () => {
    await watched({}, async (url) => {
      const { client } = gateway.database;
      const reader = new AbortController();
      await client.query('BEGIN; LOCK TABLE deposit_line');
      const first = askAnew(url, SUMMARY, { ...member(), signal: reader.signal });
      await until(isLocked);
      const others = askAll(url);
      await untilAllWait(url);
      reader.abort();
      await expect(first).rejects.toThrow('aborted');
      await client.query('ROLLBACK');
      for (const { body } of await others) expect(body).toMatchObject({ data: { depositSummary: { all: { lines: 2 } } } });
    });
  });

  test('do not wait for each other where one holds the lane that the other needs', async () => {
    await watched({ REPORT_CONCURRENCY: '1' }, async (url) => {
      const { client } = gateway.database;
      await client.query('BEGIN; LOCK TABLE deposit_line');
      const before = store.proxy.statements();
      // The page in this order takes the lane, and then wants the totals that the other request has begun to compute.
      const holder = askAnew(
        url,
        `{ depositDetailsConnection(${RANGE}, orderBy: { field: AMOUNT, direction: ASC }, first: 1) { nodes { amount } summary { all { lines } } } }`,
        member(),
      );
      await until(isLocked);
      const held = store.proxy.statements() - before;
      const other = askAnew(url, `{ depositSummary(${RANGE}) { all { lines } } }`, member());
      await until(() => Promise.resolve(store.proxy.statements() - before > held));
      await client.query('ROLLBACK');
      expect((await holder).body).toMatchObject({ data: { depositDetailsConnection: { summary: { all: { lines: 2 } } } } });
      expect((await other).body).toEqual({ data: { depositSummary: { all: { lines: 2 } } } });
    });
  });
});
