import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground, pasteInto } from '../support/playground-browser';
import { until } from '../support/until';

const NOW = '2024-06-15T12:00:00Z';
const gateway = openPlayground({
  loggedIn: true,
  lines: [
    v2Line({ transaction_date: '2024-05-02', deposit_date: '2024-05-03', allocation_amount: '10.50' }),
    v2Line({
      ...{ deposit_id: 'D2', transaction_id: 'P11', allocation_id: 'P110', designation_id: 4 },
      ...{ transaction_date: '2024-05-12', deposit_date: '2024-05-14' },
      ...{ designation: 'Wells', allocation_amount: '10.50' },
    }),
  ],
});

async function open(hash: string, locale = 'en-US'): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const opened = await gateway.visit({ hash, now: NOW, locale });
  await logIn(opened.page);
  return opened;
}

/** Saves a report as a program does. */
async function save(name: string, query: string): Promise<void> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Provision: gateway.organization.webProvision, Cookie: gateway.cookie },
    body: JSON.stringify({
      query: 'mutation ($input: SaveReportInput!) { saveReport(input: $input) { replaced } }',
      variables: { input: { name, title: name, query, variables: {} } },
    }),
  });
  expect(await response.json()).toEqual({ data: { saveReport: { replaced: false } } });
}

const mode = (page: Page, name: 'Reports' | 'GraphQL') =>
  page.getByRole('navigation', { name: 'Modes' }).getByRole('button', { name, exact: true });

const QUERY = 'query Lines { depositDetailsConnection(first: 5) { nodes { designation amount } } }';

describe('a colleague with a link to a report that was saved in GraphQL', () => {
  test('goes back to the reports by the button, and by Back', async () => {
    await save('lines-of-all', QUERY);
    const { page, faults } = await open('#saved/lines-of-all');
    const editor = page.locator('.graphiql-query-editor').getByText('query Lines');
    await editor.waitFor();
    await mode(page, 'Reports').click();
    await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
    expect(await mode(page, 'Reports').getAttribute('aria-current')).toBe('page');
    await mode(page, 'GraphQL').click();
    await editor.waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
    await page.goBack();
    await editor.waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
    expect(await page.locator('.graphiql-tab').count()).toBe(2);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

test('an analyst who takes two dates from the calendar sees the report of them', async () => {
  const { page, faults } = await open('#reports/designations?period=2024-05-01..2024-05-31');
  await page.getByRole('cell', { name: 'Wells' }).waitFor();
  await page.getByRole('button', { name: 'Open the calendar' }).click();
  await page.getByRole('button', { name: /May 3, 2024/ }).click();
  await page.getByRole('button', { name: /May 4, 2024/ }).click();
  await until(() => page.url().endsWith('#reports/designations?period=2024-05-03..2024-05-04'), 15_000);
  await page.getByRole('cell', { name: 'Wells' }).waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: 'General Fund' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst elsewhere in the world sees the month of the organization, and a preset again in what was saved', async () => {
  const { organization, services } = gateway;
  await services.organizations.setTimeZone(organization.name, 'Pacific/Kiritimati');
  // It is May 31 in Los Angeles, and June 1 on Kiritimati.
  const visit = { hash: '#reports/designations?period=last-month', now: '2024-05-31T12:00:00Z', timezoneId: 'America/Los_Angeles' };
  const { page, faults } = await gateway.visit(visit);
  await logIn(page);
  await page.getByRole('cell', { name: 'Wells' }).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const saving = page.getByRole('dialog', { name: 'Save the report' });
  await saving.getByText(/Today that is 2024-05-01 to 2024-05-31 \(Pacific\/Kiritimati\)\./).waitFor();
  await saving.getByLabel('Title').fill('Every month');
  await saving.getByRole('button', { name: 'Save', exact: true }).click();
  await saving.getByRole('status').filter({ hasText: 'Saved as every-month.' }).waitFor();
  await page.keyboard.press('Escape');
  const { rows } = await gateway.database.client.query(`SELECT period, variables FROM saved_report WHERE name = 'every-month'`);
  expect(rows).toEqual([{ period: 'last-month', variables: { dateBasis: 'DEPOSIT_DATE', pending: 'WITH' } }]);
  await page.goto('about:blank');
  await page.goto(`${gateway.url}/playground#saved/every-month`);
  await page.getByRole('cell', { name: 'Wells' }).waitFor();
  await page.getByRole('button', { name: 'Last month Period' }).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByText('Each file has “Last month” as of its own day.').waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy curl command' }).click();
  await page.getByText(/^The command is copied/).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    `'${gateway.url}/export/deposit-summary.csv?period=last-month&include_pending=true&group_by=DESIGNATION`,
  );
  expect(faults).toEqual([]);
  await page.context().close();
  await services.organizations.setTimeZone(organization.name, 'UTC');
});

test('a report that was edited in GraphQL opens there, with the figures of its file', async () => {
  const { page, faults } = await open('#graphql');
  await page.locator('#examples:enabled').waitFor();
  // The text of a report that was saved in Reports mode, with the condition taken out.
  await pasteInto(page, 'query', `# Reports mode: #reports/designations?period=last-month&fund=4\n${QUERY}`);
  await pasteInto(page, 'variables', '{}');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const saving = page.getByRole('dialog', { name: 'Save the report' });
  await saving.getByLabel('Title').fill('Edited');
  await saving.getByRole('button', { name: 'Save', exact: true }).click();
  await saving.getByRole('status').filter({ hasText: 'Saved as edited.' }).waitFor();
  await page.keyboard.press('Escape');
  await page.goto('about:blank');
  await page.goto(`${gateway.url}/playground#saved/edited`);
  await page.locator('.graphiql-query-editor').getByText('query Lines').first().waitFor();
  expect(await mode(page, 'GraphQL').getAttribute('aria-current')).toBe('page');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst who clicks twice on Save saves once', async () => {
  const { page, faults } = await open('#reports/designations?period=2024-05-01..2024-05-31');
  await page.getByRole('cell', { name: 'Wells' }).waitFor();
  let release!: () => void;
  const clicked = new Promise<void>((resolve) => (release = resolve));
  let asked = 0;
  await page.route('**/graphql', async (route) => {
    if (route.request().postData()?.includes('mutation SaveReport')) {
      asked++;
      await clicked;
    }
    await route.continue();
  });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const saving = page.getByRole('dialog', { name: 'Save the report' });
  await saving.getByLabel('Title').fill('Twice');
  await saving.getByRole('button', { name: 'Save', exact: true }).dblclick();
  await page.keyboard.press('Enter');
  release();
  await saving.getByRole('status').filter({ hasText: 'Saved as twice.' }).waitFor();
  await saving.getByRole('button', { name: 'Close' }).click();
  await saving.waitFor({ state: 'detached' });
  expect([asked, faults]).toEqual([1, []]);
  await page.context().close();
});

test('an analyst who opens a donor from the donors sees the same money', async () => {
  const { page, faults } = await open('#reports/donors?pending=WITHOUT&fund=4');
  await page.getByRole('button', { name: 'Open donor 7' }).click();
  await page.getByRole('heading', { name: 'A donor’s gifts' }).waitFor();
  expect(new URL(page.url()).hash).toBe('#reports/donor?pending=WITHOUT&fund=4&donor=7');
  await page.getByText('1 row', { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each(['en-US', 'de-CH', 'ar-EG', 'fa-IR', 'bn-BD', 'he-IL', 'sv-SE'])(
  'a person of %s sets the amounts that the page has written',
  async (locale) => {
    const { page } = await open('#reports/designations?period=2024-05-01..2024-05-31&amountMin=-1234.50&amountMax=5000.00', locale);
    await page.getByRole('cell', { name: 'Wells' }).waitFor();
    await page.getByRole('button', { name: 'Narrow the report' }).click();
    await page.getByRole('menuitem', { name: 'Amount' }).click();
    const before = page.url();
    const from = page.getByLabel('Amount from');
    const written = await from.inputValue();
    expect(written).not.toBe('');
    await page.getByLabel('Amount to').fill('');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await until(() => page.url() !== before, 15_000);
    expect(new URL(page.url()).hash).toContain('amountMin=-1234.50');
    await page.context().close();
  },
);

/** The name of the element with the focus; `body` where it is lost. */
const FOCUSED = `(({ tagName, ariaLabel, labels, textContent }) =>
  tagName === 'BODY' ? 'body' : (ariaLabel ?? labels?.[0]?.textContent ?? textContent))(document.activeElement)`;
const untilFocused = (page: Page, name: string | RegExp): Promise<void> =>
  until(async () => {
    const focused = await page.evaluate<string>(FOCUSED);
    return typeof name === 'string' ? focused === name : name.test(focused);
  }, 15_000);
const addFilter = async (page: Page, name: string): Promise<void> => {
  await untilFocused(page, 'Narrow the report');
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem').first().waitFor();
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.getByRole('menu').waitFor({ state: 'detached' });
};

describe('an analyst without a mouse', () => {
  test('types where a filter has put the focus: the smaller amount, Tab, the greater one', async () => {
    const { page, faults } = await open('#reports/designations?period=2024-05-01..2024-05-31');
    await page.getByRole('cell', { name: 'Wells' }).waitFor();
    await page.getByRole('button', { name: 'Narrow the report' }).focus();
    await addFilter(page, 'Amount');
    await untilFocused(page, 'Amount from');
    await page.keyboard.type('100');
    await page.keyboard.press('Tab');
    await page.keyboard.type('500');
    await page.keyboard.press('Enter');
    await until(() => page.url().endsWith('amountMin=100.00&amountMax=500.00'), 15_000);
    await untilFocused(page, 'Narrow the report');
    // Typed anew, the amounts take the place of the former ones.
    await addFilter(page, 'Amount');
    await untilFocused(page, 'Amount from');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await until(() => page.url().endsWith('amountMin=2.00&amountMax=500.00'), 15_000);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('has the focus in the field of each filter, and back where it was after Escape', async () => {
    const { page, faults } = await open('#reports/gifts?period=2024-05-01..2024-05-31');
    await page.getByRole('table').waitFor();
    await page.getByRole('button', { name: 'Narrow the report' }).focus();
    for (const [filter, field] of [
      ['Fund', 'Fund'],
      ['Donor', 'Donor'],
      ['Gift date', 'Gift date from'],
      ['Amount', 'Amount from'],
      ['Payment type', 'Payment type'],
      ['Account type', 'Account type'],
      ['Gift status', 'Gift status'],
      ['Version of the books', 'End of the day'],
    ] as const) {
      await addFilter(page, filter);
      await untilFocused(page, field);
      expect(await page.locator('.filter-editor').getByText(field, { exact: true }).isVisible()).toBe(true);
      // The same filter once more leads to its field again.
      await page.keyboard.press('Shift+Tab');
      await addFilter(page, filter);
      await untilFocused(page, field);
      // The first Escape closes the list of what is found.
      await until(async () => {
        await page.keyboard.press('Escape');
        return (await page.locator('.filter-editor').count()) === 0;
      }, 15_000);
      await untilFocused(page, 'Narrow the report');
    }
    await addFilter(page, 'Amount');
    await untilFocused(page, 'Amount from');
    for (const key of ['Tab', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    await untilFocused(page, 'Narrow the report');
    await addFilter(page, 'Fund');
    await untilFocused(page, 'Fund');
    await page.keyboard.type('well');
    await page.getByRole('option', { name: /Wells/ }).waitFor();
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.getByText('Fund: Wells (4)').waitFor();
    await untilFocused(page, 'Narrow the report');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('keeps a place on the page when a condition goes', async () => {
    const { page, faults } = await open('#reports/designations?period=2024-05-01..2024-05-31&fund=3&fund=4&amountMin=1.00');
    await page.getByText('Fund: Wells (4)').waitFor();
    await page.getByRole('row', { name: /Fund: General Fund/ }).focus();
    await page.keyboard.press('Delete');
    await until(() => page.url().endsWith('amountMin=1.00&fund=4'), 15_000);
    await untilFocused(page, /^(Fund: Wells|Whole gift)/);
    await page.keyboard.press('Tab');
    await untilFocused(page, /^Remove/);
    await page.keyboard.press('Enter');
    await untilFocused(page, /^(Fund: Wells|Whole gift)/);
    await page.keyboard.press('Backspace');
    await until(() => page.url().endsWith('period=2024-05-01..2024-05-31'), 15_000);
    await untilFocused(page, 'Narrow the report');
    // A report without further conditions has no button for them.
    await page.evaluate(`location.hash = '#reports/bank-tie-out?deposit=D2'`);
    await page.getByRole('row', { name: 'Deposit: D2' }).focus();
    await page.keyboard.press('Delete');
    await until(() => page.url().endsWith('bank-tie-out'), 15_000);
    await untilFocused(page, /^(?!body)/);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('goes on in the fields that a choice brings: other dates, and the filters of the columns', async () => {
    const { page, faults } = await open('#reports/designations');
    await page.getByRole('cell', { name: 'Wells' }).waitFor();
    await page.getByRole('button', { name: /Period$/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.type('Other');
    await page.keyboard.press('Enter');
    await untilFocused(page, /^month, Start Date/);
    await page.getByRole('table').waitFor();
    await page.getByRole('button', { name: 'Filter these rows' }).focus();
    await page.keyboard.press('Enter');
    await untilFocused(page, 'Fund contains');
    await page.keyboard.type('wel');
    await page.getByText('1 of 2 rows').waitFor();
    await page.getByRole('button', { name: 'Filter these rows' }).focus();
    await page.keyboard.press('Enter');
    await untilFocused(page, 'Filter these rows');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('finds the report that a row or a saved report opens', async () => {
    const { page, faults } = await open('#reports/donors');
    await page.getByRole('button', { name: 'Open donor 7' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'A donor’s gifts' }).waitFor();
    await untilFocused(page, /^A donor’s gifts/);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

test('an analyst asks for the gifts of some dates, by a link, a chip and a column', async () => {
  const { page, faults } = await open('#reports/gifts?period=all-time');
  await page.getByText('2 rows', { exact: true }).waitFor();
  expect(await page.getByRole('columnheader', { name: 'Gift date' }).count()).toBe(1);
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  await page.getByRole('menuitem', { name: 'Gift date' }).click();
  await page.getByLabel('Gift date from').fill('2024-05-10');
  await page.getByLabel('Gift date to').fill('2024-05-09');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByRole('alert').getByText('The first date is the earlier one.').waitFor();
  await page.getByLabel('Gift date to').fill('');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByText('1 row', { exact: true }).waitFor();
  expect(new URL(page.url()).hash).toBe('#reports/gifts?period=all-time&giftDateFrom=2024-05-10');
  await page.getByText('Gift date: from May 10, 2024').waitFor();
  await page.getByRole('button', { name: 'Narrow the report' }).click();
  await page.getByRole('menuitem', { name: 'Gift date' }).click();
  expect(await page.getByLabel('Gift date from').inputValue()).toBe('2024-05-10');
  // The donor's report has the same money as the row that leads to it.
  await page.evaluate(`location.hash = '#reports/donors?giftDateTo=2024-05-09'`);
  await page.getByRole('button', { name: 'Open donor 7' }).click();
  await page.getByText('Gift date: up to May 9, 2024').waitFor();
  await page.getByText('1 row', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show as GraphQL' }).click();
  expect(await page.getByLabel('Variables').textContent()).toContain('"transactionDate": {\n      "to": "2024-05-09"\n    }');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst of all time reads “all dates”, and how to type one once a date has the focus', async () => {
  const { page, faults } = await gateway.visit({ hash: '#reports/deposits?period=all-time', now: NOW, locale: 'en-US' });
  await logIn(page);
  await page.getByRole('table').waitFor();
  const words = page.locator('.open-dates');
  const opacities = (): Promise<string[]> =>
    page.evaluate<string[]>(`['.open-dates', '.date-fields > [slot=start], .date-fields > :has(.date-segment)'].map(
      (part) => getComputedStyle(document.querySelector(part)).opacity)`);
  expect([await words.innerText(), await opacities()]).toEqual(['all dates', ['1', '0']]);
  await words.click({ force: true });
  await page.locator('.date-segment:focus').waitFor();
  expect(await opacities()).toEqual(['0', '1']);
  await page.keyboard.press('Escape');
  await page.evaluate(`location.hash = '#reports/deposits?period=last-month'`);
  await words.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});
