import { CSV_HEADER, openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { misused, runCommand, succeed } from '../support/command';
import { v2Line } from '../support/gateway';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

type Fields = Readonly<Record<string, unknown>>;

/** A gift of one line. Its ids end in the same number. */
const gift = (number: number, fields: Fields = {}) =>
  v2Line({ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}`, deposit_date: '2024-01-10', ...fields });
const JANUARY = ['--replace', '--from', '2024-01-01', '--to', '2024-01-31'];

const importInto = (organization: string, lines: readonly object[], ...options: string[]) =>
  files.import(organization, 'lines.ndjson', toNdjson(lines), ...options);

async function createBooks(lines: readonly object[], ...options: string[]): Promise<string> {
  const organization = await files.createOrganization();
  expect(await importInto(organization, lines, ...options)).toMatchObject({ status: 0, stderr: '' });
  return organization;
}

interface Entities {
  readonly deposits: string[];
  readonly transactions: string[];
  readonly allocations: string[];
  readonly donors: number;
  readonly designations: number;
}

async function entitiesOf(organization: string): Promise<Entities> {
  const ids = (table: string) =>
    `(SELECT COALESCE(array_agg(id ORDER BY id COLLATE "C"), '{}') FROM ${table} WHERE organization_id = $1) AS ${table}s`;
  const count = (table: string) => `(SELECT count(*)::int FROM ${table} WHERE organization_id = $1) AS ${table}s`;
  const { rows: organizations } = await files.query<{ id: number }>('SELECT id FROM organization WHERE name = $1', [organization]);
  const { rows } = await files.query<Entities & Record<string, unknown>>(
    `SELECT ${[ids('deposit'), ids('transaction'), ids('allocation'), count('donor'), count('designation')].join(', ')}`,
    [organizations[0]!.id],
  );
  return rows[0]!;
}

/** The lines that the report reads agree with the books. */
async function expectSound(organization: string): Promise<void> {
  await succeed(files.environment, ['check', '--organization', organization]);
}

describe('an import that is complete for a range', () => {
  test('removes what the file has not, and leaves other dates and pending deposits alone', async () => {
    const organization = await createBooks([
      // Half of a deposit goes, half of a gift goes, and a whole deposit goes with its donor's and its fund's only gift.
      gift(1),
      gift(2, { deposit_id: 'D1', donor_id: 8 }),
      gift(3, { allocation_amount: '4.00' }),
      gift(3, { allocation_id: 'A3b', allocation_amount: '6.50' }),
      gift(4, { donor_id: 9, designation_id: 5, designation: 'Closed' }),
      gift(5, { deposit_date: '2024-02-01' }),
      gift(6, { deposit_status: 'pending' }),
    ]);
    const result = await importInto(organization, [gift(1), gift(3, { amount: '4.00', net_amount: '3.50' })], ...JANUARY);
    expect(result).toEqual({
      status: 0,
      stdout:
        'Imported 2 lines; new or changed: 0 deposits, 1 transactions, 0 allocations, 0 designations, 0 donors\n' +
        'Removed: 1 deposits, 2 transactions, 3 allocations\n' +
        'The books are at data version 2: 0 lines added, 1 changed, 3 removed\n',
      stderr: '',
    });
    expect(await entitiesOf(organization)).toEqual({
      ...{ deposits: ['D1', 'D3', 'D5', 'D6'], transactions: ['T1', 'T3', 'T5', 'T6'], allocations: ['A1', 'A3', 'A5', 'A6'] },
      ...{ donors: 3, designations: 2 },
    });
    await expectSound(organization);
  });

  test('removes pending deposits too when it is told to, and none that the file has under another status', async () => {
    const pending = { deposit_status: 'pending' };
    const organization = await createBooks([gift(1), gift(2, pending), gift(3, pending)]);
    expect(await importInto(organization, [gift(1), gift(2, { deposit_status: 'posted' })], ...JANUARY, '--pending', 'with')).toMatchObject(
      {
        status: 0,
      },
    );
    expect(await entitiesOf(organization)).toMatchObject({ deposits: ['D1', 'D2'] });
    await expectSound(organization);
  });

  test('posts a pending deposit that a file of posted ones has', async () => {
    const organization = await createBooks([gift(1, { deposit_status: 'pending' })]);
    const { stdout } = await importInto(organization, [gift(1)], ...JANUARY);
    expect(stdout).toBe(
      'Imported 1 lines; new or changed: 1 deposits, 0 transactions, 0 allocations, 0 designations, 0 donors\n' +
        'The books are at data version 2: 0 lines added, 1 changed, 0 removed\n' +
        '1 deposit pending in the books before, and posted by the file\n',
    );
    expect(
      await files.query(
        'SELECT FROM deposit_line l JOIN organization o ON o.id = l.organization_id WHERE name = $1 AND deposit_status = $2',
        [organization, 'POSTED'],
      ),
    ).toMatchObject({ rowCount: 1 });
  });

  test('counts a line that moved to another gift, deposit or date once, and drops what the moves leave empty', async () => {
    const organization = await createBooks([
      gift(1),
      gift(2),
      gift(3, { deposit_date: '2023-12-31' }),
      gift(4, { deposit_date: '2023-12-31', deposit_id: 'D3' }),
    ]);
    const moved = [
      gift(1, { transaction_id: 'T9', deposit_id: 'D9' }),
      gift(2, { deposit_date: '2024-01-20' }),
      gift(3, { deposit_date: '2024-01-05' }),
    ];
    const { stdout } = await importInto(organization, moved, ...JANUARY);
    // The file moves the deposit D3 into January, and lacks its line A4.
    expect(stdout).toContain('The books are at data version 2: 0 lines added, 3 changed, 1 removed\n');
    expect(await entitiesOf(organization)).toMatchObject({
      ...{ deposits: ['D2', 'D3', 'D9'], transactions: ['T2', 'T3', 'T9'], allocations: ['A1', 'A2', 'A3'] },
    });
    await expectSound(organization);
  });

  test('drops gifts and deposits outside the range too that it has moved everything away from', async () => {
    const before = { deposit_date: '2023-12-31' };
    const organization = await createBooks([
      gift(1, before),
      gift(2, { ...before, deposit_id: 'D2' }),
      gift(3, { deposit_id: 'D3', deposit_status: 'pending' }),
      // These keep something.
      gift(4, before),
      gift(4, { ...before, allocation_id: 'A4b' }),
    ]);
    const moved = [
      gift(1, { transaction_id: 'T9', deposit_id: 'D9' }),
      gift(2, { deposit_id: 'D9' }),
      gift(3, { deposit_id: 'D9' }),
      gift(4, { transaction_id: 'T9', deposit_id: 'D9' }),
    ];
    expect((await importInto(organization, moved, ...JANUARY)).stdout).toContain('Removed: 3 deposits, 1 transactions, 0 allocations\n');
    expect(await entitiesOf(organization)).toMatchObject({
      ...{ deposits: ['D4', 'D9'], transactions: ['T2', 'T3', 'T4', 'T9'], allocations: ['A1', 'A2', 'A3', 'A4', 'A4b'] },
    });
    await expectSound(organization);
  });

  test('shows ids without the control characters that would forge its tables', async () => {
    const organization = await files.createOrganization();
    const { stdout } = await importInto(organization, [gift(1, { allocation_id: 'A\u001b[2J\nB' })], '--dry-run');
    expect(stdout).toContain('D1       T1           A?[2J?B');
  });

  test('leaves another organization with the same ids alone', async () => {
    const [organization, other] = [await createBooks([gift(1), gift(2)]), await createBooks([gift(1), gift(2)])];
    expect(await importInto(organization, [gift(1)], ...JANUARY)).toMatchObject({ status: 0 });
    expect(await entitiesOf(other)).toMatchObject({ deposits: ['D1', 'D2'], transactions: ['T1', 'T2'], allocations: ['A1', 'A2'] });
  });

  test('empties a range that the source has nothing of', async () => {
    const organization = await createBooks([gift(1), gift(2, { deposit_date: '2024-02-01' })]);
    expect(await importInto(organization, [], ...JANUARY, '--max-removed', '1')).toMatchObject({ status: 0 });
    expect(await entitiesOf(organization)).toMatchObject({ deposits: ['D2'], transactions: ['T2'], allocations: ['A2'] });
  });

  test('changes nothing the second time', async () => {
    const organization = await createBooks([gift(1), gift(2)]);
    await importInto(organization, [gift(1)], ...JANUARY);
    expect(await importInto(organization, [gift(1)], ...JANUARY)).toEqual({
      status: 0,
      stdout:
        'Imported 1 lines; new or changed: 0 deposits, 0 transactions, 0 allocations, 0 designations, 0 donors\n' +
        'Nothing changed: there is no new data version\n',
      stderr: '',
    });
  });

  test('refuses a line of another date or status, and removes nothing', async () => {
    const organization = await createBooks([gift(1), gift(2)]);
    const lines = [gift(1, { deposit_date: '2024-02-01' }), gift(3, { deposit_status: 'pending', deposit_date: '2023-12-31' })];
    expect(await importInto(organization, lines, ...JANUARY)).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'line 1: deposit_date is not from 2024-01-01 to 2024-01-31\n' +
        'line 2: deposit_date is not from 2024-01-01 to 2024-01-31\n' +
        'line 2: deposit_status is pending in a file that is complete for posted deposits alone\n' +
        'Nothing was imported: 3 faults\n',
    });
    expect(await entitiesOf(organization)).toMatchObject({ deposits: ['D1', 'D2'] });
  });

  test('refuses to remove more lines than its limit, and says how many', async () => {
    const many = Array.from({ length: 500 }, (_, index) => gift(index + 1));
    const organization = await createBooks(many);
    const refusal =
      'the file lacks 26 lines of the books, which have 500 from 2024-01-01 to 2024-01-31; at most 25 may be removed (--max-removed)\n';
    expect(await importInto(organization, many.slice(26), ...JANUARY)).toEqual({
      ...{ status: 1, stdout: '', stderr: `Nothing was imported: ${refusal}` },
    });
    const trial = await importInto(organization, many.slice(26), ...JANUARY, '--dry-run');
    expect(trial).toMatchObject({ status: 1, stderr: `The import would be refused: ${refusal}` });
    expect(trial.stdout).toContain('Removed, the first 20 of 26:\n');
    expect(await entitiesOf(organization)).toMatchObject({ deposits: { length: 500 } });
    expect(await importInto(organization, many.slice(26), ...JANUARY, '--max-removed', '26')).toMatchObject({ status: 0 });
    expect(await importInto(organization, many.slice(46), ...JANUARY)).toMatchObject({ status: 0 });
    expect(await importInto(organization, many.slice(47), ...JANUARY, '--max-removed', '0')).toMatchObject({ status: 1 });
    expect(await entitiesOf(organization)).toMatchObject({ deposits: { length: 454 } });
    await expectSound(organization);
  });

  test.each([
    ['json', '{"response":[]}'],
    ['ndjson', ''],
    ['csv', `${CSV_HEADER}\n`],
  ])('removes nothing for a .%s file without lines, unless that is said', async (format, content) => {
    const organization = await createBooks([gift(1), gift(2)]);
    const none = (...options: string[]) => files.import(organization, `none.${format}`, content, ...JANUARY, ...options);
    const refusal =
      'the file lacks 2 lines of the books, which have 2 from 2024-01-01 to 2024-01-31; at most 0 may be removed (--max-removed)';
    expect(await none()).toEqual({ status: 1, stdout: '', stderr: `Nothing was imported: ${refusal}\n` });
    expect(await entitiesOf(organization)).toMatchObject({ deposits: ['D1', 'D2'] });
    expect(await none('--max-removed', '2')).toMatchObject({ status: 0 });
    expect(await entitiesOf(organization)).toMatchObject({ deposits: [] });
    // A range without lines stays so.
    expect(await none()).toMatchObject({ status: 0 });
  });
});

describe('a trial of an import', () => {
  test('shows what would be added, changed and removed with the totals, and changes nothing', async () => {
    const organization = await createBooks([gift(1), gift(2)]);
    const lines = [
      gift(2, { city: 'Bern', main_memo: 'late' }),
      gift(3, { city: 'Bern', amount: '-1.00', fee_amount: '0.00', net_amount: '-1.00' }),
    ];
    const result = await importInto(organization, lines, ...JANUARY, '--dry-run');
    expect(result).toEqual({
      status: 0,
      stdout:
        'A trial of 2 lines; new or changed would be: 1 deposits, 2 transactions, 1 allocations, 0 designations, 1 donors\n' +
        'Removed would be: 1 deposits, 1 transactions, 1 allocations\n' +
        'The books would be at data version 2: 1 lines added, 1 changed, 1 removed\n' +
        '\n' +
        '        LINES  TRANSACTIONS  AMOUNT  FEES\n' +
        'BEFORE  2      2             21.00   1.00\n' +
        'AFTER   2      2             9.50    0.50\n' +
        '\n' +
        'Added:\n' +
        'DEPOSITED   DEPOSIT  TRANSACTION  ALLOCATION  AMOUNT\n' +
        '2024-01-10  D3       T3           A3          -1.00\n' +
        '\n' +
        'Changed:\n' +
        'DEPOSITED   DEPOSIT  TRANSACTION  ALLOCATION  AMOUNT  COLUMNS\n' +
        '2024-01-10  D2       T2           A2          10.50   city, main_memo\n' +
        '\n' +
        'Removed:\n' +
        'DEPOSITED   DEPOSIT  TRANSACTION  ALLOCATION  AMOUNT\n' +
        '2024-01-10  D1       T1           A1          10.50\n',
      stderr: '',
    });
    expect(await entitiesOf(organization)).toMatchObject({ allocations: ['A1', 'A2'] });
    expect(await succeed(files.environment, ['version', 'list', '--organization', organization])).not.toContain('\n2 ');
    await expectSound(organization);
  });

  test('of the first file begins with totals of nothing, as JSON for a program', async () => {
    const organization = await files.createOrganization();
    const path = files.path('first.ndjson');
    const result = await runCommand(files.environment, ['--json', 'import', path, '--organization', organization, '--dry-run']);
    expect(result.status).toBe(1);
    const trial = await importInto(organization, [gift(1)], '--dry-run', '--json');
    expect(JSON.parse(trial.stdout)).toEqual({
      ...{ lines: 1, deposits: 1, transactions: 1, allocations: 1, designations: 1, donors: 1 },
      assumed: { posted: 1, kept: 0, settled: 0 },
      correctedShares: { gifts: 0, count: 0, first: [] },
      removed: { allocations: 0, transactions: 0, deposits: 0 },
      mismatches: { count: 0, first: [] },
      version: { number: 1, lines: { added: 1, changed: 0, removed: 0 } },
      preview: {
        before: { lines: 0, transactions: 0, amount: '0.00', feeAmount: '0.00' },
        after: { lines: 1, transactions: 1, amount: '10.50', feeAmount: '0.50' },
        added: [{ depositDate: '2024-01-10', depositId: 'D1', transactionId: 'T1', allocationId: 'A1', amount: '10.50', columns: [] }],
        ...{ changed: [], removed: [] },
      },
      late: null,
      erasedAgain: { lines: 0, donors: 0, states: 0 },
      refusal: null,
    });
    expect(await entitiesOf(organization)).toMatchObject({ deposits: [], donors: 0 });
  });

  test('of what the books have says so', async () => {
    const organization = await createBooks([gift(1)]);
    const { stdout } = await importInto(organization, [gift(1, { deposit_status: 'posted' })], '--dry-run');
    expect(stdout).toBe('A trial of 1 lines: the import would change nothing\n');
  });

  test('names the columns that would change, and none of the search', async () => {
    const organization = await createBooks([gift(1)]);
    const renamed = gift(1, { deposit_status: 'posted', donor_last_name: 'Byron' });
    const { stdout } = await importInto(organization, [renamed], '--dry-run', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ preview: { changed: [{ allocationId: 'A1', columns: ['donor_last_name'] }] } });
  });
});

describe('shares that do not add up to their gift', () => {
  const halves = [gift(1, { allocation_amount: '4.00' }), gift(1, { allocation_id: 'A1b', allocation_amount: '6.00' })];

  test('are a fault of the import, unless it takes them and lists them', async () => {
    const organization = await files.createOrganization();
    expect(await importInto(organization, halves)).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: 'line 1: allocation_amount adds up to 10.00 over the gift T1, whose amount is 10.50\n' + 'Nothing was imported: 1 fault\n',
    });
    expect(await entitiesOf(organization)).toMatchObject({ deposits: [] });
    const { stdout } = await importInto(organization, halves, '--status', 'posted', '--allow-mismatch');
    expect(stdout).toBe(
      'Imported 2 lines; new or changed: 1 deposits, 1 transactions, 2 allocations, 1 designations, 1 donors\n' +
        'The books are at data version 1: 2 lines added, 0 changed, 0 removed\n' +
        'The shares of 1 gifts do not add up to their amounts:\n' +
        'LINE  TRANSACTION  AMOUNT  SHARES\n' +
        '1     T1           10.50   10.00\n',
    );
  });

  test('are a fault when another file, a move or a removal makes them so', async () => {
    const whole = [gift(1, { allocation_amount: '4.00' }), gift(1, { allocation_id: 'A1b', allocation_amount: '6.50' })];
    const organization = await createBooks([...whole, gift(2, { allocation_amount: '10.50' })]);
    const mismatch = (line: number, shares: string, id: string) =>
      `line ${line}: allocation_amount adds up to ${shares} over the gift ${id}, whose amount is 10.50\n`;
    const refused = (...faults: string[]) => ({
      ...{ status: 1, stdout: '' },
      stderr: `${faults.join('')}Nothing was imported: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}\n`,
    });
    const another = [gift(1, { allocation_id: 'A1c', allocation_amount: '1.00' })];
    expect(await importInto(organization, another)).toEqual(refused(mismatch(1, '11.50', 'T1')));
    const move = [gift(2, { allocation_id: 'A1b', allocation_amount: '6.50' })];
    expect(await importInto(organization, move)).toEqual(refused(mismatch(1, '4.00', 'T1'), mismatch(1, '17.00', 'T2')));
    const quietMove = [gift(2, { allocation_id: 'A1b', allocation_amount: '0.00' })];
    expect(await importInto(organization, quietMove)).toEqual(refused(mismatch(1, '4.00', 'T1')));
    const removal = [gift(2), gift(1, { allocation_amount: '4.00' })];
    expect(await importInto(organization, removal, ...JANUARY)).toEqual(refused(mismatch(2, '4.00', 'T1')));
    expect(await entitiesOf(organization)).toMatchObject({ allocations: ['A1', 'A1b', 'A2'] });
  });

  test('are no fault while a share is unknown', async () => {
    await createBooks([gift(1, { allocation_amount: '99.00' }), gift(1, { allocation_id: 'A1b' })]);
  });
});

test('an operator whose options contradict each other is told which', async () => {
  const refusals: readonly (readonly [readonly string[], string])[] = [
    [['--from', '2024-01-01'], '--from needs --replace'],
    [['--max-removed', '0'], '--max-removed needs --replace'],
    [['--replace', '--to', '2024-01-01'], '--replace needs --from'],
    [['--replace', '--from', '2024-01-01'], '--replace needs --to'],
    [['--replace', '--from', '2024-02-01', '--to', '2024-01-31'], '--from 2024-02-01 is after --to 2024-01-31'],
    [['--replace', '--from', '2024-02-30', '--to', '2024-03-01'], '--from: "2024-02-30" is no day of the calendar'],
    [[...JANUARY, '--status', 'pending'], '--status pending needs --pending with'],
  ];
  const organization = await files.createOrganization();
  for (const [options, message] of refusals) {
    expect(await importInto(organization, [gift(1)], ...options)).toEqual(misused(message));
  }
});
