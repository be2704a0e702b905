import { createServer } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { createOrganization, graphql, login, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { exchange, parseAnswer } from '../support/raw-http';
import { REQUEST_ID } from '../support/request-id';
import { until } from '../support/until';
import { tries } from '../support/tries';

const SYSTEM = '/api/v2/authenticated_test_system';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
/** What Node waits for a request's headers unless it is told to wait less. */
const NODES_HEADERS_TIMEOUT_MS = createServer().headersTimeout;
/** Random requests of each kind. `FUZZED_REQUESTS=10000` sends more. */
const RUNS = Number(process.env.FUZZED_REQUESTS ?? tries(200));
/** A text that stands in donors' data alone. */
const CANARY = 'Canary7f3a';

const CANARIES = {
  donor_first_name: CANARY,
  donor_last_name: CANARY,
  address1: CANARY,
  city: CANARY,
  zip: CANARY,
  phone: CANARY,
  email_address: CANARY,
};
const gateway = openGateway({ lines: [v2Line(CANARIES)] });
const { organization } = gateway;

/** Requests to every door, good ones and bad ones. */
const REQUESTS: [string, RequestInit][] = [
  [SYSTEM, {}],
  [`${REPORT}?start_date=2024-01-01&end_date=2024-12-31`, {}],
  [`${REPORT}?start_date=x`, {}],
  ['/api/v2/nothing', {}],
  [SYSTEM, { method: 'POST' }],
  ['/graphql', { method: 'POST', body: '{"query":"{ __typename }"}' }],
  ['/graphql', { method: 'POST', body: '{' }],
  ['/live', {}],
  ['/ready', {}],
  ['/playground', {}],
  ['/playground/nothing.css', {}],
  ['/nothing', {}],
];

/** Sends a request with the organization's API provision. */
const send = (path: string, init: RequestInit): Promise<Response> =>
  fetch(gateway.url + path, { ...init, headers: { 'Content-Type': 'application/json', Provision: organization.apiProvision } });

describe('every answer', () => {
  test.each(REQUESTS)('is kept by nobody and tells nothing of the server: %s %j', async (path, init) => {
    const response = await send(path, init);
    await response.arrayBuffer();
    const header = (name: string) => response.headers.get(name);
    expect([header('cache-control'), header('x-content-type-options'), header('etag'), header('x-powered-by'), header('server')]).toEqual([
      'no-store',
      'nosniff',
      // Only rows have a tag, which is made without reading them.
      path.startsWith(`${REPORT}?start_date=2024`) ? expect.stringMatching(/^"[\w-]{24}"$/) : null,
      null,
      null,
    ]);
    expect(header('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(header('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(header('access-control-allow-origin')).toBeNull();
    if (!path.startsWith('/playground')) expect(header('content-type')).toMatch(/^application\/json/);
  });
});

describe('a request that is no proper HTTP', () => {
  const get = (headers: string) => `GET ${SYSTEM} HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`;
  const host = 'Host: localhost\r\n';
  test.each([
    ['two hosts', 400, get(`${host}Host: example.org\r\n`)],
    ['no host', 400, get('')],
    ['a blank before a colon', 400, get(`${host}Provision : x\r\n`)],
    ['a folded line', 400, get(`${host}Provision: x\r\n y\r\n`)],
    ['length and chunks', 400, `POST /graphql HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['17 kB of headers', 431, get(`${host}X: ${'x'.repeat(17_000)}\r\n`)],
    ['150 headers', 431, get(host + 'X: 1\r\n'.repeat(150))],
    ['2,500 headers', 431, get(host + 'X: 1\r\n'.repeat(2500))],
    ['no HTTP at all', 400, 'hello\r\n\r\n'],
    ['a target that is no path', 400, `GET http://[/graphql HTTP/1.1\r\nConnection: close\r\n${host}\r\n`],
    ['a target of another kind', 400, `GET example.org:443 HTTP/1.1\r\nConnection: close\r\n${host}\r\n`],
    ['a port that cannot be', 400, `GET http://x:99999/graphql?query=x HTTP/1.1\r\nConnection: close\r\n${host}\r\n`],
  ])('is refused in JSON: %s', async (_title, status, bytes) => {
    const answer = parseAnswer(await exchange(gateway.url, bytes));
    expect(answer).toMatchObject({ status, body: { errors: [expect.any(Object)] } });
  });

  test('is taken in the form that proxies use', async () => {
    const bytes = `GET http://localhost${SYSTEM} HTTP/1.1\r\nConnection: close\r\n${host}Provision: ${organization.apiProvision}\r\n\r\n`;
    expect(parseAnswer(await exchange(gateway.url, bytes)).status).toBe(200);
  });

  test('is taken with an expectation that nobody knows', async () => {
    const bytes = get(`${host}Expect: x\r\nProvision: ${organization.apiProvision}\r\n`);
    expect(parseAnswer(await exchange(gateway.url, bytes)).status).toBe(200);
  });

  test.each([
    ['an empty host', `GET ${SYSTEM} HTTP/1.1\r\nConnection: close\r\nHost:\r\n`],
    ['HTTP/1.0 without a host', `GET ${SYSTEM} HTTP/1.0\r\n`],
  ])('has the wrong host with %s', async (_title, head) => {
    const { apiProvision } = await createOrganization(gateway.services, ['give.example.org']);
    const answer = parseAnswer(await exchange(gateway.url, `${head}Provision: ${apiProvision}\r\n\r\n`));
    expect(answer).toEqual({ status: 422, body: { errors: [{ error: 'Incorrect host for provision', status: 422 }] } });
  });

  test('behind a good one does not spoil its answer', async () => {
    const path = `${REPORT}?start_date=2024-01-01&end_date=2024-12-31`;
    const answer = await exchange(
      gateway.url,
      `GET ${path} HTTP/1.1\r\n${host}Provision: ${organization.apiProvision}\r\n\r\nGARBAGE\r\n\r\n`,
    );
    expect(answer.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(answer.indexOf('HTTP/1.1 400')).not.toBeGreaterThan(answer.indexOf('{"response"'));
  });

  test('that takes its time is ended', async () => {
    const started = Date.now();
    await exchange(gateway.url, `GET ${SYSTEM} HTTP/1.1\r\n${host}X-Slow`);
    expect(Date.now() - started).toBeLessThan(NODES_HEADERS_TIMEOUT_MS);
  });
});

describe('a body', () => {
  const post = (body: string | Buffer, headers: Record<string, string>) =>
    fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', Provision: organization.apiProvision, ...headers },
    });
  const operation = JSON.stringify({ query: '{ __typename }' });
  const bomb = gzipSync(Buffer.alloc(100_000_000, ' '));

  test.each([
    ['broken JSON', 400, '{', {}],
    ['no operation', 400, '{}', {}],
    ['text in JSON', 400, '"hello"', {}],
    ['101 kB', 413, JSON.stringify({ query: 'x'.repeat(101 * 1024) }), {}],
    ['a gzip bomb', 415, bomb, { 'Content-Encoding': 'gzip' }],
    ['brotli', 415, operation, { 'Content-Encoding': 'br' }],
    ['utf-7', 415, operation, { 'Content-Type': 'application/json; charset=utf-7' }],
  ])('that cannot be taken is refused in JSON: %s', async (_title, status, body, headers) => {
    const before = process.memoryUsage().rss;
    const response = await post(body, headers);
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8']);
    expect(Object.keys((await response.json()) as object)).toEqual(['errors']);
    expect(process.memoryUsage().rss - before).toBeLessThan(20 * 1024 * 1024);
  });
});

describe('nothing that is sent', () => {
  test('as a query of the report brings down or opens anything', async () => {
    const key = fc.oneof(
      fc.constantFrom('start_date', 'end_date', 'include_pending', 'start_date[]', '__proto__', 'constructor'),
      fc.string(),
    );
    const value = fc.oneof(fc.constantFrom('2024-01-01', '2024-12-31', 'true', 'false', '', '2024-02-30'), fc.string({ unit: 'binary' }));
    const query = fc
      .array(fc.tuple(key, value), { maxLength: 6 })
      .map((pairs) => pairs.map(([k, v]) => `${encodeURIComponent(k.toWellFormed())}=${encodeURIComponent(v.toWellFormed())}`).join('&'));
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const response = await fetch(`${gateway.url}${REPORT}?${text}`, { headers: { Provision: organization.apiProvision } });
        expect([200, 422]).toContain(response.status);
        expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
        await response.arrayBuffer();
      }),
      { numRuns: RUNS },
    );
  });

  test('as a raw query string brings down anything', async () => {
    const raw = fc.string({ unit: fc.constantFrom(...'%&=+?#[]{}/\\:;@!$\'"<>^`|~abc019-_.'.split('')), maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(raw, async (text) => {
        const { status } = parseAnswer(
          await exchange(
            gateway.url,
            `GET ${REPORT}?${text} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nProvision: ${organization.apiProvision}\r\n\r\n`,
          ),
        );
        expect([400, 422]).toContain(status);
      }),
      { numRuns: RUNS },
    );
  });

  test('as an operation brings down or leaks anything', async () => {
    const valid = '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { depositId amount } viewer { username } }';
    const mutated = fc
      .array(fc.tuple(fc.nat(valid.length), fc.string({ unit: 'binary', maxLength: 3 })), { minLength: 1, maxLength: 5 })
      .map((edits) => edits.reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at + piece.length), valid));
    await fc.assert(
      fc.asyncProperty(mutated, async (query) => {
        const { status, body } = await graphql(gateway.url, query, { provision: organization.apiProvision });
        expect([200, 400]).toContain(status);
        expect(JSON.stringify(body)).not.toMatch(/prisma|select |node_modules|\.ts|INTERNAL_SERVER_ERROR/i);
      }),
      { numRuns: RUNS },
    );
  });
});

test('a failure inside is masked, and logged without personal data', async () => {
  await withGateway({}, async (own) => {
    const { webProvision } = await createOrganization(own.services);
    // This view fails with a donor's name in its message.
    await own.database.client.query(
      `CREATE OR REPLACE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '${CANARY}'; END $$`,
    );
    await own.database.client.query('ALTER TABLE session ADD CHECK (fail() > 0) NOT VALID');
    const { body } = await graphql(
      own.url,
      'mutation { login(input: { username: "ada", password: "correct horse battery staple" }) { viewer { username } } }',
      {
        provision: webProvision,
      },
    );
    expect(body.errors).toEqual([
      expect.objectContaining({
        message: 'Establishing session failed',
        extensions: { code: 'ESTABLISHING_SESSION_FAILED', requestId: REQUEST_ID },
      }),
    ]);
    expect(own.logLines.some((line) => line.includes('"code":"ESTABLISHING_SESSION_FAILED"') && line.includes('requestId'))).toBe(true);
    expect(own.logLines.join('')).not.toContain(CANARY);
  });
});

test('an operator finds no donor in the log after answers with donors and after errors', async () => {
  const logged = gateway.logLines.length;
  for (const [path, init] of REQUESTS) await (await send(path, init)).arrayBuffer();
  const cookie = await login(gateway.url, organization.webProvision);
  const { body } = await graphql(
    gateway.url,
    `
      {
        depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") {
          donorLastName
        }
      }
    `,
    {
      provision: organization.webProvision,
      cookie,
    },
  );
  expect(body).toEqual({ data: { depositDetails: [{ donorLastName: CANARY }] } });
  await fetch(`${gateway.url}/nothing?name=${CANARY}`);
  // The log has a line for each request above, for the login, for the report and for the last request.
  await until(() => gateway.logLines.length >= logged + REQUESTS.length + 3);
  expect(gateway.logLines.length).toBeGreaterThan(10);
  expect(gateway.logLines.filter((line) => line.includes(CANARY))).toEqual([]);
});

describe('every request', () => {
  const body = JSON.stringify({ query: '{ __typename }' });
  test.each<[string, string, RequestInit, number]>([
    ['GET', SYSTEM, {}, 200],
    ['POST', SYSTEM, {}, 405],
    ['GET', REPORT, {}, 422],
    ['HEAD', `${REPORT}?start_date=2024-01-01&end_date=2024-12-31`, {}, 200],
    ['GET', `${REPORT}?start_date=2024-01-01&end_date=2024-12-31`, {}, 200],
    ['GET', '/api/v2/nothing?a=b', {}, 404],
    ['POST', '/graphql?a=b', { body }, 200],
    ['POST', '/graphql', { body: '{' }, 400],
    ['GET', '/live?a=b', {}, 200],
    ['GET', '/playground?a=b', {}, 200],
    ['DELETE', '/nothing?a=b', {}, 404],
  ])('leaves one line in the log, by the id of its answer: %s %s', async (method, target, init, status) => {
    const response = await send(target, { ...init, method });
    await response.arrayBuffer();
    const requestId = response.headers.get('x-request-id');
    // A path that no door has may hold any text.
    const hasDoor = !target.includes('nothing');
    const lines = () => gateway.logLines.filter((line) => line.includes(requestId!));
    await until(() => lines().length > 0);
    expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 30,
        requestId,
        method,
        path: hasDoor ? target.split('?')[0] : '*',
        status,
        msg: 'request completed',
      }),
    ]);
  });
});

test('a client that sends nothing is let go', async () => {
  const { hostname, port } = new URL(gateway.url);
  const started = Date.now();
  await new Promise<void>((resolve) =>
    connect(Number(port), hostname)
      .resume()
      .on('close', () => resolve())
      .on('error', () => resolve()),
  );
  expect(Date.now() - started).toBeLessThan(NODES_HEADERS_TIMEOUT_MS);
});
