import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';
import { until } from '../support/until';

const NOW = '2024-06-15T12:00:00Z';
const WIDE_NAME = 'The fund for the library and its readers';
/** A gift of nobody has no contact either. */
const NOBODY = {
  ...{ donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', address2: '', address3: '', city: '', state: '', zip: '' },
  ...{ phone: '', email_address: '' },
};
const gateway = openPlayground({
  lines: Array.from({ length: 60 }, (_, n) =>
    v2Line({
      ...{
        deposit_id: `D${n}`,
        transaction_id: `T${n}`,
        allocation_id: `A${n}`,
        deposit_date: `2024-0${n % 2 === 0 ? 4 : 5}-${10 + (n % 19)}`,
      },
      ...{ designation_id: 100 + Math.floor(n / 2), designation: n < 2 ? WIDE_NAME : `Fund ${Math.floor(n / 2)}` },
      ...{ amount: `${n + 1}.50`, net_amount: `${n + 1}.00`, fee_amount: '0.50', allocation_amount: `${n + 1}.50` },
      ...(n === 3 && NOBODY),
    }),
  ),
});

interface Opening {
  readonly width?: number;
  readonly height?: number;
  readonly locale?: string;
}

async function open(hash: string, { width = 1280, height = 800, locale = 'en-US' }: Opening = {}) {
  const { page, faults } = await gateway.visit({ hash, now: NOW, locale, viewport: { width, height } });
  await logIn(page);
  await page.locator('[data-row="0"]').first().waitFor();
  return { page, faults };
}

/** The rows of which every pixel is in sight, between the names of the columns and the totals. */
const countRows = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const top = document.querySelector('.table-names').getBoundingClientRect().bottom;
    const bottom = Math.min(innerHeight, document.querySelector('.table-totals').getBoundingClientRect().top);
    return [...document.querySelectorAll('[data-row]')].map((row) => row.getBoundingClientRect())
      .filter((box) => box.top >= top - 1 && box.bottom <= bottom + 1).length;
  })()`);

const heightOf = async (page: Page, selector: string): Promise<number> => (await page.locator(selector).boundingBox())!.height;

test('an analyst who presses Save while the rows come hits it, because it stays where it is', async () => {
  const { page, faults } = await open('#reports/gifts?period=all-time');
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/export/deposit-details.csv*', async (route) => {
    await held;
    await route.continue();
  });
  const boxes = () => Promise.all(['Save', 'Copy link'].map((name) => page.getByRole('button', { name, exact: true }).boundingBox()));
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  const before = await boxes();
  release();
  await page.getByRole('button', { name: 'Download' }).waitFor();
  expect([before, await page.getByRole('button', { name: 'Run again' }).count()]).toEqual([await boxes(), 1]);
  expect(faults).toEqual([]);
  await page.context().close();
});

describe('an analyst sees rows', () => {
  test.each([
    [1280, 800, 14],
    [1440, 900, 18],
  ])('at %d by %d, %d of them at least, whatever stands above', async (width, height, least) => {
    const { page, faults } = await open('#reports/gifts?period=all-time', { width, height });
    for (const report of [
      'gifts?period=all-time',
      'bank-tie-out?period=all-time',
      'designations?period=all-time',
      'designations?compare=before',
    ]) {
      await page.evaluate(`location.hash = '#reports/${report}'`);
      await until(async () => (await countRows(page).catch(() => 0)) >= least, 15_000).catch(async () => {
        expect([report, await countRows(page)]).toEqual([report, least]);
      });
    }
    await page.evaluate(`location.hash = '#reports/designations?period=all-time&splitBy=MONTH'`);
    await page.getByRole('columnheader', { name: 'Share' }).waitFor();
    expect(await countRows(page)).toBeGreaterThanOrEqual(least);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('and more of them while the table is scrolled, because the figures are a line then', async () => {
    const { page, faults } = await open('#reports/designations?compare=before');
    const [before, high] = [await countRows(page), await heightOf(page, '.cards')];
    expect(await page.locator('.card').first().locator('dd').innerText()).toMatch(
      /^[\d,.]+\npending included\nThe period before: [\d,.]+\n[+-][\d,.]+ \([+-]\d+\.\d%\)$/,
    );
    await page.locator('.table-frame').evaluate((frame: { scrollTop: number }) => void (frame.scrollTop = 60));
    await until(async () => (await heightOf(page, '.cards')) < 30);
    expect(high).toBeGreaterThan(60);
    expect(await countRows(page)).toBeGreaterThan(before);
    await page.locator('.table-frame').evaluate((frame: { scrollTop: number }) => void (frame.scrollTop = 0));
    await until(async () => (await heightOf(page, '.cards')) === high);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

test('an analyst finds the choices in one line, and those without room behind a button', async () => {
  const { page, faults } = await open('#reports/designations?compare=before', { width: 1024 });
  const form = page.getByRole('region', { name: 'Choices of the report' });
  expect((await form.boundingBox())!.height).toBeLessThan(56);
  const choice = form.getByText('Counts by', { exact: true });
  expect(await choice.isVisible()).toBe(false);
  await form.getByRole('button', { name: 'More choices' }).click();
  await choice.waitFor();
  expect((await form.boundingBox())!.height).toBeGreaterThan(56);
  await form.getByRole('button', { name: 'Fewer choices' }).click();
  await choice.waitFor({ state: 'hidden' });
  await page.setViewportSize({ width: 1600, height: 900 });
  await choice.waitFor();
  expect(await form.getByRole('button', { name: 'More choices' }).count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst reads notices in one place that is a line high, and all of them with a button', async () => {
  const { page, faults } = await open('#reports/designations?period=all-time&compare=before&pending=WITHOUT&dateBasis=TRANSACTION_DATE', {
    width: 820,
  });
  const notices = page.locator('.notices');
  expect((await notices.boundingBox())!.height).toBeLessThan(26);
  const top = (await notices.boundingBox())!.y;
  await notices.getByText(/All time has no period before it/).waitFor();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await notices.getByText(/^The link is copied/).waitFor();
  expect((await notices.boundingBox())!.height).toBeLessThan(26);
  await notices.getByRole('button', { name: 'Read all' }).click();
  await until(async () => (await notices.boundingBox())!.height > 40);
  expect((await notices.boundingBox())!.y).toBe(top);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst reads of a filter that filters nothing and of a copy that failed before what stands there anyway', async () => {
  const { page, faults } = await open('#reports/designations?period=all-time&compare=before&pending=WITHOUT&dateBasis=TRANSACTION_DATE', {
    width: 820,
  });
  const notices = page.locator('.notice-line');
  await notices.getByText(/All time has no period before it/).waitFor();
  const start = (await notices.boundingBox())!.x;
  const alert = notices.getByRole('alert');
  const unread = alert.filter({ hasText: 'The filter of “To this fund” is no number, so it filters nothing.' });
  await page.getByRole('button', { name: 'Filter these rows' }).click();
  await page.getByLabel('To this fund from').fill('ten');
  await unread.waitFor();
  expect((await unread.boundingBox())!.x).toBeLessThan(start + 2);
  await page.getByLabel('To this fund from').fill('');
  await unread.waitFor({ state: 'detached' });
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  for (const name of ['Copy all', 'Copy link']) {
    await page.getByRole('button', { name, exact: true }).click();
    await until(
      async () => (await alert.filter({ hasText: 'The browser does not let this page copy.' }).count()) === (name === 'Copy all' ? 1 : 2),
    );
  }
  const failed = alert.filter({ hasText: 'The browser does not let this page copy.' }).first();
  expect((await failed.boundingBox())!.x).toBeLessThan(start + 2);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst reads the name of the totals beside the first of them, never across it', async () => {
  const { page, faults } = await open('#reports/deposits?period=all-time&splitBy=MONTH');
  /** The pixels by which the name of the totals goes on beyond the left edge of the first cell with a text. */
  const across = (): Promise<number> =>
    page.evaluate<number>(`(() => {
      const [name, ...others] = document.querySelectorAll('.table-totals > div');
      const text = document.createRange();
      text.selectNodeContents(name);
      const first = others.find(({ textContent }) => textContent !== '');
      return text.getBoundingClientRect().right - first.getBoundingClientRect().left;
    })()`);
  await page.getByLabel('Search in these rows').fill('2024');
  await page.getByText('Total of these rows').waitFor();
  expect(await across()).toBeLessThanOrEqual(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst reads whole names before amounts of zero, keeps the first column in sight, and is led to a column that was just shown', async () => {
  const { page, faults } = await open('#reports/designations?period=all-time', { width: 1100 });
  const name = page.getByRole('cell', { name: WIDE_NAME });
  expect(await name.evaluate((cell: { scrollWidth: number; clientWidth: number }) => cell.scrollWidth <= cell.clientWidth)).toBe(true);
  const edges = page.locator('.table-edges');
  expect(await edges.getAttribute('data-more-left')).toBeNull();
  await page.getByRole('button', { name: 'Columns' }).click();
  for (const title of ['Deposits', 'Whole gifts', 'Fees of the whole gifts', 'Net of the whole gifts'])
    await page.getByLabel(title, { exact: true }).check();
  await page.keyboard.press('Escape');
  const added = page.getByRole('columnheader', { name: 'Net of the whole gifts' });
  const [frame, box, first] = [
    (await page.locator('.table-frame').boundingBox())!,
    (await added.boundingBox())!,
    (await page.getByRole('columnheader', { name: 'Fund', exact: true }).boundingBox())!,
  ];
  expect(box.x + box.width).toBeLessThanOrEqual(frame.x + frame.width + 1);
  expect(Math.round(first.x - frame.x)).toBe(1);
  await until(async () => (await edges.getAttribute('data-more-left')) !== null);
  expect(faults).toEqual([]);
  await page.context().close();
});

describe('an analyst who works on the rows', () => {
  test('gets the largest amounts first, and names from A on', async () => {
    const { page, faults } = await open('#reports/designations?period=all-time');
    const heads = (name: string) => page.getByRole('columnheader', { name, exact: true });
    await heads('To this fund').getByRole('button').click();
    await page.locator('[data-row="0"]').getByText('120.00').first().waitFor();
    await heads('Fund').getByRole('button').click();
    await page.locator('[data-row="0"]').getByText('Fund 1', { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('is told that nothing fits, without a total of zeros, and clears the search', async () => {
    const { page, faults } = await open('#reports/designations?period=all-time');
    await page.getByLabel('Search in these rows').fill('nowhere');
    await page.getByText('None of the 30 rows fits: Search: “nowhere”.').waitFor();
    expect(await page.locator('.table-totals').count()).toBe(0);
    await page
      .getByText(/^None of/)
      .locator('..')
      .getByRole('button', { name: 'Clear' })
      .click();
    await page.getByText('30 rows', { exact: true }).waitFor();
    expect(await page.getByLabel('Search in these rows').inputValue()).toBe('');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('finds the rows of nobody by what stands in them', async () => {
    const { page, faults } = await open('#reports/donors?period=all-time');
    await page.getByLabel('Search in these rows').fill('(no donor)');
    await page.getByText('1 of 2 rows').waitFor();
    await page.locator('[data-row="0"]').getByText('(no donor)').waitFor();
    await page.getByLabel('Search in these rows').fill('');
    // They are the last ones in every order, and counted in the total.
    const isSorted = async (name: string, order: 'ascending' | 'descending'): Promise<void> => {
      await page.locator(`[role=columnheader][aria-sort=${order}]`).getByText(name, { exact: true }).waitFor();
      await page.locator('[data-row="1"]').getByText('(no donor)').waitFor();
    };
    const press = (name: string): Promise<void> =>
      page.getByRole('columnheader', { name, exact: true }).getByRole('button').first().click();
    await isSorted('Received', 'descending');
    await press('Received');
    await isSorted('Received', 'ascending');
    await press('First name');
    await isSorted('First name', 'ascending');
    await page.locator('.table-totals').getByText('1,860.00').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('finds a column by its name, drags it to another place, and moves it by keyboard', async () => {
    const { page, faults } = await open('#reports/designations?period=all-time');
    const titles = (): Promise<string[]> => page.locator('.table-names .column-sort').allInnerTexts();
    await page.getByRole('button', { name: 'Columns' }).click();
    const menu = page.getByRole('dialog', { name: 'Columns' });
    const item = (title: string) => menu.getByRole('listitem').filter({ has: page.getByLabel(title, { exact: true }) });
    await item('To this fund').locator('.drag-handle').hover();
    await page.mouse.down();
    await item('Fund').locator('.drag-handle').hover();
    await page.mouse.up();
    expect((await titles())[0]).toBe('To this fund');
    // Downward the browser sees the dragged item leave its place, and the pointer may leave the handle.
    await item('To this fund').locator('.drag-handle').hover();
    await page.mouse.down();
    for (const title of ['Fund', 'Fund number', 'Gifts']) await item(title).getByText(title, { exact: true }).hover();
    await page.mouse.up();
    const dragged = ['Fund', 'Fund number', 'Gifts', 'To this fund'];
    expect((await titles()).slice(0, 4)).toEqual(dragged);
    for (const title of ['Fund', 'To this fund', 'Fund number']) await item(title).locator('.drag-handle').hover();
    expect((await titles()).slice(0, 4)).toEqual(dragged);
    await menu.getByLabel('Find a column').fill('fund number');
    expect(await menu.getByRole('checkbox').count()).toBe(1);
    await menu.getByRole('button', { name: 'Move Fund number up' }).press('Enter');
    expect((await titles()).slice(0, 4)).toEqual(['Fund number', 'Fund', 'Gifts', 'To this fund']);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

const toFunds = (count: number): string => Array.from({ length: count }, (_none, at) => `&fund=${100 + at}`).join('');

test.each([
  ['largest', ['Gift date', 'Gift', 'Whole gift', 'Fees']],
  ['gifts', ['Deposit date', 'Gift date', 'To this fund', 'Whole gift']],
])('an analyst sees the amounts of %s with their total, without scrolling', async (report, first) => {
  const { page, faults } = await open(`#reports/${report}?period=2024-04-01..2024-05-31`);
  expect((await page.locator('.table-names .column-sort').allInnerTexts()).slice(0, 4)).toEqual(first);
  const place = first.findIndex((title) => title === 'To this fund' || title === 'Whole gift');
  const frame = (await page.locator('.table-edges').boundingBox())!;
  for (const row of ['.table-totals', '[data-row="0"]']) {
    const cell = page.locator(`${row} [role=cell]`).nth(place);
    expect(await cell.innerText()).toMatch(/^[\d,]+\.\d\d$/);
    const box = (await cell.boundingBox())!;
    expect([
      box.x + box.width <= frame.x + frame.width,
      await page.evaluate(`getComputedStyle(document.querySelector('${row}').children[${place}]).textAlign`),
    ]).toEqual([true, 'right']);
  }
  if (report === 'largest') {
    expect(await page.locator('.card dt').allInnerTexts()).toEqual([
      ...['Received, all gifts', 'Of which pending, all gifts', 'Fees, all gifts', 'Net, all gifts', 'All gifts'],
    ]);
    // 60 gifts of 1.50 to 60.50 came in, and the table has the 50 largest.
    expect(await page.locator('.card strong').first().innerText()).toBe('1,860.00');
    expect(await page.locator('.table-totals [role=cell]').nth(place).innerText()).toBe('1,800.00');
    await page.evaluate(`location.hash += ${JSON.stringify(toFunds(30))}`);
    await page.getByText('To these funds, all gifts').waitFor();
    expect(await page.locator('.card dt').allInnerTexts()).toEqual([
      ...[
        'To these funds, all gifts',
        'Of which pending, all gifts',
        'All whole gifts',
        'Fees of all whole gifts',
        'Net of all whole gifts',
      ],
      'All gifts',
    ]);
  }
  expect(faults).toEqual([]);
  await page.context().close();
});
