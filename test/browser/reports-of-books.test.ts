import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { defaultChoices, toAddress, type ReportChoices } from '../../src/playground/web/choices/report-choices';
import { definitionOf, reportDefinitions, type ReportId } from '../../src/playground/web/choices/report-definitions';
import { createOrganization, importLines, v2Line, type TestOrganization } from '../support/gateway';
import { logIn, openPlayground, untilDonorIs } from '../support/playground-browser';
import { createOracle, summaryBook, toCents, toMoney, type SummaryLine } from '../support/summary-oracle';
import { until } from '../support/until';
import { readXlsx } from '../support/xlsx-reader';

const NOW = '2024-06-15T12:00:00Z';
const PERIOD = '2024-02-01..2024-05-31';
/** All gifts of the book were given within three weeks, and deposited in the course of a year. */
const GIVEN = '2024-01-02..2024-01-20';
const whole = summaryBook(150);
/** The same lines as a v2 file has them: without shares, all of posted deposits. */
const plain = whole.map(({ allocation_amount: _share, ...line }): SummaryLine => ({ ...line, deposit_status: 'posted' }));
const books = { 'with shares and pending deposits': whole, 'as v2 gives them': plain, 'with nothing in them': [] } as const;
type BookName = keyof typeof books;

const gateway = openPlayground();
const organizations = {} as Record<BookName, TestOrganization>;
beforeAll(async () => {
  for (const name of Object.keys(books) as BookName[]) {
    organizations[name] = await createOrganization(gateway.services);
    if (books[name].length > 0) await importLines(gateway.services, organizations[name], books[name]);
  }
});

const donor = whole.find(({ donor_id: id }) => id !== 0)!.donor_id;

/** Every report of one state and with rows, divided in each way that it knows, and with conditions. */
const reports = (Object.keys(reportDefinitions) as ReportId[]).filter((report) => {
  const { rows, isSheet } = definitionOf(report);
  return rows !== 'changes' && !isSheet;
});
const forms: ReportChoices[] = reports.flatMap((report) => {
  const { splitBy = ['NONE'], needs, period, dateBasis, hasFixedDates, hasFixedPending, filters } = definitionOf(report);
  const dates = dateBasis === 'TRANSACTION_DATE' ? GIVEN : PERIOD;
  const before: ReportChoices = { ...defaultChoices(report), period: period === 'all-time' ? period : dates, ...(needs && { donor }) };
  return [
    ...splitBy.map((by) => ({ ...before, splitBy: by })),
    ...(hasFixedDates ? [] : [{ ...before, period: GIVEN, dateBasis: 'TRANSACTION_DATE' as const }]),
    ...(hasFixedPending ? [] : [{ ...before, pending: 'WITHOUT' as const, compare: 'last-year' as const }]),
    ...(filters.some((name) => name === 'funds') ? [{ ...before, funds: [2] }] : []),
  ];
});

/** The lines of a book that the choices are about. */
const linesOf = (book: readonly SummaryLine[], { period, dateBasis, pending, funds, donor: of }: ReportChoices): SummaryLine[] => {
  const [start = '', end = '9999'] = period === 'all-time' ? [] : period.split('..');
  const column = dateBasis === 'TRANSACTION_DATE' ? 'transaction_date' : 'deposit_date';
  return book.filter(
    (line) =>
      line[column] >= start &&
      line[column] <= end &&
      (pending === 'WITH' || (line.deposit_status === 'pending') === (pending === 'ONLY')) &&
      (funds.length === 0 || funds.includes(line.designation_id)) &&
      (of === undefined || line.donor_id === of),
  );
};

const shown = (amount: string | null): string => (amount === null ? 'unknown' : amount.replace(/\B(?=(\d{3})+(?=\.))/g, ','));

interface Seen {
  readonly cards: Readonly<Record<string, string>>;
  /** The totals row by the columns' titles; undefined for a report without rows. */
  readonly totals: Readonly<Record<string, string>> | undefined;
}

/** Opens a report by its address, and reads what it shows once it is there. */
async function openReport(page: Page, choices: ReportChoices): Promise<Seen> {
  await page.evaluate(`location.hash = '#reports'`);
  await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(toAddress(choices))}`);
  await page.getByRole('button', { name: 'Run again' }).waitFor();
  await page
    .getByText(/^One row is/)
    .first()
    .waitFor();
  const nothing = page.getByText(/^Nothing came in|^No donor has the number|^The books have not changed yet/);
  await until(async () => (await page.locator('.table-totals').count()) > 0 || (await nothing.count()) > 0);
  return page.evaluate<Seen>(`(() => {
    const cards = Object.fromEntries([...document.querySelectorAll('.card')].map((card) =>
      [card.querySelector('dt').textContent, card.querySelector('dd > strong').textContent]));
    const texts = (selector) => [...document.querySelectorAll(selector)].map((cell) => cell.textContent);
    const [names, values] = [texts('.table-names [role=columnheader] .column-sort'), texts('.table-totals [role=cell]')];
    return { cards, totals: values.length === 0 ? undefined : Object.fromEntries(names.map((name, n) => [name, values[n]])) };
  })()`);
}

describe.each(Object.keys(books) as BookName[])('an analyst of books %s', (name) => {
  const book = books[name];
  const oracle = createOracle(book);

  test('sees the money of the books in every report', async () => {
    const { page, faults } = await gateway.visit({ as: organizations[name], hash: '#reports', now: NOW, locale: 'en-US' });
    await logIn(page);
    for (const choices of forms) {
      const { cards, totals } = await openReport(page, choices);
      const of = `${toAddress(choices)}: ${JSON.stringify({ cards, totals })}`;
      if (choices.report === 'history') continue;
      const { transactions, byTransaction, byAllocation } = oracle.totalsOf(linesOf(book, choices));
      const isShare = choices.funds.length > 0;
      const title = isShare ? 'Whole gifts' : choices.pending === 'ONLY' ? 'Pending' : 'Received';
      // The rows of the largest are some of the gifts, and the cards are of all.
      const end = choices.limit > 0 && transactions > choices.limit ? ', all gifts' : '';
      const titleOf = (own: string, whole: string): string => (end === '' ? own : isShare ? whole : own + end);
      const expected = {
        [titleOf(title, 'All whole gifts')]: shown(byTransaction.amount),
        [titleOf(isShare ? 'Fees of the whole gifts' : 'Fees', 'Fees of all whole gifts')]: shown(byTransaction.feeAmount),
        [titleOf(isShare ? 'Net of the whole gifts' : 'Net', 'Net of all whole gifts')]: shown(byTransaction.netAmount),
        [end === '' ? 'Gifts' : 'All gifts']: String(transactions),
        ...(isShare && { [`To this fund${end}`]: shown(byAllocation.amount) }),
      };
      expect([of, cards]).toEqual([of, transactions === 0 ? {} : expect.objectContaining(expected)]);
      expect([of, totals === undefined]).toEqual([of, transactions === 0]);
      if (!totals || choices.limit > 0) continue;
      const unknown = byAllocation.unknown > 0 && byAllocation.amount !== null ? ` + ${String(byAllocation.unknown)} unknown` : '';
      // Funds with a column for each month have their sum in the last ones.
      const share = totals['To this fund'] ?? totals['To these funds'] ?? totals.Total;
      if (share !== undefined) expect([of, share]).toEqual([of, `${shown(byAllocation.amount)}${unknown}`]);
      if ('Received' in totals) expect([of, totals.Received]).toEqual([of, shown(byTransaction.amount)]);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

test('an analyst takes every report home, and its files add up to the books', async () => {
  const oracle = createOracle(whole);
  const organization = organizations['with shares and pending deposits'];
  const { page, faults } = await gateway.visit({ as: organization, hash: '#reports', now: NOW, locale: 'en-US' });
  await logIn(page);
  for (const report of reports) {
    const choices = forms.find((each) => each.report === report)!;
    await openReport(page, choices);
    const { byAllocation, byTransaction } = oracle.totalsOf(linesOf(whole, choices));
    for (const format of ['XLSX', 'CSV', 'NDJSON', 'JSON']) {
      await page.getByRole('button', { name: 'Download' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(format, { exact: true }).click();
      const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
      const file = await readFile(await saved.path());
      const records = readers[format]!(file);
      expect(records.length).toBeGreaterThan(0);
      const sumOf = (...names: string[]): string | undefined => {
        const column = names.find((each) => records.some((record) => each in record));
        if (column === undefined) return undefined;
        return toMoney(records.reduce((sum, record) => sum + toCents(textOf(record[column])), 0));
      };
      const share = sumOf('To this fund', 'all.byAllocation.amount', 'allocationAmount');
      if (share !== undefined) expect([report, format, share]).toEqual([report, format, byAllocation.amount]);
      const received = sumOf('Received', ...(report === 'largest' || report === 'pending' ? [] : ['all.byTransaction.amount']));
      if (received !== undefined && share === undefined) expect([report, format, received]).toEqual([report, format, byTransaction.amount]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  }
  expect(faults).toEqual([]);
  await page.context().close();
});

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

type Records = readonly Readonly<Record<string, unknown>>[];
const readers: Readonly<Record<string, (file: Buffer) => Records>> = {
  CSV: (file) => parse(file, { columns: true, bom: true }),
  JSON: (file) => {
    const data: unknown = JSON.parse(file.toString());
    return (Array.isArray(data) ? data : Object.values(data as object)[0]) as Records;
  },
  NDJSON: (file) =>
    file
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  XLSX: (file) => {
    const [head, ...rows] = readXlsx(file)[0]!.rows;
    const valueOf = (cell: unknown) => (typeof cell === 'object' ? (cell as { number: number }).number.toFixed(2) : cell);
    return rows.map((row) => Object.fromEntries(Object.entries(head!).map(([letters, title]) => [textOf(title), valueOf(row[letters])])));
  },
};

describe('an analyst of books with namesakes and large amounts', () => {
  let as: TestOrganization;
  const lineOf = (n: number, donor: number, city: string, fund: number, amount: string) =>
    v2Line({
      ...{ deposit_id: `DEPOSIT-2024-WWW-${n}`, transaction_id: `TRANSACTION-${n}`, allocation_id: `A${n}`, deposit_date: `2024-05-0${n}` },
      ...{ transaction_date: `2024-04-2${n}`, donor_id: donor, city, designation_id: fund, designation: 'Wells' },
      ...{ amount, fee_amount: '0.00', net_amount: amount, allocation_amount: amount, deposit_status: n === 3 ? 'pending' : 'posted' },
    });
  beforeAll(async () => {
    as = await createOrganization(gateway.services);
    await importLines(gateway.services, as, [
      lineOf(1, 12, 'Springfield', 3, '999999999999.99'),
      lineOf(2, 13, 'Shelbyville', 5, '-123456789012.34'),
      lineOf(3, 12, 'Springfield', 5, '1.00'),
    ]);
  });
  const open = async (hash: string, locale = 'en-US', width = 1280) => {
    const opened = await gateway.visit({ as, hash, now: NOW, locale, viewport: { width, height: 800 } });
    await logIn(opened.page);
    await opened.page.getByRole('row').nth(1).waitFor();
    return opened;
  };
  /** The cells of numbers, dates and ids that are cut, or have no room at all. */
  const CUT = `[...document.querySelectorAll('.table-body [role=cell], .table-totals [role=cell], .card strong')]
    .filter((cell) => cell.matches(':not(.text, .word)') || /^(DEPOSIT|TRANSACTION)/.test(cell.textContent))
    .filter(({ scrollWidth, clientWidth, textContent }) => scrollWidth > clientWidth || textContent.includes('#'))
    .map(({ textContent }) => textContent)`;

  test.each(['en-US', 'fr-FR', 'ar-EG', 'sv-SE'])(
    'reads whole amounts, dates and ids in every report, at every width, as people of %s write them',
    async (locale) => {
      const { page, faults } = await open('#reports/gifts?period=all-time', locale);
      for (const report of ['gifts', 'donors', 'designations', 'largest', 'pending', 'bank-tie-out', 'history']) {
        await page.evaluate(`location.hash = '#reports'`);
        await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
        await page.evaluate(`location.hash = '#reports/${report}?period=all-time'`);
        await page.locator('[data-row="0"]').waitFor();
        for (const width of [1280, 768, 390]) {
          await page.setViewportSize({ width, height: 800 });
          const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
          expect([report, width, await page.evaluate(CUT), isWide]).toEqual([report, width, [], false]);
        }
      }
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  test('sees ### in a column that is made too narrow, and reads, copies and points at the whole amount', async () => {
    const { page, faults } = await open('#reports/gifts?period=all-time');
    const narrow = async (title: string): Promise<void> => {
      await page.getByRole('button', { name: 'Columns' }).click();
      for (let step = 0; step < 6; step++) await page.getByRole('button', { name: `Make ${title} narrower` }).click();
      await page.keyboard.press('Escape');
    };
    for (const title of ['To this fund', 'Deposit date', 'Gift']) await narrow(title);
    const cell = page.getByRole('cell', { name: '999,999,999,999.99' }).first();
    expect(await cell.getAttribute('title')).toBe('999,999,999,999.99');
    expect(await cell.locator('[aria-hidden]').textContent()).toBe('###');
    expect(await page.getByRole('cell', { name: 'TRANSACTION-1' }).locator('[aria-hidden]').textContent()).toBe('###');
    // The first cell opens nothing here; its date and the total have no room either.
    expect(await page.getByRole('cell', { name: 'May 1, 2024' }).locator('[aria-hidden]').textContent()).toBe('###');
    expect(await page.locator('.table-totals').getByRole('cell', { name: '876,543,210,988.65' }).getAttribute('title')).toBe(
      '876,543,210,988.65',
    );
    // A small amount has room, and a text is cut as before.
    expect(await page.getByRole('cell', { name: '1.00', exact: true }).first().textContent()).toBe('1.00');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy all' }).click();
    await page.getByText('Copied 3 rows').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('\t999999999999.99\t');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('button', { name: 'As they were' }).click();
    await page.keyboard.press('Escape');
    await until(async () => (await page.locator('.table-body').getByText('###').count()) === 0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('tells two donors and two funds of one name apart in rows, charts, chips, finders, prints and sheets', async () => {
    const { page, faults } = await open('#reports/donors');
    const rows = async (): Promise<string[]> => page.locator('.table-body [role=row]').allInnerTexts();
    const has = (texts: readonly string[], ...words: string[]): boolean =>
      texts.some((text) => words.every((word) => text.split(/\s+/).includes(word)));
    for (const [hash, ...names] of [
      ['donors', ['Ada', '12', 'Springfield'], ['Ada', '13', 'Shelbyville']],
      ['gifts?period=all-time', ['Ada', '12', 'Springfield', 'Wells', '3'], ['Ada', '13', 'Shelbyville', 'Wells', '5']],
      ['largest?period=all-time', ['Ada', '12', 'Springfield'], ['Ada', '13', 'Shelbyville']],
      ['designations?period=all-time', ['Wells', '3'], ['Wells', '5']],
      // The donor of all rows stands over them, and in none.
      ['donor?donor=13', ['Wells', '5']],
    ] as const) {
      await page.evaluate(`location.hash = '#reports'`);
      await page.getByRole('heading', { name: 'What do you want to know?' }).waitFor();
      await page.evaluate(`location.hash = '#reports/${hash}'`);
      await page.locator('.table-totals').waitFor();
      const texts = await rows();
      for (const words of names) expect([hash, words, has(texts, ...words)]).toEqual([hash, words, true]);
    }
    await untilDonorIs(page, /^Ada Lovelace \(13, Shelbyville\)$/);
    await page.getByRole('button', { name: 'Print' }).click();
    await page.locator('.print-sheet').waitFor({ state: 'attached' });
    expect(await page.locator('.print-sheet').textContent()).toContain('Donor: Ada Lovelace (13, Shelbyville)');
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    for (const [format, read] of [
      ['CSV', (file: Buffer) => file.toString()],
      ['XLSX', (file: Buffer) => JSON.stringify(readXlsx(file))],
    ] as const) {
      await page.getByRole('button', { name: 'Download' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(format, { exact: true }).click();
      const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download' }).click()]);
      const text = read(await readFile(await saved.path()));
      expect(text).toMatch(/Donor number.*City.*13.*Shelbyville/s);
      if (format === 'XLSX') expect(text).toContain('Donor: Ada Lovelace (13, Shelbyville)');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    const summaryOf = async (hash: string): Promise<string | null> => {
      await page.evaluate(`location.hash = '#reports/${hash}'`);
      await page.getByRole('tab', { name: 'Chart' }).click();
      return page.getByRole('img', { name: /chart of/ }).getAttribute('aria-label');
    };
    expect(await summaryOf('donors')).toBe(
      'Bar chart of Received by donor: Ada Lovelace (12, Springfield) has the most, 1,000,000,000,000.99.',
    );
    expect(await summaryOf('designations?period=all-time')).toContain('Wells (3) has the most');
    await page.getByRole('button', { name: 'Narrow the report' }).click();
    await page.getByRole('menuitem', { name: 'Donor' }).click();
    await page.keyboard.type('love');
    await page.getByRole('option', { name: 'Ada Lovelace' }).filter({ hasText: 'No. 12 · Springfield' }).waitFor();
    await page.getByRole('option', { name: 'Ada Lovelace' }).filter({ hasText: 'No. 13 · Shelbyville' }).click();
    await page.getByText('Donor: Ada Lovelace (13, Shelbyville)').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
