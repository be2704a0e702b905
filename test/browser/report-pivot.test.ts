import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { groupBy } from '../../src/playground/web/values/groups';
import { logIn, openPlayground, printPage } from '../support/playground-browser';
import { createOracle, summaryBook, toCents, toMoney } from '../support/summary-oracle';
import { until } from '../support/until';
import { readXlsx } from '../support/xlsx-reader';

const NOW = '2024-06-15T12:00:00Z';
const MONTHS = ['2024-02', '2024-03', '2024-04', '2024-05'];
const TITLES = ['Feb 2024', 'Mar 2024', 'Apr 2024', 'May 2024'];
const HASH = '#reports/designations?period=2024-02-01..2024-05-31&splitBy=MONTH';
const book = summaryBook(150);
const oracle = createOracle(book);
const lines = book.filter(({ deposit_date }) => MONTHS.includes(deposit_date.slice(0, 7)));
const funds = [...new Set(lines.map(({ designation_id }) => designation_id))];
const gateway = openPlayground({ lines: book });

/** What a fund received in some months, as a plain reading of the lines of the books gives it; “unknown” where no share is known. */
function received(fund: number | undefined, months: readonly string[]): string {
  const own = lines.filter(
    ({ designation_id: id, deposit_date: date }) => (fund === undefined || id === fund) && months.includes(date.slice(0, 7)),
  );
  const parts = own.length === 0 ? '0.00' : oracle.totalsOf(own).byAllocation.amount;
  return parts ?? 'unknown';
}
const unknownOf = (fund: number): number => oracle.totalsOf(lines.filter(({ designation_id: id }) => id === fund)).byAllocation.unknown;
/** The cells of each fund, by its number: its months and their sum. */
const expected = new Map(
  funds.map((fund) => [String(fund), [...MONTHS.map((month) => received(fund, [month])), received(fund, MONTHS)]] as const),
);

const plain = (texts: readonly string[]): string[] => texts.map((text) => text.replaceAll(',', ''));
/** A sum without what it says of unknown parts. */
const toSum = (text: string): string => plain([text])[0]!.split(' ')[0]!;
/** The months and the sum of each row, by the number of its fund. */
const byFund = (rows: readonly (readonly string[])[]) =>
  new Map(rows.map(([_name, fund, ...cells]) => [fund, plain(cells.slice(0, MONTHS.length + 1))]));

async function open(hash: string): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const opened = await gateway.visit({ hash, now: NOW, locale: 'en-US', viewport: { width: 1440, height: 900 } });
  await logIn(opened.page);
  await opened.page.locator('.table-totals').waitFor();
  return opened;
}
const titles = (page: Page): Promise<string[]> => page.locator('.table-names .column-sort').allTextContents();
const cells = (page: Page, rows: string): Promise<string[][]> =>
  page.evaluate(
    `[...document.querySelectorAll('${rows}')].map((row) => [...row.querySelectorAll('[role=cell]')].map((cell) => cell.textContent))`,
  );

async function saveFile(page: Page, format: string): Promise<{ readonly name: string; readonly file: Buffer }> {
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(format, { exact: true }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  return { name: saved.suggestedFilename(), file: await readFile(await saved.path()) };
}

test('an analyst sees funds by month with the money of the books: as a table, a chart, files and a print', async () => {
  const { page, faults } = await open(HASH);
  expect(await titles(page)).toEqual(['Fund', 'Fund number', ...TITLES, 'Total', 'Share', 'Unknown shares']);
  const rows = await cells(page, '.table-body [role=row]');
  expect(byFund(rows)).toEqual(expected);
  expect(rows.map((row) => [row[1], row.at(-1)])).toEqual(
    expect.arrayContaining(funds.map((fund) => [String(fund), String(unknownOf(fund))])),
  );
  const [totals = []] = await cells(page, '.table-totals');
  expect(totals.slice(2, 6).map(toSum)).toEqual(MONTHS.map((month) => received(undefined, [month])));
  expect(totals.slice(6, 8).map(toSum)).toEqual([received(undefined, MONTHS), '100.0%']);

  const { name, file } = await saveFile(page, 'XLSX');
  expect(name).toBe('designations-2024-02-01-2024-05-31-by-month.xlsx');
  const [sheet, facts] = readXlsx(file);
  const numbers = sheet!.rows.slice(1).map((row) => ['C', 'D', 'E', 'F', 'G'].map((letter) => row[letter]));
  const texts = numbers.map((row) => row.map((cell) => (typeof cell === 'object' ? cell.number.toFixed(2) : 'unknown')));
  expect(new Map(sheet!.rows.slice(1).map((row, n) => [row.B, texts[n]]))).toEqual(expected);
  expect(facts!.rows.map((row) => Object.values(row))).toContainEqual(['Figure', 'To this fund, a column for each month']);
  const records = parse<Record<string, string>>((await saveFile(page, 'CSV')).file, { columns: true, bom: true });
  const written = records.map(
    (record) => [record['Fund number'], [...TITLES, 'Total'].map((title) => record[title] || 'unknown')] as const,
  );
  expect(new Map(written)).toEqual(expected);

  const [printed] = await printPage(page);
  expect(printed!.lines).toContain('Figure: To this fund');
  expect(byFund(printed!.rows.slice(1, -1))).toEqual(expected);

  await page.getByRole('tab', { name: 'Chart' }).click();
  const chart = page.getByRole('img', { name: /^Bar chart of To this fund by fund and month/ });
  await chart.focus();
  const drawn: string[] = [];
  for (let mark = await page.locator('.chart-mark').count(); mark > 0; mark--) {
    await page.keyboard.press('ArrowDown');
    drawn.push((await page.locator('.chart-reading').textContent())!);
  }
  const sums = groupBy(drawn, (reading) => reading.replace(/, \w+ \d+: .*/, ''));
  const sumOf = (readings: readonly string[]) =>
    toMoney(readings.reduce((sum, text) => sum + toCents(plain([text.replace(/.*: /, '')])[0]!), 0));
  const known = [...expected.values()].map((row) => row.at(-1)!).filter((total) => total !== 'unknown' && total !== '0.00');
  expect([...sums.values()].map(sumOf).toSorted()).toEqual(known.toSorted());
  const ends = (await page.locator('.chart text').allTextContents()).map(toSum);
  expect(ends).toEqual(expect.arrayContaining(known));
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst chooses the figure of a pivot or the list, and sends a link that shows the same', async () => {
  const { page, faults } = await open(HASH);
  await page.getByLabel('Show', { exact: true }).selectOption('Unknown shares by month');
  await until(async () => (await titles(page)).at(-1) === 'Share');
  expect((await cells(page, '.table-body [role=row]')).map((row) => [row[1], row.at(-2)])).toEqual(
    expect.arrayContaining(funds.map((fund) => [String(fund), String(unknownOf(fund))])),
  );
  await page.getByRole('button', { name: 'Filter these rows' }).click();
  await page.getByLabel('Mar 2024 from').fill('1');
  await page.getByText(/^\d+ of \d+ rows/).waitFor();
  const count = await page.locator('.table-count').textContent();
  await page.evaluate(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText(/^The link is copied/).waitFor();
  const link = await page.evaluate<string>('globalThis.copied');
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByText(count!, { exact: true }).waitFor();
  expect(await page.getByText('cannot be read').count()).toBe(0);
  expect((await titles(page)).at(-1)).toBe('Share');
  await page.getByLabel('Show', { exact: true }).selectOption('All figures, as a list');
  await until(async () => (await titles(page))[0] === 'Month');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst of more days than stand side by side is told so, and gets a list', async () => {
  const { page, faults } = await open(HASH.replace('MONTH', 'DAY'));
  await page.getByText(/^\d+ days are too many for columns of their own: 60 are the most\. So this is a list\.$/).waitFor();
  expect((await titles(page)).slice(0, 2)).toEqual(['Day', 'Fund']);
  expect(faults).toEqual([]);
  await page.context().close();
});
