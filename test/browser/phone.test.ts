import { source as axe } from 'axe-core';
import type { Page } from 'playwright-core';
import { execute, logIn, openPlayground } from '../support/playground-browser';
import { v2Line } from '../support/gateway';

const NOW = '2024-06-15T12:00:00Z';
const dates = (date: string) => ({ deposit_date: date, transaction_date: date });
const gateway = openPlayground({
  lines: Array.from({ length: 40 }, (_, n) =>
    v2Line({
      ...{
        deposit_id: `D${n}`,
        transaction_id: `T${n}`,
        allocation_id: `A${n}`,
        ...dates(`2024-05-${String(1 + (n % 28)).padStart(2, '0')}`),
      },
      ...(n === 39 && { deposit_status: 'pending' }),
      ...{ designation_id: 100 + n, designation: n === 0 ? 'The fund for the library and all of its readers' : `Fund ${n}` },
      ...{ amount: `${n + 1}.50`, net_amount: `${n + 1}.00`, fee_amount: '0.50', allocation_amount: `${n + 1}.50` },
    }),
  ),
});
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

async function open(hash: string, colorScheme: 'light' | 'dark' = 'light') {
  const { page, faults } = await gateway.visit({ ...PHONE, colorScheme, hash, now: NOW, locale: 'en-US' });
  await logIn(page);
  return { page, faults };
}

/** Parts that reach over the right edge of the screen, and faults that axe finds. */
async function problems(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(`axe.run().then(({ violations }) => [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)),
    ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
    ...[...document.querySelectorAll(':is(button, input, select, dd, svg, [role=cell]):not(.graphiql-container *)')]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth)
      .map((element) => 'cut off: ' + (element.textContent || element.tagName)),
  ])`);
}

const topOf = async (page: Page, selector: string): Promise<number> => (await page.locator(selector).first().boundingBox())!.y;

test.each(['light', 'dark'] as const)('an analyst with a phone has the menu in one line that unfolds, in the %s theme', async (scheme) => {
  const { page, faults } = await open('#reports/designations?period=last-month', scheme);
  await page.locator('[data-row="0"]').waitFor();
  const menu = page.getByRole('navigation', { name: 'Reports' });
  expect((await menu.boundingBox())!.height).toBeLessThan(50);
  expect((await page.getByRole('banner').boundingBox())!.height).toBeLessThan(55);
  await menu.getByRole('button', { name: 'Funds', expanded: false }).tap();
  await menu.getByRole('button', { name: 'Gifts, line by line' }).waitFor();
  expect(await problems(page)).toEqual([]);
  await page.screenshot({ path: `coverage/phone-menu-${scheme}.png` });
  await page.keyboard.press('Escape');
  await menu.getByRole('button', { name: 'Funds', expanded: false }).tap();
  await menu.getByRole('button', { name: 'Money received' }).tap();
  await page.getByRole('columnheader', { name: 'Received' }).waitFor();
  expect(await menu.getByRole('button', { name: 'Gifts, line by line' }).isVisible()).toBe(false);
  await menu.getByRole('button', { name: 'Money received', expanded: false }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst with a phone reads figures and rows on the first screen, three columns of each and the rest at a touch', async () => {
  const { page, faults } = await open('#reports/designations?period=last-month');
  await page.locator('[data-row="0"]').waitFor();
  expect(await page.getByRole('columnheader').allInnerTexts()).toEqual(['Fund', 'Gifts', 'To this fund']);
  expect(await topOf(page, '.cards')).toBeLessThan(320);
  expect(await topOf(page, '[data-row="4"]')).toBeLessThan(800);
  expect(await problems(page)).toEqual([]);
  await page.screenshot({ path: 'coverage/phone-table.png' });
  await page.locator('[data-row="0"]').getByText('1.50').tap();
  const sheet = page.getByRole('dialog', { name: 'The fund for the library and all of its readers' });
  await sheet.getByText('To this fund', { exact: true }).waitFor();
  expect(await sheet.locator('dt').allInnerTexts()).toEqual(['Fund number', 'Gifts', 'To this fund', 'Of which pending']);
  expect(await problems(page)).toEqual([]);
  await sheet.getByRole('button', { name: 'Close' }).tap();
  await sheet.waitFor({ state: 'detached' });
  for (const [report, titles] of [
    ['gifts', ['Deposit date', 'To this fund', 'Last name']],
    ['bank-tie-out', ['Deposit date', 'Deposit', 'Net']],
    ['pending?pending=ONLY', ['Deposit date', 'Deposit', 'Pending']],
    ['donor?donor=7&period=last-month', ['Deposit date', 'To this fund', 'Fund']],
    ['year-end?donor=7&period=last-month', ['Gift date', 'To this fund', 'Fund']],
    ['designations?compare=before&period=last-month', ['Fund', 'To this fund', 'Difference']],
    ['donors', ['First name', 'Last name', 'Received']],
    ['designations?splitBy=MONTH', ['Fund', 'Total', 'Share']],
    ['history', ['Version', 'When', 'By']],
  ] as const) {
    await page.evaluate(`location.hash = '#reports/${report}'`);
    await page.getByRole('columnheader', { name: titles[2], exact: true }).waitFor();
    expect([report, await page.getByRole('columnheader').allInnerTexts()]).toEqual([report, titles]);
    expect([report, await problems(page)]).toEqual([report, []]);
    // None of the three columns of the history has a total.
    expect([report, await page.locator('.table-totals').count()]).toEqual([report, report === 'history' ? 0 : 1]);
  }
  // A sentence of two lines stands there whole, and a longer one is cut after the second.
  const notices = page.locator('.notice-line');
  const cutBy = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.notice-line'))`;
  await page.evaluate(`location.hash = '#reports/designations?period=last-month&dateBasis=TRANSACTION_DATE'`);
  await notices.getByText('Gifts count by the date on which they were given, not by that of their deposit.').waitFor();
  expect([(await notices.boundingBox())!.height, await page.evaluate(cutBy)]).toEqual([44, 0]);
  expect(await page.getByRole('button', { name: 'Read all' }).count()).toBe(0);
  await page.evaluate(`location.hash += '&pending=WITHOUT&compare=before'`);
  await page.getByRole('button', { name: 'Read all' }).waitFor();
  expect((await notices.boundingBox())!.height).toBe(44);
  expect(await page.evaluate<number>(cutBy)).toBeGreaterThan(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst with a phone opens a deposit from its row, and downloads all columns', async () => {
  const { page, faults } = await open('#reports/bank-tie-out?period=last-month');
  await page.locator('[data-row="0"] > div').nth(2).tap();
  await page.getByRole('dialog').getByRole('button', { name: 'Open deposit D0' }).tap();
  await page.getByText('Deposit: D0').waitFor();
  await page.getByRole('button', { name: 'Download', exact: true }).tap();
  const dialog = page.getByRole('dialog', { name: /^Download / });
  await dialog.getByText('CSV', { exact: true }).tap();
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).tap()]);
  expect(saved.suggestedFilename()).toMatch(/\.csv$/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst with a phone sees charts whole', async () => {
  const { page, faults } = await open('#reports/designations?period=last-month&splitBy=QUARTER');
  await page.getByRole('tab', { name: 'Chart' }).tap();
  await page.getByRole('img', { name: /^Bar chart/ }).waitFor();
  expect(await problems(page)).toEqual([]);
  const { x, width } = (await page.locator('.chart').boundingBox())!;
  expect([x >= 0, x + width <= 390]).toEqual([true, true]);
  await page.screenshot({ path: 'coverage/phone-chart.png' });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('GraphQL mode says that it needs a wider screen, and shows query and answer one below the other', async () => {
  const { page, faults } = await open('#graphql');
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.getByText('GraphQL mode needs a wider screen.').waitFor();
  await execute(page);
  await page.locator('.graphiql-response').getByText('"data"').waitFor();
  const [query, answer] = [
    (await page.locator('.graphiql-query-editor').boundingBox())!,
    (await page.locator('.graphiql-response').boundingBox())!,
  ];
  expect(answer.y).toBeGreaterThanOrEqual(query.y + query.height);
  for (const { x, width } of [query, answer]) expect([x >= 0, width > 330, x + width <= 390]).toEqual([true, true, true]);
  expect(await problems(page)).toEqual([]);
  await page.screenshot({ path: 'coverage/phone-graphql.png' });
  await page.getByRole('button', { name: 'Table' }).tap();
  await page.getByRole('table').waitFor();
  expect(await problems(page)).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});
