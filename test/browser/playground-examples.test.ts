import { readFile } from 'node:fs/promises';
import type { Page, Response } from 'playwright-core';
import { createDemoLines } from '../../src/domain/imports/demo-lines';
import { createOrganization, type TestOrganization } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto, type OpenPage } from '../support/playground-browser';

const gateway = openPlayground();

/** Creates an organization with the demo as it is on a day. */
async function createDemo(day: string): Promise<TestOrganization> {
  const organization = await createOrganization(gateway.services);
  await gateway.services.imports.importLines(organization.id, createDemoLines(new Date(`${day}T12:00:00Z`)), {
    source: () => ({ cause: 'demo' }),
  });
  return organization;
}

/** Opens the page as an analyst does on a day. */
async function openOn(day: string, organization: TestOrganization): Promise<OpenPage> {
  const opened = await gateway.visit({ as: organization, now: `${day}T12:00:00Z` });
  await logIn(opened.page);
  await opened.page.getByRole('button', { name: 'Table' }).click();
  return opened;
}

async function titlesOn(page: Page): Promise<string[]> {
  return (await page.getByLabel('Examples').locator('option').allTextContents()).filter((title) => !title.endsWith('…'));
}

/** Opens an example, runs it, and returns the number of rows in its table. */
async function runExample(page: Page, label: string): Promise<number> {
  await page.getByLabel('Examples').selectOption({ label });
  const nothingYet = page.getByText('No rows yet');
  await nothingYet.waitFor();
  await execute(page);
  await nothingYet.waitFor({ state: 'detached' });
  const table = page.getByRole('table');
  return (await table.count()) === 0 ? 0 : Number(await table.getAttribute('aria-rowcount')) - 1;
}

/** The number of rows that the page tells of a download and the number in its file. Both are 0 for a query that makes no file. */
async function downloadRows(page: Page): Promise<[told: number, saved: number]> {
  const outcome = page.locator('.download-outcome', { hasText: /checked|asks for no lines/ });
  const saving = page.waitForEvent('download', { timeout: 0 }).catch(() => undefined);
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  const text = (await outcome.textContent()) ?? '';
  if (text.includes('asks for no lines')) return [0, 0];
  const saved = await saving;
  const lines = (await readFile(await saved!.path(), 'utf8')).split('\r\n').length - 2;
  return [Number(/^[\d,]+/.exec(text)?.[0].replaceAll(',', '')), lines];
}

const DONOR_YEAR = 'A donor’s last twelve months';

interface DonorYearRequest {
  readonly operationName?: string;
  readonly variables: { readonly startDate: string; readonly endDate: string };
}

interface DonorYearAnswer {
  readonly data: { readonly depositDetailsConnection: { readonly nodes: readonly { readonly donorId: number }[] } };
}

/** Waits for the next run of a donor's year. Returns its variables and the donor's id of each line. */
async function nextDonorYear(page: Page): Promise<{ variables: DonorYearRequest['variables']; donorIds: number[] }> {
  const requestOf = (response: Response) => response.request().postDataJSON() as DonorYearRequest;
  const response = await page.waitForResponse((each) => each.url().endsWith('/graphql') && requestOf(each).operationName === 'DonorYear');
  const { data } = (await response.json()) as DonorYearAnswer;
  return { variables: requestOf(response).variables, donorIds: data.depositDetailsConnection.nodes.map(({ donorId }) => donorId) };
}

const CHARTS: Readonly<Record<string, RegExp>> = {
  'Funds of the last 30 days': /^Bar chart of all\.byAllocation\.amount by fund: .+ has the most, [\d,]+\.\d\d\.$/,
  'Funds of the last twelve months, month by month':
    /^Bar chart of all\.byAllocation\.amount by fund and month, [A-Z][a-z]{2} \d{4} to [A-Z][a-z]{2} \d{4}: .+ has the most, [\d,]+\.\d\d\.$/,
  [DONOR_YEAR]: /^Bar chart of all\.byTransaction\.amount by month, [A-Z][a-z]{2} \d{4} to [A-Z][a-z]{2} \d{4}\.$/,
};

test('an analyst takes every example through its answer, table, chart and download', async () => {
  const day = new Date().toISOString().slice(0, 10);
  const { page, faults } = await openOn(day, await createDemo(day));
  const titles = await titlesOn(page);
  expect(titles).toEqual(expect.arrayContaining(Object.keys(CHARTS)));
  for (const title of titles) {
    const rows = await runExample(page, title);
    await page.getByRole('button', { name: 'Chart' }).click();
    const chart = CHARTS[title];
    await (chart ? page.getByRole('img', { name: chart }) : page.getByText('Nothing to draw')).waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    const [told, saved] = await downloadRows(page);
    const hasFile = title !== 'Test my credentials';
    expect({ title, hasRows: rows > 0, hasFile: saved > 0, told }).toEqual({ title, hasRows: true, hasFile, told: saved });
  }
  expect(faults).toEqual([]);
  await page.context().close();
}, 300_000);

test('an analyst finds one donor of the demo by the example’s name, and the same one by the ID in its comment', async () => {
  const day = new Date().toISOString().slice(0, 10);
  const { page, faults } = await openOn(day, await createDemo(day));
  const [byName] = await Promise.all([nextDonorYear(page), runExample(page, DONOR_YEAR)]);
  const comment = (await page.locator('.graphiql-query-editor .view-lines').innerText()).replaceAll('\u00a0', ' ');
  const donorId = Number(/"donorIds": \[(\d+)\]/.exec(comment)?.[1]);
  expect(new Set(byName.donorIds)).toEqual(new Set([donorId]));
  await pasteInto(page, 'variables', JSON.stringify({ ...byName.variables, filter: { donorIds: [donorId] } }));
  const [byId] = await Promise.all([nextDonorYear(page), execute(page)]);
  expect(byId.donorIds).toEqual(byName.donorIds);
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each([
  ['a Sunday', '2026-11-22'],
  ['New Year’s Day', '2027-01-01'],
  ['the first of a month', '2026-03-01'],
  ['the last of a month', '2026-07-31'],
  ['a leap day', '2028-02-29'],
])(
  'an analyst finds rows in every example on %s',
  async (_what, day) => {
    const { page, faults } = await openOn(day, await createDemo(day));
    const empty: string[] = [];
    for (const title of await titlesOn(page)) if ((await runExample(page, title)) === 0) empty.push(title);
    expect([empty, faults]).toEqual([[], []]);
    await page.context().close();
  },
  300_000,
);
