import { readFile } from 'node:fs/promises';
import type { Request } from 'playwright-core';
import { succeed } from '../support/command';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground, printPage } from '../support/playground-browser';
import { readXlsx } from '../support/xlsx-reader';

const NOW = '2024-06-15T12:00:00Z';
const MAY = 'period=2024-05-01..2024-05-31';
const gift = (id: string, amount: string, more: object = {}) =>
  v2Line({
    ...{ deposit_id: `D${id}`, transaction_id: `T${id}`, allocation_id: `A${id}`, donor_id: Number(id) },
    ...{ transaction_date: '2024-05-02', deposit_date: '2024-05-03' },
    ...{ amount, net_amount: amount, allocation_amount: amount, fee_amount: '0.00' },
    ...more,
  });
const isOfLost = (request: Request): boolean => request.postData()?.includes('query LostLines') ?? false;
/** What was booked for May: 216,867.82. */
const BOOKED = [gift('1', '216717.82'), gift('2', '100.00', { city: 'Paris' }), gift('3', '50.00')];
const gateway = openPlayground({ loggedIn: true, lines: BOOKED });
const late = () =>
  importLines(
    gateway.services,
    gateway.organization,
    [gift('1', '216717.82'), gift('2', '100.00', { city: 'Lyon' }), gift('4', '150.00')],
    {
      complete: { periods: [{ startDate: '2024-05-01', endDate: '2024-05-31' }], pending: 'WITH' },
      maxRemoved: Infinity,
    },
  );

test('a finance person compares the books with a file that they booked, and the sums lead from one to the other', async () => {
  const { page, faults } = await gateway.visit({ hash: `#reports/gifts?${MAY}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByText('3 rows', { exact: true }).waitFor();
  await late();
  await page.getByRole('navigation', { name: 'Reports' }).getByRole('button', { name: 'What changed' }).click();
  await page.getByText('Choose the version to compare with').waitFor();
  // The lines that the page showed are a file too.
  await page
    .getByRole('region', { name: 'Files that you took' })
    .getByRole('button', { name: /May 1, 2024 – May 31, 2024/ })
    .click();
  expect(new URL(page.url()).hash).toContain(`${MAY}&since=1`);
  const bridge = page.getByRole('table', { name: 'From the earlier figures to the later ones' });
  await bridge.waitFor();
  expect(await bridge.getByRole('row').allInnerTexts()).toEqual([
    'Figures\tChanges\tGifts\tReceived\tKnown shares',
    'As it was at version 1\t\t3\t216,867.82\t216,867.82',
    'Added\t1\t+1\t+150.00\t+150.00',
    'Removed\t1\t-1\t-50.00\t-50.00',
    'Relabelled: names, addresses or memos\t1\t0\t0.00\t0.00',
    'As it is now, at version 2\t\t3\t216,967.82\t216,967.82',
  ]);
  const rows = page.getByRole('table', { name: 'What changed' }).getByRole('row');
  await rows.filter({ hasText: 'Relabelled' }).filter({ hasText: 'City: Paris → Lyon' }).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /CSV/ }).check({ force: true });
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  expect(saved.suggestedFilename()).toBe('changes-2024-05-01-2024-05-31-since-1.csv');
  expect((await readFile(await saved.path(), 'utf8')).split('\r\n')[1]).toContain('"Relabelled","City: Paris → Lyon"');
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Chart' }).click();
  await page.getByRole('img', { name: 'Waterfall chart of Received: from 216,867.82 to 216,967.82, by the classes of changes.' }).waitFor();
  await page.getByText('The axis does not begin at zero').waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person finds a file of all days by that name, and compares all days with it', async () => {
  const { page, faults } = await gateway.visit({ hash: '#reports/gifts?period=all-time', now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByText('3 rows', { exact: true }).waitFor();
  await page.getByRole('navigation', { name: 'Reports' }).getByRole('button', { name: 'What changed' }).click();
  await page
    .getByRole('region', { name: 'Files that you took' })
    .getByRole('button', { name: /^All time/ })
    .click();
  await page.getByText('Nothing changed between the two versions in what fits these choices.').waitFor();
  expect(new URL(page.url()).hash).toMatch(/^#reports\/changes\?period=all-time&since=\d+$/);
  // The fields of dates have none: no first or last day of all time is shown.
  expect(await page.locator('.date-fields').innerText()).not.toMatch(/\d/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person compares with the end of a day or a change, and reads why two states cannot be compared', async () => {
  await late();
  const { page, faults } = await gateway.visit({ hash: `#reports/changes?${MAY}&state=1`, now: NOW, locale: 'en-US' });
  await logIn(page);
  const editor = page.getByRole('form', { name: 'Changed since' });
  await editor.getByLabel('or version').fill('2');
  await editor.getByRole('button', { name: 'Set' }).click();
  await page.getByRole('alert').getByText('compare an earlier version with a later one').waitFor();
  await page.getByRole('button', { name: /^Remove Books/ }).click();
  await page.getByText('Nothing changed between the two versions in what fits these choices.').waitFor();
  await page.getByRole('button', { name: /^Remove Changed since/ }).click();
  await editor.getByLabel('End of the day').fill('2024-05-01');
  await editor.getByRole('button', { name: 'Set' }).click();
  await page.getByRole('alert').getByText('There are no books at the end of May 1, 2024.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person reads in the report of a closed month what came late, and goes on to what changed since the close', async () => {
  const of = await createOrganization(gateway.services);
  await importLines(gateway.services, of, BOOKED);
  await gateway.services.periods.close({ ...of, timeZone: 'UTC', fiscalYearStart: 1 }, '2024-05-31', undefined, { name: 'ada' });
  const report = { as: of, hash: `#reports/deposits?${MAY}`, now: NOW, locale: 'en-US' };
  const { page, faults } = await gateway.visit(report);
  await logIn(page);
  await page.getByText('216,867.82').first().waitFor();
  expect(await page.getByRole('note').count()).toBe(0);
  await importLines(gateway.services, of, [gift('9', '150.00'), gift('2', '100.00', { city: 'Lyon' })], { acceptsLate: true });
  await page.getByRole('button', { name: 'Run again' }).click();
  await page
    .getByRole('note')
    .getByText('1 late gift of 150.00: new or changed since its month was closed. The books are closed through May 31, 2024.', {
      exact: true,
    })
    .waitFor();
  await page.getByRole('button', { name: 'See what changed' }).click();
  const bridge = page.getByRole('table', { name: 'From the earlier figures to the later ones' });
  await bridge.getByRole('row').filter({ hasText: 'As it is now' }).filter({ hasText: '217,017.82' }).waitFor();
  await page.getByRole('button', { name: /^Remove Changed since/ }).click();
  // A close is of dates of deposits.
  await page.evaluate(`location.hash += '&dateBasis=TRANSACTION_DATE'`);
  await page
    .getByRole('region', { name: 'Closes' })
    .getByRole('button', { name: /^Through May 31, 2024/ })
    .click();
  await bridge.waitFor();
  expect(new URL(page.url()).hash).toBe('#reports/changes?period=1900-01-01..2024-05-31&since=2');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person reads of late gifts alone, by either date and in a period that is closed in part', async () => {
  const of = await createOrganization(gateway.services);
  await importLines(gateway.services, of, BOOKED);
  await gateway.services.periods.close({ ...of, timeZone: 'UTC', fiscalYearStart: 1 }, '2024-05-31', undefined, { name: 'ada' });
  // A gift of May in a deposit of June is not late, and neither is a gift that has another donor.
  await importLines(gateway.services, of, [gift('8', '1000.00', { deposit_date: '2024-06-03' }), gift('3', '50.00', { donor_id: 77 })]);
  const byGiftDate = `#reports/deposits?${MAY}&dateBasis=TRANSACTION_DATE`;
  const { page, faults } = await gateway.visit({ as: of, hash: byGiftDate, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByText('217,867.82').first().waitFor();
  await importLines(gateway.services, of, [gift('2', '120.00'), gift('9', '150.00')], { acceptsLate: true });
  await page.getByRole('button', { name: 'Run again' }).click();
  const late = page.getByText('2 late gifts of 270.00 together: new or changed since their months were closed.');
  await late.waitFor();
  for (const period of ['this-year', 'all-time']) {
    await page.evaluate(`location.hash = '#reports/deposits?period=${period}'`);
    await page.getByText('218,037.82').first().waitFor();
    await late.waitFor();
  }
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person compares with a close of no line, and with the one after it', async () => {
  const of = await createOrganization(gateway.services);
  await importLines(gateway.services, of, BOOKED);
  for (const through of ['2024-04-30', '2024-05-31'])
    await gateway.services.periods.close({ ...of, timeZone: 'UTC', fiscalYearStart: 1 }, through, undefined, { name: 'ada' });
  const { page, faults } = await gateway.visit({ as: of, hash: '#reports/changes', now: NOW, locale: 'en-US' });
  await logIn(page);
  const closes = page.getByRole('region', { name: 'Closes' });
  await closes.getByRole('button').first().waitFor();
  expect(await closes.getByRole('button').locator('strong').allInnerTexts()).toEqual([
    'May 1, 2024 – May 31, 2024',
    'Through Apr 30, 2024',
  ]);
  await closes.getByRole('button', { name: /^May 1/ }).click();
  await page.getByText('Nothing changed between the two versions in what fits these choices.').waitFor();
  expect(new URL(page.url()).hash).toBe('#reports/changes?period=2024-05-01..2024-05-31&since=3');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person goes on from two closed months to the changes since the first of them, and prints and downloads what came late', async () => {
  const of = await createOrganization(gateway.services);
  await importLines(gateway.services, of, [...BOOKED, gift('5', '10.00', { deposit_date: '2024-04-10' })]);
  const calendar = { ...of, timeZone: 'UTC', fiscalYearStart: 1 };
  await gateway.services.periods.close(calendar, '2024-04-30', undefined, { name: 'ada' });
  await importLines(gateway.services, of, [gift('6', '20.00', { deposit_date: '2024-04-11' })], { acceptsLate: true });
  await gateway.services.periods.close(calendar, '2024-05-31', undefined, { name: 'ada' });
  const spring = 'period=2024-04-01..2024-05-31';
  const { page, faults } = await gateway.visit({ as: of, hash: `#reports/deposits?${spring}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  const told = '1 late gift of 20.00: new or changed since its month was closed. The books are closed through May 31, 2024.';
  await page.getByRole('note').getByText(told).waitFor();
  // Another gift comes late behind the report, which is of the books before it.
  await importLines(gateway.services, of, [gift('7', '30.00')], { acceptsLate: true });
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  await page.locator('.print-sheet').getByText(told).waitFor();
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /XLSX/ }).check({ force: true });
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  expect(JSON.stringify(readXlsx(await readFile(await saved.path())))).toContain(told);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'See what changed' }).click();
  await page.getByRole('table', { name: 'From the earlier figures to the later ones' }).waitFor();
  expect(new URL(page.url()).hash).toBe(`#reports/changes?${spring}&since=2`);
  // A donor gets a letter, and reads nothing in it of when the books were closed.
  await page.evaluate(`location.hash = '#reports/donor?donor=6&${spring}'`);
  await page.getByRole('note').getByText(told).waitFor();
  await page.getByText('1 row', { exact: true }).waitFor();
  const [letter] = await printPage(page);
  expect(letter!.rows.at(-1)).toContain('20.00');
  expect(letter!.lines.join(' ')).not.toMatch(/late|closed/i);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person reads of no loss where a gift has another label than the conditions since its month was closed', async () => {
  const of = await createOrganization(gateway.services);
  await importLines(gateway.services, of, BOOKED);
  await gateway.services.periods.close({ ...of, timeZone: 'UTC', fiscalYearStart: 1 }, '2024-05-31', undefined, { name: 'ada' });
  await importLines(gateway.services, of, [gift('2', '100.00', { payment_type: 'Card' })]);
  const { page, faults } = await gateway.visit({ as: of, hash: `#reports/gifts?${MAY}&paymentTypes=ACH`, now: NOW, locale: 'en-US' });
  const searched = page.waitForResponse((response) => isOfLost(response.request()));
  await logIn(page);
  const { data } = (await (await searched).json()) as { data: { depositChanges: { nodes: readonly object[] } } };
  expect(data.depositChanges.nodes).toMatchObject([{ class: 'MOVED', wasInside: true, isInside: false }]);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  expect(await page.getByRole('note').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person reads that a closed month lost a gift, and what is not known of late changes', async () => {
  const of = await createOrganization(gateway.services);
  await importLines(gateway.services, of, BOOKED);
  await gateway.services.periods.close({ ...of, timeZone: 'UTC', fiscalYearStart: 1 }, '2024-05-31', undefined, { name: 'ada' });
  await importLines(gateway.services, of, [gift('2', '100.00', { deposit_id: 'D20', deposit_date: '2024-06-03' })], { acceptsLate: true });
  const { page } = await gateway.visit({ as: of, hash: `#reports/deposits?${MAY}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page
    .getByRole('note')
    .getByText('The books are closed through May 31, 2024. Lines were removed from closed months, or moved out of them or of this report')
    .waitFor();
  for (const address of ['period=this-year', 'period=all-time', `${MAY}&dateBasis=TRANSACTION_DATE`]) {
    await Promise.all([
      page.waitForResponse((response) => isOfLost(response.request())),
      page.evaluate(`location.hash = '#reports/deposits?${address}'`),
    ]);
    await page.getByRole('note').getByText('Lines were removed from closed months, or moved out of them or of this report').waitFor();
  }
  await page.evaluate(`location.hash = '#reports/deposits?${MAY}'`);
  await page.getByRole('note').waitFor();
  await page.getByRole('button', { name: 'See what changed' }).click();
  await page.getByRole('row').filter({ hasText: 'Moved' }).filter({ hasText: '-100.00' }).first().waitFor();
  await page.goBack();
  await page.getByRole('note').waitFor();
  await page.route('**/graphql', (route) =>
    route.request().postData()?.includes('query LateGifts')
      ? route.fulfill({
          status: 429,
          json: { errors: [{ message: 'The budget of this minute is used up', extensions: { code: 'BUDGET_EXCEEDED' } }] },
        })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Run again' }).click();
  await page
    .getByRole('note')
    .getByText('Late changes could not be read: The budget of this minute is used up.', { exact: true })
    .waitFor();
  await page.unroute('**/graphql');
  await importLines(gateway.services, of, [gift('3', '60.00')], { acceptsLate: true });
  const prune = ['history', 'prune', '--organization', of.name, '--before', new Date().toISOString()];
  await succeed({ DATABASE_URL: gateway.database.url }, prune);
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByText(/^1 late gift of 60\.00/).waitFor();
  await page.getByText('Removals are not looked for through May 31, 2024: the version at that close is no longer kept.').waitFor();
  expect(await page.getByRole('button', { name: 'See what changed' }).count()).toBe(0);
  await page.context().close();
});

test('a finance person is offered no file of books that nothing was imported into', async () => {
  const of = await createOrganization(gateway.services);
  const { page, faults } = await gateway.visit({ as: of, hash: `#reports/gifts?${MAY}`, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByText('Nothing came in that').first().waitFor();
  await page.evaluate(`location.hash = '#reports/changes'`);
  const files = page.getByRole('region', { name: 'Files that you took' });
  await files.getByRole('heading').waitFor();
  expect(await files.getByRole('button').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a finance person sees the chart of a fund whose shares came later', async () => {
  const of = await createOrganization(gateway.services);
  const split = (shares: readonly (string | null)[]) =>
    shares.map((share, at) => gift('1', '100.00', { allocation_id: `A${at}`, designation_id: at + 1, allocation_amount: share }));
  await importLines(gateway.services, of, split([null, null]));
  await importLines(gateway.services, of, split(['40.00', '60.00']));
  const { page, faults } = await gateway.visit({
    as: of,
    hash: `#reports/changes?${MAY}&since=1&fund=1`,
    now: NOW,
    locale: 'en-US',
  });
  await logIn(page);
  await page.getByRole('tab', { name: 'Chart' }).click();
  const chart = page.getByRole('img', { name: /^Waterfall chart/ });
  await chart.waitFor();
  expect(await page.getByRole('region', { name: 'Chart' }).innerText()).toContain('Unknown shares are not drawn.');
  await page.getByText('+40.00').first().waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});
