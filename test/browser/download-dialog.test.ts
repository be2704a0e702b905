import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { source as axe } from 'axe-core';
import type { BrowserContextOptions, Download, Locator, Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { openPlayground, untilFocusIsOn } from '../support/playground-browser';
import { until } from '../support/until';
import { readXlsx } from '../support/xlsx-reader';

const gateway = openPlayground({
  loggedIn: true,
  lines: [
    v2Line({ amount: '1234567.50', fee_amount: '0.50', net_amount: '1234567.00', allocation_amount: '1234567.50' }),
    v2Line({ transaction_id: 'P11', allocation_id: 'P110', designation_id: 4, designation: 'Wells' }),
  ],
});
const { organization } = gateway;

/** The built page of test/browser/download-page, on which the dialog takes files of lines that a worker holds. */
const built = mkdtempSync(join(tmpdir(), 'download-page-'));

beforeAll(() => {
  execFileSync('npx', [
    'vite',
    'build',
    '--config',
    'test/browser/download-page/vite.config.mjs',
    '--outDir',
    built,
    '--logLevel',
    'error',
  ]);
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

interface Opened {
  readonly page: Page;
  readonly dialog: Locator;
  readonly faults: string[];
}

async function open(repeats = 1, options: BrowserContextOptions = {}): Promise<Opened> {
  const page = await gateway.newPage(options);
  page.setDefaultTimeout(60_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (['error', 'log'].includes(message.type())) faults.push(message.text());
  });
  const [name = '', value = ''] = gateway.cookie.split(/=(.*)/s);
  await page.context().addCookies([{ name, value, url: gateway.url }]);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  // The page has the headers that protect the Playground.
  const policy = (await fetch(`${gateway.url}/playground/`)).headers.get('Content-Security-Policy')!;
  expect(policy).toContain("worker-src 'self'");
  await page.context().route(`${gateway.url}/download-page/**`, (route) => {
    const path = new URL(route.request().url()).pathname.slice('/download-page/'.length) || 'index.html';
    const headers = { 'Content-Type': types[path.split('.').at(-1)!]!, 'Content-Security-Policy': policy };
    return route.fulfill({ body: readFileSync(join(built, path)), headers });
  });
  await page.goto(`${gateway.url}/download-page/?provision=${organization.webProvision}&repeats=${repeats}`);
  await page.getByRole('button', { name: 'Download' }).click();
  return { page, faults, dialog: page.getByRole('dialog', { name: 'Download “Gifts of 2024”' }) };
}

async function take({ page, dialog }: Opened): Promise<Download> {
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  return saved;
}

const day = (date: string): number => Date.parse(date) / 86_400_000 + 25_569;

test('an analyst takes what is on the screen into a spreadsheet that adds up', async () => {
  const opened = await open();
  await opened.dialog.getByText('2 rows will come.').waitFor();
  const saved = await take(opened);
  expect(saved.suggestedFilename()).toBe('gifts-2024.xlsx');
  const [sheet, totals] = readXlsx(await readFile(await saved.path()));
  const date = { number: day('2024-01-02'), format: 'yyyy-mm-dd' };
  const money = (number: number) => ({ number, format: '#,##0.00' });
  expect(sheet?.rows).toEqual([
    { A: 'Deposit date', B: 'Fund', C: 'To this fund' },
    { A: date, B: 'General Fund', C: money(1234567.5) },
    { A: date, B: 'Wells', C: money(10.5) },
  ]);
  expect(totals?.rows[1]).toEqual({ A: 'What one row is', B: 'a share of a gift' });
  // Nobody has checked a file of some columns: only the gateway's own files have a digest of theirs.
  await opened.dialog
    .getByRole('status')
    .filter({ hasText: /^2 rows in gifts-2024\.xlsx$/ })
    .waitFor();
  expect(opened.faults).toEqual([]);
  await opened.page.context().close();
});

test('an analyst takes the gateway’s own file, with the columns of v2 or all of them, but not as a spreadsheet', async () => {
  const opened = await open();
  const { dialog, page } = opened;
  for (const [choice, columns] of [
    ['As the v2 interface', 'v2'],
    ['All fields', 'all'],
  ]) {
    await dialog.getByText(choice!, { exact: true }).click();
    await dialog.getByText('All lines of the report will come.').waitFor();
    expect(await dialog.getByRole('radio', { name: 'XLSX' }).isDisabled()).toBe(true);
    expect(await dialog.getByRole('radio', { name: 'CSV', exact: true }).isChecked()).toBe(true);
    const saved = await take(opened);
    const path = `/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31&columns=${columns!}&bom=true`;
    const own = await fetch(gateway.url + path, { headers: { Provision: organization.apiProvision } });
    expect(await readFile(await saved.path())).toEqual(Buffer.from(await own.arrayBuffer()));
    await dialog
      .getByRole('status')
      .filter({ hasText: /^2 rows in .*\.csv, checked: digest [0-9a-f]{12}…$/ })
      .waitFor();

    await dialog.getByRole('button', { name: 'Copy curl command' }).click();
    await dialog.getByRole('status').filter({ hasText: 'The command is copied.' }).waitFor();
    // The sentence may still be that of the copy before.
    const address = `'${gateway.url}/export/deposit-details.csv?start_date=2024-01-01&end_date=2024-12-31&include_pending=false&columns=${columns!}'`;
    await until(async () => (await page.evaluate<string>('navigator.clipboard.readText()')).includes(address));
  }
  await dialog.getByRole('button', { name: 'Copy for Power Query' }).click();
  await dialog.getByRole('status').filter({ hasText: 'Copied for the advanced editor' }).waitFor();
  const power = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(power).toContain(
    'Typed = Table.TransformColumnTypes(Rows, {\n    {"deposit_id", type text},\n    {"transaction_date", type date},',
  );
  expect(power).toContain('{"amount", Currency.Type}');
  expect(power).toContain('{"designation_id", Int64.Type}');
  expect(power).toMatch(/\{"allocation_amount_inferred", type logical\}\n {2}\}, "en-US"\)\nin\n {2}Typed$/);
  for (const secret of [organization.webProvision, organization.apiProvision]) expect(power).not.toContain(secret);

  const [opening] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Open in Power BI' }).click()]);
  await dialog.getByRole('status').filter({ hasText: 'Open the file: Power BI asks for a name and a password.' }).waitFor();
  const connection = JSON.parse(await readFile(await opening.path(), 'utf8')) as {
    connections: [{ details: { address: { url: string } } }];
  };
  const { url } = connection.connections[0].details.address;
  expect([opening.suggestedFilename(), url]).toEqual([
    'Lines.pbids',
    `${gateway.url}/odata/Lines?start_date=2024-01-01&end_date=2024-12-31&include_pending=false`,
  ]);
  const feed = await fetch(url, { headers: { Authorization: `Basic ${btoa(`ada:${organization.apiProvision}`)}` } });
  expect(((await feed.json()) as { value: unknown[] }).value).toHaveLength(2);
  await dialog.getByText('As on the screen', { exact: true }).click();
  const [excel] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Open in Excel' }).click()]);
  expect(excel.suggestedFilename()).toBe('Lines.odc');
  expect(await readFile(await excel.path(), 'utf8')).toContain('%24select=depositDate%2Cdesignation%2CallocationAmount');
  expect(opened.faults).toEqual([]);
  await page.context().close();
});

test('an analyst sees how far a long file is, and cancels it or closes the dialog on it', async () => {
  const { page, dialog, faults } = await open(75_000);
  const files: string[] = [];
  page.on('download', (saved) => files.push(saved.suggestedFilename()));
  await dialog.getByText('150,000 rows will come.').waitFor();
  const main = dialog.getByRole('button', { name: 'Download' });
  await main.click();
  await dialog.getByText(/^[\d,]+ of 150,000 rows$/).waitFor();
  await dialog.getByRole('progressbar', { name: 'Rows downloaded' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'The download was cancelled. Nothing was saved.' }).waitFor();
  await main.click();
  await dialog.getByRole('progressbar').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // The focus is back on the button, and the dialog opens anew with the keyboard alone.
  await untilFocusIsOn(page, 'Download');
  await page.keyboard.press('Enter');
  await dialog.getByText('150,000 rows will come.').waitFor();
  await untilFocusIsOn(page, 'Download');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('ArrowDown');
  expect(await dialog.getByRole('radio', { name: 'CSV', exact: true }).isChecked()).toBe(true);
  await page.keyboard.press('Tab');
  await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  await dialog.getByRole('status').filter({ hasText: '150,000 rows in gifts-2024.csv' }).waitFor();
  expect(files).toEqual(['gifts-2024.csv']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst whose file is refused reads why', async () => {
  const { page, dialog, faults } = await open();
  await dialog.getByText('All fields', { exact: true }).click();
  await page.context().clearCookies();
  await dialog.getByRole('button', { name: 'Download' }).click();
  await dialog.getByRole('alert').filter({ hasText: /\w+/ }).waitFor();
  expect(await dialog.getByRole('alert').textContent()).toMatch(/log/i);
  expect(faults).toEqual(['the download failed']);
  await page.context().close();
});

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test.each([
    [1280, 720],
    [390, 844],
    // An analyst who zooms to 200 % has half of the window.
    [640, 360],
  ])('the dialog can be read and used at %d by %d', async (width, height) => {
    const { page, dialog, faults } = await open(1, { colorScheme, viewport: { width, height } });
    await dialog.getByText('All fields', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Copy for Power Query' }).click();
    await dialog.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    await page.screenshot({ path: `coverage/download-${colorScheme}-${width}.png` });
    await page.evaluate(axe);
    const problems = await page.evaluate<string[]>(`axe.run().then(({ violations }) => [
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)),
      ...[...document.querySelectorAll('.dialog-frame, .dialog-frame *')].flatMap((element) => {
        const { left, right } = element.getBoundingClientRect();
        return left >= 0 && right <= innerWidth ? [] : ['cut off: ' + element.className];
      }),
    ])`);
    expect(problems).toEqual([]);
    // The dialog scrolls to its end.
    await dialog.getByRole('button', { name: 'Copy for Power Query' }).scrollIntoViewIfNeeded();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
