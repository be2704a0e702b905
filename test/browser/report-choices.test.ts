import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { logIn, openPlayground, pasteInto } from '../support/playground-browser';
import { until } from '../support/until';

const NOW = '2024-06-15T12:00:00Z';
const gateway = openPlayground({
  loggedIn: true,
  lines: [
    v2Line({ deposit_date: '2024-05-03', allocation_amount: '10.50' }),
    v2Line({
      ...{ deposit_id: 'D2', transaction_id: 'P11', allocation_id: 'P110', deposit_date: '2024-05-14', designation_id: 4 },
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
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('menuitem', { name: 'Amount' }).click();
    const before = page.url();
    const from = page.locator('.amounts input[name=min]');
    const written = await from.inputValue();
    expect(written).not.toBe('');
    await page.locator('.amounts input[name=max]').fill('');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await until(() => page.url() !== before, 15_000);
    expect(new URL(page.url()).hash).toContain('amountMin=-1234.50');
    await page.context().close();
  },
);
