import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';

const gateway = openPlayground({ lines: [v2Line({ deposit_date: '2024-05-03' })] });
const ADVICE = 'The page is older than the gateway, or its worker has failed. Reload the page.';

/** Opens a report on a page for which a script of the build is gone, as after an update of the gateway. */
async function openWithout(script: string): Promise<Page> {
  const { page } = await gateway.visit({ hash: '#reports/designations?period=all-time' });
  await page.context().route(`**/assets/${script}-*.js`, (route) => route.fulfill({ status: 404, body: '' }));
  await logIn(page);
  return page;
}

test('an analyst whose page cannot start its worker is told so, and reads on after a reload', async () => {
  const page = await openWithout('table-worker');
  await page.getByRole('alert').filter({ hasText: ADVICE }).waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('alert').filter({ hasText: ADVICE }).waitFor();
  await page.context().unroute('**/assets/table-worker-*.js');
  await page.reload();
  await page.getByRole('cell', { name: 'General Fund' }).waitFor();
  await page.context().close();
});

test('an analyst whose worker dies is told so, and reads on when the report runs again', async () => {
  const { page } = await gateway.visit({ hash: '#reports/designations?period=all-time' });
  // A worker that fails by itself is a rare thing, so this one throws at a word.
  await page.addInitScript(`{
    const Real = Worker;
    globalThis.Worker = class extends Real { constructor(...options) { super(...options); globalThis.lastWorker = this; } };
  }`);
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = true;
  await page.route('**/graphql', async (route) => {
    if (isHeld && route.request().postData()?.includes('depositSummary')) await released;
    await route.continue();
  });
  await page.reload();
  await page.getByLabel('Provision').fill(gateway.organization.webProvision);
  await logIn(page);
  await page.getByText('Reading…').waitFor();
  await page.evaluate(`globalThis.lastWorker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' }))`);
  await page.getByRole('alert').filter({ hasText: ADVICE }).waitFor();
  isHeld = false;
  release();
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('cell', { name: 'General Fund' }).waitFor();
  await page.context().close();
});

test('an analyst whose page cannot load the writer of files is told so', async () => {
  const page = await openWithout('file-writer');
  await page.getByRole('cell', { name: 'General Fund' }).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Download' }).click();
  await dialog.getByRole('alert').filter({ hasText: ADVICE }).waitFor();
  await page.context().close();
});
