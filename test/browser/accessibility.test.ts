import { readFile } from 'node:fs/promises';
import { source as axe } from 'axe-core';
import type { Page } from 'playwright-core';
import { createOrganization, importLines, PASSWORD, v2Line } from '../support/gateway';
import { accountButton, execute, logIn, openPlayground } from '../support/playground-browser';
import { until } from '../support/until';

const lines = [v2Line({ deposit_date: new Date().toISOString().slice(0, 10), allocation_amount: '10.50' })];
const gateway = openPlayground({ lines });
const { organization } = gateway;

/**
 * Faults that axe finds on the page as it is, a page larger than its window, parts whose end is out of reach to the right, and variables
 * under other parts. Only the sign-in page may be higher than its window: it scrolls as a whole.
 */
async function problems(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate<string[]>(`axe.run().then(({ violations }) => [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)),
    ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []),
    ...(document.documentElement.scrollHeight > innerHeight && !document.querySelector('.sign-in') ? ['higher than the window'] : []),
    ...[...document.querySelectorAll('.bar, .report, .view, .dialog, .dialog-frame, .popover')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ className }) => 'wider than its frame: ' + className),
    ...[...document.querySelectorAll(':is(button, input, select, h1, h2, dd, [role=tab]):not([role=table] *, .reports-nav *, .graphiql-container *)')]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth)
      .map(({ textContent }) => 'cut off: ' + textContent),
    // The first variables are the dates, which an analyst changes most often.
    ...[...document.querySelectorAll(':root:not(:has(.dialog)) .graphiql-editor-tool .view-line')].slice(0, 3).flatMap((line) => {
      const { top, height } = line.getBoundingClientRect();
      const above = document.elementFromPoint(line.getBoundingClientRect().left + 5, top + height / 2);
      return above?.closest('.graphiql-editor-tool') ? [] : ['a variable is hidden: ' + line.textContent];
    }),
  ])`);
}

describe.each(['light', 'dark'] as const)('in the %s theme, an analyst who needs help to see', (colorScheme) => {
  test.each([
    [1280, 720],
    [820, 1180],
    [1024, 768],
  ])('can use every part of the page at %d by %d', async (width, height) => {
    const { page } = await gateway.visit({ colorScheme, viewport: { width, height } });
    await logIn(page);
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    expect(await problems(page)).toEqual([]);
    await page.getByLabel('Examples').selectOption({ label: 'Funds of the last twelve months, month by month' });
    await execute(page);
    await page.locator('.graphiql-response').getByText('General Fund').first().waitFor();
    expect(await problems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('table').waitFor();
    expect(await problems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Chart' }).click();
    await page.getByRole('img', { name: /^Bar chart/ }).waitFor();
    expect(await problems(page)).toEqual([]);
    await page.screenshot({ path: `coverage/playground-${colorScheme}-${width}.png` });
    await page.getByRole('button', { name: 'Saved reports' }).click();
    await page.getByRole('dialog').getByText('None yet.').waitFor();
    expect(await problems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog', { name: 'Save the report' }).waitFor();
    expect(await problems(page)).toEqual([]);
    await page.context().close();
  });

  test.each([
    [1440, 900, 1],
    [1280, 800, 1],
    [820, 1180, 1],
    [768, 1024, 1],
    [390, 844, 1],
    // A window of 1280 by 800 at a zoom of 200 %.
    [640, 400, 2],
  ])('can use the login and a report at %d by %d, at a zoom of %d', async (width, height, deviceScaleFactor) => {
    // Wrong passwords of one user would soon lock the user out.
    const as = await createOrganization(gateway.services);
    await importLines(gateway.services, as, lines);
    const { page, faults } = await gateway.visit({ as, colorScheme, viewport: { width, height }, deviceScaleFactor, hash: '#reports' });
    const check = async (part: string): Promise<void> => {
      await page.screenshot({ path: `coverage/reports-${colorScheme}-${width}-${part}.png` });
      expect([part, await problems(page)]).toEqual([part, []]);
    };
    await logIn(page, 'not the password');
    await page.getByRole('alert').filter({ hasText: 'not correct' }).waitFor();
    await check('login');
    await logIn(page);
    await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
    await check('list');
    await page.getByRole('link', { name: 'Deposit Gateway' }).click();
    await page.getByRole('heading', { name: 'Deposits of the last ten days' }).waitFor();
    await check('home');
    await accountButton(page).click();
    await page.getByRole('menuitem', { name: 'Log out' }).waitFor();
    await check('account');
    await page.keyboard.press('Escape');
    await page.evaluate(`location.hash = '#reports/designations?period=all-time&splitBy=MONTH'`);
    for (const [tab, shown] of [
      ['Table', page.getByRole('table')],
      ['Chart', page.getByRole('img', { name: /^Bar chart/ })],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await shown.waitFor();
      await check(tab.toLowerCase());
      await page.getByRole('button', { name: 'Download', exact: true }).click();
      await page.getByRole('dialog', { name: /^Download / }).waitFor();
      await check(`${tab.toLowerCase()}-download`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

describe('an analyst can read every text after the theme has changed', () => {
  const chooseTheme = async (page: Page, theme: string): Promise<void> => {
    await page.getByRole('button', { name: 'Open settings dialog' }).click();
    await page.getByRole('button', { name: theme, exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  const pickTheme = async (page: Page, theme: string): Promise<void> => {
    await accountButton(page).click();
    await page.getByRole('menuitemradio', { name: theme, exact: true }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
  };

  test.each([
    ['by the system, to dark', 'light', (page: Page) => page.emulateMedia({ colorScheme: 'dark' }), 'dark'],
    ['by the system, to light', 'dark', (page: Page) => page.emulateMedia({ colorScheme: 'light' }), 'light'],
    ['in the settings, to dark', 'light', (page: Page) => chooseTheme(page, 'Dark'), 'dark'],
    ['in the settings, to light', 'dark', (page: Page) => chooseTheme(page, 'Light'), 'light'],
    ['in the account menu, to dark', 'light', (page: Page) => pickTheme(page, 'Dark'), 'dark'],
    ['in the account menu, to light', 'dark', (page: Page) => pickTheme(page, 'Light'), 'light'],
    [
      'in the settings, and by the system after that',
      'light',
      async (page: Page) => {
        await chooseTheme(page, 'Dark');
        await page.emulateMedia({ colorScheme: 'dark' });
        await page.emulateMedia({ colorScheme: 'light' });
        await chooseTheme(page, 'System');
        await page.emulateMedia({ colorScheme: 'dark' });
      },
      'dark',
    ],
  ] as const)('%s', async (_how, colorScheme, change, after) => {
    const { page } = await gateway.visit({ colorScheme });
    await logIn(page);
    await execute(page);
    await page.locator('.graphiql-response').getByText('General Fund').first().waitFor();
    await change(page);
    await page.locator(`.graphiql-response .monaco-editor.${after === 'dark' ? 'vs-dark' : 'vs'}`).waitFor();
    expect(await problems(page)).toEqual([]);
    await page.screenshot({ path: `coverage/playground-turned-${colorScheme}-${after}.png` });
    await page.context().close();
  });
});

test.each([
  [1280, 720],
  [1280, 800],
  [1024, 768],
])('an analyst with a table open has the run button in reach at %d by %d, wherever the pointer scrolls', async (width, height) => {
  const { page } = await gateway.visit({ viewport: { width, height } });
  await logIn(page);
  await page.getByRole('button', { name: 'Table' }).click();
  await execute(page);
  await page.getByRole('table').waitFor();
  await page.getByRole('toolbar', { name: 'Editor Commands' }).hover();
  await page.mouse.wheel(0, 500);
  await until(() => page.evaluate<boolean>(`document.querySelector('.graphiql-toolbar').scrollTop > 0`));
  // The element at the button's middle is the button itself, not the toolbar's edge.
  const above = await page.evaluate<boolean>(`(() => {
    const { left, top, width, height } = document.querySelector('.graphiql-execute-button').getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2)?.closest('.graphiql-execute-button') != null;
  })()`);
  expect(above).toBe(true);
  await page.screenshot({ path: `coverage/playground-run-${width}-${height}.png` });
  await page.context().close();
});

test('an analyst with many tabs sees the one that is shown', async () => {
  const { page } = await gateway.visit();
  await logIn(page);
  for (let index = 0; index < 9; index++) {
    await page.getByLabel('Examples').selectOption({ index: (index % 8) + 1 });
    await page
      .locator('.graphiql-tab')
      .nth(index + 1)
      .waitFor();
  }
  await until(() =>
    page.evaluate<boolean>(`(() => {
      const { left, right, top } = document.querySelector('.graphiql-tab-active').getBoundingClientRect();
      return document.elementFromPoint((left + right) / 2, top + 10)?.closest('.graphiql-tab-active') != null;
    })()`),
  );
  await page.screenshot({ path: 'coverage/playground-tabs.png' });
  await page.context().close();
});

/** The name of the element with the focus, or "an editor" for one that Enter opens. */
const focused = `(({ classList, ariaLabel, labels, textContent }) =>
  classList.contains('graphiql-editor') ? 'an editor' : (ariaLabel ?? labels?.[0]?.textContent ?? textContent))(document.activeElement)`;

/** Presses Tab until the element of this name has the focus. */
async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  for (let presses = 0; (await page.evaluate(focused)) !== name; presses++) {
    if (presses === 60) throw new Error(`Tab does not lead to ${name}`);
    await page.keyboard.press(key);
  }
}

test('an analyst without a mouse logs in, opens an example, runs it and takes the month home', async () => {
  const page = await gateway.newPage();
  await page.goto(`${gateway.url}/playground`);
  await page.getByLabel('Provision').waitFor();
  await tabTo(page, 'Provision');
  await page.keyboard.type(organization.webProvision);
  await tabTo(page, 'Username');
  await page.keyboard.type(organization.username);
  await tabTo(page, 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await accountButton(page).waitFor();
  await tabTo(page, 'GraphQL');
  await page.keyboard.press('Enter');
  await page.locator('#examples:enabled').waitFor();
  await tabTo(page, 'Examples');
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('button', { name: 'Close Tab' }).first().waitFor();
  await tabTo(page, 'Execute query (Ctrl-Enter)');
  await page.keyboard.press('Enter');
  await page.locator('.graphiql-response').getByText('Lovelace').first().waitFor();
  await tabTo(page, 'Download');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(await readFile(await saved.path(), 'utf8')).toContain('Lovelace');
  await page.context().close();
});

test('an analyst without a mouse gets into an editor and out again', async () => {
  const { page } = await gateway.visit();
  await logIn(page);
  await tabTo(page, 'an editor');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.type('# typed');
  await page.locator('.graphiql-query-editor').getByText('# typed').waitFor();
  // The first Escape closes the list of suggestions if typing has opened one.
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
  await tabTo(page, 'Download');
  await page.context().close();
});
