import type { Page } from 'playwright-core';
import { PASSWORD, v2Line } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto, printPage } from '../support/playground-browser';
import { until } from '../support/until';

const gateway = openPlayground({
  lines: [
    v2Line(),
    // In 2025, sixteen donors: gifts of 100.50, 200.50 and so on, and of 1,100.50 and more from the eleventh on.
    ...Array.from({ length: 16 }, (_, n) => {
      const amount = `${n + 1}00.50`;
      return v2Line({
        ...{ deposit_id: `D${n}`, transaction_id: `T${n}`, allocation_id: `A${n}`, deposit_date: '2025-03-10' },
        ...{
          donor_id: 100 + n,
          donor_first_name: 'Io',
          donor_last_name: `Ångström${n}`,
          designation_id: 8 + (n % 2),
          designation: `Fund ${n % 2}`,
        },
        ...{ amount, net_amount: amount, fee_amount: '0.00', allocation_amount: amount },
      });
    }),
  ],
});
const { organization } = gateway;
const REPORT = '#reports/donors?period=2025-01-01..2025-12-31';

const readLink = async (page: Page): Promise<string> => new URL(await page.evaluate<string>('navigator.clipboard.readText()')).hash;
const rowsOf = (page: Page): Promise<string[]> => page.locator('[data-row]').allInnerTexts();
const totalsOf = (page: Page): Promise<string> => page.locator('.table-totals').innerText();

async function copyLink(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('The link is copied.').waitFor();
  return readLink(page);
}

/** The addresses and the bodies of all that a page sends. */
function listen(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) =>
    sent.push(decodeURIComponent(`${request.url()} ${request.headers().referer ?? ''} ${request.postData() ?? ''}`)),
  );
  return sent;
}

describe('an analyst', () => {
  test('copies a link to a query, and another opens it after the login, in a new tab', async () => {
    const { page } = await gateway.visit();
    await logIn(page);
    const query = 'query Shared { depositDetails(startDate: "2024-01-01", endDate: "2024-01-31") { donorLastName amount } }';
    await pasteInto(page, 'query', query);
    await execute(page);
    await page.locator('.graphiql-response').getByText('Lovelace').waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('The link is copied.').waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(new URLSearchParams(new URL(link).hash.slice(1)).get('query')).toBe(query);
    for (const secret of [organization.webProvision, PASSWORD, 'Lovelace', '10.50']) expect(decodeURIComponent(link)).not.toContain(secret);
    await page.context().close();

    const other = await gateway.visit({ hash: new URL(link).hash });
    const sent: string[] = [];
    other.page.on('request', (request) => sent.push(request.url()));
    await logIn(other.page);
    await other.page.locator('.graphiql-tab').filter({ hasText: 'Shared' }).waitFor();
    expect(await other.page.locator('.graphiql-tab').count()).toBe(2);
    expect(other.page.url()).toBe(`${gateway.url}/playground#graphql`);
    await execute(other.page);
    await other.page.locator('.graphiql-response').getByText('Lovelace').waitFor();
    expect([sent.filter((url) => url.includes('Shared')), other.faults]).toEqual([[], []]);
    await other.page.context().close();
  });

  test.each([
    ['is broken', '#query=%7B%20viewer'],
    ['has variables that are none', '#query=%7Bviewer%7Busername%7D%7D&variables=%7B'],
    ['is huge', `#query=%7B${'a'.repeat(20_000)}%7D`],
  ])('is told that a link is ignored that %s', async (_what, hash) => {
    const { page } = await gateway.visit({ hash });
    await logIn(page);
    await page.getByRole('alert').filter({ hasText: 'The link holds no query that can be read. It was ignored.' }).waitFor();
    expect([await page.locator('.graphiql-tab').count(), page.url()]).toEqual([1, `${gateway.url}/playground#graphql`]);
    await page.context().close();
  });

  test('gets no link to a query with a password in it', async () => {
    const { page } = await gateway.visit();
    await logIn(page);
    await pasteInto(page, 'query', 'mutation { login(input: { username: "ada", password: "secret" }) { viewer { username } } }');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('alert').filter({ hasText: 'This query mentions a password: no link was made.' }).waitFor();
    await page.context().close();
  });
});

describe('an analyst who narrows the rows of a report', () => {
  test('shares a link that opens the same rows, elsewhere and in another language, and can be widened again', async () => {
    const { page, faults } = await gateway.visit({ hash: REPORT, locale: 'en-US' });
    await logIn(page);
    await page.getByText('16 rows', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Filter these rows' }).click();
    await page.getByLabel('Received from').fill('1,000.00');
    await page.getByText('7 of 16 rows').waitFor();
    // The first press begins with the largest amount.
    for (let press = 0; press < 2; press++) await page.getByRole('button', { name: 'Received', exact: true }).click();
    // The link is copied at once: the page does not wait for more to be typed.
    await page.getByLabel('Search in these rows').fill('angstrom1');
    const link = await copyLink(page);
    await page
      .getByText(
        'The link is copied. It holds the choices of this report, the search and the filters of its table and nothing of its results.',
      )
      .waitFor();
    await page.getByText('6 of 16 rows').waitFor();
    const [rows, totals] = [await rowsOf(page), await totalsOf(page)];
    expect([rows.length, rows[0]]).toEqual([6, expect.stringContaining('1,600.50')]);
    expect(totals).toContain('8,103.00');
    await page.getByText('Only rows of: Search: “angstrom1” · Received from 1,000.00').waitFor();
    expect(page.url()).not.toContain('rows.');
    await page.context().close();

    const other = await gateway.visit({ hash: link, locale: 'en-US' });
    const sent = listen(other.page);
    await logIn(other.page);
    await other.page.getByText('6 of 16 rows').waitFor();
    expect([await rowsOf(other.page), await totalsOf(other.page)]).toEqual([rows, totals]);
    expect(await other.page.getByLabel('Received from').inputValue()).toBe('1000');
    // Browsers keep addresses, and the search may be a name.
    expect(other.page.url()).toBe(`${gateway.url}/playground${REPORT}`);
    await other.page.getByText('Only rows of: Search: “angstrom1” · Received from 1,000.00').waitFor();
    await other.page.getByRole('button', { name: 'Clear' }).click();
    await other.page.getByText('16 rows', { exact: true }).waitFor();
    expect(await other.page.getByLabel('Search in these rows').inputValue()).toBe('');
    expect(sent.filter((text) => /angstrom/.test(text))).toEqual([]);
    expect([faults, other.faults]).toEqual([[], []]);
    await other.page.context().close();

    const german = await gateway.visit({ hash: link, locale: 'de-DE' });
    await logIn(german.page);
    await german.page.getByText('6 of 16 rows').waitFor();
    await german.page.getByText('Received from 1.000,00').waitFor();
    expect(await totalsOf(german.page)).toContain('8.103,00');
    await german.page.context().close();
  });

  test('opens a link on the report that is open, and keeps its rows in another period', async () => {
    const { page, faults } = await gateway.visit({ hash: REPORT, locale: 'en-US' });
    await logIn(page);
    await page.getByText('16 rows', { exact: true }).waitFor();
    await page.evaluate(
      `location.hash = ${JSON.stringify(`${REPORT}&rows.all.byTransaction.amount.to=300.00&rows.sort=-key.donorLastName`)}`,
    );
    await page.getByText('2 of 16 rows').waitFor();
    expect(await page.getByRole('columnheader', { name: 'Last name' }).getAttribute('aria-sort')).toBe('descending');
    await page.evaluate(`location.hash = '#reports/donors?period=2025-01-01..2025-06-30'`);
    await page.getByText('2 of 16 rows').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('is told what of a link cannot be read, and sees all rows there', async () => {
    const unread = [
      ['rows.key.donorName.contains', 'x'],
      ['rows.key.donorLastName.from', '1'],
      ['rows.all.byTransaction.amount.contains', '1'],
      ['rows.all.byTransaction.amount.from', '1,000.00'],
      ['rows.all.byTransaction.amount.to', '9'.repeat(2000)],
      ['rows.sort', 'nothing'],
      ['rows.__proto__.from', '1'],
      ['rows.', '1'],
    ] as const;
    const query = new URLSearchParams(unread.map(([name, value]): [string, string] => [name, value])).toString();
    const { page, faults } = await gateway.visit({ hash: `${REPORT}&${query}`, locale: 'en-US' });
    await logIn(page);
    await page
      .getByRole('alert')
      .filter({ hasText: `A part of this link or saved report cannot be read: ${unread.map(([name]) => name).join(', ')}.` })
      .waitFor();
    await page.getByText('16 rows', { exact: true }).waitFor();
    await page.evaluate(
      `location.hash = '#reports/gifts?period=2025-01-01..2025-12-31&rows.depositDate.from=2025-02-30&rows.search=%E9%00'`,
    );
    await page.getByRole('alert').filter({ hasText: 'cannot be read: rows.depositDate.from.' }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('is told before saving, and before a program fetches the file, that they have all rows', async () => {
    const { page, faults } = await gateway.visit({ hash: REPORT, locale: 'en-US' });
    await logIn(page);
    await page.getByText('16 rows', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Title').waitFor();
    const lost = 'The search and the filters of the table are no part of it, so it has all rows: Search: “angstrom1”.';
    expect(await page.getByText('no part of it').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByLabel('Search in these rows').fill('angstrom1');
    await page.getByText('7 of 16 rows').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: lost }).waitFor();
    await page.screenshot({ path: 'coverage/playground-save-narrowed.png' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByText('7 rows will come.').waitFor();
    await page.getByText(`with the gateway’s names of the columns. ${lost}`).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('prints these rows with their total, and while a report is read nothing that passes for one', async () => {
    const { page, faults } = await gateway.visit({ hash: `${REPORT}&rows.search=angstrom1`, locale: 'en-US' });
    await logIn(page);
    await page.getByText('7 of 16 rows').waitFor();
    await until(async () => (await printPage(page))[0]?.rows.length === 9);
    const [sheet] = await printPage(page);
    expect(sheet!.lines).toContain('Search: “angstrom1”');
    expect(sheet!.rows.at(-1)?.slice(0, 6)).toEqual(['Total of these rows', '', '', '', '7', '8,303.50']);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/graphql', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('Reading…').waitFor();
    const [early] = await printPage(page);
    expect(early!.lines.at(-1)).toBe('The rows are still being read, so none is printed. Print again when they are there.');
    expect([early!.lines[0], early!.rows]).toEqual(['Donors', []]);
    release();
    await page.getByText('7 of 16 rows').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

test('an analyst shares the rows of a query’s table, and is told that a saved query has all of them', async () => {
  const { page, faults } = await gateway.visit({ locale: 'en-US' });
  await logIn(page);
  const query = 'query Rows { depositDetails(startDate: "2025-01-01", endDate: "2025-12-31") { donorLastName amount } }';
  await page.getByRole('button', { name: 'Table' }).click();
  await pasteInto(page, 'query', query);
  await execute(page);
  await page.getByText('16 rows', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Filter these rows' }).click();
  await page.getByLabel('amount to').fill('300.00');
  await page.getByText('2 of 16 rows').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'so it has all rows: amount up to 300.00.' }).waitFor();
  await page.keyboard.press('Escape');
  const link = await copyLink(page);
  const rows = await rowsOf(page);
  await page.getByText('It holds the query, its variables, and the search and the filters of the table.').waitFor();
  await page.context().close();

  const other = await gateway.visit({ hash: link, locale: 'en-US' });
  await logIn(other.page);
  await other.page.locator('.graphiql-tab').filter({ hasText: 'Rows' }).waitFor();
  expect(other.page.url()).toBe(`${gateway.url}/playground#graphql`);
  await execute(other.page);
  await other.page.getByText('2 of 16 rows').waitFor();
  expect(await rowsOf(other.page)).toEqual(rows);
  await other.page.getByRole('button', { name: 'Clear' }).click();
  await other.page.getByText('16 rows', { exact: true }).waitFor();
  await other.page.context().close();

  const unknown = await gateway.visit({ hash: link.replace('rows.amount.to', 'rows.amounts.to'), locale: 'en-US' });
  await logIn(unknown.page);
  await unknown.page.locator('.graphiql-tab').filter({ hasText: 'Rows' }).waitFor();
  await execute(unknown.page);
  await unknown.page
    .getByRole('alert')
    .filter({ hasText: 'A part of the link cannot be read: rows.amounts.to. All rows are shown there.' })
    .waitFor();
  await unknown.page.getByText('16 rows', { exact: true }).waitFor();
  expect([faults, other.faults, unknown.faults]).toEqual([[], [], []]);
  await unknown.page.context().close();
});
