import { connect } from 'node:net';
import { createOrganization, graphql, login, startGateway, withGateway, type TestGateway, type TestOrganization } from '../support/gateway';
import { activeReports, breakReports, EVERYTHING, fillReport } from '../support/long-report';
import { until } from '../support/until';

const LINES = 20_000;
/** Long in any coding, so that no answer fits into the buffers of a connection. */
const MEMO = `(SELECT string_agg(encode(sha512((n || ' ' || k)::bytea), 'hex'), '') FROM generate_series(1, 12) k)`;
const QUERY = '{ depositDetails(startDate: "2020-01-01", endDate: "2029-12-31") { allocationId mainMemo } }';
const BODY = JSON.stringify({ query: QUERY });

/** The request line but for its version, headers of its own, and a body. */
const DOORS = {
  'a v2 report': [`GET ${EVERYTHING}`, ''],
  'a v2 report in gzip': [`GET ${EVERYTHING}`, 'Accept-Encoding: gzip\r\n'],
  'a GraphQL report': ['POST /graphql', `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n`, BODY],
  'a file': ['GET /export/deposit-details.csv?start_date=2020-01-01&end_date=2029-12-31', ''],
  'a saved report': ['GET /reports/everything.csv?totals=skip', ''],
} as const;
type Door = keyof typeof DOORS;
const doors = Object.keys(DOORS) as Door[];
const versions = ['1.0', '1.1'] as const;
const cases = doors.flatMap((door) => versions.map((version) => [door, version] as const));

/** Holds the data. */
let store: TestGateway;
let organization: TestOrganization;

beforeAll(async () => {
  store = await startGateway();
  organization = await createOrganization(store.services);
  await fillReport(store.database.client, organization.id, LINES, MEMO);
  const { webProvision: provision } = organization;
  const { body } = await graphql(
    store.url,
    'mutation ($query: String!) { saveReport(input: { name: "everything", query: $query }) { report { path } } }',
    {
      ...{ provision, cookie: await login(store.url, provision) },
      variables: { query: QUERY },
    },
  );
  expect(body).toEqual({ data: { saveReport: { report: { path: '/reports/everything.csv' } } } });
});
afterAll(() => store.stop());

const isOver = async (): Promise<boolean> => (await activeReports(store.database.client)) === 0;

interface RawReader {
  /** Resolves when the answer has begun, to its head; nothing more is read then. */
  readonly begun: Promise<string>;
  /** Reads on; resolves to how the gateway ended the connection: whole answers over HTTP/1.0 end with a close. */
  readToEnd(): Promise<'closed' | 'reset'>;
}

function read(url: string, door: Door, version: string): RawReader {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const [target, headers, body = ''] = DOORS[door];
  socket.write(`${target} HTTP/${version}\r\nHost: ${host}\r\nProvision: ${organization.apiProvision}\r\n${headers}\r\n${body}`);
  const ended = new Promise<'closed' | 'reset'>((resolve) => {
    socket.on('error', () => resolve('reset'));
    // Node may take a reset for an end where data came with it. Nothing can be sent after a reset, but after a close it can.
    socket.on('end', () => socket.write('.', (error) => resolve(error ? 'reset' : 'closed')));
  }).finally(() => socket.destroy());
  const begun = new Promise<string>((resolve) => {
    socket.once('data', (piece: Buffer) => {
      socket.pause();
      resolve(piece.toString('latin1').split('\r\n\r\n')[0]!);
    });
  });
  return {
    begun,
    readToEnd: () => {
      socket.resume();
      return ended;
    },
  };
}

/** Reads until the answer has begun, in the coding that was asked for. */
async function begin(url: string, door: Door, version: string): Promise<RawReader> {
  const reader = read(url, door, version);
  const head = await reader.begun;
  expect([head.split('\r\n')[0], /^content-encoding: gzip$/im.test(head)]).toEqual(['HTTP/1.1 200 OK', door.endsWith('in gzip')]);
  return reader;
}

const nameOf = ([door, version]: (typeof cases)[number]): string => `${door} over HTTP/${version}`;

/** Begins an answer at every door over either version, has all broken off, and reads on; expects a reset for each. */
async function expectResets(settings: Readonly<Record<string, string>>, breakOff: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const all = { DATABASE_URL: store.database.url, REPORT_CONCURRENCY: `${cases.length}`, ...settings };
  await withGateway(all, async (gateway) => {
    const readers: [string, RawReader][] = [];
    for (const each of cases) readers.push([nameOf(each), await begin(gateway.url, ...each)]);
    await breakOff(gateway);
    const ends = await Promise.all(readers.map(async ([name, reader]) => [name, await reader.readToEnd()]));
    expect(ends).toEqual(cases.map((each) => [nameOf(each), 'reset']));
  });
}

test.each<[string, Readonly<Record<string, string>>, () => Promise<void>]>([
  ['the database gives up', {}, () => breakReports(store.database.client)],
  ['it takes too long', { REPORT_TIMEOUT_SECONDS: '5' }, () => Promise.resolve()],
  ['its reader is too slow', { READER_STALL_SECONDS: '1' }, () => Promise.resolve()],
])('a caller whose answer breaks off because %s sees a reset, at every door', async (_why, settings, breakOff) => {
  await expectResets(settings, async () => {
    await breakOff();
    await until(isOver);
  });
});

test('a caller whose answer a stop cannot wait for sees a reset, at every door', async () => {
  await expectResets({ SHUTDOWN_GRACE_SECONDS: '0' }, (gateway) => gateway.stop());
});
