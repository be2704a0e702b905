import { graphql, importLines } from '../support/gateway';
import { createExportReader } from '../support/export-reader';
import { openGateway } from '../support/open-gateway';
import { runCommand } from '../support/command';
import { createOracle, groupsOf, meets, shuffledBook, toHaving, toParameters, type OracleRange } from '../support/summary-oracle';

const LINES = shuffledBook(120, 500);
const { totalsOf } = createOracle(LINES);
const NOW = 'start_date=2024-07-01&end_date=2024-12-31&pending=WITH';
const BEFORE = 'compare_start_date=2024-01-01&compare_end_date=2024-06-30';
const PERIODS =
  'startDate: "2024-07-01", endDate: "2024-12-31", pending: WITH, compareWith: { startDate: "2024-01-01", endDate: "2024-06-30" }';

const gateway = openGateway({ lines: LINES, loggedIn: true });
const { organization } = gateway;
const { get, receiptOf } = createExportReader(gateway);
const caller = () => ({ Provision: organization.apiProvision });

const own = LINES.filter(({ deposit_date }) => deposit_date >= '2024-07-01');
const before = LINES.filter(({ deposit_date }) => deposit_date < '2024-07-01');
const GROUPS = groupsOf(LINES, ['DONOR']).map(({ key, lines }) => ({
  id: key.donorId as number,
  own: totalsOf(lines.filter((line) => own.includes(line))),
  before: totalsOf(lines.filter((line) => before.includes(line))),
}));
const chosen = (ranges: readonly OracleRange[]) => GROUPS.filter((group) => meets(ranges, group.own, group.before));
const LAPSED: readonly OracleRange[] = [
  { figure: 'transactions', isCompared: false, greatest: 2 },
  { figure: 'transactionAmount', isCompared: true, least: 1000 },
  { figure: 'lastGift', isCompared: true, least: '2024-01-01', greatest: '2024-06-30' },
];

async function rowsOf(address: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { status, body } = await get(address, caller());
  expect([address, status]).toEqual([address, 200]);
  return body
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

interface ReportFile {
  readonly columns: readonly string[];
  readonly url: string;
  readonly downloadUrl: string;
  readonly summary: { readonly all: { readonly lines: number } };
}

describe('a file of chosen groups', () => {
  test('has their rows in the period and in the one that is compared, and control totals of their lines', async () => {
    const groups = chosen(LAPSED);
    expect([groups.length > 0, groups.length < GROUPS.length]).toEqual([true, true]);
    const columns = 'donor_id,transactions,first_gift,last_gift,compared_transaction_amount,compared_deposits,compared_last_gift';
    const address = `/export/deposit-summary.ndjson?${NOW}&group_by=DONOR&${BEFORE}&${toParameters(LAPSED)}`;
    expect(await rowsOf(`${address}&columns=${columns}`)).toEqual(
      groups.map((group) => ({
        ...{ donor_id: group.id, transactions: group.own.transactions, first_gift: group.own.firstGift, last_gift: group.own.lastGift },
        compared_transaction_amount: group.before.byTransaction.amount,
        ...{ compared_deposits: group.before.deposits, compared_last_gift: group.before.lastGift },
      })),
    );
    const { headers } = await get(address, caller());
    const all = totalsOf(own.filter((line) => groups.some(({ id }) => id === line.donor_id)));
    expect([headers['x-export-rows'], headers['x-export-lines'], headers['x-export-amount-by-transaction']]).toEqual([
      String(groups.length),
      String(all.lines),
      all.byTransaction.amount,
    ]);
    // The digest is that of all lines of the period.
    const whole = await get(`/export/deposit-summary.ndjson?${NOW}&columns=lines`, caller());
    expect(headers['x-export-digest']).toBe(whole.headers['x-export-digest']);
  });

  test('has the figures of the compared period among its usual columns, and not without one', async () => {
    const [first] = (await get(`/export/deposit-summary.csv?${NOW}&group_by=YEAR&${BEFORE}`, caller())).body.toString().split('\r\n');
    const [plain] = (await get(`/export/deposit-summary.csv?${NOW}&group_by=YEAR`, caller())).body.toString().split('\r\n');
    const figures = plain!.split(',').slice(1);
    expect(first!.split(',')).toEqual(['year', ...figures, ...figures.map((name) => `compared_${name}`)]);
  });

  test('is that of the same query, by its address, its link and its name', async () => {
    const query = `query Lapsed($least: Decimal!) { depositSummary(${PERIODS}, groupBy: [DONOR], ${toHaving(LAPSED).replace('"10.00"', '$least')}) {
      groups(first: 1) { nodes { key { donorId donorLastName } all { byTransaction { amount } lastGift } compared { all { byTransaction { amount } } } } } } }`;
    const saved = `mutation ($query: String!) { saveReport(input: { name: "lapsed", query: $query, variables: { least: "10.00" } }) { report { name } } }`;
    const asked = `query ($query: String!) { reportFile(query: $query, variables: { least: "10.00" }) { columns url: path(format: NDJSON) downloadUrl(format: NDJSON)
      summary { all { lines } } } }`;
    const send = (text: string) =>
      graphql(gateway.url, text, { provision: organization.webProvision, cookie: gateway.cookie, variables: { query } });
    expect((await send(saved)).body.errors).toBeUndefined();
    const { body } = await send(asked);
    expect(body.errors).toBeUndefined();
    const { columns, url, downloadUrl, summary } = body.data!.reportFile as ReportFile;
    expect(columns).toEqual(['donor_id', 'donor_last_name', 'transaction_amount', 'last_gift', 'compared_transaction_amount']);
    const groups = chosen(LAPSED);
    expect(summary.all.lines).toBe(groups.reduce((sum, group) => sum + group.own.lines, 0));
    const expected = await rowsOf(url);
    expect(expected.map(({ donor_id }) => donor_id)).toEqual(groups.map(({ id }) => id));
    expect(await rowsOf('/reports/lapsed.ndjson')).toEqual(expected);
    const linked = await fetch(new URL(downloadUrl, gateway.url));
    expect([linked.status, (await linked.text()).trimEnd().split('\n').length]).toEqual([200, expected.length]);
    const more = await rowsOf('/reports/lapsed.ndjson?least=100.00');
    expect(more.length).toBeLessThan(expected.length);
  });

  test('keeps its conditions in the receipt, which covers both periods, and is proven by it after the books have changed', async () => {
    const address = `/export/deposit-summary.csv?${NOW}&group_by=DONOR&${BEFORE}&${toParameters(LAPSED)}&columns=all`;
    const { headers } = await get(address, caller());
    const id = String(headers['x-export-id']);
    expect(await receiptOf(id, caller())).toMatchObject({
      ...{ startDate: '2024-01-01', endDate: '2024-12-31' },
      conditions: [
        ...['pending', 'compare_start_date', 'compare_end_date', 'transactions_max', 'compared_transaction_amount_min'],
        ...['compared_last_gift_from', 'compared_last_gift_to', 'group_by=DONOR'],
      ],
    });
    const { stdout } = await runCommand({ DATABASE_URL: gateway.database.url }, [
      ...['--json', 'prove', '--organization', organization.name, '--receipt', id],
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'same' });
  });

  test('of the number of donors is for those who may read donors, and so is its receipt', async () => {
    const { services } = gateway;
    const clerk = await services.provisions.create({ organization: organization.name, kind: 'API', label: '', grants: [] });
    const address = `/export/deposit-summary.csv?${NOW}&group_by=DESIGNATION&columns=designation`;
    const refused = await get(`${address}&donors_min=1`, { Provision: clerk });
    expect([refused.status, refused.body.toString()]).toEqual([
      422,
      expect.stringContaining('Privilege to perform the action was not found'),
    ]);
    expect((await get(`${address}&lines_min=1`, { Provision: clerk })).status).toBe(200);
    const id = String((await get(`${address}&donors_min=1`, caller())).headers['x-export-id']);
    const receipt = await get(`/export/receipts/${id}`, { Provision: clerk });
    expect([receipt.status, receipt.body.toString()]).toEqual([
      422,
      expect.stringContaining('Privilege to perform the action was not found'),
    ]);
  });

  test.each([
    ['group_by=DONOR&lines_min=2&lines_max=1', 'having.lines: min is greater than max'],
    ['lines_min=1', 'having chooses groups: it needs groupBy'],
    ['group_by=DONOR&compared_lines_min=1', 'having.compared is of the period that is compared: it needs compareWith'],
    ['group_by=DONOR&compare_start_date=2024-01-01', 'compare_end_date is missing: a period has two dates'],
    ['group_by=DONOR&transaction_amount_min=10', 'transaction_amount_min: "10" is not an amount: write two decimals, such as "100.00"'],
    ['group_by=DONOR&last_gift_from=yesterday', 'last_gift_from: "yesterday" is not a date: write YYYY-MM-DD, such as "2026-01-31"'],
    ['group_by=DONOR&lines_min=few', 'lines_min must be a number'],
    ['group_by=DONOR&columns=compared_lines', 'columns must be names of fields of the report, each once, separated by commas'],
  ])('asked for with %s is told what is wrong', async (query, fault) => {
    const { status, body } = await get(`/export/deposit-summary.csv?${NOW}&${query}`, caller());
    expect([status, JSON.parse(body.toString())]).toEqual([422, { errors: [{ error: `Invalid parameter(s): ${fault}`, status }] }]);
  });

  test('of a query that selects no groups is refused, because its row would have other figures than the query', async () => {
    const query = '{ depositSummary(groupBy: [DONOR], having: { lines: { min: 1 } }) { all { lines } } }';
    const { body } = await graphql(gateway.url, 'query ($query: String!) { reportFile(query: $query) { columns } }', {
      provision: organization.apiProvision,
      variables: { query },
    });
    expect(body.errors?.map(({ message }) => message)).toEqual(['having: a file has the groups that it chooses: select them']);
  });
});

describe('a file of donors', () => {
  const YEAR = 'start_date=2024-01-01&end_date=2024-12-31&pending=WITH&group_by=DONOR';
  const CONTACT = ['address1', 'address2', 'address3', 'city', 'state', 'zip', 'phone', 'email_address'];
  const COLUMNS = ['donor_id', 'donor_first_name', 'donor_last_name', ...CONTACT];
  const contactOf = (line: object) => Object.fromEntries(COLUMNS.map((name) => [name, (line as Readonly<Record<string, unknown>>)[name]]));
  const donors = (lines: readonly object[]) =>
    GROUPS.map(({ id }) => contactOf(lines.find((line) => (line as { donor_id: number }).donor_id === id)!));
  const moved = LINES.map((line) =>
    line.donor_id === 0
      ? line
      : { ...line, address1: `${line.donor_id} New Road`, address2: '', city: `Town ${line.donor_id}`, donor_last_name: 'Moved' },
  );
  const namesOf = async (query: string) =>
    (await get(`/export/deposit-summary.csv?${query}`, caller())).body.toString().split('\r\n')[0]!.split(',');

  test('has the contact after the names among all columns, and not among the usual ones', async () => {
    expect((await namesOf(`${YEAR}&columns=all`)).slice(0, 12)).toEqual([...COLUMNS, 'lines']);
    expect((await namesOf(YEAR)).slice(0, 4)).toEqual(['donor_id', 'donor_first_name', 'donor_last_name', 'lines']);
    expect((await namesOf(`${YEAR}&group_by=CITY&columns=all`)).slice(0, 12)).toEqual([
      ...['donor_id', 'donor_first_name', 'donor_last_name', 'city'],
      ...CONTACT.filter((name) => name !== 'city'),
      'lines',
    ]);
    expect((await namesOf('start_date=2024-01-01&end_date=2024-12-31&group_by=STATE&columns=all')).slice(0, 2)).toEqual(['state', 'lines']);
  });

  test('has the address of each in the state that is asked for, and none of whoever was erased', async () => {
    const rows = (state = '') => rowsOf(`/export/deposit-summary.ndjson?${YEAR}${state}&columns=${COLUMNS.join(',')}`);
    const first = await rows();
    expect(first).toEqual(donors(LINES));
    const { headers } = await get(`/export/deposit-summary.csv?${YEAR}&columns=all`, caller());
    const receipt = String(headers['x-export-id']);
    await receiptOf(receipt, caller());
    await importLines(gateway.services, organization, moved);
    expect([await rows('&as_of=1'), await rows('&as_of=2'), await rows()]).toEqual([first, donors(moved), donors(moved)]);
    const prove = async () => {
      const words = ['--json', 'prove', '--organization', organization.name, '--receipt', receipt];
      return JSON.parse((await runCommand({ DATABASE_URL: gateway.database.url }, words)).stdout) as object;
    };
    expect(await prove()).toMatchObject({ verdict: 'same' });
    await gateway.services.erasures.erase(organization.id, { donorId: 4, reason: 'asked', erasedBy: null, isTrial: false });
    const erased = (lines: readonly object[]) =>
      donors(lines).map((row) => (row.donor_id === 4 ? { ...Object.fromEntries(COLUMNS.map((name) => [name, ''])), donor_id: 4 } : row));
    expect([await rows('&as_of=1'), await rows('&as_of=2'), await rows()]).toEqual([erased(LINES), erased(moved), erased(moved)]);
    expect(await prove()).toMatchObject({ verdict: 'different', reason: 'donors-erased-at-least' });
  });

  test('is what GraphQL tells of the same groups, page by page', async () => {
    const key = 'donorId donorFirstName donorLastName address1 address2 address3 city state zip phone emailAddress';
    const query = `{ depositSummary(startDate: "2024-01-01", endDate: "2024-12-31", pending: WITH, groupBy: [DONOR], having: { lines: { min: 9 } }) {
      groups(first: 1000, orderBy: { field: LINES, direction: DESC }) { edges { node { key { ${key} } all { lines } } } } } }`;
    const { body } = await graphql(gateway.url, query, { provision: organization.apiProvision });
    expect(body.errors).toBeUndefined();
    const rows = await rowsOf(`/export/deposit-summary.ndjson?${YEAR}&lines_min=9&columns=${COLUMNS.join(',')},lines`);
    const { edges } = (
      body.data!.depositSummary as { groups: { edges: { node: { key: Record<string, unknown>; all: { lines: number } } }[] } }
    ).groups;
    const inOrder = edges
      .map(({ node }): Record<string, unknown> => ({ ...node.key, lines: node.all.lines }))
      .toSorted((a, b) => Number(a.donorId) - Number(b.donorId));
    const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect(inOrder).toEqual(rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value]))));
    expect([rows.length > 0, rows.length < GROUPS.length]).toEqual([true, true]);
  });
});
