import { connect } from 'node:net';
import { AUDIT_PRIVILEGE, REPORT_PRIVILEGE } from '../../src/values/privileges';
import { callTool, createAgent, manifestOf, saveReport, withClient } from '../support/agent-client';
import { readAudit } from '../support/audit-reader';
import { v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const REPORTS = 120;
const REPORT = 'query Some($filter: DepositDetailFilter) { depositDetailsConnection(filter: $filter, first: 1) { nodes { amount } } }';
/** A name whose tool ends with a hash, the last of all. */
const LONG = `z-${'x'.repeat(70)}`;
/** Line separators are whole text in JSON, and end no line of an event. */
const TITLE = 'Gifts\u2028of\u2029all';
const LINES = Array.from({ length: 100 }, (_, n) =>
  v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, main_memo: 'm'.repeat(9000) }),
);
const manifest = manifestOf(['query Memos { depositDetailsConnection(first: 100) { nodes { allocationId mainMemo } } }']);
const SETTINGS = () => ({ AGENTS: 'on', TRUSTED_DOCUMENTS: manifest.path, READER_STALL_SECONDS: '1' });
const gateway = openGateway({ settings: SETTINGS, lines: LINES });
const ACCEPTED = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
let agent: string;

beforeAll(async () => {
  const { services, organization } = gateway;
  agent = await createAgent(services, organization.name, [REPORT_PRIVILEGE]);
  for (let n = 0; n < REPORTS; n++) await saveReport(services, organization.id, { name: `r-${n}`, query: REPORT });
  await saveReport(services, organization.id, { name: LONG, title: TITLE, query: REPORT });
});

const ask = (method: string, params: object, headers: Readonly<Record<string, string>> = ACCEPTED) =>
  fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: { ...headers, Provision: agent },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

test('an agent reads many tools by pages, each of which is short, and calls one of the last', async () => {
  interface Listed {
    readonly result: { readonly tools: readonly { readonly name: string; readonly title: string }[]; readonly nextCursor?: string };
  }
  const names: string[] = [];
  const titles: string[] = [];
  const lengths: number[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const text = await (await ask('tools/list', cursor === undefined ? {} : { cursor })).text();
    const { result } = JSON.parse(text) as Listed;
    names.push(...result.tools.map(({ name }) => name));
    titles.push(...result.tools.map(({ title }) => title));
    lengths.push(text.length);
    cursor = result.nextCursor;
  }
  expect([new Set(names).size, names.length]).toEqual([REPORTS + 2, REPORTS + 2]);
  expect(titles.at(-1)).toBe(TITLE);
  expect(lengths.length).toBeGreaterThan(2);
  expect(Math.max(...lengths)).toBeLessThan(300_000);
  for (const name of [names.at(-1)!, `report_r-${REPORTS - 1}`]) {
    expect(await callTool(gateway.url, agent, name)).toMatchObject({ isError: false, content: { rows: 100 } });
  }
  expect(names.at(-1)).toMatch(/^report_z-x+_[0-9a-f]{8}$/);
  // The library's own client follows the pages by itself, or tells the next one.
  const first = await withClient(gateway.url, agent, (client) => client.listTools());
  expect(names.slice(0, first.tools.length)).toEqual(first.tools.map(({ name }) => name));
});

test('an agent is told that a cursor leads nowhere', async () => {
  const answer = await ask('tools/list', { cursor: 'report_of-nobody' });
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { error: { code: -32602, message: expect.stringContaining('no page') as string } },
  ]);
});

test.each(['application/json', '*/*', 'text/html'])('a script that accepts %s is answered in JSON', async (Accept) => {
  const answer = await ask('tools/call', { name: 'query_Memos', arguments: {} }, { 'Content-Type': 'application/json', Accept });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: 1, result: { isError: false } });
});

test('an agent that takes nothing of its answers is given up, and its entry does not say that it has them', async () => {
  const { services, organization } = gateway;
  await services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: [AUDIT_PRIVILEGE] });
  const slow = await createAgent(services, organization.name, [REPORT_PRIVILEGE]);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'query_Memos', arguments: {} } });
  // A gateway that stops writes the ends of its readings.
  await withGateway({ ...SETTINGS(), DATABASE_URL: gateway.database.url }, async ({ url, logLines }) => {
    const { host, hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const closed = new Promise<void>((resolve) => socket.on('error', () => undefined).on('close', () => resolve()));
    socket.pause();
    // The buffers of the operating system take the first answers.
    const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nProvision: ${slow}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(12));
    await until(() => Promise.resolve(logLines.some((line) => line.includes('request broken off'))));
    socket.resume();
    await closed;
  });
  const entries = await readAudit(gateway, organization, '{ doors: [AGENT], kinds: [READ] }');
  const outcomes = entries.filter(({ provision }) => provision === slow.slice(0, 8)).map(({ operation, outcome }) => [operation, outcome]);
  expect(outcomes).toContainEqual(['query_Memos', 'BROKEN']);
  expect(outcomes).not.toContainEqual(['query_Memos', 'WHOLE']);
});
