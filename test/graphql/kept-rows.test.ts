import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { createOrganization, graphql, importLines, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

/** Gifts in deposits of their own, by donors of their own. */
const gift = (number: number, amount = `${number}.00`) =>
  v2Line({
    ...{ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, donor_id: number },
    ...{ donor_last_name: `Donor ${number}`, amount, fee_amount: '0.00', net_amount: amount },
  });
const GIFTS = [1, 2, 3, 4].map((number) => gift(number));
const gateway = openGateway({ countsStatements: true, lines: GIFTS });
const { organization } = gateway;

const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
/** The statements of a request for its access. */
const ACCESS = 1;

let proxy: DatabaseProxy;
beforeAll(async () => {
  proxy = await startDatabaseProxy(gateway.database.url);
});
afterAll(() => proxy.close());

const watched = (settings: Readonly<Record<string, string>>, work: (url: string) => Promise<void>): Promise<void> =>
  withGateway({ DATABASE_URL: proxy.url, ...settings }, ({ url }) => work(url));
const ask = (url: string, query: string, provision = organization.apiProvision) => graphql(url, query, { provision });

async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const before = proxy.statements();
  await work();
  return proxy.statements() - before;
}

describe('a member who asks for records of a version again', () => {
  test.each([
    ['a page of lines', `depositDetailsConnection(${RANGE}, first: 2) { nodes { allocationId deposit { depositId } donor { lastName } } }`],
    [
      'records of records',
      'deposits(first: 3) { totalCount nodes { id transactions(first: 2) { totalCount nodes { donor { id lastName } } } } }',
    ],
    ['a record by its id', 'donor(donorId: 2) { id lastName totals { lines byLine { amount } } }'],
    ['donors by name', 'donors(search: "donor 3") { nodes { donorId } }'],
    ['versions', 'dataVersion { number } dataVersions(first: 5) { totalCount nodes { number lines } }'],
  ])('gets them without a statement for the books: %s', async (_what, fields) => {
    await watched({}, async (url) => {
      const first = await ask(url, `{ ${fields} }`);
      expect(first.body.errors).toBeUndefined();
      const again = async () => expect((await ask(url, `{ ${fields} }`)).body).toEqual(first.body);
      expect(await countStatements(again)).toBe(ACCESS);
    });
  });

  test('gets a page backwards as often as it is asked for, and each time in the same order', async () => {
    await watched({}, async (url) => {
      const lists = [`depositDetailsConnection(${RANGE}, last: 3)`, 'deposits(last: 3)', 'dataVersions(last: 1)'];
      const query = `{ ${lists.map((list, index) => `list${index}: ${list} { edges { cursor } pageInfo { hasPreviousPage } }`).join(' ')} }`;
      const { body } = await ask(url, query);
      expect(body.errors).toBeUndefined();
      for (let time = 0; time < 2; time++) expect((await ask(url, query)).body).toEqual(body);
    });
  });

  test('gets those of other values by the same operation', async () => {
    await watched({}, async (url) => {
      for (const donorId of [1, 2, 3, 1]) {
        const { body } = await ask(url, `{ donor(donorId: ${donorId}) { lastName totals { byLine { amount } } } }`);
        expect(body.data).toEqual({ donor: { lastName: `Donor ${donorId}`, totals: { byLine: { amount: `${donorId}.00` } } } });
      }
    });
  });

  test('gets new ones as soon as the books have changed', async () => {
    await watched({}, async (url) => {
      const own = await createOrganization(gateway.services);
      const query = '{ transactions { nodes { transactionId amount donor { lastName } } } }';
      for (const amount of ['1.00', '2.00', '3.00']) {
        await importLines(gateway.services, own, [gift(1, amount)]);
        for (let time = 0; time < 2; time++) {
          expect((await ask(url, query, own.apiProvision)).body.data).toEqual({
            transactions: { nodes: [{ transactionId: 'T1', amount, donor: { lastName: 'Donor 1' } }] },
          });
        }
      }
    });
  });

  test('reads them again where nothing is kept', async () => {
    await watched({ BOOK_MEMORY_MEGABYTES: '0' }, async (url) => {
      for (let time = 0; time < 3; time++) expect(await countStatements(() => ask(url, '{ deposits { nodes { id } } }'))).toBe(ACCESS + 1);
    });
  });

  test('reads the oldest again where more was asked for than there is room for', async () => {
    await watched({ BOOK_MEMORY_MEGABYTES: '1' }, async (url) => {
      const page = (day: number): string => {
        const startDate = new Date(Date.UTC(2020, 0, day)).toISOString().slice(0, 10);
        return `{ depositDetailsConnection(startDate: "${startDate}", endDate: "2024-12-31") { nodes { ${MANY_FIELDS} } } }`;
      };
      const fewest = await countStatements(() => ask(url, page(1)));
      expect(fewest).toBe(ACCESS + 1);
      expect(await countStatements(() => ask(url, page(1)))).toBe(ACCESS);
      for (let day = 2; day <= 200; day++) await ask(url, page(day));
      expect(await countStatements(() => ask(url, page(200)))).toBe(ACCESS);
      expect(await countStatements(() => ask(url, page(1)))).toBe(ACCESS + 1);
    });
  });
});

const MANY_FIELDS =
  'allocationId amount depositDate depositId designation designationMemo donorFirstName donorLastName emailAddress feeAmount mainMemo netAmount paymentType phone state status transactionDate transactionId zip';

describe('what was read for one caller', () => {
  test('gives nobody more than the own rights do', async () => {
    await watched({}, async (url) => {
      const query =
        '{ deposits(first: 1) { nodes { transactions { nodes { amount donor { lastName } } } } } donors { nodes { lastName } } }';
      const { provisions } = gateway.services;
      const plain = await provisions.create({ organization: organization.name, kind: 'API', label: 'plain', grants: [] });
      expect(JSON.stringify((await ask(url, query)).body)).toContain('Donor 1');
      const { body } = await ask(url, query, plain);
      expect(JSON.stringify(body)).not.toContain('Donor');
      expect(body.errors?.map(({ extensions }) => extensions.code)).toEqual(['PRIVILEGE_NOT_FOUND', 'PRIVILEGE_NOT_FOUND']);
    });
  });

  test('is not given to another organization with the same ids at the same version', async () => {
    await watched({}, async (url) => {
      const [one, other] = [await createOrganization(gateway.services), await createOrganization(gateway.services)];
      await importLines(gateway.services, one, [gift(1, '1.00')]);
      await importLines(gateway.services, other, [gift(1, '2.00')]);
      const query = '{ transaction(transactionId: "T1") { amount } deposits { nodes { transactions { nodes { amount } } } } }';
      for (const [{ apiProvision }, amount] of [
        [one, '1.00'],
        [other, '2.00'],
        [one, '1.00'],
      ] as const) {
        expect((await ask(url, query, apiProvision)).body.data).toEqual({
          transaction: { amount },
          deposits: { nodes: [{ transactions: { nodes: [{ amount }] } }] },
        });
      }
    });
  });
});

test('members who ask for the same records at the same time have them read once', async () => {
  await watched({}, async (url) => {
    let isRead = 0;
    const count = (): Promise<void> => {
      isRead++;
      proxy.before('FROM "deposit"', count);
      return Promise.resolve();
    };
    proxy.before('FROM "deposit"', count);
    const { client } = gateway.database;
    await client.query('BEGIN; LOCK TABLE deposit');
    const asking = Array.from({ length: 20 }, () => ask(url, '{ deposits(first: 2) { nodes { depositId } } }'));
    // Requests that come later and read no deposits have been answered: all earlier ones wait.
    await Promise.all(Array.from({ length: 20 }, () => ask(url, '{ __typename }')));
    await client.query('ROLLBACK');
    for (const { body } of await Promise.all(asking))
      expect(body).toEqual({ data: { deposits: { nodes: [{ depositId: 'D1' }, { depositId: 'D2' }] } } });
    expect(isRead).toBe(1);
  });
});
