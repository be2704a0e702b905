import type { Page, Route } from 'playwright-core';
import { v2Line } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto } from '../support/playground-browser';
import { until } from '../support/until';

const gateway = openPlayground({ lines: [v2Line({ deposit_date: '2024-05-03' })] });

/** Notes the calls of the page's workers. While the promise `held` is not over, the page hears none of their answers. */
const WATCHED_WORKER = `{
  globalThis.calls = [];
  const Before = Worker;
  globalThis.Worker = class extends Before {
    postMessage(message, transfers) {
      if (message.path) globalThis.calls.push([...message.path, ...message.argumentList.map(({ value }) => typeof value === 'number' ? value : '')].join(' ').trim());
      if (message.path && message.path[0] === globalThis.holdAt) globalThis.held = new Promise((resolve) => (globalThis.release = resolve));
      super.postMessage(message, transfers);
    }
    addEventListener(type, listener, options) {
      const late = async (event) => {
        await globalThis.held;
        listener.call(this, event);
      };
      super.addEventListener(type, type === 'message' ? late : listener, options);
    }
  };
}`;

async function open(
  hash: string,
  prepare?: (page: Page) => Promise<unknown>,
): Promise<{ readonly page: Page; readonly viewers: string[] }> {
  const { page } = await gateway.visit({ hash });
  await page.evaluate(WATCHED_WORKER);
  await prepare?.(page);
  const viewers: string[] = [];
  await logIn(page);
  page.on('request', (request) => {
    if (request.postData()?.includes('query Viewer')) viewers.push(request.url());
  });
  return { page, viewers };
}

const callsOf = (page: Page, name: string): Promise<string[]> =>
  page.evaluate(`globalThis.calls.filter((call) => call.startsWith(${JSON.stringify(name)}))`);

/** True for the request that asks a report of lines for its totals. */
const isTotals = (route: Route): boolean => /"first":1\b/.test(route.request().postData() ?? '');

const GIFTS = '#reports/gifts?period=2024-05-01..2024-05-31';
const row = (page: Page) => page.getByRole('cell', { name: 'General Fund' });

describe('the page keeps no rows that it does not show', () => {
  test.each([
    ['are refused', 'The totals are out of order.'],
    ['get no answer', 'The gateway cannot be reached. Check your connection and try again.'],
  ])('when the totals of a report %s', async (how, message) => {
    let isRefused = true;
    const { page } = await open(GIFTS, (opened) =>
      opened.route('**/graphql', async (route) => {
        if (!isTotals(route) || !isRefused) return route.continue();
        return how === 'are refused' ? route.fulfill({ status: 503, json: { errors: [{ message }] } }) : route.abort();
      }),
    );
    await page.getByRole('alert').filter({ hasText: message }).waitFor();
    // The load is stopped, or its table is dropped.
    await until(async () => (await callsOf(page, 'drop')).length + (await callsOf(page, 'stop')).length > 0, 15_000);
    isRefused = false;
    await page.getByRole('button', { name: 'Run again' }).click();
    await row(page).waitFor();
    await page.context().close();
  });

  test('when a tab of GraphQL is closed', async () => {
    const { page } = await open('#graphql');
    await pasteInto(page, 'query', '{ depositDetails(startDate: "2024-05-01", endDate: "2024-05-31") { designation amount } }');
    await pasteInto(page, 'variables', '{}');
    await page.getByRole('button', { name: 'Table' }).click();
    await execute(page);
    await row(page).waitFor();
    await page.locator('#examples').selectOption({ index: 1 });
    await until(async () => (await page.locator('.graphiql-tab').count()) === 2);
    expect(await callsOf(page, 'drop')).toEqual([]);
    await page.locator('.graphiql-tab-button').first().click();
    await page.getByRole('button', { name: 'Close Tab' }).first().click();
    await until(async () => (await callsOf(page, 'drop')).length > 0, 15_000);
    expect(await callsOf(page, 'drop')).toEqual([expect.stringMatching(/^drop \d+$/)]);
    await page.context().close();
  });
});

test('an analyst who stops a report while its totals are added up has met no failure', async () => {
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  let ask!: () => void;
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const { page, viewers } = await open(GIFTS, (opened) =>
    opened.route('**/graphql', async (route) => {
      if (isTotals(route)) {
        ask();
        await released;
      }
      // A request that was stopped by then cannot go on.
      await route.continue().catch(() => undefined);
    }),
  );
  await asked;
  await page.getByRole('button', { name: 'Stop' }).click();
  release();
  await page.getByText('The report was stopped.').waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  await row(page).waitFor();
  expect([viewers, await page.getByRole('alert').filter({ hasText: /./ }).count()]).toEqual([[], 0]);
  await page.context().close();
});

test('an analyst who stops a report while the books change starts no load by it', async () => {
  let isChanged = true;
  const { page } = await open(GIFTS, async (opened) => {
    await opened.evaluate(`globalThis.holdAt = 'drop'`);
    await opened.route('**/graphql', async (route) => {
      if (!isTotals(route) || !isChanged) return route.continue();
      isChanged = false;
      const response = await route.fetch();
      return route.fulfill({
        response,
        body: (await response.text()).replace('"dataVersion":{"number":1}', '"dataVersion":{"number":999}'),
      });
    });
  });
  await until(async () => (await callsOf(page, 'drop')).length > 0, 15_000);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('The report was stopped.').waitFor();
  await page.evaluate(`globalThis.holdAt = undefined, globalThis.release()`);
  await page.getByRole('button', { name: 'Run again' }).click();
  await row(page).waitFor();
  expect((await callsOf(page, 'load')).filter((call) => !call.startsWith('loadedRows')).length).toBe(2);
  await page.context().close();
});
