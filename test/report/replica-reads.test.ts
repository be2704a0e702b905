import { asServing } from '../support/database';
import { createOrganization, graphql, importLines, login, startGateway, v2Line } from '../support/gateway';
import { REPLICATED } from '../support/replicated-database';
import {
  away,
  donorAt,
  isRead,
  READ,
  read,
  READINGS,
  readingsOf,
  replicaMessages,
  startReplicatedGateway,
  type ReplicatedGateway,
} from '../support/replicated-gateway';
import { tries } from '../support/tries';
import { until } from '../support/until';

const REPORT = READINGS['a v2 report'];
/** Longer than any of the answers here takes. */
const LONG_WAIT_MS = 4000;

let setup: ReplicatedGateway;
beforeAll(async () => {
  setup = await startReplicatedGateway({ REPLICA_WAIT_MILLISECONDS: `${LONG_WAIT_MS}` });
});
afterAll(() => setup.stop());

const ask = (reading: string, headers?: Readonly<Record<string, string>>) =>
  read(setup.gateway.url, setup.organization.apiProvision, reading, headers);
const donorsOf = (body: string): string[] => [...new Set(body.match(/Ada|Grace/g))];

/** Lets the replica catch up, and resolves when callers read it. */
async function readAgain(): Promise<void> {
  await setup.replica.resume();
  await setup.replica.catchUp();
  const { read: count } = await readingsOf(setup.gateway);
  await until(async () => {
    await ask(REPORT);
    return (await readingsOf(setup.gateway)).read > count;
  });
}

describe('a caller whose version a replica has', () => {
  test.each(Object.entries(READINGS))('reads from the replica what the primary would answer: %s', async (_what, reading) => {
    await setup.turn();
    await setup.replica.catchUp();
    const lone = await startGateway({ ...REPLICATED, DATABASE_URL: setup.database.url, DATABASE_REPLICA_URLS: '' });
    try {
      const before = await readingsOf(setup.gateway);
      const answer = await ask(reading);
      expect(answer.status).toBe(200);
      expect(answer).toEqual(await read(lone.url, setup.organization.apiProvision, reading));
      const { read: count, late, left } = await readingsOf(setup.gateway);
      expect({ count, late, left }).toEqual({ count: before.read + 1, late: before.late, left: before.left });
    } finally {
      await lone.stop();
    }
  });

  test('has the receipt of a file that the replica gave', async () => {
    const headers = { Provision: setup.organization.apiProvision };
    const file = await fetch(`${setup.gateway.url}${READINGS['a file with its totals after it']}`, { headers });
    await file.arrayBuffer();
    const receipt = await fetch(`${setup.gateway.url}/export/receipts/${file.headers.get('x-export-id')}`, { headers });
    expect(await receipt.json()).toMatchObject({ dataVersion: Number(file.headers.get('x-data-version')), outcome: 'whole' });
  });
});

describe('while the replica stands still', () => {
  beforeEach(() => setup.replica.pause());
  afterEach(readAgain);

  test('a session that has seen a version sees no older one, on any door', async () => {
    const version = await setup.turn();
    const cookie = await login(setup.gateway.url, setup.organization.webProvision);
    for (const reading of Object.values(READINGS)) {
      const answer = await read(setup.gateway.url, setup.organization.webProvision, reading, { Cookie: cookie });
      expect([answer.status, answer.version]).toEqual([200, version]);
      if (/Ada|Grace/.test(answer.body)) expect(donorsOf(answer.body)).toEqual([donorAt(version)]);
    }
  });

  test('one caller waits for it, and those who come later do not', async () => {
    const version = await setup.turn();
    const before = await readingsOf(setup.gateway);
    expect((await ask(REPORT)).version).toBe(version);
    const startedAt = Date.now();
    for (let n = 0; n < 20; n++) expect((await ask(REPORT)).version).toBe(version);
    // Each of them would have waited as long as the first.
    expect(Date.now() - startedAt).toBeLessThan(10 * LONG_WAIT_MS);
    const after = await readingsOf(setup.gateway);
    expect(after).toEqual({ ...before, late: before.late + 21 });
  });

  test('a caller of another organization goes on to read it', async () => {
    const other = await createOrganization(setup.gateway.services);
    await setup.replica.resume();
    await importLines(setup.gateway.services, other, [v2Line()]);
    await setup.replica.catchUp();
    await setup.replica.pause();
    await setup.turn();
    const before = await readingsOf(setup.gateway);
    expect((await read(setup.gateway.url, other.apiProvision, REPORT)).version).toBe(1);
    expect(await readingsOf(setup.gateway)).toEqual({ ...before, read: before.read + 1 });
  });

  test('callers log in, save reports and end their sessions', async () => {
    await setup.turn();
    const { webProvision: provision } = setup.organization;
    const cookie = await login(setup.gateway.url, provision);
    const save = 'mutation ($query: String!) { saveReport(input: { name: "all", query: $query }) { report { name } } }';
    const query = '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { amount } }';
    const saved = await graphql(setup.gateway.url, save, { provision, cookie, variables: { query } });
    expect(saved.body).toEqual({ data: { saveReport: { report: { name: 'all' } } } });
    const { body } = await graphql(setup.gateway.url, 'mutation { logout { ended } }', { provision, cookie });
    expect(body).toEqual({ data: { logout: { ended: true } } });
    expect((await graphql(setup.gateway.url, '{ viewer { username } }', { provision, cookie })).body).toEqual({ data: { viewer: null } });
  });
});

test('a caller waits for a replica that is about to have its version, and then reads it', async () => {
  await setup.replica.pause();
  const version = await setup.turn();
  const before = await readingsOf(setup.gateway);
  const answer = ask(REPORT);
  const asked = `SELECT FROM pg_stat_activity WHERE application_name = 'deposit-gateway' AND query LIKE '%AS version' AND query_start > now() - interval '1 second'`;
  await until(async () => (await setup.replica.client().query(asked)).rowCount! > 0);
  await setup.replica.resume();
  expect((await answer).version).toBe(version);
  expect(await readingsOf(setup.gateway)).toEqual({ ...before, read: before.read + 1 });
});

test('callers read the replica again when it has caught up', async () => {
  await setup.replica.pause();
  await setup.turn();
  await ask(REPORT);
  await readAgain();
});

test('a gateway whose replica is away starts, answers and is ready, and reads the replica when it comes', async () => {
  await setup.replica.stop();
  const late = await startGateway({
    ...REPLICATED,
    DATABASE_URL: setup.database.url,
    DATABASE_REPLICA_URLS: asServing(setup.replica.url),
    ADMIN_PORT: '0',
  });
  try {
    expect((await fetch(`${late.url}/ready`)).status).toBe(200);
    expect((await read(late.url, setup.organization.apiProvision, REPORT)).status).toBe(200);
    await setup.replica.start();
    await until(() => isRead(late));
    // A replica that has just started answers slowly on a busy machine, and is set aside for it.
    const messages = replicaMessages(late).filter(({ reason }) => reason !== 'The replica answers slowly');
    expect(messages).toEqual([away(), READ]);
  } finally {
    await late.stop();
  }
});

test('readings beside imports name their versions truly, and none is older than an import that has ended before it', async () => {
  const other = await startGateway({
    ...REPLICATED,
    ...{ DATABASE_URL: setup.database.url, DATABASE_REPLICA_URLS: asServing(setup.replica.url), ADMIN_PORT: '0' },
  });
  const gateways = [setup.gateway, other];
  let imported = await setup.turn();
  const writing = { on: true };
  const writer = (async () => {
    while (writing.on) imported = await setup.turn();
  })();
  const wrong: unknown[] = [];
  try {
    const readings = Object.values(READINGS);
    const reader = async (_: unknown, n: number): Promise<void> => {
      let newest = 0;
      for (let round = 0; round < tries(10); round++) {
        const least = Math.max(newest, imported);
        // A caller whose requests go to either gateway.
        const { url } = gateways[(n + round) % gateways.length]!;
        const { status, version, body } = await read(url, setup.organization.apiProvision, readings[(n + round) % readings.length]!);
        const donors = donorsOf(body);
        const isRight = status === 200 && version >= least && (donors.length === 0 || donors.join() === donorAt(version));
        if (!isRight) wrong.push({ status, version, least, body: body.slice(0, 200) });
        newest = Math.max(newest, version);
      }
    };
    await Promise.all(Array.from({ length: 20 }, reader));
  } finally {
    writing.on = false;
    await writer;
    await other.stop();
  }
  expect(wrong).toEqual([]);
  expect((await readingsOf(setup.gateway)).read).toBeGreaterThan(0);
});

describe('a caller who names the version that it has seen', () => {
  const named = (version: string) => ({ 'X-Min-Data-Version': version });

  test('gets an answer of that version or a newer one', async () => {
    const version = await setup.turn();
    for (const least of ['0', `${version - 1}`, `${version}`]) expect((await ask(REPORT, named(least))).version).toBe(version);
  });

  test('is refused an older answer, on every door', async () => {
    const version = await setup.turn();
    for (const reading of Object.values(READINGS)) {
      const { status, body } = await ask(reading, named(`${version + 1}`));
      expect(status).toBe(422);
      if (reading.startsWith('/api/')) expect(JSON.parse(body)).toEqual({ errors: [{ error: 'Invalid parameter(s)', status: 422 }] });
      else expect(body).toContain(`X-Min-Data-Version is ${version + 1}, and the books are of version ${version}`);
    }
  });

  test('is refused when it names no number', async () => {
    for (const text of ['-1', '1.5', 'one', '9'.repeat(16)]) {
      const { status, body } = await ask(READINGS['a page of lines'], named(text));
      expect([status, body]).toEqual([422, expect.stringContaining('X-Min-Data-Version is not the number of a version')]);
    }
  });
});
