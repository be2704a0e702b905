import type { IncomingMessage } from 'node:http';
import { startDatabaseProxy, type DatabaseProxy } from '../support/database-proxy';
import { createOrganization, login, startGateway, type TestGateway, type TestOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const LINES = 5000;
const DAY_LINES = 5;
const FIRST_DAY = `${REPORT}?start_date=2020-01-01&end_date=2020-01-01`;

/** Holds the data. */
const store = openGateway();
const { organization: hope } = store;
let faith: TestOrganization;
let grace: TestOrganization;
let mercy: TestOrganization;
/** The proxy between the gateway under test and the database. */
let proxy: DatabaseProxy;
let gateway: TestGateway;

beforeAll(async () => {
  faith = await createOrganization(store.services);
  grace = await createOrganization(store.services);
  mercy = await createOrganization(store.services);
  for (const { id } of [hope, faith, grace, mercy]) await fillReport(store.database.client, id, LINES, `repeat('m', 2500)`);
});

/** With one connection for short queries, requests reach the queue in the order in which they were sent. */
async function start(settings: Readonly<Record<string, string>>): Promise<void> {
  proxy = await startDatabaseProxy(store.database.url);
  gateway = await startGateway({ DATABASE_URL: proxy.url, REPORT_CONCURRENCY: '1', POOL_SIZE: '1', ...settings });
}
afterEach(async () => {
  await gateway.stop();
  await proxy.close();
});

type Headers = Readonly<Record<string, string>>;
const server = ({ apiProvision }: TestOrganization): Headers => ({ Provision: apiProvision });

/** Asks for a report; resolves when the gateway knows who asks, so that it is in line or inside. */
async function lineUp(path: string, headers: Headers): Promise<{ response: Promise<IncomingMessage> }> {
  const before = proxy.statements();
  const response = ask(gateway.url + path, { headers });
  response.catch(() => undefined);
  await until(() => proxy.statements() > before);
  return { response };
}

/** Reads a report to its end. Returns its number of lines, `cut`, or its error. */
async function outcomeOf(response: Promise<IncomingMessage>): Promise<number | string> {
  const { body, complete } = await readAll(await response);
  if (!complete) return 'cut';
  const answer = JSON.parse(body.toString()) as { response?: object[]; errors?: { error: string; status: number }[] };
  return answer.response?.length ?? `${answer.errors![0]!.status} ${answer.errors![0]!.error}`;
}

const TURNED_AWAY = '429 Too many of your requests are waiting';

describe('an organization', () => {
  test('is served at once while another holds all lanes and does not read', async () => {
    await start({ REPORT_CONCURRENCY: '2' });
    const holding = [
      await ask(gateway.url + EVERYTHING, { headers: server(hope) }),
      await ask(gateway.url + EVERYTHING, { headers: server(hope) }),
    ];
    const waiting = await lineUp(FIRST_DAY, server(hope));
    for (let round = 0; round < 3; round++) expect(await outcomeOf((await lineUp(FIRST_DAY, server(faith))).response)).toBe(DAY_LINES);
    for (const response of holding) response.destroy();
    expect(await outcomeOf(waiting.response)).toBe(DAY_LINES);
  });

  test('has one lane beyond the others, not more, and there are as many of those as others', async () => {
    await start({ REPORT_CONCURRENCY: '2', REPORT_QUEUE: '0' });
    const hold = async (organization: TestOrganization): Promise<IncomingMessage> => {
      const response = await ask(gateway.url + EVERYTHING, { headers: server(organization) });
      expect(response.statusCode).toBe(200);
      return response;
    };
    const askDay = (organization: TestOrganization): Promise<number | string> =>
      outcomeOf(ask(gateway.url + FIRST_DAY, { headers: server(organization) }));
    const holding = [await hold(hope), await hold(hope), await hold(faith)];
    // One more lane is free, but not for those who have one.
    expect([await askDay(hope), await askDay(faith)]).toEqual([TURNED_AWAY, TURNED_AWAY]);
    holding.push(await hold(grace));
    expect(await askDay(mercy)).toBe(TURNED_AWAY);
    for (const response of holding) response.destroy();
    for (const organization of [hope, faith, grace, mercy]) await until(async () => (await askDay(organization)) === DAY_LINES);
  });

  test('gets the next lane before another that holds more', async () => {
    await start({ REPORT_CONCURRENCY: '4' });
    const holding: IncomingMessage[] = [];
    for (const organization of [hope, hope, faith, grace]) {
      holding.push(await ask(gateway.url + EVERYTHING, { headers: server(organization) }));
    }
    const served: string[] = [];
    const coming: Promise<void>[] = [];
    for (const [name, organization] of [
      ['hope', hope],
      ['faith', faith],
    ] as const) {
      const { response } = await lineUp(FIRST_DAY, server(organization));
      coming.push(outcomeOf(response).then((outcome) => void served.push(`${name} ${outcome}`)));
    }
    expect((await ask(`${gateway.url}/api/v2/authenticated_test_system`, { headers: server(faith) })).statusCode).toBe(200);
    holding.pop()!.destroy();
    await Promise.all(coming);
    expect(served).toEqual(['faith 5', 'hope 5']);
    for (const response of holding) response.destroy();
  });

  test('takes turns with another in line, however many reports that one has there', async () => {
    await start({});
    const holding = [
      await ask(gateway.url + EVERYTHING, { headers: server(grace) }),
      await ask(gateway.url + EVERYTHING, { headers: server(mercy) }),
    ];
    const served: string[] = [];
    const coming: Promise<void>[] = [];
    const queue = async (name: string, organization: TestOrganization): Promise<void> => {
      const { response } = await lineUp(FIRST_DAY, server(organization));
      coming.push(outcomeOf(response).then((outcome) => void served.push(`${name} ${outcome}`)));
    };
    for (const name of ['hope 1', 'hope 2', 'hope 3']) await queue(name, hope);
    for (const name of ['faith 1', 'faith 2']) await queue(name, faith);
    expect((await ask(`${gateway.url}/api/v2/authenticated_test_system`, { headers: server(faith) })).statusCode).toBe(200);
    // One lane serves all who wait.
    holding[1]!.destroy();
    await Promise.all(coming);
    expect(served).toEqual(['hope 1 5', 'faith 1 5', 'hope 2 5', 'faith 2 5', 'hope 3 5']);
    holding[0]!.destroy();
  });

  test('finds a place in a line that another has filled: the newest report of the longest line is turned away', async () => {
    await start({ REPORT_QUEUE: '3' });
    const holding = [
      await ask(gateway.url + EVERYTHING, { headers: server(hope) }),
      await ask(gateway.url + EVERYTHING, { headers: server(faith) }),
    ];
    const first = await lineUp(FIRST_DAY, server(hope));
    const second = await lineUp(FIRST_DAY, server(hope));
    const third = await lineUp(FIRST_DAY, server(hope));
    const fourth = await lineUp(FIRST_DAY, server(hope));
    expect(await outcomeOf(fourth.response)).toBe(TURNED_AWAY);
    const newcomer = await lineUp(FIRST_DAY, server(faith));
    expect(await outcomeOf(third.response)).toBe(TURNED_AWAY);
    // With one more, both lines are as long: the own one counts as the longest.
    expect(await outcomeOf((await lineUp(FIRST_DAY, server(faith))).response)).toBe(TURNED_AWAY);
    for (const response of holding) response.destroy();
    for (const { response } of [first, second, newcomer]) expect(await outcomeOf(response)).toBe(DAY_LINES);
  });
});

describe('a credential', () => {
  test('takes turns with the others of its organization', async () => {
    await start({});
    const user: Headers = { Provision: hope.webProvision, Cookie: await login(gateway.url, hope.webProvision) };
    const holding = await ask(gateway.url + EVERYTHING, { headers: server(hope) });
    const served: string[] = [];
    const coming: Promise<void>[] = [];
    for (const [name, headers] of [
      ['server 1', server(hope)],
      ['server 2', server(hope)],
      ['server 3', server(hope)],
      ['user 1', user],
      ['user 2', user],
    ] as const) {
      const { response } = await lineUp(FIRST_DAY, headers);
      coming.push(outcomeOf(response).then((outcome) => void served.push(`${name} ${outcome}`)));
    }
    holding.destroy();
    await Promise.all(coming);
    expect(served).toEqual(['user 1 5', 'server 1 5', 'user 2 5', 'server 2 5', 'server 3 5']);
  });

  test('loses its own newest place to another of its organization', async () => {
    await start({ REPORT_QUEUE: '2' });
    const user: Headers = { Provision: hope.webProvision, Cookie: await login(gateway.url, hope.webProvision) };
    const holding = await ask(gateway.url + EVERYTHING, { headers: server(hope) });
    const [first, second] = [await lineUp(FIRST_DAY, server(hope)), await lineUp(FIRST_DAY, server(hope))];
    const users = await lineUp(FIRST_DAY, user);
    expect(await outcomeOf(second.response)).toBe(TURNED_AWAY);
    holding.destroy();
    expect([await outcomeOf(users.response), await outcomeOf(first.response)]).toEqual([DAY_LINES, DAY_LINES]);
  });
});

/** Reads so many bytes every tenth of a second until the answer ends; returns whether it came whole. */
async function trickle(response: IncomingMessage, bytes: number): Promise<boolean> {
  response.pause();
  const timer = setInterval(() => void response.read(Math.min(bytes, response.readableLength || bytes)), 100);
  const whole = await new Promise<boolean>((resolve) => {
    response.on('end', () => resolve(response.complete)).on('error', () => resolve(false));
  });
  clearInterval(timer);
  return whole;
}

describe('a reader', () => {
  test('who goes on reading, but too slowly, is let go, and the lane is free', async () => {
    await start({ READER_STALL_SECONDS: '2', READER_KILOBYTES_PER_SECOND: '100000', REPORT_QUEUE_SECONDS: '60' });
    const slow = await ask(gateway.url + EVERYTHING, { headers: server(hope) });
    // Enough for the gateway to see that something is read: who reads nothing is let go at any pace.
    const whole = trickle(slow, 100_000);
    const next = await lineUp(FIRST_DAY, server(hope));
    expect(await outcomeOf(next.response)).toBe(DAY_LINES);
    expect(await whole).toBe(false);
  });

  test('who reads faster than that gets all of it, however long it takes', async () => {
    await start({ READER_STALL_SECONDS: '1', READER_KILOBYTES_PER_SECOND: '1' });
    const slow = await ask(gateway.url + EVERYTHING, { headers: server(hope) });
    expect(await trickle(slow, 400_000)).toBe(true);
  });
});
