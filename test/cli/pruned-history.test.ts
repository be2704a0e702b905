import { misused, runCommand, succeed } from '../support/command';
import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { until } from '../support/until';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

type Fields = Readonly<Record<string, unknown>>;
const gift = (number: number, fields: Fields = {}) =>
  v2Line({
    deposit_id: `D${number}`,
    transaction_id: `T${number}`,
    allocation_id: `A${number}`,
    deposit_date: '2024-09-10',
    donor_id: number,
    ...fields,
  });

const importInto = async (organization: string, lines: readonly object[], ...options: string[]) =>
  expect(await files.import(organization, 'lines.ndjson', toNdjson(lines), ...options)).toMatchObject({ status: 0 });
const prune = (organization: string, before: string, ...options: string[]) =>
  runCommand(files.environment, ['history', 'prune', '--organization', organization, '--before', before, ...options]);
const run = (organization: string, words: readonly string[], ...options: string[]) =>
  runCommand(files.environment, [...words, '--organization', organization, ...options]);

interface State {
  readonly number: number;
  readonly cause: string;
  readonly recordedAt: string;
  readonly lines: number;
  readonly amount: string;
}
const asJson = async <Value>(words: readonly string[]): Promise<Value> =>
  JSON.parse(await succeed(files.environment, ['--json', ...words])) as Value;
const versions = (organization: string): Promise<State[]> => asJson<State[]>(['version', 'list', '--organization', organization]);

/** Moves a version to an instant. */
const record = (organization: string, number: number, instant: string) =>
  files.query(
    'UPDATE data_version SET recorded_at = $3 WHERE number = $2 AND organization_id = (SELECT id FROM organization WHERE name = $1)',
    [organization, number, instant],
  );

async function countStates(organization: string): Promise<number> {
  const { rows } = await files.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM deposit_line WHERE organization_id = (SELECT id FROM organization WHERE name = $1)',
    [organization],
  );
  return rows[0]!.count;
}

const [FIRST, SECOND, THIRD] = ['2025-01-31T12:00:00.000Z', '2025-02-01T05:00:00.000Z', '2025-03-01T12:00:00.000Z'];

/** An organization in New York with three versions: the second is of the first moment of February there. */
async function createBooks(): Promise<string> {
  const organization = await files.createOrganization();
  await succeed(files.environment, ['organization', 'time-zone', organization, 'America/New_York']);
  await importInto(organization, [gift(1), gift(2)]);
  await importInto(organization, [gift(1, { city: 'Bern' })]);
  await importInto(organization, [gift(2, { city: 'Basel' })]);
  for (const [number, instant] of [
    [1, FIRST],
    [2, SECOND],
    [3, THIRD],
  ] as const)
    await record(organization, number, instant);
  return organization;
}

describe('an operator who prunes the history', () => {
  test('keeps the state of every moment from the beginning of the day on, and all versions in the list', async () => {
    const organization = await createBooks();
    expect(await countStates(organization)).toBe(4);
    const told = `Versions that can be asked for no more: 1\nStates of lines that are deleted: 1\nThe earliest state is that of data version 2 of ${SECOND}\n`;
    const trial = `Would prune "${organization}"\n${told}`;
    // The day begins with the second version in New York, and five hours before it in London.
    expect(await prune(organization, '2025-02-01', '--dry-run')).toEqual({ status: 0, stdout: trial, stderr: '' });
    expect(await countStates(organization)).toBe(4);
    const london = await prune(organization, '2025-02-01T00:00:00Z', '--dry-run');
    expect(london.stdout).toBe(`Nothing to prune of "${organization}": the earliest state is that of data version 1 of ${FIRST}\n`);
    const done = `Pruned "${organization}", at data version 4\n${told}`;
    expect(await prune(organization, '2025-02-01')).toEqual({ status: 0, stdout: done, stderr: '' });
    expect(await countStates(organization)).toBe(3);
    const unchanged = { linesAdded: 0, linesChanged: 0, linesRemoved: 0, lines: 2, amount: '21.00' };
    const list = await versions(organization);
    expect(list).toMatchObject([
      { number: 4, cause: 'prune', ...unchanged },
      { number: 3 },
      { number: 2 },
      { number: 1, recordedAt: FIRST },
    ]);
    expect((await run(organization, ['check'])).stdout).toContain('2 lines at data version 4, 0 of them different from the books');
    const again = `Nothing to prune of "${organization}": the earliest state is that of data version 2 of ${SECOND}\n`;
    expect(await prune(organization, '2025-02-01')).toEqual({ status: 0, stdout: again, stderr: '' });
    expect(await prune(organization, '2025-01-01')).toEqual({ status: 0, stdout: again, stderr: '' });
  });

  test('takes all old states of a day with the day after it or an instant, but no day that has not begun', async () => {
    const organization = await createBooks();
    expect(await prune(organization, '2999-01-31')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^Invalid parameter\(s\): before: 2999-01-31 is in the future: it is \d{4}-\d\d-\d\d in America\/New_York\n$/,
      ) as string,
    });
    expect((await prune(organization, '2999-01-31T00:00:00Z')).stderr).toContain('before: 2999-01-31T00:00:00.000Z is in the future');
    for (const before of ['soon', '2', '2025-02-30', '2025-02-01T00:00:00'])
      expect(await prune(organization, before)).toEqual(
        misused(
          `error: option '--before <date>' argument '${before}' is invalid. It must be a date like 2026-11-01, or an instant like 2026-11-01T00:00:00Z.`,
        ),
      );
    const [newest] = await versions(organization);
    const json = ['history', 'prune', '--organization', organization, '--before', new Date().toISOString()];
    expect(await asJson(json)).toEqual({
      ...{ earliest: { number: 3, recordedAt: newest!.recordedAt }, versions: 2, lineStates: 2, closes: [], version: 4 },
    });
    expect(await countStates(organization)).toBe(2);
    // A prune of every night adds no version to books that stand still.
    expect(await asJson([...json.slice(0, -1), new Date().toISOString()])).toMatchObject({ earliest: { number: 3 }, version: null });
    await importInto(organization, [gift(3)]);
    const later = await asJson([...json.slice(0, -1), new Date().toISOString()]);
    expect(later).toMatchObject({ earliest: { number: 5 }, versions: 2, lineStates: 0, version: 6 });
    for (const before of ['0001-01-01', '0001-01-01T00:00:00+05:00'])
      expect((await prune(organization, before)).stdout).toContain('Nothing to prune');
    const empty = await files.createOrganization();
    expect(await prune(empty, '2025-02-01')).toEqual({ status: 0, stdout: `"${empty}" has no data version yet\n`, stderr: '' });
  });

  test('is told which closes lose their report, whose figures and late lines stay', async () => {
    const organization = await createBooks();
    await succeed(files.environment, ['period', 'close', '--organization', organization, '--through', '2024-09-30']);
    await importInto(organization, [gift(1, { amount: '12.50', net_amount: '12.00' })], '--late', 'accept');
    const closes = () => asJson<object[]>(['period', 'list', '--organization', organization]);
    const before = await closes();
    const pruned = await prune(organization, new Date().toISOString());
    expect(pruned.stdout).toMatch(
      /^Pruned .*, at data version 6\n.*: 4\n.*: 3\n.*version 5 of .*\nThe report as it was closed through 2024-09-30 goes; the figures of the close stay\n$/,
    );
    expect(await closes()).toEqual(before);
    // A close after the last change of a line keeps its state, and one that went before is told no more.
    await succeed(files.environment, ['period', 'close', '--organization', organization, '--through', '2024-10-31']);
    await importInto(organization, [gift(5, { deposit_date: '2024-11-02' })]);
    await succeed(files.environment, ['period', 'close', '--organization', organization, '--through', '2024-11-30']);
    const second = await prune(organization, new Date().toISOString());
    expect(second.stdout).toMatch(
      /^Pruned .*\n.*: 3\n.*: 0\n.*version 8 of .*\nThe report as it was closed through 2024-10-31 goes; the figures of the close stay\n$/,
    );
    const late = await run(organization, [
      'export',
      '--start',
      '2024-09-01',
      '--end',
      '2024-09-30',
      '--columns',
      'allocation_id,late',
      '--format',
      'csv',
    ]);
    expect(late.stdout).toBe('allocation_id,late\r\n"A1",true\r\n"A2",false\r\n');
    expect(
      (await run(organization, ['export', '--start', '2024-09-01', '--end', '2024-09-30', '--format', 'csv', '--as-of', '4'])).stderr,
    ).toMatch(/^The state is no longer kept: --as-of: version 4 was pruned: the earliest is 8 of /);
    expect(
      (await files.import(organization, 'lines.ndjson', toNdjson([gift(2, { amount: '9.50', net_amount: '9.00' })]))).stderr,
    ).toContain('The months are closed');
  });

  test('has the prune in the audit, and the organization may be deleted', async () => {
    const organization = await createBooks();
    await prune(organization, '2025-02-01');
    const audit = await asJson<{ operation: string; subject: string }[]>([
      'audit',
      'list',
      '--organization',
      organization,
      '--kind',
      'rights',
    ]);
    expect(audit.map(({ operation, subject }) => [operation, subject])).toContainEqual(['history prune', 'versions before 2']);
    expect(await succeed(files.environment, ['organization', 'delete', organization, '--confirm', organization])).toContain('Deleted');
  });

  test('waits for an import that is under way', async () => {
    const organization = await createBooks();
    const { rows } = await files.query<{ id: number }>('SELECT id FROM organization WHERE name = $1', [organization]);
    await files.database.client.query('BEGIN');
    await files.database.client.query(`SELECT pg_advisory_xact_lock(hashtext('deposit-gateway import'), $1)`, [rows[0]!.id]);
    let isDone = false;
    const pruning = prune(organization, '2025-02-01').finally(() => (isDone = true));
    const waits = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await until(async () => (await files.query(waits)).rowCount === 1);
    expect(isDone).toBe(false);
    await files.database.client.query('COMMIT');
    expect(await pruning).toMatchObject({ status: 0 });
  });
});
