import { readFileSync } from 'node:fs';
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

/** The texts of the chart on the page, from the top. */
const chartTexts = (page: Page): Promise<string[]> => page.locator('.chart text').allTextContents();

async function openChart(query: string, colorScheme: 'light' | 'dark' = 'light', as = organization): Promise<Page> {
  const { page, faults } = await gateway.visit({ as, colorScheme });
  await logIn(page);
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
  test('sees a bar for each designation from the largest on, divided by month in colors that a legend names', async () => {
    const page = await openChart(summary('MONTH, DESIGNATION', 'month designation'));
    const name = 'all.byAllocation.amount by fund and month, Jan 2024 to Mar 2024: Fund 10 has the most, 2,000.20.';
    await chart(page, `Bar chart of ${name}`).waitFor();
    expect(await chartTexts(page)).toEqual([
      ...[
        'Jan 2024',
        'Mar 2024',
        'Fund 10',
        '2,000.20',
        'Fund 8',
        '1,600.20',
        'Fund 6',
        '1,200.20',
        'Fund 9',
        '900.10',
        'Fund 4',
        '800.20',
      ],
      ...['Fund 7', '700.10', 'Fund 5', '500.10', 'Fund 2', '400.20', 'Fund 3', '300.10', 'Fund 1', '100.10'],
    ]);
    await page.screenshot({ path: 'coverage/playground-chart-parts.png' });
    await page.getByRole('combobox', { name: 'Draw' }).selectOption('all.lines');
    await page.getByRole('img', { name: /^Bar chart of all\.lines by .* has the most, 2\.$/ }).waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('table').waitFor();
    expect(await page.getByRole('img', { name: /chart/ }).count()).toBe(0);
    await page.context().close();
  });

  test('reads the exact amounts of the answer at the bars, and those of a part by pointing at it and by the keys', async () => {
    const page = await openChart(summary('MONTH, DESIGNATION', 'month designationId designation'), 'dark');
    const bars = page.getByRole('img', { name: /^Bar chart of all\.byAllocation\.amount by fund and month/ });
    await bars.waitFor();
    const reading = page.locator('.chart-reading');
    await page.locator('.chart-mark').nth(1).hover();
    expect(await reading.textContent()).toBe('Fund 10, Mar 2024: 1,000.10');
    await page.screenshot({ path: 'coverage/playground-chart-bars.png' });
    await page.mouse.move(0, 0);
    await until(async () => (await reading.textContent())?.startsWith('Point at a bar') ?? false);
    await bars.focus();
    await page.keyboard.press('ArrowDown');
    expect(await reading.textContent()).toBe('Fund 10, Jan 2024: 1,000.10');
    await page.keyboard.press('ArrowUp');
    expect(await reading.textContent()).toBe('Fund 1, Jan 2024: 100.10');
    await page.context().close();
  });

  test('sees weeks in their order, by money where no designation is named, in the colors of the theme', async () => {
    const page = await openChart(summary('WEEK', 'week'));
    await chart(page, 'Bar chart of all.byTransaction.amount by week, Jan 1, 2024 to Mar 4, 2024.').waitFor();
    expect((await chartTexts(page)).slice(0, 2)).toEqual(['Jan 1, 2024', '5,501.00']);
    const color = () => page.evaluate<string>(`getComputedStyle(document.querySelector('.chart-mark')).fill`);
    const inLight = await color();
    expect(inLight).toMatch(/^rgb/);
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(async () => (await color()) !== inLight);
    await page.context().close();
  });

  test('saves a picture that is light in the dark theme too, twice as fine as the screen, with the head of a print', async () => {
    const page = await openChart(summary('WEEK', 'week'), 'dark');
    await page.getByRole('img', { name: /^Bar chart/ }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save picture' }).click()]);
    expect(download.suggestedFilename()).toBe('depositSummary.groups.nodes.png');
    const picture = readFileSync(await download.path());
    const found = await page.evaluate(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${picture.toString('base64')}';
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return { width: image.width, corner: [...context.getImageData(2, 2, 1, 1).data] };
    })()`);
    expect(found).toEqual({ width: 1800, corner: [255, 255, 255, 255] });
    await page.context().close();
  });

  test.each(['by the system', 'by the menu'])('prints it dark on light, also in the theme that is dark %s', async (by) => {
    const page = await openChart(summary('WEEK', 'week'), by === 'by the system' ? 'dark' : 'light');
    await chart(page, 'Bar chart of all.byTransaction.amount by week, Jan 1, 2024 to Mar 4, 2024.').waitFor();
    if (by === 'by the menu') await page.evaluate(`document.body.classList.add('graphiql-dark')`);
    await page.evaluate(`addEventListener('afterprint', () => {
      const [red, green, blue] = getComputedStyle(document.querySelector('.print-sheet .chart')).fill.match(/\\d+/g).map(Number);
      globalThis.luminance = (red + green + blue) / 3;
    }, { once: true, capture: true })`);
    const [sheet, ...others] = await printPage(page);
    expect(others).toEqual([]);
    expect(sheet).toMatchObject({ rows: [], pictures: 1 });
    expect(sheet!.lines[0]).toBe('depositSummary.groups.nodes');
    expect(sheet!.lines).toContain('Bar chart of all.byTransaction.amount by week, Jan 1, 2024 to Mar 4, 2024.');
    // The text of the light theme has 62, that of the dark one 220.
    expect(await page.evaluate('globalThis.luminance')).toBeLessThan(80);
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
    await chart(page, 'Bar chart of all.byTransaction.amount by fund: Fund 1 has the most, 10.50.').waitFor();
    await page.getByRole('combobox', { name: 'Draw' }).selectOption('all.byAllocation.amount');
    await chart(page, 'Bar chart of all.byAllocation.amount by fund: Fund 3 has the most, 10.50.').waitFor();
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
    await chart(page, 'Bar chart of all.byTransaction.amount by fund: Fund 1 has the most, 10.50.').waitFor();
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
