import { ACCESS, askAnew, openCountedStore } from '../support/counted-store';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

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
const store = openCountedStore(gateway);
const { countStatements } = store;
const watched = (settings: Readonly<Record<string, string>>, work: (url: string) => Promise<void>): Promise<void> =>
  store.withReader(settings, ({ url }) => work(url));
const ask = (url: string, query: string, provision = organization.apiProvision) => askAnew(url, query, { provision });

describe('a member who asks for records of a version again', () => {
  test.each([
    ['a page of lines', `depositDetailsConnection(${RANGE}, first: 2) { nodes { allocationId deposit { depositId } donor { lastName } } }`],
    ['lines by amount', `depositDetailsConnection(${RANGE}, last: 3, orderBy: { field: AMOUNT, direction: ASC }) { nodes { amount } }`],
    ['lines with a condition', `depositDetailsConnection(${RANGE}, filter: { amount: { min: "2.00" } }) { totalCount nodes { amount } }`],
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
      // The first answer's transaction ends after its bytes were sent.
      await again();
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
  test.each(['reader', 'member'])('gives nobody more or less than the own rights do, when the %s asks first', async (first) => {
    await watched({}, async (url) => {
      const query = '{ transactions(first: 1) { nodes { amount donor { lastName } } } }';
      const { provisions } = gateway.services;
      const plain = await provisions.create({ organization: organization.name, kind: 'API', label: 'plain', grants: [] });
      const asReader = async () => {
        const { body } = await ask(url, query);
        expect(body).toEqual({ data: { transactions: { nodes: [{ amount: '1.00', donor: { lastName: 'Donor 1' } }] } } });
      };
      const asMember = async () => {
        const { body } = await ask(url, query, plain);
        expect(body.data).toEqual({ transactions: { nodes: [{ amount: '1.00', donor: null }] } });
        expect(new Set(body.errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['PRIVILEGE_NOT_FOUND']));
      };
      for (const next of first === 'reader' ? [asReader, asMember, asReader] : [asMember, asReader, asMember]) await next();
    });
  });

  test('is not given to another organization with the same ids at the same version', async () => {
    await watched({}, async (url) => {
      // Before its first import an organization has the version of all such, 0.
      for (const [status, day] of [
        ['POSTED', '2024-01-01'],
        ['PENDING', '2024-02-02'],
      ]) {
        const { id, apiProvision } = await createOrganization(gateway.services);
        const values = [id, status, day];
        await gateway.database.client.query(
          `INSERT INTO deposit (organization_id, id, status, deposit_date) VALUES ($1, 'D', $2::deposit_status, $3)`,
          values,
        );
        const { body, headers } = await ask(url, '{ deposit(depositId: "D") { depositDate status } }', apiProvision);
        expect([headers.get('x-data-version'), body.data]).toEqual(['0', { deposit: { depositDate: day, status } }]);
      }
    });
  });
});

test('members who ask for the same records at the same time have them read once', async () => {
  await watched({}, async (url) => {
    let isRead = 0;
    const count = (): Promise<void> => {
      isRead++;
      store.proxy.before('FROM "deposit"', count);
      return Promise.resolve();
    };
    store.proxy.before('FROM "deposit"', count);
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

describe('a member who asks for records that another request is about to read', () => {
  const DEPOSITS = '{ deposits(first: 2) { nodes { depositId } } }';
  const deposits = { nodes: [{ depositId: 'D1' }, { depositId: 'D2' }] };

  test('does not wait for the statements before them in the other request', async () => {
    await watched({}, async (url) => {
      const { client } = gateway.database;
      await client.query('BEGIN; LOCK TABLE deposit_line');
      const other = ask(
        url,
        `{ depositDetailsConnection(${RANGE}, first: 1) { nodes { amount } } deposits(first: 2) { nodes { depositId } } }`,
      );
      await until(async () => {
        const { rows } = await client.query(`SELECT FROM pg_locks WHERE relation = 'deposit_line'::regclass AND NOT granted`);
        return rows.length > 0;
      });
      expect((await ask(url, DEPOSITS)).body).toEqual({ data: { deposits } });
      await client.query('ROLLBACK');
      expect((await other).body).toMatchObject({ data: { deposits } });
    });
  });

  test('waits for a statement that hangs no longer than a share of the time that an answer has', async () => {
    await watched({ DATABASE_ANSWER_MILLISECONDS: '30000' }, async (url) => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        store.proxy.before('FROM "deposit"', () => {
          resolve();
          return new Promise((goOn) => (release = goOn));
        });
      });
      const other = ask(url, DEPOSITS);
      await held;
      expect((await ask(url, DEPOSITS)).body).toEqual({ data: { deposits } });
      release();
      expect((await other).body).toEqual({ data: { deposits } });
    });
  });
});
