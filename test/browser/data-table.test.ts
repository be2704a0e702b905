import { source as axe } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto, printPage, type OpenPage } from '../support/playground-browser';
import { readPdfPages } from '../support/printed-pages';
import { until } from '../support/until';

const NAMES = ['Zoë Müller', 'Ada Lovelace', '=1+1', 'Émile Zola'];
const amountOf = (n: number): string => `${n || ''}234.50`;
const gateway = openPlayground({
  lines: Array.from({ length: 40 }, (_, n) =>
    v2Line({
      ...{
        deposit_id: `D${n}`,
        transaction_id: `T${n}`,
        allocation_id: `A${n}`,
        deposit_date: `2024-0${n < 20 ? 1 : 2}-${String((n % 20) + 1).padStart(2, '0')}`,
      },
      ...{ donor_id: (n % 4) + 1, donor_last_name: NAMES[n % 4], amount: amountOf(n), net_amount: amountOf(n), fee_amount: '0.00' },
    }),
  ),
});
const QUERY = `query Lines { depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { transactionId donorLastName depositDate amount } }`;

const table = (page: Page): Locator => page.getByRole('table');
const titles = (page: Page): Promise<string[]> => page.getByRole('columnheader').allTextContents();
const head = (page: Page, name: string): Locator => table(page).getByRole('button', { name, exact: true });
const status = (page: Page, text: string): Promise<void> => page.getByRole('status').getByText(text, { exact: true }).waitFor();
/** The texts of a column's cells, by its place from 1 on. */
const column = (page: Page, place: number): Promise<string[]> => table(page).locator(`[role=cell]:nth-child(${place})`).allTextContents();
const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()');

async function open(visit: Parameters<typeof gateway.visit>[0] = {}, script = ''): Promise<OpenPage> {
  const opened = await gateway.visit(visit);
  const { page } = opened;
  await page.evaluate(script);
  await logIn(page);
  await page.getByRole('button', { name: 'Table' }).click();
  await pasteInto(page, 'query', QUERY);
  await execute(page);
  await status(page, '40 rows');
  return opened;
}

/** Lets the page hear its worker only when the promise `held` is over, as if the worker were slow. */
const SLOW_WORKER = `{
  const Before = Worker;
  globalThis.Worker = class extends Before {
    addEventListener(type, listener, options) {
      const late = async (event) => {
        await globalThis.held;
        listener.call(this, event);
      };
      super.addEventListener(type, type === 'message' ? late : listener, options);
    }
  };
}`;

describe('an analyst', () => {
  test('searches without accents and case, and filters by parts of texts and by ranges as a person writes them', async () => {
    const { page, faults } = await open();
    await page.getByLabel('Search in these rows').fill('MULLER');
    await status(page, '10 of 40 rows');
    expect(new Set(await column(page, 2))).toEqual(new Set(['Zoë Müller']));
    await page.getByRole('button', { name: 'Filter these rows' }).click();
    await page.getByLabel('amount from').fill('10,000');
    await page.getByLabel('amount to').fill('20,234.50');
    await status(page, '3 of 40 rows');
    expect(await column(page, 4)).toEqual(['12,234.50', '16,234.50', '20,234.50']);
    await page.getByLabel('amount from').fill('ten');
    expect(await page.getByLabel('amount from').getAttribute('aria-invalid')).toBe('true');
    await status(page, '6 of 40 rows');
    await page.getByLabel('donorLastName contains').fill('ada');
    await status(page, '0 of 40 rows');
    await page.getByLabel('Search in these rows').fill('');
    await status(page, '5 of 40 rows');
    // Filters that are not shown filter nothing.
    await page.getByRole('button', { name: 'Filter these rows' }).click();
    await status(page, '40 rows');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('sorts names as the language does, up, down, and back', async () => {
    const { page } = await open();
    const first = async (): Promise<string> => (await column(page, 2))[0]!;
    await head(page, 'donorLastName').click();
    await until(async () => (await first()) === '=1+1');
    await head(page, 'donorLastName').click();
    await until(async () => (await first()) === 'Zoë Müller');
    await head(page, 'transactionId').click();
    await until(async () => (await column(page, 1)).slice(0, 3).join() === 'T0,T1,T2');
    await head(page, 'transactionId').click();
    await until(async () => (await column(page, 1))[0] === 'T39');
    await head(page, 'transactionId').click();
    await until(async () => (await table(page).locator('[aria-sort=none]').count()) === 4);
    await page.context().close();
  });

  test('moves, hides and widens columns by keyboard alone', async () => {
    const { page, faults } = await open();
    await page.getByRole('button', { name: 'Columns' }).focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('dialog', { name: 'Columns' });
    await menu.getByRole('button', { name: 'Move amount up' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    // The focus goes with the column that moves.
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Move amount up');
    expect(await titles(page)).toEqual(['transactionId', 'amount', 'donorLastName', 'depositDate']);
    await menu.getByRole('checkbox', { name: 'depositDate' }).focus();
    await page.keyboard.press('Space');
    expect(await titles(page)).toEqual(['transactionId', 'amount', 'donorLastName']);
    const width = async (): Promise<number> => (await page.getByRole('columnheader', { name: 'amount' }).boundingBox())!.width;
    const before = await width();
    await menu.getByRole('button', { name: 'Make amount wider' }).focus();
    await page.keyboard.press('Enter');
    expect(Math.round(await width())).toBe(Math.round(before) + 24);
    await menu.getByRole('button', { name: 'As they were' }).press('Enter');
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    expect(await titles(page)).toEqual(['transactionId', 'donorLastName', 'depositDate', 'amount']);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('drags a column to another place and its edge to another width, and sorts by neither', async () => {
    const { page } = await open();
    const boxOf = async (name: string) => (await page.getByRole('columnheader', { name }).boundingBox())!;
    const [amount, name] = [await boxOf('amount'), await boxOf('donorLastName')];
    await head(page, 'amount').hover();
    await page.mouse.down();
    await page.mouse.move(amount.x - 30, amount.y + 10, { steps: 4 });
    await page.mouse.move(name.x + 20, name.y + 10, { steps: 4 });
    await page.mouse.up();
    expect(await titles(page)).toEqual(['transactionId', 'amount', 'donorLastName', 'depositDate']);
    const { x, y, width } = await boxOf('amount');
    await page.mouse.move(x + width - 3, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + width + 57, y + 10, { steps: 5 });
    await page.mouse.up();
    expect(Math.round((await boxOf('amount')).width - width)).toBe(60);
    // The title does not hear of a button that is let go outside of it.
    await head(page, 'amount').hover({ position: { x: 3, y: 5 } });
    await page.mouse.down();
    await page.mouse.move(x, y + 300);
    await page.mouse.up();
    await head(page, 'amount').hover({ position: { x: 30, y: 5 } });
    await page.mouse.move(x - 30, y + 10);
    expect(await table(page).locator('.drop-target').count()).toBe(0);
    expect(await titles(page)).toEqual(['transactionId', 'amount', 'donorLastName', 'depositDate']);
    expect(await table(page).locator('[aria-sort=none]').count()).toBe(4);
    await page.context().close();
  });

  test('copies a range that the keyboard or the mouse selects, and all of it, for a spreadsheet', async () => {
    const { page, faults } = await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await table(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowRight');
    await page.getByText('donorLastName, row 3: =1+1', { exact: true }).waitFor({ state: 'attached' });
    await page.keyboard.press('ControlOrMeta+C');
    await status(page, 'Copied 4 cells');
    expect(await clipboard(page)).toBe("T1\tAda Lovelace\nT2\t'=1+1");

    const cell = (row: number, place: number): Locator => table(page).locator(`[data-row="${row}"] > :nth-child(${place})`);
    await cell(1, 3).hover();
    await page.mouse.down();
    await cell(2, 4).hover();
    await page.mouse.up();
    await page.keyboard.press('ControlOrMeta+C');
    await until(async () => (await clipboard(page)) === '2024-01-02\t1234.50\n2024-01-03\t2234.50');
    await cell(0, 4).click();
    await cell(3, 4).click({ modifiers: ['Shift'] });
    await page.keyboard.press('ControlOrMeta+C');
    await until(async () => (await clipboard(page)) === '234.50\n1234.50\n2234.50\n3234.50');
    await page.keyboard.press('ControlOrMeta+End');
    await table(page).locator('[data-row="39"] .head').waitFor();
    await page.getByRole('button', { name: 'Copy all' }).click();
    await status(page, 'Copied 40 rows');
    expect((await clipboard(page)).split('\n').slice(0, 2)).toEqual([
      'transactionId\tdonorLastName\tdepositDate\tamount',
      'T0\tZoë Müller\t2024-01-01\t234.50',
    ]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('copies no other rows than those on the screen while a search is under way', async () => {
    const { page, faults } = await open({}, SLOW_WORKER);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(`navigator.clipboard.writeText('before')`);
    await page.evaluate(`globalThis.held = new Promise((resolve) => (globalThis.release = resolve)); 0`);
    await page.getByLabel('Search in these rows').fill('muller');
    await page.getByLabel('Search in these rows').press('Enter');
    await until(async () => (await table(page).getAttribute('aria-busy')) === 'true');
    await page.getByRole('button', { name: 'Copy all' }).click();
    await page.evaluate('globalThis.release()');
    await page.getByRole('alert').getByText('The rows have just changed. Try again.', { exact: true }).waitFor();
    await status(page, '10 of 40 rows');
    expect(await clipboard(page)).toBe('before');
    await page.getByRole('button', { name: 'Copy all' }).click();
    await status(page, 'Copied 10 rows');
    expect((await clipboard(page)).split('\n').length).toBe(11);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('prints all shown rows, not only the visible ones', async () => {
    const { page } = await open();
    await page.evaluate('window.print = () => { window.printed = (window.printed ?? 0) + 1; }');
    await page.getByLabel('Search in these rows').fill('ada');
    await status(page, '10 of 40 rows');
    await page.getByRole('button', { name: 'Print' }).click();
    await until(() => page.evaluate<boolean>('window.printed === 1'));
    await page.emulateMedia({ media: 'print' });
    const sheet = page.locator('.print-sheet');
    expect(await sheet.getByRole('heading').textContent()).toBe('depositDetails');
    await sheet.getByText(/^10 of 40 rows, searched or filtered\. The books are at version 1\. Printed/).waitFor();
    expect(await sheet.locator('tbody tr').count()).toBe(10);
    expect(await sheet.locator('tbody tr').first().locator('td').allTextContents()).toEqual([
      'T1',
      'Ada Lovelace',
      '2024-01-02',
      '1,234.50',
    ]);
    expect(await page.locator('.table-frame').isVisible()).toBe(false);
    await page.screenshot({ path: 'coverage/playground-print.png', fullPage: true });
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await sheet.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('prints by the browser’s own menu what the button prints: all shown rows in their order, each time anew', async () => {
    const { page, faults } = await open();
    const [whole, ...others] = await printPage(page);
    expect(others).toEqual([]);
    expect(whole!.lines[0]).toBe('depositDetails');
    expect(whole!.lines[1]).toMatch(/^40 rows\. The books are at version 1\. Printed /);
    expect(whole!.rows.map(([id]) => id)).toEqual(['transactionId', ...Array.from({ length: 40 }, (_, n) => `T${n}`)]);
    await page.locator('.print-sheet').waitFor({ state: 'detached' });
    await page.getByLabel('Search in these rows').fill('ada');
    await status(page, '10 of 40 rows');
    await head(page, 'transactionId').click();
    await head(page, 'transactionId').click();
    await until(async () => (await column(page, 1))[0] === 'T37');
    // A dialog keeps the page behind it from scrolling and from screen readers.
    await page.getByRole('button', { name: 'Saved reports' }).click();
    await page.getByRole('dialog').waitFor();
    const [narrowed] = await printPage(page);
    expect(narrowed!.lines.slice(0, 2)).toEqual(['depositDetails', 'Search: “ada”']);
    expect(narrowed!.rows.map(([id]) => id).slice(0, 3)).toEqual(['transactionId', 'T37', 'T33']);
    expect(narrowed!.rows.length).toBe(11);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.evaluate(`window.print = () => dispatchEvent(new Event('beforeprint'))`);
    await page.getByRole('button', { name: 'Print' }).click();
    const sheets = page.locator('.print-sheet');
    await sheets.waitFor({ state: 'attached' });
    await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`);
    expect(await sheets.count()).toBe(1);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await sheets.waitFor({ state: 'detached' });
    // The other mode has no table in front.
    await page.getByRole('button', { name: 'Reports', exact: true }).click();
    expect(await printPage(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('finds the title and the number of each page at its foot, and dates and amounts in one line', async () => {
    const { page, faults } = await open();
    const pages = readPdfPages(await page.pdf({ width: '210mm', height: '90mm' }));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.map((text) => text.replace(/(of \d+depositDetails).*/s, '$1'))).toEqual(
      pages.map((_text, at) => `Page ${at + 1} of ${pages.length}depositDetails`),
    );
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    await page.emulateMedia({ media: 'print' });
    // A sheet that is much too narrow for its columns.
    await page.setViewportSize({ width: 200, height: 900 });
    const heights = await page.evaluate<number[]>(`(() => {
      const cells = [...document.querySelectorAll('.print-sheet td:is(.date, .money)')];
      const lines = (cell) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getClientRects().length; };
      return [...new Set(cells.map(lines))];
    })()`);
    expect(heights).toEqual([1]);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('reads on a sheet which rows are missing while they are read, without a total', async () => {
    const { page } = await open({}, SLOW_WORKER);
    const toggle = page.getByRole('button', { name: 'Table' });
    await toggle.click();
    await page.evaluate(`globalThis.held = new Promise((resolve) => (globalThis.release = resolve)); 0`);
    await toggle.click();
    await table(page).waitFor();
    const [early] = await printPage(page);
    expect(early!.lines[2]).toBe('40 rows are not on this sheet, because the page was still reading. Print again in a moment.');
    expect(early!.rows).toEqual([['transactionId', 'donorLastName', 'depositDate', 'amount']]);
    await page.evaluate('globalThis.release()');
    await status(page, '40 rows');
    await until(async () => (await printPage(page))[0]?.rows.length === 41);
    await page.context().close();
  });

  test('reads amounts and numbers as people of another locale write them', async () => {
    const { page } = await open({ locale: 'de-DE' });
    expect((await column(page, 4)).slice(0, 2)).toEqual(['234,50', '1.234,50']);
    await page.getByLabel('Search in these rows').fill('1.234,5');
    await status(page, '1 of 40 rows');
    await page.context().close();
  });

  test('reads in the words of another locale how far a table of more rows scrolls than browsers make an element high', async () => {
    const count = 650_000;
    const { page } = await open({ locale: 'de-DE' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const body = JSON.stringify({ data: { depositDetails: Array.from({ length: count }, (_, n) => ({ id: `T${n}` })) } });
    await page
      .context()
      .route('**/graphql', (route) =>
        route.request().postData()?.includes('query Lines') ? route.fulfill({ body, contentType: 'application/json' }) : route.continue(),
      );
    await execute(page);
    await page.getByText('650.000 rows', { exact: true }).waitFor({ timeout: 60_000 });
    await page.getByRole('note').getByText('The table scrolls through the first 600.000 rows.').waitFor();
    await table(page).focus();
    await page.keyboard.press('Control+End');
    await table(page).getByText('T599999', { exact: true }).waitFor();
    await head(page, 'id').click();
    await head(page, 'id').click();
    await table(page).focus();
    await page.keyboard.press('Control+Home');
    await table(page).getByText('T649999', { exact: true }).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Copy all' }).click();
    await page.getByRole('status').getByText('Copied 650.000 rows').waitFor({ timeout: 60_000 });
    expect((await clipboard(page)).split('\n')).toHaveLength(count + 1);
    await page.context().close();
  });

  test.each(['light', 'dark'] as const)('uses all of it on a narrow screen, in the %s theme', async (colorScheme) => {
    const { page } = await open({ colorScheme, viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Filter these rows' }).click();
    await table(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+End');
    const violations = async (): Promise<string[]> => {
      await page.evaluate(axe);
      return page.evaluate<string[]>(
        `axe.run('.data-table, .columns-menu').then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)))`,
      );
    };
    expect(await violations()).toEqual([]);
    await page.screenshot({ path: `coverage/playground-table-${colorScheme}-390.png` });
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('dialog', { name: 'Columns' }).waitFor();
    expect(await violations()).toEqual([]);
    await page.screenshot({ path: `coverage/playground-columns-${colorScheme}-390.png` });
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.context().close();
  });
});
