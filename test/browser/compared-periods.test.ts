import type { Page } from 'playwright-core';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground, printPage } from '../support/playground-browser';
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
  await card.getByText(`The other period: ${shown(received(other))}`, { exact: true }).waitFor();
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

const titles = (page: Page): Promise<string[]> => page.locator('.table-names .column-sort').allInnerTexts();
const cardOf = (page: Page, title: string): Promise<string> =>
  page
    .locator('.card')
    .filter({ has: page.getByText(title, { exact: true }) })
    .locator('dd')
    .innerText();

/** The lines of a figure of a card: now, then, and the difference with its percentage. */
function figure(title: string, [now, then]: readonly [string, string], note: string): string {
  const cents = toCents(now) - toCents(then);
  const sign = cents > 0 ? '+' : '';
  const percentage = ((cents / toCents(then)) * 100).toFixed(1);
  return `${shown(now)}${note}\n${title}: ${shown(then)}\n${sign}${shown(toMoney(cents))} (${sign}${percentage}%)`;
}

test('an analyst does not take a month that is not over for a fall: it is compared with the same days', async () => {
  const { page, faults } = await gateway.visit({
    hash: '#reports/designations?period=this-month&compare=before',
    now: NOW,
    locale: 'en-US',
  });
  await logIn(page);
  await page.getByText('The period before, the same days so far: Deposits of May 1, 2024 – May 15, 2024.').waitFor();
  const sides = [between('2024-06-01', '2024-06-30'), between('2024-05-01', '2024-05-15')] as const;
  const fees = (lines: readonly SummaryLine[]): string => oracle.totalsOf(lines).byTransaction.feeAmount;
  expect(await cardOf(page, 'Received')).toBe(figure('The period before', [received(sides[0]), received(sides[1])], '\npending included'));
  expect(await cardOf(page, 'Fees')).toBe(figure('The period before', [fees(sides[0]), fees(sides[1])], ''));
  expect(await titles(page)).toEqual(expect.arrayContaining(['The period before', 'Difference', 'Difference in %']));
  expect(await page.locator('.caution').count()).toBe(0);
  await page.evaluate(`location.hash = '#reports/gifts?compare=last-year&period=2024-05-01..2024-06-20'`);
  await page.getByText('A year before, the same days so far: Deposits of May 1, 2023 – Jun 15, 2023.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('whoever follows the link of a mail compares the days that the books of the mail had, by the clock of the organization', async () => {
  const of = await createOrganization(gateway.services);
  await gateway.services.organizations.setTimeZone(of.name, 'America/New_York');
  await importLines(gateway.services, of, book);
  await importLines(gateway.services, of, [v2Line({ deposit_date: '2024-05-01', transaction_date: '2024-05-01' })]);
  // In New York it is still the 20th of May when the first version is recorded.
  for (const [number, instant] of [
    [1, '2024-05-21T03:59:59Z'],
    [2, '2024-06-10T12:00:00Z'],
  ])
    await gateway.database.client.query('UPDATE data_version SET recorded_at = $2 WHERE organization_id = $3 AND number = $1', [
      ...[number, instant, of.id],
    ]);
  const { page, faults } = await gateway.visit({
    as: of,
    hash: '#reports/deposits?period=this-month&compare=before',
    now: NOW,
    locale: 'en-US',
  });
  await logIn(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Monthly mail');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText(/^Saved as/).waitFor();
  await page.goto('about:blank');

  await page.goto(`${gateway.url}/playground#saved/monthly-mail?period=2024-05-01..2024-05-31&state=1`);
  await page.getByText('The period before, the same days so far: Deposits of Apr 1, 2024 – Apr 20, 2024.').waitFor();
  await page.getByText('Books: at version 1').waitFor();
  const sides = [between('2024-05-01', '2024-05-31'), between('2024-04-01', '2024-04-20')] as const;
  expect(await cardOf(page, 'Received')).toBe(figure('The period before', [received(sides[0]), received(sides[1])], '\npending included'));
  await page.getByRole('button', { name: /Compare with$/ }).click();
  await page.getByRole('option', { name: 'Other dates' }).click();
  await page.waitForURL(/compare=2024-04-01\.\.2024-04-20/);
  await page.goBack();
  // The period was over when the second version was recorded.
  await page.evaluate(`location.hash = location.hash.replace('state=1', 'state=2')`);
  await page.getByText('The period before: Deposits of Apr 1, 2024 – Apr 30, 2024.').waitFor();
  // Without the day of the version nothing is compared.
  await page.route('**/graphql', (route) => (route.request().postData()?.includes('query VersionDay') ? route.abort() : route.continue()));
  await page.evaluate(`location.hash = location.hash.replace('state=2', 'state=1')`);
  await page.getByRole('alert').getByText('The gateway cannot be reached').first().waitFor();
  expect(await page.locator('.card').count()).toBe(0);
  await page.unroute('**/graphql');
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await page.getByText('The period before, the same days so far: Deposits of Apr 1, 2024 – Apr 20, 2024.').waitFor();
  // The rows that a link names wait for the day too.
  await page.evaluate(`location.hash = '#reports/deposits?period=2024-05-01..2024-05-31&compare=before&state=2&rows.sort=-key.day'`);
  await page.locator('[role=columnheader][aria-sort=descending]').getByText('Day').waitFor();
  expect(await page.getByText('cannot be read').count()).toBe(0);
  expect(faults.filter((fault) => !fault.includes('net::ERR_FAILED'))).toEqual([]);
  await page.context().close();
});

test('an analyst of donors of two periods reads that one of them is not over', async () => {
  const hash = '#reports/donors?period=this-quarter&compare=before&who=both';
  const { page, faults } = await gateway.visit({ hash, now: NOW, locale: 'en-US' });
  await logIn(page);
  const text = 'So far, on Jun 15, 2024, against all of Jan – Mar 2024.';
  await page.locator('.caution').getByText(text).waitFor();
  expect((await printPage(page))[0]!.lines).toContain(text);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst compares rows only with rows that are their partners, and reads on a phone how', async () => {
  const viewport = { width: 390, height: 844 };
  const hash = '#reports/deposits?period=last-month&compare=before&splitBy=DAY';
  const { page, faults } = await gateway.visit({ hash, now: NOW, locale: 'en-US', viewport });
  await logIn(page);
  const caution = page.locator('.caution');
  expect(await caution.innerText()).toBe('Divide by month Only the totals are compared: a day has no counterpart in the other period.');
  const { x, width } = (await caution.boundingBox())!;
  const whole = `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.caution'))`;
  expect([x >= 0, x + width <= viewport.width, await page.evaluate(whole)]).toEqual([true, true, true]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('table').waitFor();
  expect(await titles(page)).not.toContain('Difference');
  await caution.getByRole('button', { name: 'Divide by month' }).click();
  await page.getByRole('columnheader', { name: 'Difference', exact: true }).waitFor();
  expect(await caution.count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});
