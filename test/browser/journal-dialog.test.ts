import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { CLOSE_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground } from '../support/playground-browser';

const NOW = '2024-06-15T12:00:00Z';
const MAY = '#reports/bank-tie-out?period=2024-05-01..2024-05-31';
const gift = (id: string, amount: string, fund: number) =>
  v2Line({
    ...{
      deposit_id: `D${id}`,
      transaction_id: `T${id}`,
      allocation_id: `A${id}`,
      transaction_date: '2024-05-02',
      deposit_date: '2024-05-03',
    },
    ...{ amount, net_amount: amount, fee_amount: '0.00', designation_id: fund, designation: `Fund ${fund}` },
  });
const gateway = openPlayground({ loggedIn: true });

async function openBooks(mayClose: boolean) {
  const organization = await createOrganization(gateway.services);
  const { name, username } = organization;
  if (mayClose) await gateway.services.users.changeGrants(name, username, { verb: 'grant', privileges: [CLOSE_PRIVILEGE] });
  await importLines(gateway.services, organization, [gift('1', '100.00', 3), gift('2', '50.00', 4)]);
  const { page, faults } = await gateway.visit({ as: organization, hash: MAY, now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByRole('button', { name: 'Journal…' }).focus();
  await page.keyboard.press('Enter');
  return { organization, page, faults, dialog: page.getByRole('dialog', { name: 'Journal for your accounting program' }) };
}

/** Downloads the journal, and resolves to its lines. */
async function take(page: Page): Promise<string[]> {
  const button = page.getByRole('dialog').getByRole('button', { name: 'Download journal' });
  const [saved] = await Promise.all([page.waitForEvent('download'), button.click()]);
  expect(saved.suggestedFilename()).toMatch(/^journal-2024-05-01-2024-05-31/);
  return (await readFile(await saved.path(), 'utf8')).split('\r\n').slice(0, -1);
}

test('a bookkeeper names the accounts, takes the journal, and next time only what has changed', async () => {
  const { organization, page, faults, dialog } = await openBooks(true);
  await dialog.getByRole('button', { name: 'Accounts: 4 of 4 are missing' }).waitFor();
  // The keyboard is where the choices begin.
  await dialog.getByLabel('Columns for').and(page.locator(':focus')).waitFor();
  // A journal that cannot be made does not look ready.
  await dialog
    .getByText('There is no journal yet: no account is saved for the bank, the fees, and the funds Fund 3 (3) and Fund 4 (4).')
    .waitFor();
  expect(await dialog.getByRole('button', { name: 'Download journal' }).isDisabled()).toBe(true);
  expect(await dialog.locator('.main-button').allInnerTexts()).toEqual(['Save accounts']);
  await dialog.getByRole('button', { name: 'Accounts: 4 of 4 are missing' }).click();
  await dialog.getByLabel('Account of the bank').waitFor({ state: 'hidden' });
  await dialog.getByRole('button', { name: 'Name the accounts' }).click();
  await dialog.getByLabel('Account of the bank').and(page.locator(':focus')).waitFor();

  await dialog.getByLabel('Account of the bank').fill('1000');
  await dialog.getByLabel('Account of the fees').fill('6000');
  await dialog.getByLabel('Account of Fund 3').fill('4010');
  await dialog.getByText('The accounts have changes that are not saved.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Download journal' }).isDisabled()).toBe(true);
  await page.keyboard.press('Enter');
  await dialog.getByText('The accounts are saved for all of your organization.').waitFor();
  await dialog.getByRole('button', { name: 'Download journal' }).click();
  await dialog.getByRole('alert').getByText('1 fund has no account: 4 (Fund 4)').waitFor();
  await dialog.getByRole('button', { name: 'Accounts: 1 of 4 is missing' }).waitFor();
  await dialog.getByText('No account is saved for the fund Fund 4 (4). A journal with money of it is refused.').waitFor();
  expect(await dialog.locator('.main-button').allInnerTexts()).toEqual(['Save accounts']);
  await dialog.getByRole('button', { name: 'Name the accounts' }).click();
  await dialog.getByLabel('Account of Fund 4').and(page.locator(':focus')).waitFor();
  await dialog.getByLabel('Account of Fund 4').fill('4020');
  await dialog.getByRole('button', { name: 'Save accounts' }).click();
  await dialog.getByRole('button', { name: 'Accounts: all 4 are named' }).waitFor();
  await dialog.locator('.main-button', { hasText: 'Download journal' }).waitFor();
  expect(await dialog.locator('.main-button').allInnerTexts()).toEqual(['Download journal']);

  await dialog.getByLabel('Columns for').selectOption('Xero');
  await dialog.getByLabel('Tax rate').fill('No VAT');
  // An accounting program would take a byte order mark for a part of the first column.
  expect(await take(page)).toEqual([
    '*Narration,*Date,Description,*AccountCode,*TaxRate,*Amount',
    '"deposit-D1-20240503: Deposit D1","03 May 2024","Deposit D1","1000","No VAT","100.00"',
    '"deposit-D1-20240503: Deposit D1","03 May 2024","Deposit D1","4010","No VAT","-100.00"',
    '"deposit-D2-20240503: Deposit D2","03 May 2024","Deposit D2","1000","No VAT","50.00"',
    '"deposit-D2-20240503: Deposit D2","03 May 2024","Deposit D2","4020","No VAT","-50.00"',
  ]);
  await dialog.getByText('has 4 rows, checked against the receipt').waitFor();

  const option = dialog.getByRole('option', { name: /^What changed since the journal of .*\(version 1\)$/ });
  await dialog.getByLabel('Entries').selectOption(await option.getAttribute('value'));
  await dialog.getByRole('button', { name: 'Download journal' }).click();
  await dialog.getByText('Nothing has to be booked').waitFor();
  await importLines(gateway.services, organization, [gift('1', '120.00', 3)]);
  await dialog.getByLabel('Columns for').selectOption('QuickBooks Online');
  expect(await take(page)).toEqual([
    'Journal No.,Journal Date,Account Name,Debits,Credits,Description',
    '"deposit-D1-20240503@2","05/03/2024","1000",20.00,,"deposit-D1-20240503@2: Change of deposit D1"',
    '"deposit-D1-20240503@2","05/03/2024","4010",,20.00,"deposit-D1-20240503@2: Change of deposit D1"',
  ]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Journal…' }).and(page.locator(':focus')).waitFor();
  expect(faults.filter((fault) => !fault.includes('409'))).toEqual([]);
});

test('a journal that was booked is chosen where its period is asked for again, by the accounts that it had', async () => {
  const { organization, page, dialog } = await openBooks(true);
  const { services } = gateway;
  const FUNDS = [3, 4].map((designationId) => ({ designationId, account: '4010' }));
  await page.keyboard.press('Escape');
  await services.journalAccounts.save(organization.id, { bank: '1000', fees: '6000', funds: FUNDS }, { name: null });
  await page.getByRole('button', { name: 'Journal…' }).click();
  await dialog.getByRole('option', { name: 'All deposits', exact: true }).waitFor({ state: 'attached' });
  const onlyOwn = dialog.getByText('Only journals that you took yourself');
  await onlyOwn.waitFor();
  expect(await take(page)).toHaveLength(5);
  await page.keyboard.press('Escape');
  await services.journalAccounts.save(organization.id, { bank: '1001', fees: '6000', funds: FUNDS }, { name: null });
  await page.getByRole('button', { name: 'Journal…' }).click();
  await dialog.getByRole('option', { name: 'All deposits (books everything again)' }).waitFor({ state: 'attached' });
  const chosen = dialog.getByLabel('Entries').locator('option:checked');
  await chosen.getByText('What changed since the journal of').waitFor({ state: 'attached' });
  expect(await onlyOwn.count()).toBe(0);
  const rows = (await take(page)).slice(1).map((line) => line.replaceAll('"', '').split(',').slice(0, 5).join());
  expect(rows).toEqual([
    'deposit-D1-20240503@1-accounts-2,2024-05-03,1000,,100.00',
    'deposit-D1-20240503@1-accounts-2,2024-05-03,1001,100.00,',
    'deposit-D2-20240503@1-accounts-2,2024-05-03,1000,,50.00',
    'deposit-D2-20240503@1-accounts-2,2024-05-03,1001,50.00,',
  ]);
  // Accounts that somebody else has saved meanwhile are not replaced unseen.
  await services.journalAccounts.save(organization.id, { bank: '1002', fees: '6000', funds: FUNDS }, { name: 'eve' });
  await dialog.getByRole('button', { name: 'Accounts: all 4 are named' }).click();
  await dialog.getByLabel('Account of the fees').fill('6001');
  await dialog.getByRole('button', { name: 'Save accounts' }).click();
  await dialog.getByRole('alert').getByText('number 3 was saved by eve').waitFor();
});

test('a journal with days outside the period is not offered, and one that is too long for Xero is told', async () => {
  const { organization, page, dialog } = await openBooks(true);
  await page.keyboard.press('Escape');
  const funds = [3, 4].map((designationId) => ({ designationId, account: '4010' }));
  await gateway.services.journalAccounts.save(organization.id, { bank: '1000', fees: '6000', funds }, { name: null });
  const more = Array.from({ length: 149 }, (_none, at) => gift(String(100 + at), '1.00', 3));
  await importLines(gateway.services, organization, more);
  await page.evaluate(async (provision) => {
    const address = '/export/journal.csv?start_date=2024-05-02&end_date=2024-06-01';
    await (await fetch(address, { headers: { Provision: provision } })).text();
  }, organization.webProvision);
  await page.getByRole('button', { name: 'Journal…' }).click();
  await dialog.getByText('Journals with other days are not offered').waitFor();
  expect(await dialog.getByLabel('Entries').getByRole('option').allTextContents()).toEqual(['All deposits']);
  await dialog.getByLabel('Columns for').selectOption('Xero');
  expect(await take(page)).toHaveLength(303);
  await dialog.getByRole('alert').getByText('Xero takes 300 rows at a time: choose a shorter period.').waitFor();
});

test('a journal of all time is offered by that name', async () => {
  const { organization, page, dialog } = await openBooks(true);
  await page.keyboard.press('Escape');
  const funds = [3, 4].map((designationId) => ({ designationId, account: '4010' }));
  await gateway.services.journalAccounts.save(organization.id, { bank: '1000', fees: '6000', funds }, { name: null });
  await page.evaluate(`location.hash = '#reports/bank-tie-out?period=all-time'`);
  await page.getByText('2 rows', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Journal…' }).click();
  const button = dialog.getByRole('button', { name: 'Download journal', disabled: false });
  await Promise.all([page.waitForEvent('download'), button.click()]);
  await dialog
    .getByRole('option', { name: /^What changed since the journal of .*, All time \(version 1\)$/ })
    .waitFor({ state: 'attached' });
});

test('nothing can be taken until the journals that were taken before are known', async () => {
  const { organization, page, dialog } = await openBooks(true);
  await page.keyboard.press('Escape');
  const funds = [3, 4].map((designationId) => ({ designationId, account: '4010' }));
  await gateway.services.journalAccounts.save(organization.id, { bank: '1000', fees: '6000', funds }, { name: null });
  let isBroken = true;
  await page.route('**/graphql', (route) =>
    isBroken && (route.request().postData() ?? '').includes('query Receipts') ? route.abort() : route.fallback(),
  );
  await page.getByRole('button', { name: 'Journal…' }).click();
  await dialog.getByRole('button', { name: 'Accounts: all 4 are named' }).waitFor();
  await dialog.getByRole('alert').getByText('The journals that you took before cannot be read').waitFor();
  const button = dialog.getByRole('button', { name: 'Download journal' });
  expect(await button.isDisabled()).toBe(true);
  isBroken = false;
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByRole('button', { name: 'Download journal', disabled: false }).waitFor();
});

test.each([true, false])(
  'a bookkeeper of many funds reads which rows of the accounts are in sight, with fields in them: %s',
  async (mayChange) => {
    const { organization, page, dialog } = await openBooks(mayChange);
    await page.keyboard.press('Escape');
    const more = Array.from({ length: 28 }, (_none, at) => gift(String(300 + at), '1.00', 10 + at));
    await importLines(gateway.services, organization, more);
    await page.getByRole('button', { name: 'Journal…' }).click();
    await dialog.getByText(/^1 to [0-9]+ of 32 rows are in sight: scroll the list for the others\.$/).waitFor();
    // Fields lead the keyboard through the rows, and without them the rows are a stop themselves.
    const place = dialog.getByRole('region', { name: 'Accounts' });
    expect(await place.getAttribute('tabindex')).toBe(mayChange ? '-1' : '0');
    await (mayChange ? dialog.getByLabel('Account of Fund 37') : place).focus();
    await page.keyboard.press('End');
    await dialog.getByText(/^[0-9]+ to 32 of 32 rows are in sight/).waitFor();
    await dialog
      .getByText('no account is saved for the bank, the fees, and the funds Fund 10 (10), Fund 11 (11), Fund 12 (12), and 27 more.')
      .waitFor();
  },
);

test('who may not close months sees the accounts and cannot change them', async () => {
  const { dialog } = await openBooks(false);
  await dialog.getByText('Whoever may close months can change the accounts.').waitFor();
  expect(await dialog.getByRole('textbox').count()).toBe(0);
  expect(await dialog.getByRole('button', { name: /Save accounts|Name the accounts/ }).count()).toBe(0);
  expect(await dialog.getByRole('button', { name: 'Download journal' }).isDisabled()).toBe(true);
});
