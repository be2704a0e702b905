import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { accountButton, execute, logIn, openPlayground, pasteInto } from '../support/playground-browser';
import { until } from '../support/until';

const gateway = openPlayground({ lines: [v2Line()] });

const QUERY = `query Mine { depositSummary(startDate: "2024-01-01", endDate: "2024-12-31", groupBy: [DESIGNATION]) {
  groups(first: 1000) { nodes { key { month designation } all { lines byTransaction { amount } } } }
} }`;
const chart = (page: Page) =>
  page.getByRole('img', { name: 'Bar chart of all.byTransaction.amount by fund: General Fund has the most, 10.50.' });
const editor = (page: Page) => page.locator('.graphiql-query-editor').getByText('query Mine');

async function open(): Promise<Page> {
  const { page } = await gateway.visit();
  await logIn(page);
  await pasteInto(page, 'query', QUERY);
  await execute(page);
  await page.locator('.graphiql-response').getByText('General Fund').waitFor();
  // GraphiQL stores the editors' texts a moment after they change.
  await until(() => page.evaluate<boolean>(`localStorage.getItem('graphiql:tabState').includes('query Mine')`));
  return page;
}

/** Makes a function of the browser throw, so that the part of the page that calls it meets a fault. */
const breakDown = (page: Page, method: string): Promise<void> =>
  page.evaluate(`{ window.whole = ${method}; ${method} = () => { throw new Error('it broke'); }; }`);
const mend = (page: Page, method: string): Promise<void> => page.evaluate(`{ ${method} = window.whole; }`);

describe('an analyst', () => {
  test('logs in before the editors have come, and gets them without another step', async () => {
    const page = await gateway.newPage();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/graphql-page-.*\.js/, async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${gateway.url}/playground#graphql`);
    await page.getByLabel('Provision').fill(gateway.organization.webProvision);
    await logIn(page);
    await page.getByText('Loading…').waitFor();
    expect(await page.locator('.graphiql-container').count()).toBe(0);
    release();
    await page.locator('.graphiql-query-editor').getByText('query DepositDetails').waitFor();
    expect(await page.getByText('Loading…').count()).toBe(0);
    await page.context().close();
  });

  test('whose chart meets a fault keeps query, answer and table, and tries again', async () => {
    const page = await open();
    await breakDown(page, 'Document.prototype.createElementNS');
    await page.getByRole('button', { name: 'Chart' }).click();
    const alert = page
      .getByRole('alert')
      .filter({ hasText: 'These results cannot be shown because of a fault of this page. Your queries are kept.' });
    await alert.getByText('it broke').waitFor();
    await editor(page).waitFor();
    await page.locator('.graphiql-response').getByText('General Fund').waitFor();
    await page.screenshot({ path: 'coverage/playground-broken-chart.png' });
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('cell', { name: 'General Fund' }).waitFor();
    await page.getByRole('button', { name: 'Chart' }).click();
    await alert.waitFor();
    await mend(page, 'Document.prototype.createElementNS');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await chart(page).waitFor();
    await page.context().close();
  });

  test('closes results that meet a fault', async () => {
    const page = await open();
    await breakDown(page, 'Document.prototype.createElementNS');
    await page.getByRole('button', { name: 'Chart' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'These results cannot be shown' });
    await alert.getByRole('button', { name: 'Close' }).click();
    await alert.waitFor({ state: 'detached' });
    await editor(page).waitFor();
    await page.context().close();
  });

  test('whose other mode cannot be loaded keeps the first one, and reloads the page without another login', async () => {
    const page = await open();
    await page.route(/reports-page-.*\.js/, (route) => route.abort());
    await page.getByRole('button', { name: 'Reports', exact: true }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The mode Reports cannot be shown because of a fault of this page.' });
    await alert.waitFor();
    await page.screenshot({ path: 'coverage/playground-broken-mode.png' });
    await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
    await editor(page).waitFor();
    await page.locator('.graphiql-response').getByText('General Fund').waitFor();
    await page.unroute(/reports-page-.*\.js/);
    await page.getByRole('button', { name: 'Reports', exact: true }).click();
    await alert.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
    await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
    await editor(page).waitFor();
    await page.context().close();
  });

  test.each(['Try again', 'Reload the page'])('whose page meets a fault gets it back with query and login: %s', async (way) => {
    const page = await open();
    await breakDown(page, 'Date.prototype.toLocaleTimeString');
    await page.getByRole('button', { name: 'Reports', exact: true }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: 'The reports and the editors cannot be shown because of a fault of this page.' })
      .waitFor();
    await page.screenshot({ path: 'coverage/playground-broken-page.png' });
    await mend(page, 'Date.prototype.toLocaleTimeString');
    await page.getByRole('button', { name: way }).click();
    await accountButton(page).waitFor();
    await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
    await editor(page).waitFor();
    await page.getByRole('button', { name: 'Chart' }).click();
    await execute(page);
    await chart(page).waitFor();
    await page.context().close();
  });

  test('opens the page by an address whose name of a saved report cannot be read', async () => {
    const { page, faults } = await gateway.visit({ hash: '#saved/%zz' });
    await logIn(page);
    await page.getByRole('heading', { name: 'The books today' }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('opens the page though what it kept cannot be read any more', async () => {
    const page = await open();
    await page.evaluate(`addEventListener('pagehide', () => localStorage.setItem('graphiql:tabState', '{"tabs'))`);
    await page.reload();
    await page.locator('.graphiql-query-editor').getByText('query DepositDetails').waitFor();
    await page.context().close();
  });
});
