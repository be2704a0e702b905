import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildSchema, getNamedType, isAbstractType, isCompositeType, type GraphQLNamedType } from 'graphql';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { bookFields } from '../../src/graphql/documents/operation-facts';
import { readAudit } from '../support/audit-reader';
import { createOrganization, importLines, login, PASSWORD, v2Line, withGateway, type TestGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { readScrape, valueOf } from '../support/scrape-reader';
import { until } from '../support/until';

const gift = (number: number, amount = `${number}.00`) =>
  v2Line({
    ...{ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, donor_id: number },
    ...{ donor_last_name: `Donor ${number}`, amount, fee_amount: '0.00', net_amount: amount },
  });
const schema = buildSchema(readFileSync(resolve(__dirname, '../../schema.graphql'), 'utf8'));
const store = openGateway({ lines: [1, 2, 3, 4].map((number) => gift(number)), loggedIn: true });
const { organization } = store;

const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const LINES = `query Lines { depositDetailsConnection(${RANGE}, first: 2) { nodes { amount donorLastName } } }`;
/** The cost of these lines: the connection, and two nodes with two values each. */
const COST = 7;
const DEPOSITS = 'query Deposits { deposits(first: 2) { totalCount nodes { depositId } } }';

/** Runs work with a gateway of its own over the store, which keeps nothing yet. */
const withReader = (work: (reader: TestGateway) => Promise<void>, settings: Readonly<Record<string, string>> = {}): Promise<void> =>
  withGateway({ DATABASE_URL: store.database.url, ADMIN_PORT: '0', ...settings }, work);

interface Asking {
  readonly provision?: string;
  readonly cookie?: string;
  readonly variables?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(
  { url }: Pick<TestGateway, 'url'>,
  query: string,
  { provision = organization.apiProvision, cookie, variables, headers }: Asking = {},
) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: provision, ...(cookie !== undefined && { Cookie: cookie }), ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The number of answers that were sent as they were kept, or else of those that were executed and could have been. */
async function countAnswers({ adminUrl }: TestGateway, outcome: 'kept' | 'read'): Promise<number> {
  return valueOf(await readScrape(adminUrl), 'gateway_book_memory_total', { memory: 'answers', outcome })!;
}
const countKept = (reader: TestGateway): Promise<number> => countAnswers(reader, 'kept');

/** An answer is kept when it is asked for the second time. */
const TIMES = [1, 2, 3];
const withoutId = (text: string): string => text.replace(/"requestId":"[^"]+"/, '');

describe('a member who asks the same again', () => {
  test('gets the answer that is kept, with all of its headers', async () => {
    await withReader(async (reader) => {
      for (const query of [LINES, DEPOSITS, `{ depositSummary(${RANGE}) { all { lines donors } digest } dataVersion { number } }`]) {
        const before = await countKept(reader);
        const headersOf = ({ headers }: { headers: Headers }) =>
          [...headers].filter(([name]) => !['date', 'x-request-id', 'server-timing'].includes(name));
        const [first, , third] = [await ask(reader, query), await ask(reader, query), await ask(reader, query)];
        expect([third.status, third.text, headersOf(third)]).toEqual([200, first.text, headersOf(first)]);
        expect(third.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
        expect(await countKept(reader)).toBe(before + 1);
      }
    });
  });

  test('is audited and logged each time', async () => {
    await withReader(async (reader) => {
      const own = await createOrganization(store.services);
      await store.services.provisions.changeGrants(own.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
      await importLines(store.services, own, [gift(1), gift(2), gift(3)]);
      for (let time = 0; time < 4; time++) await ask(reader, LINES, { provision: own.apiProvision });
      expect(await countKept(reader)).toBe(2);
      const isRead = (line: string): boolean => line.includes('"operation":"Lines"');
      await until(() => Promise.resolve(reader.logLines.filter(isRead).length === 4));
      const logged = reader.logLines.filter(isRead).map((line) => JSON.parse(line) as { lines: number; door: string });
      expect(logged.map(({ lines, door }) => [lines, door])).toEqual(logged.map(() => [2, 'graphql']));
      await reader.stop();
      const readings = (await readAudit(store, own)).filter(({ operation }) => operation === 'Lines');
      expect(readings.map(({ startDate, endDate, outcome, dataVersion }) => [startDate, endDate, outcome, dataVersion])).toEqual(
        readings.map(() => ['2024-01-01', '2024-12-31', 'WHOLE', 1]),
      );
      const sum = (name: 'reads' | 'lines'): number => readings.reduce((count, reading) => count + Number(reading[name]), 0);
      expect([sum('reads'), sum('lines')]).toEqual([4, 8]);
    });
  });

  test('pays each time, until nothing is left', async () => {
    await withReader(
      async (reader) => {
        const left = async () => (await ask(reader, LINES)).headers.get('ratelimit')?.replace(/;t=.*/, '');
        expect([await left(), await left(), await left()]).toEqual([2 * COST + 1, COST + 1, 1].map((rest) => `"cost";r=${rest}`));
        const refused = await ask(reader, LINES);
        expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('BUDGET_EXCEEDED')]);
        expect(await countKept(reader)).toBe(1);
      },
      { COST_PER_MINUTE: String(3 * COST + 1) },
    );
  });

  test('is told the cost when it asks for it, and never when it does not', async () => {
    await withReader(async (reader) => {
      const costly = { headers: { 'X-GraphQL-Cost': 'yes' } };
      for (const [asking, isTold] of TIMES.flatMap(() => [[{}, false] as const, [costly, true] as const])) {
        const { text } = await ask(reader, DEPOSITS, asking);
        expect([text.includes('"extensions"'), text]).toEqual([isTold, expect.stringContaining('"D1"')]);
      }
    });
  });

  test('gets each answer in the media type that was asked for', async () => {
    await withReader(async (reader) => {
      for (const accept of TIMES.flatMap(() => ['application/json', 'application/graphql-response+json'])) {
        const { headers } = await ask(reader, DEPOSITS, { headers: { Accept: accept } });
        expect(headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
      }
    });
  });

  test('gets those of other variables, names and addresses', async () => {
    await withReader(async (reader) => {
      const query =
        'query One($id: String!) { deposit(depositId: $id) { depositId } } query Other($id: String!) { deposit(depositId: $id) { id } }';
      const get = async (id: string, operationName: string) => {
        const variables = JSON.stringify({ id });
        const address = `${reader.url}/graphql?${new URLSearchParams({ query, variables, operationName }).toString()}`;
        return (await fetch(address, { headers: { Provision: organization.apiProvision } })).json();
      };
      const id = (name: string): string => Buffer.from(`Deposit:${name}`).toString('base64url');
      for (const _time of TIMES) {
        expect(await get('D1', 'One')).toEqual({ data: { deposit: { depositId: 'D1' } } });
        expect(await get('D2', 'One')).toEqual({ data: { deposit: { depositId: 'D2' } } });
        expect(await get('D2', 'Other')).toEqual({ data: { deposit: { id: id('D2') } } });
      }
      expect(await countKept(reader)).toBe(3);
      for (const depositId of TIMES.flatMap(() => ['D3', 'D4'])) {
        const { text } = await ask(reader, 'query One($id: String!) { deposit(depositId: $id) { depositId } }', {
          variables: { id: depositId },
        });
        expect(JSON.parse(text)).toEqual({ data: { deposit: { depositId } } });
      }
    });
  });

  test('gets a new answer as soon as the books have changed, and none that is older than it asks for', async () => {
    await withReader(async (reader) => {
      const own = await createOrganization(store.services);
      for (const [index, amount] of ['1.00', '2.00', '3.00'].entries()) {
        await importLines(store.services, own, [gift(1, amount)]);
        for (const _time of TIMES) {
          const { text, headers } = await ask(reader, LINES, { provision: own.apiProvision });
          expect([text, headers.get('x-data-version')]).toEqual([expect.stringContaining(`"${amount}"`), String(index + 1)]);
        }
      }
      const late = await ask(reader, LINES, { provision: own.apiProvision, headers: { 'X-Min-Data-Version': '4' } });
      expect(late.text).toContain('INVALID_PARAMETERS');
      const isLate = (line: string): boolean => line.includes('INVALID_PARAMETERS') && line.includes('"operation":"Lines"');
      await until(() => Promise.resolve(reader.logLines.some(isLate)));
    });
  });
});

describe('an answer', () => {
  test.each(['reader', 'member'])('gives nobody more or less than the own rights do, when the %s asks first', async (first) => {
    await withReader(async (reader) => {
      const query = '{ transactions(first: 1) { nodes { amount donor { lastName } } } }';
      const { provisions } = store.services;
      const plain = await provisions.create({ organization: organization.name, kind: 'API', label: 'plain', grants: [] });
      const askAs = async (provision: string) => JSON.parse((await ask(reader, query, { provision })).text) as object;
      const told = (donor: object | null) => ({ transactions: { nodes: [{ amount: '1.00', donor }] } });
      const asReader = async () => expect(await askAs(organization.apiProvision)).toEqual({ data: told({ lastName: 'Donor 1' }) });
      const asMember = async () =>
        expect(await askAs(plain)).toMatchObject({ data: told(null), errors: [{ extensions: { code: 'PRIVILEGE_NOT_FOUND' } }] });
      for (const _time of TIMES) for (const next of first === 'reader' ? [asReader, asMember] : [asMember, asReader]) await next();
    });
  });

  test('is given to the same member with fewer rights no longer', async () => {
    await withReader(async (reader) => {
      const own = await createOrganization(store.services);
      await importLines(store.services, own, [gift(1)]);
      const asking = { provision: own.apiProvision };
      for (const _time of TIMES) expect((await ask(reader, LINES, asking)).text).toContain('Donor 1');
      await store.services.provisions.changeGrants(own.apiProvision, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
      const { text } = await ask(reader, LINES, asking);
      expect([text.includes('Donor 1'), text.includes('PRIVILEGE_NOT_FOUND')]).toEqual([false, true]);
    });
  });

  test('is not given to another organization with the same ids at the same version', async () => {
    await withReader(async (reader) => {
      // Before its first import an organization has the version of all such, 0.
      for (const status of ['POSTED', 'PENDING']) {
        const { id, apiProvision } = await createOrganization(store.services);
        const values = [id, status];
        await store.database.client.query(
          `INSERT INTO deposit (organization_id, id, status, deposit_date) VALUES ($1, 'D', $2::deposit_status, '2024-01-01')`,
          values,
        );
        for (const _time of TIMES) {
          const { text } = await ask(reader, '{ deposit(depositId: "D") { status } }', { provision: apiProvision });
          expect(JSON.parse(text)).toEqual({ data: { deposit: { status } } });
        }
      }
    });
  });

  test('to a server that sends any document is not given to an app that may send trusted ones alone', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'trusted-documents-'));
    const manifest = join(directory, 'manifest.json');
    writeFileSync(manifest, JSON.stringify({ [createHash('sha256').update(DEPOSITS).digest('hex')]: DEPOSITS }));
    const asApp = { provision: organization.webProvision, cookie: store.cookie };
    await withReader(
      async (reader) => {
        for (const _time of TIMES) {
          expect((await ask(reader, LINES)).status).toBe(200);
          expect((await ask(reader, DEPOSITS, asApp)).status).toBe(200);
          const untrusted = await ask(reader, LINES, asApp);
          expect([untrusted.status, untrusted.text]).toEqual([403, expect.stringContaining('UNTRUSTED_DOCUMENT')]);
        }
      },
      { TRUSTED_DOCUMENTS: manifest },
    );
    rmSync(directory, { recursive: true });
  });

  test.each([
    ['errors', '{ deposits(first: 0) { totalCount } }'],
    ['facts about the caller', '{ viewer { username } deposits(first: 1) { nodes { id } } }'],
    [
      'facts about the caller in a fragment',
      'query { ...Mine deposits(first: 1) { nodes { id } } } fragment Mine on Query { provision { label } }',
    ],
    ['saved reports', '{ savedReports { name } }'],
    ['lines that are streamed', `{ depositDetails(${RANGE}) { amount } deposits(first: 1) { nodes { id } } }`],
  ])('with %s is made anew each time', async (_what, query) => {
    await withReader(async (reader) => {
      const answers = [];
      for (const _time of TIMES) answers.push(withoutId((await ask(reader, query)).text));
      expect(new Set(answers).size).toBe(1);
      expect([await countKept(reader), await countAnswers(reader, 'read')]).toEqual([0, 0]);
    });
  });

  test('that the client cannot take is refused each time, with the id of its own request', async () => {
    await withReader(async (reader) => {
      for (const _time of TIMES) {
        const { status, headers, text } = await ask(reader, DEPOSITS, { headers: { Accept: 'text/html' } });
        expect([status, JSON.parse(text)]).toEqual([
          406,
          { errors: [{ message: 'Not acceptable', extensions: { code: 'NOT_ACCEPTABLE', requestId: headers.get('x-request-id') } }] },
        ]);
      }
    });
  });

  test('is of the body as it was sent, however deep, and not of one that means another value', async () => {
    await withReader(async (reader) => {
      const query = 'query ($ids: [SafeInt!]) { donors(first: 9, filter: { donorIds: $ids }) { nodes { donorId } } }';
      const send = async (body: string) => {
        const headers = { 'Content-Type': 'application/json', Provision: organization.apiProvision };
        const response = await fetch(`${reader.url}/graphql`, { method: 'POST', headers, body });
        return JSON.parse(await response.text()) as {
          data?: { donors: { nodes: unknown[] } };
          errors?: { extensions: { code: string } }[];
        };
      };
      const withIds = (ids: string): string => `{"query":${JSON.stringify(query)},"variables":{"ids":${ids}}}`;
      for (const _time of TIMES) {
        expect((await send(withIds('null'))).data?.donors.nodes).toHaveLength(4);
        expect((await send(withIds('1e999'))).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
        expect((await send(`{"query":"{ __typename }","other":${'['.repeat(40_000)}${']'.repeat(40_000)}}`)).data).toEqual({
          __typename: 'Query',
        });
      }
    });
  });

  test('does not keep the document of a request with its hash from being known by the hash', async () => {
    await withReader(async (reader) => {
      const extensions = { persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(DEPOSITS).digest('hex') } };
      const send = async (body: object) => {
        const headers = { 'Content-Type': 'application/json', Provision: organization.apiProvision };
        return (await fetch(`${reader.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) })).text();
      };
      for (const _time of TIMES) await send({ query: DEPOSITS, extensions });
      expect(await countKept(reader)).toBe(0);
      for (const _time of TIMES) expect(await send({ extensions })).toContain('"D1"');
      expect(await countKept(reader)).toBe(1);
    });
  });

  test('that is asked for again is not driven out by pages that are read once', async () => {
    await withReader(
      async (reader) => {
        const own = await createOrganization(store.services);
        await importLines(
          store.services,
          own,
          Array.from({ length: 300 }, (_, index) => gift(index + 1)),
        );
        const asking = { provision: own.apiProvision };
        for (const _time of TIMES) await ask(reader, LINES, asking);
        expect(await countKept(reader)).toBe(1);
        for (let day = 1; day <= 28; day++) {
          const range = `startDate: "2023-02-${String(day).padStart(2, '0')}", endDate: "2024-12-31"`;
          const fields = 'allocationId amount depositDate depositId donorLastName designation paymentType status transactionId';
          const { text } = await ask(reader, `{ depositDetailsConnection(${range}, first: 300) { nodes { ${fields} } } }`, asking);
          expect(text.length).toBeGreaterThan(50_000);
        }
        await ask(reader, LINES, asking);
        expect(await countKept(reader)).toBe(2);
      },
      { BOOK_MEMORY_MEGABYTES: '1' },
    );
  });

  test('is executed each time where nothing is kept', async () => {
    await withReader(
      async (reader) => {
        const answers = [];
        for (const _time of TIMES) answers.push((await ask(reader, LINES)).text);
        expect(new Set(answers).size).toBe(1);
        const samples = await readScrape(reader.adminUrl);
        expect(samples.filter(({ name, labels }) => name === 'gateway_book_memory_total' && labels.memory === 'answers')).toEqual([]);
      },
      { BOOK_MEMORY_MEGABYTES: '0' },
    );
  });

  test('that two users share is audited for each of them', async () => {
    await withReader(async (reader) => {
      const own = await createOrganization(store.services);
      await importLines(store.services, own, [gift(1)]);
      await store.services.provisions.changeGrants(own.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
      await store.services.users.create({ organization: own.name, username: 'bob', password: PASSWORD, grants: [REPORT_PRIVILEGE] });
      const cookies = [await login(reader.url, own.webProvision), await login(reader.url, own.webProvision, 'bob')];
      for (const _time of TIMES) for (const cookie of cookies) await ask(reader, LINES, { provision: own.webProvision, cookie });
      expect(await countKept(reader)).toBe(4);
      await reader.stop();
      const readings = (await readAudit(store, own)).filter(({ operation }) => operation === 'Lines');
      const readsOf = (name: string): number =>
        readings.filter(({ username }) => username === name).reduce((count, { reads }) => count + Number(reads), 0);
      expect([readsOf('ada'), readsOf('bob')]).toEqual([3, 3]);
    });
  });
});

/** The types whose resolvers were looked at: no field of them depends on the user, the session, the time or saved reports. */
const BOOK_TYPES = [
  ...['Allocation', 'AllocationAmounts', 'AllocationConnection', 'AllocationEdge', 'AllocationEffect', 'AmountChange'],
  ...['ChangeClassTotals', 'ChangeDesignation', 'ChangeDesignationConnection', 'ChangeDesignationEdge', 'ChangeEffect', 'ClosedMonth'],
  ...['CountChange', 'DataVersion', 'DataVersionConnection', 'DataVersionEdge', 'Deposit', 'DepositChange', 'DepositChangeConnection'],
  ...['DepositChangeEdge', 'DepositConnection', 'DepositDetail', 'DepositDetailConnection', 'DepositDetailEdge', 'DepositEdge'],
  ...['DepositSummary', 'Designation', 'DesignationConnection', 'DesignationEdge', 'Donor', 'DonorConnection', 'DonorEdge', 'History'],
  ...['PageInfo', 'PeriodClose', 'PeriodCloseConnection', 'PeriodCloseEdge', 'SummaryAmounts', 'SummaryChange', 'SummaryGroup'],
  ...['SummaryGroupConnection', 'SummaryGroupEdge', 'SummaryGroupKey', 'SummaryParts', 'SummaryRest', 'SummaryTotals', 'Transaction'],
  ...['TransactionConnection', 'TransactionEdge'],
];

test('the fields of the books lead to no types but theirs', () => {
  const found = new Set<string>();
  const open: GraphQLNamedType[] = Object.values(schema.getQueryType()!.getFields())
    .filter(({ name }) => bookFields.has(name))
    .map(({ type }) => getNamedType(type));
  for (let type = open.pop(); type; type = open.pop()) {
    if (found.has(type.name) || !isCompositeType(type)) continue;
    found.add(type.name);
    if (isAbstractType(type)) open.push(...schema.getPossibleTypes(type));
    else open.push(...Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  }
  expect([...found].sort()).toEqual(BOOK_TYPES);
});

test('each root field is known to read the books alone, or something else too', () => {
  const others = Object.keys(schema.getQueryType()!.getFields()).filter((name) => !bookFields.has(name));
  expect(others.sort()).toEqual([
    ...['auditRecords', 'authenticatedTestSession', 'authenticatedTestSystem', 'depositDetails', 'errorCodes'],
    ...['fundBudget', 'journalAccounts'],
    ...['node', 'nodes'],
    ...['provision', 'receipts', 'reportFile', 'reportMailing', 'reportMails', 'savedReports', 'viewer'],
  ]);
});
