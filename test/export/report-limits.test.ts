import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { graphql, type GraphqlAnswer } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway({ lines: depositBook(10), loggedIn: true });
const { organization } = gateway;
/** Work that no test machine needs a second for, and that a query without limits needs minutes for. */
const MAX_CPU_MS = 1000;

const repeat = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n)).join(' ');
const PERIOD = 'startDate: "2024-01-01", endDate: "2024-12-31"';
/** A query with fragments on gifts, each of which spreads the next one by every way. The last one selects an amount. */
const fanOf = (levels: number, ways: (next: string) => string): string =>
  `{ depositDetailsConnection(${PERIOD}) { nodes { amount transaction { ...F0 } } } }
   ${repeat(levels, (n) => `fragment F${n} on Transaction { ${ways(`...F${n + 1}`)} }`)}
   fragment F${levels} on Transaction { amount }`;
const bothWays = (next: string) => `deposit { transactions { nodes { ${next} } } } donor { transactions { nodes { ${next} } } }`;
const allWays = (next: string) => `${bothWays(next)} allocations { nodes { transaction { ${next} } } }`;
const manyNames = (below: string) => repeat(60, (n) => `a${n}: ${below}`);

const DEEP = fanOf(24, bothWays);
const WIDE = fanOf(3, allWays);
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['fragments that lead to each other on 24 levels', DEEP, 'query: The operation has 76 levels of fields; the limit is 15'],
  [
    'fragments that spread each other twice',
    fanOf(10, (next) => `${next} ${next}`),
    'query: The operation has 3075 selections after its fragments are spread out; the limit is 1000',
  ],
  [
    'fields asked for under many names',
    `{ depositSummary(${PERIOD}, groupBy: [DAY]) { ...S } }
     fragment S on DepositSummary { ${manyNames('groups(first: 1000) { nodes { ...G } }')} } fragment G on SummaryGroup { ${manyNames('all { ...T }')} }
     fragment T on SummaryTotals { ${manyNames('byLine { ...A }')} } fragment A on SummaryAmounts { ${manyNames('amount')} }`,
    'query: The operation has 13179660 aliases; the limit is 50',
  ],
  [
    'a field that is repeated',
    `{ depositSummary(${PERIOD}) { all { lines } } ${repeat(200, () => 'dataVersion { number }')} }`,
    'query: The operation has over 5000 pairs of repeated fields: ask for each field once',
  ],
];

const asAda = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
const messageOf = ({ body }: GraphqlAnswer) => body.errors?.map(({ message, extensions }) => [extensions.code, message]);
const fileOf = (query: string) =>
  graphql(gateway.url, 'query ($query: String!) { reportFile(query: $query) { columns downloadUrl } }', {
    ...asAda(),
    variables: { query },
  });
const save = (name: string, query: string) =>
  graphql(gateway.url, 'mutation ($input: SaveReportInput!) { saveReport(input: $input) { report { name } } }', {
    ...asAda(),
    variables: { input: { name, query } },
  });
/** Stores a report as a gateway stored it that had no limits for its query. */
const store = (name: string, query: string) =>
  gateway.database.client.query(
    `INSERT INTO saved_report (organization_id, name, title, query, variables, updated_at) VALUES ($1, $2, $2, $3, '{}', now())`,
    [organization.id, name, query],
  );
async function file(name: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`${gateway.url}/reports/${name}.json`, { headers: { Provision: organization.apiProvision } });
  return { status: response.status, body: await response.text() };
}

/** The answer, which must cost the gateway little. */
async function cheaply<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const before = process.cpuUsage();
  const answer = await ask();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(MAX_CPU_MS);
  return answer;
}

describe.each(REFUSED)('a caller who asks for the file of %s', (_what, query, message) => {
  test('is refused it at once', async () => {
    expect(messageOf(await cheaply(() => fileOf(query)))).toEqual([['BAD_USER_INPUT', message]]);
  });

  test('is refused to save it', async () => {
    expect(messageOf(await cheaply(() => save('refused', query)))).toEqual([['BAD_USER_INPUT', message]]);
    expect((await file('refused')).status).toBe(404);
  });

  test('is refused the file of one that was saved before, which is listed still', async () => {
    await store('stored', query);
    try {
      const { status, body } = await cheaply(() => file('stored'));
      expect([status, JSON.parse(body)]).toEqual([422, { errors: [{ error: `Invalid parameter(s): ${message}`, status: 422 }] }]);
      const { body: list } = await cheaply(() =>
        graphql(gateway.url, '{ savedReports { name downloadUrl parameters { name } } }', asAda()),
      );
      expect(list.data!.savedReports).toEqual([{ name: 'stored', downloadUrl: expect.any(String) as unknown, parameters: [] }]);
    } finally {
      await gateway.database.client.query('DELETE FROM saved_report WHERE organization_id = $1', [organization.id]);
    }
  });
});

test('an operator is refused to save a query that leads to far too many fields', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  try {
    const path = join(directory, 'deep.graphql');
    await writeFile(path, DEEP);
    const words = ['report', 'save', 'deep', path, '--organization', organization.name];
    expect(await runCommand({ DATABASE_URL: gateway.database.url }, words)).toMatchObject({
      status: 1,
      stderr: 'Invalid parameter(s): query: The operation has 76 levels of fields; the limit is 15\n',
    });
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a caller gets the file of a query whose fragments lead to each other on a few levels', async () => {
  expect((await cheaply(() => fileOf(WIDE))).body.data!.reportFile).toMatchObject({ columns: ['amount'] });
  expect((await cheaply(() => save('wide', WIDE))).body.errors).toBeUndefined();
  expect((await cheaply(() => file('wide'))).status).toBe(200);
});
