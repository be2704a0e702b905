import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { Locator, Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';
import { readXlsx } from '../support/xlsx-reader';

const NOW = '2024-06-15T12:00:00Z';
const gateway = openPlayground({
  lines: [
    v2Line({ deposit_date: '2024-05-03', allocation_amount: '10.50' }),
    v2Line({
      ...{ deposit_id: 'D2', transaction_id: 'P11', allocation_id: 'P110', deposit_date: '2024-05-04', deposit_status: 'pending' },
      ...{ designation_id: 4, designation: 'Wells', allocation_amount: '10.50' },
    }),
    v2Line({ deposit_id: 'D3', transaction_id: 'P12', allocation_id: 'P120', deposit_date: '2024-04-03', allocation_amount: '10.50' }),
  ],
});

interface OpenReport {
  readonly page: Page;
  readonly faults: string[];
}

async function open(hash: string): Promise<OpenReport> {
  const { page, faults } = await gateway.visit({ hash, now: NOW, locale: 'en-US' });
  await logIn(page);
  return { page, faults };
}

const titles = (page: Page): Promise<string[]> => page.locator('.table-names .column-sort').allInnerTexts();

/** Chooses a value of a field of the report's form. */
async function choose(page: Page, label: string, option: string): Promise<void> {
  await page
    .locator('.choice')
    .filter({ has: page.getByText(label, { exact: true }) })
    .getByRole('button')
    .click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

async function saveFile(page: Page, format: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(format, { exact: true }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  return readFile(await saved.path());
}

test('an analyst finds the chosen columns again, in the next period and on the next day', async () => {
  const { page, faults } = await open('#reports/designations?period=last-month');
  await page.getByRole('table').waitFor();
  const before = await titles(page);
  expect(before).toEqual(['Designation', 'Gifts', 'To this fund', 'Of which pending']);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Gifts', { exact: true }).uncheck();
  const toTheLeft = page.getByRole('button', { name: 'Move To this fund left' });
  while (await toTheLeft.isEnabled()) await toTheLeft.click();
  await page.keyboard.press('Escape');
  const chosen = await titles(page);
  expect(chosen).toEqual(['To this fund', 'Designation', 'Of which pending']);
  await choose(page, 'Period', 'This year');
  await page.getByText('31.50').first().waitFor();
  expect(await titles(page)).toEqual(chosen);
  await page.reload();
  await page.getByRole('table').waitFor();
  expect(await titles(page)).toEqual(chosen);
  // A column that the choice does not know stands where the report puts it.
  await choose(page, 'Divide by', 'Month');
  await page
    .getByRole('cell', { name: 'Apr 2024' })
    .or(page.getByRole('rowheader', { name: 'Apr 2024' }))
    .first()
    .waitFor();
  expect(await titles(page)).toEqual(['Month', ...chosen]);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('button', { name: 'As they were' }).click();
  expect(await titles(page)).toEqual(['Month', ...before]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst who looks at a chart goes on looking at one in another period, in words', async () => {
  const { page, faults } = await open('#reports/deposits?period=last-month&splitBy=MONTH');
  await page.getByRole('tab', { name: 'Chart' }).click();
  await page.getByRole('img', { name: 'Bar chart of Received by month, May 2024 to May 2024.' }).waitFor();
  await choose(page, 'Period', 'This year');
  await page.getByRole('img', { name: 'Bar chart of Received by month, Apr 2024 to May 2024.' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst is told that typed dates wait for Enter', async () => {
  const { page, faults } = await open('#reports/deposits?period=last-month');
  const hint = page.getByText('Press Enter to see these');
  await page.getByRole('table').waitFor();
  expect(await hint.count()).toBe(0);
  await page
    .getByRole('spinbutton', { name: /^month/ })
    .first()
    .click();
  await page.keyboard.type('04');
  await hint.waitFor();
  expect(await page.locator('.card').first().innerText()).toContain('21.00');
  await page.keyboard.press('Enter');
  await page.getByText('31.50').first().waitFor();
  expect(await hint.count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a file says in words what its rows are, whatever the reader’s locale', async () => {
  const { page, faults } = await open('#reports/gifts?period=last-month&pending=ONLY&fund=4');
  await page.getByRole('table').waitFor();
  await page.getByLabel('Search in these rows').fill('wells');
  await page.getByText('1 row', { exact: true }).or(page.getByText('1 of 1 rows')).first().waitFor();
  const [record] = parse<Record<string, string>>(await saveFile(page, 'CSV'), { columns: true, bom: true });
  expect(record).toMatchObject({ Status: 'Pending', 'Deposit date': '2024-05-04', 'To this fund': '10.50' });
  const facts = readXlsx(await saveFile(page, 'XLSX'))[1]!.rows.map((row) => Object.values(row));
  expect(facts).toContainEqual(['Pending deposits', 'only these']);
  expect(facts).toContainEqual(['Condition', 'Fund: Wells']);
  expect(facts).toContainEqual(['Rows of this file', 'Search: “wells”']);
  expect(JSON.stringify(facts)).not.toContain('May');
  expect(faults).toEqual([]);
  await page.context().close();
});

describe('an analyst who saves a report', () => {
  const item = (page: Page, name: string): Locator => page.getByRole('listitem').filter({ hasText: `/reports/${name}.csv` });

  test('reads in the list of saved reports what it asks for, without JSON', async () => {
    const { page, faults } = await open('#reports/deposits?period=last-month&compare=last-year&fund=4&amountMin=5.00');
    await page.getByRole('table').waitFor();
    await page.getByText('Fund: Wells').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Money received, Last month, Fund: Wells, Whole gift: from 5.00');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/^Saved as/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'All saved reports' }).click();
    const saved = item(page, 'money-received-last-month-fund-wells-whole-gift-from-5-00');
    await saved
      .getByText(
        'Money received · Last month · Pending deposits: included · Compared with: The same of last year · Divided by: Day · Fund: Wells · Whole gift: from 5.00',
      )
      .waitFor();
    expect(await saved.getByText('{').filter({ visible: true }).count()).toBe(0);
    await saved.getByText('Parameters of its address').click();
    expect(await saved.getByText('startDate').isVisible()).toBe(true);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('proposes no donor’s name for its title, which becomes a part of an address', async () => {
    const { page, faults } = await open('#reports/donor?period=last-month&donor=7');
    await page.getByRole('table').waitFor();
    await page.getByText(/^Donor: \D/).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(await page.getByRole('dialog').getByLabel('Title').inputValue()).toBe('A donor’s gifts, Last month');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
