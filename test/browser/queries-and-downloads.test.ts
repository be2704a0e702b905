import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createOrganization, importLines, PASSWORD, v2Line } from '../support/gateway';
import { fillReport } from '../support/long-report';
import { accountButton, execute, logIn, logOut, openPlayground, pasteInto } from '../support/playground-browser';
import { until } from '../support/until';

const today = new Date().toISOString().slice(0, 10);
const gateway = openPlayground({ lines: [v2Line({ deposit_date: today, donor_last_name: 'Łukasiewicz "Jan" 🌻' })] });
const { organization } = gateway;

const open = (as = organization) => gateway.visit({ as });

test('an analyst logs in, runs the first example, and sees exact money and names', async () => {
  const { page, faults } = await open();
  await logIn(page, 'not the password');
  await page.getByRole('alert').filter({ hasText: 'not correct' }).waitFor();
  await logIn(page);
  expect(await accountButton(page).textContent()).toContain(`ada · ${organization.name}`);
  await execute(page);
  const result = page.locator('.result-window, .graphiql-response');
  await result.getByText('Łukasiewicz').first().waitFor();
  await result.getByText('"10.50"').first().waitFor();
  await page.screenshot({ path: process.env.SCREENSHOT ?? 'coverage/playground.png' });

  const { 'deposit-gateway.organization': known, ...stored } = await page.evaluate<Record<string, string>>('({ ...localStorage })');
  // The Provision of kind WEB is no secret: the next login asks for username and password alone.
  expect(JSON.parse(known!)).toEqual({ name: organization.name, provision: organization.webProvision });
  for (const secret of [PASSWORD, organization.webProvision, 'Łukasiewicz']) expect(JSON.stringify(stored)).not.toContain(secret);
  expect(new URL(page.url()).search).toBe('');
  await logOut(page);
  expect(await page.locator('body').textContent()).not.toContain('Łukasiewicz');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('an analyst enters the Provision once, and again for another organization', async () => {
  const { page, faults } = await open();
  await logIn(page);
  await logOut(page);
  const again = await page.context().newPage();
  await page.close();
  await again.goto(`${gateway.url}/playground`);
  await again.getByText(`Organization: ${organization.name}`).waitFor();
  expect(await again.getByLabel('Provision').count()).toBe(0);
  await logIn(again);
  await logOut(again);

  await again.getByRole('button', { name: 'Change' }).click();
  const other = await createOrganization(gateway.services);
  await again.getByLabel('Provision').fill(other.webProvision);
  await logIn(again);
  expect(await accountButton(again).textContent()).toContain(`ada · ${other.name}`);
  expect(faults).toEqual([]);
  await again.context().close();
});

test('an analyst with a secret Provision leaves nothing of it in the browser', async () => {
  const { page } = await open({ ...organization, webProvision: organization.apiProvision });
  await logIn(page);
  await logOut(page);
  expect(await page.evaluate<string>('JSON.stringify({ ...localStorage })')).not.toContain(organization.apiProvision);
  const next = await page.context().newPage();
  await next.goto(`${gateway.url}/playground`);
  expect(await next.getByLabel('Provision').inputValue()).toBe('');
  expect(await next.getByText('Organization:').count()).toBe(0);
  await page.context().close();
});

describe('an analyst who downloads', () => {
  const file = async (path: string): Promise<Buffer> => {
    const response = await fetch(gateway.url + path, { headers: { Provision: organization.apiProvision } });
    return Buffer.from(await response.arrayBuffer());
  };
  const last30Days = () => {
    const first = new Date(Date.parse(today) - 29 * 86_400_000).toISOString().slice(0, 10);
    return `start_date=${first}&end_date=${today}`;
  };

  test('takes all rows of the query home, whole and checked, within six clicks', async () => {
    const { page, faults } = await open();
    await logIn(page);
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download', exact: true }).click()]);
    await page
      .getByRole('status')
      .filter({ hasText: /^1 row in .*checked: digest [0-9a-f]{12}/ })
      .waitFor();
    const columns =
      'deposit_id,deposit_date,transaction_date,transaction_id,donor_id,donor_last_name,designation,allocation_amount,amount,fee_amount,net_amount';
    const content = await readFile(await saved.path());
    expect(content).toEqual(await file(`/export/deposit-details.csv?${last30Days()}&bom=true&columns=${columns}`));
    expect(content.toString()).toContain('"Łukasiewicz ""Jan"" 🌻"');
    await page.screenshot({ path: 'coverage/playground-download.png' });
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test.each([
    ['The newest deposits', '1 row'],
    ['Funds of the last 30 days', '1 row'],
    ['Pending gifts', '0 rows'],
    ['A donor’s last twelve months', '0 rows'],
    ['Tie-out totals of last month', '1 row'],
  ])('takes home the rows of the example: %s', async (label, rows) => {
    const { page } = await open();
    await logIn(page);
    await page.getByLabel('Examples').selectOption({ label });
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page
      .getByRole('status')
      .filter({ hasText: new RegExp(`^${rows} in `) })
      .waitFor();
    await page.context().close();
  });

  test.each(['csv', 'ndjson', 'json'])('is told how many rows a file has, whatever stands in them: %s', async (format) => {
    const own = await createOrganization(gateway.services);
    const odd = { deposit_date: today, donor_last_name: '"}', designation: '\\' };
    await importLines(gateway.services, own, [
      v2Line(odd),
      v2Line({ deposit_date: today, donor_id: 8, transaction_id: 'P11', allocation_id: 'P110', designation_id: 4 }),
    ]);
    const { page, faults } = await open(own);
    await logIn(page);
    await page.getByLabel('All rows as').selectOption(format);
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download', exact: true }).click()]);
    await page
      .getByRole('status')
      .filter({ hasText: /^2 rows in .*checked/ })
      .waitFor();
    expect(saved.suggestedFilename()).toMatch(new RegExp(`\\.${format}$`));
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('sees how much of a long file has come, and may cancel it', async () => {
    const own = await createOrganization(gateway.services);
    // The browser asks for compressed bytes, and these stay long.
    await fillReport(gateway.database.client, own.id, 10_000, `(SELECT string_agg(md5(n || ' ' || k), '') FROM generate_series(1, 16) k)`);
    const { page } = await open(own);
    await logIn(page);
    await pasteInto(page, 'query', '{ depositDetails(startDate: "2020-01-01", endDate: "2029-12-31") { depositId mainMemo } }');
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    const slow = { offline: false, latency: 0, downloadThroughput: 200_000, uploadThroughput: -1 };
    await network.send('Network.emulateNetworkConditions', slow);
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByText(/^[\d,]+ of 10,000 rows, [\d.]+ MB$/).waitFor();
    expect(await page.getByRole('progressbar', { name: 'Rows downloaded' }).getAttribute('max')).toBe('10000');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').filter({ hasText: 'The download was cancelled. Nothing was saved.' }).waitFor();
    await page.context().close();
  });

  test('is told when the file was cut, and gets none of it', async () => {
    const { page } = await open();
    await logIn(page);
    let saved = false;
    page.on('download', () => (saved = true));
    for (const [change, told] of [
      [(body: Buffer) => body.subarray(0, body.length - 5), 'The file arrived damaged: it is not the one that the gateway sent.'],
      [
        (body: Buffer) => Buffer.from(body.toString().replace('10.50', '90.50')),
        'The file arrived damaged: it is not the one that the gateway sent.',
      ],
    ] as const) {
      await page.route('**/export/deposit-details.csv*', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: change(await response.body()) });
      });
      await page.getByRole('button', { name: 'Download', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: told }).waitFor();
      await page.unroute('**/export/deposit-details.csv*');
    }
    expect(saved).toBe(false);
    await page.context().close();
  });
});

test('an analyst sees a long answer as a table, sorts it exactly, scrolls it and copies it', async () => {
  const own = await createOrganization(gateway.services);
  const COUNT = 5000;
  const amountOf = (n: number): string => `${(n * 7919) % 10_007}.0${n % 10}`;
  const lines = Array.from({ length: COUNT }, (_, n) =>
    v2Line({
      ...{
        deposit_date: today,
        donor_last_name: '=1+1',
        transaction_id: `T${n}`,
        allocation_id: `A${n}`,
        amount: amountOf(n),
        fee_amount: '0.00',
        net_amount: amountOf(n),
      },
    }),
  );
  await importLines(gateway.services, own, lines);
  const { page, faults } = await open(own);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await logIn(page);
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByText('No rows yet').waitFor();
  await execute(page);
  await page.getByText(`${COUNT.toLocaleString('en-US')} rows`).waitFor();
  const table = page.getByRole('table');
  expect(await table.getAttribute('aria-rowcount')).toBe(String(COUNT + 1));
  // The page holds the rows in view alone.
  expect(await table.getByRole('row').count()).toBeLessThan(60);
  // Amounts begin with the largest.
  await table.getByRole('button', { name: 'amount', exact: true }).click();
  const amounts = lines.map(({ amount }) => Number(amount)).sort((one, other) => other - one);
  const column = async (): Promise<number[]> =>
    (await table.locator('[role="cell"]:nth-child(9)').allTextContents()).map((text) => Number(text.replace(',', '')));
  await until(async () => (await column())[0] === amounts[0]);
  expect((await column()).slice(0, 5)).toEqual(amounts.slice(0, 5));
  await page.screenshot({ path: 'coverage/playground-table.png' });
  await page.evaluate(`document.querySelector('[role=table]').scrollTo(0, 1e9)`);
  await until(async () => (await column()).at(-1) === amounts.at(-1));
  expect((await column()).at(-1)).toBe(amounts.at(-1));
  await page.getByRole('button', { name: 'Copy all' }).click();
  await page
    .getByRole('status')
    .filter({ hasText: `Copied ${COUNT.toLocaleString('en-US')} rows` })
    .waitFor();
  const copied = (await page.evaluate<string>('navigator.clipboard.readText()')).split('\n');
  expect([copied.length, copied[0]!.split('\t')[8], Number(copied[1]!.split('\t')[8])]).toEqual([COUNT + 1, 'amount', amounts[0]]);
  // A spreadsheet would run the text as a formula.
  expect(copied[1]!.split('\t')[5]).toBe("'=1+1");
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a page of another site cannot use the analyst’s session', async () => {
  const { page } = await open();
  await logIn(page);
  // Another port is another origin of the same site, so the browser sends the cookie.
  const other = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<p>elsewhere</p>')).listen(
    0,
    '127.0.0.1',
  );
  await once(other, 'listening');
  const address = other.address();
  const logins = async () => (await gateway.database.client.query('SELECT FROM session')).rowCount;
  const before = await logins();
  const elsewhere = await page.context().newPage();
  await elsewhere.goto(`http://127.0.0.1:${typeof address === 'object' ? address!.port : ''}`);
  const outcomes = await elsewhere.evaluate(async (target) => {
    const tries: RequestInit[] = [
      { method: 'POST', body: '{"query":"mutation { logout { ended } }"}', headers: { 'Content-Type': 'text/plain' } },
      { method: 'POST', body: '{"query":"mutation { logout { ended } }"}', headers: { 'Content-Type': 'application/json' } },
      { method: 'POST', body: new URLSearchParams({ query: 'mutation { logout { ended } }' }) },
      { method: 'GET' },
    ];
    const seen: string[] = [];
    for (const init of tries) {
      try {
        await (await fetch(`${target}/graphql?query={viewer{username}}`, { ...init, credentials: 'include' })).text();
        seen.push('read');
      } catch {
        seen.push('refused');
      }
    }
    return seen;
  }, gateway.url);
  expect(new Set(outcomes)).toEqual(new Set(['refused']));
  expect(await logins()).toBe(before);
  await page.context().close();
  other.close();
});
