import { BOARD_NOW, boardGift, openBoardBooks } from '../support/board-books';
import { graphql, type TestOrganization } from '../support/gateway';
import { logIn, openPlayground, printPage } from '../support/playground-browser';

/** Twelve months, of which the first is in the fiscal year before. */
const PERIOD = { startDate: '2025-06-01', endDate: '2026-05-31' };
const BEFORE = { startDate: '2024-06-01', endDate: '2025-05-31' };
const YEAR = { startDate: '2025-07-01', endDate: '2026-05-31' };
const HASH = `#reports/board?period=${PERIOD.startDate}..${PERIOD.endDate}`;

type Fields = Readonly<Record<string, unknown>>;
const nameOf = (fund: number): string => `The fund number ${fund} of friends of the library and of all of its readers, near and far away`;
const gift = (date: string, amount: string, fund: number, more: Fields = {}) =>
  boardGift(date, amount, fund, { designation: nameOf(fund), ...more });
const donor = (id: number, name: string): Fields => ({ donor_id: id, donor_first_name: name, donor_last_name: 'Reader' });
const part = (of: Record<string, unknown>, fund: number, share: string | undefined) => ({
  ...of,
  ...{ allocation_id: `${String(of.allocation_id)}-${fund}`, designation_id: fund, designation: nameOf(fund), allocation_amount: share },
});

const FUNDS = Array.from({ length: 40 }, (_none, at) => at + 1);
const MONTHS = Array.from({ length: 24 }, (_none, at) => new Date(Date.UTC(2024, 5 + at, 10)).toISOString().slice(0, 10));
const split = gift('2026-03-03', '5000.00', 1, donor(8, 'Grace'));
const unknown = gift('2026-04-04', '77.00', 3, donor(7, 'Ada'));
/** Funds with gifts in each month but October, a void gift, split gifts, money of no known fund, and pending money. */
const LINES = [
  ...FUNDS.flatMap((fund) =>
    MONTHS.filter((date) => date !== '2025-10-10' && (fund > 1 || date.endsWith('-10'))).map((date, at) =>
      gift(date, `${(fund * 37 + at * 11) % 900}.${String((fund * 7 + at) % 100).padStart(2, '0')}`, fund, donor(7, 'Ada')),
    ),
  ),
  ...[part(split, 1, '3000.00'), part(split, 2, '2000.00'), part(unknown, 3, undefined), part(unknown, 4, undefined)],
  gift('2026-01-05', '-250.00', 5, donor(7, 'Ada')),
  ...[gift('2024-07-07', '10.00', 6, donor(9, 'Alan')), gift('2024-07-08', '10.00', 6, donor(10, 'Mary'))],
  ...[gift('2026-02-02', '9000.00', 6, { deposit_status: 'pending', ...donor(11, 'Emmy') })],
];
const BUDGET = [
  { designationId: 1, amount: '12000.00' },
  { designationId: 2, amount: '0.00' },
  // A fund without gifts.
  { designationId: 99, amount: '1200.00' },
];

const gateway = openPlayground({ loggedIn: true });

const openBooks = (lines: readonly object[], fiscalYearStart = 7) => openBoardBooks(gateway.services, lines, { fiscalYearStart });
async function open(as: TestOrganization, hash = HASH, options: Parameters<typeof gateway.visit>[0] = {}) {
  const { page, faults } = await gateway.visit({ as, hash, now: BOARD_NOW, locale: 'en-US', ...options });
  await logIn(page);
  await page.locator('.board-funds tfoot').waitFor();
  return { page, faults };
}
const write = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2 });
const sign = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, signDisplay: 'exceptZero' });
const money = (amount: number | string): string => write.format(Number(amount));

/** The money at the bank as the tables have it: that of the gifts, and that of the known shares of each fund. */
async function inBooks({ id }: TestOrganization, { startDate, endDate }: typeof PERIOD) {
  const { client } = gateway.database;
  const where = `WHERE d.organization_id = $1 AND d.deposit_date BETWEEN $2 AND $3 AND d.status = 'POSTED'`;
  const joined = `deposit d JOIN transaction t ON t.organization_id = d.organization_id AND t.deposit_id = d.id`;
  const values = [id, startDate, endDate];
  const all = await client.query<{ sum: string }>(`SELECT COALESCE(sum(t.amount), 0)::text AS sum FROM ${joined} ${where}`, values);
  const funds = await client.query<{ fund: string; sum: string }>(
    `SELECT a.designation_id::text AS fund, sum(a.amount)::text AS sum
     FROM ${joined} JOIN allocation a ON a.organization_id = t.organization_id AND a.transaction_id = t.id ${where} GROUP BY 1`,
    values,
  );
  return { all: all.rows[0]!.sum, funds: new Map(funds.rows.map(({ fund, sum }) => [Number(fund), sum])) };
}

/** The days of a month, and of the same one a year before. */
function daysOf(year: number, month: number): readonly [typeof PERIOD, typeof PERIOD] {
  const day = (of: number, at: number): string => new Date(Date.UTC(of, month - 1 + at, at === 0 ? 1 : 0)).toISOString().slice(0, 10);
  const [now, before] = [year, year - 1].map((of) => ({ startDate: day(of, 0), endDate: day(of, 1) }));
  return [now!, before!];
}

/** The rows of a printed table from its head on: those up to the total, or all that follow. */
function rowsFrom(rows: readonly (readonly string[])[], head: string): readonly (readonly string[])[] {
  const from = rows.slice(rows.findIndex(([name]) => name === head));
  const total = from.findIndex(([name]) => name === 'Total');
  return total < 0 ? from : from.slice(0, total + 1);
}

/** The sum of the whole numbers from one to another. */
const sumOf = (from: number, to: number): number => ((from + to) * (to - from + 1)) / 2;
const pagesOf = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;

test('a board gets a sheet of two pages whose money is that of the books', async () => {
  const organization = await openBooks(LINES);
  const budget = { startDate: YEAR.startDate, funds: BUDGET, replaces: null };
  await gateway.services.fundBudgets.save(organization.id, budget, { name: null });
  const { page, faults } = await open(organization);
  const [sheet] = await printPage(page);
  const table = rowsFrom(sheet!.rows, 'Fund');
  const [now, before, year] = [await inBooks(organization, PERIOD), await inBooks(organization, BEFORE), await inBooks(organization, YEAR)];
  expect(table[0]).toEqual(['Fund', 'Received', 'Year before', 'Change', 'Fiscal year to date', 'Budget to date', 'Difference']);
  const rows = new Map(table.slice(1).map(([name, ...cells]) => [name!, cells]));
  const budgets = new Map([
    [1, 11000],
    [2, 0],
  ]);
  for (const fund of FUNDS) {
    const [received, earlier, toDate] = [now, before, year].map(({ funds }) => Number(funds.get(fund) ?? 0)) as [number, number, number];
    expect([fund, rows.get(nameOf(fund))]).toEqual([
      fund,
      [
        ...[money(received), money(earlier), sign.format(received - earlier), money(toDate)],
        ...[budgets.has(fund) ? money(budgets.get(fund)!) : 'none', sign.format(toDate - (budgets.get(fund) ?? 0))],
      ],
    ]);
  }
  expect(rows.get('Fund (99)')).toEqual(['0.00', '0.00', '0.00', '0.00', '1,100.00', '-1,100.00']);
  expect(rows.get('Fund not known')).toEqual(['77.00', '0.00', '+77.00', '77.00', 'none', '+77.00']);
  expect(rows.get('Total')).toEqual([
    ...[money(now.all), money(before.all), sign.format(Number(now.all) - Number(before.all)), money(year.all)],
    ...['12,100.00', sign.format(Number(year.all) - 12100)],
  ]);
  const toCents = (text: string): number => (text === 'none' ? 0 : Math.round(Number(text.replaceAll(',', '')) * 100));
  for (const column of [0, 1, 2, 3, 4, 5]) {
    const cells = table.slice(1, -1).map((row) => toCents(row[column + 1]!));
    expect(cells.reduce((sum, cell) => sum + cell, 0)).toBe(toCents(rows.get('Total')![column]!));
  }
  const { data } = await graphqlAs(
    organization,
    'query ($startDate: LocalDate!, $endDate: LocalDate!) { depositSummary(startDate: $startDate, endDate: $endDate) { all { byTransaction { amount } } dataVersion { number } } }',
    PERIOD,
  );
  expect(data).toEqual({ depositSummary: { all: { byTransaction: { amount: now.all } }, dataVersion: { number: 1 } } });
  expect(sheet!.pictures).toBe(1);
  expect(sheet!.lines.join(' ')).toMatch(
    /^Summary for the board .*Deposits of Jun 1, 2025 – May 31, 2026.*The books are at version 1\..*Printed /,
  );

  const gifts = rowsFrom(sheet!.rows, 'Date');
  expect(gifts.slice(0, 2)).toEqual([
    ['Date', 'Fund', 'Amount'],
    ['Mar 3, 2026', '2 funds', '5,000.00'],
  ]);
  expect(gifts).toHaveLength(11);
  expect(JSON.stringify(sheet)).not.toContain('Reader"');
  for (const format of ['A4', 'Letter'] as const) expect([1, 2]).toContain(pagesOf(await page.pdf({ format })));
  expect(faults).toEqual([]);
  await page.screenshot({ path: 'coverage/board-sheet.png' });
});

test('each month of the chart and of the table under it has the money of the books', async () => {
  const organization = await openBooks(LINES);
  const { page, faults } = await open(organization);
  const months = Array.from({ length: 12 }, (_none, at) => daysOf(2025, 6 + at));
  const sums: number[][] = [];
  for (const [now, before] of months)
    sums.push([Number((await inBooks(organization, now)).all), Number((await inBooks(organization, before)).all)]);
  const names = ['Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec', 'Jan', 'Feb', 'Mar', 'Apr', 'May'].map(
    (name, at) => `${name} ${at < 7 ? 2025 : 2026}`,
  );
  const [received, before] = [0, 1].map((column) => sums.reduce((sum, row) => sum + row[column]!, 0)) as [number, number];
  const [sheet] = await printPage(page);
  expect(rowsFrom(sheet!.rows, 'Month')).toEqual([
    ['Month', 'Received', 'Year before', 'Change'],
    ...names.map((name, at) => [name, ...sums[at]!.map(money), sign.format(sums[at]![0]! - sums[at]![1]!)]),
    ['Total', money(received), money(before), sign.format(received - before)],
  ]);
  const drawing = page.locator('svg.chart');
  expect(await drawing.locator('text').allTextContents()).toEqual(expect.arrayContaining(names));
  await drawing.focus();
  const readings: (string | null)[] = [];
  for (const _mark of sums.flat()) {
    await page.keyboard.press('ArrowRight');
    readings.push(await page.locator('.chart-reading').textContent());
  }
  expect(readings).toEqual(
    names.flatMap((name, at) => [`${name}, Received: ${money(sums[at]![0]!)}`, `${name}, Year before: ${money(sums[at]![1]!)}`]),
  );
  expect(faults).toEqual([]);
});

test.each(['en-US', 'de-DE', 'fr-FR', 'es-ES', 'pt-BR', 'ja-JP'])(
  'the sheet has two pages in %s, with names and a currency',
  async (locale) => {
    const organization = await openBooks(LINES);
    await gateway.services.organizations.setCurrency(organization.name, 'EUR');
    const { page, faults } = await open(organization, `${HASH}&donorNames=WITH`, { locale });
    const [sheet] = await printPage(page);
    const { all } = await inBooks(organization, PERIOD);
    const written = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(Number(all));
    expect(sheet!.rows.find(([name]) => name === 'Total')![1]).toBe(written);
    for (const format of ['A4', 'Letter'] as const) expect([1, 2]).toContain(pagesOf(await page.pdf({ format })));
    expect(faults).toEqual([]);
  },
);

test('a board of many funds reads the largest by name, and the others as one row that adds up', async () => {
  const organization = await openBooks(Array.from({ length: 300 }, (_none, at) => gift('2026-01-10', `${1000 - at}.00`, at + 1)));
  const { page } = await open(organization);
  const [sheet] = await printPage(page);
  const rows = rowsFrom(sheet!.rows, 'Fund').slice(1);
  expect(rows).toHaveLength(42);
  expect(rows.slice(-3).map(([name, received]) => [name, received])).toEqual([
    [nameOf(40), '961.00'],
    ['260 other funds', money(sumOf(701, 960))],
    ['Total', money(sumOf(701, 1000))],
  ]);
  expect(pagesOf(await page.pdf({ format: 'Letter' }))).toBeLessThanOrEqual(2);
  // Two years have a row for each of their months.
  await page.goto(`${gateway.url}/playground#reports/board?period=2024-06-01..2026-05-31`);
  await page.getByRole('rowheader', { name: 'Jun 2024' }).waitFor();
  for (const format of ['A4', 'Letter'] as const) expect([1, 2]).toContain(pagesOf(await page.pdf({ format })));
});

/** Asks as the organization's program. */
async function graphqlAs({ apiProvision }: TestOrganization, query: string, variables: Fields) {
  const { body } = await graphql(gateway.url, query, { provision: apiProvision, variables });
  expect(body.errors).toBeUndefined();
  return body as { readonly data: unknown };
}
