import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PassingAnswer } from '../support/altering-proxy';
import { runCommand, startCommand, withoutDatabase, type CommandResult } from '../support/command';
import { ASKED, openComparedGateway } from '../support/compared-gateway';
import { createOrganization } from '../support/gateway';
import { until } from '../support/until';

const compared = openComparedGateway();

describe('an operator is told that nothing could be decided', () => {
  const undecided = (reason: string) => ({ status: 3, stderr: `It could not be decided: ${reason}\n` });

  test('when the gateway is not there', async () => {
    expect(await runCommand(compared.environment, compared.words('http://127.0.0.1:1', compared.organization))).toMatchObject(
      undecided('v2: there is no answer from http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1'),
    );
  });

  test.each<[string, (answer: PassingAnswer) => unknown, string]>([
    ['breaks off', (answer) => (answer.isCut = true), 'the answer breaks off'],
    [
      'is a page of a proxy',
      (answer) => Object.assign(answer, { status: 502, body: '<p>Ada</p>' }),
      'the answer is 502: an answer of another kind',
    ],
    ['has no version', ({ headers }) => delete headers['x-data-version'], 'the answer has no X-Data-Version'],
  ])('when an answer %s', async (_title, change, reason) => {
    for (const door of ['v2', 'GraphQL list', 'GraphQL pages', 'CSV', 'summary'] as const) {
      const result = await compared.parity(ASKED[door], change);
      expect(result).toMatchObject(undecided(`${door}: ${reason}`));
    }
  });

  test('when GraphQL has an error in place of its data', async () => {
    for (const door of ['GraphQL list', 'GraphQL pages'] as const) {
      const body = '{"errors":[{"message":"Data source query failed"}],"data":null}\n';
      expect(await compared.parity(ASKED[door], (answer) => (answer.body = body))).toMatchObject(
        undecided(`${door}: the answer has no data: Data source query failed`),
      );
    }
  });

  test('but not when a refusal for a while is over', async () => {
    let isFirst = true;
    const { status } = await compared.parity(ASKED.NDJSON, (answer) => {
      if (isFirst) Object.assign(answer, { status: 429, body: '', headers: { 'retry-after': '0' } });
      isFirst = false;
    });
    expect(status).toBe(0);
  });
});

describe('an operator whose gateway has one door that fails', () => {
  const changed = (answer: PassingAnswer): unknown => (answer.body = answer.body.replace(/"amount":"[0-9.]+"/, '"amount":"0.01"'));

  test('is told of another door that differs all the same', async () => {
    const { status, stdout, stderr } = await compared.parity(/^\//, (answer) => {
      if (ASKED.v2.test(answer.asked)) changed(answer);
      else if (ASKED.summary.test(answer.asked)) Object.assign(answer, { status: 500, body: '' });
    });
    expect([status, stderr]).toEqual([1, 'Not every door tells what the books tell: v2.\n']);
    expect(stdout).toMatch(/^summary .* not read$/m);
    expect(stdout).toContain('summary: the answer is 500: an answer of another kind');
    expect(stdout).toMatch(/^v2: line \d+, allocation .*, amount: /m);
  });

  test('is told of a difference whose second reading fails', async () => {
    const readings = new Map<string, number>();
    const { status, stderr } = await compared.parity(ASKED.CSV, (answer) => {
      const number = (readings.get(answer.asked) ?? 0) + 1;
      readings.set(answer.asked, number);
      if (number > 1) Object.assign(answer, { status: 500, body: '' });
      else answer.body = answer.body.replace(/(\r\n[^\r]*?)Ada/, '$1Eva');
    });
    expect([status, stderr]).toEqual([1, 'Not every door tells what the books tell: CSV.\n']);
  });

  test.each<[string, keyof typeof ASKED, (body: string) => string, string]>([
    ['pages that do not end', 'GraphQL pages', (body) => body.replace('"hasNextPage":false', '"hasNextPage":true'), 'the pages do not end'],
    ['a page of nothing', 'GraphQL pages', () => '{"data":{"page":null}}', 'the answer has another form'],
    ['a line of nothing', 'GraphQL pages', (body) => body.replace('"nodes":[', '"nodes":[null,'), 'the answer has another form'],
    ['a summary of nothing', 'summary', () => '{"data":{"summary":null}}', 'the answer has another form'],
  ])('is told of %s', async (_title, door, change, reason) => {
    // The proxy sees each page, and only the last one ends.
    const { status, stderr } = await compared.parity(ASKED[door], (answer) => {
      answer.body = change(answer.body.replace(/"endCursor":"[^"]*"/, door === 'GraphQL pages' ? '"endCursor":null' : '$&'));
    });
    expect([status, stderr]).toEqual([3, `It could not be decided: ${door}: ${reason}\n`]);
  });

  test('is told of a summary without a sum of shares that the books have', async () => {
    const { status, stderr } = await compared.parity(ASKED.summary, (answer) => {
      answer.body = answer.body.replace(/"byAllocation":\{"amount":"[^"]*"/, '"byAllocation":{"amount":null');
    });
    expect([status, stderr]).toEqual([1, 'Not every door tells what the books tell: summary.\n']);
  });
});

describe('the provision of a comparison', () => {
  const refuse = async (file: string, ...options: string[]): Promise<CommandResult> =>
    runCommand(compared.environment, [
      ...compared.words(compared.gateway.url, compared.organization),
      '--provision-file',
      file,
      ...options,
    ]);

  test('is one of the organization that opens the report', async () => {
    const other = await createOrganization(compared.gateway.services);
    const foreign = compared.writeProvision(other.apiProvision);
    expect(await refuse(foreign)).toEqual({
      ...{ status: 3, stdout: '' },
      stderr: `The provision in ${foreign} is none of ${compared.organization.name}\n`,
    });
    expect(await refuse(compared.writeProvision(compared.organization.webProvision))).toMatchObject({
      status: 3,
      stderr: 'It could not be decided: v2: the answer is 422: Not logged in\n',
    });
    const wrong = `${compared.organization.apiProvision.slice(0, -1)}${compared.organization.apiProvision.endsWith('0') ? '1' : '0'}`;
    expect(await refuse(compared.writeProvision(wrong))).toMatchObject({
      status: 3,
      stderr: 'It could not be decided: v2: the answer is 422: Invalid provision\n',
    });
  });

  test('is in a file that others may not read', async () => {
    const file = compared.writeProvision(compared.organization.apiProvision, 0o604);
    expect(await refuse(file)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('every account of this machine may read') as string,
    });
    expect(await refuse(join(compared.directory, 'none'))).toMatchObject({
      status: 3,
      stderr: `Cannot read ${join(compared.directory, 'none')}\n`,
    });
  });
});

describe('an operator who ends a comparison', () => {
  /** Starts a run, ends it by a signal once a condition holds, and expects that it says so. */
  async function endWhen(isReached: () => Promise<boolean>): Promise<void> {
    const child = startCommand(compared.environment, compared.words(compared.proxy.url, compared.organization));
    const said = Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close') as Promise<[number]>]);
    try {
      await until(async () => child.exitCode !== null || (await isReached()));
      expect(await compared.listReports()).toEqual([expect.stringMatching(/^parity-[0-9a-f]{16}$/)]);
      child.kill('SIGTERM');
      const [stdout, stderr, [status]] = await said;
      expect([status, stdout, withoutDatabase(stderr)]).toEqual([3, '', 'Ended by a signal: nothing was decided\n']);
    } finally {
      child.kill('SIGKILL');
    }
  }

  test('by a signal leaves nothing behind while a door answers', async () => {
    let isAsked = false;
    let goOn: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (goOn = resolve));
    await compared.proxy.while(
      ({ asked }) => {
        if (!ASKED['saved report'].test(asked)) return undefined;
        isAsked = true;
        return ended;
      },
      () => endWhen(() => Promise.resolve(isAsked)).finally(goOn),
    );
  });

  test('by a signal leaves nothing behind while SQL reads the books', async () => {
    const { client } = compared.gateway.database;
    await client.query('BEGIN');
    try {
      await client.query('LOCK TABLE allocation IN ACCESS EXCLUSIVE MODE');
      // The view of activities would be the same until the transaction ends.
      const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'allocation'::regclass`;
      await endWhen(async () => (await client.query(waiting)).rowCount === 1);
    } finally {
      await client.query('ROLLBACK');
    }
  });

  test('by a kill leaves a saved report that a run of another day deletes', async () => {
    const save = (name: string, title: string, age: string) =>
      compared.gateway.database.client.query(
        `INSERT INTO saved_report (organization_id, name, title, query, variables, updated_at) VALUES ($1, $2, $3, '{ viewer }', '{}', now() - $4::interval)`,
        [compared.organization.id, name, title, age],
      );
    await save('parity-0011223344556677', 'Made by the command parity', '2 days');
    await save('parity-of-funds', 'Parity of funds', '2 days');
    await save('parity-7766554433221100', 'Made by the command parity', '2 hours');
    expect((await runCommand(compared.environment, compared.words(compared.gateway.url, compared.organization))).status).toBe(0);
    expect(await compared.listReports()).toEqual(['parity-7766554433221100', 'parity-of-funds']);
    await compared.gateway.database.client.query('DELETE FROM saved_report');
  });

  test.each([
    [['--to', '2026-02-30'], /^error: option '--to <date>' argument '2026-02-30' is invalid\. /],
    [['--from', '2026-01-02', '--to', '2026-01-01'], /^--from must not be after --to\n$/],
    [['--url', 'ftp://gateway'], /^--url: expected an address such as https:\/\/service\.example\.org\n$/],
    [['--url', 'http://gateway/?a=b'], /^--url: expected an address without a query\n$/],
    [['--url', 'http://ada:secret@gateway'], /^--url must not have credentials: --provision-file has them\n$/],
  ])('is told what is wrong in %s', async (options, fault) => {
    const result = await runCommand(compared.environment, compared.words(compared.gateway.url, compared.organization, ...options));
    expect(result).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(fault) as string });
  });
});
