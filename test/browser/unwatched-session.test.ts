import type { Page } from 'playwright-core';
import { createOrganization, v2Line } from '../support/gateway';
import { accountButton, execute, logIn, openPlayground } from '../support/playground-browser';

const gateway = openPlayground({ lines: [v2Line({ deposit_date: new Date().toISOString().slice(0, 10) })] });
const REPORT = '#reports/designations?period=all-time';

const fund = (page: Page) => page.getByRole('cell', { name: 'General Fund' });

/** Waits until the page asks for a login, and holds no row. */
async function untilGone(page: Page, message: string): Promise<void> {
  await page.getByRole('alert').filter({ hasText: message }).waitFor();
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  expect(await accountButton(page).count()).toBe(0);
  expect(await page.locator('body').textContent()).not.toContain('General Fund');
}

/** Opens a report on a page whose timers follow a clock that the test puts forward. */
async function openReport(): Promise<Page> {
  const { page } = await gateway.visit({ hash: REPORT });
  await page.clock.install();
  await logIn(page);
  await fund(page).waitFor();
  return page;
}

const ENDED = 'Your session has ended. Log in again.';
const endSession = () => gateway.database.client.query('DELETE FROM session');

test('an analyst sees no row of the first organization after a login for another one in another tab', async () => {
  const other = await createOrganization(gateway.services);
  const { page } = await gateway.visit({ hash: REPORT });
  await logIn(page);
  await fund(page).waitFor();
  const second = await page.context().newPage();
  await second.goto(`${gateway.url}/playground${REPORT}`);
  await second.evaluate(`sessionStorage.setItem('deposit-gateway.provision', ${JSON.stringify(other.webProvision)})`);
  await second.reload();
  await logIn(second);
  await untilGone(page, 'You are logged in under another Provision. Log in again to use this one.');
  // The login of the second tab stays.
  await second.getByText('Nothing came in that fits these choices.').waitFor();
  await page.context().close();
});

describe('an analyst who leaves the page alone', () => {
  test('sees no row after half an hour, though the window keeps its focus', async () => {
    const page = await openReport();
    await endSession();
    await page.clock.fastForward('31:00');
    await untilGone(page, ENDED);
    await page.context().close();
  });

  test('sees no row after half an hour without network, whatever has the focus', async () => {
    const page = await openReport();
    await page.context().setOffline(true);
    await page.clock.fastForward('31:00');
    await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
    await untilGone(page, ENDED);
    await page.context().close();
  });

  test('sees no row as soon as another tab finds nobody logged in', async () => {
    const page = await openReport();
    await endSession();
    const second = await page.context().newPage();
    await second.goto(`${gateway.url}/playground${REPORT}`);
    await untilGone(page, ENDED);
    await page.context().close();
  });

  test('sees no row when the session has reached its latest end', async () => {
    const page = await openReport();
    await gateway.database.client.query(`UPDATE session SET expires_at = now() + interval '10 minutes'`);
    // The page learns of the end when it asks who is logged in.
    const asked = page.waitForResponse((response) => response.request().postData()?.includes('query Viewer') ?? false);
    await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
    await (await asked).finished();
    await page.clock.fastForward('08:00');
    await page.getByRole('button', { name: 'Run again' }).click();
    await fund(page).waitFor();
    await endSession();
    await page.clock.fastForward('03:00');
    await untilGone(page, ENDED);
    await page.context().close();
  });

  test.each(['this tab', 'another tab'])('keeps the rows for half an hour more after a request of %s', async (where) => {
    const page = await openReport();
    let asking = page;
    if (where === 'another tab') {
      asking = await page.context().newPage();
      await asking.goto(`${gateway.url}/playground${REPORT}`);
      await fund(asking).waitFor();
    }
    const viewers: string[] = [];
    page.on('request', (request) => {
      if (request.postData()?.includes('query Viewer')) viewers.push('asked');
    });
    await page.clock.fastForward('20:00');
    const answered = asking.waitForResponse(`${gateway.url}/graphql`);
    await asking.getByRole('button', { name: 'Run again' }).click();
    await (await answered).finished();
    await fund(asking).waitFor();
    await page.clock.fastForward('20:00');
    expect([await fund(page).count(), viewers]).toEqual([1, []]);
    await endSession();
    await page.clock.fastForward('11:00');
    await untilGone(page, ENDED);
    await page.context().close();
  });
});

describe('an analyst learns that the session has ended from', () => {
  const open = async (): Promise<Page> => {
    const { page } = await gateway.visit({ hash: REPORT });
    await logIn(page);
    await fund(page).waitFor();
    return page;
  };

  test('the list of saved reports', async () => {
    const page = await open();
    await endSession();
    await page.getByRole('button', { name: 'All saved reports' }).click();
    await untilGone(page, ENDED);
    await page.context().close();
  });

  test('the copy of an address', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Download' }).click();
    await endSession();
    await page.getByRole('button', { name: 'Copy curl command' }).click();
    await untilGone(page, ENDED);
    await page.context().close();
  });

  test('a search for a donor', async () => {
    const { page } = await gateway.visit({ hash: '#reports/donor?period=all-time' });
    await logIn(page);
    await page.getByRole('combobox', { name: 'Donor' }).waitFor();
    await endSession();
    await page.getByRole('combobox', { name: 'Donor' }).fill('love');
    await untilGone(page, ENDED);
    await page.context().close();
  });

  test('saving a query, and the totals of an answer', async () => {
    const { page } = await gateway.visit();
    await logIn(page);
    await execute(page);
    await page.getByRole('region', { name: 'Totals of all lines' }).waitFor();
    await endSession();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await untilGone(page, ENDED);
    await logIn(page);
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('withTotals') ?? false) await endSession();
      await route.continue();
    });
    await execute(page);
    await untilGone(page, ENDED);
    await page.context().close();
  });
});
