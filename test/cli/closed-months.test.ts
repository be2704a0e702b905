import { failed, misused, runCommand, succeed } from '../support/command';
import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

type Fields = Readonly<Record<string, unknown>>;
/** A gift of one line. Its ids end in the same number. */
const gift = (number: number, month: string, fields: Fields = {}) =>
  v2Line({
    ...{ deposit_id: `D${number}`, transaction_id: `T${number}`, allocation_id: `A${number}` },
    ...{ deposit_date: `2024-${month}-10`, transaction_date: '2024-01-09', deposit_status: 'posted', ...fields },
  });
const SEPTEMBER = gift(1, '09', { donor_id: 1, designation_id: 1 });
const OCTOBER = gift(2, '10', { donor_id: 2, designation_id: 2 });
const NOVEMBER = gift(3, '11', { donor_id: 3, designation_id: 3 });
const BOOKS = [SEPTEMBER, OCTOBER, NOVEMBER];
const AMOUNTS = { amount: '110.50', net_amount: '110.00' };

const importInto = (organization: string, lines: readonly object[], ...options: string[]) =>
  files.import(organization, 'lines.ndjson', toNdjson(lines), ...options);
const period = (verb: string, organization: string, ...options: string[]) =>
  runCommand(files.environment, ['period', verb, '--organization', organization, ...options]);
const close = (organization: string, through: string) => period('close', organization, '--through', through);
const versionOf = async (organization: string): Promise<number> => {
  const { rows } = await files.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM data_version JOIN organization ON id = organization_id WHERE name = $1',
    [organization],
  );
  return rows[0]!.count;
};
const asJson = async <Value>(words: readonly string[]): Promise<Value> =>
  JSON.parse(await succeed(files.environment, ['--json', ...words])) as Value;

async function createClosed(lines: readonly object[] = BOOKS): Promise<string> {
  const organization = await files.createOrganization();
  expect(await importInto(organization, lines)).toMatchObject({ status: 0 });
  expect(await close(organization, '2024-10-31')).toMatchObject({ status: 0, stderr: '' });
  return organization;
}

const REFUSED = 'The months are closed: the books are closed through 2024-10-31, and';
const refusal = (rest: string) => failed(`${REFUSED} ${rest}; --late accept lets them in as late`);

describe('an operator who closes months', () => {
  test('keeps the figures of each of them, from the first line or the day after the close before', async () => {
    const organization = await files.createOrganization();
    const pending = gift(4, '10', { deposit_status: 'pending' });
    await importInto(organization, [...BOOKS, gift(5, '10', { allocation_amount: null, allocation_amount_inferred: null }), pending]);
    const words = ['period', 'close', '--organization', organization];
    const first = await asJson<object>([...words, '--through', '2024-10-15', '--note', ' Booked ']);
    const none = { lines: 0, transactions: 0, deposits: 0, lineAmount: '0.00', transactionAmount: '0.00', allocationAmount: '0.00' };
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    const emptyDigest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    const empty = { ...none, unknownAllocations: 0, digest: emptyDigest, moneyDigest: digest };
    const september = {
      lines: 1,
      transactions: 1,
      deposits: 1,
      lineAmount: '10.50',
      transactionAmount: '10.50',
      allocationAmount: '10.50',
    };
    const october = { lines: 2, transactions: 2, deposits: 2, lineAmount: '21.00', transactionAmount: '21.00', allocationAmount: '10.50' };
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
    const open = { reopenedVersion: null, reopenedAt: null, reopenedBy: null, reopenReason: null };
    expect(first).toEqual({
      ...{ version: 2, through: '2024-10-15', closedAt: at, closedBy: expect.any(String) as string, note: 'Booked', ...open },
      months: [
        { startDate: '2024-09-10', endDate: '2024-09-30', ...september, unknownAllocations: 0, digest, moneyDigest: digest },
        { startDate: '2024-10-01', endDate: '2024-10-15', ...october, unknownAllocations: 1, digest, moneyDigest: digest },
      ],
    });
    const second = await asJson<{ months: object[] }>([...words, '--through', '2024-10-31']);
    expect(second.months).toEqual([{ startDate: '2024-10-16', endDate: '2024-10-31', ...empty }]);
    const list = await asJson<object[]>(['period', 'list', '--organization', organization]);
    expect(list).toEqual([second, first]);
    const versions = await asJson<object[]>(['version', 'list', '--organization', organization]);
    const counts = { linesAdded: 0, linesChanged: 0, linesRemoved: 0, lines: 5, transactions: 5, amount: '52.50' };
    expect(versions[0]).toMatchObject({ number: 3, cause: 'close', ...counts });
    await succeed(files.environment, ['check', '--organization', organization]);
  });

  test('is refused for a date that is closed, one in the future, and one that is none', async () => {
    const organization = await createClosed();
    const closed = failed('The months are closed: the books are closed through 2024-10-31 already');
    expect([await close(organization, '2024-10-31'), await close(organization, '2024-09-30')]).toEqual([closed, closed]);
    await succeed(files.environment, ['organization', 'time-zone', organization, 'Pacific/Kiritimati']);
    const future = await close(organization, '2999-01-31');
    expect(future.stderr).toMatch(
      /^Invalid parameter\(s\): through: 2999-01-31 is in the future: it is \d{4}-\d\d-\d\d in Pacific\/Kiritimati\n$/,
    );
    expect(await close(organization, '2024-02-30')).toEqual(
      misused(`error: option '--through <date>' argument '2024-02-30' is invalid. "2024-02-30" is no day of the calendar.`),
    );
    expect(await versionOf(organization)).toBe(2);
    const early = await files.createOrganization();
    await importInto(early, [gift(1, '10', { deposit_date: '0201-01-10' })]);
    expect(await close(early, '2024-10-31')).toEqual(
      failed(
        'Invalid parameter(s): through: from 0201-01-10 on these are 21886 months, and a close has at most 360: close the earlier ones first',
      ),
    );
    expect(await close(early, '0230-12-31')).toMatchObject({ status: 0 });
  });

  test('reopens a close and every later one, and their rows stay', async () => {
    const organization = await createClosed();
    for (const through of ['2024-11-15', '2024-11-30']) await close(organization, through);
    const reopen = (through: string, reason = 'A deposit was missing') =>
      period('reopen', organization, '--through', through, '--reason', reason);
    expect(await reopen('2024-11-01')).toEqual(
      failed(
        'Invalid parameter(s): through: there is no close through 2024-11-01: in force are those through 2024-10-31, 2024-11-15, 2024-11-30',
      ),
    );
    expect(await reopen('2024-11-15', ' ')).toEqual(failed('Invalid parameter(s): reason is empty'));
    const reopened = `Reopened of "${organization}": 2024-11-15, 2024-11-30, at data version 5; closed through 2024-10-31 now\n`;
    expect(await reopen('2024-11-15')).toEqual({ status: 0, stdout: reopened, stderr: '' });
    const closes = await asJson<{ through: string; reopenedVersion: number | null; reopenReason: string | null }[]>([
      'period',
      'list',
      '--organization',
      organization,
    ]);
    expect(closes.map((each) => [each.through, each.reopenedVersion, each.reopenReason])).toEqual([
      ...['2024-11-30', '2024-11-15'].map((through) => [through, 5, 'A deposit was missing']),
      ['2024-10-31', null, null],
    ]);
    expect(await importInto(organization, [{ ...NOVEMBER, ...AMOUNTS }])).toMatchObject({ status: 0 });
    expect(await close(organization, '2024-11-15')).toMatchObject({ status: 0 });
    expect(await period('reopen', await files.createOrganization(), '--through', '2024-11-30', '--reason', 'x')).toEqual(
      failed('Invalid parameter(s): through: there is no close through 2024-11-30: none is in force'),
    );
  });

  test('may delete the organization with its closes', async () => {
    const organization = await createClosed();
    const deleted = await succeed(files.environment, ['organization', 'delete', organization, '--confirm', organization]);
    expect(deleted).toContain(`Deleted organization "${organization}": 3 transactions`);
  });

  test('closes books without lines, and keeps lines out of them', async () => {
    const organization = await files.createOrganization();
    expect((await close(organization, '2024-09-30')).stdout).toMatch(/at data version 1\nNo line has such a date\n$/);
    const { stderr } = await importInto(organization, BOOKS);
    expect(stderr).toContain('1 line of closed dates would change by +10.50 (2024-09: 1 line, +10.50)');
  });
});

describe('an import is refused as a whole, and changes nothing,', () => {
  const cases: readonly (readonly [change: string, lines: readonly object[], fault: string, options?: string])[] = [
    [
      'when the amount of a closed line changes',
      [{ ...OCTOBER, ...AMOUNTS }],
      '1 line of closed dates would change by +100.00 (2024-10: 1 line, +100.00)',
    ],
    [
      'when a fee changes',
      [{ ...OCTOBER, fee_amount: '0.60', net_amount: '9.90' }],
      '1 line of closed dates would change by 0.00 (2024-10: 1 line, 0.00)',
    ],
    [
      'when a share changes',
      [{ ...OCTOBER, allocation_amount: '4.00' }],
      '1 line of closed dates would change by 0.00 (2024-10: 1 line, 0.00)',
      '--allow-mismatch',
    ],
    ['when the fund changes', [{ ...OCTOBER, designation_id: 1 }], '1 line of closed dates would change by 0.00 (2024-10: 1 line, 0.00)'],
    [
      'when the status of the gift changes',
      [{ ...OCTOBER, status: 'Void' }],
      '1 line of closed dates would change by 0.00 (2024-10: 1 line, 0.00)',
    ],
    [
      'when the status of the deposit changes',
      [{ ...OCTOBER, deposit_status: 'pending' }],
      '1 line of closed dates would change by -10.50 (2024-10: 1 line, -10.50)',
    ],
    [
      'when a pending line comes to a closed date',
      [{ ...gift(4, '10'), deposit_status: 'pending' }],
      '1 line of closed dates would change by 0.00 (2024-10: 1 line, 0.00)',
    ],
    [
      'when the date of the gift changes',
      [{ ...OCTOBER, transaction_date: '2024-10-01' }],
      '1 line of closed dates would change by 0.00 (2024-10: 1 line, 0.00)',
    ],
    ['when a line comes to a closed date', [gift(4, '10')], '1 line of closed dates would change by +10.50 (2024-10: 1 line, +10.50)'],
    [
      'when a line moves out of a closed date',
      [{ ...OCTOBER, deposit_date: '2024-11-10' }],
      '1 line of closed dates would change by -10.50 (2024-10: 1 line, -10.50)',
    ],
    [
      'when a line moves into a closed date',
      [{ ...NOVEMBER, deposit_date: '2024-09-10' }],
      '1 line of closed dates would change by +10.50 (2024-09: 1 line, +10.50)',
    ],
    [
      'when a line moves from a closed date to another',
      [{ ...OCTOBER, deposit_date: '2024-09-11' }],
      '1 line of closed dates would change by 0.00 (2024-09: 1 line, +10.50; 2024-10: 1 line, -10.50)',
    ],
    [
      'when a line is gone',
      [],
      '1 line of closed dates would change by -10.50 (2024-10: 1 line, -10.50)',
      '--replace --from 2024-10-01 --to 2024-10-31 --max-removed 5',
    ],
    [
      'for an open line beside a closed one',
      [
        { ...NOVEMBER, ...AMOUNTS },
        { ...SEPTEMBER, ...AMOUNTS },
        { ...OCTOBER, ...AMOUNTS },
      ],
      '2 lines of closed dates would change by +200.00 (2024-09: 1 line, +100.00; 2024-10: 1 line, +100.00)',
    ],
  ];

  test.each(cases.map(([change, lines, fault, words = '']) => ({ change, lines, fault, options: words.split(' ').filter(Boolean) })))(
    '$change',
    async ({ lines, fault, options }) => {
      const organization = await createClosed();
      const before = await files.lines(organization);
      const changed = lines.map((line) => ({ ...line, designation: 'Another name' }));
      expect(await importInto(organization, changed, ...options)).toEqual(refusal(fault));
      expect([await files.lines(organization), await versionOf(organization)]).toEqual([before, 2]);
      expect(await importInto(organization, changed, ...options, '--late', 'accept')).toMatchObject({ status: 0 });
      expect(await versionOf(organization)).toBe(3);
      await succeed(files.environment, ['check', '--organization', organization]);
    },
  );

  test('and names the first twelve months', async () => {
    const months = Array.from({ length: 14 }, (_none, month) => new Date(Date.UTC(2023, month, 10)).toISOString().slice(0, 10));
    const lines = months.map((deposit_date, number) => gift(number, '01', { deposit_date, donor_id: number + 1 }));
    const organization = await createClosed(lines);
    const { stderr } = await importInto(
      organization,
      lines.map((line) => ({ ...line, ...AMOUNTS })),
    );
    expect(stderr).toContain('14 lines of closed dates would change by +1400.00 (2023-01: 1 line, +100.00; 2023-02: ');
    expect(stderr).toContain('; 2023-12: 1 line, +100.00; and 2 more months)');
  });
});

describe('an import is let in', () => {
  test('when names, addresses, memos and types of a closed month change alone', async () => {
    const organization = await createClosed();
    const texts = {
      donor_last_name: 'King',
      city: 'Bern',
      designation: 'Hope',
      designation_memo: 'a',
      main_memo: 'b',
      account_type: 'Savings',
    };
    const donor = { donor_id: 9, donor_first_name: 'Grace' };
    expect(await importInto(organization, [{ ...OCTOBER, ...texts, ...donor }])).toMatchObject({ status: 0 });
    expect(await versionOf(organization)).toBe(3);
  });

  test('as late, and says what is late', async () => {
    const organization = await createClosed();
    const { stdout } = await importInto(organization, [{ ...OCTOBER, ...AMOUNTS }, gift(4, '12')], '--late', 'accept');
    expect(stdout).toContain(
      'The books are closed through 2024-10-31, and 1 line of closed dates changed:\nMONTH    LINES  AMOUNT BY LINE\n2024-10  1      100.00\n',
    );
  });

  test('by no trial: it tells the refusal and the change', async () => {
    const organization = await createClosed();
    const trial = await importInto(organization, [{ ...OCTOBER, ...AMOUNTS }], '--dry-run');
    const fault = 'the books are closed through 2024-10-31, and 1 line of closed dates would change by +100.00 (2024-10: 1 line, +100.00)';
    expect(trial).toMatchObject({ status: 1, stderr: `The import would be refused: ${fault}; --late accept lets them in as late\n` });
    expect(trial.stdout).toContain('0 lines added, 1 changed, 0 removed');
    expect(await importInto(organization, [{ ...OCTOBER, ...AMOUNTS }], '--dry-run', '--late', 'accept')).toMatchObject({ status: 0 });
    expect(await versionOf(organization)).toBe(2);
  });

  test('when its months are reopened', async () => {
    const organization = await createClosed();
    await period('reopen', organization, '--through', '2024-10-31', '--reason', 'Corrections');
    expect(await importInto(organization, [{ ...OCTOBER, ...AMOUNTS }])).toMatchObject({ status: 0 });
  });
});
