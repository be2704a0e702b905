import type { Page } from 'playwright-core';
import { createDemoLines } from '../../src/domain/imports/demo-lines';
import { execute, logIn, openPlayground, pasteInto } from '../support/playground-browser';
import { until } from '../support/until';

const day = new Date().toISOString().slice(0, 10);
const gateway = openPlayground();
beforeAll(async () => {
  await gateway.services.imports.importLines(gateway.organization.id, createDemoLines(new Date(`${day}T12:00:00Z`)), {
    source: () => ({ cause: 'demo' }),
  });
});

async function open(
  options: { readonly colorScheme?: 'light' | 'dark' } = {},
): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const opened = await gateway.visit({ ...options, now: `${day}T12:00:00Z`, locale: 'en-US' });
  await logIn(opened.page);
  await opened.page.locator('#examples:enabled').waitFor();
  return opened;
}

const colorOf = (page: Page, selector: string): Promise<string> =>
  page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`);

test.each(['light', 'dark'] as const)(
  'an analyst sees one look in both modes in the %s theme, the play button too',
  async (colorScheme) => {
    const { page, faults } = await open({ colorScheme });
    await page.locator('.graphiql-execute-button').waitFor();
    expect(await colorOf(page, '.graphiql-execute-button')).toBe(await colorOf(page, '.bar nav [aria-current]'));
    // The text of the list of examples is whole: a copy of it with no bounds is not wider than the room for it.
    const [needed, room] = await page.evaluate<[number, number]>(`(() => {
    const list = document.querySelector('#examples');
    const copy = document.createElement('select');
    copy.append(new Option(list.options[0].textContent));
    list.after(copy);
    const width = copy.getBoundingClientRect().width;
    copy.remove();
    return [width, list.getBoundingClientRect().width];
  })()`);
    expect(needed).toBeLessThanOrEqual(room);
    await page.screenshot({ path: `coverage/graphql-look-${colorScheme}.png` });
    expect(faults).toEqual([]);
    await page.context().close();
  },
);

test('the examples count the pending deposits that Reports counts', async () => {
  const { page, faults } = await open();
  await page.getByLabel('Examples').selectOption({ label: 'Pending gifts' });
  await execute(page);
  const figure = page
    .getByRole('region', { name: 'Totals of all lines' })
    .locator('div', { hasText: 'Amount by transaction' })
    .locator('dd');
  const pending = (await figure.first().innerText()).trim();
  await page.getByLabel('Examples').selectOption({ label: 'Deposits of the last 30 days' });
  await execute(page);
  await until(async () => {
    const text = await figure
      .first()
      .innerText()
      .catch(() => pending);
    return text.trim() !== pending;
  }, 15_000);
  const received = (await figure.first().innerText()).trim();
  const start = new Date(Date.parse(`${day}T00:00:00Z`) - 29 * 86_400_000).toISOString().slice(0, 10);
  const first = page.locator('.card').first();
  await page.evaluate(`location.hash = '#reports/pending'`);
  await first.getByText(pending, { exact: true }).waitFor();
  await page.evaluate(`location.hash = '#reports/deposits?period=${start}..${day}'`);
  await first.getByText(received, { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('Draw says which lists it can draw, and where the others are', async () => {
  const { page, faults } = await open();
  await page.getByRole('button', { name: 'Chart' }).click();
  await execute(page);
  await page
    .getByText('Nothing to draw: a chart shows the groups of a summary, with their key and a total. Table shows depositDetails.')
    .waitFor();
  await pasteInto(
    page,
    'query',
    `query Both { depositSummary(groupBy: [DESIGNATION]) { groups { nodes { key { designation } all { byTransaction { amount } } } } }
      deposits(first: 3) { nodes { depositId } } }`,
  );
  await pasteInto(page, 'variables', '{}');
  await execute(page);
  await page.getByText('Draw takes lists of groups, with their key and a total. Table shows deposits.nodes.').waitFor();
  await page.screenshot({ path: 'coverage/graphql-draw.png' });
  expect(faults).toEqual([]);
  await page.context().close();
});
