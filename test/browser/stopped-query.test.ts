import type { Page } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { execute, logIn, logOut, openPlayground, pasteInto, type OpenPage } from '../support/playground-browser';
import { until } from '../support/until';

// Totals that are kept would not wait for the lock.
const gateway = openPlayground({ lines: [v2Line()], settings: { BOOK_MEMORY_MEGABYTES: '0' } });

const RANGE = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const LINES = `query Lines { depositDetails(${RANGE}) { donorLastName amount } }`;
const TOTALS = `query Totals { depositSummary(${RANGE}) { all { lines } } }`;

/** The number of statements that wait for the lock. */
async function waiting(): Promise<number> {
  const { rows } = await gateway.database.client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_locks WHERE relation = 'deposit_line'::regclass AND NOT granted`,
  );
  return rows[0]!.count;
}

/** Runs a query that waits for a locked table, calls `leave`, and waits until the database has cancelled the query. */
async function runLocked(page: Page, query: string, leave: () => Promise<void>): Promise<void> {
  const { client } = gateway.database;
  await pasteInto(page, 'query', query);
  await client.query('BEGIN; LOCK TABLE deposit_line');
  try {
    await execute(page);
    await until(async () => (await waiting()) > 0);
    await leave();
    await until(async () => (await waiting()) === 0);
  } finally {
    await client.query('ROLLBACK');
  }
}

async function open(): Promise<OpenPage> {
  const opened = await gateway.visit();
  await logIn(opened.page);
  await opened.page.getByRole('button', { name: 'Table' }).click();
  return opened;
}

describe('an analyst', () => {
  test.each([
    ['a report', LINES],
    ['totals', TOTALS],
  ])('stops %s, in the database too, and runs the next query', async (_what, query) => {
    const { page, faults } = await open();
    await runLocked(page, query, () => page.getByRole('button', { name: /Stop query/ }).click());
    await page.getByRole('button', { name: /Execute query/ }).waitFor();
    await page.getByText('No rows yet').waitFor();
    await execute(page);
    await page.getByRole('table').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test.each([
    ['opens another tab', (page: Page) => page.getByRole('button', { name: 'New tab' }).click(), undefined],
    ['opens an example', async (page: Page) => void (await page.getByLabel('Examples').selectOption({ index: 1 })), undefined],
    ['logs out', logOut, logIn],
  ])('who %s stops what runs, and gets no answer of it there', async (_what, leave, comeBack) => {
    const { page, faults } = await open();
    await runLocked(page, LINES, () => leave(page));
    await comeBack?.(page);
    expect(await page.locator('.graphiql-response .view-lines').textContent()).toBe('');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('sees no fault of an earlier query once another is run', async () => {
    const { page } = await open();
    const footer = page.getByRole('contentinfo');
    await pasteInto(page, 'query', 'query Who { viewer { username } }');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await footer.getByRole('alert').filter({ hasText: 'query asks for no lines' }).waitFor();
    await pasteInto(page, 'query', LINES);
    await execute(page);
    await page.getByRole('cell', { name: 'Lovelace' }).waitFor();
    await page.getByRole('region', { name: 'Totals of all lines' }).waitFor();
    expect((await footer.getByRole('alert').allTextContents()).join('')).toBe('');

    // A query that fails shows neither totals nor a fault of theirs.
    await pasteInto(page, 'query', LINES.replace('2024-01-01', '2025-01-01'));
    await execute(page);
    await page.locator('.graphiql-response').getByText('START_DATE_AFTER_END_DATE').waitFor();
    await page.getByRole('region', { name: 'Totals of all lines' }).waitFor({ state: 'detached' });
    expect((await footer.getByRole('alert').allTextContents()).join('')).toBe('');
    await page.context().close();
  });
});
