import type { Page } from 'playwright-core';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto, printPage } from '../support/playground-browser';
import { until } from '../support/until';

// Each designation has a gift in January, and every other one in March too. The higher its id, the larger its gifts.
const MONTHS = Array.from({ length: 10 }, (_, n) => ['01', ...(n % 2 ? ['03'] : [])].map((month) => [n + 1, month] as const)).flat();
const gateway = openPlayground({
  lines: MONTHS.map(([designation, month], n) =>
    v2Line({
      ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: `2024-${month}-05` },
      ...{
        designation_id: designation,
        designation: `Fund ${designation}`,
        amount: `${designation}00.10`,
        net_amount: `${designation}00.10`,
      },
      ...{ fee_amount: '0.00', allocation_amount: `${designation}00.10` },
    }),
  ),
});
const { organization } = gateway;

const summary = (groupBy: string, key: string) => `{
  depositSummary(startDate: "2024-01-01", endDate: "2024-12-31", groupBy: [${groupBy}]) {
    groups(first: 1000) { nodes { key { ${key} } all { lines byTransaction { amount } byAllocation { amount } } } }
  }
}`;

/** Reads the texts that the page has drawn on canvases so far, each once. */
const drawnTexts = (page: Page): Promise<string[]> => page.evaluate('[...new Set(window.drawnTexts)]');

const untilDrawn = (page: Page, text: string): Promise<void> => until(async () => (await drawnTexts(page)).includes(text));

async function openChart(query: string, colorScheme: 'light' | 'dark' = 'light', as = organization): Promise<Page> {
  const { page, faults } = await gateway.visit({ as, colorScheme });
  await logIn(page);
  await page.evaluate(`{
    const write = CanvasRenderingContext2D.prototype.fillText;
    window.drawnTexts = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.drawnTexts.push(text);
      return write.call(this, text, ...rest);
    };
  }`);
  await page.getByRole('button', { name: 'Chart' }).click();
  await page.getByText('No groups yet').waitFor();
  await pasteInto(page, 'query', query);
  await execute(page);
  await page.getByRole('combobox', { name: 'Draw' }).waitFor();
  expect(faults).toEqual([]);
  return page;
}

const chart = (page: Page, name: string) => page.getByRole('img', { name, exact: true });

describe('an analyst who draws a summary', () => {
  test('sees months in order, with a line for each of the eight largest designations, and is told of the rest', async () => {
    const page = await openChart(summary('MONTH, DESIGNATION', 'month designation'));
    await chart(page, 'Line chart of all.byAllocation.amount by month and designation, Jan 2024 to Mar 2024.').waitFor();
    await page.getByText('The 8 largest of 10 are drawn; the table has them all.').waitFor();
    await untilDrawn(page, 'Fund 10');
    const texts = await drawnTexts(page);
    expect(texts.filter((text) => text.startsWith('Fund'))).toEqual([
      'Fund 10',
      'Fund 8',
      'Fund 6',
      'Fund 9',
      'Fund 4',
      'Fund 7',
      'Fund 5',
      'Fund 2',
    ]);
    expect(texts.filter((text) => text.endsWith(' 2024'))).toEqual(['Jan 2024', 'Feb 2024', 'Mar 2024']);
    await page.screenshot({ path: 'coverage/playground-chart-lines.png' });
    await page.getByRole('combobox', { name: 'Draw' }).selectOption('all.lines');
    await chart(page, 'Line chart of all.lines by month and designation, Jan 2024 to Mar 2024.').waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('table').waitFor();
    expect(await page.getByRole('img', { name: /chart/ }).count()).toBe(0);
    await page.context().close();
  });

  test('reads in the chart the exact amounts of the answer', async () => {
    const page = await openChart(summary('DESIGNATION', 'designationId designation'), 'dark');
    const bars = chart(page, 'Bar chart of all.byAllocation.amount by designation: Fund 10 has the most, 2,000.20.');
    await bars.waitFor();
    await untilDrawn(page, 'Fund 10');
    const { x, y, width, height } = (await bars.boundingBox())!;
    await page.mouse.move(x + width * 0.12, y + height * 0.6);
    await untilDrawn(page, 'all.byAllocation.amount: 2,000.20');
    await page.screenshot({ path: 'coverage/playground-chart-bars.png' });
    await page.context().close();
  });

  test('sees one line over weeks, by money where no designation is named, in the colors of the theme', async () => {
    const page = await openChart(summary('WEEK', 'week'));
    await chart(page, 'Line chart of all.byTransaction.amount by week, Jan 1, 2024 to Mar 4, 2024.').waitFor();
    await untilDrawn(page, 'all.byTransaction.amount');
    const pixels = () => page.getByRole('img', { name: /^Line chart/ }).evaluate((canvas: { toDataURL(): string }) => canvas.toDataURL());
    const inLight = await pixels();
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(async () => (await pixels()) !== inLight);
    await page.context().close();
  });

  test.each(['by the system', 'by the menu'])('prints it dark on light, also in the theme that is dark %s', async (by) => {
    const page = await openChart(summary('WEEK', 'week'), by === 'by the system' ? 'dark' : 'light');
    await chart(page, 'Line chart of all.byTransaction.amount by week, Jan 1, 2024 to Mar 4, 2024.').waitFor();
    if (by === 'by the menu') await page.evaluate(`document.body.classList.add('graphiql-dark')`);
    await page.evaluate(`addEventListener('afterprint', () => {
      const canvas = document.querySelector('.print-sheet canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const luminances = [];
      for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) luminances.push((data[at] + data[at + 1] + data[at + 2]) / 3);
      globalThis.darkest = Math.min(...new Set(luminances.map(Math.round)));
    }, { once: true, capture: true })`);
    const [sheet, ...others] = await printPage(page);
    expect(others).toEqual([]);
    expect(sheet).toMatchObject({ rows: [], pictures: 1 });
    expect(sheet!.lines[0]).toBe('depositSummary.groups.nodes');
    expect(sheet!.lines).toContain('Line chart of all.byTransaction.amount by week, Jan 1, 2024 to Mar 4, 2024.');
    // The text of the light theme has 62, that of the dark one has none below 150.
    expect(await page.evaluate('globalThis.darkest')).toBeLessThan(80);
    await page.context().close();
  });

  test('gets no chart of groups that the key does not tell apart', async () => {
    const page = await openChart(summary('MONTH, DESIGNATION', 'month'));
    await page.getByText('Several groups have the same key here.').waitFor();
    expect(await page.getByRole('img', { name: /chart/ }).count()).toBe(0);
    await page.context().close();
  });

  test('begins with a figure that is known, and is told of one that is not', async () => {
    const own = await createOrganization(gateway.services);
    const line = (fields: object) => v2Line({ deposit_date: '2024-01-05', ...fields });
    // The split of the first gift is unknown. The second went to one fund whole.
    await importLines(gateway.services, own, [
      line({ designation_id: 1, designation: 'Fund 1' }),
      line({ allocation_id: 'P101', designation_id: 2, designation: 'Fund 2' }),
      line({ transaction_id: 'P11', allocation_id: 'P110', allocation_amount: '10.50', designation_id: 3, designation: 'Fund 3' }),
    ]);
    const query = summary('DESIGNATION', 'month designation').replace('byAllocation { amount }', 'byAllocation { amount unknown }');
    const page = await openChart(query, 'light', own);
    await chart(page, 'Bar chart of all.byTransaction.amount by designation: Fund 1 has the most, 10.50.').waitFor();
    await page.getByRole('combobox', { name: 'Draw' }).selectOption('all.byAllocation.amount');
    await chart(page, 'Bar chart of all.byAllocation.amount by designation: Fund 3 has the most, 10.50.').waitFor();
    await page.getByText('This figure is not known in full for 2 of 3 groups.').waitFor();
    await page.context().close();
  });

  test('sees of money that is unknown neither 0 nor a bar, but the word', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, [
      v2Line({ designation_id: 1, designation: 'Fund 1' }),
      v2Line({ allocation_id: 'P101', designation_id: 2, designation: 'Fund 2' }),
    ]);
    const { page, faults } = await gateway.visit({ as: own });
    await logIn(page);
    await page.getByRole('button', { name: 'Chart' }).click();
    await pasteInto(page, 'query', summary('DESIGNATION', 'designation'));
    await execute(page);
    await chart(page, 'Bar chart of all.byTransaction.amount by designation: Fund 1 has the most, 10.50.').waitFor();
    expect(await page.getByRole('combobox', { name: 'Draw' }).locator('option').allTextContents()).toEqual([
      'all.lines',
      'all.byTransaction.amount',
    ]);
    const totals = page.getByRole('region', { name: 'Totals of all lines' });
    await totals.waitFor();
    expect((await totals.locator('dt, dd').allTextContents()).slice(-2)).toEqual(['Amount by allocation', 'unknown']);
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('table').waitFor();
    expect(await page.getByRole('cell').allTextContents()).toEqual(['Fund 1', '1', '10.50', 'unknown', 'Fund 2', '1', '10.50', 'unknown']);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('sees bars under a key that only has the name of a date', async () => {
    const page = await openChart(summary('DESIGNATION', 'month: designation'));
    await chart(page, 'Bar chart of all.byTransaction.amount by month: Fund 10 has the most, 2,000.20.').waitFor();
    await page.context().close();
  });
});
