import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground, untilFocusIsOn } from '../support/playground-browser';
import { until } from '../support/until';

const gateway = openPlayground({ lines: [v2Line({ deposit_date: '2024-05-03', allocation_amount: '10.50' })] });
const REPORT = '#reports/designations?period=2024-05-01..2024-05-31';

async function open(hash = REPORT, colorScheme: 'light' | 'dark' = 'light') {
  const { page, faults } = await gateway.visit({ hash, colorScheme, locale: 'en-US', viewport: { width: 1280, height: 800 } });
  await logIn(page);
  await page.locator('[data-row="0"]').first().waitFor();
  return { page, faults };
}

const focused = `(document.activeElement.ariaLabel ?? document.activeElement.innerText)`;

/** The names of what has the focus after each of some presses of Tab. */
async function tab(page: Page, presses: number): Promise<string[]> {
  const names: string[] = [];
  for (let press = 0; press < presses; press++) {
    await page.keyboard.press('Tab');
    names.push(await page.evaluate<string>(focused));
  }
  return names;
}

describe('an analyst with the keyboard alone', () => {
  test('passes over the bar and the menu with the first stop of the page', async () => {
    const { page, faults } = await open();
    await page.evaluate('document.activeElement.blur()');
    expect(await tab(page, 1)).toEqual(['Skip to the content']);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    expect(page.url()).toContain(REPORT);
    expect((await tab(page, 1))[0]).toBe('Download');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('has one stop in the menu, which is the open report, and moves within it by arrows', async () => {
    const { page, faults } = await open();
    const menu = page.getByRole('navigation', { name: 'Reports' });
    await menu.getByRole('button', { name: 'Funds' }).focus();
    expect(await menu.locator('button[tabindex="0"]').allInnerTexts()).toEqual(['Funds']);
    await page.keyboard.press('ArrowUp');
    await untilFocusIsOn(page, 'Bank tie-out');
    await page.keyboard.press('End');
    await untilFocusIsOn(page, 'All saved reports');
    await page.keyboard.press('ArrowDown');
    await untilFocusIsOn(page, 'Money received');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Bank tie-out' }).waitFor();
    expect(await menu.locator('button[tabindex="0"]').allInnerTexts()).toEqual(['Bank tie-out']);
    await menu.getByRole('button', { name: 'Bank tie-out' }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(`document.activeElement.closest('nav') === null`)).toBe(true);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test.each(['light', 'dark'] as const)('sees the focus on what has it, and on nothing around it, in the %s theme', async (theme) => {
    const { page, faults } = await open(REPORT, theme);
    const outlined = (): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('body *')].filter((part) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(part);
        return outlineStyle !== 'none' && outlineWidth !== '0px' && part.checkVisibility();
      }).map((part) => part === document.activeElement ? 'focused' : part.className)`);
    await page.evaluate(`document.querySelector('main').focus()`);
    for (let press = 0; press < 22; press++) {
      await page.keyboard.press('Tab');
      const where = await page.evaluate<string>(`document.activeElement.className + ' ' + document.activeElement.tagName`);
      // A part of a date is marked by its color.
      const isSegment = where.includes('date-segment');
      const marks = await outlined();
      expect([where, marks]).toEqual([where, isSegment && marks.length === 0 ? [] : ['focused']]);
    }
    // The cell with the keyboard shows it, and the table around it does not.
    await page.getByRole('table').focus();
    await page.keyboard.press('ArrowDown');
    await until(async () => (await outlined()).join() === 'money head' || (await outlined()).some((name) => name.includes('head')));
    expect((await outlined()).length).toBe(1);
    // A field of a dialog has the ring of the page too, and not that of the browser.
    await page.evaluate(`location.hash = '#reports/bank-tie-out?period=2024-05-01..2024-05-31'`);
    await page.getByRole('button', { name: 'Journal…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Columns for').and(page.locator(':focus')).waitFor();
    expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
