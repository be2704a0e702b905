import { createOrganization, PASSWORD, v2Line } from '../support/gateway';
import { accountButton, execute, logIn, logOut, openPlayground } from '../support/playground-browser';

const gateway = openPlayground({ lines: [v2Line({ deposit_date: new Date().toISOString().slice(0, 10) })] });

describe('an analyst whose session has ended', () => {
  test.each(['Execute', 'Download'] as const)('is told so, sees no row any more, and may log in again: %s', async (action) => {
    const { page } = await gateway.visit();
    await logIn(page);
    await page.getByRole('button', { name: 'Table' }).click();
    await execute(page);
    await page.getByRole('cell', { name: 'Lovelace' }).waitFor();
    await gateway.database.client.query('DELETE FROM session');
    if (action === 'Execute') await execute(page);
    else await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Your session has ended. Log in again.' }).waitFor();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await page.locator('body').textContent()).not.toContain('Lovelace');
    await logIn(page);
    // The mode is that of before, and it holds nothing of the session that ended.
    expect(await page.getByRole('button', { name: 'GraphQL', exact: true }).getAttribute('aria-current')).toBe('page');
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByText('No rows yet').waitFor();
    expect(await page.getByRole('cell').count()).toBe(0);
    expect(await page.locator('.graphiql-response .view-lines').textContent()).toBe('');
    await execute(page);
    await page.getByRole('cell', { name: 'Lovelace' }).waitFor();
    await page.context().close();
  });

  test('in a report sees nothing of it before the next login, and another user’s login shows nothing of it either', async () => {
    const { page } = await gateway.visit({ hash: '#reports/designations?period=all-time' });
    await logIn(page);
    const fund = page.getByRole('cell', { name: 'General Fund' });
    const end = async (): Promise<void> => {
      await fund.waitFor();
      await gateway.database.client.query('DELETE FROM session');
      await page.getByRole('button', { name: 'Run again' }).click();
      await page.getByRole('alert').filter({ hasText: 'Your session has ended. Log in again.' }).waitFor();
      expect(await page.locator('body').textContent()).not.toContain('General Fund');
    };
    await end();
    await logIn(page);
    await end();
    const other = await createOrganization(gateway.services);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Provision').fill(other.webProvision);
    await logIn(page);
    await page.getByRole('heading', { name: 'Funds' }).waitFor();
    await page.getByText('Nothing came in that fits these choices.').waitFor();
    expect(await page.locator('#app').textContent()).not.toContain('General Fund');
    await page.context().close();
  });
});

test('an analyst with two tabs sees no row in either after a logout in one', async () => {
  const { page } = await gateway.visit({ hash: '#reports/designations?period=all-time' });
  await logIn(page);
  const other = await page.context().newPage();
  await other.goto(`${gateway.url}/playground#reports/designations?period=all-time`);
  await other.getByRole('cell', { name: 'General Fund' }).waitFor();
  await logOut(page);
  await other.getByRole('button', { name: 'Log in' }).waitFor();
  expect(await other.locator('body').textContent()).not.toContain('General Fund');
  await page.context().close();
});

test('an analyst who cancels a download is told that nothing was saved', async () => {
  const { page, faults } = await gateway.visit();
  await logIn(page);
  const saved: string[] = [];
  page.on('download', (file) => saved.push(file.suggestedFilename()));
  // The answer never comes.
  await page.route('**/export/deposit-details.csv*', () => undefined);
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alert').filter({ hasText: 'The download was cancelled. Nothing was saved.' }).waitFor();
  await page.getByRole('button', { name: 'Download', exact: true }).waitFor();
  expect([saved, faults]).toEqual([[], []]);
  await page.context().close();
});

test('an analyst who opens the page again sees nothing before it knows who is logged in, and then logs in by Enter', async () => {
  const { page } = await gateway.visit();
  await logIn(page);
  await gateway.database.client.query('DELETE FROM session');
  let answer!: () => void;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const isViewer = (text: string | null): boolean => text?.includes('query Viewer') ?? false;
  await page.route('**/graphql', async (route) => {
    if (isViewer(route.request().postData())) await answered;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => isViewer(request.postData()));
  await page.reload();
  await asked;
  expect(await page.locator('#app').textContent()).toBe('');
  answer();
  await page.getByLabel('Username').fill(gateway.organization.username);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByLabel('Password').press('Enter');
  await accountButton(page).waitFor();
  await page.locator('.graphiql-query-editor').getByText('query DepositDetails').waitFor();
  await page.context().close();
});
