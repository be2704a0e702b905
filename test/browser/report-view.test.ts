import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { Locator, Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground, untilDonorIs } from '../support/playground-browser';
import { until } from '../support/until';
import { readXlsx } from '../support/xlsx-reader';

const NOW = '2024-06-15T12:00:00Z';
const gateway = openPlayground({
  lines: [
    v2Line({ deposit_date: '2024-05-03', allocation_amount: '10.50' }),
    v2Line({
      ...{ deposit_id: 'D2', transaction_id: 'P11', allocation_id: 'P110', deposit_date: '2024-05-04', deposit_status: 'pending' },
      ...{ designation_id: 4, designation: 'Wells', allocation_amount: '10.50' },
    }),
    v2Line({ deposit_id: 'D3', transaction_id: 'P12', allocation_id: 'P120', deposit_date: '2024-04-03', allocation_amount: '10.50' }),
    // Years before: a month of refunds, the month after it, and a gift of two funds that is still on its way.
    ...(['-2215.00', '2670.00'] as const).map((amount, n) =>
      v2Line({
        ...{ deposit_id: `E${n}`, transaction_id: `E${n}`, allocation_id: `E${n}`, deposit_date: `2020-0${n + 1}-10` },
        ...{ amount, net_amount: amount, fee_amount: '0.00', allocation_amount: amount },
      }),
    ),
    ...(['60.00', '40.00'] as const).map((allocation_amount, n) =>
      v2Line({
        ...{ deposit_id: 'E3', transaction_id: 'E3', allocation_id: `E3${n}`, deposit_date: '2020-03-10', deposit_status: 'pending' },
        ...{ amount: '100.00', net_amount: '97.00', fee_amount: '3.00', allocation_amount },
        ...(n === 1 && { designation_id: 4, designation: 'Wells' }),
      }),
    ),
  ],
});

interface OpenReport {
  readonly page: Page;
  readonly faults: string[];
}

async function open(hash: string, locale = 'en-US'): Promise<OpenReport> {
  const { page, faults } = await gateway.visit({ hash, now: NOW, locale });
  await logIn(page);
  return { page, faults };
}

const titles = (page: Page): Promise<string[]> => page.locator('.table-names .column-sort').allInnerTexts();

/** Chooses a value of a field of the report's form. */
async function choose(page: Page, label: string, option: string): Promise<void> {
  await page
    .locator('.choice')
    .filter({ has: page.getByText(label, { exact: true }) })
    .getByRole('button')
    .click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

async function saveFile(page: Page, format: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(format, { exact: true }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  return readFile(await saved.path());
}

test('an analyst finds the chosen columns again, in the next period and on the next day', async () => {
  const { page, faults } = await open('#reports/designations?period=last-month');
  await page.getByRole('table').waitFor();
  const before = await titles(page);
  expect(before).toEqual(['Fund', 'Fund number', 'Gifts', 'To this fund', 'Of which pending']);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Gifts', { exact: true }).uncheck();
  const toTheLeft = page.getByRole('button', { name: 'Move To this fund up' });
  while (await toTheLeft.isEnabled()) await toTheLeft.click();
  await page.keyboard.press('Escape');
  const chosen = await titles(page);
  expect(chosen).toEqual(['To this fund', 'Fund', 'Fund number', 'Of which pending']);
  await choose(page, 'Period', 'This year');
  await page.getByText('31.50').first().waitFor();
  expect(await titles(page)).toEqual(chosen);
  await page.reload();
  await page.getByRole('table').waitFor();
  expect(await titles(page)).toEqual(chosen);
  // A column that the choice does not know stands where the report puts it.
  await choose(page, 'Divide by', 'Month');
  await page.getByLabel('Show', { exact: true }).selectOption('All figures, as a list');
  await page.getByRole('cell', { name: 'Apr 2024' }).first().waitFor();
  expect(await titles(page)).toEqual(['Month', ...chosen]);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('button', { name: 'As they were' }).click();
  expect(await titles(page)).toEqual(['Month', ...before]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst finds the columns of a comparison where they were, after a look at the report without one', async () => {
  const { page, faults } = await open('#reports/designations?period=last-month&compare=before');
  await page.getByRole('table').waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  const toTheLeft = page.getByRole('button', { name: 'Move Difference up' });
  while (await toTheLeft.isEnabled()) await toTheLeft.click();
  await page.keyboard.press('Escape');
  const chosen = await titles(page);
  expect(chosen[0]).toBe('Difference');
  await choose(page, 'Compare with', 'Off');
  await until(async () => (await titles(page)).length === 5);
  await choose(page, 'Compare with', 'The period before');
  await until(async () => (await titles(page)).length > 5);
  expect(await titles(page)).toEqual(chosen);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst’s search and sorting stay when the report runs again, and another report begins without them', async () => {
  const { page, faults } = await open('#reports/designations?period=this-year');
  await page.getByRole('button', { name: 'Fund', exact: true }).click();
  await page.getByLabel('Search in these rows').fill('wells');
  await page.getByText('1 of 2 rows').waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByText('1 of 2 rows').waitFor();
  expect(await page.getByLabel('Search in these rows').inputValue()).toBe('wells');
  expect(await page.getByRole('columnheader', { name: 'Fund', exact: true }).getAttribute('aria-sort')).toBe('ascending');
  await page.getByRole('button', { name: 'Money received' }).click();
  await page.getByText('3 rows', { exact: true }).waitFor();
  expect(await page.getByLabel('Search in these rows').inputValue()).toBe('');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst is told that a filter cannot be read', async () => {
  const { page, faults } = await open('#reports/designations?period=this-year', 'de-DE');
  await page.getByRole('button', { name: 'Filter these rows' }).click();
  await page.getByLabel('To this fund from').fill('10.499,00x');
  const alert = page.getByRole('alert').filter({ hasText: 'The filter of “To this fund” is no number, so it filters nothing.' });
  await alert.waitFor();
  await page.getByLabel('To this fund from').fill('11,00');
  await page.getByText('1 of 2 rows').waitFor();
  expect(await alert.count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

const cards = (page: Page): Promise<string[][]> =>
  page.evaluate(
    `[...document.querySelectorAll('.card')].map((card) => [card.querySelector('dt').textContent, card.querySelector('dd').innerText])`,
  );
const totals = (page: Page): Promise<string[]> => page.locator('.table-totals [role=cell]').allInnerTexts();

test('an analyst ties the bank’s money, which is net and not on its way, and may add the pending money', async () => {
  const { page, faults } = await open('#reports/bank-tie-out?period=2020-01-01..2020-03-31');
  await page.getByText('Pending deposits are left out.').waitFor();
  expect((await cards(page)).map(([title]) => title)).toEqual(['Net', 'Received', 'Fees', 'Gifts']);
  expect((await cards(page)).slice(0, 2)).toEqual([
    ['Net', '455.00\nat the bank'],
    ['Received', '455.00\nbefore fees'],
  ]);
  // The name of a card and its note do not run together.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('.card-note'), '::before').content`)).toBe('"· "');
  await page.getByRole('table').waitFor();
  expect(await titles(page)).toEqual(['Deposit date', 'Deposit', 'Status', 'Net', 'Gifts', 'Received', 'Fees']);
  expect(await totals(page)).toEqual(['Total', '', '', '455.00', '2', '455.00', '0.00']);
  await page.getByRole('tab', { name: 'Chart' }).click();
  await page.getByRole('img', { name: /^\w+ chart of Net by / }).waitFor();
  await page.getByRole('tab', { name: 'Table' }).click();
  const facts = readXlsx(await saveFile(page, 'XLSX'))[1]!.rows.map((row) => Object.values(row));
  expect(facts).toContainEqual(['Pending deposits', 'left out']);
  await choose(page, 'Pending deposits', 'Included');
  await page.getByText('Of which pending').waitFor();
  expect((await cards(page)).map(([title]) => title)).toEqual(['Net', 'Received', 'Of which pending', 'Fees', 'Gifts']);
  expect((await cards(page))[0]).toEqual(['Net', '552.00\npending included']);
  expect(page.url()).toContain('pending=WITH');
  await page.reload();
  await page.getByText('Of which pending').waitFor();
  expect((await cards(page))[0]).toEqual(['Net', '552.00\npending included']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst finds under a column the sum of its rows, the number of gifts or a dash, and which deposits are pending', async () => {
  const { page, faults } = await open('#reports/pending?period=2020-03-01..2020-03-31');
  await page.getByRole('table').waitFor();
  const column = async (title: string): Promise<string[]> => {
    const place = (await titles(page)).indexOf(title) + 1;
    return page.locator(`.table-row:not(.table-names) > :nth-child(${place})`).allInnerTexts();
  };
  expect(await titles(page)).toEqual(['Deposit date', 'Deposit', 'Gifts', 'Pending', 'Fees', 'Net']);
  expect(await column('Gifts')).toEqual(['1', '1']);
  expect(await column('Pending')).toEqual(['100.00', '100.00']);
  expect((await cards(page))[0]).toEqual(['Pending', '100.00\nnot at the bank yet']);
  const facts = readXlsx(await saveFile(page, 'XLSX'))[1]!.rows.map((row) => Object.values(row));
  expect(facts.map(([name]) => name)).toEqual(expect.arrayContaining(['Pending, each gift once', 'Shares that are known']));
  expect(facts.map(([name]) => name)).not.toContain('Of which pending');
  await page.evaluate(`location.hash = '#reports/designations?period=2020-03-01..2020-03-31'`);
  await page.getByRole('heading', { name: 'Funds' }).waitFor();
  await page.getByRole('table').waitFor();
  expect(await column('Gifts')).toEqual(['1', '1', '1']);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('Whole gifts', { exact: true }).check();
  await page.keyboard.press('Escape');
  expect(await column('Whole gifts')).toEqual(['100.00', '100.00', '–']);
  expect((await column('To this fund')).at(-1)).toBe('100.00');
  await page.getByLabel('Search in these rows').fill('wells');
  await page.getByText('Total of these rows').waitFor();
  expect(await column('Gifts')).toEqual(['1', '–']);
  await page.evaluate(`location.hash = '#reports/pending?period=2020-03-01..2020-03-31'`);
  await page.getByRole('button', { name: 'Open deposit E3, Mar 10, 2020' }).click();
  await page.getByRole('row').getByText('60.00').waitFor();
  expect((await column('To this fund')).toSorted()).toEqual(['100.00', '40.00', '60.00']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst sees a dash for a percentage of a loss, and finds an empty cell in its files', async () => {
  const { page, faults } = await open('#reports/designations?period=2020-02-01..2020-02-29&compare=before');
  await page.getByRole('table').waitFor();
  expect((await cards(page))[0]).toEqual(['Received', '2,670.00\npending included\nThe period before: -2,215.00\n+4,885.00 (–)']);
  const place = (await titles(page)).indexOf('Difference in %');
  const row = (selector: string): Promise<string[]> => page.locator(`${selector} [role=cell]`).allInnerTexts();
  expect([(await row('[data-row="0"]'))[place], (await row('.table-totals'))[place]]).toEqual(['–', '–']);
  const [record] = parse<Record<string, string>>(await saveFile(page, 'CSV'), { columns: true, bom: true });
  expect(record).toMatchObject({ Difference: '4885.00', 'Difference in %': '' });
  expect(Object.values(readXlsx(await saveFile(page, 'XLSX'))[0]!.rows[1]!)).not.toContain('–');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst is told which parts of a link could not be read, and sees whole deposits', async () => {
  const { page, faults } = await open('#reports/bank-tie-out?period=2024-05-31..2024-05-01&paymentTypes=Check&pending=WITHOUT');
  const alert = page.getByRole('alert').filter({ hasText: 'A part of this link or saved report cannot be read: period, paymentTypes.' });
  await alert.waitFor();
  for (const mode of ['GraphQL', 'Reports']) await page.getByRole('button', { name: mode, exact: true }).click();
  await alert.waitFor();
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Version of the books']);
  await page.keyboard.press('Escape');
  await choose(page, 'Period', 'This year');
  await page.getByText('21.00').first().waitFor();
  expect(await page.getByText('A part of this link or saved report cannot be read').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('an analyst takes the period along to the next report, and the donor to the letter of the year', async () => {
  const { page, faults } = await open('#reports/designations?period=2024-04-01..2024-04-30');
  await page.getByText('10.50').first().waitFor();
  await page.getByRole('button', { name: 'Bank tie-out' }).click();
  await page.getByRole('cell', { name: 'D3', exact: true }).waitFor();
  expect(page.url()).toContain('#reports/bank-tie-out?period=2024-04-01..2024-04-30');
  await page.evaluate(`location.hash = '#reports/donor?donor=7'`);
  await untilDonorIs(page, /^\D/);
  await page.getByRole('button', { name: 'Year-end of a donor' }).click();
  await untilDonorIs(page, /^\D/);
  await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
  await page.getByRole('button', { name: 'Reports', exact: true }).click();
  expect(page.url()).toContain('#reports/year-end?donor=7');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst who looks at a chart goes on looking at one in another period, in words', async () => {
  const { page, faults } = await open('#reports/deposits?period=last-month&splitBy=MONTH');
  await page.getByRole('tab', { name: 'Chart' }).click();
  await page.getByRole('img', { name: 'Bar chart of Received by month, May 2024 to May 2024.' }).waitFor();
  await choose(page, 'Period', 'This year');
  await page.getByRole('img', { name: 'Bar chart of Received by month, Apr 2024 to May 2024.' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst is told that typed dates wait for Enter', async () => {
  const { page, faults } = await open('#reports/deposits?period=last-month');
  const hint = page.getByText('Press Enter to see these');
  await page.getByRole('table').waitFor();
  expect(await hint.count()).toBe(0);
  await page
    .getByRole('spinbutton', { name: /^month/ })
    .first()
    .click();
  await page.keyboard.type('04');
  await hint.waitFor();
  expect(await page.locator('.card').first().innerText()).toContain('21.00');
  await page.keyboard.press('Enter');
  await page.getByText('31.50').first().waitFor();
  expect(await hint.count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a file says in words what its rows are, whatever the reader’s locale', async () => {
  const { page, faults } = await open('#reports/gifts?period=last-month&pending=ONLY&fund=4&amountMin=1.50', 'de-DE');
  await page.getByRole('table').waitFor();
  await page.getByLabel('Search in these rows').fill('wells');
  await page.getByText('1 row', { exact: true }).or(page.getByText('1 of 1 rows')).first().waitFor();
  const [record] = parse<Record<string, string>>(await saveFile(page, 'CSV'), { columns: true, bom: true });
  expect(record).toMatchObject({ Status: 'Pending', 'Deposit date': '2024-05-04', 'To this fund': '10.50' });
  const facts = readXlsx(await saveFile(page, 'XLSX'))[1]!.rows.map((row) => Object.values(row));
  expect(facts).toContainEqual(['Pending deposits', 'only these']);
  expect(facts).toContainEqual(['Condition', 'Fund: Wells (4)']);
  expect(facts).toContainEqual(['Condition', 'Whole gift: from 1.50']);
  await page.getByText('Whole gift: from 1,50').waitFor();
  expect(facts).toContainEqual(['Rows of this file', 'Search: “wells”']);
  expect(JSON.stringify(facts)).not.toMatch(/\d,\d|\.0?5\./);
  expect(faults).toEqual([]);
  await page.context().close();
});

describe('an analyst who saves a report', () => {
  const item = (page: Page, name: string): Locator => page.getByRole('listitem').filter({ hasText: `/reports/${name}.csv` });

  test('reads in the list of saved reports what it asks for, without JSON', async () => {
    const { page, faults } = await open('#reports/deposits?period=last-month&compare=last-year&fund=4&amountMin=5.00');
    await page.getByRole('table').waitFor();
    await page.getByText('Fund: Wells').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Title').inputValue()).toBe(
      'Money received, Last month, against a year before, Fund: Wells (4), Whole gift: from 5.00',
    );
    await dialog
      .getByText(/^The period is “Last month”, anew each time, here and for programs. Today that is 2024-05-01 to 2024-05-31 \(UTC\)./)
      .waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/^Saved as/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'All saved reports' }).click();
    const saved = item(page, 'money-received-last-month-against-a-year-before-fund-wells-4-whole-gift-from-5-0');
    await saved
      .getByText(
        'Money received · Last month · Counts by: date of the deposit · Pending deposits: included · Compared with: A year before · Divided by: Day · Fund: Wells (4) · Whole gift: from 5.00',
      )
      .waitFor();
    expect(await saved.getByText('{').filter({ visible: true }).count()).toBe(0);
    await saved.getByText('Parameters of its address').click();
    expect(await saved.getByText('amount').first().isVisible()).toBe(true);
    // The gateway has a clock of its own.
    await saved.getByText(/^“Last month”, anew each time; now \d{4}-\d\d-01 to \d{4}-\d\d-\d\d$/).waitFor();
    expect(await saved.getByText('startDate').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('finds the pending deposits of a report that was saved when its form began with them', async () => {
    const { page, faults } = await open('#reports/bank-tie-out?period=2020-01-01..2020-03-31&pending=WITH');
    await page.getByText('Of which pending').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Tie out');
    // An earlier page wrote no pending into the choices.
    await page.route('**/graphql', (route) => route.continue({ postData: route.request().postData()?.replaceAll('&pending=WITH', '') }));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/^Saved as/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Reports' }).getByRole('button', { name: 'Donors' }).click();
    await page.getByRole('heading', { name: 'Donors' }).waitFor();
    await page.getByRole('navigation', { name: 'Reports' }).getByRole('button', { name: 'Tie out' }).click();
    await page.getByText('Of which pending').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('is told that programs get all gifts, comes back from a link, and sees a deleted one go', async () => {
    const { page, faults } = await open('#reports/largest?period=this-year');
    await page.getByRole('table').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This page has the 50 largest. Programs get all of the period, in the order of the books.').waitFor();
    await dialog.getByLabel('Title').fill('The largest');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/^Saved as/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Donors', exact: true }).click();
    await page.getByRole('heading', { name: 'Donors' }).waitFor();
    await page.evaluate(`location.hash = '#saved/the-largest'`);
    await page.getByRole('heading', { name: 'The largest' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Donors' }).waitFor();
    await page.getByRole('button', { name: 'All saved reports' }).click();
    await item(page, 'the-largest').getByText('The 50 largest').waitFor();
    const beside = page.getByRole('navigation', { name: 'Reports' }).getByRole('button', { name: 'The largest' });
    expect(await beside.count()).toBe(1);
    await page.getByRole('button', { name: 'Delete The largest' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted “The largest”.').waitFor();
    expect(await beside.count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('proposes no donor’s name for its title, which becomes a part of an address', async () => {
    const { page, faults } = await open('#reports/donor?period=last-month&donor=7');
    await page.getByRole('table').waitFor();
    await untilDonorIs(page, /^\D/);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(await page.getByRole('dialog').getByLabel('Title').inputValue()).toBe('A donor’s gifts, Last month, Donor: No. 7');
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
