import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { done, failed, misused, runCommand, startCommand, withoutDatabase, type CommandResult } from '../support/command';
import { CSV_HEADER, openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';

const HASH = expect.stringMatching(/^[0-9a-f]{64}$/) as string;

let files: DepositFiles;
let organization: string;

const posted = v2Line({ donor_first_name: 'Ada "Countess"', main_memo: 'two\r\nlines' });
const pending = { ...posted, deposit_id: '2', deposit_date: '2024-01-03', transaction_id: '2', allocation_id: '2', main_memo: '' };

beforeAll(async () => {
  files = await openDepositFiles();
  organization = await files.createOrganization();
  await files.import(organization, 'lines.ndjson', toNdjson([posted, { ...pending, deposit_status: 'pending' }]));
});
afterAll(() => files.close());

const exportWords = (options: Readonly<Record<string, string>>, ...flags: string[]): string[] => [
  'export',
  ...Object.entries({ organization, format: 'json', start: '2024-01-01', end: '2024-01-31', ...options }).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ]),
  ...flags,
];
const runExport = (options: Readonly<Record<string, string>>, ...flags: string[]): Promise<CommandResult> =>
  runCommand(files.environment, exportWords(options, ...flags));
const withoutPid = (result: CommandResult): CommandResult => ({
  ...result,
  stderr: result.stderr.replace(/\.json\.[^/]+-\d+-[0-9a-f]{8}\.part/g, '.json.PID.part'),
});
/** The files that an export to this path has left beside it. */
const traces = async (file: string): Promise<string[]> => (await readdir(dirname(file))).filter((name) => name.startsWith(basename(file)));

describe('an operator who exports', () => {
  test('gets the lines in each format, pending ones only when asking for them', async () => {
    expect(await runExport({})).toEqual({ status: 0, stdout: JSON.stringify({ response: [posted] }), stderr: '' });
    expect((await runExport({ format: 'ndjson' }, '--include-pending')).stdout).toBe(
      toNdjson([
        { ...posted, deposit_status: 'posted' },
        { ...pending, deposit_status: 'pending' },
      ]),
    );
    expect((await runExport({ format: 'csv' }, '--include-pending')).stdout).toBe(
      `${CSV_HEADER},deposit_status\r\n` +
        '"1","2024-01-01","2024-01-02","P10","P100",7,"Ada ""Countess""","Lovelace","12 St James Square","","","London","","SW1Y 4JH","555-0100",' +
        '"ada@example.org","10.50","0.50","10.00","Complete","Checking","ACH",3,"General Fund","","two\r\nlines","posted"\r\n' +
        '"2","2024-01-01","2024-01-03","2","2",7,"Ada ""Countess""","Lovelace","12 St James Square","","","London","","SW1Y 4JH","555-0100",' +
        '"ada@example.org","10.50","0.50","10.00","Complete","Checking","ACH",3,"General Fund","","","pending"\r\n',
    );
  });

  test('chooses columns, of which v2 and all stand for several', async () => {
    expect((await runExport({ format: 'ndjson', columns: 'deposit_status,amount' }, '--include-pending')).stdout).toBe(
      toNdjson(['posted', 'pending'].map((deposit_status) => ({ deposit_status, amount: '10.50' }))),
    );
    expect((await runExport({ columns: 'v2' }, '--include-pending')).stdout).toBe(JSON.stringify({ response: [posted, pending] }));
    const all = { ...posted, deposit_status: 'posted', allocation_amount: '10.50', allocation_amount_inferred: true };
    expect((await runExport({ columns: 'all' })).stdout).toBe(JSON.stringify({ response: [all] }));
    expect(await runExport({ columns: 'v2,amount' })).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Invalid parameter(s): columns must be names of fields of the report, each once, separated by commas\n',
    });
  });

  test('gets the lines of a named period, in the time zone of the organization', async () => {
    const here = await files.createOrganization();
    expect(await runCommand(files.environment, ['organization', 'time-zone', here, 'Pacific/Kiritimati'])).toEqual(
      done(`The days of "${here}" begin at midnight in Pacific/Kiritimati`),
    );
    // Two days are enough for a midnight that comes while the lines are imported and read; in UTC, none is of today for ten hours.
    const dayIn = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 10);
    const days = [dayIn(14), dayIn(38)].map((deposit_date, n) =>
      v2Line({ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date }),
    );
    await files.import(here, 'days.ndjson', toNdjson(days));
    const words = ['export', '--organization', here, '--format', 'ndjson', '--columns', 'deposit_date', '--period'];
    const [before, { stdout }, after] = [dayIn(14), await runCommand(files.environment, [...words, 'today']), dayIn(14)];
    expect([before, after].map((deposit_date) => toNdjson([{ deposit_date }]))).toContain(stdout);
    expect((await runCommand(files.environment, [...words, 'all-time'])).stdout).toBe(
      toNdjson(days.map(({ deposit_date }) => ({ deposit_date }))),
    );
  });

  test.each([
    ['no dates', [], "error: required option '--start <date>' not specified, nor --period in place of both dates"],
    [
      'a start alone',
      ['--start', '2024-01-01'],
      "error: required option '--end <date>' not specified, nor --period in place of both dates",
    ],
    [
      'a period beside a start',
      ['--period', 'today', '--start', '2024-01-01'],
      "error: option '--period <name>' cannot be used with option '--start <date>'",
    ],
    [
      'a period that nobody knows',
      ['--period', 'noon'],
      "error: option '--period <name>' argument 'noon' is invalid. Allowed choices are today, yesterday, this-week, last-week, this-month, last-month, this-quarter, last-quarter, this-year, last-year, last-12-months, week-to-date, month-to-date, quarter-to-date, year-to-date, this-fiscal-year, last-fiscal-year, fiscal-year-to-date, all-time.",
    ],
  ])('is told how to call it with %s', async (_title, words, line) => {
    expect(await runCommand(files.environment, ['export', '--organization', organization, '--format', 'csv', ...words])).toEqual(
      misused(line),
    );
  });

  test('gets the lines of a state that the books had, by version and by instant', async () => {
    const moving = await files.createOrganization();
    const options = { organization: moving, format: 'ndjson', columns: 'allocation_id,amount' };
    await files.import(moving, 'then.ndjson', toNdjson([posted]));
    const instant = new Date().toISOString();
    await files.import(moving, 'now.ndjson', toNdjson([{ ...posted, amount: '20.50', net_amount: '20.00' }]));
    const [then, now] = ['10.50', '20.50'].map((amount) => toNdjson([{ allocation_id: 'P100', amount }]));
    expect((await runExport(options)).stdout).toBe(now);
    for (const state of ['1', instant]) expect((await runExport({ ...options, 'as-of': state })).stdout).toBe(then);
    expect((await runExport({ ...options, 'as-of': '2' })).stdout).toBe(now);
    const file = files.path('then.ndjson');
    const { stdout } = await runCommand(files.environment, ['--json', ...exportWords({ ...options, 'as-of': '1', out: file })]);
    expect(JSON.parse(stdout)).toMatchObject({ dataVersion: 1, lines: 1 });
    expect(await runExport({ ...options, 'as-of': '3' })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the latest 2 of') as string,
    });
    expect(await runExport({ ...options, 'as-of': 'yesterday' })).toMatchObject({
      ...{ status: 2, stderr: expect.stringContaining('the number of a version, or an instant') as string },
    });
  });

  test('brings pending money elsewhere as pending', async () => {
    const other = await files.createOrganization();
    const totals = async (name: string) => (await files.query(POSTED_AND_PENDING, [name])).rows;
    const { stdout } = await runExport({ format: 'csv' }, '--include-pending');
    expect((await files.import(other, 'moved.csv', stdout)).stdout).toBe(
      'Imported 2 lines; new or changed: 2 deposits, 2 transactions, 2 allocations, 1 designations, 1 donors\n' +
        'The books are at data version 1: 2 lines added, 0 changed, 0 removed\n',
    );
    expect(await totals(other)).toEqual([
      { status: 'POSTED', sum: '10.50' },
      { status: 'PENDING', sum: '10.50' },
    ]);
    expect(await totals(other)).toEqual(await totals(organization));
  });

  test('gets CSV in which a spreadsheet finds no formula, and import takes the guard off again', async () => {
    const [first, second] = [await files.createOrganization(), await files.createOrganization()];
    const formulas = v2Line({
      ...{ deposit_id: '-1', transaction_id: '=A1', allocation_id: '+1', donor_first_name: '=cmd', donor_last_name: '+1', address1: '-2' },
      ...{ address2: '@x', address3: '\tx', city: '\rx', state: "'=x", zip: "''-x", phone: "'x", email_address: 'a=b', status: "'" },
      ...{ designation: '＝1', designation_memo: '\n＠x' },
      ...{ amount: '-5.00', fee_amount: '-1.00', net_amount: '-4.00', account_type: ' =x', payment_type: '', main_memo: '-' },
    });
    await files.import(first, 'lines.ndjson', toNdjson([formulas]));
    const csv = await files.export(first, 'csv');
    expect(csv).toBe(
      `${CSV_HEADER}\r\n` +
        `"'-1","2024-01-01","2024-01-02","'=A1","'+1",7,"'=cmd","'+1","'-2","'@x","'\tx","'\rx","''=x","'''-x","'x","a=b",` +
        `"-5.00","-1.00","-4.00","'"," =x","",3,"'＝1","'\n＠x","'-"\r\n`,
    );
    await files.import(second, 'lines.csv', csv);
    expect(await files.lines(second)).toEqual([formulas]);
  });

  test('gets a file that is there whole, in place of an earlier one', async () => {
    const file = files.path('report.json');
    await writeFile(file, 'earlier');
    expect(await runExport({ out: file })).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(await readFile(file, 'utf8')).toBe(JSON.stringify({ response: [posted] }));
    expect(await traces(file)).toEqual([basename(file)]);
  });

  test('is told the file, its length, its hash and its lines as the audit has them, by --json', async () => {
    const file = files.path('told.csv');
    const { status, stdout, stderr } = await runExport({ out: file, format: 'csv' }, '--json');
    const content = await readFile(file);
    const list = await runCommand(files.environment, ['--json', 'audit', 'list', '--organization', organization, '--kind', 'file']);
    const entries = JSON.parse(list.stdout) as { id: string }[];
    const told = JSON.parse(stdout) as { file: string; id: string };
    expect([status, stderr, told]).toEqual([
      0,
      '',
      {
        ...{ file, bytes: content.length, lines: 1, fileSha256: createHash('sha256').update(content).digest('hex'), dataVersion: 1 },
        ...{ digest: HASH, moneyDigest: HASH, id: expect.any(String) as string },
      },
    ]);
    const { file: _file, ...facts } = told;
    expect(entries.find(({ id }) => id === told.id)).toMatchObject(facts);
  });

  test('writes through no link that somebody has put beside the file', async () => {
    const file = files.path('linked.json');
    const other = files.path('other');
    await writeFile(other, 'of another');
    await symlink(other, `${file}.part`);
    expect(await runExport({ out: file })).toMatchObject({ status: 0, stderr: '' });
    expect(await readFile(other, 'utf8')).toBe('of another');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('leaves the draft of another machine that may still write it, and removes one of yesterday', async () => {
    const file = files.path('shared.json');
    const [fresh, old] = ['other-999999-00c0ffee', 'other-999998-00c0ffee'].map((owner) => `${file}.${owner}.part`) as [string, string];
    for (const draft of [fresh, old]) await writeFile(draft, '');
    const yesterday = Date.now() / 1000 - 86_401;
    await utimes(old, yesterday, yesterday);
    expect(await runExport({ out: file })).toMatchObject({ status: 0, stderr: '' });
    expect((await traces(file)).sort()).toEqual([basename(file), basename(fresh)]);
  });

  test('keeps the earlier file when the new one cannot be finished', async () => {
    const file = files.path('report.json');
    await writeFile(file, 'earlier');
    const { client } = files.database;
    await client.query('BEGIN');
    await client.query('LOCK TABLE deposit_line');
    const result = await runCommand({ ...files.environment, REPORT_TIMEOUT_SECONDS: '1' }, exportWords({ out: file }));
    await client.query('ROLLBACK');
    expect(result).toEqual({ status: 1, stdout: '', stderr: 'Data source query failed: The report took over 1000 ms\n' });
    expect(await readFile(file, 'utf8')).toBe('earlier');
    expect(await traces(file)).toEqual([basename(file)]);
  });

  test('gets no file for an organization that is not there', async () => {
    const file = files.path('report.json');
    const result = await runExport({ out: file, organization: 'Nobody' });
    expect(result).toEqual({ status: 1, stdout: '', stderr: 'There is no organization "Nobody"\n' });
    expect(await traces(file)).toEqual([]);
  });

  test('is told in one line where the file cannot be written', async () => {
    const missing = `${files.path('missing')}/report.json`;
    expect(withoutPid(await runExport({ out: missing }))).toEqual({
      status: 1,
      stdout: '',
      stderr: `Cannot write ${missing}: ENOENT: no such file or directory, open '${missing}.PID.part'\n`,
    });
  });

  test.each([
    ['an export', exportWords({ organization: 'Full' })],
    ['a list', ['organization', 'list']],
  ])('is told in one line that a full disk takes no more of %s', async (_title, words) => {
    await files.query("INSERT INTO organization (name) VALUES ('Full') ON CONFLICT DO NOTHING");
    const full = openSync('/dev/full', 'w');
    const child = startCommand(files.environment, words, ['ignore', full, 'pipe']);
    const [stderr, [status]] = await Promise.all([text(child.stderr!), once(child, 'close') as Promise<[number | null]>]);
    closeSync(full);
    expect({ status, stderr: withoutDatabase(stderr) }).toEqual({
      status: 1,
      stderr: 'Cannot write: ENOSPC: no space left on device, write\n',
    });
  });

  test('gets a list also where nothing takes the words beside it', async () => {
    const full = openSync('/dev/full', 'w');
    const child = startCommand(files.environment, ['organization', 'list'], ['ignore', 'pipe', full]);
    const [stdout, [status]] = await Promise.all([text(child.stdout!), once(child, 'close') as Promise<[number | null]>]);
    closeSync(full);
    expect([status, stdout]).toEqual([0, expect.stringContaining('NAME')]);
  });

  test.each([
    ['a start that is no date', { start: '2024-02-30' }, misused('--start: "2024-02-30" is no day of the calendar')],
    ['an end that is no date', { end: 'today' }, misused('--end: "today" is not a date: write YYYY-MM-DD, such as "2026-01-31"')],
    ['a start after the end', { start: '2024-02-01' }, failed('Start date cannot be greater than the end date.')],
  ])('is told what is wrong with the range: %s', async (_title, range, result) => {
    const file = files.path('report.json');
    expect(await runExport({ ...range, out: file })).toEqual(result);
    expect(await traces(file)).toEqual([]);
  });
});

const POSTED_AND_PENDING = `SELECT d.status, sum(t.amount) FROM deposit d JOIN transaction t ON (t.organization_id, t.deposit_id) = (d.organization_id, d.id)
  WHERE d.organization_id = (SELECT id FROM organization WHERE name = $1) GROUP BY d.status ORDER BY d.status`;
