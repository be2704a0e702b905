import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { activeReports, breakReports, EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';
import { until } from '../support/until';

const LINES = 20_000;
/** Text that hardly compresses, so that a reader who stops reading fills the buffers. */
const MEMO = `(SELECT string_agg(encode(sha512((n || '-' || k)::bytea), 'base64'), '') FROM generate_series(1, 20) k)`;
const STALL_MS = 2000;
const FEW_LINES = ['1', '2', '3'].map((id) => v2Line({ deposit_id: id, transaction_id: id, allocation_id: id }));
const FEW = `${REPORT}?start_date=2024-01-01&end_date=2024-01-31`;

const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const;
type Coding = keyof typeof decoders;
const codings = ['br', 'gzip'] as const;

const gateway = openGateway({ settings: { READER_STALL_SECONDS: `${STALL_MS / 1000}` } });
/** A gateway over the same data that waits longer for a slow reader than a test takes. */
const patient = openGateway({ settings: () => ({ DATABASE_URL: gateway.database.url, READER_STALL_SECONDS: '600' }) });
/** An organization with a long report. */
const { organization } = gateway;
/** An organization with FEW_LINES. */
let small: TestOrganization;

beforeAll(async () => {
  small = await createOrganization(gateway.services);
  await fillReport(gateway.database.client, organization.id, LINES, MEMO);
  await importLines(gateway.services, small, FEW_LINES);
});

interface Reader {
  readonly provision?: string;
  readonly acceptEncoding?: string | undefined;
}

const headersOf = ({ provision = organization.apiProvision, acceptEncoding }: Reader): Record<string, string> => ({
  Provision: provision,
  ...(acceptEncoding !== undefined && { 'Accept-Encoding': acceptEncoding }),
});
const get = (path: string, reader: Reader = {}, method = 'GET'): Promise<IncomingMessage> =>
  ask(gateway.url + path, { method, headers: headersOf(reader) });
const post = (query: string, reader: Reader = {}): Promise<IncomingMessage> =>
  ask(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { ...headersOf(reader), 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });

/** A report of forty days: 800 lines of about 2 kB. */
const doors = {
  REST: (reader: Reader) => get(`${REPORT}?start_date=2020-03-01&end_date=2020-04-09`, reader),
  GraphQL: (reader: Reader) =>
    post('{ depositDetails(startDate: "2020-03-01", endDate: "2020-04-09") { allocationId mainMemo amount allocationAmount } }', reader),
} as const;
const allDoors = ['REST', 'GraphQL'] as const;

const codingHeaders = ({ headers }: IncomingMessage) => ({
  coding: headers['content-encoding'],
  vary: headers.vary,
  length: headers['content-length'],
});
const CODED = (coding: Coding) => ({ coding, vary: 'Accept-Encoding', length: undefined });
const PLAIN = { coding: undefined, vary: 'Accept-Encoding', length: undefined };

/** Compares bytes without printing megabytes when they differ. */
function expectSame(actual: Buffer, expected: Buffer): void {
  expect({ length: actual.length, same: actual.equals(expected) }).toEqual({ length: expected.length, same: true });
}

describe.each(allDoors)('a reader of a long report over %s', (door) => {
  test.each<[string, Coding]>([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=1.0', 'br'],
    ['br;q=0.001', 'br'],
    ['gzip;q=0, br', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity;q=0.5, gzip;q=0.9', 'gzip'],
    ['deflate, gzip, zstd', 'gzip'],
  ])('that accepts %s gets the same bytes in %s', async (acceptEncoding, coding) => {
    const plain = await readAll(await doors[door]({}));
    const response = await doors[door]({ acceptEncoding });
    const { body, complete } = await readAll(response);
    expect([response.statusCode, complete, plain.complete]).toEqual([200, true, true]);
    expect(codingHeaders(response)).toEqual(CODED(coding));
    expect(body.length).toBeLessThan(0.9 * plain.body.length);
    expectSame(decoders[coding](body), plain.body);
  });

  test.each(['gzip, br', 'br, gzip', 'gzip, deflate, br, zstd', '*'])(
    'that likes several as well gets one of them: %s',
    async (acceptEncoding) => {
      const plain = await readAll(await doors[door]({}));
      const response = await doors[door]({ acceptEncoding });
      const coding = response.headers['content-encoding'] as Coding;
      expect(codings).toContain(coding);
      expectSame(decoders[coding]((await readAll(response)).body), plain.body);
    },
  );

  test.each([undefined, '', 'identity', 'zstd, deflate', 'gzip;q=0', 'br;q=0, gzip;q=0', 'identity, gzip;q=0.5', '*;q=0'])(
    'that does not ask for a coding that there is gets the bytes as they are: %s',
    async (acceptEncoding) => {
      const response = await doors[door]({ acceptEncoding });
      expect(codingHeaders(response)).toEqual(PLAIN);
      const { body, complete } = await readAll(response);
      expect(complete).toBe(true);
      const { response: lines, data } = JSON.parse(body.toString()) as { response?: object[]; data?: { depositDetails: object[] } };
      expect((lines ?? data!.depositDetails).length).toBe(800);
    },
  );
});

describe.each([
  [
    'a page of lines',
    '{ depositDetailsConnection(startDate: "2020-03-01", endDate: "2020-04-09", first: 100) { nodes { mainMemo amount } } }',
  ],
  ['the schema', '{ __schema { types { name description fields { name description } } } }'],
])('a reader of %s over GraphQL', (_what, query) => {
  test.each(codings)('that accepts %s gets the same bytes in fewer', async (coding) => {
    const plain = await readAll(await post(query));
    const response = await post(query, { acceptEncoding: coding });
    const { body, complete } = await readAll(response);
    expect([response.statusCode, complete]).toEqual([200, true]);
    expect(codingHeaders(response)).toEqual({ ...CODED(coding), length: String(body.length) });
    expect(body.length).toBeLessThan(0.9 * plain.body.length);
    expectSame(decoders[coding](body), plain.body);
  });

  test('that asks for no coding gets the bytes as they are', async () => {
    const response = await post(query);
    const { body } = await readAll(response);
    expect(codingHeaders(response)).toEqual({ ...PLAIN, length: String(body.length) });
    expect(JSON.parse(body.toString())).not.toHaveProperty('errors');
  });
});

describe('a short answer', () => {
  const acceptEncoding = 'gzip, br';
  const error = (text: string, status: number) => ({ errors: [{ error: text, status }] });
  const query = (range: string) => `{ depositDetails(${range}) { transactionId } }`;

  test.each<[string, () => Promise<IncomingMessage>, unknown]>([
    [
      'the system test',
      () => get('/api/v2/authenticated_test_system', { acceptEncoding }),
      { data: { message: 'System request authenticated', provision: expect.any(String) as string } },
    ],
    ['a report of a few lines', () => get(FEW, { acceptEncoding, provision: small.apiProvision }), { response: FEW_LINES }],
    ['a report of no lines', () => get(FEW, { acceptEncoding }), { response: [] }],
    ['wrong parameters', () => get(`${REPORT}?start_date=x`, { acceptEncoding }), error('Invalid parameter(s)', 422)],
    [
      'no provision',
      () => ask(gateway.url + FEW, { headers: { 'Accept-Encoding': acceptEncoding } }),
      error('Provision header missing', 422),
    ],
    ['no such path', () => get('/api/v2/nothing', { acceptEncoding }), error('Not found', 404)],
    ['/live', () => get('/live', { acceptEncoding }), { status: 'live' }],
    [
      'the system test over GraphQL',
      () => post('{ authenticatedTestSystem { message } }', { acceptEncoding }),
      { data: { authenticatedTestSystem: { message: 'System request authenticated' } } },
    ],
    [
      'a list of a few lines',
      () => post(query('startDate: "2024-01-01", endDate: "2024-01-31"'), { acceptEncoding, provision: small.apiProvision }),
      { data: { depositDetails: ['1', '2', '3'].map((transactionId) => ({ transactionId })) } },
    ],
    [
      'an error over GraphQL',
      () => post(query('startDate: "2024-01-02", endDate: "2024-01-01"'), { acceptEncoding }),
      {
        errors: [
          {
            message: 'Start date cannot be greater than the end date.',
            path: ['depositDetails'],
            locations: [{ line: 1, column: 3 }],
            extensions: { code: 'START_DATE_AFTER_END_DATE', argument: 'startDate', requestId: REQUEST_ID },
          },
        ],
        data: { depositDetails: null },
      },
    ],
  ])('is never compressed: %s', async (_title, send, expected) => {
    const response = await send();
    expect(response.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse((await readAll(response)).body.toString())).toEqual(expected);
  });
});

describe('a HEAD request', () => {
  /** Without the headers that differ from one answer to the next, those that frame a body, and the tag: the GET asks for fewer lines. */
  const comparable = ({ date: _date, 'x-request-id': _id, 'transfer-encoding': _framing, etag: _tag, ...headers }: IncomingHttpHeaders) =>
    headers;

  test.each([undefined, 'gzip', 'br', 'identity'])('gets the headers of the GET, and no body: accepting %s', async (acceptEncoding) => {
    for (const provision of [organization.apiProvision, small.apiProvision]) {
      const path = provision === small.apiProvision ? FEW : EVERYTHING;
      const [head, whole] = [
        await get(path, { acceptEncoding, provision }, 'HEAD'),
        await get(path.replace('2029-12-31', '2020-01-31'), { acceptEncoding, provision }),
      ];
      expect([head.statusCode, comparable(head.headers)]).toEqual([whole.statusCode, comparable(whole.headers)]);
      expect(await readAll(head)).toEqual({ body: Buffer.alloc(0), complete: true });
      await readAll(whole);
    }
    await until(async () => (await activeReports(gateway.database.client)) === 0);
  });
});

describe.each(codings)('a long report in %s', (coding) => {
  /** Asks for the whole report and reads none of it. */
  async function startReport({ url } = gateway): Promise<IncomingMessage> {
    const response = await ask(url + EVERYTHING, { headers: headersOf({ acceptEncoding: coding }) });
    expect(codingHeaders(response)).toEqual(CODED(coding));
    expect(await activeReports(gateway.database.client)).toBe(1);
    return response;
  }

  test(`that breaks off leaves a stream of ${coding} that cannot be taken for a whole one`, async () => {
    const response = await startReport();
    await breakReports(gateway.database.client);
    const { body, complete } = await readAll(response);
    expect(complete).toBe(false);
    expect(body.length).toBeGreaterThan(0);
    expect(() => decoders[coding](body)).toThrow('unexpected end of file');
    expect((await get('/live')).statusCode).toBe(200);
  });

  test(`is cancelled in the database when the reader of its ${coding} leaves, long before a slow reader is given up`, async () => {
    const response = await startReport(patient);
    response.destroy();
    await until(async () => (await activeReports(gateway.database.client)) === 0);
  });

  test(`is given up when the reader of its ${coding} stops reading, and not before its time`, async () => {
    const started = Date.now();
    const response = await startReport();
    await until(async () => (await activeReports(gateway.database.client)) === 0);
    expect(Date.now() - started).toBeGreaterThanOrEqual(STALL_MS);
    const { body, complete } = await readAll(response);
    expect(complete).toBe(false);
    expect(() => decoders[coding](body)).toThrow('unexpected end of file');
  });

  test('is one of several lists of an operation, all in one answer', async () => {
    const operation = `{
      early: depositDetails(startDate: "2020-03-01", endDate: "2020-03-20") { allocationId mainMemo }
      __typename
      none: depositDetails(startDate: "2019-01-01", endDate: "2019-12-31") { allocationId }
      authenticatedTestSystem { message }
      late: depositDetails(startDate: "2020-03-11", endDate: "2020-03-31") { depositDate netAmount mainMemo donorId }
      one: depositDetails(startDate: "2020-05-01", endDate: "2020-05-01") { allocationAmount }
    }`;
    const plain = await readAll(await post(operation));
    const { data } = JSON.parse(plain.body.toString()) as { data: Record<string, object[]> };
    expect(Object.entries(data).map(([name, value]) => [name, Array.isArray(value) ? value.length : value])).toEqual([
      ['early', 400],
      ['__typename', 'Query'],
      ['none', 0],
      ['authenticatedTestSystem', { message: 'System request authenticated' }],
      ['late', 420],
      ['one', 20],
    ]);
    const response = await post(operation, { acceptEncoding: coding });
    expect(codingHeaders(response)).toEqual(CODED(coding));
    const { body, complete } = await readAll(response);
    expect(complete).toBe(true);
    expectSame(decoders[coding](body), plain.body);
  });

  test('is found behind a list that is empty', async () => {
    const operation = `{
      none: depositDetails(startDate: "2019-01-01", endDate: "2019-12-31") { mainMemo }
      long: depositDetails(startDate: "2020-03-01", endDate: "2020-03-20") { mainMemo }
    }`;
    const plain = await readAll(await post(operation));
    const response = await post(operation, { acceptEncoding: coding });
    expect(codingHeaders(response)).toEqual(CODED(coding));
    const { body } = await readAll(response);
    expect(body.length).toBeGreaterThan(100_000);
    expectSame(decoders[coding](body), plain.body);
  });
});
