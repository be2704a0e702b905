import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { readAudit } from '../support/audit-reader';
import { startDatabaseProxy } from '../support/database-proxy';
import { depositBook } from '../support/deposit-book';
import { graphql, importLines, startGateway, v2Line, withGateway, type TestGateway } from '../support/gateway';
import { testOnOneNode } from '../support/limited-tests';
import { openGateway } from '../support/open-gateway';
import { tries } from '../support/tries';
import { until } from '../support/until';

/** The texts of a hostile caller, and those of honest people that hold the same characters. */
const HOSTILE = [
  `'`,
  `''`,
  `\\`,
  `\\'`,
  `'::text) TO STDOUT; DROP TABLE deposit_line; --`,
  `$$`,
  `E'\\''`,
  `"`,
  `{`,
  `}`,
  `,`,
  `O'Brien`,
  `\u02bc`,
];

const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ maxLength: 20 }).map((any) => any.replaceAll('\0', '')),
  fc.array(fc.constantFrom(...HOSTILE, 'a'), { maxLength: 6 }).map((parts) => parts.join('')),
);
const texts = fc.array(text, { minLength: 1, maxLength: 4 });
const numbers = fc.array(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), { minLength: 1, maxLength: 3 });
const amount = fc.record({ min: fc.constantFrom('-100.00', '0.00'), max: fc.constantFrom('0.01', '99999.99') });
const date = fc.record({ from: fc.constantFrom('0001-01-01', '2024-01-05'), to: fc.constantFrom('2024-02-01', '9999-12-31') });
const filter = fc.record(
  {
    ...{ accountTypes: texts, depositIds: texts, statuses: texts, paymentTypes: texts, transactionIds: texts, donorName: text },
    ...{ donorIds: numbers, designationIds: numbers, amount, transactionDate: date },
  },
  { requiredKeys: [] },
);

const names = HOSTILE.map((name, n) =>
  v2Line({
    ...{
      deposit_id: `H${n}`,
      transaction_id: `H${n}`,
      allocation_id: `H${n}`,
      donor_id: 100 + n,
      donor_first_name: name,
      donor_last_name: 'Last',
    },
    status: name,
  }),
);
const store = openGateway({ lines: depositBook(30) });
let constant: TestGateway;

beforeAll(async () => {
  // The statements for a distributed database, which a plain one understands too.
  constant = await startGateway({ DATABASE_URL: store.database.url, DATABASE_ENGINE: 'citus' });
  await importLines(store.services, store.organization, names);
});
afterAll(() => constant.stop());

/** The digest is made from a COPY of the lines. */
const QUERY = `query ($filter: DepositDetailFilter) {
  depositSummary(startDate: "2000-01-01", endDate: "2030-12-31", pending: WITH, filter: $filter) { all { lines } digest }
}`;
interface Found {
  readonly data: { readonly depositSummary: { readonly all: { readonly lines: number } } };
}

test('a caller gets the same lines where values stand in the statement as where they travel beside it, whatever they are', async () => {
  const ask = async (url: string, variables: object): Promise<unknown> =>
    (await graphql(url, QUERY, { provision: store.organization.apiProvision, variables })).body;
  for (const name of HOSTILE) {
    const found = (await ask(constant.url, { filter: { statuses: [name] } })) as Found;
    expect(found.data.depositSummary.all.lines).toBe(1);
    expect(found).toEqual(await ask(store.url, { filter: { statuses: [name] } }));
  }
  await fc.assert(
    fc.asyncProperty(filter, async (given) => {
      const found = await ask(constant.url, { filter: given });
      expect(found).toHaveProperty('data.depositSummary.digest');
      expect(found).toEqual(await ask(store.url, { filter: given }));
    }),
    { numRuns: tries(40) },
  );
});

/** The text that has the separator of packed columns, whichever letter it has. */
const FOREIGN = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', (letter) => `\u007f${letter}`).join('');
const FILE = '/export/deposit-details.ndjson?start_date=2000-01-01&end_date=2030-12-31&status=';
/** A file that begins with a header, which is made before the rows. */
const HEADED = FILE.replace('ndjson', 'csv');
const readFile = async (url: string, status: string, file = FILE): Promise<unknown> => {
  const response = await fetch(`${url}${file}${encodeURIComponent(status)}`, { headers: { Provision: store.organization.apiProvision } });
  return [response.status, await response.text()];
};
const lineOf = (id: string, status: string) => v2Line({ deposit_id: id, transaction_id: id, allocation_id: id, status, main_memo: status });

test('a reader gets texts with every character that COPY escapes', async () => {
  const escaped = 'a\tb\nc\\d\be\ff\vg\u0001\u001f\u007fé\u007f';
  await importLines(store.services, store.organization, [lineOf('E1', escaped)]);
  const expected = await readFile(store.url, escaped);
  expect(expected).toEqual([200, expect.stringContaining('E1')]);
  expect(await readFile(constant.url, escaped)).toEqual(expected);
});

describe('a reader of texts with the separator of packed columns, at a gateway that meets the first of them,', () => {
  const range = 'startDate: "2000-01-01", endDate: "2030-12-31"';
  const readings: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
    'a file': (url) => readFile(url, FOREIGN),
    'a v2 report': async (url) => {
      const headers = { Provision: store.organization.apiProvision };
      const path = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2000-01-01&end_date=2030-12-31';
      const response = await fetch(url + path, { headers });
      return [response.status, await response.text()];
    },
    'lines of GraphQL': (url) => askLines(url, `{ depositDetails(${range}) { allocationId status mainMemo } }`),
    'a digest': (url) => askLines(url, `{ depositSummary(${range}) { digest } }`),
  };
  const askLines = async (url: string, query: string): Promise<unknown> =>
    (await graphql(url, query, { provision: store.organization.apiProvision })).body;

  beforeAll(() =>
    store.services.provisions.changeGrants(store.organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] }),
  );

  /** The ends of readings in the audit. Each file has an entry of its own, and equal readings of the other doors share one. */
  const readEnds = async (): Promise<string[]> =>
    (await readAudit(store, store.organization))
      .filter(({ operation }) => operation !== 'Audit')
      .map(({ reads, outcome }) => [reads, outcome].join(' '));

  test.each(Object.entries(readings))('gets the whole of %s, and the audit has each attempt', async (what, read) => {
    await importLines(store.services, store.organization, [lineOf('E2', FOREIGN)]);
    // A gateway remembers the organization, and reads its values one by one from then on.
    const fresh = await startGateway({ DATABASE_URL: store.database.url, DATABASE_ENGINE: 'citus' });
    const expected = await read(store.url);
    const { length: before } = await readEnds();
    try {
      expect(JSON.stringify(expected)).not.toContain('errors');
      for (let again = 0; again < 2; again++) expect(await read(fresh.url)).toEqual(expected);
    } finally {
      await fresh.stop();
    }
    // A digest is computed again before its reading begins.
    const broken = what === 'a digest' ? [] : ['1 BROKEN'];
    expect((await readEnds()).slice(before)).toEqual([...broken, ...(what === 'a file' ? ['1 WHOLE', '1 WHOLE'] : ['2 WHOLE'])]);
  });

  test('gets a receipt of the file that was made again, and of nothing before it', async () => {
    await importLines(store.services, store.organization, [lineOf('E2', FOREIGN)]);
    await withGateway({ DATABASE_URL: store.database.url, DATABASE_ENGINE: 'citus' }, async ({ url }) => {
      const headers = { Provision: store.organization.apiProvision };
      const response = await fetch(`${url}${HEADED}${encodeURIComponent(FOREIGN)}`, { headers });
      const body = Buffer.from(await response.arrayBuffer());
      const receipt = async (): Promise<unknown> =>
        (await fetch(`${url}/export/receipts/${response.headers.get('x-export-id')}`, { headers })).json();
      await until(async () => ((await receipt()) as { readonly outcome: unknown }).outcome !== null);
      const fileSha256 = createHash('sha256').update(body).digest('hex');
      expect(await receipt()).toMatchObject({ outcome: 'whole', bytes: body.length, fileSha256 });
    });
  });

  test('has one broken entry in the audit for a file that cannot be made again, of which nothing has left', async () => {
    await importLines(store.services, store.organization, [lineOf('E2', FOREIGN)]);
    const proxy = await startDatabaseProxy(store.database.url);
    const { client } = store.database;
    const { length: before } = await readEnds();
    try {
      await withGateway({ DATABASE_URL: proxy.url, DATABASE_ENGINE: 'citus' }, async ({ url }) => {
        // Nobody is let in any more when the file is to be made again.
        proxy.before('COPY', async () => void (await client.query('ALTER TABLE provision RENAME TO provision_away')));
        const [status] = (await readFile(url, FOREIGN, HEADED)) as [number];
        await client.query('ALTER TABLE provision_away RENAME TO provision');
        expect(status).toBe(404);
      });
    } finally {
      await proxy.close();
    }
    expect((await readEnds()).slice(before)).toEqual(['1 BROKEN']);
    const [entry] = (await readAudit(store, store.organization)).filter(({ outcome }) => outcome === 'BROKEN');
    expect(entry).toMatchObject({ kind: 'FILE', bytes: 0, fileSha256: createHash('sha256').digest('hex'), lines: null });
  });
});

testOnOneNode('an operator is told of a gateway whose database is another than its setting says', async () => {
  const reason = 'DATABASE_ENGINE is citus, but the books are not distributed: run `deposit-gateway migrate`';
  expect(await (await fetch(`${constant.url}/ready`)).json()).toEqual({ status: 'not ready', reason });
});

test('an answer of several fields on a distributed database has the totals, the digest and the lines of a plain one', async () => {
  const query = `{ depositSummary(startDate: "2024-01-01", endDate: "2024-12-31") { all { lines } digest }
    depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { allocationId amount } }`;
  const ask = async (url: string): Promise<unknown> => (await graphql(url, query, { provision: store.organization.apiProvision })).body;
  const names = `{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { __typename } }`;
  const nameRows = async (url: string) => (await graphql(url, names, { provision: store.organization.apiProvision })).body;
  expect(await nameRows(constant.url)).toEqual(await nameRows(store.url));
  const answer = await ask(constant.url);
  expect(answer).toEqual(await ask(store.url));
  expect(answer).toHaveProperty('data.depositSummary.digest');
});
