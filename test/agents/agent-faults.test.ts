import { AUDIT_PRIVILEGE, REPORT_PRIVILEGE } from '../../src/values/privileges';
import { callTool, createAgent, hashOf, manifestOf, saveReport, withClient } from '../support/agent-client';
import { readAudit } from '../support/audit-reader';
import { createOrganization, importLines, login, openSession, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const YEAR = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const LINES = `depositDetails(${YEAR}) { amount }`;
const PAGE = 'depositDetailsConnection(first: 150) { nodes { mainMemo } }';
const DOCUMENTS = {
  Count: 'query Count($first: Int!) { deposits(first: $first) { nodes { depositId } totalCount } }',
  Whole: `query Whole { ...Lines } fragment Lines on Query { ${LINES} }`,
  Twice: `query Twice { one: ${LINES} other: ${LINES} }`,
  Spread: `query Spread { ...Both } fragment Both on Query { ${LINES} dataVersion { number } }`,
  Inline: `query Inline { ... on Query { ${LINES} } dataVersion { number } }`,
  Lost: 'query Lost { nothing { here } }',
  Large: `query Large { ${PAGE} again: ${PAGE} }`,
};
const SAME_NAME = 'query Count { dataVersion { number } }';
const GIFTS = `query ($startDate: LocalDate!, $endDate: LocalDate!, $funds: [SafeInt!]) {
  depositDetailsConnection(startDate: $startDate, endDate: $endDate, filter: { designationIds: $funds }) { nodes { amount } } }`;
const MONTHS = `query ($month: Int) { depositSummary(${YEAR}, groupBy: [QUARTER], fiscalYearStart: $month) { all { lines } } }`;

const manifest = manifestOf([...Object.values(DOCUMENTS), SAME_NAME]);
const gateway = openGateway({
  settings: { AGENTS: 'on', TRUSTED_DOCUMENTS: manifest.path },
  lines: [v2Line(), v2Line({ deposit_id: '2', transaction_id: 'P20', allocation_id: 'P200' })],
});
let reader: string;
beforeAll(async () => {
  const { services, organization } = gateway;
  reader = await createAgent(services, organization.name, [REPORT_PRIVILEGE]);
  await saveReport(services, organization.id, { name: 'gifts', query: GIFTS, period: 'all-time' });
  await saveReport(services, organization.id, { name: 'months', query: MONTHS });
});
const call = (name: string, values = {}, headers = {}) => callTool(gateway.url, reader, name, values, headers);

describe('an agent', () => {
  test('finds no query whose rows are more than one report, also within fragments', async () => {
    const { tools } = await withClient(gateway.url, reader, (client) => client.listTools());
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'query_Count',
      `query_Count_${hashOf(SAME_NAME).slice(0, 8)}`,
      ...['query_Large', 'query_Lost', 'query_Whole', 'report_gifts', 'report_months'],
    ]);
    expect((await call('query_Whole')).content).toMatchObject({ rows: 2, isWhole: true, columns: ['amount'] });
  });

  test('leaves a value of a report out by null', async () => {
    const nothing = { funds: null, startDate: null, period: null };
    expect((await call('report_gifts', nothing)).content).toMatchObject({ rows: 2, isWhole: true });
  });

  test.each<[string, object, string]>([
    ['report_gifts', { startDate: { day: 1 } }, 'variables: Variable "$startDate" got invalid value { day: 1 }'],
    ['report_gifts', { funds: [null] }, 'variables: Variable "$funds" got invalid value null at "funds[0]"'],
    ['report_gifts', { funds: '3' }, 'variables: Variable "$funds" got invalid value "3"'],
    ['report_gifts', { funds: [] }, 'filter.designationIds has no value that a line could meet'],
    ['report_gifts', { period: [] }, 'period must be text'],
    ['report_gifts', { period: ['all-time'] }, 'period must be text'],
    ['report_months', { month: [] }, 'variables: Variable "$month" got invalid value []'],
    ['report_months', { other: 1 }, 'there is no parameter other'],
    ['query_Count', { first: 1, other: null }, 'there is no parameter other'],
    ['query_Whole', { constructor: 1 }, 'there is no parameter constructor'],
  ])('is told which value of %s is wrong: %j', async (name, values, fault) => {
    const { isError, text } = await call(name, values);
    expect([isError, text]).toEqual([true, expect.stringContaining(`INVALID_PARAMETERS: Invalid parameter(s): ${fault}`)]);
  });

  test('is told by a code what is wrong with a query that the schema does not have, or with its values', async () => {
    const lost = await call('query_Lost');
    expect([lost.status, lost.isError, lost.text]).toEqual([200, true, expect.stringMatching(/^GRAPHQL_VALIDATION_FAILED: Cannot query/)]);
    expect(lost.content).toMatchObject({ dataVersion: null, data: null, errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] });
    expect((await call('query_Count', { first: 'x' })).text).toMatch(/^BAD_USER_INPUT: Variable "\$first"/);
  });

  test('gets no answer of more than two megabytes', async () => {
    const { services } = gateway;
    const other = await createOrganization(services);
    const lines = Array.from({ length: 150 }, (_, n) =>
      v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, main_memo: 'm'.repeat(7000) }),
    );
    await importLines(services, other, lines);
    const { text } = await callTool(gateway.url, await createAgent(services, other.name, [REPORT_PRIVILEGE]), 'query_Large');
    expect(text).toBe('INVALID_PARAMETERS: Invalid parameter(s): the answer has more than 2000000 bytes: ask for fewer rows');
  });

  test('is told of a least version that is no number, also where no books are read', async () => {
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        ...{ Provision: reader, 'X-Min-Data-Version': 'one' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    const error = 'Invalid parameter(s): X-Min-Data-Version is not the number of a version';
    expect([response.status, await response.json()]).toEqual([422, { errors: [{ error, status: 422 }] }]);
  });

  test('is answered whatever session comes along', async () => {
    const { organization, url } = gateway;
    const cookie = await login(url, organization.apiProvision);
    const token = await openSession(url, organization.apiProvision);
    for (const headers of [{ Cookie: cookie }, { Authorization: `Bearer ${token}` }, { Authorization: 'Bearer x' }]) {
      expect(await call('report_gifts', {}, headers)).toMatchObject({ status: 200, isError: false });
    }
  });

  test('is told when its budget is there again, and pays for no file', async () => {
    await withGateway({ AGENTS: 'on', TRUSTED_DOCUMENTS: manifest.path, COST_PER_MINUTE: '300' }, async ({ url, services }) => {
      const { name } = await createOrganization(services);
      const agent = await createAgent(services, name, [REPORT_PRIVILEGE]);
      const count = () => callTool(url, agent, 'query_Count', { first: 100 });
      expect((await count()).isError).toBe(false);
      expect((await count()).text).toMatch(/^BUDGET_EXCEEDED: The budget of this minute is used up: .*; try again in [1-9]\d? seconds$/);
      expect((await callTool(url, agent, 'query_Whole')).isError).toBe(false);
    });
  });
});

test('the audit has each call that was answered, equal ones of a minute as one, each refusal, and no fault', async () => {
  const { services, organization } = gateway;
  const auditor = { ...organization, apiProvision: await createAgent(services, organization.name, [AUDIT_PRIVILEGE]) };
  const [agent, counter] = [
    await createAgent(services, organization.name, [REPORT_PRIVILEGE]),
    await createAgent(services, organization.name),
  ];
  const before = gateway.logLines.length;
  for (const first of [1, 1, 2]) await callTool(gateway.url, agent, 'query_Count', { first });
  for (const values of [{}, {}, { startDate: 'x' }]) await callTool(gateway.url, agent, 'report_gifts', values);
  await callTool(gateway.url, agent, 'query_Lost');
  await callTool(gateway.url, agent, 'query_Count', { first: 'x' });
  await callTool(gateway.url, agent, 'query_None');
  await callTool(gateway.url, counter, 'query_Whole');
  await callTool(gateway.url, counter, 'query_Count', { first: 1 });
  const records = await readAudit(gateway, auditor, '{ doors: [AGENT] }');
  const of = (provision: string) =>
    records.filter((record) => record.provision === provision.slice(0, 8)).map(({ operation, kind }) => `${kind} ${operation}`);
  expect([of(agent), of(counter)]).toEqual([
    ['READ query_Count', 'READ report_gifts'],
    ['REFUSAL query_Whole', 'READ query_Count'],
  ]);
  const codes = gateway.logLines.slice(before).flatMap((line) => (JSON.parse(line) as { codes?: string[] }).codes ?? []);
  expect(codes).toEqual(['INVALID_PARAMETERS', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT', 'PRIVILEGE_NOT_FOUND']);
});
