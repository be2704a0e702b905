import { createOrganization, graphql, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const JANUARY = 'start_date=2024-01-01&end_date=2024-01-31';
const SAVED = `query January { depositDetails(startDate: "2024-01-01", endDate: "2024-01-31") { depositId amount } }`;
const gateway = openGateway({
  lines: [v2Line(), v2Line({ allocation_id: 'P101' })],
  loggedIn: true,
  settings: { CORS_ORIGINS: 'https://app.example.org' },
});
const { organization } = gateway;
const number = expect.any(Number) as number;

/** The log line of the request with an id. */
async function lineOf(id: string): Promise<Record<string, unknown>> {
  const find = () => gateway.logLines.find((line) => line.includes(`"requestId":"${id}"`) && line.includes('"method"'));
  await until(() => find() !== undefined);
  return JSON.parse(find()!) as Record<string, unknown>;
}

async function ask(path: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, { ...init, headers: { Provision: organization.apiProvision, ...headers } });
  const body = await response.text();
  const id = response.headers.get('x-request-id')!;
  return { id, body, status: response.status, headers: response.headers, line: await lineOf(id) };
}

async function askGraphql(query: string, as: { provision: string; cookie?: string }) {
  const { headers, status } = await graphql(gateway.url, query, as);
  return { status, headers, line: await lineOf(headers.get('x-request-id')!) };
}

/** The parts that every line has. */
const common = { ms: number, queueMs: number, databaseMs: number, bytes: number, address: '127.0.0.1' };
const caller = () => ({ organization: organization.id, provision: organization.apiProvision.slice(0, 8) });

describe('an operator finds in the log line of a request', () => {
  test('the v2 report: caller, lines, bytes and waits', async () => {
    const { line, body } = await ask(`${REPORT}?${JANUARY}`);
    expect(line).toMatchObject({ ...common, ...caller(), door: 'v2', path: REPORT, status: 200, lines: 2 });
    expect(line).not.toHaveProperty('codes');
    expect(line).not.toHaveProperty('user');
    expect(line.bytes as number).toBeGreaterThan(body.length);
    expect(line.databaseMs as number).toBeGreaterThan(0);
    expect((line.databaseMs as number) + (line.queueMs as number)).toBeLessThanOrEqual((line.ms as number) + 0.2);
  });

  test('a file: its lines, and of a saved report its name', async () => {
    await graphql(gateway.url, `mutation { saveReport(input: { name: "january", query: ${JSON.stringify(SAVED)} }) { report { name } } }`, {
      provision: organization.webProvision,
      cookie: gateway.cookie,
    });
    const file = await ask(`/export/deposit-details.csv?${JANUARY}`);
    expect([file.status, file.line]).toMatchObject([
      200,
      { ...common, ...caller(), door: 'file', path: '/export/deposit-details.csv', lines: 2 },
    ]);
    const saved = await ask('/reports/january.csv');
    expect([saved.status, saved.line]).toMatchObject([
      200,
      { ...caller(), path: '/reports/:file', operation: 'reports/january', lines: 2 },
    ]);
    const missing = await ask('/reports/Ada-Lovelace.csv');
    expect([missing.status, missing.line]).toMatchObject([404, { path: '/reports/:file', codes: ['NOT_FOUND'] }]);
    expect(JSON.stringify(missing.line)).not.toContain('Lovelace');
  });

  test('the user, and the name of a member’s operation', async () => {
    const { rows } = await gateway.database.client.query<{ id: number }>(`SELECT id FROM "user" WHERE username = 'ada'`);
    const query = 'query LinesOfJanuary { depositDetails(startDate: "2024-01-01", endDate: "2024-01-31") { amount } }';
    const { line } = await askGraphql(query, { provision: organization.webProvision, cookie: gateway.cookie });
    const provision = organization.webProvision.slice(0, 8);
    expect(line).toMatchObject({ ...common, door: 'graphql', operation: 'LinesOfJanuary', user: rows[0]!.id, provision, lines: 2 });
  });

  test('the field that a stranger asks for, and not the name that it gives', async () => {
    const { line } = await askGraphql('query Ada_Lovelace { viewer { username } }', { provision: organization.webProvision });
    expect(line).toMatchObject({ ...common, operation: 'viewer', provision: organization.webProvision.slice(0, 8) });
    expect(JSON.stringify(line)).not.toContain('Lovelace');
  });

  test('all codes of the errors of an answer', async () => {
    const other = await createOrganization(gateway.services);
    const { line } = await askGraphql('{ depositDetails(startDate: "2024-02-01", endDate: "2024-01-01") { amount } viewer { username } }', {
      provision: other.webProvision,
    });
    expect(line.codes).toEqual(expect.arrayContaining(['NOT_LOGGED_IN']));
    const unread = await askGraphql('{ nothing }', { provision: other.apiProvision });
    expect(unread.line).toMatchObject({ codes: ['GRAPHQL_VALIDATION_FAILED'] });
    const stranger = await askGraphql('{ viewer { username } }', { provision: '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11' });
    expect(stranger.line).toMatchObject({ door: 'graphql', codes: ['INVALID_PROVISION'] });
    expect(stranger.line).not.toHaveProperty('provision');
    expect(stranger.line).not.toHaveProperty('organization');
  });

  test('no part of a path that no door has', async () => {
    const { line } = await ask('/donors/Ada-Lovelace');
    expect(line).toMatchObject({ path: '*', door: 'none', status: 404, codes: ['NOT_FOUND'] });
  });
});

describe('a caller who traces its requests', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

  test.each(['01J9ZC3Y8W2V7N6Q5R4S3T2V1P', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', '4bf92f3577b34da6a3ce929d0e0e4736'])(
    'keeps its id %s',
    async (id) => {
      expect((await ask('/api/v2/authenticated_test_system', { 'X-Request-Id': id })).id).toBe(id);
    },
  );

  test.each([
    ...['short', 'x'.repeat(32), 'a b c d e f g', '"},"level":60,{"', 'Ada Lovelace, London', 'Ada.Lovelace', '4111111111111111'],
    'q3Jm0bKf7sVYtX5wZ1cR8dLh2nPg6aEo4uTiB9yQxW0',
  ])('gets a new id for %s', async (id) => {
    const { id: given } = await ask('/api/v2/authenticated_test_system', { 'X-Request-Id': id });
    expect(given).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  test('gets a new id instead of its provision, its token, its cookie and its address, however they are written', async () => {
    const secrets: [string, Record<string, string>][] = [
      [organization.apiProvision, {}],
      [organization.apiProvision.toUpperCase(), {}],
      [organization.apiProvision.replaceAll('-', ''), {}],
      [TRACE, { Authorization: `Bearer ${TRACE}` }],
      [TRACE, { Cookie: `a=b; deposit-gateway-session=${TRACE}` }],
    ];
    for (const [id, headers] of secrets) {
      const traceparent = `00-${id.replaceAll('-', '').toLowerCase()}-00f067aa0ba902b7-01`;
      const answer = await ask('/live', { ...headers, 'X-Request-Id': id, traceparent });
      expect([id, answer.id === id, 'traceId' in answer.line]).toEqual([id, false, false]);
    }
    expect((await ask(`/${TRACE}`, { 'X-Request-Id': TRACE })).id).not.toBe(TRACE);
  });

  test.each([`00-${TRACE}-00f067aa0ba902b7-01`, `cc-${TRACE}-00f067aa0ba902b7-01-what-comes-later`])(
    'finds its trace %s in the log',
    async (traceparent) => {
      expect((await ask('/live', { traceparent })).line).toMatchObject({ traceId: TRACE });
    },
  );

  test.each([
    `ff-${TRACE}-00f067aa0ba902b7-01`,
    `00-${TRACE}-00f067aa0ba902b7-01-more`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${TRACE}-00f067aa0ba902b7`,
    'nonsense',
  ])('is logged without the malformed trace %s', async (traceparent) => {
    const { line, status } = await ask('/live', { traceparent });
    expect([status, 'traceId' in line]).toEqual([200, false]);
  });
});

describe('Server-Timing', () => {
  const TIMING = /^queue;dur=\d+\.\d, db;dur=\d+\.\d, total;dur=\d+\.\d$/;
  const query = '{ viewer { username } }';

  test('tells a member how long its answer took, over GraphQL and for files', async () => {
    const asked = await askGraphql(query, { provision: organization.webProvision, cookie: gateway.cookie });
    expect(asked.headers.get('server-timing')).toMatch(TIMING);
    const file = await ask(`/export/deposit-details.csv?${JANUARY}`, { Origin: 'https://app.example.org' });
    expect(file.headers.get('server-timing')).toMatch(TIMING);
    expect(file.headers.get('timing-allow-origin')).toBe('https://app.example.org');
  });

  test('tells nothing to callers who were not let in, nor to other origins, and is not on v2', async () => {
    for (const provision of [organization.webProvision, '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11']) {
      expect((await askGraphql(query, { provision })).headers.get('server-timing')).toBeNull();
    }
    const elsewhere = await ask(`/export/deposit-details.csv?${JANUARY}`, {
      Origin: 'https://other.example.org',
    });
    expect(elsewhere.headers.get('timing-allow-origin')).toBeNull();
    expect((await ask(`${REPORT}?${JANUARY}`)).headers.get('server-timing')).toBeNull();
  });
});
