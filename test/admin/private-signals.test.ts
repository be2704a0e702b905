import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { readConfig } from '../../src/config';
import { createServices, type Services } from '../../src/services';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createAgent, saveReport } from '../support/agent-client';
import { startServe, type ServeProcess } from '../support/command';
import { createTestDatabase, databaseSettings, SERVING_ROLE, type TestDatabase } from '../support/database';
import { createOrganization, importLines, login, openSession, v2Line, type TestOrganization } from '../support/gateway';
import { startTraceCollector, type TraceCollector } from '../support/trace-collector';
import { until } from '../support/until';

const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const YEAR = 'start_date=2024-01-01&end_date=2024-12-31';

const LINES =
  'query ($city: String) { depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", filter: { donorName: $city }) { nodes { city } } }';

let collector: TraceCollector;
let database: TestDatabase;
let services: Services & { close(): Promise<void> };
let gateway: ServeProcess;
let agent: string;
let adminUrl: string;
let organization: TestOrganization;
beforeAll(async () => {
  collector = await startTraceCollector();
  database = await createTestDatabase();
  services = createServices(readConfig(databaseSettings()), { connectionString: database.url });
  organization = await createOrganization(services);
  agent = await createAgent(services, organization.name, [REPORT_PRIVILEGE]);
  await saveReport(services, organization.id, { name: 'lines', query: LINES });
  gateway = await startServe({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, DATABASE_URL: database.url, ADMIN_PORT: '0', LOG_LEVEL: 'debug' },
    ...{ OTEL_TRACES_SAMPLER_ARG: '1', PROVISION_ATTEMPTS: '100000', AGENTS: 'on' },
  });
  const line = () => /^\{.*"msg":"listening for operators"\}$/m.exec(gateway.output())?.[0];
  await until(() => line() !== undefined);
  adminUrl = (JSON.parse(line()!) as { url: string }).url;
});
afterAll(async () => {
  await services.close();
  await database.drop();
  collector.close();
});

/** A text that stands in nothing else, with the characters that names have and some that break logs, queries and labels. */
const secret = fc
  .tuple(fc.constantFrom('Zoë ', "O'", 'x"', '{}\\', '', 'a\n', '<b>'), fc.uuid({ version: 4 }))
  .map(([start, id]) => ({ text: `${start}q${id.replaceAll('-', '')}`, mark: `q${id.replaceAll('-', '')}` }));

/** A provision as the ids of traces are written. */
const bare = (provision: string): string => provision.replaceAll('-', '');
const traceOf = (provision: string): string => `00-${bare(provision)}-00f067aa0ba902b7-01`;

test('no donor, provision, cookie, password or variable reaches log, metrics or traces, whatever callers do', async () => {
  const marks: string[] = [];
  let sent = 0;
  const send = async (path: string, init: RequestInit = {}): Promise<void> => {
    sent++;
    await (await fetch(gateway.url + path, init)).arrayBuffer();
  };
  await fc.assert(
    fc.asyncProperty(secret, secret, secret, async (donor, variable, password) => {
      marks.push(donor.mark, variable.mark, password.mark);
      const person = {
        donor_last_name: donor.text,
        address1: donor.text,
        city: donor.text,
        email_address: donor.text,
        main_memo: donor.text,
      };
      await importLines(services, organization, [
        v2Line({ ...person, donor_id: 7 + marks.length, deposit_id: donor.mark, transaction_id: donor.mark, allocation_id: donor.mark }),
      ]);
      const unknown = randomUUID();
      const cookie = await login(gateway.url, organization.webProvision);
      const token = await openSession(gateway.url, organization.webProvision);
      sent += 2;
      marks.push(unknown, bare(unknown), cookie.split('=')[1]!, token);
      const found = encodeURIComponent(variable.text);
      const callers: Record<string, string>[] = [
        { Provision: organization.apiProvision },
        { Provision: organization.webProvision, Cookie: cookie },
        { Provision: organization.webProvision, Authorization: `Bearer ${token}` },
        {
          Provision: organization.webProvision,
          Authorization: `Bearer ${password.mark}`,
          Cookie: `deposit-gateway-session=${password.mark}`,
        },
        { Provision: unknown, 'X-Request-Id': unknown, traceparent: traceOf(unknown) },
        { Provision: organization.webProvision, 'X-Request-Id': organization.webProvision },
        {
          Provision: organization.apiProvision,
          'X-Request-Id': bare(organization.apiProvision),
          traceparent: traceOf(organization.apiProvision),
        },
        { Provision: organization.webProvision, Cookie: cookie, 'X-Request-Id': token },
        {
          Provision: variable.mark,
          traceparent: variable.mark,
          'X-Request-Id': variable.mark,
          'User-Agent': variable.mark,
          Referer: variable.mark,
        },
      ];
      const post = (headers: Record<string, string>, query: string, variables: object) =>
        send('/graphql', {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify({ query, variables }),
        });
      const paths = [
        ...[
          `${REPORT}?${YEAR}`,
          `${REPORT}?start_date=${found}&end_date=${found}`,
          `/export/deposit-details.csv?${YEAR}&donor_search=${found}`,
        ],
        ...[
          `/export/deposit-details.json?${YEAR}`,
          `/export/deposit-summary.csv?${YEAR}&group_by=${found}`,
          `/reports/${variable.mark}.csv?x=${found}`,
        ],
        ...[
          `/export/receipts/${variable.mark}`,
          `/${variable.mark}/${found}`,
          `/playground/assets/${variable.mark}.js`,
          `/api/v2/${variable.mark}`,
        ],
      ];
      for (const headers of callers) {
        for (const path of paths) await send(path, { headers });
        const lines = '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { donorLastName city mainMemo } }';
        await post(headers, lines, {});
        await post(headers, 'query ($q: String) { donors(search: $q, first: 5) { nodes { lastName } } }', { q: variable.text });
        await post(headers, `{ donors(search: ${JSON.stringify(variable.mark)}, first: 5) { nodes { lastName } } }`, {
          [variable.mark]: 1,
        });
        await post(headers, `{ ${variable.mark} }`, {});
        await post(headers, `{ viewer { ${variable.mark}: username } `, {});
        const attempt = 'mutation ($u: String!, $p: String!) { login(input: { username: $u, password: $p }) { viewer { username } } }';
        await post(headers, attempt, { u: variable.text, p: password.text });
      }
      for (const Provision of [agent, organization.apiProvision, unknown]) {
        const tool = (name: string, values: object): Promise<void> =>
          send('/mcp', {
            method: 'POST',
            headers: { Provision, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
            body: JSON.stringify({ jsonrpc: '2.0', id: variable.mark, method: 'tools/call', params: { name, arguments: values } }),
          });
        for (const name of ['report_lines', variable.mark])
          for (const values of [{}, { q: donor.text, city: donor.text }, { q: [variable.text], [variable.mark]: variable.text }])
            await tool(name, values);
      }
      for (const key of [organization.apiProvision, unknown, variable.mark]) {
        const headers = { Authorization: `Basic ${Buffer.from(`${variable.mark}:${key}`).toString('base64')}`, 'X-Request-Id': key };
        for (const path of [
          '/Lines?$top=2',
          `/Lines?$filter=donorLastName%20eq%20'${found}'`,
          `/Report_${variable.mark}?q=${found}`,
          `/Lines?donor_name=${found}`,
          `/Lines?$skiptoken=${variable.mark}`,
        ])
          await send(`/odata${path}`, { headers });
      }
      const stranger = { Provision: organization.webProvision };
      await post(stranger, `query ${donor.mark} { viewer { username } }`, {});
      // A statement that fails with a donor's text in PostgreSQL's message.
      await database.client.query(`ALTER TABLE deposit_line RENAME TO deposit_line_away`);
      await database.client.query(`CREATE VIEW deposit_line AS SELECT * FROM deposit_line_away WHERE (donor_last_name || city)::int > 0`);
      await database.client.query(`GRANT SELECT ON deposit_line TO ${SERVING_ROLE}`);
      await send(`${REPORT}?${YEAR}`, { headers: callers[0]! });
      await send('/mcp', {
        method: 'POST',
        headers: { Provision: agent, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'report_lines', arguments: {} } }),
      });
      await post(callers[0]!, '{ depositSummary(startDate: "2024-01-01", endDate: "2024-12-31") { all { lines } } }', {});
      await database.client.query('DROP VIEW deposit_line');
      await database.client.query(`ALTER TABLE deposit_line_away RENAME TO deposit_line`);
    }),
    { numRuns: 3 },
  );
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  await until(() => gateway.output().split('"method"').length - 1 >= sent);
  expect(await gateway.end('SIGTERM')).toBe(0);
  const signals = { log: gateway.output(), metrics, traces: collector.text() };
  // The failures were of the kind that tells a value.
  expect(signals.log).toContain('"sqlState":"22P02"');
  expect(signals.metrics).toContain('code="DATA_SOURCE_QUERY_FAILED"');
  expect(signals.traces).toContain('22P02');
  const provisions = [organization.apiProvision, organization.webProvision, agent];
  const secrets = [...marks, ...provisions, ...provisions.map(bare), 'correct horse'];
  for (const [name, text] of Object.entries(signals)) {
    expect([name, secrets.filter((each) => text.includes(each))]).toEqual([name, []]);
  }
});
