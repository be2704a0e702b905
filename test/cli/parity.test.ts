import fc from 'fast-check';
import type { PassingAnswer } from '../support/altering-proxy';
import { bookLines } from '../support/any-lines';
import { runCommand, type CommandResult } from '../support/command';
import { ALLOCATION, ASKED, DOORS, LINES, MEMO, openComparedGateway, POSTED } from '../support/compared-gateway';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { tries } from '../support/tries';

const LINE_DOORS = Object.keys(ASKED).slice(0, -1) as (keyof typeof ASKED)[];
const placeIn = (lines: typeof LINES): number => lines.findIndex(({ allocation_id }) => allocation_id === ALLOCATION) + 1;

const compared = openComparedGateway();

interface Result {
  readonly pending: string;
  readonly verdict: string;
  readonly version: number;
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
    const { status, stdout, stderr } = await runCommand(compared.environment, compared.words(compared.gateway.url, compared.organization));
    expect([status, stderr]).toEqual([0, '']);
    const [without, pending, verdict] = stdout.split('\n\n');
    expect(verdict).toBe('Every door tells what the books tell.\n');
    for (const [table, title, lines] of [
      [without, 'Without pending deposits, data version 1', POSTED.length],
      [pending, 'With pending deposits, data version 1', LINES.length],
    ] as const) {
      const [first, titles, ...rows] = table!.split('\n');
      expect(first).toBe(title);
      expect(rows.map((row) => row.split(/ {2,}/).length)).toEqual(rows.map(() => titles!.split(/ {2,}/).length));
      expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual(DOORS.map((door) => [door, String(lines)]));
      expect(rows.every((row) => row.endsWith('  yes'))).toBe(true);
    }
  });

  test('sees random books equal, also one without a line', async () => {
    const empty = await createOrganization(compared.gateway.services);
    const equal = await runCommand(compared.environment, ['--json', ...compared.words(compared.gateway.url, empty)]);
    expect([equal.status, verdictsOf(equal)]).toEqual([0, bothAre('equal')]);
    await fc.assert(
      fc.asyncProperty(bookLines, async (lines) => {
        const other = await createOrganization(compared.gateway.services);
        await importLines(compared.gateway.services, other, lines);
        const result = await runCommand(compared.environment, ['--json', ...compared.words(compared.gateway.url, other)]);
        expect([result.status, verdictsOf(result)]).toEqual([0, bothAre('equal')]);
      }),
      { numRuns: tries(5) },
    );
  });

  test('leaves an entry in the audit for the reading by SQL, as the doors do for theirs', async () => {
    const other = await createOrganization(compared.gateway.services);
    await importLines(compared.gateway.services, other, LINES);
    expect((await runCommand(compared.environment, compared.words(compared.gateway.url, other))).status).toBe(0);
    const list = ['--json', 'audit', 'list', '--organization', other.name];
    const entries = JSON.parse((await runCommand(compared.environment, list)).stdout) as Record<string, unknown>[];
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
  });

  test.each(LINE_DOORS)('is told the first line and field that differ at the door %s', async (door) => {
    const shown = await compared.parity(ASKED[door], altersMemo, '--show-values');
    expect([shown.status, shown.stderr]).toEqual([1, `Not every door tells what the books tell: ${door}.\n`]);
    for (const lines of [POSTED, LINES]) {
      const told = `${door}: line ${placeIn(lines)}, allocation ${ALLOCATION}, main_memo: Memo of Ada in the books, Memo of Bea here`;
      expect(shown.stdout.split('\n')).toContain(told);
    }
    const masked = await compared.parity(ASKED[door], altersMemo, '--json');
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
    const summary = await compared.parity(
      ASKED.summary,
      (answer) => (answer.body = answer.body.replace('"deposits":', '"deposits":1')),
      '--json',
    );
    expect([summary.status, verdictsOf(summary)]).toEqual([1, bothAre('different', { summary: { differs: 'deposits', first: null } })]);
    const trailer = await compared.parity(ASKED.CSV, ({ trailers }) => (trailers['x-export-amount-by-line'] = '1.00'));
    expect(trailer.status).toBe(1);
    expect(trailer.stdout).toContain('CSV: amountByLine differs, and no line does\n');
  });

  test.each([
    ['allocation_amount', '65.00', '65.01'],
    ['deposit_status', 'posted', 'pending'],
  ])('is told of a difference in a field that v2 lacks: %s', async (field, value, other) => {
    const pattern = new RegExp(`("${ALLOCATION}".*"${field}":)"${value}"`);
    const change = (answer: PassingAnswer): void => void (answer.body = answer.body.replace(pattern, `$1"${other}"`));
    const { status, stdout } = await compared.parity(ASKED.NDJSON, change, '--show-values');
    expect(status).toBe(1);
    expect(stdout).toContain(`allocation ${ALLOCATION}, ${field}: ${value} in the books, ${other} here\n`);
  });

  test.each([
    ['v2', /"city":/, '"deposit_status":"posted","city":', 'deposit_status'],
    ['JSON', /"city":/, '"tax_number":"12","city":', 'tax_number'],
    ['NDJSON', /,"allocation_amount":null/, '', 'allocation_amount'],
  ] as const)('is told of a field that the door %s has more or less', async (door, from, to, field) => {
    const { status, stdout } = await compared.parity(ASKED[door], (answer) => (answer.body = answer.body.replace(from, to)), '--json');
    expect([status, verdictsOf({ status, stdout, stderr: '' })]).toMatchObject([
      1,
      bothAre('different', { [door]: { differs: 'otherFields', first: { field } } }),
    ]);
  });

  test('is told of pages that do not end', async () => {
    let pages = 0;
    let first: PassingAnswer | undefined;
    const { status, stdout } = await compared.parity(ASKED['GraphQL pages'], (answer) => {
      first ??= { ...answer };
      // The gateway knows none of these cursors.
      Object.assign(answer, { status: 200, headers: first.headers });
      answer.body = first.body.replace(/"endCursor":"[^"]*"/, `"endCursor":"${'AB'[pages++ % 2]}"`);
    });
    expect(status).toBe(3);
    expect(stdout).toContain('GraphQL pages: the pages do not end');
  });

  test('is told of a line that a door lacks or has beside the others', async () => {
    const lacks = await compared.parity(ASKED.NDJSON, (answer) => (answer.body = answer.body.replace(/[^\n]+\n$/, '')));
    expect(lacks.stdout).toContain(`NDJSON: line ${LINES.length}, allocation ${LINES.at(-1)!.allocation_id}: the door does not have it\n`);
    const doubles = await compared.parity(ASKED.NDJSON, (answer) => (answer.body = answer.body.replace(/[^\n]+\n$/, '$&$&')));
    expect(doubles.stdout).toContain(
      `NDJSON: line ${LINES.length + 1}, allocation (string of ${LINES.at(-1)!.allocation_id.length} characters): the books do not have it`,
    );
    expect([lacks.status, doubles.status]).toEqual([1, 1]);
  });

  test('is told of a door that does not answer the same twice', async () => {
    let isFirst = true;
    const { status, stdout } = await compared.parity(ASKED.JSON, (answer) => {
      if (isFirst) altersMemo(answer);
      isFirst = false;
    });
    expect(status).toBe(1);
    expect(stdout).toContain('JSON: digest differs, and no line does\n');
  });

  test('is told of books that were changed by SQL, which no door can know', async () => {
    const change = (from: string, to: string) =>
      compared.gateway.database.client.query('UPDATE transaction SET main_memo = $2 WHERE organization_id = $3 AND main_memo = $1', [
        ...[from, to, compared.organization.id],
      ]);
    await change(MEMO, 'Memo of Cid');
    const { status, stderr } = await compared.parity(/^$/, () => undefined).finally(() => change('Memo of Cid', MEMO));
    expect([status, stderr]).toEqual([1, `Not every door tells what the books tell: ${DOORS.slice(1).join(', ')}.\n`]);
  });
});

describe('an operator who compares the doors while books change', () => {
  let moving: TestOrganization;
  let versions = 0;
  beforeAll(async () => {
    moving = await createOrganization(compared.gateway.services);
    await advance();
  });
  const advance = async (): Promise<void> => {
    await importLines(compared.gateway.services, moving, versions === 0 ? LINES : [{ ...LINES[0], main_memo: `Version ${versions}` }]);
    versions++;
  };

  test('sees those equal that are of the newest version, after the others were asked again', async () => {
    for (const door of ['v2', 'GraphQL pages', 'summary'] as const) {
      let isFirst = true;
      let summaries = 0;
      const result = await compared.proxy.while(
        async ({ asked }) => {
          if (ASKED.summary.test(asked)) summaries++;
          if (!isFirst || !ASKED[door].test(asked)) return;
          isFirst = false;
          await advance();
        },
        () => runCommand(compared.environment, ['--json', ...compared.words(compared.proxy.url, moving)]),
      );
      expect([result.status, verdictsOf(result)]).toEqual([0, bothAre('equal')]);
      // It was of the newest version each time.
      expect([door, summaries]).toEqual([door, 2]);
    }
  });

  test('is told the difference at the newest version when they change before it is found', async () => {
    let isFirst = true;
    const { status, stdout } = await compared.proxy.while(
      async (answer) => {
        if (ASKED.CSV.test(answer.asked)) answer.body = answer.body.replace('Fund 1', 'Fund 11');
        // The summary is the last answer, and is of the version of all others.
        if (!isFirst || !ASKED.summary.test(answer.asked)) return;
        isFirst = false;
        await advance();
      },
      () => runCommand(compared.environment, ['--json', ...compared.words(compared.proxy.url, moving)]),
    );
    expect(status).toBe(1);
    const results = JSON.parse(stdout) as Result[];
    expect(results.map(({ version }) => version)).toEqual([versions, versions]);
    expect(results.map(({ doors }) => doors.filter(({ differs }) => differs !== null))).toEqual(
      Array(2).fill([expect.objectContaining({ door: 'CSV', first: expect.objectContaining({ field: 'designation' }) as unknown })]),
    );
  });

  test('is told of a difference whose line could not be named, because they changed before each second reading', async () => {
    const { status, stdout } = await compared.proxy.while(
      async (answer) => {
        if (ASKED.NDJSON.test(answer.asked)) answer.body = answer.body.replace('"designation":"', '"designation":"X');
        if (ASKED.summary.test(answer.asked)) await advance();
      },
      () => runCommand(compared.environment, ['--json', ...compared.words(compared.proxy.url, moving)]),
    );
    const differing = (JSON.parse(stdout) as Result[]).map(({ doors }) => doors.filter(({ differs }) => differs !== null));
    expect([status, differing]).toEqual([1, Array(2).fill([expect.objectContaining({ door: 'NDJSON', differs: 'digest', first: null })])]);
  });

  test('is told the version of a door that is behind', async () => {
    const { status, stdout } = await compared.parity(ASKED.CSV, ({ headers }) => (headers['x-data-version'] = '9'));
    expect(status).toBe(3);
    expect(stdout).toContain('a door is behind: books by SQL 1, v2 1, GraphQL list 1, GraphQL pages 1, CSV 9, NDJSON 1');
  });

  test('is told that nothing could be decided when they do not stop', async () => {
    const { status, stdout, stderr } = await compared.proxy.while(
      () => advance(),
      () => runCommand(compared.environment, compared.words(compared.proxy.url, moving)),
    );
    const [, reason] = /^It could not be decided: (.*)\n$/.exec(stderr)!;
    // Each page is of another version.
    const versions = DOORS.map((door) => `${door} ${door === 'GraphQL pages' ? 'several' : '\\d+'}`).join(', ');
    const MOVING = 'The doors answered from different data versions each time, because the books change or a door is behind';
    expect([status, reason]).toEqual([3, expect.stringMatching(new RegExp(`^${MOVING}: ${versions}$`))]);
    expect(stdout).toBe(`Without pending deposits: not decided\n${reason}\n`);
  });
});
