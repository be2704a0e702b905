import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDocument, ROOT, tableOf } from '../support/documents';
import { createOrganization, importLines, login, openSession, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { exchange } from '../support/raw-http';
import { until } from '../support/until';
import { toReceived, V2Document, type ReceivedAnswer } from '../support/v2-document';

const DOCUMENT = '/api/v2/openapi.json';
const SYSTEM = '/api/v2/authenticated_test_system';
const SESSION = '/api/v2/authenticated_test_session';
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info';
const PATHS = [SYSTEM, SESSION, REPORT];
const RANGE = 'start_date=2024-01-01&end_date=2024-12-31';
const UNKNOWN = '6f1d4d4e-0a63-4f0c-9d57-0f8f1a6f1c11';

/** A line with an empty value wherever one may be, and with an amount below zero. */
const EMPTY = {
  ...{ transaction_id: 'P11', allocation_id: 'P101', amount: '-5.00', fee_amount: '0.00', net_amount: '-5.00' },
  ...{ donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', city: '', zip: '', phone: '', email_address: '' },
  ...{ status: '', account_type: '', payment_type: '' },
};
const SETTINGS = { V2_DEPRECATED_AT: '2027-01-31', V2_SUNSET_AT: '2027-12-31', V2_MIGRATION_LINK: 'https://example.org/leave-v2' };
const gateway = openGateway({ settings: SETTINGS, lines: [v2Line(), v2Line(EMPTY)] });
const { organization } = gateway;

let document: V2Document;
beforeAll(async () => {
  document = await V2Document.fetch(gateway.url);
});

type Headers = Readonly<Record<string, string>>;
/** Sends GET and resolves to the answer; the query counts for the report alone. */
const ask = async (path: string, headers: Headers, { url = gateway.url, query = RANGE, method = 'GET' } = {}): Promise<ReceivedAnswer> =>
  toReceived(await fetch(`${url}${path}${path === REPORT ? `?${query}` : ''}`, { method, headers }));

/** Expects the answer to be as described, and resolves to the code of its error. */
function expectDescribed(path: string, answer: ReceivedAnswer): string | undefined {
  expect([path, answer.status, document.findFaults(path, answer)]).toEqual([path, answer.status, []]);
  return document.codeOf(answer.body);
}

describe('an integrator who reads the document', () => {
  test('finds every answer as it is described, with the headers that it has', async () => {
    const { id: _id, ...named } = await createOrganization(gateway.services);
    await gateway.services.provisions.expire(named.apiProvision, new Date('2999-01-01T00:00:00Z'));
    const cookie = await login(gateway.url, organization.webProvision);
    const asUser = { Provision: organization.webProvision, Cookie: cookie };
    const asServer = { Provision: organization.apiProvision };
    const answers = [
      [SYSTEM, await ask(SYSTEM, asServer)],
      [SYSTEM, await ask(SYSTEM, { Provision: named.apiProvision })],
      [SESSION, await ask(SESSION, asUser)],
      [REPORT, await ask(REPORT, asUser)],
      [REPORT, await ask(REPORT, { ...asServer, 'X-Min-Data-Version': '1' }, { query: `${RANGE}&include_pending=true` })],
    ] as const;
    for (const [path, answer] of answers) {
      expectDescribed(path, answer);
      expect([path, answer.status]).toEqual([path, 200]);
    }
    expect(answers[1][1].headers['provision-expires']).toBe('2999-01-01T00:00:00Z');
    const tag = answers[4][1].headers.etag!;
    const again = await ask(REPORT, { ...asServer, 'If-None-Match': tag }, { query: `${RANGE}&include_pending=true` });
    expectDescribed(REPORT, again);
    expect([again.status, again.body]).toEqual([304, '']);
  });

  test('meets every error that it names but an unknown failure, and no other', async () => {
    const met = new Set<string>();
    const meet = (path: string, answer: ReceivedAnswer): void => {
      const code = expectDescribed(path, answer);
      if (code !== undefined) met.add(code);
    };
    const meetAll = async (headers: Headers, options: Parameters<typeof ask>[2] = {}): Promise<void> => {
      for (const path of PATHS) meet(path, await ask(path, headers, options));
    };
    const own = await createOrganization(gateway.services);
    const asServer = { Provision: own.apiProvision };
    const bearer = await openSession(gateway.url, own.webProvision);
    const asUser = { Provision: own.webProvision, Authorization: `Bearer ${bearer}` };

    await meetAll({});
    await meetAll({ Provision: UNKNOWN });
    await meetAll({ Provision: own.webProvision });
    await meetAll({ ...asServer, Authorization: `Bearer ${bearer}` });
    await meetAll({ ...asServer, 'X-Min-Data-Version': '999' });
    await meetAll(asServer, { method: 'POST' });
    for (const query of ['', 'start_date=2024-01-02&end_date=2024-01-01']) meet(REPORT, await ask(REPORT, asServer, { query }));
    meet(SYSTEM, await ask('/api/v2/nothing', asServer));
    await gateway.services.users.create({ organization: own.name, username: 'kay', password: 'correct horse', grants: [] });
    const Authorization = `Bearer ${await openSession(gateway.url, own.webProvision, 'kay', 'correct horse')}`;
    await meetAll({ Provision: own.webProvision, Authorization });
    await gateway.services.users.disable(own.name, own.username);
    await meetAll(asUser);
    await gateway.database.client.query(`UPDATE organization SET hosts = '{example.org}' WHERE id = $1`, [own.id]);
    await meetAll(asServer);
    await withGateway({ UNDER_MAINTENANCE: 'on' }, async ({ url }) => meetAll({ Provision: UNKNOWN }, { url }));
    await withGateway({ DATABASE_URL: 'postgresql://nobody:nothing@127.0.0.1:1/none' }, async ({ url }) =>
      meetAll({ Provision: UNKNOWN }, { url }),
    );
    for (const bytes of IMPROPER) meet(SYSTEM, parseReceived(await exchange(gateway.url, bytes)));
    await withGateway({}, async ({ url, database, services }) => {
      const { webProvision } = await createOrganization(services);
      const Cookie = await login(url, webProvision);
      await database.client.query('ALTER TABLE session RENAME TO session_away');
      await meetAll({ Provision: webProvision, Cookie }, { url });
      await database.client.query('ALTER TABLE provision RENAME TO provision_away');
      await meetAll({ Provision: webProvision }, { url });
    });
    meet(REPORT, await turnAway());
    expect([...met].sort()).toEqual(document.codes.filter((code) => code !== 'INTERNAL_SERVER_ERROR'));
  });

  test('reads in v2.md what the document says of every parameter and field', () => {
    const { content } = document;
    const table = readDocument('docs/v2.md');
    const { parameters, schemas } = content.components as unknown as Record<'parameters' | 'schemas', Record<string, Described>>;
    const bare = (text = ''): string => text.replaceAll('`', '');
    const ofQuery = Object.entries(parameters).filter(([, parameter]) => parameter.in === 'query');
    expect(tableOf(table, 'parameter')).toEqual(ofQuery.map(([name, { description }]) => [name, bare(description)]));
    const fields = Object.entries(schemas.Line!.properties!);
    expect(tableOf(table, 'field')).toEqual(fields.map(([name, field]) => [name, kindOf(field), bare(field.description)]));
  });
});

interface Described {
  readonly in?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

const kindOf = ({ type, format, pattern }: Described): string =>
  type === 'integer' ? 'whole number' : format === 'date' ? 'date' : pattern === undefined ? 'text' : 'amount';

/** Bytes that are no proper request, one for each code: a bad one, a long one and a slow one. */
const IMPROPER = [
  'hello\r\n\r\n',
  `GET ${SYSTEM} HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
  `GET ${SYSTEM} HTTP/1.1\r\nHost: x\r\nX-Slow`,
];

function parseReceived(answer: string): ReceivedAnswer {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => [line.split(': ')[0]!.toLowerCase(), line.split(': ')[1]!]));
  return { status: Number(first.split(' ')[1]), headers, body };
}

/** The answer to a report for which there is neither a lane nor a place in line. */
async function turnAway(): Promise<ReceivedAnswer> {
  let answer: ReceivedAnswer | undefined;
  await withGateway({ DATABASE_URL: gateway.database.url, REPORT_CONCURRENCY: '1', REPORT_QUEUE: '0' }, async ({ url }) => {
    const { client } = gateway.database;
    const headers = { Provision: organization.apiProvision };
    await client.query('BEGIN');
    await client.query('LOCK TABLE deposit_line IN ACCESS EXCLUSIVE MODE');
    const first = ask(REPORT, headers, { url });
    await until(async () => (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 1);
    answer = await ask(REPORT, headers, { url });
    await client.query('ROLLBACK');
    expect((await first).status).toBe(200);
  });
  return answer!;
}

describe('a reader of the document', () => {
  const get = (headers: Headers = {}, method = 'GET', url = gateway.url): Promise<Response> => fetch(url + DOCUMENT, { method, headers });

  test('needs no credentials, may keep it, and is told whether a copy is still good', async () => {
    const response = await get();
    const tag = response.headers.get('etag')!;
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      ...[200, 'application/json; charset=utf-8', 'no-cache'],
    ]);
    expect(await response.json()).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }] });
    for (const known of [tag, `W/${tag}`, '*', `"other", ${tag}`]) {
      const again = await get({ 'If-None-Match': known });
      expect([again.status, again.headers.get('etag'), again.headers.get('cache-control'), await again.text()]).toEqual([
        ...[304, tag, 'no-cache', ''],
      ]);
    }
    expect((await get({ 'If-None-Match': '"other"' })).status).toBe(200);
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, tag, '']);
  });

  test('gets the same bytes whatever the request says, and under maintenance or without a database', async () => {
    const text = await (await get()).text();
    const strange = { Provision: 'x', Cookie: 'deposit-gateway-session=x', 'X-Forwarded-Host': 'evil.example', 'X-Min-Data-Version': 'x' };
    expect(await (await get(strange)).text()).toBe(text);
    const raw = await exchange(gateway.url, `GET ${DOCUMENT}?%zz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
    expect(raw.split('\r\n\r\n')[1]).toBe(text);
    const settings = { UNDER_MAINTENANCE: 'on', DATABASE_URL: 'postgresql://nobody:nothing@127.0.0.1:1/none' };
    await withGateway(settings, async ({ url }) => expect(await (await get({}, 'GET', url)).text()).toBe(text));
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is told which methods there are: %s', async (method) => {
    const response = await get({}, method);
    expect([response.status, response.headers.get('allow'), response.headers.get('cache-control'), response.headers.get('etag')]).toEqual([
      ...[405, 'GET, HEAD', 'no-store', null],
    ]);
    expect(await response.json()).toEqual({ errors: [{ error: 'Method not allowed', status: 405 }] });
  });

  test.each(['/api/v2/openapi.json/', '/api/v2/openapi.yaml', '/api/v2/OpenAPI.json', '/api/v2/openapi', '/openapi.json'])(
    'finds nothing at %s',
    async (path) => {
      const response = await fetch(gateway.url + path);
      expect([response.status, await response.json()]).toEqual([404, { errors: [{ error: 'Not found', status: 404 }] }]);
    },
  );

  test('finds it valid, and its example too', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'v2-document-'));
    try {
      const file = join(directory, 'openapi.json');
      writeFileSync(file, await (await get()).text());
      const validator = join(ROOT, 'node_modules/@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
      expect(execFileSync(process.execPath, [validator, file], { encoding: 'utf8' })).toContain('"valid": true');
    } finally {
      rmSync(directory, { recursive: true });
    }
    const { examples } = (document.content.components as unknown as { schemas: { Line: { examples: object[] } } }).schemas.Line;
    const isLine = document.schemaAt('/components/schemas/Line');
    expect(examples.filter((example) => !isLine(example))).toEqual([]);
    expect(examples).toHaveLength(1);
    expect(isLine({ ...examples[0], extra: '' })).toBe(false);
  });
});

test('an integrator whose books have the example of the document gets it back', async () => {
  const { examples } = (document.content.components as unknown as { schemas: { Line: { examples: object[] } } }).schemas.Line;
  const own = await createOrganization(gateway.services);
  await importLines(gateway.services, own, examples);
  const { body } = await ask(REPORT, { Provision: own.apiProvision }, { query: 'start_date=2026-01-01&end_date=2026-01-31' });
  expect(JSON.parse(body)).toEqual({ response: examples });
});
