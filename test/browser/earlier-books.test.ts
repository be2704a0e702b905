import { readFile } from 'node:fs/promises';
import { succeed } from '../support/command';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground, untilDonorIs } from '../support/playground-browser';
import { until } from '../support/until';

const NOW = '2024-06-15T12:00:00Z';
const PERIOD = 'period=2024-05-01..2024-05-31';
const line = (amount: string) =>
  v2Line({
    transaction_date: '2024-05-02',
    deposit_date: '2024-05-03',
    amount,
    net_amount: amount,
    allocation_amount: amount,
    fee_amount: '0.00',
  });
const gateway = openPlayground({ loggedIn: true, lines: [line('100.00')] });

beforeAll(async () => {
  await importLines(gateway.services, gateway.organization, [line('140.00')]);
  // The first change is the last of May in New York, and the second the first of June.
  await gateway.services.organizations.setTimeZone(gateway.organization.name, 'America/New_York');
  const { client } = gateway.database;
  for (const [number, instant] of [
    [1, '2024-06-01T03:59:59.999Z'],
    [2, '2024-06-01T04:00:00Z'],
  ])
    await client.query('UPDATE data_version SET recorded_at = $2 WHERE organization_id = $3 AND number = $1', [
      number,
      instant,
      gateway.organization.id,
    ]);
});

test('an analyst asks for May as it was at its end, and after a change', async () => {
  const { page, faults } = await gateway.visit({ hash: `#reports/designations?${PERIOD}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByRole('cell', { name: '140.00' }).first().waitFor();
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  await page.getByRole('menuitem', { name: 'Version of the books' }).click();
  const editor = page.getByRole('form', { name: 'Version of the books' });
  // The books of today are not over yet.
  await editor.getByLabel('End of the day').fill('2024-06-15');
  await editor.getByRole('button', { name: 'Set' }).click();
  await editor.getByRole('alert').getByText('Write a day before today').waitFor();
  await editor.getByLabel('End of the day').fill('2024-05-31');
  await editor.getByRole('button', { name: 'Set' }).click();
  await page.getByText('Books: at the end of May 31, 2024').waitFor();
  await page.getByRole('cell', { name: '100.00' }).first().waitFor();
  expect(await page.getByRole('cell', { name: '140.00' }).count()).toBe(0);
  await page.getByText('These are the books as they were at version 1.').waitFor();
  expect(new URL(page.url()).hash).toBe(`#reports/designations?${PERIOD}&state=2024-05-31`);
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /CSV/ }).check({ force: true });
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  const [name, content] = [saved.suggestedFilename(), await readFile(await saved.path(), 'utf8')];
  await page.keyboard.press('Escape');
  expect(name).toBe('designations-2024-05-01-2024-05-31-as-of-2024-05-31.csv');
  expect(content).toContain('100.00');
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  await page.getByRole('menuitem', { name: 'Version of the books' }).click();
  expect(await editor.getByLabel('End of the day').inputValue()).toBe('2024-05-31');
  await editor.getByLabel('or version').fill('2');
  await editor.getByRole('button', { name: 'Set' }).click();
  await page.getByText('Books: at version 2').waitFor();
  await page.getByRole('cell', { name: '140.00' }).first().waitFor();
  await page.getByRole('button', { name: /^Remove Books/ }).click();
  await page.getByText('The books are at version 2.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst goes from a change to the books after it, and on to a donor of that state', async () => {
  const { page, faults } = await gateway.visit({ hash: '#reports/history', now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByRole('button', { name: 'Open version 1' }).click();
  await page.getByText('Books: at version 1').waitFor();
  await page.getByRole('cell', { name: '100.00' }).first().waitFor();
  await page.evaluate(`location.hash = '#reports/donors?${PERIOD}&state=1'`);
  await page.getByRole('button', { name: 'Open donor 7' }).click();
  await page.getByText('1 row', { exact: true }).waitFor();
  await page.getByRole('cell', { name: '100.00' }).first().waitFor();
  expect(new URL(page.url()).hash).toContain('state=1');
  // The lines come as a file, and the figures as an answer. Both are of the state.
  await until(async () => (await page.locator('.cards').textContent())?.includes('100.00') ?? false, 15_000);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst who asks for a day before the first change reads which states there are', async () => {
  const { page } = await gateway.visit({ hash: '#reports/designations?period=all-time&state=2024-05-30', now: NOW, locale: 'en-US' });
  await logIn(page);
  await page
    .getByRole('alert')
    .getByText(/^There are no books at the end of May 30, 2024\. They begin with version 1 of May 31, 2024, 11:59.PM, and the newest/)
    .waitFor();
  await page.evaluate(`location.hash = '#reports/designations?period=all-time&state=soon'`);
  await page.getByRole('alert').getByText('A part of this link or saved report cannot be read: state.').waitFor();
  await page.context().close();
});

test('an analyst in Germany takes the number as “History of the books” writes it, and loses the state with an empty field', async () => {
  const { page, faults } = await gateway.visit({ hash: `#reports/designations?${PERIOD}`, now: NOW, locale: 'de-DE' });
  await logIn(page);
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  await page.getByRole('menuitem', { name: 'Version of the books' }).click();
  const editor = page.getByRole('form', { name: 'Version of the books' });
  await editor.getByLabel('or version').fill('1.234');
  await editor.getByRole('button', { name: 'Set' }).click();
  await until(() => page.url().endsWith('&state=1234'), 15_000);
  await page.getByRole('alert').getByText('There are no books at version 1234.').waitFor();
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  await page.getByRole('menuitem', { name: 'Version of the books' }).click();
  await editor.getByLabel('or version').fill('');
  await editor.getByRole('button', { name: 'Set' }).click();
  await until(() => page.url().endsWith(PERIOD), 15_000);
  // The editor follows the chip.
  await page.evaluate(`location.hash += '&state=2024-05-31'`);
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  await page.getByRole('menuitem', { name: 'Version of the books' }).click();
  await page.getByRole('button', { name: /Books: at the end/ }).click();
  await until(async () => (await editor.getByLabel('End of the day').inputValue()) === '', 15_000);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('whoever keeps a past state has its name on files, saved reports and prints', async () => {
  const { page, faults } = await gateway.visit({ hash: '#reports/gifts?period=last-month&state=2024-05-31', now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByText('1 row', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The books are those at the end of May 31, 2024, whenever somebody asks.').waitFor();
  await dialog.getByRole('radio', { name: /As the v2 interface/ }).check({ force: true });
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  expect(saved.suggestedFilename()).toBe('deposit-details-2024-05-01-2024-05-31-as-of-1.csv');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByText(/anew each time.* The books are those at the end of May 31, 2024, whenever somebody asks\./)
    .waitFor();
  await page.keyboard.press('Escape');
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  await page
    .locator('.print-sheet')
    .getByText(/These are the books as they were at version 1. Printed/)
    .waitFor({ state: 'attached' });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst cannot open books that were pruned, and reads which are the earliest', async () => {
  const before = ['history', 'prune', '--organization', gateway.organization.name, '--before', '2024-06-02'];
  const { page, faults } = await gateway.visit({ hash: `#reports/gifts?${PERIOD}&state=1`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByText('1 row', { exact: true }).waitFor();
  await succeed({ DATABASE_URL: gateway.database.url }, before);
  // The file of a report that was on the screen by then is refused in the same words as the report.
  const gone =
    /^The books at version 1 are no longer kept\. The earliest kept is version 2 of Jun 1, 2024, 12:00.AM, and the newest is version 3 of/;
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /^All fields/ }).check({ force: true });
  await dialog.getByRole('button', { name: 'Download' }).click();
  await dialog.getByRole('alert').getByText(gone).waitFor();
  await page.keyboard.press('Escape');
  await page.evaluate(`location.hash = '#reports/history'`);
  await page.getByRole('button', { name: 'Open version 2' }).waitFor();
  await page.getByRole('cell', { name: 'prune' }).waitFor();
  expect(await page.getByRole('button', { name: 'Open version 1' }).count()).toBe(0);
  expect(await page.getByRole('cell', { name: /^no$/i }).count()).toBe(1);
  await page.evaluate(`location.hash = '#reports/designations?period=all-time&state=1'`);
  await page.getByRole('alert').getByText(gone).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('whoever has a donor’s gifts open loses the name with the next run after the donor was erased', async () => {
  const organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [
    v2Line({
      donor_id: 7,
      donor_first_name: 'Zelda',
      donor_last_name: 'Quirk',
      transaction_date: '2024-05-02',
      deposit_date: '2024-05-03',
    }),
  ]);
  const report = { as: organization, hash: `#reports/donor?${PERIOD}&donor=7`, now: NOW, locale: 'en-US' };
  const { page, faults } = await gateway.visit(report);
  await logIn(page);
  await untilDonorIs(page, /^Zelda Quirk/);
  const erase = ['donor', 'erase', '--organization', organization.name, '--donor', '7', '--reason', 'Request 1'];
  await succeed({ DATABASE_URL: gateway.database.url }, erase);
  await page.getByRole('button', { name: 'Run again' }).click();
  await untilDonorIs(page, /^\(no name\) \(7\)/);
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  const sheet = page.locator('.print-sheet');
  await sheet.getByText('Donor: (no name) (7)').waitFor({ state: 'attached' });
  expect(await sheet.textContent()).not.toContain('Zelda');
  expect(faults).toEqual([]);
  await page.context().close();
});
