import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { defaultChoices, toAddress } from '../../src/playground/web/choices/report-choices';
import { definitionOf, hasChart, reportDefinitions, type ReportId } from '../../src/playground/web/choices/report-definitions';
import { fillReport } from '../support/long-report';
import { longestTask, rendererMegabytes } from '../support/page-tasks';
import { execute, logIn, openPlayground, pasteInto } from '../support/playground-browser';
import { until } from '../support/until';
import { readXlsx } from '../support/xlsx-reader';

const ROWS = 150_000;
/** The gifts are of 1.00, 2.00 and so on. */
const CENTS = ((ROWS * (ROWS + 1)) / 2) * 100;
const SUM = '11,250,075,000.00';
const STEPS = 120;
const MAX_TASK_MS = 100;
const MAX_ROUNDS = 3;
const REST_MS = 5_000;
const MAX_MEGABYTES = 300;
const gateway = openPlayground();

/** Scrolls in small steps and in long jumps, one a frame. */
const scroll = (page: Page): Promise<void> =>
  page.evaluate(`(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const table = document.querySelector('[role=table]');
    for (let step = 0; step < ${STEPS}; step++) {
      table.scrollTop = step % 3 === 0 ? (table.scrollHeight * step * 7) % table.scrollHeight : table.scrollTop + 400;
      await frame();
    }
  })()`);

const jumpToEnd = (page: Page): Promise<void> => page.evaluate(`document.querySelector('[role=table]').scrollTo(0, 1e9)`);

beforeAll(() => fillReport(gateway.database.client, gateway.organization.id, ROWS, `''`), 120_000);

/** Notes the memory of the renderer at work, and once it is at rest. The browser frees what it needs no longer when the page is at rest. */
async function measureMemory(page: Page, step: string, figures: Record<string, number>): Promise<void> {
  figures[`${step}, at work, MB`] = await rendererMegabytes(page);
  await until(async () => {
    // A page that is asked again and again has no rest.
    await page.waitForTimeout(REST_MS);
    return (figures[`${step}, at rest, MB`] = await rendererMegabytes(page)) < MAX_MEGABYTES;
  });
}

/** Measures the longest task of each step, by the step's name. */
function measureTasks(page: Page) {
  const tasks: Record<string, number> = {};
  const measure = async (step: string, act: () => Promise<unknown>): Promise<void> => {
    tasks[step] = Infinity;
    // Work takes longer on a busy machine, never shorter, so one good round is proof.
    for (let round = 0; round < MAX_ROUNDS && tasks[step] >= MAX_TASK_MS; round++) {
      tasks[step] = Math.min(tasks[step], await longestTask(page, act));
    }
  };
  return { tasks, measure };
}

test('an analyst opens a report of 150,000 lines, sorts, searches, filters and scrolls it, and the page never halts', async () => {
  const { page, faults } = await gateway.visit({ hash: '#reports' });
  await logIn(page);
  page.setDefaultTimeout(60_000);
  const { tasks, measure } = measureTasks(page);
  const figures: Record<string, number> = {};
  const table = page.getByRole('table');
  await measure('run', async () => {
    await page.evaluate(`location.hash = '#reports'`);
    await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
    await page.evaluate(`location.hash = '#reports/gifts?period=all-time'`);
    await page.getByText('150,000 rows', { exact: true }).waitFor();
    await table.getByRole('cell').first().waitFor();
  });
  await measureMemory(page, 'run', figures);
  await measure('scroll', () => scroll(page));
  await measure('sort', async () => {
    const amount = page.getByRole('columnheader', { name: 'To this fund' });
    while ((await amount.getAttribute('aria-sort')) !== 'ascending') await amount.getByRole('button').first().click();
    await jumpToEnd(page);
    await table
      .locator(`[aria-rowindex="${ROWS + 1}"]`)
      .getByText('150,000.00')
      .first()
      .waitFor();
  });
  await measureMemory(page, 'sort', figures);
  await measure('search', async () => {
    await page.getByLabel('Search in these rows').fill('T1499');
    await page.getByText('111 of 150,000 rows', { exact: true }).waitFor();
    await page.getByLabel('Search in these rows').fill('');
    await page.getByText('150,000 rows', { exact: true }).waitFor();
  });
  await measureMemory(page, 'search', figures);
  const dialog = page.getByRole('dialog');
  await measure('spreadsheet', async () => {
    await page.getByRole('button', { name: 'Download' }).click();
    const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
    figures['after the spreadsheet, MB'] = await rendererMegabytes(page);
    expect(readXlsx(await readFile(await saved.path()))[0]!.rows.length).toBe(ROWS + 1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
  console.info({ ...tasks, ...figures });
  expect(faults).toEqual([]);
  expect(Object.entries(tasks).filter(([, longest]) => longest >= MAX_TASK_MS)).toEqual([]);
  await page.context().close();
}, 240_000);

test('an analyst opens every report of 150,000 lines as a table and a chart, and every file adds up', async () => {
  const { page, faults } = await gateway.visit({ hash: '#reports', locale: 'en-US' });
  await logIn(page);
  page.setDefaultTimeout(60_000);
  const dialog = page.getByRole('dialog');
  const sizes: Record<string, number> = {};
  for (const report of Object.keys(reportDefinitions) as ReportId[]) {
    const { rows, needs, isSheet } = definitionOf(report);
    // The one compares two states, of which these books have one; the other has no table.
    if (rows === 'changes' || isSheet) continue;
    await page.evaluate(`location.hash = '#reports'`);
    await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
    const choices = { ...defaultChoices(report), period: 'all-time', ...(needs && { donor: 1 }) };
    await page.evaluate(`location.hash = ${JSON.stringify(toAddress(choices))}`);
    await page.getByText(/^One row is/).waitFor();
    // No deposit of these is pending, and nothing was imported.
    if (report === 'pending' || rows === 'versions') continue;
    expect([report, await page.locator('.card').first().innerText()]).toEqual([report, expect.stringContaining(SUM)]);
    if (hasChart(report)) {
      await page.getByRole('tab', { name: 'Chart' }).click();
      await page.getByRole('img', { name: /chart of/ }).waitFor();
      await page.getByRole('tab', { name: 'Table' }).click();
    }
    for (const format of ['XLSX', 'CSV', 'NDJSON', 'JSON']) {
      await page.getByRole('button', { name: 'Download' }).click();
      await dialog.getByText(format, { exact: true }).click();
      const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
      sizes[`${report} ${format}`] = (await readFile(await saved.path())).length;
      if (format === 'CSV' && choices.limit === 0) {
        const records: Record<string, string>[] = parse(await readFile(await saved.path()), { columns: true, bom: true });
        const sum = records.reduce((total, record) => total + Math.round(Number(record['To this fund'] ?? record.Received) * 100), 0);
        expect([report, sum]).toEqual([report, CENTS]);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  }
  console.info(sizes);
  expect(faults).toEqual([]);
  await page.context().close();
}, 400_000);

test('an analyst runs, sorts, searches and scrolls 150,000 rows of a query, and the page never halts', async () => {
  const { page, faults } = await gateway.visit();
  await logIn(page);
  await page.getByRole('button', { name: 'Table' }).click();
  const fields =
    'depositId depositDate transactionId donorFirstName donorLastName city designation paymentType designationMemo amount feeAmount netAmount';
  await pasteInto(page, 'query', `{ depositDetails(startDate: "2020-01-01", endDate: "2029-12-31") { ${fields} } }`);
  const table = page.getByRole('table');
  const { tasks, measure } = measureTasks(page);
  const figures: Record<string, number> = {};
  page.setDefaultTimeout(60_000);
  figures['first run, with the editor’s own start'] = await longestTask(page, async () => {
    await execute(page);
    await page.getByText('150,000 rows', { exact: true }).waitFor();
    await table.getByRole('cell').first().waitFor();
  });
  await measure('run', async () => {
    await execute(page);
    await page.getByText('No rows yet').waitFor();
    await table.getByRole('cell').first().waitFor();
    await page.locator('.graphiql-response').getByText('transactionId').first().waitFor();
  });
  await measure('scroll', () => scroll(page));
  expect(await table.getByRole('row').count()).toBeLessThan(60);
  await measure('sort', async () => {
    const amount = page.getByRole('columnheader', { name: 'amount', exact: true });
    while ((await amount.getAttribute('aria-sort')) !== 'ascending') await amount.getByRole('button').click();
    await jumpToEnd(page);
    await table
      .locator(`[aria-rowindex="${ROWS + 1}"]`)
      .getByText('150,000.00')
      .first()
      .waitFor();
  });
  await measure('search', async () => {
    await page.getByLabel('Search in these rows').fill('T1499');
    await page.getByText('111 of 150,000 rows', { exact: true }).waitFor();
    await page.getByLabel('Search in these rows').fill('');
    await page.getByText('150,000 rows', { exact: true }).waitFor();
  });
  figures['heap of the page, MB'] = await page.evaluate<number>('performance.memory.usedJSHeapSize / 1e6');
  await measureMemory(page, 'all', figures);
  console.info({ ...tasks, ...figures });

  await page.locator('.graphiql-response .view-lines').click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.getByText('Only the first 2,000 of 150,000 rows are shown here.').waitFor();
  expect(faults).toEqual([]);
  expect(Object.entries(tasks).filter(([, longest]) => longest >= MAX_TASK_MS)).toEqual([]);
  await page.context().close();
}, 240_000);
