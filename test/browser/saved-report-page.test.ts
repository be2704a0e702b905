import type { Locator, Page } from 'playwright-core';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';
import { until } from '../support/until';

const NOW = '2024-06-15T12:00:00Z';
const gift = (n: number, date: string, amount: string) =>
  v2Line({
    ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: date, transaction_date: date },
    ...{ amount, net_amount: amount, fee_amount: '0.00', allocation_amount: amount },
  });
const lines = [gift(1, '2024-04-03', '40.00'), gift(2, '2024-05-03', '50.00')];
const gateway = openPlayground({ loggedIn: true, lines });
const MAY = '#reports/designations?period=2024-05-01..2024-05-31';

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

const updateButton = (page: Page): Locator => page.getByRole('button', { name: 'Update', exact: true });
const alert = (page: Page, text: string): Locator => page.getByRole('alert').filter({ hasText: text });
const nextFrame = (page: Page) => page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
const goHome = (page: Page): Promise<void> => page.getByRole('link', { name: 'Deposit Gateway' }).click();

/** Begins the period of the open report with another day, as one who edits the address does. */
async function beginWith(page: Page, day: string, amount: string): Promise<void> {
  await page.evaluate(`location.hash = location.hash.replace(/2024-0\\d-01/, '${day}')`);
  await received(page, amount);
}

/** A colleague saves a report of this name again, beginning with the day if there is one. */
async function saveElsewhere(name: string, day?: string): Promise<void> {
  const { rowCount } = await gateway.database.client.query(
    `UPDATE saved_report SET updated_at = now(), variables = variables || $2::jsonb WHERE name = $1`,
    [name, JSON.stringify(day === undefined ? {} : { startDate: day })],
  );
  expect(rowCount).toBe(1);
}

/** Holds back the first answer to an operation. */
async function holdAnswer(page: Page, operation: string) {
  let release = (): void => undefined;
  let isHeld = false;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/graphql', async (route) => {
    if (isHeld || !(route.request().postData() ?? '').includes(operation)) return route.fallback();
    isHeld = true;
    const response = await route.fetch();
    await released;
    return route.fulfill({ response });
  });
  return { untilHeld: () => until(() => isHeld), release };
}

/** The amounts of a saved report's file. */
async function fileOf(name: string): Promise<string[]> {
  const response = await fetch(`${gateway.url}/reports/${name}.csv`, { headers: { Provision: gateway.organization.apiProvision } });
  expect(response.status).toBe(200);
  const [, ...lines] = (await response.text()).trim().split('\r\n');
  return lines.map((line) => /"(\d+\.\d\d)"/.exec(line)?.[1] ?? line);
}

test('a saved report opens under its title, is marked in the menu, takes changes by Update and another title by Save as', async () => {
  const { page, faults } = await open(MAY);
  await received(page, '50.00');
  await saveAs(page, 'Save', 'Funds for the board');
  await heading(page, 'Funds for the board').waitFor();
  const update = page.getByRole('button', { name: 'Update', exact: true });
  expect([await isMarked(page, 'Funds for the board'), await isMarked(page, 'Funds'), await update.isEnabled()]).toEqual([
    true,
    false,
    false,
  ]);
  await menuItem(page, 'Funds').click();
  await heading(page, 'Funds').waitFor();
  expect([await isMarked(page, 'Funds for the board'), await isMarked(page, 'Funds'), await update.count()]).toEqual([false, true, 0]);
  await menuItem(page, 'Funds for the board').click();
  await page.getByText('Funds. How much did each fund receive?').waitFor();
  // It stays open over a reload, and while its choices change.
  await page.reload();
  await heading(page, 'Funds for the board').waitFor();
  expect(await page.getByText('cannot be read').count()).toBe(0);
  await page.getByRole('button', { name: /Pending deposits$/ }).click();
  await page.getByRole('option', { name: 'left out' }).click();
  await page.evaluate(`location.hash = location.hash.replace('2024-05-01', '2024-04-01')`);
  await received(page, '90.00');
  await page.getByText('Funds. The choices differ from those that were saved.').waitFor();
  await page.screenshot({ path: 'coverage/saved-report.png' });
  expect(await fileOf('funds-for-the-board')).toEqual(['50.00']);
  await update.click();
  await page.getByRole('status').filter({ hasText: 'Updated “Funds for the board”.' }).waitFor();
  await page.getByText('Funds. How much did each fund receive?').waitFor();
  expect([await update.isEnabled(), await fileOf('funds-for-the-board')]).toEqual([false, ['90.00']]);

  await saveAs(page, 'Save as', 'Funds of spring');
  await heading(page, 'Funds of spring').waitFor();
  expect([await isMarked(page, 'Funds of spring'), await isMarked(page, 'Funds for the board')]).toEqual([true, false]);
  expect(await fileOf('funds-of-spring')).toEqual(['90.00']);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('The link is copied.').waitFor();
  const colleague = await open(new URL(await page.evaluate<string>('navigator.clipboard.readText()')).hash);
  await heading(colleague.page, 'Funds of spring').waitFor();
  expect(colleague.faults).toEqual([]);
  await colleague.page.context().close();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst whose colleague has saved the report meanwhile hears so once, and replaces it with the next press', async () => {
  const { page, faults } = await open(MAY);
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
  const { page, faults } = await open(MAY);
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
  ['a report', MAY, 'Funds', 'query Funds'],
])('a failure of %s stands once, and Try again mends it', async (_what, hash, title, operation) => {
  const first = await open(MAY);
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
  await until(async () => (await fault.count()) === 0);
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

test('an analyst never replaces unasked what a colleague saved while the report was open, wherever the analyst was meanwhile', async () => {
  const { page, faults } = await open(MAY);
  await saveAs(page, 'Save', 'Shared');
  const refusal = alert(page, 'shared was saved by ada at');
  const updated = page.getByRole('status').filter({ hasText: 'Updated “Shared”.' });
  const press = async (outcome: Locator): Promise<void> => {
    await until(() => updateButton(page).isEnabled());
    await updateButton(page).click();
    await outcome.waitFor();
  };
  await beginWith(page, '2024-04-01', '90.00');
  await saveElsewhere('shared');
  await goHome(page);
  await page.getByRole('region', { name: 'Saved reports' }).getByRole('link', { name: 'Shared' }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.goBack();
  await received(page, '90.00');
  await press(refusal);
  await press(updated);
  await beginWith(page, '2024-05-01', '50.00');
  await saveElsewhere('shared');
  await page.reload();
  await received(page, '50.00');
  await press(refusal);
  await press(updated);
  // What they saved themselves is no news to them.
  await page.goBack();
  await received(page, '90.00');
  await press(updated);
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  ['is another report', '#reports/deposits?period=2024-05-01..2024-05-31&saved=race', 'Money received', 'race'],
  ['is gone', `${MAY}&saved=never`, 'Funds', 'never'],
])('a link with the name of a saved report that %s opens its choices and says so', async (_what, hash, title, name) => {
  const { page, faults } = await open(MAY);
  await saveAs(page, 'Save', 'Race').catch(() => undefined);
  await page.goto(`${gateway.url}/playground#reports`);
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await alert(page, `The saved report “${name}” is gone, or its name is that of another report now.`).waitFor();
  await heading(page, title).waitFor();
  await received(page, '50.00');
  expect([await updateButton(page).count(), await page.evaluate('location.hash')]).toEqual([0, hash.replace(/.saved=.*/, '')]);
  await beginWith(page, '2024-04-01', '90.00');
  expect(await page.getByText('is gone').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an answer that comes late leaves the analyst where they went meanwhile', async () => {
  const { page, faults } = await open(MAY);
  await saveAs(page, 'Save', 'Slow');
  await beginWith(page, '2024-04-01', '90.00');
  const saving = await holdAnswer(page, 'mutation SaveReport');
  await updateButton(page).click();
  await saving.untilHeld();
  await menuItem(page, 'Money received').click();
  await heading(page, 'Money received').waitFor();
  const [steps, address] = [await page.evaluate('history.length'), await page.evaluate('location.hash')];
  const listed = page.waitForResponse((response) => (response.request().postData() ?? '').includes('query SavedReports'));
  saving.release();
  await listed;
  await nextFrame(page);
  expect([await page.evaluate('history.length'), await page.evaluate('location.hash')]).toEqual([steps, address]);
  await page.goBack();
  await heading(page, 'Slow').waitFor();
  await received(page, '90.00');
  await page.getByText('Funds. How much did each fund receive?').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a saved report opens as it is now, from the menu and from the list, and is one step of the history', async () => {
  const { page, faults } = await open(MAY);
  await saveAs(page, 'Save', 'Fresh');
  await menuItem(page, 'Funds').click();
  await heading(page, 'Funds').waitFor();
  await saveElsewhere('fresh', '2024-04-01');
  await menuItem(page, 'Fresh').click();
  await heading(page, 'Fresh').waitFor();
  await received(page, '90.00');
  const steps = await page.evaluate('history.length');
  await menuItem(page, 'Fresh').click();
  await received(page, '90.00');
  expect(await page.evaluate('history.length')).toBe(steps);
  await page.goBack();
  await heading(page, 'Funds').waitFor();
  await menuItem(page, 'All saved reports').click();
  const button = page.getByRole('button', { name: 'Open fresh' });
  await button.waitFor();
  await saveElsewhere('fresh', '2024-05-01');
  await button.click();
  await heading(page, 'Fresh').waitFor();
  await received(page, '50.00');
  expect(await isMarked(page, 'Fresh')).toBe(true);
  await page.goBack();
  await heading(page, 'Saved reports').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a list of saved reports that comes late does not bring back what was deleted', async () => {
  const { page, faults } = await open(MAY);
  await saveAs(page, 'Save', 'Overtaken');
  const listing = await holdAnswer(page, 'query SavedReports');
  await goHome(page);
  await listing.untilHeld();
  await menuItem(page, 'All saved reports').click();
  await page.getByRole('button', { name: 'Delete Overtaken' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('status').filter({ hasText: 'Deleted “Overtaken”.' }).waitFor();
  expect(await menuItem(page, 'Overtaken').count()).toBe(0);
  const listed = page.waitForResponse((response) => (response.request().postData() ?? '').includes('query SavedReports'));
  listing.release();
  await listed;
  await nextFrame(page);
  expect(await menuItem(page, 'Overtaken').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst reads why Update failed until they go on, also when the report was deleted', async () => {
  const { page, faults } = await open(MAY);
  await saveAs(page, 'Save', 'Doomed');
  await beginWith(page, '2024-04-01', '90.00');
  await gateway.database.client.query(`DELETE FROM saved_report WHERE name = 'doomed'`);
  await updateButton(page).click();
  await heading(page, 'Funds').waitFor();
  await nextFrame(page);
  const fault = alert(page, 'there is no doomed');
  expect(await fault.count()).toBe(1);
  expect([await updateButton(page).count(), await page.evaluate('location.hash')]).toEqual([0, MAY.replace('05', '04')]);
  await beginWith(page, '2024-05-01', '50.00');
  expect(await fault.count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a list that cannot be read says why, and the page asks who is logged in', async () => {
  const { page } = await open('#reports');
  await page.route('**/graphql', (route) =>
    (route.request().postData() ?? '').includes('query SavedReports') ? route.abort() : route.fallback(),
  );
  const asked = page.waitForRequest((request) => (request.postData() ?? '').includes('query Viewer'));
  await goHome(page);
  await alert(page, 'The saved reports could not be read. The gateway cannot be reached.').waitFor();
  await asked;
  await page.context().close();
});

test('the titles of saved reports leave the page with the right to read them', async () => {
  const as = await createOrganization(gateway.services);
  await importLines(gateway.services, as, lines);
  const { page, faults } = await open(MAY, as);
  await saveAs(page, 'Save', 'Hidden');
  await heading(page, 'Hidden').waitFor();
  await gateway.services.users.changeGrants(as.name, as.username, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
  await menuItem(page, 'All saved reports').waitFor({ state: 'detached' });
  await heading(page, 'Funds').waitFor();
  await goHome(page);
  await page.getByText('Saved reports may show donors, which you may not read.').waitFor();
  expect(await page.getByText('Hidden').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});
