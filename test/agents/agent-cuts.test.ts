import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { callTool, createAgent, manifestOf, saveReport } from '../support/agent-client';
import { createOrganization, v2Line, withGateway } from '../support/gateway';
import { ask } from '../support/http-client';
import { EVERYTHING, fillReport } from '../support/long-report';
import { openGateway } from '../support/open-gateway';

/** 150 deposits with a gift each; the first has a second gift. */
const LINES = Array.from({ length: 151 }, (_, n) =>
  v2Line({ deposit_id: `D${n % 150}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: '2024-03-01' }),
);
const YEAR = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const REPORT = `query Summary { depositSummary(${YEAR}, groupBy: [DAY]) { all { lines } groups(first: 9) { nodes { key { day } } } } }`;
const manifest = manifestOf([
  'query Page($first: Int!, $after: String) { deposits(first: $first, after: $after) { nodes { depositId } place: pageInfo { hasNextPage endCursor } } }',
  'query Nested { deposits(first: 120) { nodes { depositId transactions(first: 5) { nodes { transactionId } pageInfo { endCursor } } } pageInfo { endCursor } } designations(first: 5) { nodes { name } } }',
  'query Few { deposits(first: 50) { nodes { transactions(first: 5) { nodes { transactionId } } } pageInfo { hasNextPage } } }',
  `query None { depositSummary(${YEAR}) { all { lines } } }`,
  'query Nothing { __typename }',
  `query Part { depositSummary(${YEAR}) { all { lines } } dataVersion { number } }`,
]);
const gateway = openGateway({ settings: { AGENTS: 'on', TRUSTED_DOCUMENTS: manifest.path }, lines: LINES });
let agent: string;
beforeAll(async () => {
  agent = await createAgent(gateway.services, gateway.organization.name);
});

interface Page<Row> {
  readonly nodes: readonly Row[] | null;
  readonly pageInfo?: object | null;
  readonly place?: { readonly hasNextPage: boolean; readonly endCursor: string } | null;
}
interface Answer {
  readonly data: {
    readonly deposits: Page<{ readonly depositId: string; readonly transactions: Page<object> }>;
    readonly designations: Page<object>;
  };
  readonly cuts?: readonly object[];
}
const answerOf = async (name: string, values = {}): Promise<Answer> =>
  (await callTool(gateway.url, agent, name, values)).content as unknown as Answer;

describe('an agent whose answer is cut', () => {
  test('gets no cursor that would pass over rows, and reads all of them by pages that fit', async () => {
    const cut = await answerOf('query_Page', { first: 120 });
    expect([cut.data.deposits.nodes!.length, cut.data.deposits.place]).toEqual([100, null]);
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const { data, cuts }: Answer = await answerOf('query_Page', { first: 100, after });
      expect(cuts).toBeUndefined();
      seen.push(...data.deposits.nodes!.map(({ depositId }) => depositId));
      const { hasNextPage, endCursor } = data.deposits.place!;
      after = hasNextPage ? endCursor : null;
    } while (after !== null);
    expect([seen.length, new Set(seen).size]).toEqual([150, 150]);
  });

  test('gets null, and not an empty list, where no row has a place left', async () => {
    const { data, cuts } = await answerOf('query_Nested');
    expect(data.deposits.nodes).toHaveLength(100);
    for (const { transactions } of data.deposits.nodes!) expect(transactions).toEqual({ nodes: null, pageInfo: null });
    expect([data.deposits.pageInfo, data.designations]).toEqual([null, { nodes: null }]);
    expect(cuts).toContainEqual({ path: 'designations.nodes', rows: 1, shown: 0 });
  });

  test('gets the lists within rows in the order of the rows, and the place of a page that is whole', async () => {
    const { data, cuts } = await answerOf('query_Few');
    expect(data.deposits.nodes!.map(({ transactions: { nodes } }) => nodes?.length ?? 0).reduce((sum, each) => sum + each)).toBe(50);
    expect(data.deposits.pageInfo).toEqual({ hasNextPage: true });
    expect(JSON.stringify(cuts)).toContain('"shown":0');
  });
});

test('an agent of books without an import gets no version, and no link whose rows would come later', async () => {
  const { services, url } = gateway;
  const { id, name } = await createOrganization(services);
  const empty = await createAgent(services, name, [REPORT_PRIVILEGE]);
  await saveReport(services, id, { name: 'days', query: REPORT });
  expect((await callTool(url, empty, 'report_days')).content).toMatchObject({
    ...{ dataVersion: null, rows: 0, file: null, fileFault: 'The books are empty: nothing was imported yet.' },
  });
  expect((await callTool(url, empty, 'query_Page', { first: 1 })).content).toMatchObject({ dataVersion: null });
});

test.each(['0', '100000'])('a query that reads no books names their version, with %s as COST_PER_MINUTE', async (cost) => {
  const settings = { AGENTS: 'on', TRUSTED_DOCUMENTS: manifest.path, COST_PER_MINUTE: cost, DATABASE_URL: gateway.database.url };
  await withGateway(settings, async ({ url }) =>
    expect((await callTool(url, agent, 'query_Nothing')).content).toMatchObject({ dataVersion: 1, data: { __typename: 'Query' } }),
  );
});

test('an agent is told when to ask again, by a query of which nothing or only a part was answered', async () => {
  const settings = {
    AGENTS: 'on',
    TRUSTED_DOCUMENTS: manifest.path,
    REPORT_CONCURRENCY: '1',
    REPORT_QUEUE: '0',
    BOOK_MEMORY_MEGABYTES: '0',
  };
  await withGateway({ ...settings, DATABASE_URL: gateway.database.url }, async ({ url, services }) => {
    const { id, name } = await createOrganization(services);
    await fillReport(gateway.database.client, id, 5000, `repeat('m', 2500)`);
    const [busy, reader] = [await createAgent(services, name), await createAgent(services, name, [REPORT_PRIVILEGE])];
    const held = await ask(url + EVERYTHING, { headers: { Provision: reader } });
    const [none, part] = [await callTool(url, busy, 'query_None'), await callTool(url, busy, 'query_Part')];
    held.destroy();
    expect([none.isError, none.text]).toEqual([true, expect.stringMatching(/^TOO_MANY_REQUESTS: .*; try again in [1-9]\d? seconds$/)]);
    expect(none.content).toMatchObject({ data: { depositSummary: null }, errors: [{ extensions: { code: 'TOO_MANY_REQUESTS' } }] });
    expect([part.isError, part.content]).toEqual([
      false,
      expect.objectContaining({
        data: { depositSummary: null, dataVersion: { number: 1 } },
        retryAfterSeconds: expect.any(Number) as number,
      }),
    ]);
  });
});
