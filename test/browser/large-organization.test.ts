import type { Page } from 'playwright-core';
import { withoutLastRow } from '../support/cut-files';
import { ask, readAll } from '../support/http-client';
import { fillLargeBooks, RECEIVED } from '../support/large-organization';
import { rendererMegabytes } from '../support/page-tasks';
import { logIn, openPlayground, printPage } from '../support/playground-browser';

const ROUNDS = 3;
const COLUMNS =
  'donor_first_name,donor_last_name,donor_id,city,transactions,deposits,transaction_amount,transaction_fee_amount,transaction_net_amount,pending_transaction_amount';
const gateway = openPlayground();

beforeAll(() => fillLargeBooks(gateway.database.client, gateway.organization.id), 300_000);

async function openReports(): Promise<Page> {
  const { page } = await gateway.visit({ hash: '#reports', locale: 'en-US' });
  page.setDefaultTimeout(120_000);
  await logIn(page);
  return page;
}

async function openReport(page: Page, address: string): Promise<void> {
  await page.evaluate(`location.hash = '#reports'`);
  await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
}

const rowsAre = (page: Page, rows: string): Promise<void> => page.getByText(rows, { exact: true }).waitFor();
const amountIn = (page: Page, row: number): Promise<string> =>
  page.locator(`[aria-rowindex="${row}"] [role=cell]`).filter({ hasText: '.00' }).first().innerText();

test('an analyst reads the totals and the first of 40,000 donors while the others come from one file, and takes no part for all', async () => {
  const page = await openReports();
  const files: string[] = [];
  page.on('request', (request) => request.url().includes('/export/deposit-') && files.push(request.url()));
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/export/deposit-summary.csv*', async (route) => {
    await held;
    await route.continue();
  });
  await openReport(page, '#reports/donors?period=all-time');
  await rowsAre(page, '1,000 of 40,000 rows');
  await page.getByText('Reading… 1,000 of 40,000 rows').waitFor();
  expect(await page.locator('.card').first().innerText()).toContain(RECEIVED);
  // The report begins with the largest.
  await page.locator('[aria-rowindex="3"]').getByText('404,995.00').first().waitFor();
  const net = page.getByRole('columnheader', { name: 'Net' });
  await net.getByRole('button').first().click();
  expect(await net.getAttribute('aria-sort')).toBe('descending');
  expect(await page.getByRole('button', { name: 'Download' }).count()).toBe(0);
  for (const name of ['Copy all', 'Print']) expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
  const [sheet] = await printPage(page);
  expect([sheet!.rows, sheet!.lines.at(-1)]).toEqual([[], expect.stringContaining('still being read')]);
  await page.getByRole('tab', { name: 'Chart' }).click();
  await page.getByText('The chart is of all rows.').waitFor();
  await page.getByRole('tab', { name: 'Table' }).click();
  release();
  await rowsAre(page, '40,000 rows');
  expect(await net.getAttribute('aria-sort')).toBe('descending');
  await page.locator('[aria-rowindex="3"]').getByText('599,995.00').first().waitFor();
  expect(await amountIn(page, 2)).toBe('600,000.00');
  await page.getByRole('button', { name: 'Download' }).waitFor();
  await page.getByLabel('Search in these rows').fill('lovelace 39999');
  await rowsAre(page, '1 of 40,000 rows');
  expect(files).toEqual([expect.stringMatching(/deposit-summary\.csv\?.*&as_of=\d+&totals=skip$/)]);
  await page.context().close();
});

test('an analyst sees no row of a report whose rows break off, and reads all of them with the next try', async () => {
  const page = await openReports();
  const files = '**/export/deposit-*.csv*';
  for (const address of ['donors?period=all-time', 'gifts?period=2024-01-01..2024-01-31']) {
    await page.route(files, async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({ response, body: withoutLastRow(text) });
    });
    await openReport(page, `#reports/${address}`);
    await page.getByText('The file arrived damaged').waitFor();
    expect([await page.getByRole('table').count(), await page.locator('.card').count()]).toEqual([0, 0]);
    await page.unroute(files);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(/^[\d,]+ rows$/).waitFor();
  }
  await page.context().close();
});

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return Math.round(performance.now() - start);
}

async function takeFile(path: string): Promise<void> {
  const { body, complete } = await readAll(await ask(gateway.url + path, { headers: { Provision: gateway.organization.apiProvision } }));
  expect([complete, body.length > 1_000_000]).toEqual([true, true]);
}

test('an analyst reads all donors and all gifts, in times that are printed beside those of the files', async () => {
  const page = await openReports();
  const times: Record<string, number[]> = {};
  const measure = async (name: string, act: () => Promise<unknown>): Promise<void> => {
    (times[name] ??= []).push(await timeOf(act));
  };
  let day = 1;
  for (let round = 0; round < ROUNDS; round++) {
    // Nothing of another round is kept for a period of its own.
    const dates = () => ['2024-01-' + String(day++).padStart(2, '0'), '2025-12-31'] as const;
    const [pageDates, fileDates] = [dates(), dates()];
    await measure('first donors, page', async () => {
      await openReport(page, `#reports/donors?period=${pageDates.join('..')}`);
      await page.getByRole('table').getByRole('cell').first().waitFor();
    });
    await rowsAre(page, '40,000 rows');
    await measure('donors, page', async () => {
      await openReport(page, `#reports/donors?period=${dates().join('..')}`);
      await rowsAre(page, '40,000 rows');
    });
    const range = `start_date=${fileDates[0]}&end_date=${fileDates[1]}&pending=WITH`;
    await measure('donors, CSV', () => takeFile(`/export/deposit-summary.csv?${range}&group_by=DONOR&group_by=CITY&columns=${COLUMNS}`));
    await measure('first gifts, page', async () => {
      await openReport(page, '#reports/gifts?period=all-time');
      await page.getByRole('table').getByRole('cell').first().waitFor();
    });
    await rowsAre(page, '220,000 rows');
    times['gifts, MB'] = [...(times['gifts, MB'] ?? []), Math.round(await rendererMegabytes(page))];
    await measure('gifts, page', async () => {
      await openReport(page, '#reports/gifts?period=all-time');
      await rowsAre(page, '220,000 rows');
    });
    await measure('gifts, CSV', () =>
      takeFile('/export/deposit-details.csv?start_date=2024-01-01&end_date=2025-12-31&pending=WITH&columns=all'),
    );
  }
  console.info(times);
  await page.context().close();
}, 600_000);
