import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { CLOSE_PRIVILEGE } from '../../src/values/privileges';
import { runCommand } from '../support/command';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';

const NOW = '2024-06-15T12:00:00Z';
const MAY = 'period=2024-05-01..2024-05-31';
const gift = (id: string, amount: string, more: object = {}) =>
  v2Line({
    ...{ deposit_id: `D${id}`, transaction_id: `T${id}`, allocation_id: `A${id}`, donor_id: Number(id) },
    ...{ transaction_date: '2024-05-02', deposit_date: '2024-05-03' },
    ...{ amount, net_amount: amount, allocation_amount: amount, fee_amount: '0.00' },
    ...more,
  });
const BOOKED = [gift('1', '216717.82'), gift('2', '100.00'), gift('3', '50.00')];
const gateway = openPlayground({ loggedIn: true });
const directory = mkdtempSync(join(tmpdir(), 'gateway-month-end-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** An organization whose books have three gifts of May, and whose user may close months. */
async function book() {
  const organization = await createOrganization(gateway.services);
  const { name, username } = organization;
  await gateway.services.users.changeGrants(name, username, { verb: 'grant', privileges: [CLOSE_PRIVILEGE] });
  await importLines(gateway.services, organization, BOOKED);
  return organization;
}

/** Downloads what is on the screen, or the gateway's own file of the lines, and resolves to the path of the file. */
async function download(page: Page, columns?: RegExp): Promise<string> {
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  if (columns) await dialog.getByRole('radio', { name: columns }).check({ force: true });
  await dialog.getByRole('radio', { name: /CSV/ }).check({ force: true });
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  const path = join(directory, saved.suggestedFilename());
  await saved.saveAs(path);
  await page.keyboard.press('Escape');
  return path;
}

test('a finance person ends a month: takes the report, closes it, finds the late gift, and has the old file proven', async () => {
  const organization = await book();
  const { page, faults } = await gateway.visit({ as: organization, hash: `#reports/gifts?${MAY}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByText('3 rows', { exact: true }).waitFor();
  const file = await download(page, /^All fields/);

  await page.getByRole('button', { name: 'Close months…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Nothing is closed yet.').waitFor();
  expect(await dialog.getByLabel('Last day to close').inputValue()).toBe('2024-05-31');
  await dialog.getByLabel('Note').fill('Journal 118');
  await dialog.getByRole('button', { name: 'Close the months' }).click();
  await dialog.getByText('The books are closed through May 31, 2024.').waitFor();
  expect(await dialog.getByRole('table', { name: 'Closed months' }).getByRole('row').allInnerTexts()).toEqual([
    'Days\tGifts\tReceived',
    'May 3, 2024 – May 31, 2024\t3\t216,867.82',
  ]);
  await dialog.getByRole('button', { name: 'Done' }).click();

  const late = [gift('9', '150.00')];
  await expect(importLines(gateway.services, organization, late)).rejects.toMatchObject({ code: 'PERIOD_CLOSED' });
  await importLines(gateway.services, organization, late, { acceptsLate: true });
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByText('1 late gift of 150.00: new or changed since its month was closed.').waitFor();
  await page.getByRole('button', { name: 'See what changed' }).click();
  const bridge = page.getByRole('table', { name: 'From the earlier figures to the later ones' });
  await bridge.waitFor();
  expect(await bridge.getByRole('row').allInnerTexts()).toEqual([
    'Figures\tChanges\tGifts\tReceived\tKnown shares',
    'As it was at version 2\t\t3\t216,867.82\t216,867.82',
    'Added\t1\t+1\t+150.00\t+150.00',
    'As it is now, at version 3\t\t4\t217,017.82\t217,017.82',
  ]);
  await page.getByRole('tab', { name: 'Chart' }).click();
  await page.getByRole('img', { name: /^Waterfall chart of Received: from 216,867.82 to 217,017.82/ }).waitFor();
  await page.getByRole('tab', { name: 'Table' }).click();
  await download(page);

  const proven = await runCommand({ DATABASE_URL: gateway.database.url }, ['prove', file, '--organization', organization.name]);
  expect([proven.status, proven.stdout]).toEqual([0, expect.stringMatching(/same bytes/) as string]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person reopens a close with a reason, and hears why a month cannot be closed', async () => {
  const organization = await book();
  const { page, faults } = await gateway.visit({ as: organization, hash: `#reports/deposits?${MAY}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByRole('button', { name: 'Close months…' }).click();
  const dialog = page.getByRole('dialog');
  const day = dialog.getByLabel('Last day to close');
  const close = dialog.getByRole('button', { name: 'Close the months' });
  await day.fill('2999-01-31');
  await close.click();
  await dialog
    .getByRole('alert')
    .getByText(/^Jan 31, 2999 is in the future: it is /)
    .waitFor();
  await day.fill('2024-04-30');
  await close.click();
  await dialog.getByText('No line has such a date.').waitFor();
  // A colleague has closed a later month meanwhile.
  const calendar = { ...organization, timeZone: 'UTC', fiscalYearStart: 1 };
  await gateway.services.periods.close(calendar, '2024-05-31', undefined, { name: 'bea' });
  await day.fill('2024-05-15');
  await close.click();
  await dialog.getByRole('alert').getByText('The months are closed: the books are closed through May 31, 2024 already').waitFor();
  await dialog.getByRole('button', { name: 'Reopen the close through May 31, 2024' }).click();
  const reopen = dialog.getByRole('button', { name: 'Reopen' });
  await dialog.getByLabel('Reason').fill('Wrong fund');
  await reopen.click();
  await dialog.getByText('Reopened: May 31, 2024. The books are closed through Apr 30, 2024 now.').waitFor();
  expect(await day.inputValue()).toBe('2024-05-31');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person waits for an import, sends a reopening once however often Enter is pressed, and loses the privilege', async () => {
  const organization = await book();
  const { name, username } = organization;
  await gateway.services.periods.close({ ...organization, timeZone: 'UTC', fiscalYearStart: 1 }, '2024-05-31', undefined, { name: 'bea' });
  await importLines(gateway.services, organization, [gift('9', '150.00')], { acceptsLate: true });
  const { page, faults } = await gateway.visit({ as: organization, hash: `#reports/deposits?${MAY}`, now: NOW, locale: 'en-US' });
  const sent: string[] = [];
  page.on('request', (request) => sent.push(/mutation ReopenPeriod/.exec(request.postData() ?? '')?.[0] ?? ''));
  await logIn(page);
  const note = page.getByText(/^1 late gift of 150\.00/);
  await note.waitFor();
  await page.getByRole('button', { name: 'Close months…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Reopen the close through May 31, 2024' }).click();
  await dialog.getByLabel('Reason').fill('Wrong fund');
  const { client } = gateway.database;
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock(hashtext('deposit-gateway import'), $1)`, [organization.id]);
  await page.keyboard.press('Enter');
  await dialog.getByRole('status').getByText('Reopening… If the books are being changed, this waits for it.').waitFor();
  await page.keyboard.press('Enter');
  await client.query('COMMIT');
  await dialog.getByText('Reopened: May 31, 2024. Nothing is closed now.').waitFor();
  expect(sent.filter(Boolean)).toEqual(['mutation ReopenPeriod']);
  // The report behind the dialog has no late gift any more.
  await note.waitFor({ state: 'detached' });
  await gateway.services.users.changeGrants(name, username, { verb: 'revoke', privileges: [CLOSE_PRIVILEGE] });
  await dialog.getByLabel('Last day to close').fill('2024-05-31');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('You may not close or reopen months any more. Ask your administrator for the right.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person sees the closes in force, behind however many that were reopened', async () => {
  const organization = await book();
  const calendar = { ...organization, timeZone: 'UTC', fiscalYearStart: 1 };
  await gateway.services.periods.close(calendar, '2024-05-03', undefined, { name: 'bea' });
  for (let number = 1; number <= 100; number++) {
    await gateway.services.periods.close(calendar, '2024-05-31', undefined, { name: 'bea' });
    await gateway.services.periods.reopen(organization.id, '2024-05-31', 'Again', { name: 'bea' });
  }
  const { page, faults } = await gateway.visit({ as: organization, hash: `#reports/deposits?${MAY}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByRole('button', { name: 'Close months…' }).click();
  await page.getByRole('dialog').getByText('Closed through May 3, 2024.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a person without the privilege is offered no close', async () => {
  const { page } = await gateway.visit({ hash: '#reports', now: NOW });
  await logIn(page);
  await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
  expect(await page.getByRole('button', { name: 'Close months…' }).count()).toBe(0);
  await page.context().close();
});
