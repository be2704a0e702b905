import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import {
  failed,
  misused,
  runCommand,
  startCommand,
  startCommandInTerminal,
  succeed,
  withoutDatabase,
  type CommandResult,
} from '../support/command';
import { CSV_HEADER, openDepositFiles, toCsv, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';
import { until } from '../support/until';

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

const lines = [v2Line({ main_memo: 'Größe 🌻' }), v2Line({ deposit_id: '2', transaction_id: 'P200', allocation_id: 'P201' })];
const pipe = (organization: string, content: string | Buffer, ...options: string[]): Promise<CommandResult> =>
  runCommand(files.environment, ['import', '-', '--organization', organization, ...options], content);
const utf16 = (content: string): Buffer => Buffer.from(`\ufeff${content}`, 'utf16le');

describe('an operator who pipes lines into an import', () => {
  test.each([
    ['json', 'a v2 answer', JSON.stringify({ response: lines }, undefined, 2)],
    ['ndjson', 'NDJSON', toNdjson(lines)],
    ['csv', 'CSV', toCsv(lines)],
    [
      'csv',
      'CSV of a spreadsheet',
      utf16(`sep=;\r\n${toCsv(lines).replaceAll('","', '";"').replace(CSV_HEADER, CSV_HEADER.replaceAll(',', ';'))}`),
    ],
  ])('has the same lines as from a file: %s, %s', async (format, _title, content) => {
    const organization = await files.createOrganization();
    const result = await pipe(organization, content, '--format', format);
    expect(result).toEqual({
      status: 0,
      stdout:
        'Imported 2 lines; new or changed: 2 deposits, 2 transactions, 2 allocations, 1 designations, 1 donors\n' +
        'The books are at data version 1: 2 lines added, 0 changed, 0 removed\n' +
        'The file does not say whether its deposits are posted or pending: 2 deposits taken for posted; --status says it\n',
      stderr: '',
    });
    expect(await files.lines(organization)).toEqual(lines);
    const versions = await succeed(files.environment, ['--json', 'version', 'list', '--organization', organization]);
    expect(JSON.parse(versions)).toMatchObject([
      { fileName: 'standard input', fileSha256: createHash('sha256').update(content).digest('hex') },
    ]);
  });

  test('removes what a complete range lacks, and tries it first', async () => {
    const organization = await files.createOrganization();
    const complete = ['--format', 'ndjson', '--replace', '--from', '2024-01-01', '--to', '2024-01-31'];
    expect(await pipe(organization, toNdjson(lines), ...complete)).toMatchObject({ status: 0 });
    const [tried, made] = [['--dry-run'], []].map((options) => () => pipe(organization, toNdjson(lines.slice(1)), ...complete, ...options));
    expect((await tried!()).stdout).toContain('0 lines added, 0 changed, 1 removed');
    expect(await files.lines(organization)).toEqual(lines);
    expect((await made!()).stdout).toContain('The books are at data version 2: 0 lines added, 0 changed, 1 removed');
    expect(await files.lines(organization)).toEqual(lines.slice(1));
  });

  test('is told what is wrong by line, field and reason, as of a file', async () => {
    const organization = await files.createOrganization();
    const result = await pipe(organization, toNdjson([lines[0], v2Line({ deposit_date: '2024-02-30' })]), '--format', 'ndjson');
    expect(result).toEqual({
      status: 1,
      stdout: '',
      stderr: 'line 2: deposit_date is no day of the calendar\nNothing was imported: 1 fault\n',
    });
    expect(await files.lines(organization)).toEqual([]);
  });

  const answer = JSON.stringify({ response: lines });
  const [first = ''] = toNdjson(lines).split('\n');
  test.each([
    ['json', answer.slice(0, -2), `The file is not a v2 answer in JSON: it breaks off at line 1, column ${answer.length - 2}`],
    [
      'json',
      `{"response":[\n${first},\n${first.slice(0, -1)}`,
      `The file is not a v2 answer in JSON: it breaks off at line 3, column ${first.length - 1}`,
    ],
    ['ndjson', `${first}\n${first.slice(0, 40)}`, 'Line 2 breaks off at column 41'],
    ['csv', toCsv(lines).slice(0, -40), 'The file is not valid CSV: line 3 begins a record with a quote that has no end'],
  ])('whose source dies within a line is told so: %s %#', async (format, content, reason) => {
    const organization = await files.createOrganization();
    expect(await pipe(organization, content, '--format', format)).toEqual(failed(reason));
    expect(await files.lines(organization)).toEqual([]);
  });

  test.each(['json', 'ndjson', 'csv'])('whose source sends nothing is told so: %s', async (format) => {
    const organization = await files.createOrganization();
    expect(await pipe(organization, '', '--format', format)).toEqual(
      failed('Standard input is empty: nothing was imported. A source without lines sends {"response":[]}, or CSV with its header'),
    );
  });

  test('names the format, which no ending tells', async () => {
    expect(await pipe('Nobody', answer)).toEqual(misused('Standard input has no ending: --format json, ndjson or csv names its format'));
    const { status, stderr } = await pipe('Nobody', answer, '--format', 'xlsx');
    expect([status, stderr]).toEqual([2, expect.stringContaining('Allowed choices are csv, ndjson, json.')]);
    expect(await pipe('Nobody', answer, '--format', 'json')).toEqual(failed('There is no organization "Nobody"'));
  });

  test('ends an import at once that cannot begin, while the source still runs', async () => {
    const child = startCommand(files.environment, ['import', '-', '--format', 'ndjson', '--organization', 'Nobody']);
    const closed = once(child, 'close') as Promise<[number | null]>;
    const [stderr, [status]] = await Promise.all([text(child.stderr!), closed]);
    expect([status, withoutDatabase(stderr)]).toEqual([1, 'There is no organization "Nobody"\n']);
  });
});

test('an operator names the format of a file whose ending tells none, or another', async () => {
  const organization = await files.createOrganization();
  const imported = { status: 0, stderr: '', stdout: expect.stringContaining('Imported 2 lines') as string };
  expect(await files.import(organization, 'lines.txt', toCsv(lines), '--format', 'csv')).toEqual(imported);
  expect(await files.import(organization, 'lines.json', toNdjson(lines), '--format', 'ndjson')).toEqual(imported);
});

// It runs by itself: the database must show this import alone.
test('an operator stops an import from a pipe by Ctrl-C, and nothing is written', async () => {
  const organization = await files.createOrganization();
  const child = startCommand(files.environment, ['import', '-', '--format', 'ndjson', '--organization', organization]);
  const closed = once(child, 'close');
  child.stdin!.on('error', () => undefined);
  child.stdin!.write(toNdjson(lines));
  const importing = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'COPY import_line%'`;
  await until(async () => (await files.query(importing)).rows.length > 0);
  child.kill('SIGINT');
  expect(await closed).toEqual([1, null]);
  expect(await files.lines(organization)).toEqual([]);
});

test('an operator at a terminal is told what is awaited', async () => {
  const organization = await files.createOrganization();
  const child = startCommandInTerminal(files.environment, ['import', '-', '--format', 'ndjson', '--organization', organization]);
  let shown = '';
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => (shown += piece));
  const closed = once(child, 'close');
  await until(() => shown.includes('Type or paste deposit lines as ndjson; Ctrl-D at the start of a line ends them'));
  child.stdin!.write(`${toNdjson(lines)}\u0004`);
  await closed;
  expect(shown).toContain('Imported 2 lines');
  expect(await files.lines(organization)).toEqual(lines);
});
