import type { Page } from 'playwright-core';
import { CLOSE_PRIVILEGE, REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { accountButton, logIn, openPlayground, untilFocusIsOn } from '../support/playground-browser';
import { createOracle, summaryBook, toCents, toMoney, type SummaryLine } from '../support/summary-oracle';

/** A year of gifts, and some of the year before it. */
const book: SummaryLine[] = [
  ...summaryBook(300),
  ...summaryBook(90).map((line) => ({
    ...line,
    ...{ deposit_id: `E${line.deposit_id}`, transaction_id: `E${line.transaction_id}`, allocation_id: `E${line.allocation_id}` },
    ...{ deposit_date: line.deposit_date.replace('2024', '2023'), deposit_status: 'posted' as const },
  })),
];
const oracle = createOracle(book);
const gateway = openPlayground({ lines: book });
const NOW = '2024-06-20T12:00:00Z';

const between = (start: string, end: string): SummaryLine[] => book.filter(({ deposit_date: date }) => date >= start && date <= end);
const received = (lines: readonly SummaryLine[]): string => oracle.totalsOf(lines).byTransaction.amount;
const shown = (amount: string): string => amount.replace(/\B(?=(\d{3})+(?=\.))/g, ',');

/** A difference as the home writes it: with its sign, and one decimal of the percentage. */
function against(now: string, before: string): string {
  const difference = toCents(now) - toCents(before);
  const sign = difference > 0 ? '+' : '';
  return `${sign}${shown(toMoney(difference))} (${sign}${((difference / toCents(before)) * 100).toFixed(1)}%)`;
}

interface Opening {
  readonly as?: TestOrganization;
  readonly hash?: string;
  readonly now?: string;
}

async function open({ hash = '', now = NOW, ...visit }: Opening = {}): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const opened = await gateway.visit({ ...visit, hash, now, locale: 'en-US' });
  await logIn(opened.page);
  return opened;
}

const home = (page: Page) => page.getByRole('heading', { name: 'The books today' });
const card = (page: Page, title: string) => page.locator('.card', { hasText: title });

/** Follows a link of the home, reads a card of the report that it opens, and goes back. */
async function follow(page: Page, link: string, title: string): Promise<string> {
  await page.getByRole('link', { name: link, exact: true }).first().click();
  await page.getByText(/^One row is/).waitFor();
  const text = await page
    .locator('.card')
    .filter({ has: page.locator(`dt:text-is("${title}")`) })
    .locator('dd')
    .innerText();
  await page.goBack();
  await home(page).waitFor();
  return text.replaceAll('\n', ' ');
}

test('an analyst who opens the page sees where the books stand, and each figure opens the report with the same one', async () => {
  const { page, faults } = await open();
  const month = between('2024-06-01', '2024-06-20');
  const [now, before, yearBefore] = [month, between('2024-05-01', '2024-05-20'), between('2023-06-01', '2023-06-20')].map(received) as [
    string,
    string,
    string,
  ];
  const pending = book.filter(({ deposit_status: status }) => status === 'pending');
  const recent = between('2024-06-11', '2024-06-20');
  const [monthAgo, yearAgo] = [against(now, before), against(now, yearBefore)];
  await page.getByText('Thursday, June 20, 2024, by the clock of UTC.').waitFor();
  await card(page, 'This month so far').waitFor();
  expect(await card(page, 'This month so far, pending included').locator('dd > *').allInnerTexts()).toEqual([
    shown(now),
    `${String(oracle.totalsOf(month).transactions)} gifts of Jun 1 – 20, 2024`,
    `${shown(received(month.filter(({ deposit_status: status }) => status === 'pending')))} of it is pending`,
    `${monthAgo} against ${shown(before)} of May 1 – 20, 2024`,
    `${yearAgo} against ${shown(yearBefore)} of Jun 1 – 20, 2023`,
  ]);
  expect(await card(page, 'Pending: not').locator('dd > *').allInnerTexts()).toEqual([
    shown(received(pending)),
    `${String(oracle.totalsOf(pending).transactions)} gifts in ${String(oracle.totalsOf(pending).deposits)} deposits, of all dates`,
  ]);
  await card(page, 'Last change of the books')
    .getByText(`Version 1, import: ${book.length.toLocaleString('en-US')} lines added`)
    .waitFor();
  const days = page.getByRole('region', { name: 'Deposits of the last ten days' });
  const rows = await page.evaluate<string[][]>(
    `[...document.querySelectorAll('.home-deposits tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))`,
  );
  const deposits = [...new Set(recent.map(({ deposit_id: id }) => id))];
  expect(rows.length).toBe(Math.min(50, deposits.length));
  for (const [, id, status, gifts, amount] of rows) {
    const lines = recent.filter(({ deposit_id: of }) => of === id);
    const { transactions, byTransaction } = oracle.totalsOf(lines);
    expect([status?.toLowerCase(), gifts, amount]).toEqual([lines[0]!.deposit_status, String(transactions), shown(byTransaction.amount)]);
  }
  const dates = rows.map(([date]) => Date.parse(date!));
  expect(dates).toEqual([...dates].sort((one, other) => other - one));
  await days.getByText(`since Jun 11, 2024: ${shown(received(recent))} in ${String(oracle.totalsOf(recent).transactions)} gifts`).waitFor();
  await page.screenshot({ path: 'coverage/home.png' });

  expect(await follow(page, shown(now), 'Received')).toContain(shown(now));
  expect(await follow(page, monthAgo, 'Received')).toContain(`before: ${shown(before)} ${monthAgo}`);
  expect(await follow(page, yearAgo, 'Received')).toContain(`A year before: ${shown(yearBefore)} ${yearAgo}`);
  expect(await follow(page, shown(received(pending)), 'Pending')).toContain(shown(received(pending)));
  const [day, first, , , amount] = rows[0]!;
  expect(await follow(page, `Open deposit ${first!}, ${day!}`, 'Received')).toContain(amount);
  await days.getByRole('link', { name: /deposits?$/ }).click();
  await page.getByRole('heading', { name: 'Bank tie-out' }).waitFor();
  await page.getByRole('link', { name: 'Deposit Gateway' }).click();
  await home(page).waitFor();
  expect(await page.title()).toBe('Home · Deposit Gateway');
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  [14, 14, '14 deposits since'],
  [60, 50, 'The newest 50 of 60 are shown. All 60 deposits since'],
])('an analyst sees all deposits of the last days, or reads how many of them are shown: of %d', async (all, shownRows, told) => {
  const as = await createOrganization(gateway.services);
  const lines = Array.from({ length: all }, (_none, at) =>
    v2Line({
      ...{ deposit_id: `D${at}`, transaction_id: `T${at}`, allocation_id: `A${at}`, deposit_date: `2024-06-${11 + (at % 10)}` },
    }),
  );
  await importLines(gateway.services, as, lines);
  const { page, faults } = await open({ as });
  await page.getByText(told).waitFor();
  expect(await page.locator('.home-deposits tbody tr').count()).toBe(shownRows);
  await page.getByRole('link', { name: `${all} deposits` }).click();
  await page.getByText(`${all} rows`, { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a link opens at once, and the page opens where a person of GraphQL was last', async () => {
  const { page, faults } = await open({ hash: '#reports/designations?period=2024-05-01..2024-05-31' });
  await page.getByText(/^One row is/).waitFor();
  expect(await home(page).count()).toBe(0);
  const reopen = async (): Promise<Page> => {
    const next = await page.context().newPage();
    next.setDefaultTimeout(15_000);
    await next.goto(`${gateway.url}/playground`);
    await accountButton(next).waitFor();
    return next;
  };
  await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  const editors = await reopen();
  await editors.locator('.graphiql-query-editor .view-line').first().waitFor();
  await editors.getByRole('link', { name: 'Deposit Gateway' }).click();
  await home(editors).waitFor();
  const again = await reopen();
  await home(again).waitFor();
  // The reports are one click away, and the one that was open is still there.
  await page.getByRole('button', { name: 'Reports', exact: true }).click();
  await page.getByRole('heading', { name: 'Funds' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a person who may read totals only is told whom to ask for the rest', async () => {
  const as = await createOrganization(gateway.services);
  await importLines(gateway.services, as, book);
  await gateway.services.users.changeGrants(as.name, as.username, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  const { page, faults } = await open({ as });
  await card(page, 'Last change of the books').getByText('Ask your administrator who may close months.').waitFor();
  expect(await page.getByRole('button', { name: 'Close a month…' }).count()).toBe(0);
  await page.getByText('Saved reports may show donors, which you may not read. Ask your administrator for the right.').waitFor();
  await page.getByRole('button', { name: 'Reports', exact: true }).click();
  await page.getByText('Reports of donors are left out, which you may not read. Ask your administrator for the right.').waitFor();
  await page.goBack();
  const days = page.getByRole('region', { name: 'Deposits of the last ten days' });
  await days.locator('tbody a').first().click();
  await page.getByRole('heading', { name: 'Largest gifts' }).waitFor();
  await page.locator('.card').first().waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the month is that of the organization, and books without a line say so', async () => {
  const as = await createOrganization(gateway.services);
  await gateway.services.organizations.setTimeZone(as.name, 'Pacific/Kiritimati');
  const early = await open({ as, now: '2024-05-31T12:00:00Z' });
  await early.page.getByText('The books are empty: nothing has been imported yet.').waitFor();
  await importLines(gateway.services, as, book);
  await early.page.reload();
  await early.page.getByText('Saturday, June 1, 2024, by the clock of Pacific/Kiritimati.').waitFor();
  const now = received(between('2024-06-01', '2024-06-01'));
  const before = received(between('2024-05-01', '2024-05-01'));
  await card(early.page, 'This month so far').waitFor();
  const texts = await card(early.page, 'This month so far').locator('dd > *').allInnerTexts();
  expect([texts[0], texts[3]?.replace(/^.* against /, '')]).toEqual([shown(now), `${shown(before)} of May 1, 2024`]);
  expect(early.faults).toEqual([]);
  await early.page.context().close();
});

test('a finance person who closes a month on the home sees it there at once', async () => {
  const as = await createOrganization(gateway.services);
  await importLines(gateway.services, as, book);
  await gateway.services.users.changeGrants(as.name, as.username, { verb: 'grant', privileges: [CLOSE_PRIVILEGE] });
  const { page, faults } = await open({ as });
  await card(page, 'Last change of the books').getByText('No month is closed').waitFor();
  await page.getByRole('button', { name: 'Close a month…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Close months' });
  await dialog.getByRole('button', { name: 'Close the months' }).click();
  await dialog.getByText('The books are closed through May 31, 2024.').waitFor();
  await page.keyboard.press('Escape');
  await card(page, 'Last change of the books').getByText('Closed through May 31, 2024').waitFor();
  // The focus is where the dialog was opened, so that the next Tab goes on from there.
  await untilFocusIsOn(page, 'Close another, or reopen…');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('figures that cannot be read say so once, and Try again reads them', async () => {
  const { page } = await open({ hash: '#reports' });
  let isBroken = true;
  await page.route('**/graphql', (route) =>
    isBroken && (route.request().postData() ?? '').includes('query Home') ? route.abort() : route.continue(),
  );
  await page.getByRole('link', { name: 'Deposit Gateway' }).click();
  await page.getByRole('alert').filter({ hasText: 'The gateway cannot be reached.' }).waitFor();
  expect(await page.getByText('The gateway cannot be reached.').count()).toBe(1);
  isBroken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await card(page, 'This month so far').waitFor();
  expect(await page.getByText('The gateway cannot be reached.').count()).toBe(0);
  await page.context().close();
});
