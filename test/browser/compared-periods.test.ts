import type { Page } from 'playwright-core';
import { logIn, openPlayground } from '../support/playground-browser';
import { createOracle, firstDay, summaryBook, toCents, toMoney, type SummaryLine } from '../support/summary-oracle';

const book = summaryBook(300);
const oracle = createOracle(book);
const gateway = openPlayground({ lines: book });
const NOW = '2024-06-15T12:00:00Z';

const between = (start: string, end: string): SummaryLine[] => book.filter(({ deposit_date: date }) => date >= start && date <= end);
const received = (lines: readonly SummaryLine[]): string => oracle.totalsOf(lines).byTransaction.amount;
const shown = (amount: string): string => amount.replace(/\B(?=(\d{3})+(?=\.))/g, ',');

/** Types two dates into the fields of another period, as month, day and year. */
async function typeDates(page: Page, ...dates: readonly string[]): Promise<void> {
  await page.getByRole('spinbutton', { name: /^month, Start Date, Dates to compare with/ }).focus();
  for (const date of dates) for (const part of [date.slice(5, 7), date.slice(8), date.slice(0, 4)]) await page.keyboard.type(part);
  await page.keyboard.press('Enter');
}

test('an analyst compares a quarter with three months of their own choice, month by month, in a link, a file and a saved report', async () => {
  const { page, faults } = await gateway.visit({
    hash: '#reports/deposits?period=2024-04-01..2024-06-30&splitBy=MONTH',
    now: NOW,
    locale: 'en-US',
  });
  await logIn(page);
  const [now, other] = [between('2024-04-01', '2024-06-30'), between('2024-08-01', '2024-10-31')];
  await page
    .locator('.card')
    .first()
    .getByText(shown(received(now)), { exact: true })
    .waitFor();
  await page.getByRole('button', { name: /Compare with$/ }).click();
  await page.getByRole('option', { name: 'Other dates' }).click();
  await typeDates(page, '2024-08-01', '2024-10-31');
  const difference = toCents(received(now)) - toCents(received(other));
  const percentage = (difference / toCents(received(other))) * 100;
  const signed = (text: string): string => (difference > 0 ? `+${text}` : text);
  const card = page.locator('.card').first();
  await card.getByText(`other period: ${shown(received(other))}`, { exact: true }).waitFor();
  await card.getByText(`${signed(shown(toMoney(difference)))} (${signed(percentage.toFixed(1))}%)`, { exact: true }).waitFor();
  await page.getByText('The other period: Deposits of Aug 1, 2024 – Oct 31, 2024.').waitFor();
  expect(new URL(page.url()).hash).toContain('compare=2024-08-01..2024-10-31');
  await page.reload();
  await page.getByText('The other period: Deposits of Aug 1, 2024 – Oct 31, 2024.').waitFor();
  await page.getByRole('columnheader', { name: /The other period/ }).waitFor();
  const rows = await page.evaluate<string[][]>(
    `[...document.querySelectorAll('[data-row]')].map((row) => [...row.querySelectorAll('[role=cell]')].map((cell) => cell.textContent))`,
  );
  const months = (lines: readonly SummaryLine[]): string[] =>
    [...new Set(lines.map(({ deposit_date: date }) => firstDay(date, 1)))]
      .sort()
      .map((month) => shown(received(lines.filter(({ deposit_date: date }) => firstDay(date, 1) === month))));
  expect(rows.map((cells) => [cells[3], cells[4]])).toEqual(months(now).map((amount, n) => [amount, months(other)[n]]));
  await page.screenshot({ path: 'coverage/compared-periods.png' });
  await page.getByRole('tab', { name: 'Chart' }).click();
  await page.locator('.chart-frame').getByText('The other period').first().waitFor();

  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('Title').inputValue()).toContain('against 2024-08-01 to 2024-10-31');
  await dialog.getByLabel('Title').fill('Two quarters');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText(/^Saved as/).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'All saved reports' }).click();
  await page.getByText(/Compared with: 2024-08-01 to 2024-10-31/).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
