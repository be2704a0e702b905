import { connect } from 'node:net';
import { createOrganization, startGateway, type TestGateway, type TestOrganization } from '../support/gateway';
import { activeReports, breakReports, EVERYTHING, fillReport } from '../support/long-report';
import { until } from '../support/until';

const LINES = 60_000;
const QUERY = '{ depositDetails(startDate: "2020-01-01", endDate: "2029-12-31") { allocationId mainMemo } }';
const BODY = JSON.stringify({ query: QUERY });

const DOORS = {
  'a v2 report': `GET ${EVERYTHING}`,
  'a GraphQL report': 'POST /graphql',
  'a file': 'GET /export/deposit-details.csv?start_date=2020-01-01&end_date=2029-12-31&totals=skip',
} as const;
type Door = keyof typeof DOORS;
const doors = Object.keys(DOORS) as Door[];
const versions = ['1.0', '1.1'] as const;
const cases = doors.flatMap((door) => versions.map((version) => [door, version] as const));

let gateway: TestGateway;
let organization: TestOrganization;

async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  gateway = await startGateway(settings);
  organization = await createOrganization(gateway.services);
  await fillReport(gateway.database.client, organization.id, LINES, `repeat('m', 500)`);
}

interface RawReader {
  /** Resolves when the answer has begun; nothing more is read then. */
  readonly begun: Promise<void>;
  /** Reads on; resolves to how the gateway ended the connection: whole answers over HTTP/1.0 end with a close. */
  readToEnd(): Promise<'closed' | 'reset'>;
}

function read(door: Door, version: string): RawReader {
  const { hostname, port, host } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const body = door === 'a GraphQL report' ? `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}` : '\r\n';
  socket.write(`${DOORS[door]} HTTP/${version}\r\nHost: ${host}\r\nProvision: ${organization.apiProvision}\r\n${body}`);
  const ended = new Promise<'closed' | 'reset'>((resolve) => {
    socket.on('error', () => resolve('reset'));
    // Node may take a reset for an end where data came with it. Nothing can be sent after a reset, but after a close it can.
    socket.on('end', () => socket.write('.', (error) => resolve(error ? 'reset' : 'closed')));
  }).finally(() => socket.destroy());
  const begun = new Promise<void>((resolve) => {
    socket.once('data', () => {
      socket.pause();
      resolve();
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

describe('an answer that broke off ends with a reset', () => {
  beforeAll(() => start());
  afterAll(() => gateway.stop());

  test.each(cases)('when the database gave up: %s over HTTP/%s', async (door, version) => {
    const reader = read(door, version);
    await reader.begun;
    await breakReports(gateway.database.client);
    expect(await reader.readToEnd()).toBe('reset');
    await until(async () => (await activeReports(gateway.database.client)) === 0);
  });
});

test.each(cases)('so does one that took too long: %s over HTTP/%s', async (door, version) => {
  await start({ REPORT_TIMEOUT_SECONDS: '5' });
  const reader = read(door, version);
  await reader.begun;
  await until(async () => (await activeReports(gateway.database.client)) === 0);
  expect(await reader.readToEnd()).toBe('reset');
  await gateway.stop();
});

test.each(cases)('so does one whose reader was too slow: %s over HTTP/%s', async (door, version) => {
  await start({ READER_STALL_SECONDS: '1' });
  const reader = read(door, version);
  await reader.begun;
  await until(async () => (await activeReports(gateway.database.client)) === 0);
  expect(await reader.readToEnd()).toBe('reset');
  await gateway.stop();
});

test.each(cases)('so does one that a stop could not wait for: %s over HTTP/%s', async (door, version) => {
  await start({ SHUTDOWN_GRACE_SECONDS: '0' });
  const reader = read(door, version);
  await reader.begun;
  await gateway.stop();
  expect(await reader.readToEnd()).toBe('reset');
});
