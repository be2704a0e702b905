import { createOrganization, graphql, IMPORTED_FILE, importLines, v2Line, withGateway } from '../support/gateway';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway({ countsStatements: true, loggedIn: true });
const { organization } = gateway;
const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-01&end_date=2024-12-31';

/** Two states of the same books, in which every record differs. Imports make them the current ones in turn. */
const STATES = [
  { day: '2024-02-01', amount: '10.00', name: 'Ada' },
  { day: '2024-03-01', amount: '20.00', name: 'Grace' },
].map(({ day, amount, name }) =>
  [1, 2, 3].map((n) =>
    v2Line({
      ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, donor_id: n, deposit_date: day, donor_first_name: name },
      ...{ amount, fee_amount: '0.00', net_amount: amount, designation: `Fund of ${name}` },
    }),
  ),
);
let version = 0;
/** Makes the other state the current one, as the next data version. */
async function turn(): Promise<void> {
  await importLines(gateway.services, organization, STATES[version % 2]!);
  version++;
}

describe('an answer', () => {
  beforeAll(turn);

  test('names the version of the books that it is of, on every door', async () => {
    const headers = { Provision: organization.apiProvision };
    const get = (path: string) => fetch(gateway.url + path, { headers });
    const file = await get(`/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31`);
    const answers = [
      file,
      await get('/api/v2/authenticated_test_system'),
      await get(REPORT),
      await get(`/export/deposit-summary.json?start_date=2024-01-01&end_date=2024-12-31&totals=skip`),
      await get(`/export/receipts/${file.headers.get('x-export-id')}`),
    ];
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    const queries = [
      ...['{ authenticatedTestSystem { message } }', `{ depositDetails(${RANGE}) { amount } }`, '{ deposits { totalCount } }'],
      `{ depositSummary(${RANGE}) { all { lines } } }`,
    ];
    const versions = answers.map((answer) => answer.headers.get('x-data-version'));
    for (const query of queries)
      versions.push((await graphql(gateway.url, query, { provision: organization.apiProvision })).headers.get('x-data-version'));
    expect(versions).toEqual(versions.map(() => `${version}`));
  });

  test('keeps the version in the receipt of a file', async () => {
    const headers = { Provision: organization.apiProvision };
    const file = await fetch(`${gateway.url}/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31`, { headers });
    await file.arrayBuffer();
    const address = `${gateway.url}/export/receipts/${file.headers.get('x-export-id')}`;
    let receipt: { readonly outcome?: string | null } = {};
    // The end of a file is noted after its last byte.
    await until(async () => Boolean((receipt = (await (await fetch(address, { headers })).json()) as typeof receipt).outcome));
    expect(receipt).toMatchObject({ outcome: 'whole', dataVersion: version });
  });

  test('is of no version for a caller without an organization, and of version 0 before the first import', async () => {
    expect((await fetch(gateway.url + REPORT)).headers.get('x-data-version')).toBeNull();
    const empty = await createOrganization(gateway.services);
    const { headers, body } = await graphql(gateway.url, '{ dataVersion { number } deposits { totalCount } dataVersions { totalCount } }', {
      provision: empty.apiProvision,
    });
    expect([headers.get('x-data-version'), body]).toEqual([
      '0',
      { data: { dataVersion: null, deposits: { totalCount: 0 }, dataVersions: { totalCount: 0 } } },
    ]);
  });
});

test('the versions are listed in either order, and from one number to another', async () => {
  const own = await createOrganization(gateway.services);
  for (const n of [1, 2, 3, 4])
    await importLines(gateway.services, own, [v2Line({ amount: `${n}.00`, net_amount: `${n}.00`, fee_amount: '0.00' })]);
  const list = async (parameters: string) => {
    const query = `{ dataVersions(${parameters}) { totalCount nodes { number } pageInfo { endCursor hasNextPage } } }`;
    const { dataVersions } = (await graphql(gateway.url, query, { provision: own.apiProvision })).body.data!;
    const { totalCount, nodes, pageInfo } = dataVersions as {
      totalCount: number;
      nodes: { number: number }[];
      pageInfo: { endCursor: string; hasNextPage: boolean };
    };
    return { totalCount, numbers: nodes.map(({ number }) => number), ...pageInfo };
  };
  const oldestFirst = 'orderBy: { field: NUMBER }';
  expect(await list('first: 9')).toMatchObject({ totalCount: 4, numbers: [4, 3, 2, 1] });
  expect(await list(`${oldestFirst}, filter: { fromNumber: 2 }`)).toMatchObject({ totalCount: 3, numbers: [2, 3, 4] });
  expect(await list('filter: { fromNumber: 2, toNumber: 3 }')).toMatchObject({ totalCount: 2, numbers: [3, 2] });
  expect(await list('filter: { fromNumber: 5 }')).toMatchObject({ totalCount: 0, numbers: [] });
  const page = await list(`${oldestFirst}, filter: { toNumber: 3 }, first: 2`);
  expect(page).toMatchObject({ totalCount: 3, numbers: [1, 2], hasNextPage: true });
  const next = await list(`${oldestFirst}, filter: { toNumber: 3 }, first: 2, after: "${page.endCursor}"`);
  expect(next).toMatchObject({ numbers: [3], hasNextPage: false });
  expect(
    (await graphql(gateway.url, `{ dataVersions(first: 2, after: "${page.endCursor}") { totalCount } }`, { provision: own.apiProvision }))
      .body.errors,
  ).toMatchObject([{ message: 'after is not a cursor of this query' }]);
});

describe('an operation whose statements meet a change of the books', () => {
  let proxy: DatabaseProxy;
  beforeAll(async () => {
    proxy = await startDatabaseProxy(gateway.database.url);
  });
  afterAll(() => proxy.close());

  /** The beginning of the transaction that long readings use. */
  const OPENING = 'BEGIN ISOLATION LEVEL';
  const DEPOSITS =
    'deposits(first: 5) { totalCount nodes { depositDate transactions(first: 5) { nodes { amount donor { firstName } } } } }';
  const PAGE = `depositDetailsConnection(${RANGE}, first: 2) { nodes { depositDate amount } }`;
  const COUNTED = `depositDetailsConnection(${RANGE}, first: 2) { nodes { amount } totalCount summary { all { byLine { amount } } digest } }`;
  const LINES = `depositDetails(${RANGE}) { amount depositDate donorFirstName }`;
  const KEPT = `depositSummary(${RANGE}) { all { byLine { amount } } }`;
  const DIGEST = `depositSummary(${RANGE}) { digest all { byLine { amount } } }`;

  test.each([
    ['records of records', DEPOSITS, 'FROM "transaction"'],
    ['a list and its count', 'deposits(first: 5) { nodes { depositDate } totalCount }', 'count(*)'],
    ['two lists', `${PAGE} designations { nodes { name } }`, 'FROM "designation"'],
    ['a page, its count, totals and digest', COUNTED, 'BEGIN'],
    ['totals that are kept and a page', `${KEPT} ${PAGE.replace('first: 2', 'first: 99')}`, 'LEFT JOIN (SELECT true AS "isRow"'],
    ['a page and the streamed lines', `${PAGE} ${LINES}`, 'BEGIN'],
    ['records and the streamed lines', `${LINES} donor(donorId: 1) { firstName }`, 'BEGIN'],
    ['records, totals and the streamed lines', `${LINES} ${DIGEST} ${DEPOSITS}`, 'FROM "transaction"'],
    ['the version and records', `dataVersion { number amount } ${DEPOSITS}`, 'FROM "transaction"'],
  ])('is answered from one version: %s', async (_what, fields, text) => {
    await withGateway({ DATABASE_URL: proxy.url }, async (watched) => {
      const ask = async (asked = fields) => {
        const { body, headers } = await graphql(watched.url, `{ ${asked} }`, { provision: organization.apiProvision });
        return { version: Number(headers.get('x-data-version')), body };
      };
      const calm = [await ask()];
      await turn();
      calm.push(await ask());
      expect(calm.map((answer) => answer.version)).toEqual([version - 1, version]);
      expect(calm[0]!.body).not.toEqual(calm[1]!.body);
      const hasKept = fields.includes(KEPT);
      // The same state again, as a version of which nothing is kept yet.
      if (!hasKept) await turn().then(turn);
      const changed = new Promise<void>((resolve) =>
        proxy.before(text, async () => {
          await turn();
          resolve();
        }),
      );
      // The totals are kept. A page of another length is not, and has the same lines.
      const answer = await ask(hasKept ? fields.replace('first: 99', 'first: 98') : fields);
      await changed;
      const state = answer.body.data!.dataVersion
        ? { ...calm[0]!.body.data, dataVersion: answer.body.data!.dataVersion }
        : calm[0]!.body.data;
      expect(answer).toEqual({ version, body: { data: state } });
    });
  });

  test('is not read again for a caller who has left before it runs again', async () => {
    await withGateway({ DATABASE_URL: proxy.url }, async (watched) => {
      const options = { provision: organization.apiProvision };
      const caller = new AbortController();
      let isReadAgain = false;
      const left = new Promise<void>((resolve) =>
        proxy.before(OPENING, async () => {
          await turn();
          // The first run ends here, and the second one has not begun.
          proxy.before('COMMIT', async () => {
            caller.abort();
            await until(async () => watched.logLines.some((line) => line.includes('request broken off')));
            proxy.before(OPENING, async () => void (isReadAgain = true));
            resolve();
          });
        }),
      );
      await expect(graphql(watched.url, `{ ${PAGE} ${LINES} }`, { ...options, signal: caller.signal })).rejects.toThrow('aborted');
      await left;
      for (let n = 0; n < 10; n++) expect((await graphql(watched.url, `{ ${DEPOSITS} }`, options)).body.errors).toBeUndefined();
      expect(isReadAgain).toBe(false);
    });
  });

  test('costs no statement of its own when nothing changes', async () => {
    await withGateway({ DATABASE_URL: proxy.url, BOOK_MEMORY_MEGABYTES: '0' }, async (watched) => {
      const ask = () => graphql(watched.url, `{ ${DEPOSITS} }`, { provision: organization.apiProvision });
      await ask();
      const before = proxy.statements();
      await ask();
      // Statements: access, deposits, their count, transactions, donors.
      expect(proxy.statements() - before).toBe(5);
    });
  });

  test('names its version truly while versions follow each other without a pause', async () => {
    const writing = { on: true };
    const writer = (async () => {
      while (writing.on) await turn();
    })();
    const expected = ['Ada', 'Grace'];
    try {
      const readers = Array.from({ length: 20 }, async () => {
        for (let round = 0; round < 10; round++) {
          const { body, headers } = await graphql(gateway.url, `{ ${LINES} ${DEPOSITS} ${PAGE} }`, {
            provision: organization.apiProvision,
          });
          const names = new Set(JSON.stringify(body).match(/Ada|Grace/g));
          const days = new Set(JSON.stringify(body).match(/2024-0[23]-01/g));
          const state = (Number(headers.get('x-data-version')) - 1) % 2;
          expect([[...names], [...days]]).toEqual([[expected[state]], [`2024-0${state + 2}-01`]]);
        }
      });
      await Promise.all(readers);
    } finally {
      writing.on = false;
      await writer;
    }
  });
});

test('a member lists the versions, the newest first, and a stranger does not', async () => {
  const QUERY =
    '{ dataVersions(first: 1) { totalCount nodes { number cause fileName linesAdded linesChanged linesRemoved lines transactions amount feeAmount } } }';
  const { body } = await graphql(gateway.url, QUERY, { provision: organization.webProvision, cookie: gateway.cookie });
  const amount = version % 2 === 1 ? '30.00' : '60.00';
  expect(body.data!.dataVersions).toEqual({
    totalCount: version,
    nodes: [
      {
        ...{ number: version, cause: 'IMPORT', fileName: IMPORTED_FILE.name, linesAdded: 0, linesChanged: 3, linesRemoved: 0 },
        ...{ lines: 3, transactions: 3, amount, feeAmount: '0.00' },
      },
    ],
  });
  const refused = await graphql(gateway.url, QUERY, { provision: organization.webProvision });
  expect([refused.body.errors?.map(({ extensions }) => extensions.code), refused.headers.get('x-data-version')]).toEqual([
    ['NOT_LOGGED_IN'],
    null,
  ]);
});
