import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground, printPage, untilFocusIsOn } from '../support/playground-browser';
import { until } from '../support/until';

/** A gift of the donor 7, given on one day and deposited on another. */
const gift = (id: string, given: string, deposited: string, amount: string, more: Readonly<Record<string, unknown>> = {}) =>
  v2Line({
    ...{ deposit_id: `D${id}`, transaction_id: id, allocation_id: `A${id}` },
    ...{ transaction_date: given, deposit_date: deposited },
    ...{ amount, fee_amount: '0.00', net_amount: amount, allocation_amount: amount },
    ...more,
  });

const gateway = openPlayground({
  loggedIn: true,
  lines: [
    // One gift is split over two funds.
    gift('T1', '2025-12-31', '2026-01-02', '500.00', { allocation_amount: '300.00' }),
    gift('T1', '2025-12-31', '2026-01-02', '500.00', {
      allocation_id: 'A1b',
      allocation_amount: '200.00',
      designation_id: 4,
      designation: 'Wells',
    }),
    gift('T2', '2025-06-01', '2025-06-02', '20.00'),
    gift('T3', '2024-12-31', '2025-01-03', '7.00'),
    // Two gifts of two months are in one deposit.
    gift('T4', '2025-06-30', '2025-07-01', '1.00', { deposit_id: 'D4', donor_id: 8 }),
    gift('T5', '2025-07-01', '2025-07-01', '2.00', { deposit_id: 'D4', donor_id: 8 }),
  ],
});

async function open(hash: string): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const opened = await gateway.visit({ hash, now: '2026-06-15T12:00:00Z', locale: 'en-US' });
  await logIn(opened.page);
  // A report of a donor has no room for all choices in one line.
  await opened.page.locator('.report-form').waitFor();
  const more = opened.page.getByRole('button', { name: 'More choices' });
  if (await more.isVisible()) await more.click();
  return opened;
}

const card = (page: Page, title: string) =>
  page.locator('.card').filter({ has: page.locator('dt', { hasText: new RegExp(`^${title}$`) }) });
const untilReceived = (page: Page, amount: string) => card(page, 'Received').getByText(amount, { exact: true }).waitFor();
const basis = (page: Page) => page.getByRole('button', { name: /Counts by$/ });
const hashOf = (page: Page): string => new URL(page.url()).hash;

async function choose(page: Page, name: string): Promise<void> {
  await basis(page).click();
  await page.getByRole('option', { name, exact: true }).click();
}

const BY_GIFTS = 'Gifts count by the date on which they were given, not by that of their deposit.';
const NAMED = '1 gift of 2025 was deposited in another year: T1, whole gift 500.00, given Dec 31, 2025, deposited Jan 2, 2026.';

describe('the year-end of a donor', () => {
  test('counts by the date of the gift, and names the gifts that were deposited in another year', async () => {
    const { page, faults } = await open('#reports/year-end?donor=7');
    await untilReceived(page, '520.00');
    expect(await basis(page).textContent()).toContain('Date of the gift');
    await page.getByRole('note').filter({ hasText: BY_GIFTS }).waitFor();
    await page.getByRole('note').filter({ hasText: NAMED }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Gift date' }).isVisible()).toBe(true);
    const [sheet] = await printPage(page);
    const head = [gateway.organization.name, 'Ada Lovelace, No. 7', '12 St James Square', 'London, SW1Y 4JH'];
    expect(sheet!.lines.slice(0, 5)).toEqual(['Year-end of a donor', ...head]);
    expect(sheet!.lines).toEqual(expect.arrayContaining(['Gifts of Jan 1, 2025 – Dec 31, 2025', BY_GIFTS, NAMED]));
    // The fees are the organization's own affair.
    expect([...sheet!.lines, ...sheet!.rows[0]!].join()).not.toMatch(/\bfees?\b|\bnet\b/i);
    expect(sheet!.rows.at(-1)).toContain('520.00');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Fee of the whole gift', { exact: true }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Filter these rows' }).click();
    await page.getByLabel('Fee of the whole gift from').fill('0');
    await page.getByLabel('To this fund from').fill('1');
    await page.getByText(/^Only rows of:(?=.*Fee of the whole gift from 0\.00)(?=.*To this fund from 1\.00)/).waitFor();
    const [filtered] = await printPage(page);
    expect(filtered!.lines).toContain('To this fund from 1.00');
    expect(filtered!.lines.join()).not.toMatch(/\bfees?\b|\bnet\b/i);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('counts by the date of the deposit where somebody chooses that, also after Back and in a link', async () => {
    const { page, faults } = await open('#reports/year-end?donor=7');
    await untilReceived(page, '520.00');
    await basis(page).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('option').first().waitFor();
    for (const key of ['Home', 'Enter']) await page.keyboard.press(key);
    await untilReceived(page, '27.00');
    await untilFocusIsOn(page, 'Date of the deposit▾');
    expect(hashOf(page)).toBe('#reports/year-end?dateBasis=DEPOSIT_DATE&donor=7');
    await page
      .getByRole('note')
      .filter({
        hasText:
          /^1 gift that was deposited in 2025 was given in another year: T3, whole gift 7.00, given Dec 31, 2024, deposited Jan 3, 2025.$/,
      })
      .waitFor();
    expect(await page.getByText(BY_GIFTS).count()).toBe(0);
    await page.reload();
    await untilReceived(page, '27.00');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('status').filter({ hasText: 'The link is copied.' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(page.url());
    await page.goBack();
    await untilReceived(page, '520.00');
    expect(hashOf(page)).toBe('#reports/year-end?donor=7');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('has the same gifts in its file, in the command that fetches it, and in a saved report', async () => {
    const { page, faults } = await open('#reports/year-end?donor=7');
    await untilReceived(page, '520.00');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Download' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Copy curl' }).click();
    await dialog.getByText('The command is copied.').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).toContain('period=last-year&date_basis=TRANSACTION_DATE');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const saving = page.getByRole('dialog', { name: 'Save the report' });
    await saving.getByLabel('Title').fill('Letter');
    await saving.getByRole('button', { name: 'Save', exact: true }).click();
    await saving.getByRole('status').filter({ hasText: 'Saved as letter.' }).waitFor();
    await page.keyboard.press('Escape');
    const headers = { Provision: gateway.organization.apiProvision };
    const read = async (path: string) => (await (await fetch(gateway.url + path, { headers })).text()).match(/"T\d"/g);
    expect(await read('/reports/letter.csv')).toEqual(['"T2"', '"T1"', '"T1"']);
    expect(await read('/reports/letter.csv?dateBasis=DEPOSIT_DATE')).toEqual(['"T3"', '"T2"']);
    await page.goto('about:blank');
    await page.goto(`${gateway.url}/playground#saved/letter`);
    await untilReceived(page, '520.00');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('that was saved before it could count by gifts stays as programs have it', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: gateway.organization.webProvision, Cookie: gateway.cookie },
      body: JSON.stringify({
        query: 'mutation ($input: SaveReportInput!) { saveReport(input: $input) { replaced } }',
        variables: {
          input: {
            ...{ name: 'earlier', title: 'Earlier', variables: { pending: 'WITHOUT' } },
            query: `# Reports mode: #reports/year-end?donor=7
              query Earlier($pending: PendingChoice!) { depositDetailsConnection(pending: $pending) { nodes { amount } } }`,
          },
        },
      }),
    });
    expect(await response.json()).toEqual({ data: { saveReport: { replaced: false } } });
    const { page, faults } = await open('#saved/earlier');
    await untilReceived(page, '27.00');
    expect(hashOf(page)).toBe('#reports/year-end?dateBasis=DEPOSIT_DATE&donor=7&saved=earlier');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

test('an analyst who opens a donor from the donors by gift dates sees the same money', async () => {
  const { page, faults } = await open('#reports/donors?period=last-year');
  await page.getByRole('row', { name: /Open donor 7.*27\.00/ }).waitFor();
  await choose(page, 'Date of the gift');
  await page.getByRole('row', { name: /Open donor 7.*520\.00/ }).waitFor();
  await page.getByRole('button', { name: 'Open donor 7' }).click();
  await page.getByRole('heading', { name: 'A donor’s gifts' }).waitFor();
  await untilReceived(page, '520.00');
  expect(hashOf(page)).toBe('#reports/donor?period=last-year&dateBasis=TRANSACTION_DATE&donor=7');
  await page.getByRole('note').filter({ hasText: NAMED }).waitFor();
  // The donor stands over the rows, and in none of them.
  const titles = (): Promise<string[]> => page.locator('.table-names .column-sort').allInnerTexts();
  const ofDonor = ['Gift date', 'Deposit date', 'To this fund', 'Whole gift', 'Fund', 'Fund number', 'Deposit', 'Status', 'Gift'];
  expect(await titles()).toEqual(ofDonor);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Last name', { exact: true }).check();
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Last name', exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('months of gifts have the gifts of the month, and their deposits are not added up', async () => {
  const { page, faults } = await open('#reports/deposits?period=2025-06-01..2025-07-31&splitBy=MONTH&dateBasis=TRANSACTION_DATE');
  await untilReceived(page, '23.00');
  const [sheet] = await printPage(page);
  expect(sheet!.lines).toContain('Gifts of Jun 1, 2025 – Jul 31, 2025');
  const [head, june, july, total] = sheet!.rows;
  const column = (row: readonly string[] | undefined, title: string) => row?.[head!.indexOf(title)];
  expect([june, july, total].map((row) => [column(row, 'Month'), column(row, 'Received')])).toEqual([
    ['Jun 2025', '21.00'],
    ['Jul 2025', '2.00'],
    [expect.stringContaining('Total'), '23.00'],
  ]);
  // The deposit of July has a gift of June, so it is in both rows.
  expect(head).not.toContain('Deposits');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('button', { name: 'Download' })
      .click()
      .then(() => page.getByRole('dialog').getByRole('button', { name: 'Download', exact: true }).click()),
  ]);
  expect(download.suggestedFilename()).toContain('deposits-by-gift-date-2025-06-01-2025-07-31');
  expect((await readFile(await download.path())).length).toBeGreaterThan(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the bank tie-out is by the dates of deposits alone', async () => {
  const { page, faults } = await open('#reports/bank-tie-out?period=2026-01-01..2026-01-31&dateBasis=TRANSACTION_DATE');
  await page.getByRole('alert').filter({ hasText: 'A part of this link or saved report cannot be read: dateBasis.' }).waitFor();
  await card(page, 'Net').getByText('500.00', { exact: true }).waitFor();
  expect(await basis(page).count()).toBe(0);
  await until(() => hashOf(page).includes('bank-tie-out'));
  expect(faults).toEqual([]);
  await page.context().close();
});
