import type { Locator, Page } from 'playwright-core';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';
import { until } from '../support/until';

const NOW = '2024-06-15T12:00:00Z';
const gift = (n: number, date: string, amount: string) =>
  v2Line({
    ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: date, transaction_date: date },
    ...{ amount, net_amount: amount, fee_amount: '0.00', allocation_amount: amount },
  });
const gateway = openPlayground({ loggedIn: true, lines: [gift(1, '2024-04-03', '40.00'), gift(2, '2024-05-03', '50.00')] });

async function open(hash: string, as = gateway.organization): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const opened = await gateway.visit({ hash, as, now: NOW, locale: 'en-US' });
  await logIn(opened.page);
  return opened;
}

const heading = (page: Page, name: string): Locator => page.getByRole('heading', { name, exact: true });
const menuItem = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Reports' }).getByRole('button', { name, exact: true });
const isMarked = async (page: Page, name: string): Promise<boolean> => (await menuItem(page, name).getAttribute('aria-current')) === 'page';
const received = (page: Page, amount: string): Promise<void> => page.locator('.card').first().getByText(amount, { exact: true }).waitFor();

async function saveAs(page: Page, button: 'Save' | 'Save as', title: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Save the report' });
  await dialog.getByLabel('Title').fill(title);
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText(/^Saved as/).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** The amounts of a saved report's file. */
async function fileOf(name: string): Promise<string[]> {
  const response = await fetch(`${gateway.url}/reports/${name}.csv`, { headers: { Provision: gateway.organization.apiProvision } });
  expect(response.status).toBe(200);
  const [, ...lines] = (await response.text()).trim().split('\r\n');
  return lines.map((line) => /"(\d+\.\d\d)"/.exec(line)?.[1] ?? line);
}

test('a saved report opens under its title, is marked in the menu, takes changes by Update and another title by Save as', async () => {
  const { page, faults } = await open('#reports/designations?period=2024-05-01..2024-05-31');
  await received(page, '50.00');
  await saveAs(page, 'Save', 'Funds for the board');
  await heading(page, 'Funds for the board').waitFor();
  const update = page.getByRole('button', { name: 'Update', exact: true });
  expect([await isMarked(page, 'Funds for the board'), await isMarked(page, 'Designations'), await update.isEnabled()]).toEqual([
    true,
    false,
    false,
  ]);
  await menuItem(page, 'Designations').click();
  await heading(page, 'Designations').waitFor();
  expect([await isMarked(page, 'Funds for the board'), await isMarked(page, 'Designations'), await update.count()]).toEqual([
    false,
    true,
    0,
  ]);
  await menuItem(page, 'Funds for the board').click();
  await page.getByText('Designations. How much did each fund receive?').waitFor();
  // It stays open over a reload, and while its choices change.
  await page.reload();
  await heading(page, 'Funds for the board').waitFor();
  expect(await page.getByText('cannot be read').count()).toBe(0);
  await page.getByRole('button', { name: /Pending deposits$/ }).click();
  await page.getByRole('option', { name: 'left out' }).click();
  await page.evaluate(`location.hash = location.hash.replace('2024-05-01', '2024-04-01')`);
  await received(page, '90.00');
  await page.getByText('Designations. The choices differ from those that were saved.').waitFor();
  await page.screenshot({ path: 'coverage/saved-report.png' });
  expect(await fileOf('funds-for-the-board')).toEqual(['50.00']);
  await update.click();
  await page.getByRole('status').filter({ hasText: 'Updated “Funds for the board”.' }).waitFor();
  await page.getByText('Designations. How much did each fund receive?').waitFor();
  expect([await update.isEnabled(), await fileOf('funds-for-the-board')]).toEqual([false, ['90.00']]);

  await saveAs(page, 'Save as', 'Funds of spring');
  await heading(page, 'Funds of spring').waitFor();
  expect([await isMarked(page, 'Funds of spring'), await isMarked(page, 'Funds for the board')]).toEqual([true, false]);
  expect(await fileOf('funds-of-spring')).toEqual(['90.00']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst whose colleague has saved the report meanwhile hears so once, and replaces it with the next press', async () => {
  const { page, faults } = await open('#reports/designations?period=2024-05-01..2024-05-31');
  await saveAs(page, 'Save', 'Everybody’s');
  await page.evaluate(`location.hash = location.hash.replace('2024-05-01', '2024-04-01')`);
  await received(page, '90.00');
  await gateway.database.client.query(`UPDATE saved_report SET updated_at = now() WHERE name = 'everybodys' OR title LIKE 'Everybody%'`);
  const update = page.getByRole('button', { name: 'Update', exact: true });
  await update.click();
  await page.getByRole('alert').filter({ hasText: 'was saved by ada at' }).waitFor();
  expect(await page.getByText('was saved by ada at').count()).toBe(1);
  await until(() => update.isEnabled());
  await update.click();
  await page.getByRole('status').filter({ hasText: 'Updated “Everybody’s”.' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('deleting names the title, in red', async () => {
  const { page, faults } = await open('#reports/designations?period=2024-05-01..2024-05-31');
  await saveAs(page, 'Save', 'Gone soon');
  await menuItem(page, 'All saved reports').click();
  await page.getByRole('button', { name: 'Delete Gone soon' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete “Gone soon”?' });
  const button = question.getByRole('button', { name: 'Delete' });
  await page.screenshot({ path: 'coverage/saved-report-delete.png' });
  expect(await page.evaluate(`getComputedStyle(document.querySelector('[role=alertdialog] .danger-button')).backgroundColor`)).toBe(
    'rgb(179, 38, 30)',
  );
  await button.click();
  await page.getByRole('status').filter({ hasText: 'Deleted “Gone soon”.' }).waitFor();
  expect(await menuItem(page, 'Gone soon').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  ['the list of all', '#saved/', 'Saved reports', 'query SavedReports'],
  ['the one of a link', '#saved/lasting', 'Lasting', 'query SavedReports'],
  ['a report', '#reports/designations?period=2024-05-01..2024-05-31', 'Designations', 'query Designations'],
])('a failure of %s stands once, and Try again mends it', async (_what, hash, title, operation) => {
  const first = await open('#reports/designations?period=2024-05-01..2024-05-31');
  await saveAs(first.page, 'Save', 'Lasting').catch(() => undefined);
  await first.page.context().close();
  const { page } = await open('#reports');
  let isBroken = true;
  // The gateway is away: nobody hears who is logged in either.
  await page.route('**/graphql', (route) => {
    const text = route.request().postData() ?? '';
    return isBroken && (text.includes(operation) || text.includes('query Viewer')) ? route.abort() : route.continue();
  });
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  const fault = page.getByText(/The gateway cannot be reached|could not be read/).filter({ visible: true });
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  // The bar and the menu would tell of it a moment later.
  await page.waitForLoadState('networkidle');
  expect([await fault.count(), await page.getByRole('alert').filter({ hasText: /\S/ }).count()]).toEqual([1, 1]);
  isBroken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await heading(page, title).waitFor();
  await page
    .getByText(title === 'Saved reports' ? '/reports/lasting.csv' : /^One row is/)
    .first()
    .waitFor();
  expect(await fault.count()).toBe(0);
  await page.context().close();
});

test('a person who may read totals only hears whom to ask for a saved report', async () => {
  const as = await createOrganization(gateway.services);
  await gateway.services.users.changeGrants(as.name, as.username, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  const { page, faults } = await open('#saved/lasting', as);
  await page
    .getByRole('alert')
    .filter({ hasText: 'You may not read this, because it shows donors. Ask your administrator for the right.' })
    .waitFor();
  expect(await page.getByText('Ask your administrator').count()).toBe(1);
  expect(faults).toEqual([]);
  await page.context().close();
});
