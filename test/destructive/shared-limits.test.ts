import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createOrganization, graphql, type TestOrganization } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { EVERYTHING, fillReport, REPORT } from '../support/long-report';
import { until } from '../support/until';
import { startWorkerGateway, withWorkers, type WorkerGateway } from '../support/worker-gateway';

const LINES = 20_000;
const DAY_LINES = 20;
const FIRST_DAY = `${REPORT}?start_date=2020-01-01&end_date=2020-01-01`;
const SYSTEM = '/api/v2/authenticated_test_system';

type Headers = Readonly<Record<string, string>>;
const server = ({ apiProvision }: TestOrganization): Headers => ({ Provision: apiProvision });

/** Reads a report to its end. Returns its number of lines, `cut`, or its error. */
async function outcomeOf(response: IncomingMessage): Promise<number | string> {
  const { body, complete } = await readAll(response);
  if (!complete) return 'cut';
  const answer = JSON.parse(body.toString()) as { response?: object[]; errors?: { error: string; status: number }[] };
  return answer.response?.length ?? `${answer.errors![0]!.status} ${answer.errors![0]!.error}`;
}

/** The processes that have logged a request to a path. */
const answering = (gateway: WorkerGateway, path: string): Set<unknown> =>
  new Set(
    ['request completed', 'request broken off']
      .flatMap((message) => gateway.logged(message))
      .filter((line) => line.path === path)
      .map(({ pid }) => pid),
  );

describe('an organization, at a gateway of two workers,', () => {
  let gateway: WorkerGateway;
  let hope: TestOrganization;
  let faith: TestOrganization;
  let grace: TestOrganization;
  let mercy: TestOrganization;

  beforeAll(async () => {
    gateway = await startWorkerGateway({ REPORT_CONCURRENCY: '1', REPORT_QUEUE: '6' });
    hope = gateway.organization;
    faith = await createOrganization(gateway.services);
    grace = await createOrganization(gateway.services);
    mercy = await createOrganization(gateway.services);
    for (const { id } of [hope, faith, grace, mercy]) await fillReport(gateway.database.client, id, LINES, `repeat('m', 500)`);
  });
  afterAll(() => gateway.stop());

  const hold = async (organization: TestOrganization): Promise<IncomingMessage> => {
    const response = await ask(gateway.url + EVERYTHING, { headers: server(organization) });
    expect(response.statusCode).toBe(200);
    return response;
  };
  const untilWaiting = (count: number): Promise<void> => until(async () => (await gateway.metric('gateway_reports_waiting')) === count);
  const untilFree = (): Promise<void> => until(async () => (await gateway.metric('gateway_report_lanes')) === 0);

  test('has one lane beyond those of the others, whichever worker it reaches, and not more', async () => {
    const holding = [await hold(hope)];
    // Each connection goes to the worker that has fewer.
    const waiting = ask(gateway.url + FIRST_DAY, { headers: server(hope) });
    await untilWaiting(1);
    for (let round = 0; round < 4; round++) {
      expect(await outcomeOf(await ask(gateway.url + FIRST_DAY, { headers: server(faith) }))).toBe(DAY_LINES);
    }
    await until(async () => (await gateway.metric('gateway_report_lanes')) === 1);
    holding.push(await hold(faith));
    expect(await gateway.metric('gateway_report_lanes')).toBe(2);
    const late = ask(gateway.url + FIRST_DAY, { headers: server(grace) });
    await untilWaiting(2);
    for (const response of holding) response.destroy();
    expect([await outcomeOf(await waiting), await outcomeOf(await late)]).toEqual([DAY_LINES, DAY_LINES]);
    await untilFree();
    await until(() => answering(gateway, REPORT).size === 2);
  });

  test('takes turns with another in line, however many reports that one has there and at which worker', async () => {
    const holding = [await hold(grace), await hold(mercy)];
    const served: string[] = [];
    const coming: Promise<void>[] = [];
    for (const name of ['hope 1', 'hope 2', 'hope 3', 'faith 1', 'faith 2']) {
      const response = ask(gateway.url + FIRST_DAY, { headers: server(name.startsWith('hope') ? hope : faith) });
      coming.push(response.then(outcomeOf).then((outcome) => void served.push(`${name} ${outcome}`)));
      await untilWaiting(coming.length);
    }
    // One lane serves all who wait.
    holding[1]!.destroy();
    await Promise.all(coming);
    holding[0]!.destroy();
    const turns = ['hope 1 20', 'faith 1 20', 'hope 2 20', 'faith 2 20', 'hope 3 20'];
    expect(served.toSorted()).toEqual(turns.toSorted());
    // A lane is free before the whole answer has arrived, so that two neighbours may arrive in either order.
    const moved = turns.map((turn, place) => Math.abs(served.indexOf(turn) - place));
    expect(Math.max(...moved)).toBeLessThanOrEqual(1);
    await untilFree();
  });

  test('finds a place in a line that another has filled, and gives it up by leaving', async () => {
    const holding = [await hold(hope), await hold(faith)];
    const leaving = new AbortController();
    const outcomes: Promise<number | string>[] = [];
    while (outcomes.length < 6) {
      const options = { headers: server(hope), ...(outcomes.length === 0 && { signal: leaving.signal }) };
      outcomes.push(
        ask(gateway.url + FIRST_DAY, options)
          .then(outcomeOf)
          .catch(() => 'left'),
      );
      await untilWaiting(outcomes.length);
    }
    outcomes.push(ask(gateway.url + FIRST_DAY, { headers: server(faith) }).then(outcomeOf));
    // The newest report of the longest line makes room.
    await until(async () => (await gateway.metric('gateway_reports_turned_away_total', { reason: 'full' })) === 1);
    leaving.abort();
    await untilWaiting(5);
    for (const response of holding) response.destroy();
    const day = DAY_LINES;
    expect(await Promise.all(outcomes)).toEqual(['left', day, day, day, day, '429 Too many of your requests are waiting', day]);
    await untilFree();
  });
});

describe('a caller who guesses provisions at two workers', () => {
  const ATTEMPTS = 20;
  const askAs = (gateway: WorkerGateway, provision: string): Promise<number> =>
    ask(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { Provision: provision, 'Content-Type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    }).then((response) => response.resume().statusCode!);

  test('tries as many as at one, be they at once', async () => {
    await withWorkers({ PROVISION_ATTEMPTS: String(ATTEMPTS) }, async (gateway) => {
      const answers = await Promise.all(Array.from({ length: ATTEMPTS * 5 }, () => askAs(gateway, randomUUID())));
      expect(answers.filter((status) => status !== 429)).toHaveLength(ATTEMPTS);
      expect(await askAs(gateway, gateway.organization.webProvision)).toBe(429);
      expect(await gateway.metric('gateway_provision_guesses_total', { outcome: 'unknown' })).toBe(ATTEMPTS);
      await until(() => answering(gateway, '/graphql').size === 2);
    });
  });

  test('stops no application that works, though its next request reaches the other worker', async () => {
    await withWorkers({ PROVISION_ATTEMPTS: String(ATTEMPTS) }, async (gateway) => {
      const { apiProvision, webProvision } = gateway.organization;
      const good = async (provision: string): Promise<number> =>
        (await ask(gateway.url + SYSTEM, { headers: { Provision: provision } })).resume().statusCode!;
      expect(await good(apiProvision)).toBe(200);
      await Promise.all(Array.from({ length: ATTEMPTS }, () => askAs(gateway, randomUUID())));
      const answers = await Promise.all(Array.from({ length: 8 }, () => good(apiProvision)));
      expect(new Set(answers)).toEqual(new Set([200]));
      expect(await good(webProvision)).toBe(422);
      await until(() => answering(gateway, SYSTEM).size === 2);
    });
  });
});

test.each(['counts', 'cannot count'])(
  'a caller who guesses passwords at two workers tries as many as at one, also when the database %s',
  async (state) => {
    await withWorkers({ LOGIN_ATTEMPTS: '5' }, async (gateway) => {
      if (state === 'cannot count') await gateway.database.client.query('ALTER TABLE login_attempt RENAME TO login_attempt_away');
      const mutation = 'mutation { login(input: { username: "ada", password: "wrong" }) { viewer { username } } }';
      const codes = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const { body } = await graphql(gateway.url, mutation, { provision: gateway.organization.webProvision });
          return body.errors![0]!.extensions.code;
        }),
      );
      expect(codes.filter((code) => code !== 'TOO_MANY_LOGIN_ATTEMPTS')).toHaveLength(5);
    });
  },
);
