import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { AlteringProxy, type PassingAnswer } from '../support/altering-proxy';
import { bookLines } from '../support/any-lines';
import { runCommand, startCommand, type CommandResult } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { createOrganization, importLines, startGateway, type TestGateway, type TestOrganization } from '../support/gateway';
import { tries } from '../support/tries';

/** The doors in the order of the table, each with the beginning of its requests. */
const ASKED = {
  v2: /^\/api\/v2\//,
  'GraphQL list': /query Parity\(/,
  'GraphQL pages': /query ParityPages\(/,
  CSV: /^\/export\/deposit-details\.csv/,
  NDJSON: /^\/export\/deposit-details\.ndjson/,
  JSON: /^\/export\/deposit-details\.json/,
  'saved report': /^\/reports\/parity-/,
  summary: /query ParitySummary\(/,
};
const DOORS = ['books by SQL', ...Object.keys(ASKED)];
const LINE_DOORS = Object.keys(ASKED).slice(0, -1) as (keyof typeof ASKED)[];
const ALLOCATION = 'A609-0';
const MEMO = 'Memo of Ada';
/** More than a page of lines. One on the second page has a memo that no other has. */
const LINES = depositBook(700).map((line) => ({ ...line, main_memo: line.allocation_id === ALLOCATION ? MEMO : '' }));
const POSTED = LINES.filter(({ deposit_status }) => deposit_status === 'posted');
const placeIn = (lines: typeof LINES): number => lines.findIndex(({ allocation_id }) => allocation_id === ALLOCATION) + 1;

let gateway: TestGateway;
let proxy: AlteringProxy;
let directory: string;
let organization: TestOrganization;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-parity-'));
  gateway = await startGateway();
  proxy = await AlteringProxy.start(gateway.url);
  organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, LINES);
});
afterAll(async () => {
  await proxy.stop();
  await gateway.stop();
  rmSync(directory, { recursive: true });
});

/** The rows of the tables that a run must leave as they were. The audit of a run stays. */
async function countRows(): Promise<unknown> {
  const tables = ['saved_report', 'session', 'provision', 'provision_key', '"user"'];
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`);
  return (await gateway.database.client.query<Record<string, string>>(`SELECT ${counts.join(', ')}`)).rows[0];
}

let before: unknown;
beforeEach(async () => (before = await countRows()));
afterEach(async () => expect(await countRows()).toEqual(before));

const environment = (): Record<string, string> => ({ DATABASE_URL: gateway.database.url, LOG_LEVEL: 'fatal' });

function writeProvision(provision: string, mode = 0o600): string {
  const file = join(directory, `${provision}-${mode}`);
  writeFileSync(file, `${provision}\n`, { mode });
  return file;
}

const words = (url: string, of: TestOrganization, ...options: string[]): string[] => [
  ...['parity', '--organization', of.name, '--from', '0001-01-01', '--to', '9999-12-31', '--url', url],
  ...['--provision-file', writeProvision(of.apiProvision), ...options],
];

/** Runs the command through the proxy, which changes the answers whose request has a pattern. */
const parity = (asked: RegExp, change: (answer: PassingAnswer) => unknown, ...options: string[]): Promise<CommandResult> =>
  proxy.while(
    (answer) => (asked.test(answer.asked) ? change(answer) : undefined),
    () => runCommand(environment(), words(proxy.url, organization, ...options)),
  );

interface Result {
  readonly pending: string;
  readonly verdict: string;
  readonly reason: string | null;
  readonly doors: readonly { readonly door: string; readonly differs: string | null; readonly first: unknown }[];
}

/** The results of a run in JSON: for each, the verdict and the doors that differ. */
const verdictsOf = ({ stdout }: CommandResult): unknown[] =>
  (JSON.parse(stdout) as Result[]).map(({ pending, verdict, doors }) => [
    ...[pending, verdict],
    Object.fromEntries(doors.flatMap(({ door, differs, first }) => (differs === null ? [] : [[door, { differs, first }]]))),
  ]);

const bothAre = (verdict: string, differences: object = {}): unknown[] => [
  ['WITHOUT', verdict, differences],
  ['WITH', verdict, differences],
];

const altersMemo = (answer: PassingAnswer): void => void (answer.body = answer.body.replace(MEMO, 'Memo of Bea'));

describe('an operator who compares the doors', () => {
  test('sees them equal, without and with pending deposits', async () => {
    const { status, stdout, stderr } = await runCommand(environment(), words(gateway.url, organization));
    expect([status, stderr]).toEqual([0, '']);
    const [without, pending, verdict] = stdout.split('\n\n');
    expect(verdict).toBe('Every door tells what the books tell.\n');
    for (const [table, title, lines] of [
      [without, 'Without pending deposits, data version 1', POSTED.length],
      [pending, 'With pending deposits, data version 1', LINES.length],
    ] as const) {
      const [first, , ...rows] = table!.split('\n');
      expect(first).toBe(title);
      expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual(DOORS.map((door) => [door, String(lines)]));
      expect(rows.every((row) => row.endsWith('  yes'))).toBe(true);
    }
  });

  test('sees random books equal, also one without a line', async () => {
    const empty = await createOrganization(gateway.services);
    const equal = await runCommand(environment(), ['--json', ...words(gateway.url, empty)]);
    expect([equal.status, verdictsOf(equal)]).toEqual([0, bothAre('equal')]);
    await fc.assert(
      fc.asyncProperty(bookLines, async (lines) => {
        const other = await createOrganization(gateway.services);
        await importLines(gateway.services, other, lines);
        const result = await runCommand(environment(), ['--json', ...words(gateway.url, other)]);
        expect([result.status, verdictsOf(result)]).toEqual([0, bothAre('equal')]);
      }),
      { numRuns: tries(5) },
    );
    before = await countRows();
  });

  test('leaves an entry in the audit for the reading by SQL, as the doors do for theirs', async () => {
    const other = await createOrganization(gateway.services);
    await importLines(gateway.services, other, LINES);
    expect((await runCommand(environment(), words(gateway.url, other))).status).toBe(0);
    const list = ['--json', 'audit', 'list', '--organization', other.name];
    const entries = JSON.parse((await runCommand(environment(), list)).stdout) as Record<string, unknown>[];
    const range = { kind: 'read', startDate: '0001-01-01', endDate: '9999-12-31', dataVersion: 1, outcome: 'whole' };
    const ofCommand = entries.filter(({ operation, kind }) => operation === 'parity' && kind === 'read');
    expect(ofCommand).toHaveLength(2);
    for (const [pending, lines] of [
      ['WITHOUT', POSTED.length],
      ['WITH', LINES.length],
    ]) {
      expect(ofCommand).toContainEqual(expect.objectContaining({ ...range, door: 'command', pending, lines }));
    }
    expect(entries.filter(({ kind, door }) => kind === 'file' && door === 'file')).toHaveLength(8);
    before = await countRows();
  });

  test.each(LINE_DOORS)('is told the first line and field that differ at the door %s', async (door) => {
    const shown = await parity(ASKED[door], altersMemo, '--show-values');
    expect([shown.status, shown.stderr]).toEqual([1, `Not every door tells what the books tell: ${door}.\n`]);
    for (const lines of [POSTED, LINES]) {
      const told = `${door}: line ${placeIn(lines)}, allocation ${ALLOCATION}, main_memo: Memo of Ada in the books, Memo of Bea here`;
      expect(shown.stdout.split('\n')).toContain(told);
    }
    const masked = await parity(ASKED[door], altersMemo, '--json');
    expect(masked.status).toBe(1);
    expect(masked.stdout).not.toContain('Memo of');
    const first = { allocationId: ALLOCATION, field: 'main_memo', books: '(string of 11 characters)', door: '(string of 11 characters)' };
    const differs = (lines: typeof LINES) => ({
      [door]: { differs: 'digest', first: { ...first, line: placeIn(lines) } },
    });
    expect(verdictsOf(masked)).toEqual([
      ['WITHOUT', 'different', differs(POSTED)],
      ['WITH', 'different', differs(LINES)],
    ]);
  });

  test('is told a figure of a summary or of a trailer that differs', async () => {
    const summary = await parity(ASKED.summary, (answer) => (answer.body = answer.body.replace('"deposits":', '"deposits":1')), '--json');
    expect([summary.status, verdictsOf(summary)]).toEqual([1, bothAre('different', { summary: { differs: 'deposits', first: null } })]);
    const trailer = await parity(ASKED.CSV, ({ trailers }) => (trailers['x-export-amount-by-line'] = '1.00'));
    expect(trailer.status).toBe(1);
    expect(trailer.stdout).toContain('CSV: amountByLine differs, and no line does\n');
  });

  test('is told of a share that only the doors with shares have', async () => {
    const change = (answer: PassingAnswer): void =>
      void (answer.body = answer.body.replace(/("A609-0".*"allocation_amount":)"65\.00"/, '$1"65.01"'));
    const { status, stdout } = await parity(ASKED.NDJSON, change, '--show-values');
    expect(status).toBe(1);
    expect(stdout).toContain(`allocation ${ALLOCATION}, allocation_amount: 65.00 in the books, 65.01 here\n`);
  });

  test('is told of a line that a door lacks or has beside the others', async () => {
    const lacks = await parity(ASKED.NDJSON, (answer) => (answer.body = answer.body.replace(/[^\n]+\n$/, '')));
    expect(lacks.stdout).toContain(`NDJSON: line ${LINES.length}, allocation ${LINES.at(-1)!.allocation_id}: the door does not have it\n`);
    const doubles = await parity(ASKED.NDJSON, (answer) => (answer.body = answer.body.replace(/[^\n]+\n$/, '$&$&')));
    expect(doubles.stdout).toContain(
      `NDJSON: line ${LINES.length + 1}, allocation ${LINES.at(-1)!.allocation_id}: the books do not have it`,
    );
    expect([lacks.status, doubles.status]).toEqual([1, 1]);
  });

  test('is told of a door that does not answer the same twice', async () => {
    let isFirst = true;
    const { status, stdout } = await parity(ASKED.JSON, (answer) => {
      if (isFirst) altersMemo(answer);
      isFirst = false;
    });
    expect(status).toBe(1);
    expect(stdout).toContain('JSON: digest differs, and no line does\n');
  });

  test('is told of books that were changed by SQL, which no door can know', async () => {
    const change = (from: string, to: string) =>
      gateway.database.client.query('UPDATE transaction SET main_memo = $2 WHERE organization_id = $3 AND main_memo = $1', [
        ...[from, to, organization.id],
      ]);
    await change(MEMO, 'Memo of Cid');
    const { status, stderr } = await parity(/^$/, () => undefined).finally(() => change('Memo of Cid', MEMO));
    expect([status, stderr]).toEqual([1, `Not every door tells what the books tell: ${DOORS.slice(1).join(', ')}.\n`]);
  });
});

describe('an operator who compares the doors while books change', () => {
  let moving: TestOrganization;
  let versions = 0;
  beforeAll(async () => {
    moving = await createOrganization(gateway.services);
    await advance();
  });
  const advance = async (): Promise<void> => {
    await importLines(gateway.services, moving, versions === 0 ? LINES : [{ ...LINES[0], main_memo: `Version ${versions}` }]);
    versions++;
  };

  test('sees those equal that are of the newest version, after the others were asked again', async () => {
    for (const door of ['v2', 'GraphQL pages', 'summary'] as const) {
      let isFirst = true;
      const result = await proxy.while(
        async ({ asked }) => {
          if (!isFirst || !ASKED[door].test(asked)) return;
          isFirst = false;
          await advance();
        },
        () => runCommand(environment(), ['--json', ...words(proxy.url, moving)]),
      );
      expect([result.status, verdictsOf(result)]).toEqual([0, bothAre('equal')]);
    }
  });

  test('is told that nothing could be decided when they do not stop', async () => {
    const { status, stdout, stderr } = await proxy.while(
      () => advance(),
      () => runCommand(environment(), words(proxy.url, moving)),
    );
    const reason = 'The books are changing: the doors answered from different data versions each time';
    expect([status, stderr]).toEqual([3, `Nothing could be decided: ${reason}\n`]);
    expect(stdout).toBe(`Without pending deposits: not decided\n${reason}\n\nWith pending deposits: not decided\n${reason}\n`);
  });
});

describe('an operator is told that nothing could be decided', () => {
  const undecided = (reason: string) => ({ status: 3, stderr: `Nothing could be decided: ${reason}\n` });

  test('when the gateway is not there', async () => {
    expect(await runCommand(environment(), words('http://127.0.0.1:1', organization))).toMatchObject(
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
      const result = await parity(ASKED[door], change);
      expect(result).toMatchObject(undecided(`${door}: ${reason}`));
    }
  });

  test('when GraphQL has an error in place of its data', async () => {
    for (const door of ['GraphQL list', 'GraphQL pages'] as const) {
      const body = '{"errors":[{"message":"Data source query failed"}],"data":null}\n';
      expect(await parity(ASKED[door], (answer) => (answer.body = body))).toMatchObject(
        undecided(`${door}: the answer has no data: Data source query failed`),
      );
    }
  });

  test('but not when a refusal for a while is over', async () => {
    let isFirst = true;
    const { status } = await parity(ASKED.NDJSON, (answer) => {
      if (isFirst) Object.assign(answer, { status: 429, body: '', headers: { 'retry-after': '0' } });
      isFirst = false;
    });
    expect(status).toBe(0);
  });
});

describe('the provision of a comparison', () => {
  const refuse = async (file: string, ...options: string[]): Promise<CommandResult> =>
    runCommand(environment(), [...words(gateway.url, organization), '--provision-file', file, ...options]);

  test('is one of the organization that opens the report', async () => {
    const other = await createOrganization(gateway.services);
    const foreign = writeProvision(other.apiProvision);
    expect(await refuse(foreign)).toEqual({
      ...{ status: 3, stdout: '' },
      stderr: `The provision in ${foreign} is none of ${organization.name}\n`,
    });
    expect(await refuse(writeProvision(organization.webProvision))).toMatchObject({
      status: 3,
      stderr: 'Nothing could be decided: v2: the answer is 422: Not logged in\n',
    });
    const wrong = `${organization.apiProvision.slice(0, -1)}${organization.apiProvision.endsWith('0') ? '1' : '0'}`;
    expect(await refuse(writeProvision(wrong))).toMatchObject({
      status: 3,
      stderr: 'Nothing could be decided: v2: the answer is 422: Invalid provision\n',
    });
    before = await countRows();
  });

  test('is in a file that others may not read', async () => {
    const file = writeProvision(organization.apiProvision, 0o604);
    expect(await refuse(file)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('every account of this machine may read') as string,
    });
    expect(await refuse(join(directory, 'none'))).toMatchObject({ status: 3, stderr: `Cannot read ${join(directory, 'none')}\n` });
  });
});

describe('an operator who ends a comparison', () => {
  test('by a signal leaves nothing behind', async () => {
    let tell: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (tell = resolve));
    await proxy.while(
      async ({ asked }) => {
        if (!ASKED['saved report'].test(asked)) return;
        expect(await countRows()).not.toEqual(before);
        tell();
        await ended;
      },
      async () => {
        const child = startCommand(environment(), words(proxy.url, organization));
        const closed = once(child, 'close') as Promise<[number]>;
        await Promise.race([reached, closed]);
        child.kill('SIGTERM');
        expect((await closed)[0]).toBe(3);
        end();
      },
    );
  });
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));

  test('by a kill leaves a saved report that a run of another day deletes', async () => {
    const save = (name: string, title: string, age: string) =>
      gateway.database.client.query(
        `INSERT INTO saved_report (organization_id, name, title, query, variables, updated_at) VALUES ($1, $2, $3, '{ viewer }', '{}', now() - $4::interval)`,
        [organization.id, name, title, age],
      );
    await save('parity-0011223344556677', 'Made by the command parity', '2 days');
    await save('parity-of-funds', 'Parity of funds', '2 days');
    await save('parity-7766554433221100', 'Made by the command parity', '2 hours');
    expect((await runCommand(environment(), words(gateway.url, organization))).status).toBe(0);
    const { rows } = await gateway.database.client.query<{ name: string }>('DELETE FROM saved_report RETURNING name');
    expect(rows.map(({ name }) => name).sort()).toEqual(['parity-7766554433221100', 'parity-of-funds']);
  });

  test.each([
    [['--to', '0000-00-00'], /--to/],
    [['--from', '2026-01-02', '--to', '2026-01-01'], /^--from must not be after --to\n$/],
    [['--url', 'ftp://gateway'], /^--url: expected an address such as https:\/\/gateway\.example\.org\n$/],
    [['--url', 'http://ada:secret@gateway'], /^--url must not have credentials: --provision-file has them\n$/],
  ])('is told what is wrong in %s', async (options, fault) => {
    const { status, stderr } = await runCommand(environment(), words(gateway.url, organization, ...options));
    expect([status, stderr]).toEqual([2, expect.stringMatching(fault)]);
  });
});
