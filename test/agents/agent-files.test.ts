import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { callTool, createAgent, manifestOf, saveReport } from '../support/agent-client';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const YEAR = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const manifest = manifestOf([`query Lines { depositDetails(${YEAR}) { transactionId amount } }`]);
const CHOSEN = `query ($ids: [String!]) { depositDetailsConnection(${YEAR}, filter: { transactionIds: $ids }) { nodes { amount } } }`;
const gateway = openGateway({ settings: { AGENTS: 'on', TRUSTED_DOCUMENTS: manifest.path, TRUST_PROXY: '127.0.0.1' } });
const gift = (n: number) => v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}` });

let agent: string;
let organization: Awaited<ReturnType<typeof createOrganization>>;
beforeEach(async () => {
  const { services } = gateway;
  organization = await createOrganization(services);
  await importLines(services, organization, [gift(1), gift(2)]);
  agent = await createAgent(services, organization.name, [REPORT_PRIVILEGE]);
  const query = `query ($startDate: LocalDate!, $endDate: LocalDate!) { depositSummary(startDate: $startDate, endDate: $endDate, groupBy: [DESIGNATION]) { all { lines } } }`;
  await saveReport(services, organization.id, { name: 'funds', query, period: 'all-time' });
  await saveReport(services, organization.id, { name: 'chosen', query: CHOSEN });
});

test.each(['query_Lines', 'report_funds'])(
  'the link of %s is of the version that its answer tells, whatever is imported meanwhile',
  async (tool) => {
    const { content } = await callTool(gateway.url, agent, tool);
    await importLines(gateway.services, organization, [gift(1), gift(2), gift(3)]);
    const file = await fetch(String(content.file));
    const rows = (await file.text()).trim().split('\r\n').length - 1;
    expect([file.status, Number(file.headers.get('x-data-version')), rows]).toEqual([200, content.dataVersion, content.rows]);
    const { content: later } = await callTool(gateway.url, agent, tool);
    expect([later.dataVersion, later.digest]).not.toEqual([content.dataVersion, content.digest]);
  },
);

test('an agent is told why there is no link to a file of more values than an address holds', async () => {
  const ids = Array.from({ length: 500 }, (_, n) => `T${'0'.repeat(30)}${n}`);
  const { isError, content } = await callTool(gateway.url, agent, 'report_chosen', { ids: ['T1', ...ids] });
  expect([isError, content]).toEqual([
    false,
    expect.objectContaining({
      ...{ rows: 1, file: null },
      fileFault: expect.stringMatching(/^The address of the file would have \d{5} characters: give fewer values\.$/) as string,
    }),
  ]);
});

test('the link begins with the address at which a trusted proxy was asked', async () => {
  const forwarded = { 'X-Forwarded-Host': 'give.example.org:8443', 'X-Forwarded-Proto': 'https' };
  const { content } = await callTool(gateway.url, agent, 'query_Lines', {}, forwarded);
  expect(content.file).toMatch(/^https:\/\/give\.example\.org:8443\/export\/deposit-details\.csv\?.*as_of=1&/);
});
