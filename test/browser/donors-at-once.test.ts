import { readFile } from 'node:fs/promises';
import { source as axe } from 'axe-core';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { REPORT_PRIVILEGE } from '../../src/values/privileges';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { logIn, openPlayground, printPage } from '../support/playground-browser';
import { until } from '../support/until';
import { readXlsx } from '../support/xlsx-reader';

const people = {
  ada: { donor_id: 7, donor_first_name: 'Ada', donor_last_name: 'Lovelace' },
  grace: { donor_id: 8, donor_first_name: 'Grace', donor_last_name: 'Hopper', address1: '1 Navy Yard', city: 'Arlington', state: 'VA' },
  alan: { donor_id: 9, donor_first_name: 'Alan', donor_last_name: 'Turing' },
  mary: { donor_id: 10, donor_first_name: 'Mary', donor_last_name: 'Anning' },
  emmy: { donor_id: 11, donor_first_name: 'Emmy', donor_last_name: 'Noether', city: 'Boston', state: 'MA', zip: '02134' },
  nobody: { donor_id: 0, donor_first_name: '', donor_last_name: '', address1: '', city: '', zip: '', phone: '', email_address: '' },
} as const;
let gifts = 0;
/** A gift to fund 3, which is deposited on the day on which it is given unless another is said. */
const gift = (who: keyof typeof people, given: string, amount: string, more: Readonly<Record<string, unknown>> = {}) => {
  const id = `T${++gifts}`;
  return v2Line({
    ...{ deposit_id: `D${id}`, transaction_id: id, allocation_id: `A${id}`, transaction_date: given, deposit_date: given },
    ...{ amount, fee_amount: '0.00', net_amount: amount, allocation_amount: amount, ...people[who], ...more },
  });
};
const ofAlan = gift('alan', '2026-03-01', '400.00', { allocation_amount: '250.00' });
const lines = [
  gift('ada', '2024-03-03', '100.00'),
  ...[gift('ada', '2025-05-05', '300.00'), gift('ada', '2026-02-02', '50.00')],
  // The gift of the last day of the year is deposited in the next one.
  ...[gift('grace', '2025-06-01', '120.00'), gift('grace', '2025-12-31', '80.00', { deposit_date: '2026-01-02' })],
  ...[ofAlan, { ...ofAlan, allocation_id: 'AW', allocation_amount: '150.00', designation_id: 4, designation: 'Wells' }],
  ...[gift('mary', '2024-04-04', '75.00'), gift('mary', '2026-04-04', '20.00')],
  ...[gift('emmy', '2023-01-10', '10.00'), gift('emmy', '2025-07-07', '60.00'), gift('nobody', '2023-09-09', '5.00')],
  ...[gift('nobody', '2025-08-08', '999.00'), gift('nobody', '2026-05-05', '999.00')],
];
const gateway = openPlayground({ loggedIn: true, lines });
const NOW = '2026-06-15T12:00:00Z';
const BY_GIFT = 'dateBasis=TRANSACTION_DATE';

async function open(
  hash: string,
  as = gateway.organization,
  viewport = { width: 1600, height: 900 },
): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const opened = await gateway.visit({ hash, as, now: NOW, locale: 'en-US', viewport });
  await logIn(opened.page);
  await opened.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  return opened;
}

type Rows = readonly Readonly<Record<string, string>>[];
/** The rows of the table by the titles of their columns, once they are there, and the sentence above them. */
async function read(page: Page): Promise<{ readonly rows: Rows; readonly total: Readonly<Record<string, string>>; readonly told: string }> {
  await page.getByText(/^One row is a donor/).waitFor();
  await page.locator('.table-totals').waitFor();
  return page.evaluate(`(() => {
    const texts = (part, selector) => [...part.querySelectorAll(selector)].map(({ textContent }) => textContent);
    const names = texts(document, '.table-names [role=columnheader] .column-sort');
    const toRow = (row) => Object.fromEntries(texts(row, '[role=cell]').map((text, n) => [names[n], text]));
    return {
      rows: [...document.querySelectorAll('[data-row]')].map(toRow),
      total: toRow(document.querySelector('.table-totals')),
      told: document.querySelector('.report-head p').textContent,
    };
  })()`);
}
const pick = (rows: Rows, ...titles: readonly string[]) => rows.map((row) => titles.map((title) => row[title]));
const hashOf = (page: Page): string => new URL(page.url()).hash;

async function choose(page: Page, field: string, option: string): Promise<void> {
  const button = page.getByRole('button', { name: new RegExp(`${field}$`) });
  if (!(await button.isVisible())) await page.getByRole('button', { name: 'More choices' }).click();
  await button.click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

async function download(page: Page, format: string): Promise<{ readonly name: string; readonly content: Buffer }> {
  await page.getByRole('button', { name: 'Download' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(format, { exact: true }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download', exact: true }).click()]);
  const content = await readFile(await saved.path());
  await page.keyboard.press('Escape');
  return { name: saved.suggestedFilename(), content };
}

/** The records of a CSV file of the gateway. */
async function fetchCsv(url: string): Promise<Record<string, string>[]> {
  const response = await fetch(url, { headers: { Provision: gateway.organization.apiProvision } });
  expect(response.status).toBe(200);
  return parse(await response.text(), { columns: true, bom: true });
}

/** Each choice with its sheet of 2026: the number of each donor, what was received, the first and the last gift, and the sentence above it. */
const sheets = [
  {
    hash: `who=at-least&givenMin=50.00&${BY_GIFT}`,
    told: 'Donors who gave at least 50.00 in 2026, by gift date.',
    rows: [
      ['9', '400.00', 'Mar 1, 2026', 'Mar 1, 2026'],
      ['7', '50.00', 'Feb 2, 2026', 'Feb 2, 2026'],
    ],
    total: '450.00',
  },
  {
    hash: `who=first-time&${BY_GIFT}`,
    told: 'Donors who gave for the first time in 2026, by gift date.',
    rows: [['9', '400.00', 'Mar 1, 2026', 'Mar 1, 2026']],
    total: '400.00',
  },
  {
    hash: `who=lapsed&${BY_GIFT}`,
    told: 'Donors who gave in 2025 and not in 2026, by gift date.',
    of: ' (a year before)',
    rows: [
      ['8', '200.00', 'Jun 1, 2025', 'Dec 31, 2025'],
      ['11', '60.00', 'Jul 7, 2025', 'Jul 7, 2025'],
    ],
    total: '260.00',
  },
  {
    hash: 'who=lapsed',
    told: 'Donors who gave in 2025 and not in 2026, by deposit date.',
    of: ' (a year before)',
    rows: [['11', '60.00', 'Jul 7, 2025', 'Jul 7, 2025']],
    total: '60.00',
  },
  {
    hash: 'who=lapsed&pending=WITHOUT',
    told: 'Donors who gave in 2025 and not in 2026, by deposit date. Gifts in pending deposits do not count.',
    of: ' (a year before)',
    rows: [['11', '60.00', 'Jul 7, 2025', 'Jul 7, 2025']],
    total: '60.00',
  },
  {
    hash: `period=2024-01-01..2024-12-31&who=lapsed&${BY_GIFT}`,
    told: 'Donors who gave in 2023 and not in 2024, by gift date.',
    of: ' (a year before)',
    rows: [['11', '10.00', 'Jan 10, 2023', 'Jan 10, 2023']],
    total: '10.00',
  },
  {
    hash: `who=both&${BY_GIFT}`,
    told: 'Donors who gave in 2025 and in 2026, by gift date.',
    rows: [['7', '50.00', 'Feb 2, 2026', 'Feb 2, 2026']],
    total: '50.00',
  },
  {
    hash: 'who=both',
    told: 'Donors who gave in 2025 and in 2026, by deposit date.',
    rows: [
      ['8', '80.00', 'Jan 2, 2026', 'Jan 2, 2026'],
      ['7', '50.00', 'Feb 2, 2026', 'Feb 2, 2026'],
    ],
    total: '130.00',
  },
] as const;

test.each(sheets)('an analyst sees donors by what they gave, and the sheet says which: $told', async (sheet) => {
  const { hash, told, rows, total } = sheet;
  const of = 'of' in sheet ? sheet.of : '';
  const { page, faults } = await open(`#reports/donors?${hash}`);
  const titles = ['Donor number', `Received${of}`, `First gift${of}`, `Last gift${of}`];
  const seen = await read(page);
  expect(pick(seen.rows, ...titles)).toEqual(rows);
  const card = await page.locator('.card strong').first().innerText();
  expect([seen.total[titles[1]!], card, seen.told]).toEqual([total, total, told]);
  const [printed] = await printPage(page);
  expect(printed!.lines).toContain(told);
  expect(printed!.rows).toHaveLength(rows.length + 2);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst chooses the donors by a sum that they type, and compares them with another period', async () => {
  const { page, faults } = await open('#reports/donors');
  const everybody = await read(page);
  // The largest come first, as the head of their column says.
  const sums = pick(everybody.rows, 'Donor number', 'Received').map((row) => row.join(' '));
  expect(sums).toEqual(['9 400.00', '8 80.00', '7 50.00', '10 20.00', '0 999.00']);
  const received = page.getByRole('columnheader', { name: 'Received' });
  expect(await received.getAttribute('aria-sort')).toBe('descending');
  await received.getByRole('button').click();
  await until(
    async () =>
      pick((await read(page)).rows, 'Donor number')
        .flat()
        .join() === '10,7,8,9,0',
  );
  await received.getByRole('button').click();
  await until(
    async () =>
      pick((await read(page)).rows, 'Donor number')
        .flat()
        .join() === '9,8,7,10,0',
  );
  // All of a name leads on, and is one stop of the keyboard.
  const names = page.locator('[data-row="1"] button');
  expect(
    await page.evaluate(
      `[...document.querySelectorAll('[data-row="1"] button')].map(({ textContent, tabIndex }) => [textContent, tabIndex])`,
    ),
  ).toEqual([
    ['Grace', 0],
    ['Hopper', -1],
  ]);
  await names.nth(1).click();
  await page.getByRole('heading', { name: 'A donor’s gifts' }).waitFor();
  expect(hashOf(page)).toBe('#reports/donor?donor=8');
  await page.goBack();
  await read(page);
  expect(everybody.told).toBe('Who gave how much?');
  await choose(page, 'Who', 'Gave at least …');
  await page.getByText('Type the least sum of a donor’s gifts.').waitFor();
  const least = page.getByRole('textbox', { name: 'At least' });
  await until(async () => (await page.evaluate('document.activeElement.labels?.[0]?.textContent')) === 'At least');
  await page.keyboard.type('lots');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Write an amount such as 1,000.00.' }).waitFor();
  await least.fill('-80');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Write an amount such as 1,000.00.' }).waitFor();
  await least.fill('80');
  await page.keyboard.press('Enter');
  await until(async () => (await page.evaluate('document.activeElement.value')) === '80.00');
  expect(pick((await read(page)).rows, 'Donor number', 'Received')).toEqual([
    ['9', '400.00'],
    ['8', '80.00'],
  ]);
  expect(hashOf(page)).toBe('#reports/donors?who=at-least&givenMin=80.00');
  // A fund has its shares: those of one donor are 250.00 and 150.00.
  await page.evaluate(`location.hash += '&fund=4'`);
  await page
    .getByText('at least 80.00 in 2026, by deposit date. Only gifts that fit the conditions count. Unknown shares do not count.')
    .waitFor();
  expect(pick((await read(page)).rows, 'Donor number', 'To this fund')).toEqual([['9', '150.00']]);
  await page.evaluate(`location.hash = location.hash.replace('80.00', '151.00')`);
  await page.getByText('No donor fits these choices.').waitFor();
  await page.evaluate(`location.hash = '#reports/donors'`);
  await read(page);
  await choose(page, 'Who', 'Gave before and not now');
  expect((await read(page)).told).toBe('Donors who gave in 2025 and not in 2026, by deposit date.');
  await page.getByRole('button', { name: /Compare with$/ }).click();
  expect(await page.getByRole('option').allTextContents()).toEqual(['The period before', 'A year before', 'Other dates']);
  await page.keyboard.press('Escape');
  // The row opens the gifts that the sheet adds up.
  await page.getByRole('button', { name: 'Open donor 11' }).click();
  await page.getByRole('heading', { name: 'A donor’s gifts' }).waitFor();
  expect(hashOf(page)).toBe('#reports/donor?period=2025-01-01..2025-12-31&donor=11');
  await page.locator('.card').first().getByText('60.00', { exact: true }).waitFor();
  await page.evaluate(`location.hash = '#reports/donors?who=lapsed&period=all-time'`);
  await page.getByText('Choose a period that begins and ends.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  [1280, 800],
  [390, 844],
])('the sum of donors has room at %d by %d, for an analyst who needs help to see too', async (width, height) => {
  const { page, faults } = await open('#reports/donors?who=at-least&givenMin=50.00', gateway.organization, { width, height });
  await read(page);
  await page.evaluate(axe);
  const found = await page.evaluate(`axe.run().then(({ violations }) => [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)),
    ...[...document.querySelectorAll('.report-form :is(button, input), .report-head p')]
      .filter((part) => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth)
      .map(({ textContent }) => 'cut off: ' + textContent),
  ])`);
  const seen = [
    page.getByRole('textbox', { name: 'At least' }),
    page.getByText('Donors who gave at least 50.00 in 2026, by deposit date.'),
  ];
  expect([found, ...(await Promise.all(seen.map((part) => part.isVisible())))]).toEqual([[], true, true]);
  await page.screenshot({ path: `coverage/donors-at-once-${width}.png` });
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst takes addresses into a spreadsheet that a mail merge reads', async () => {
  const { page, faults } = await open(`#reports/donors?who=lapsed&${BY_GIFT}`);
  await read(page);
  expect(Object.keys((await read(page)).rows[0]!)).not.toContain('Address');
  await choose(page, 'Addresses', 'For letters');
  await page.getByRole('columnheader', { name: 'ZIP' }).waitFor();
  expect(hashOf(page)).toBe(`#reports/donors?${BY_GIFT}&compare=last-year&who=lapsed&addresses=WITH`);
  await page.screenshot({ path: 'coverage/donors-at-once.png' });
  const { name, content } = await download(page, 'XLSX');
  expect(name).toBe('donors-lapsed-by-gift-date-2026-01-01-2026-12-31-beside-2025-01-01-2025-12-31.xlsx');
  const [sheet, totals] = readXlsx(content);
  const day = (date: string) => ({ number: Date.parse(date) / 86_400_000 + 25_569, format: 'yyyy-mm-dd' });
  const money = (number: number) => ({ number, format: '#,##0.00' });
  const names = [
    'First name',
    'Last name',
    'Donor number',
    ...['Gifts', 'Received', 'First gift', 'Last gift'].map((title) => `${title} (a year before)`),
  ];
  const address = ['Address', 'Address, line 2', 'Address, line 3', 'City', 'State', 'ZIP', 'Phone', 'Email'];
  const letters = 'ABCDEFGHIJKLMNO'.split('');
  expect(sheet!.rows[0]).toEqual(Object.fromEntries([...names, ...address].map((title, n) => [letters[n], title])));
  const contact = { N: '555-0100', O: 'ada@example.org' };
  expect(sheet!.rows.slice(1)).toEqual([
    expect.objectContaining({
      ...{ A: 'Grace', B: 'Hopper', E: money(200), F: day('2025-06-01'), G: day('2025-12-31') },
      ...{ H: '1 Navy Yard', K: 'Arlington', L: 'VA', M: 'SW1Y 4JH', ...contact },
    }),
    expect.objectContaining({
      ...{ A: 'Emmy', B: 'Noether', E: money(60), F: day('2025-07-07'), G: day('2025-07-07') },
      ...{ H: '12 St James Square', K: 'Boston', L: 'MA', M: '02134', ...contact },
    }),
  ]);
  expect(totals!.rows).toContainEqual({ A: 'Who', B: 'Donors who gave in 2025 and not in 2026, by gift date.' });
  const csv = await download(page, 'CSV');
  const records = parse<Record<string, string>>(csv.content, { columns: true, bom: true });
  expect(records.map((record) => [record['Last name'], record.City, record['Received (a year before)']])).toEqual([
    ['Hopper', 'Arlington', '200.00'],
    ['Noether', 'Boston', '60.00'],
  ]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  ['at-least&givenMin=50.00', ['7', '9'], 'transaction_amount', ['50.00', '400.00']],
  ['first-time', ['9'], 'transaction_amount', ['400.00']],
  ['lapsed', ['8', '11'], 'compared_transaction_amount', ['200.00', '60.00']],
  ['both', ['7'], 'compared_transaction_amount', ['300.00']],
])('programs get the donors of the page, by a saved report and by an address: %s', async (who, ids, column, amounts) => {
  const { page, faults } = await open(`#reports/donors?who=${who}&${BY_GIFT}&addresses=WITH`);
  const { told } = await read(page);
  const name = `write-${who.replace(/&.*/, '')}`;
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const saving = page.getByRole('dialog', { name: 'Save the report' });
  await saving.getByLabel('Title').fill(name);
  await saving.getByRole('button', { name: 'Save', exact: true }).click();
  await saving.getByText(`Saved as ${name}.`).waitFor();
  await saving.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy curl command' }).click();
  await page.getByText('The command is copied.').waitFor();
  const command = await page.evaluate<string>('navigator.clipboard.readText()');
  await page.keyboard.press('Escape');
  for (const url of [`${gateway.url}/reports/${name}.csv`, /'(http[^']+)'$/.exec(command)![1]!]) {
    const records = await fetchCsv(url);
    expect(records.map((record) => record.donor_id)).toEqual(ids);
    expect(records.map((record) => record[column])).toEqual(amounts);
    expect(records[0]).toEqual(expect.objectContaining({ zip: expect.any(String) as string, phone: '555-0100' }));
  }
  // What was saved is what is on the screen, and opens as that.
  await page.getByText(`Donors. ${told}`).waitFor();
  await page.goto('about:blank');
  await page.goto(`${gateway.url}/playground#saved/${name}`);
  await page.getByText(`Donors. ${told}`).waitFor();
  // The page begins with the largest sums, and programs go by the number.
  expect(
    pick((await read(page)).rows, 'Donor number')
      .flat()
      .toSorted((one, other) => Number(one) - Number(other)),
  ).toEqual(ids);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('new donors of a saved report are those of the period on the day on which programs ask', async () => {
  const names = async (period: string) =>
    (await fetchCsv(`${gateway.url}/reports/write-first-time.csv?${period}`)).map((row) => row.donor_id);
  expect(await names('startDate=2025-01-01&endDate=2025-12-31')).toEqual(['8']);
  expect(await names('startDate=2024-01-01&endDate=2024-12-31')).toEqual(['7', '10']);
});

test('a colleague follows the link to chosen donors, and a person who may read no donors does not see them', async () => {
  const { page, faults } = await open('#reports/donors?who=both');
  await read(page);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByRole('status').filter({ hasText: 'The link is copied.' }).waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(new URL(link).hash).toBe('#reports/donors?compare=last-year&who=both');
  await page.context().close();
  const colleague = await open(new URL(link).hash);
  expect(pick((await read(colleague.page)).rows, 'Donor number').flat()).toEqual(['8', '7']);
  await colleague.page.context().close();
  const as = await createOrganization(gateway.services);
  await importLines(gateway.services, as, lines);
  await gateway.services.users.changeGrants(as.name, as.username, { verb: 'revoke', privileges: [REPORT_PRIVILEGE] });
  const stranger = await open(new URL(link).hash, as);
  await stranger.page.getByText('You may not read this report, because it shows donors.').waitFor();
  expect(await stranger.page.getByText('Lovelace').count()).toBe(0);
  expect([...faults, ...colleague.faults, ...stranger.faults]).toEqual([]);
  await stranger.page.context().close();
});
