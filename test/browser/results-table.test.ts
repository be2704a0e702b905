import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { execute, logIn, logOut, openPlayground, pasteInto, type OpenPage } from '../support/playground-browser';

const gateway = openPlayground({
  lines: ['9.00', '10.00', '100.00'].map((amount, n) =>
    v2Line({ amount, fee_amount: '0.00', net_amount: amount, transaction_id: `T${n}`, allocation_id: `A${n}` }),
  ),
});

const linesOf = (fields: string): string => `query Lines { depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { ${fields} } }`;
const cells = (page: Page): Promise<string[]> => page.getByRole('cell').allTextContents();
const totals = (page: Page) => page.getByRole('region', { name: 'Totals of all lines' });

async function openTable(query: string): Promise<OpenPage> {
  const opened = await gateway.visit();
  await logIn(opened.page);
  await opened.page.getByRole('button', { name: 'Table' }).click();
  await pasteInto(opened.page, 'query', query);
  await execute(opened.page);
  await opened.page.getByRole('table').waitFor();
  return opened;
}

test('an analyst’s sorting is of the column as the newest answer has it', async () => {
  const { page, faults } = await openTable(linesOf('x: amount'));
  await page.getByRole('button', { name: 'x', exact: true }).click();
  expect(await cells(page)).toEqual(['100.00', '10.00', '9.00']);
  await pasteInto(page, 'query', linesOf('x: donorLastName'));
  await execute(page);
  await page.getByRole('cell', { name: 'Lovelace' }).first().waitFor();
  await pasteInto(page, 'query', linesOf('x: amount'));
  await execute(page);
  await page.getByRole('cell', { name: '9.00' }).waitFor();
  expect(await cells(page)).toEqual(['100.00', '10.00', '9.00']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst sees rows and totals of the tab that is shown, and of no other', async () => {
  const { page, faults } = await openTable(linesOf('amount'));
  await totals(page).waitFor();
  await page.getByRole('button', { name: 'New tab' }).click();
  await page.getByText('No rows yet').waitFor();
  await totals(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Lines', exact: true }).click();
  await page.getByRole('cell', { name: '9.00' }).waitFor();
  await totals(page).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst is left with no rows of an earlier query when the next one fails or is stopped', async () => {
  const { page } = await openTable(linesOf('amount'));
  await page.context().setOffline(true);
  await execute(page);
  await page.getByText('No rows yet').waitFor();
  await page.context().setOffline(false);

  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/graphql', async (route) => {
    if (route.request().postData()?.includes('late: amount')) await held;
    // A request that the page has given up cannot go on.
    await route.continue().catch(() => undefined);
  });
  await pasteInto(page, 'query', linesOf('late: amount'));
  await execute(page);
  const stopped = page.waitForEvent('requestfailed');
  await page.getByRole('button', { name: /Stop query/ }).click();
  expect((await stopped).postData()).toContain('late: amount');
  await pasteInto(page, 'query', linesOf('newest: amount'));
  await execute(page);
  await page.getByRole('columnheader', { name: 'newest' }).waitFor();
  release();
  await page.waitForFunction('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))');
  expect(await page.getByRole('columnheader').allTextContents()).toEqual(['newest']);
  await page.context().close();
});

test('an analyst who logs in again sees nothing of the session before', async () => {
  const { page } = await openTable(linesOf('donorLastName'));
  await logOut(page);
  expect(await page.locator('body').textContent()).not.toContain('Lovelace');
  await logIn(page);
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByText('No rows yet').waitFor();
  expect(await cells(page)).toEqual([]);
  expect(await totals(page).count()).toBe(0);
  await page.context().close();
});

test('an analyst is told when totals cannot be added up', async () => {
  const { page } = await openTable(linesOf('amount'));
  await page.route('**/graphql', (route) =>
    route.request().postData()?.includes('reportFile') ? route.fulfill({ status: 503, body: 'busy' }) : route.continue(),
  );
  await execute(page);
  await page.getByRole('alert').filter({ hasText: 'The totals could not be added up' }).waitFor();
  await page.context().close();
});

test('an analyst finds lists inside rows as tables of their own', async () => {
  const { page, faults } = await openTable(
    `{ deposits { nodes { depositId transactions { nodes { transactionId amount donor { donorId } allocations { edges { node { allocationId amount } } } } } } } }`,
  );
  const list = page.getByLabel('List');
  expect(await list.locator('option').allTextContents()).toEqual([
    'deposits.nodes',
    'deposits.nodes.transactions.nodes',
    'deposits.nodes.transactions.nodes.allocations.edges',
  ]);
  await list.selectOption('deposits.nodes.transactions.nodes.allocations.edges');
  expect(await page.getByRole('columnheader').allTextContents()).toEqual([
    'of deposits.nodes.transactions.nodes',
    'allocationId',
    'amount',
  ]);
  expect(await cells(page)).toEqual(['T0', 'A0', '9.00', 'T1', 'A1', '10.00', 'T2', 'A2', '100.00']);
  expect(faults).toEqual([]);
  await page.context().close();
});
