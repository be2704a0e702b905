import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildSchema } from 'graphql';
import { REPORT_PRIVILEGE } from '../../src/domain/privileges';
import { bookFields } from '../../src/graphql/operation-facts';
import { readAudit } from '../support/audit-reader';
import { createOrganization, importLines, v2Line, withGateway, type TestGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { readScrape, valueOf } from '../support/scrape-reader';
import { until } from '../support/until';

const gift = (number: number, amount = `${number}.00`) =>
  v2Line({
    ...{ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, donor_id: number },
    ...{ donor_last_name: `Donor ${number}`, amount, fee_amount: '0.00', net_amount: amount },
  });
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

/** The number of answers that were sent as they were kept. */
async function countKept({ adminUrl }: TestGateway): Promise<number> {
  return valueOf(await readScrape(adminUrl), 'gateway_book_memory_total', { memory: 'answers', outcome: 'kept' })!;
}

describe('a member who asks the same again', () => {
  test('gets the answer that is kept, with all of its headers', async () => {
    await withReader(async (reader) => {
      for (const query of [LINES, DEPOSITS, `{ depositSummary(${RANGE}) { all { lines donors } digest } dataVersion { number } }`]) {
        const before = await countKept(reader);
        const headersOf = ({ headers }: { headers: Headers }) =>
          [...headers].filter(([name]) => !['date', 'x-request-id', 'server-timing'].includes(name));
        const [first, second] = [await ask(reader, query), await ask(reader, query)];
        expect([second.status, second.text, headersOf(second)]).toEqual([200, first.text, headersOf(first)]);
        expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
        expect(await countKept(reader)).toBe(before + 1);
      }
    });
  });

  test('is audited and logged each time', async () => {
    await withReader(async (reader) => {
      const own = await createOrganization(store.services);
      await store.services.provisions.changeGrants(own.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
      await importLines(store.services, own, [gift(1), gift(2), gift(3)]);
      for (let time = 0; time < 3; time++) await ask(reader, LINES, { provision: own.apiProvision });
      expect(await countKept(reader)).toBe(2);
      const isRead = (line: string): boolean => line.includes('"operation":"Lines"');
      await until(() => Promise.resolve(reader.logLines.filter(isRead).length === 3));
      const logged = reader.logLines.filter(isRead).map((line) => JSON.parse(line) as { lines: number; door: string });
      expect(logged.map(({ lines, door }) => [lines, door])).toEqual(logged.map(() => [2, 'graphql']));
      await reader.stop();
      const readings = (await readAudit(store, own)).filter(({ operation }) => operation === 'Lines');
      expect(readings.map(({ startDate, endDate, outcome, dataVersion }) => [startDate, endDate, outcome, dataVersion])).toEqual(
        readings.map(() => ['2024-01-01', '2024-12-31', 'WHOLE', 1]),
      );
      const sum = (name: 'reads' | 'lines'): number => readings.reduce((count, reading) => count + Number(reading[name]), 0);
      expect([sum('reads'), sum('lines')]).toEqual([3, 6]);
    });
  });

  test('pays each time, until nothing is left', async () => {
    await withReader(
      async (reader) => {
        const left = async () => (await ask(reader, LINES)).headers.get('ratelimit')?.replace(/;t=.*/, '');
        expect([await left(), await left()]).toEqual([`"cost";r=${COST + 1}`, '"cost";r=1']);
        const refused = await ask(reader, LINES);
        expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('BUDGET_EXCEEDED')]);
        expect(await countKept(reader)).toBe(2);
      },
      { COST_PER_MINUTE: String(2 * COST + 1) },
    );
  });

  test('is told the cost when it asks for it, and never when it does not', async () => {
    await withReader(async (reader) => {
      const costly = { headers: { 'X-GraphQL-Cost': 'yes' } };
      for (const [asking, isTold] of [
        [{}, false],
        [costly, true],
        [{}, false],
        [costly, true],
      ] as const) {
        const { text } = await ask(reader, DEPOSITS, asking);
        expect([text.includes('"extensions"'), text]).toEqual([isTold, expect.stringContaining('"D1"')]);
      }
    });
  });

  test('gets each answer in the media type that was asked for', async () => {
    await withReader(async (reader) => {
      for (const accept of ['application/json', 'application/graphql-response+json', 'application/json']) {
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
      for (let time = 0; time < 2; time++) {
        expect(await get('D1', 'One')).toEqual({ data: { deposit: { depositId: 'D1' } } });
        expect(await get('D2', 'One')).toEqual({ data: { deposit: { depositId: 'D2' } } });
        expect(await get('D2', 'Other')).toEqual({ data: { deposit: { id: id('D2') } } });
      }
      expect(await countKept(reader)).toBe(3);
      for (const depositId of ['D3', 'D4', 'D3']) {
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
        for (let time = 0; time < 2; time++) {
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
      for (const next of first === 'reader' ? [asReader, asMember, asReader] : [asMember, asReader, asMember]) await next();
    });
  });

  test('is given to the same member with fewer rights no longer', async () => {
    await withReader(async (reader) => {
      const own = await createOrganization(store.services);
      await importLines(store.services, own, [gift(1)]);
      const asking = { provision: own.apiProvision };
      for (let time = 0; time < 2; time++) expect((await ask(reader, LINES, asking)).text).toContain('Donor 1');
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
        const { text } = await ask(reader, '{ deposit(depositId: "D") { status } }', { provision: apiProvision });
        expect(JSON.parse(text)).toEqual({ data: { deposit: { status } } });
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
        for (let time = 0; time < 2; time++) {
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
      const [first, second] = [await ask(reader, query), await ask(reader, query)];
      const withoutId = (text: string): string => text.replace(/"requestId":"[^"]+"/, '');
      expect(withoutId(second.text)).toBe(withoutId(first.text));
      expect(await countKept(reader)).toBe(0);
      expect(valueOf(await readScrape(reader.adminUrl), 'gateway_book_memory_total', { memory: 'answers', outcome: 'read' })).toBe(0);
    });
  });
});

test('each root field is known to read the books alone, or something else too', () => {
  const schema = buildSchema(readFileSync(resolve(__dirname, '../../schema.graphql'), 'utf8'));
  const others = Object.keys(schema.getQueryType()!.getFields()).filter((name) => !bookFields.has(name));
  expect(others.sort()).toEqual([
    ...[
      'auditRecords',
      'authenticatedTestSession',
      'authenticatedTestSystem',
      'depositDetails',
      'errorCodes',
      'node',
      'nodes',
      'provision',
    ],
    ...['reportFile', 'savedReports', 'viewer'],
  ]);
});
