import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { BOARD_NOW, boardGift as gift, openBoardBooks } from '../support/board-books';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { logIn, openPlayground, printPage } from '../support/playground-browser';
import { readXlsx } from '../support/xlsx-reader';

const YEAR = '2025-07-01';
const gateway = openPlayground({ loggedIn: true });

async function open(as: TestOrganization, choices = ''): Promise<Page> {
  const { page } = await gateway.visit({ as, hash: `#reports/board${choices}`, now: BOARD_NOW, locale: 'en-US' });
  await logIn(page);
  return page;
}
const isThere = (page: Page): Promise<void> => page.locator('.board-funds tfoot').waitFor();
async function readGifts(page: Page): Promise<string[]> {
  const rows = await page.getByRole('region', { name: 'Largest gifts' }).getByRole('row').allInnerTexts();
  return rows.map((text) => text.replaceAll(/\s+/g, ' '));
}
const yearCard = (page: Page): Promise<string> => page.locator('.board-cards .card', { hasText: /fiscal year to date/i }).innerText();

/** A gift that is shared equally by funds from the first one on. */
const shared = (date: string, funds: number) => {
  const whole = gift(date, `${funds}.00`, 1);
  return Array.from({ length: funds }, (_none, at) => ({
    ...whole,
    ...{ allocation_id: `${String(whole.allocation_id)}-${at}`, allocation_amount: '1.00' },
    ...{ designation_id: at + 1, designation: `Fund ${at + 1}` },
  }));
};

test('the ten largest gifts are there although one of them is split over 250 funds', async () => {
  const small = Array.from({ length: 12 }, (_none, at) => gift('2026-02-02', `${at + 1}.00`, 1));
  const page = await open(await openBoardBooks(gateway.services, [...shared('2026-03-03', 250), ...small]));
  await isThere(page);
  const rows = await readGifts(page);
  expect([rows.length, rows[1], rows[2], rows.at(-1)]).toEqual([
    11,
    'Mar 3, 2026 250 funds 250.00',
    'Feb 2, 2026 Fund 1 12.00',
    'Feb 2, 2026 Fund 1 4.00',
  ]);
  await page.context().close();
});

test('a list of gifts that has no place for the others says so', async () => {
  const lines = Array.from({ length: 5 }, (_none, at) => shared('2026-03-03', 300 - at)).flat();
  const page = await open(await openBoardBooks(gateway.services, lines));
  await isThere(page);
  const rows = await readGifts(page);
  const gifts = ['300 funds 300.00', '299 funds 299.00', '298 funds 298.00', 'many funds 297.00'];
  expect(rows.slice(1)).toEqual(gifts.map((text) => `Mar 3, 2026 ${text}`));
  await page.getByText('Gifts after these were not read, because these are split over so many funds.').waitFor();
  await page.context().close();
});

test('a list of gifts that ends within the tenth says nothing of equal ones', async () => {
  const lines = Array.from({ length: 10 }, () => shared('2026-03-03', 105)).flat();
  const page = await open(await openBoardBooks(gateway.services, lines));
  await isThere(page);
  expect((await readGifts(page)).at(-1)).toBe('Mar 3, 2026 many funds 105.00');
  await page.getByText('Gifts after these were not read, because these are split over so many funds.').waitFor();
  expect(await page.getByText('the amount of the last row').count()).toBe(0);
  await page.context().close();
});

test('whoever reads the largest gifts reads how many others are as large as the last one, on the sheet and in the report', async () => {
  const equal = Array.from({ length: 44 }, () => gift('2026-02-02', '500.00', 1));
  const larger = Array.from({ length: 9 }, (_none, at) => gift('2026-03-03', `${600 + at}.00`, 1));
  const as = await openBoardBooks(gateway.services, [...equal, ...larger, gift('2026-03-03', '499.99', 1)]);
  await gateway.services.organizations.setCurrency(as.name, 'USD');
  const page = await open(as);
  await isThere(page);
  const onSheet = '43 more gifts of $500.00, the amount of the last row, are not shown.';
  await page.getByText(onSheet).waitFor();
  expect((await printPage(page))[0]!.lines).toContain(onSheet);
  const places = page.locator('.notice-line');
  await page.evaluate(`location.hash = '#reports/largest?period=this-year'`);
  await places.getByText('3 more gifts of $500.00, the amount of the last row, are not shown.').waitFor();
  expect((await printPage(page))[0]!.lines.join()).toContain('3 more gifts of $500.00, the amount of the last row, are not shown.');
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByRole('dialog').getByText('XLSX', { exact: true }).click();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
  ]);
  const facts = readXlsx(await readFile(await saved.path()))[1]!.rows.map((row) => Object.values(row));
  expect(facts).toContainEqual(['To know', '3 more gifts of $500.00, the amount of the last row, are not shown.']);
  await page.keyboard.press('Escape');
  // A gift that comes meanwhile is not one of the books of the rows.
  await importLines(gateway.services, as, [gift('2026-02-02', '500.00', 1)]);
  await page.evaluate(`location.hash = '#reports/largest?period=this-year&state=1&amountMin=500.00'`);
  await page.getByText('Books: at version 1').waitFor();
  await places.getByText('3 more gifts of $500.00, the amount of the last row, are not shown.').waitFor();
  await page.evaluate(`location.hash = '#reports/largest?period=this-year&amountMin=500.00'`);
  await places.getByText('4 more gifts of $500.00, the amount of the last row, are not shown.').waitFor();
  await page.evaluate(`location.hash = '#reports/largest?period=this-year&limit=100'`);
  await page.getByText('55 rows', { exact: true }).waitFor();
  expect(await places.getByText('not shown').count()).toBe(0);
  await page.context().close();
});

test('a budget of no fund is none, and a year that can have none has figures', async () => {
  const organization = await openBoardBooks(gateway.services, [gift('2026-06-14', '60.00', 4), gift('1900-02-02', '5.00', 4)]);
  await gateway.services.fundBudgets.save(organization.id, { startDate: YEAR, funds: [], replaces: null }, { name: null });
  const page = await open(organization);
  await isThere(page);
  expect(await yearCard(page)).toContain('No budget of this fiscal year is saved.');
  expect(await page.locator('.board-funds tr').first().innerText()).not.toContain('Budget');
  await page.goto(`${gateway.url}/playground#reports/board?period=1900-01-01..1900-03-31`);
  await page.locator('.board-funds tfoot').getByText('5.00').first().waitFor();
  await page.goto(`${gateway.url}/playground#reports/board?period=2020-01-01..2999-12-31`);
  await page.getByText('The sheet has room for 1,000 funds and 1,000 months. Choose a shorter period.').waitFor();
  await page.context().close();
});

test('a sheet of more than two years leaves the amounts of its months to a report, and says so', async () => {
  const page = await open(await openBoardBooks(gateway.services, [gift('2026-06-14', '60.00', 4)]), '?period=2024-06-01..2026-05-31');
  await page.getByRole('region', { name: 'Amounts by month' }).waitFor();
  expect(await page.locator('.board-months tbody tr').count()).toBe(24);
  await page.goto(`${gateway.url}/playground#reports/board?period=2024-05-01..2026-05-31`);
  await page
    .getByText(
      'The sheet writes the amounts of at most 24 months. Money received, divided by month, without pending and compared with a year before, has all of them.',
    )
    .waitFor();
  expect(await page.locator('.board-months').count()).toBe(0);
  await page.context().close();
});

test.each([
  ['a year that is over', '2024-07-01..2025-06-30', 'Received without pending, fiscal year', []],
  [
    'a year that is not over',
    '2025-07-01..2026-06-30',
    'Received without pending, fiscal year to date',
    [
      'This period is not over, and all of the year before stands beside it.',
      'The period is not over yet, and the budget is that of its last day.',
    ],
  ],
  ['a year up to today', '2025-07-01..2026-06-15', 'Received without pending, fiscal year to date', []],
  ['a quarter that is over', '2025-07-01..2025-09-30', 'Received without pending, fiscal year through Sep 30, 2025', []],
])('a sheet of %s says in its title and its notes what is not over', async (_name, period, title, told) => {
  const organization = await openBoardBooks(gateway.services, [gift('2026-06-14', '60.00', 4), gift('2025-06-14', '50.00', 4)]);
  for (const startDate of ['2024-07-01', YEAR]) {
    const budget = { startDate, funds: [{ designationId: 4, amount: '1200.00' }], replaces: null };
    await gateway.services.fundBudgets.save(organization.id, budget, { name: 'cora' });
  }
  const page = await open(organization, `?period=${period}`);
  await isThere(page);
  expect(await page.locator('.board-cards dt').first().innerText()).toBe(title);
  const notes = (await page.locator('.board-notes').allInnerTexts()).join(' ');
  expect(notes.match(/(This|The) period is not over[^.]*\./g) ?? []).toEqual(told);
  await page.context().close();
});

test('a sheet names its budget, and a past state the days that it lacks', async () => {
  const organization = await openBoardBooks(gateway.services, [gift('2026-06-14', '60.00', 4)]);
  await importLines(gateway.services, organization, [gift('2026-06-15', '1.00', 4)]);
  const budget = { startDate: YEAR, funds: [{ designationId: 4, amount: '1200.00' }], replaces: null };
  await gateway.services.fundBudgets.save(organization.id, budget, { name: 'cora' });
  const page = await open(organization);
  await page.getByText(/The budget is number 1, saved by cora on [^.]*[AP]M\.$/).waitFor();
  expect(await page.getByText('recorded before the period was over').count()).toBe(0);
  await page.goto(`${gateway.url}/playground#reports/board?state=1&period=2025-07-01..2027-06-30`);
  await page.getByText('These are the books as they were at version 1. They are of').waitFor();
  await page.getByText('recorded before the period was over').waitFor();
  await page.context().close();
  const past = await open(organization, '?state=1');
  await past.getByText(/saved by cora on .*[AP]M, and not one of this version of the books\.$/).waitFor();
  await past.context().close();
});

test('a changed sheet is not printed under the title of the saved one, nor the page of empty books', async () => {
  const page = await open(await openBoardBooks(gateway.services, [gift('2026-06-14', '60.00', 4)]));
  await isThere(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByLabel('Title').fill('Board, June');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Board, June', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await printPage(page))[0]!.lines[0]).toBe('Board, June');
  await page.evaluate(`location.hash = location.hash.replace('board?', 'board?donorNames=WITH&')`);
  await page.getByText('The choices differ from those that were saved.').waitFor();
  await page.getByRole('region', { name: 'Largest gifts' }).getByText('Donor').waitFor();
  expect((await printPage(page))[0]!.lines[0]).toBe('Summary for the board');
  await page.context().close();
  const empty = await open(await createOrganization(gateway.services));
  await empty.getByText('The books are empty: nothing has been imported yet.').waitFor();
  expect(await empty.getByRole('button', { name: 'Print', exact: true }).isDisabled()).toBe(true);
  expect((await printPage(empty))[0]!.lines.at(-1)).toBe('The books are empty: nothing has been imported yet.');
  await empty.context().close();
});

test('an amount that is typed while a budget is saved stays', async () => {
  const page = await open(await openBoardBooks(gateway.services, [gift('2026-06-14', '60.00', 4), gift('2026-06-14', '6.00', 5)]));
  await isThere(page);
  await page.getByRole('button', { name: 'Budget…' }).click();
  await page.getByLabel('Budget of Fund 4 (4)').fill('100');
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/graphql', async (route) => {
    if (route.request().postData()?.includes('saveFundBudget')) await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save budget' }).click();
  await page.getByText('One moment…').waitFor();
  await page.getByLabel('Budget of Fund 5 (5)').fill('70');
  release();
  await page.getByText('The budget is saved for all of your organization.').waitFor();
  expect(await page.getByLabel('Budget of Fund 5 (5)').inputValue()).toBe('70');
  await page.context().close();
});
