import { source as axe } from 'axe-core';
import type { Page } from 'playwright-core';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { BOARD_NOW, boardGift as gift, openBoardBooks } from '../support/board-books';
import { createOrganization, importLines, type TestOrganization } from '../support/gateway';
import { logIn, openPlayground, printPage, untilFocusIsOn } from '../support/playground-browser';

const gateway = openPlayground({ loggedIn: true });

const NOBODY = {
  ...{ donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', city: '', zip: '', phone: '', email_address: '' },
};
const LINES = [gift('2025-08-01', '100.00', 3), gift('2026-06-14', '60.00', 4), gift('2024-09-09', '40.00', 3)];

const openBooks = (lines: readonly object[] = LINES, options?: Parameters<typeof openBoardBooks>[2]) =>
  openBoardBooks(gateway.services, lines, options);
async function open(as: TestOrganization, choices = '', options: Parameters<typeof gateway.visit>[0] = {}) {
  const { page, faults } = await gateway.visit({ as, hash: `#reports/board${choices}`, now: BOARD_NOW, locale: 'en-US', ...options });
  await logIn(page);
  return { page, faults };
}
/** The cells of the funds' table, and the texts of the cards, once they are there. */
async function read(page: Page) {
  await page.locator('.board-funds tfoot').waitFor();
  return page.evaluate<{ readonly funds: readonly (readonly string[])[]; readonly cards: readonly string[] }>(`({
    funds: [...document.querySelectorAll('.board-funds tr')].map((row) => [...row.cells].map(({ innerText }) => innerText)),
    cards: [...document.querySelectorAll('.board-cards .card')].map(({ innerText }) => innerText.replace(/\\s+/g, ' ')),
  })`);
}

test('who closes months writes the budget by keyboard, and the sheet compares with its part up to today', async () => {
  const organization = await openBooks();
  const { page, faults } = await open(organization);
  const before = await read(page);
  // Without a notice there is no empty line, and one that comes has its room.
  const notices = page.locator('.notices');
  expect((await notices.boundingBox())!.height).toBe(0);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await notices.getByText('The link is copied.').waitFor();
  expect((await notices.boundingBox())!.height).toBeGreaterThan(20);
  expect(before.funds).toEqual([
    ['Fund', 'Received', 'Year before', 'Change'],
    ['Fund 3', '100.00', '40.00', '+60.00'],
    ['Fund 4', '60.00', '0.00', '+60.00'],
    ['Total', '160.00', '40.00', '+120.00'],
  ]);
  // The same sum is not told twice.
  expect(before.cards.map((text) => text.replace(/(?<=[a-z]) [0-9].*/, ''))).toEqual([
    ...['Received without pending, fiscal year to date', 'Donors', 'Pending, in no other figure'],
  ]);
  expect(before.cards[0]).toBe(
    'Received without pending, fiscal year to date 160.00 2 gifts Year before: 40.00, +120.00 (+300.0%) No budget of this fiscal year is saved.',
  );
  await page.getByRole('button', { name: 'Budget…' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Budget of Jul 1, 2025 – Jun 30, 2026' });
  await dialog.getByLabel('Budget of Fund 3 (3)').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('-5');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('Fund 3 (3): Write an amount such as 1,000.00.').waitFor();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('1,200');
  await page.keyboard.press('Enter');
  await dialog.getByText('The budget is saved for all of your organization.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await untilFocusIsOn(page, 'Budget…');
  // Eleven months, and half of June.
  await page.getByText('Budget to date: 1,150.00, -990.00 (-86.1%)').waitFor();
  expect((await read(page)).funds).toEqual([
    ['Fund', 'Received', 'Year before', 'Change', 'Budget to date', 'Difference'],
    ['Fund 3', '100.00', '40.00', '+60.00', '1,150.00', '-1,050.00'],
    ['Fund 4', '60.00', '0.00', '+60.00', 'none', '+60.00'],
    ['Total', '160.00', '40.00', '+120.00', '1,150.00', '-990.00'],
  ]);
  // A colleague saves another one while the dialog is open.
  await page.keyboard.press('Enter');
  await dialog.getByLabel('Budget of Fund 4 (4)').fill('0');
  const other = { startDate: '2025-07-01', funds: [], replaces: 1 };
  await gateway.services.fundBudgets.save(organization.id, other, { name: 'eve' });
  await dialog.getByRole('button', { name: 'Save budget' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/number 2 was saved by eve at .*Open this dialog again to see it\.$/)
    .waitFor();
  expect(faults.filter((fault) => !fault.includes('409'))).toEqual([]);
  await page.context().close();
});

test('donors are counted, and named only where somebody asks', async () => {
  const organization = await openBooks(
    [
      ...[gift('2025-08-01', '100.00', 3), gift('2024-09-09', '40.00', 3)],
      gift('2025-09-01', '500.00', 4, { donor_id: 8, donor_first_name: 'Grace', donor_last_name: 'Hopper' }),
      gift('2024-10-01', '20.00', 4, { donor_id: 9, donor_first_name: 'Alan', donor_last_name: 'Turing' }),
      gift('2025-10-01', '-30.00', 4, { donor_id: 8, donor_first_name: 'Grace', donor_last_name: 'Hopper' }),
      gift('2025-11-01', '5.00', 4, NOBODY),
      gift('2026-05-05', '7.00', 4, { donor_id: 10, donor_first_name: 'Mary', donor_last_name: 'Anning', deposit_status: 'pending' }),
    ],
    { mayClose: false },
  );
  const { page, faults } = await open(organization);
  const told: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('/graphql')) told.push(response.text());
  });
  await page.getByRole('button', { name: 'Run again' }).click();
  const { cards, funds } = await read(page);
  expect(cards[1]).toBe('Donors 1 new gave for the first time 1 lapsed gave in the year before, not now');
  expect(cards[2]).toBe('Pending, in no other figure 7.00 1 gift of the period, not at the bank yet');
  // A gift that was void is taken off.
  expect(funds.at(-1)!.slice(0, 2)).toEqual(['Total', '575.00']);
  expect(await page.getByRole('button', { name: 'Budget…' }).count()).toBe(0);
  expect((await Promise.all(told)).join()).not.toMatch(/Hopper|Lovelace/);
  await page.getByRole('button', { name: /Names of donors$/ }).click();
  await page.getByRole('option', { name: 'shown' }).click();
  await page.getByRole('cell', { name: 'Grace Hopper' }).first().waitFor();
  const gifts = await page.getByRole('region', { name: 'Largest gifts' }).getByRole('row').allInnerTexts();
  expect(gifts.map((text) => text.split(/\s*[\t\n]\s*/))).toEqual([
    ['Date', 'Donor', 'Fund', 'Amount'],
    ['Sep 1, 2025', 'Grace Hopper', 'Fund 4', '500.00'],
    ['Aug 1, 2025', 'Ada Lovelace', 'Fund 3', '100.00'],
    ['Nov 1, 2025', '(no donor)', 'Fund 4', '5.00'],
    ['Oct 1, 2025', 'Grace Hopper', 'Fund 4', '-30.00'],
  ]);
  await page.getByRole('link', { name: '1 lapsed' }).click();
  await page.getByText('Alan').first().waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a sheet is saved and opened again, and a program gets what each fund received', async () => {
  const organization = await openBooks();
  const { page } = await open(organization, '?donorNames=WITH&dateBasis=TRANSACTION_DATE');
  await read(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('Title').inputValue()).toBe('Summary for the board, Fiscal year to date, by date of the gift, with names');
  await dialog.getByText('Programs get what each fund received in the period.').waitFor();
  await dialog.getByLabel('Title').fill('Board');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Board', exact: true }).waitFor();
  await page.goto(`${gateway.url}/playground#saved/board`);
  await page.reload();
  await read(page);
  expect(new URL(page.url()).hash).toBe('#reports/board?dateBasis=TRANSACTION_DATE&donorNames=WITH&saved=board');
  const [sheet] = await printPage(page);
  expect(sheet!.lines[0]).toBe('Board');
  const file = await fetch(`${gateway.url}/reports/board.csv?startDate=2025-07-01&endDate=2026-06-15`, {
    headers: { Provision: organization.apiProvision },
  });
  const rows = (await file.text())
    .replace('\uFEFF', '')
    .trim()
    .split('\r\n')
    .map((line) => line.replaceAll('"', '').split(','));
  const [fund, amount] = ['designation', 'allocation_amount'].map((name) => rows[0]!.indexOf(name));
  expect(rows.slice(1).map((row) => [row[fund!], row[amount!]])).toEqual([
    ['Fund 3', '100.00'],
    ['Fund 4', '60.00'],
  ]);
  await page.context().close();
});

test('a sheet of a past state has the sums and the names of then, and says so', async () => {
  const organization = await openBooks();
  const renamed = { designation: 'Renamed' };
  await importLines(gateway.services, organization, [
    ...LINES.map((line) => (line.designation_id === 3 ? { ...line, ...renamed } : line)),
    gift('2026-01-01', '1.00', 5),
  ]);
  const { page } = await open(organization, '?state=1');
  expect((await read(page)).funds.map(([name, received]) => [name, received]).slice(1)).toEqual([
    ['Fund 3', '100.00'],
    ['Fund 4', '60.00'],
    ['Total', '160.00'],
  ]);
  await page.getByText('These are the books as they were at version 1.').waitFor();
  await page.goto(`${gateway.url}/playground#reports/board`);
  await page.getByText('The books are at version 2.').waitFor();
  expect((await read(page)).funds.map(([name, received]) => [name, received]).slice(1)).toEqual([
    ['Renamed', '100.00'],
    ['Fund 4', '60.00'],
    ['Fund 5', '1.00'],
    ['Total', '161.00'],
  ]);
  await page.context().close();
});

test.each([
  ['the 29th of February', '2024-02-29..2024-02-29', 'Feb 28, 2023 – Feb 28, 2023', ['29.00', '28.00']],
  ['a February of 28 days', '2023-02-01..2023-02-28', 'Feb 1, 2022 – Feb 28, 2022', ['28.00', '0.00']],
  ['a February after one of 29 days', '2025-02-01..2025-02-28', 'Feb 1, 2024 – Feb 29, 2024', ['0.00', '29.00']],
])('%s has a year before of the same days, or of the whole month', async (_name, period, before, sums) => {
  const organization = await openBooks([gift('2024-02-29', '29.00', 3), gift('2023-02-28', '28.00', 3)], { fiscalYearStart: 1 });
  const { page } = await open(organization, `?period=${period}`);
  expect((await read(page)).funds.at(-1)!.slice(1, 3)).toEqual(sums);
  await page.getByText(`Year before: Deposits of ${before}.`).waitFor();
  await page.context().close();
});

test('a sheet needs a year before, books, and the right to read donors', async () => {
  const organization = await openBooks();
  const { page } = await open(organization, '?period=all-time');
  await page.getByText('Choose a period that begins and ends. All time has no year before it.').waitFor();
  await page.context().close();
  const empty = await createOrganization(gateway.services);
  const { page: other } = await open(empty);
  await other.getByText('The books are empty: nothing has been imported yet.').waitFor();
  await other.context().close();
  await gateway.services.users.changeGrants(organization.name, 'ada', { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  const { page: refused } = await open(organization);
  await refused.getByText('You may not read this report, because it shows donors.').waitFor();
  expect(await refused.getByRole('navigation').getByRole('button', { name: 'Summary for the board' }).count()).toBe(0);
  await refused.context().close();
});

describe.each([
  ['a desk', { viewport: { width: 1280, height: 720 } }],
  ['a phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
])('on %s', (name, device) => {
  test.each(['light', 'dark'] as const)('the sheet and its dialog can be read in the %s theme', async (colorScheme) => {
    const organization = await openBooks([
      ...LINES,
      gift('2026-01-01', '123456789.12', 6, { designation: 'A fund of a long name '.repeat(5) }),
    ]);
    const budget = { startDate: '2025-07-01', funds: [{ designationId: 3, amount: '1200.00' }], replaces: null };
    await gateway.services.fundBudgets.save(organization.id, budget, { name: null });
    const { page, faults } = await open(organization, '?period=2025-06-01..2026-05-31', { ...device, colorScheme });
    const { cards } = await read(page);
    expect(cards[1]).toMatch(/^Fiscal year to date, without pending 1.*Deposits of Jul 1, 2025 – May 31, 2026 Budget to date: 1,100\.00/);
    expect(await problems(page)).toEqual([]);
    expect(Math.min(...(await contrasts(page)))).toBeGreaterThanOrEqual(3);
    await page.screenshot({ path: `coverage/board-${name.replace('a ', '')}-${colorScheme}.png` });
    await page.getByRole('button', { name: 'Budget…' }).click();
    await page.getByLabel('Budget of Fund 3 (3)').waitFor();
    expect(await problems(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

/**
 * The contrasts without which a year is not told from the one before on a grey sheet: of the insides of their bars, and of each with the page.
 * A bar with an outline has that of the outline with the page.
 */
const contrasts = (page: Page): Promise<number[]> =>
  page.evaluate<number[]>(`(() => {
    const channels = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => Number(part) / 255);
    const luminance = (color) => channels(color)
      .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const ratio = (one, other) => {
      const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    };
    const sheet = getComputedStyle(document.querySelector('.reports-page') ?? document.body).backgroundColor;
    const [now, before] = [...document.querySelectorAll('.board .chart-mark')].map((mark) => getComputedStyle(mark));
    return [ratio(now.fill, before.fill), ratio(now.fill, sheet), ratio(before.stroke === 'none' ? before.fill : before.stroke, sheet)];
  })()`);

/** Faults that axe finds, and parts that reach over the right edge of the screen. */
async function problems(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(`axe.run().then(({ violations }) => [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)),
    ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
    ...[...document.querySelectorAll(':is(.card, .card *, button, input, svg, p)')]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth)
      .map((element) => 'cut off: ' + (element.textContent || element.tagName)),
  ])`);
}
