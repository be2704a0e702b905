import { parse } from 'csv-parse/sync';
import { assert, array, asyncProperty, bigInt, constantFrom, double, integer, option, record, string } from 'fast-check';
import { writeFile } from '../../src/playground/web/files/file-writer';
import type { FileContent } from '../../src/playground/web/files/file-content';
import type { WrittenFormat } from '../../src/playground/web/files/file-format';
import type { Row, TableColumn } from '../../src/playground/web/values/table-types';
import { readXlsx } from '../support/xlsx-reader';

const columns: readonly TableColumn[] = [
  { id: 'deposit_date', title: 'Deposit date', kind: 'date', adds: false },
  { id: 'key.designation', title: 'Designation, or fund', kind: 'text', adds: false },
  { id: 'gifts', title: 'Gifts', kind: 'count', adds: false },
  { id: 'amount', title: 'To this fund', kind: 'money', adds: true },
  { id: 'change', title: 'Change', kind: 'percent', adds: false },
  { id: 'at', title: 'At', kind: 'instant', adds: false },
  { id: 'split', title: '=Split', kind: 'text', adds: false },
];

const rows: readonly Row[] = [
  ['2026-01-31', 'General "Fund"', 52, '10543.25', '12.5', '2026-01-31T18:00:00.000Z', true],
  ['2024-02-29', ' =Wells & <Water>\nÉcole ', 0, '-5.00', '-100', null, false],
  [null, '', null, null, null, null, null],
  ['2026-03-29', '-x_x0041_\r\n\r', 1234567, '1234567890123.45', '0.1', null, null],
  ['1899-12-31', null, 1, '12345678901234567.89', null, null, null],
];

function contentOf(given: Partial<FileContent> = {}): FileContent {
  return {
    title: 'Designations',
    columns,
    rows: [rows],
    facts: [
      { name: 'What one row is', value: 'a fund', kind: 'text' },
      { name: 'From', value: '2026-01-01', kind: 'date' },
      { name: 'Received', value: '216867.82', kind: 'money' },
      { name: 'Unknown shares', value: null, kind: 'money' },
      { name: 'Data version', value: 12, kind: 'count' },
      { name: 'Digest', value: '00e1', kind: 'text' },
    ],
    ...given,
  };
}

const write = async (content: FileContent, format: WrittenFormat): Promise<Buffer> =>
  Buffer.from(await (await writeFile(content, format)).arrayBuffer());

const day = (date: string): number => Date.parse(date) / 86_400_000 + 25_569;

test('a spreadsheet has amounts, counts and dates as numbers, and what a number does not hold as text', async () => {
  const [sheet] = readXlsx(await write(contentOf(), 'xlsx'));
  expect(sheet?.name).toBe('Rows');
  const [header, ...body] = sheet!.rows;
  expect(Object.values(header!)).toEqual(columns.map(({ title }) => title));
  const money = (number: number) => ({ number, format: '#,##0.00' });
  const count = (number: number) => ({ number, format: '#,##0' });
  const percent = (number: number) => ({ number, format: '0.00%' });
  const date = (text: string) => ({ number: day(text), format: 'yyyy-mm-dd' });
  expect(body).toEqual([
    {
      A: date('2026-01-31'),
      B: 'General "Fund"',
      C: count(52),
      D: money(10543.25),
      E: percent(0.125),
      F: { number: day('2026-01-31') + 0.75, format: 'yyyy-mm-dd hh:mm:ss "UTC"' },
      G: true,
    },
    { A: date('2024-02-29'), B: ' =Wells & <Water>\nÉcole ', C: count(0), D: money(-5), E: percent(-1), G: false },
    { B: '' },
    { A: date('2026-03-29'), B: '-x_x0041_\r\n\r', C: count(1234567), D: money(1234567890123.45), E: percent(0.001) },
    { A: '1899-12-31', C: count(1), D: '12345678901234567.89' },
  ]);
});

test('a spreadsheet has instants by the clock of the time zone that the title of their column names', async () => {
  const at: TableColumn = { id: 'at', title: 'At', kind: 'instant', adds: false, timeZone: 'America/New_York' };
  const instants: readonly Row[] = [['2026-01-31T17:00:00.000Z'], ['2026-08-01T01:00:00.000Z']];
  const [sheet] = readXlsx(await write(contentOf({ columns: [at], rows: [instants] }), 'xlsx'));
  const format = 'yyyy-mm-dd hh:mm:ss';
  expect(sheet!.rows).toEqual([
    { A: 'At (America/New_York)' },
    { A: { number: day('2026-01-31') + 0.5, format } },
    { A: { number: day('2026-07-31') + 0.875, format } },
  ]);
});

test('a spreadsheet keeps its header in sight, filters its columns, and says on a second sheet what its rows are', async () => {
  const [sheet, totals] = readXlsx(await write(contentOf(), 'xlsx'));
  expect(sheet!.xml).toContain('<pane ySplit="1"');
  expect(sheet!.xml).toContain('state="frozen"');
  expect(sheet!.xml).toContain('</sheetData><autoFilter ref="A1:G6"/>');
  expect(totals?.name).toBe('Totals');
  expect(totals?.rows).toEqual([
    { A: 'Report', B: 'Designations' },
    { A: 'What one row is', B: 'a fund' },
    { A: 'From', B: { number: day('2026-01-01'), format: 'yyyy-mm-dd' } },
    { A: 'Received', B: { number: 216867.82, format: '#,##0.00' } },
    { A: 'Unknown shares' },
    { A: 'Data version', B: { number: 12, format: '#,##0' } },
    { A: 'Digest', B: '00e1' },
  ]);
});

test('a spreadsheet holds every amount exactly, as a number or as text', async () => {
  const amount = bigInt({ min: -(10n ** 19n), max: 10n ** 19n }).map((cents) => {
    const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
    return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  });
  await assert(
    asyncProperty(array(amount, { minLength: 1, maxLength: 30 }), async (amounts) => {
      const content = contentOf({ columns: [columns[3]!], rows: [amounts.map((each) => [each])] });
      const [sheet] = readXlsx(await write(content, 'xlsx'));
      const read = sheet!.rows.slice(1).map(({ A: cell }) => (typeof cell === 'object' ? cell.number.toFixed(2) : cell));
      expect(read).toEqual(amounts.map((each) => (each === '-0.00' ? '0.00' : each)));
    }),
    { numRuns: 60 },
  );
});

test('a spreadsheet holds every text that XML and Excel can hold, and cuts one that is too long for a cell', async () => {
  const letter = constantFrom('a', 'Z', '9', ' ', '\n', '\t', '_', 'x', '0', '&', '<', '>', '"', "'", 'é', '漢', '😀', '=', ';');
  await assert(
    asyncProperty(array(string({ unit: letter }), { minLength: 1, maxLength: 30 }), async (texts) => {
      const content = contentOf({ columns: [columns[1]!], rows: [texts.map((each) => [each])] });
      const [sheet] = readXlsx(await write(content, 'xlsx'));
      expect(sheet!.rows.slice(1).map(({ A: cell }) => cell)).toEqual(texts);
    }),
    { numRuns: 60 },
  );
  const [sheet] = readXlsx(
    await write(contentOf({ columns: [columns[1]!], rows: [[['x'.repeat(40_000)], ['y'.repeat(32_767)]]] }), 'xlsx'),
  );
  expect(sheet!.rows[1]!.A).toMatch(/^x+… \(cut: a cell holds no more\)$/);
  expect(sheet!.rows[1]!.A).toHaveLength(32_767);
  expect(sheet!.rows[2]!.A).toBe('y'.repeat(32_767));
});

test('a CSV file looks like the gateway’s own', async () => {
  expect((await write(contentOf({ rows: [rows.slice(0, 3)] }), 'csv')).toString()).toBe(
    '\uFEFFDeposit date,"Designation, or fund",Gifts,To this fund,Change,At,\'=Split\r\n' +
      '"2026-01-31","General ""Fund""",52,"10543.25","12.5","2026-01-31T18:00:00.000Z",true\r\n' +
      '"2024-02-29"," =Wells & <Water>\nÉcole ",0,"-5.00","-100",,false\r\n' +
      ',"",,,,,\r\n',
  );
});

test('every value of a CSV file is read as it was written, and no text of it is a formula', async () => {
  const cells = record({
    text: option(string({ unit: 'grapheme' })),
    formula: constantFrom('=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx', '＝1', '＋1', '－1', '＠x', "'=x", "''＝x", "'x"),
    count: option(integer()),
    amount: option(double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map((number) => number.toFixed(2))),
  });
  const kinds = ['text', 'text', 'count', 'money'] as const;
  await assert(
    asyncProperty(array(cells, { minLength: 1 }), async (records) => {
      const content = contentOf({
        columns: kinds.map((kind, position) => ({ id: `c${position}`, title: `c${position}`, kind, adds: false })),
        rows: [records.map(({ text, formula, count, amount }) => [text, formula, count, amount])],
      });
      const read = parse(await write(content, 'csv'), { bom: true, from: 2 });
      const guard = (text: string | null): string => (/^'*[=+\-@\t\r\n＝＋－＠]/.test(text ?? '') ? `'${text!}` : (text ?? ''));
      expect(read).toEqual(
        records.map(({ text, formula, count, amount }) => [guard(text), guard(formula), count === null ? '' : String(count), amount ?? '']),
      );
    }),
    { numRuns: 60 },
  );
});

test('NDJSON and JSON have the columns’ ids and exact text amounts', async () => {
  const expected = rows.map((row) => Object.fromEntries(columns.map(({ id }, position) => [id, row[position]])));
  const chunks = contentOf({ rows: [rows.slice(0, 2), [], rows.slice(2)] });
  const lines = (await write(chunks, 'ndjson')).toString();
  expect(lines.endsWith('}\n')).toBe(true);
  expect(
    lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(expected);
  expect(JSON.parse((await write(chunks, 'json')).toString())).toEqual({ response: expected });
  expect((await write(contentOf({ rows: [] }), 'json')).toString()).toBe('{"response":[]}');
});

test.each(['csv', 'xlsx', 'ndjson', 'json'] as const)('a %s file tells how far it is, and stops when it is cancelled', async (format) => {
  const many = Array.from({ length: 2500 }, () => rows[0]!);
  const told: number[] = [];
  await writeFile(contentOf({ rows: [many] }), format, { onProgress: (count) => told.push(count) });
  expect(told).toEqual([1000, 2000, 2500]);
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const cancelled = writeFile(contentOf({ rows: [many] }), format, {
    signal: controller.signal,
    onProgress: () => controller.abort(reason),
  });
  await expect(cancelled).rejects.toBe(reason);
});

test('a spreadsheet that would have more rows than Excel takes is refused', async () => {
  const chunk = Array.from({ length: 1000 }, (): Row => []);
  const content = contentOf({ columns: [columns[1]!], rows: Array.from({ length: 1049 }, () => chunk) });
  await expect(writeFile(content, 'xlsx')).rejects.toThrow('1,048,575 rows');
});
