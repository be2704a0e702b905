import { parse } from 'csv-parse/sync';
import { depositBook, inOrder, type BookLine } from '../support/deposit-book';
import { createExportReader, sha256 } from '../support/export-reader';
import { createOrganization, importLines, v2Line } from '../support/gateway';
import { fillReport } from '../support/long-report';
import { basic, readFeed, readPage, toDigestRows, type FeedPage } from '../support/odata-client';
import { openGateway } from '../support/open-gateway';
import { saveReport } from '../support/agent-client';

/** A line whose ids and texts have what COPY, JSON and addresses escape. */
const ODD = v2Line({
  ...{
    deposit_id: 'D"7\\n',
    deposit_date: '2024-01-03',
    transaction_id: "T\t'&+%",
    allocation_id: '=A\n/é',
    designation_id: 9_007_199_254_740_991,
  },
  ...{
    donor_id: 999,
    donor_last_name: 'O\u2019Hara \\N',
    main_memo: 'a\r\nb',
    amount: '900719925474.99',
    fee_amount: '0.01',
    net_amount: '900719925474.98',
  },
}) as unknown as BookLine;
const LINES = inOrder([...depositBook(60), ODD], ['deposit_date', 'deposit_id', 'transaction_id', 'allocation_id']);

const gateway = openGateway({ lines: LINES });
const { organization } = gateway;
const { download } = createExportReader(gateway);

const at = (path: string): string => `${gateway.url}/odata/${path}`;
const rowsOf = (pages: readonly FeedPage[]) => pages.flatMap(({ rows }) => rows);
const idsIn = async (query: string): Promise<unknown[]> =>
  rowsOf(await readFeed(at(`Lines?$select=allocationId&${query}`), organization.apiProvision)).map(({ allocationId }) => allocationId);
const idsOf = (isMet: (line: BookLine) => boolean): string[] => LINES.filter(isMet).map(({ allocation_id: id }) => id);
const YEAR = '$filter=depositDate ge 2024-01-01 and depositDate le 2024-12-31';

describe('a year of the feed of lines', () => {
  test.each([[undefined], [1], [7], [LINES.length - 1], [LINES.length]])(
    'has the digest of the file, in pages of %s rows',
    async (pageRows) => {
      const { trailers } = await download('deposit-details.csv');
      const pages = await readFeed(at(`Lines?${YEAR}`), organization.apiProvision, pageRows === undefined ? {} : { pageRows });
      expect(
        pages
          .map(({ rows }) => rows.length)
          .slice(0, -1)
          .every((rows) => rows === pageRows),
      ).toBe(true);
      expect(sha256(toDigestRows(rowsOf(pages)))).toBe(trailers['x-export-digest']);
    },
  );

  test('has every column of a file with all columns, and its exact numbers in JSON', async () => {
    const csv = (await download('deposit-details.csv', '&columns=all')).body.toString();
    const records = parse<Record<string, string>>(csv, { columns: true });
    const rows = rowsOf(await readFeed(at('Lines'), organization.apiProvision));
    const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    // A spreadsheet's guard stands before free texts in CSV alone.
    const unguarded = records.map((record) =>
      Object.fromEntries(Object.entries(record).map(([name, value]) => [toCamel(name), value.replace(/^'(?=[=+@-])/, '')])),
    );
    expect(rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')])))).toEqual(
      unguarded,
    );
    expect(await idsIn('$filter=designationId eq 3.0000000000000001')).toEqual([]);
    expect(await idsIn('$filter=designationId eq 3.0')).toEqual(idsOf(({ designation_id: id }) => id === 3));
    const response = await fetch(at(`Lines?$filter=designationId eq 9007199254740991`), { headers: basic(organization.apiProvision) });
    expect(await response.text()).toContain('"amount":900719925474.99,"feeAmount":0.01,"netAmount":900719925474.98,');
  });

  test('has all of its pages from one state, whatever is imported between them', async () => {
    const own = await createOrganization(gateway.services);
    const book = depositBook(30);
    await importLines(gateway.services, own, book);
    let change = 0;
    const pages = await readFeed(`${at('Lines')}?$count=true`, own.apiProvision, {
      pageRows: 10,
      between: async () => {
        change++;
        // Each import changes lines before and after the place that the client has come to, and adds some.
        const changed = book.map((line) => ({ ...line, main_memo: `change ${change}` }));
        await importLines(gateway.services, own, [
          ...changed,
          v2Line({
            deposit_id: `N${change}`,
            transaction_id: `N${change}`,
            allocation_id: `N${change}`,
            donor_id: 999,
            designation_id: 99,
          }),
        ]);
      },
    });
    expect(pages.length).toBe(Math.floor(book.length / 10) + 1);
    expect(pages.map(({ headers }) => headers.get('x-data-version'))).toEqual(pages.map(() => '1'));
    expect(pages.map(({ count }) => count)).toEqual(pages.map(() => book.length));
    expect(rowsOf(pages).map(({ allocationId }) => allocationId)).toEqual(book.map(({ allocation_id: id }) => id));
    expect(new Set(rowsOf(pages).map(({ mainMemo }) => mainMemo))).toEqual(new Set(['']));
    expect((await readPage(at('Lines'), own.apiProvision)).headers.get('x-data-version')).toBe(String(change + 1));
  });

  test('has the dates of its first page in all others, whatever day it becomes', async () => {
    const own = await createOrganization(gateway.services);
    const inZone = (timeZone: string): Promise<unknown> => gateway.services.organizations.setTimeZone(own.name, timeZone);
    // These zones are never of the same day.
    await inZone('Pacific/Kiritimati');
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Pacific/Kiritimati' }).format();
    const ids = ['A1', 'A2', 'A3', 'A4', 'A5'];
    await importLines(
      gateway.services,
      own,
      ids.map((id) => v2Line({ deposit_date: today, transaction_id: id, allocation_id: id })),
    );
    const pages = await readFeed(at('Lines?period=today'), own.apiProvision, { pageRows: 2, between: () => inZone('Pacific/Pago_Pago') });
    expect(rowsOf(pages).map(({ allocationId }) => allocationId)).toEqual(ids);
    expect((await readPage(at('Lines?period=today'), own.apiProvision)).rows).toEqual([]);
  });

  test('goes on from the last line of a page, wherever the network cuts the lines', async () => {
    const own = await createOrganization(gateway.services);
    // Each line comes in several pieces.
    await fillReport(gateway.database.client, own.id, 20, `repeat('x', 200000) || chr(10) || n`);
    const file = await fetch(`${gateway.url}/export/deposit-details.csv?period=all-time&totals=headers`, {
      headers: { Provision: own.apiProvision },
    });
    const pages = await readFeed(at('Lines'), own.apiProvision, { pageRows: 6 });
    expect(pages.map(({ rows }) => rows.length)).toEqual([6, 6, 6, 2]);
    expect(sha256(toDigestRows(rowsOf(pages)))).toBe(file.headers.get('x-export-digest'));
    await file.arrayBuffer();
  });
});

describe('options of a feed', () => {
  test.each([
    ['depositDate eq 2024-01-05', ({ deposit_date: date }: BookLine) => date === '2024-01-05'],
    ['depositDate ge 2024-01-20', ({ deposit_date: date }: BookLine) => date >= '2024-01-20'],
    ['transactionDate le 2024-01-04', ({ transaction_date: date }: BookLine) => date <= '2024-01-04'],
    [
      'transactionDate ge 2024-01-03 and transactionDate le 2024-01-04',
      ({ transaction_date: date }: BookLine) => date >= '2024-01-03' && date <= '2024-01-04',
    ],
    ['amount ge 35 and amount le 60.5', ({ amount }: BookLine) => Number(amount) >= 35 && Number(amount) <= 60.5],
    [
      'amount ge 5 and amount ge 35 and amount le 600 and amount le 60.5',
      ({ amount }: BookLine) => Number(amount) >= 35 && Number(amount) <= 60.5,
    ],
    [
      'amount ge 35 and amount ge 5 and amount le 60.5 and amount le 600',
      ({ amount }: BookLine) => Number(amount) >= 35 && Number(amount) <= 60.5,
    ],
    ['transactionDate le 2024-01-09 and transactionDate le 2024-01-04', ({ transaction_date: date }: BookLine) => date <= '2024-01-04'],
    ['amount eq -5.000', ({ amount }: BookLine) => amount === '-5.00'],
    ['amount le -0', ({ amount }: BookLine) => Number(amount) <= 0],
    ["depositStatus eq 'pending'", ({ deposit_status: status }: BookLine) => status === 'pending'],
    ["depositStatus eq 'posted'", ({ deposit_status: status }: BookLine) => status !== 'pending'],
    ["depositStatus eq 'Pending'", () => false],
    [
      "(((depositId eq 'D7')) and designationId eq 3)",
      ({ deposit_id: deposit, designation_id: fund }: BookLine) => deposit === 'D7' && fund === 3,
    ],
    ["status eq ''", ({ status }: BookLine) => status === ''],
    ["status eq 'Hold' and status eq 'Complete'", () => false],
    ['donorId eq 7', ({ donor_id: donor }: BookLine) => donor === 7],
    ['designationId eq 3.5', () => false],
    ["transactionId eq 'T\t''&+%'", ({ transaction_id: id }: BookLine) => id === "T\t'&+%"],
    ['depositDate ge 2024-02-01 and depositDate le 2024-01-01', () => false],
    ['amount ge 5 and amount le 4', () => false],
    [
      'depositDate ge 2024-01-02 and depositDate ge 2024-01-08 and depositDate le 2024-01-09',
      ({ deposit_date: date }: BookLine) => date >= '2024-01-08' && date <= '2024-01-09',
    ],
  ])('choose lines by the filter %s', async (filter, isMet) => {
    expect(await idsIn(`$filter=${encodeURIComponent(filter)}`)).toEqual(idsOf(isMet));
    const count = await fetch(at(`Lines/$count?$filter=${encodeURIComponent(filter)}`), { headers: basic(organization.apiProvision) });
    expect([count.status, count.headers.get('content-type'), await count.text()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      String(idsOf(isMet).length),
    ]);
  });

  test('take the parameters of files beside them', async () => {
    expect(await idsIn(`pending=ONLY&deposit_id=D3&$filter=depositStatus eq 'pending'`)).not.toEqual([]);
    const posted = idsOf(({ deposit_status: status, deposit_id: id }) => status !== 'pending' && id === 'D7');
    expect(await idsIn('include_pending=false&deposit_id=D7')).toEqual(posted);
    expect(await idsIn(`pending=WITHOUT&deposit_id=D3&$filter=depositStatus eq 'pending'`)).toEqual([]);
    expect(await idsIn('date_basis=TRANSACTION_DATE&start_date=2024-01-03&$filter=transactionDate le 2024-01-04')).toEqual(
      idsOf(({ transaction_date: date }) => date === '2024-01-03' || date === '2024-01-04'),
    );
  });

  test('give the chosen properties, the first rows over all pages and the count of all', async () => {
    const [first, ...others] = await readFeed(at('Lines?$select=amount, allocationId&$top=12&$count=true'), organization.apiProvision, {
      pageRows: 5,
    });
    expect(first!.count).toBe(LINES.length);
    expect(Object.keys(first!.rows[0]!).sort()).toEqual(['allocationId', 'amount']);
    expect([first, ...others].map((page) => page!.rows.length)).toEqual([5, 5, 2]);
    expect(rowsOf([first!, ...others]).map(({ allocationId }) => allocationId)).toEqual(
      LINES.slice(0, 12).map(({ allocation_id: id }) => id),
    );
    expect(await readPage(at('Lines?$top=0&$count=true'), organization.apiProvision)).toMatchObject({
      rows: [],
      count: LINES.length,
      next: undefined,
    });
  });
});

describe('feeds of summaries', () => {
  test.each([
    'DAY',
    'WEEK',
    'MONTH',
    'QUARTER',
    'YEAR',
    'DEPOSIT',
    'TRANSACTION',
    'DEPOSIT_STATUS',
    'DESIGNATION',
    'STATUS',
    'ACCOUNT_TYPE',
    'PAYMENT_TYPE',
    'DONOR',
    'CITY',
    'STATE',
  ])('have the groups and figures of the file by %s', async (by) => {
    const csv = (await download('deposit-summary.csv', `&group_by=${by}`)).body.toString();
    const records = parse(csv, { from: 2 });
    const set = `SummaryBy${by[0]}${by
      .slice(1)
      .toLowerCase()
      .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
    const rows = rowsOf(await readFeed(at(set), organization.apiProvision));
    const guard = (text: string) => text.replace(/^'(?=[=+@-])/, '');
    expect(rows.map((row) => Object.values(row).map((value) => String(value ?? '')))).toEqual(records.map((record) => record.map(guard)));
    expect(rows.length).toBeGreaterThan(0);
    expect(await readPage(at(`${set}?$top=1&$count=true`), organization.apiProvision)).toMatchObject({
      rows: [rows[0]],
      count: rows.length,
    });
  });

  test.each([
    ['SummaryByMonth', 'month', 'ge 2024-01-02', []],
    ['SummaryByMonth', 'month', 'ge 2024-01-01 and month le 2024-01-15', ['2024-01-01']],
    ['SummaryByMonth', 'month', 'eq 2024-01-15', []],
    ['SummaryByMonth', 'month', 'eq 2024-01-01', ['2024-01-01']],
    ['SummaryByWeek', 'week', 'ge 2024-01-02 and week le 2024-01-16', ['2024-01-08', '2024-01-15']],
    ['SummaryByDay', 'day', 'eq 2024-01-05', ['2024-01-05']],
    ['SummaryByYear', 'year', 'le 2024-12-31', ['2024-01-01']],
    ['SummaryByYear', 'year', 'le 9999-12-31', ['2024-01-01']],
    ['SummaryByYear', 'year', 'ge 9999-12-31', []],
    ['SummaryByQuarter', 'quarter', 'ge 2024-01-01', ['2024-01-01']],
    ['SummaryByDesignation', 'designationId', 'eq 3', ['3']],
    ['SummaryByStatus', 'status', "eq 'Hold'", ['Hold']],
  ])('of %s take a filter that %s %s', async (set, property, condition, expected) => {
    const rows = rowsOf(await readFeed(at(`${set}?$filter=${property} ${condition}`), organization.apiProvision));
    expect(rows.map((row) => row[property])).toEqual(expected);
    const [all] = [rowsOf(await readFeed(at(set), organization.apiProvision))];
    // A filter chooses whole groups.
    for (const row of rows) expect(all).toContainEqual(row);
  });
});

test('a feed of groups has the same properties when its groups are chosen by another period', async () => {
  const compared =
    'start_date=2024-01-10&end_date=2024-01-31&compare_start_date=2024-01-04&compare_end_date=2024-01-12&compared_lines_min=1';
  const [plain] = rowsOf(await readFeed(at('SummaryByDesignation'), organization.apiProvision));
  const rows = rowsOf(await readFeed(at(`SummaryByDesignation?${compared}`), organization.apiProvision));
  expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => Object.keys(plain!)));
  expect(rows.map(({ designationId }) => Number(designationId))).toEqual([1, 2, 3, 4, 5]);
});

describe('the feed of a saved report', () => {
  const DATES = '$startDate: LocalDate!, $endDate: LocalDate!';
  const PERIOD = 'startDate: $startDate, endDate: $endDate, pending: WITH';

  test('has its lines, told apart by the share’s id, with a filter and a state of their own', async () => {
    const query = `query Big(${DATES}) { depositDetailsConnection(${PERIOD}, filter: { amount: { min: "30.00" } }, first: 1) { nodes { donorLastName amount depositDate } } }`;
    await saveReport(gateway.services, organization.id, { name: 'big-gifts', query, period: 'all-time' });
    const isBig = ({ amount }: BookLine) => Number(amount) >= 30;
    const pages = await readFeed(at('Report_big_gifts?$filter=amount le 50'), organization.apiProvision, { pageRows: 4 });
    expect(rowsOf(pages)).toEqual(
      LINES.filter((line) => isBig(line) && Number(line.amount) <= 50).map((line) => ({
        allocationId: line.allocation_id,
        donorLastName: line.donor_last_name,
        amount: line.amount,
        depositDate: line.deposit_date,
      })),
    );
    expect(pages.length).toBeGreaterThan(2);
    const narrowed = await readPage(at('Report_big_gifts?startDate=2024-01-05&endDate=2024-01-05'), organization.apiProvision);
    expect(narrowed.rows).toHaveLength(LINES.filter((line) => isBig(line) && line.deposit_date === '2024-01-05').length);
  });

  test('takes values for any of its variables but those that would give it other properties than the metadata tells', async () => {
    const query = `query Free(${DATES}, $by: [GroupBy!]!, $columns: [SafeInt!]) { depositSummary(${PERIOD}, groupBy: $by, filter: { designationIds: $columns }) { groups(first: 1) { nodes { all { lines } } } } }`;
    await saveReport(gateway.services, organization.id, { name: 'free', query, variables: { by: ['DESIGNATION'] }, period: 'all-time' });
    const read = (values: string) => readPage(at(`Report_free?${values}`), organization.apiProvision);
    expect((await read('columns=3')).rows.map(({ designationId }) => designationId)).toEqual(['3']);
    expect((await read('by=DESIGNATION')).rows.length).toBeGreaterThan(1);
    await expect(read('by=STATUS')).rejects.toThrow('these values change the properties of the feed: save a report with them');
    await expect(read('bom=true')).rejects.toThrow('there is no parameter bom');
    await gateway.database.client.query(`DELETE FROM saved_report WHERE name = 'free'`);
  });

  test('ends its links when it is saved again, or means other days', async () => {
    const query = `query Own(${DATES}) { depositDetailsConnection(${PERIOD}, filter: { transactionDate: { from: $startDate, to: $endDate } }, first: 1) { nodes { amount } } }`;
    await saveReport(gateway.services, organization.id, { name: 'own', query, period: 'all-time' });
    const [first, dated] = await Promise.all(
      ['Report_own', 'Report_own?startDate=2024-01-01&endDate=2024-12-31'].map((path) => readPage(at(path), organization.apiProvision, 2)),
    );
    expect((await readPage(first!.next!, organization.apiProvision, 2)).rows).toHaveLength(2);
    await expect(readPage(dated!.next!.replace('endDate=2024-12-31', 'endDate=2024-12-30'), organization.apiProvision)).rejects.toThrow(
      '$skiptoken is not of this address: begin again',
    );
    // The report may show less from now on.
    await gateway.database.client.query(`UPDATE saved_report SET updated_at = updated_at + interval '1 ms' WHERE name = 'own'`);
    await expect(readPage(first!.next!, organization.apiProvision)).rejects.toThrow('400');
    await gateway.database.client.query(`DELETE FROM saved_report WHERE name = 'own'`);
  });

  test('has its groups, or its only row', async () => {
    const groups = `query ByFund(${DATES}) { depositSummary(${PERIOD}, groupBy: [MONTH, DESIGNATION]) { groups(first: 10) { nodes { key { designation } all { byLine { amount } } } } } }`;
    const total = `query Total(${DATES}) { depositSummary(${PERIOD}) { all { lines donors } } }`;
    await saveReport(gateway.services, organization.id, { name: 'by-fund', query: groups, period: 'all-time' });
    await saveReport(gateway.services, organization.id, { name: 'total', query: total, period: 'all-time' });
    const { rows } = await readPage(at('Report_by_fund?$top=2'), organization.apiProvision);
    expect(rows.map((row) => Object.keys(row))).toEqual([
      ['month', 'designationId', 'designation', 'lineAmount'],
      ['month', 'designationId', 'designation', 'lineAmount'],
    ]);
    expect((await readPage(at('Report_total'), organization.apiProvision)).rows).toEqual([
      { row: 'total', lines: String(LINES.length), donors: '16' },
    ]);
  });

  test('of changes is there as a file alone', async () => {
    const query = `query Changes(${DATES}) { depositChanges(startDate: $startDate, endDate: $endDate, pending: WITH, from: { version: 1 }, first: 1) { nodes { class } } }`;
    await saveReport(gateway.services, organization.id, { name: 'changes', query, period: 'all-time' });
    const response = await fetch(at('Report_changes'), { headers: basic(organization.apiProvision) });
    expect(response.status).toBe(501);
    const { value } = (await (await fetch(at(''), { headers: basic(organization.apiProvision) })).json()) as { value: { name: string }[] };
    expect(value.map(({ name }) => name).filter((name) => name.startsWith('Report_'))).toEqual([
      'Report_big_gifts',
      'Report_by_fund',
      'Report_total',
    ]);
  });
});
