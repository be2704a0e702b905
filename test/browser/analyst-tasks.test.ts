import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import type { Browser } from 'puppeteer-core';
import { Analyst, analystBrowsers, launchFor, type BrowserName, type Hands } from '../support/analyst';
import { openGateway } from '../support/open-gateway';
import { createOracle, summaryBook, toCents, toMoney, type SummaryLine } from '../support/summary-oracle';
import { readXlsx } from '../support/xlsx-reader';

const book = summaryBook(300);
const oracle = createOracle(book);
const gateway = openGateway({ lines: book });
/** The day on which the analysts work: last month is May. */
const NOW = '2024-06-15T12:00:00Z';
const MOST_CLICKS = 5;

const between = (start: string, end: string): SummaryLine[] => book.filter(({ deposit_date: date }) => date >= start && date <= end);

function groupsOf(lines: readonly SummaryLine[], field: keyof SummaryLine): ReadonlyMap<string, readonly SummaryLine[]> {
  const groups = new Map<string, SummaryLine[]>();
  for (const line of lines) groups.set(String(line[field]), [...(groups.get(String(line[field])) ?? []), line]);
  return groups;
}

/** An amount as the page of an American shows it. */
const shown = (amount: string | null): string => (amount === null ? 'unknown' : amount.replace(/\B(?=(\d{3})+(?=\.))/g, ','));
const shownDate = (date: string): string => new Date(date).toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
const received = (lines: readonly SummaryLine[]): string => oracle.totalsOf(lines).byTransaction.amount;

/** Each line's share as the gateway tells it: the one that the books state, or the whole gift of an only line. */
const shareOf = (line: SummaryLine): string | null =>
  line.allocation_amount ?? (oracle.linesOfGift.get(line.transaction_id)!.length === 1 ? line.amount : null);

const ways = (Object.keys(analystBrowsers) as BrowserName[]).flatMap((name) =>
  (['mouse', 'keyboard'] as const).map((hands) => [name, hands] as const),
);

describe.each(ways)('an analyst in %s with the %s', (name, hands: Hands) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchFor(name);
  });
  afterAll(() => browser.close());

  /** Does a task on a new page, within the clicks that are allowed, and without an error of the page. */
  async function doTask(task: (analyst: Analyst) => Promise<void>): Promise<void> {
    const downloads = mkdtempSync(join(tmpdir(), 'downloads-'));
    const { url, organization } = gateway;
    const analyst = await Analyst.logIn(browser, { url, organization, now: NOW, hands, downloads });
    await task(analyst);
    expect(analyst.faults).toEqual([]);
    expect(analyst.clicks).toBeLessThanOrEqual(hands === 'mouse' ? MOST_CLICKS : 0);
    await analyst.leave();
  }

  test('sees last month by fund, as a chart and as CSV', () =>
    doTask(async (analyst) => {
      const lines = between('2024-05-01', '2024-05-31');
      const funds = [...groupsOf(lines, 'designation')].map(([fund, of]) => ({ fund, ...oracle.totalsOf(of).byAllocation }));
      await analyst.openReport('Funds');
      expect((await analyst.cards()).Received).toBe(`${shown(received(lines))} | pending included`);
      const rows = await analyst.rows();
      for (const { fund, amount, unknown } of funds) {
        expect(rows.find(([first]) => first === fund)?.slice(3, 5)).toEqual([shown(amount), String(unknown)]);
      }
      const known = funds.filter(({ amount }) => amount !== null).sort((one, other) => toCents(other.amount!) - toCents(one.amount!));
      await analyst.turnTo('Chart');
      await analyst.findPicture(`Bar chart of To this fund by fund: ${known[0]!.fund} has the most, ${shown(known[0]!.amount)}.`);
      await analyst.press('button', 'Download');
      await analyst.pick('CSV');
      await analyst.press('button', 'Download');
      const records: Record<string, string>[] = parse(await analyst.file(/^designations-.*\.csv$/), { columns: true, bom: true });
      expect(new Map(records.map((record) => [record.Fund, record['To this fund']]))).toEqual(
        new Map(funds.map(({ fund, amount }) => [fund, amount ?? ''])),
      );
    }));

  test('ties the deposits of a day to the lines of the bank, and opens one', () =>
    doTask(async (analyst) => {
      const posted = book.filter(({ deposit_status: status }) => status === 'posted');
      const day = [...groupsOf(posted, 'deposit_date').keys()][9]!;
      const atBank = posted.filter(({ deposit_date: date }) => date === day);
      const deposits = [...groupsOf(atBank, 'deposit_id')];
      await analyst.openReport('Bank tie-out');
      await analyst.typeDates(day, day);
      await analyst.untilCard('Net', `${shown(oracle.totalsOf(atBank).byTransaction.netAmount)} | at the bank`);
      const rows = await analyst.rows();
      for (const [id, lines] of deposits) {
        const { byTransaction, transactions } = oracle.totalsOf(lines);
        const { amount, feeAmount, netAmount } = byTransaction;
        const expected = [shownDate(day), id, 'Posted', shown(netAmount), String(transactions), shown(amount), shown(feeAmount)];
        expect(rows.find(([, deposit]) => deposit === id)).toEqual(expected);
      }
      const [id, lines] = deposits[0]!;
      await analyst.press('button', `Open deposit ${id}, ${shownDate(day)}`);
      await analyst.find('heading', 'Gifts, line by line');
      await analyst.untilCard('Received', shown(received(lines)));
      expect((await analyst.rows()).length).toBe(lines.length + 1);
    }));

  test('finds a donor by a part of the name, and what the person gave this year', () =>
    doTask(async (analyst) => {
      const line = book.find(({ donor_id: donor }) => donor !== 0)!;
      const lines = book.filter(({ donor_id: donor }) => donor === line.donor_id);
      const { donor_first_name: first, donor_last_name: last } = line;
      await analyst.openReport('A donor’s gifts');
      await analyst.search('Donor', `${last} ${first.slice(0, 2)}`.toUpperCase(), `${first} ${last}`);
      await analyst.untilCard('Received', shown(received(lines)));
      const rows = await analyst.rows();
      const expected = lines.map((each) => [shownDate(each.deposit_date), each.designation, shown(shareOf(each)), shown(each.amount)]);
      const seen = rows.slice(0, -1).map(([date, , share, gift, fund]) => [date, fund, share, gift]);
      expect(seen).toEqual(expected.slice(0, seen.length));
    }));

  test('sees the pending money and the deposits that hold it', () =>
    doTask(async (analyst) => {
      const lines = book.filter(({ deposit_status: status }) => status === 'pending');
      await analyst.openReport('Pending');
      await analyst.untilCard('Pending', shown(received(lines)));
      const rows = (await analyst.rows()).slice(0, -1);
      const deposits = new Set(lines.map(({ deposit_id: id }) => id));
      expect(rows.length).toBeGreaterThan(5);
      const names = (await analyst.page.evaluate(
        `[...document.querySelectorAll('.table-names [role=columnheader] .column-sort')].map((name) => name.textContent)`,
      )) as string[];
      expect(names).toContain('Deposit');
      expect(rows.every((cells) => deposits.has(cells[names.indexOf('Deposit')]!))).toBe(true);
    }));

  test('compares two months', () =>
    doTask(async (analyst) => {
      const [april, may] = [between('2024-04-01', '2024-04-30'), between('2024-05-01', '2024-05-31')].map(received) as [string, string];
      const difference = toMoney(toCents(may) - toCents(april));
      const percentage = Math.round((toCents(difference) / toCents(april)) * 10_000) / 100;
      const signed = (value: string | number): string => `${Number(value) > 0 ? '+' : ''}${value}`;
      await analyst.openReport('Money received');
      await analyst.choose('Compare with', 'The period before');
      await analyst.untilCard(
        'Received',
        `${shown(may)} | pending included | The period before: ${shown(april)} | ${shown(signed(difference))} (${signed(percentage.toFixed(1))}%)`,
      );
    }));

  test('takes a year into a spreadsheet that adds up', () =>
    doTask(async (analyst) => {
      await analyst.openReport('Gifts, line by line');
      await analyst.choose('Period', 'This year');
      await analyst.untilCard('Received', shown(received(book)));
      await analyst.press('button', 'Download');
      await analyst.press('button', 'Download');
      const [sheet, totals] = readXlsx(await analyst.file(/^gifts-.*\.xlsx$/));
      const [head, ...rows] = sheet!.rows;
      const column = Object.entries(head!).find(([, title]) => title === 'To this fund')![0];
      const cents = rows.map((row) => row[column]).flatMap((cell) => (typeof cell === 'object' ? Math.round(cell.number * 100) : []));
      expect(rows.length).toBe(book.length);
      expect(toMoney(cents.reduce((sum, each) => sum + each, 0))).toBe(oracle.totalsOf(book).byAllocation.amount);
      const fact = totals!.rows.find(({ A: title }) => title === 'Received, each gift once')!.B;
      expect(fact).toMatchObject({ number: Number(received(book)) });
    }));

  test('saves a report, and fetches it by curl elsewhere', () =>
    doTask(async (analyst) => {
      const title = `Funds for ${name} by ${hands}`;
      // A colleague's link has dates. curl asks on another day than the page, for which it is June 2024: a named period would have others.
      await analyst.page.evaluate(`location.hash = '#reports/designations?period=2024-02-10..2024-04-09'`);
      await analyst.cards();
      await analyst.press('button', 'Save');
      await analyst.retype(title);
      await analyst.press('button', 'Save');
      await analyst.closeDialog();
      await analyst.openReport('All saved reports');
      const [, address] = /(\/reports\/[a-z0-9-]+)\.csv/.exec(await analyst.textOf(title))!;
      await analyst.press('button', `Copy curl: ${address!.slice('/reports/'.length)}`);
      const command = String(await analyst.copied()).replace('YOUR-API-PROVISION', gateway.organization.apiProvision);
      const folder = mkdtempSync(join(tmpdir(), 'curl-'));
      await promisify(execFile)('bash', ['-c', command], { cwd: folder });
      const [file = ''] = readdirSync(folder);
      const records: Record<string, string>[] = parse(readFileSync(join(folder, file)), { columns: true, bom: true });
      const funds = [...groupsOf(between('2024-02-10', '2024-04-09'), 'designation')];
      expect(new Map(records.map((record) => [record.designation, record.allocation_amount]))).toEqual(
        new Map(funds.map(([fund, of]) => [fund, oracle.totalsOf(of).byAllocation.amount ?? ''])),
      );
    }));

  test('sees funds by month, the largest first', () =>
    doTask(async (analyst) => {
      const funds = [...groupsOf(between('2024-05-01', '2024-05-31'), 'designation')].map(([fund, of]) => ({
        fund,
        ...oracle.totalsOf(of).byAllocation,
      }));
      const [largest] = funds.filter(({ amount }) => amount !== null).sort((one, other) => toCents(other.amount!) - toCents(one.amount!));
      await analyst.openReport('Funds');
      await analyst.choose('Divide by', 'Month');
      await analyst.find('columnheader', 'Share');
      const [first] = await analyst.rows();
      expect([first![0], first![2]]).toEqual([largest!.fund, shown(largest!.amount)]);
    }));

  test('sees the donors of the year by what they gave, the largest first', () =>
    doTask(async (analyst) => {
      // Gifts without a donor come last, whatever they are.
      const donors = groupsOf(
        book.filter(({ donor_id: donor }) => donor !== 0),
        'donor_id',
      );
      const most = Math.max(...[...donors].map(([, of]) => toCents(received(of))));
      await analyst.openReport('Donors');
      await analyst.cards();
      await analyst.page.waitForSelector('[aria-sort=descending]');
      const [first] = await analyst.rows();
      expect(first![5]).toBe(shown(toMoney(most)));
    }));

  test('chooses other dates', () =>
    doTask(async (analyst) => {
      await analyst.openReport('Money received');
      await analyst.typeDates('2024-02-10', '2024-04-09');
      await analyst.untilCard('Received', shown(received(between('2024-02-10', '2024-04-09'))));
    }));
});
