import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../support/command';
import { depositBook } from '../support/deposit-book';
import type { Ask } from '../support/doors';
import {
  createOrganization,
  graphql,
  importLines,
  login,
  PASSWORD,
  v2Line,
  type GraphqlAnswer,
  type TestOrganization,
} from '../support/gateway';
import { toGlobalId } from '../../src/values/global-id';
import { openGateway } from '../support/open-gateway';

/** A name that a spreadsheet would run as a formula and at which CSV and COPY would break. */
const ODD_NAME = '=SUM(A1)\t"q"\n\\N \\ é';
const ODD_LINE = v2Line({ designation: ODD_NAME, designation_id: 78, donor_id: 999, deposit_id: 'D88', transaction_id: 'T88' });
const gateway = openGateway({ lines: [...depositBook(60), ODD_LINE], loggedIn: true });
const { organization } = gateway;
let other: TestOrganization;
let clerk: string;
beforeAll(async () => {
  other = await createOrganization(gateway.services);
  await gateway.services.users.create({ organization: organization.name, username: 'clerk', password: PASSWORD, grants: [] });
  clerk = await login(gateway.url, organization.webProvision, 'clerk');
});

const RANGE = 'start_date=2024-01-01&end_date=2024-12-31&include_pending=true';
const DATES = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const [PERIOD, NARROWED] = [`${DATES}, includePending: true`, `${DATES}, pending: WITH`];
const BIG_GIFTS = `query BigGifts($startDate: LocalDate!, $endDate: LocalDate = "2024-12-31", $filter: DepositDetailFilter, $ids: [SafeInt!]) {
  depositDetailsConnection(startDate: $startDate, endDate: $endDate, pending: WITH, filter: $filter, first: 2) {
    edges { cursor node { who: donorLastName amount ...Fund } }
    totalCount
  }
  depositSummary(startDate: $startDate, endDate: $endDate, filter: { designationIds: $ids }) { all { lines } }
}
fragment Fund on DepositDetail { designation allocationAmount amount }`;
const BY_FUND = `query ByFund($startDate: LocalDate!, $endDate: LocalDate!, $designationIds: [SafeInt!]) {
  depositSummary(startDate: $startDate, endDate: $endDate, pending: WITH, groupBy: [DESIGNATION],
    filter: { designationIds: $designationIds }) {
    groups(first: 1000) { nodes { key { designation } posted { lines } all { byTransaction { amount } } } }
  }
}`;
const YEAR = { startDate: '2024-01-01', endDate: '2024-12-31' };

async function file(path: string, headers: Readonly<Record<string, string>> = { Provision: organization.apiProvision }) {
  const response = await fetch(gateway.url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const asAda = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
const SAVE = `mutation ($input: SaveReportInput!) {
  saveReport(input: $input) { report { name path ndjson: path(format: NDJSON) updatedBy } } }`;
const save = (name: string, query: string, variables: object = YEAR, as: Ask = asAda(), replaces?: Date) =>
  graphql(gateway.url, SAVE, { ...as, variables: { input: { name, query, variables, replaces } } });
/** The time at which a report was saved, for replacing it. */
const savedAt = async ({ id }: { readonly id: number }, name: string) => (await gateway.services.savedReports.get(id, name)).updatedAt;
const faultOf = ({ body }: GraphqlAnswer) => body.errors?.map(({ message, extensions }) => [extensions.code, message]);

describe('all rows of a query', () => {
  const ask = (query: string, variables: object = YEAR, as = asAda()) =>
    graphql(
      gateway.url,
      'query ($query: String!, $variables: JSONObject) { reportFile(query: $query, variables: $variables) { path json: path(format: JSON) columns summary { digest all { lines } } } }',
      { ...as, variables: { query, variables } },
    );

  test('are to be had at an address, with the columns that the query selects', async () => {
    const filter = { amount: { min: '20.00' }, statuses: ['Hold', 'Complete'], transactionDate: { from: '2024-01-02' }, donorName: 'a&b' };
    const { body } = await ask(BIG_GIFTS, { startDate: '2024-01-01', filter });
    const { path, json, columns } = body.data!.reportFile as { path: string; json: string; columns: string[] };
    expect(columns).toEqual(['donor_last_name', 'amount', 'designation', 'allocation_amount']);
    const query =
      'start_date=2024-01-01&end_date=2024-12-31&include_pending=true&transaction_date_from=2024-01-02&amount_min=20.00&status=Hold&status=Complete&donor_name=a%26b&columns=donor_last_name,amount,designation,allocation_amount';
    expect([path, json]).toEqual([`/export/deposit-details.csv?${query}`, `/export/deposit-details.json?${query}`]);
  });

  test('are those of the page and all after it, and add up to its summary', async () => {
    const { body } = await ask(BIG_GIFTS, { startDate: '2024-01-01', filter: { amount: { min: '20.00' } } });
    const { path, summary } = body.data!.reportFile as { path: string; summary: { digest: string; all: { lines: number } } };
    const { headers, text } = await file(`${path}&totals=headers`);
    expect([headers.get('x-export-lines'), headers.get('x-export-digest')]).toEqual([String(summary.all.lines), summary.digest]);
    expect(text.trimEnd().split('\r\n').length).toBe(summary.all.lines + 1);
    expect(summary.all.lines).toBeGreaterThan(2);
  });

  test('of a summary are its groups', async () => {
    const { body } = await ask(BY_FUND, { ...YEAR, designationIds: [78] });
    const { path } = body.data!.reportFile as { path: string };
    expect(path).toBe(
      '/export/deposit-summary.csv?start_date=2024-01-01&end_date=2024-12-31&include_pending=true&designation_id=78&group_by=DESIGNATION&columns=designation,posted_lines,transaction_amount',
    );
    expect((await file(path)).text).toBe(
      `designation,posted_lines,transaction_amount\r\n"'${ODD_NAME.replaceAll('"', '""')}",1,"10.50"\r\n`,
    );
  });

  test.each<[string, string, object, string]>([
    ['no query', '{', {}, 'query: Syntax Error: Expected Name, found <EOF>.'],
    ['no such field', '{ deposit { nothing } }', {}, 'query: Cannot query field "nothing" on type "Deposit".'],
    [
      'no lines',
      '{ viewer { username } }',
      {},
      'query asks for no lines; use depositDetails, depositDetailsConnection, depositChanges or depositSummary',
    ],
    ['a mutation', 'mutation { logout { ended } }', {}, 'query is a mutation'],
    ['several operations', 'query A { viewer { username } } query B { viewer { username } }', {}, 'query must be a single operation'],
    ['an empty list', BY_FUND, { ...YEAR, designationIds: [] }, 'filter.designationIds has no value that a line could meet'],
    [
      'totals of lines',
      `{ depositDetailsConnection(${NARROWED}) { totalCount summary { all { lines } } } }`,
      {},
      'query selects no values of the lines in depositDetailsConnection',
    ],
    [
      'a directive that decides nothing',
      `query ($s: Boolean = true) { depositDetails(${PERIOD}) { amount @include(if: $s) } }`,
      { s: null },
      'variables: Argument "if" of non-null type "Boolean!" must not be null.',
    ],
    [
      'so many values that no address holds them',
      BY_FUND,
      { ...YEAR, designationIds: Array.from({ length: 1000 }, (_, n) => 1_000_000_000 + n) },
      'the address of its file would have 26163 characters; narrow it by fewer values, or save it as a report',
    ],
    ['no value', BY_FUND, {}, 'variables: Variable "$startDate" of required type "LocalDate!" was not provided.'],
    [
      'a wrong value',
      BY_FUND,
      { ...YEAR, endDate: 'x' },
      'variables: Variable "$endDate" got invalid value "x"; "x" is not a date: write YYYY-MM-DD, such as "2026-01-31"',
    ],
    [
      'a range that ends first',
      BY_FUND,
      { startDate: '2024-02-01', endDate: '2024-01-01' },
      'Start date cannot be greater than the end date.',
    ],
    [
      'too much',
      `{ viewer { ${'username '.repeat(2000)} } }`,
      {},
      'query: Syntax Error: Document contains more that 2000 tokens. Parsing aborted.',
    ],
  ])('are not to be had of %s, and it is told why', async (_name, query, variables, message) => {
    expect(faultOf(await ask(query, variables))!.map(([, text]) => text)).toEqual([message]);
  });

  test('have ids of any size that GraphQL takes', async () => {
    const { body } = await ask(BY_FUND, { ...YEAR, designationIds: [Number.MAX_SAFE_INTEGER, -4, 78] });
    const { status, text } = await file((body.data!.reportFile as { path: string }).path);
    expect([status, text.split('\r\n').length]).toEqual([200, 3]);
  });

  test('of a summary that shows no groups are one row', async () => {
    const { body } = await ask(`{ depositSummary(${NARROWED}, groupBy: [MONTH]) { all { lines } } }`, {});
    const { text } = await file((body.data!.reportFile as { path: string }).path);
    expect(text).toMatch(/^lines\r\n\d+\r\n$/);
  });

  test('are not to be had by who may not read them', async () => {
    const as = { provision: organization.webProvision, cookie: clerk };
    const lines = `{ depositDetails(${PERIOD}) { amount } }`;
    expect(faultOf(await ask(lines, {}, as))).toEqual([['PRIVILEGE_NOT_FOUND', 'Privilege to perform the action was not found']]);
    const { body } = await graphql(gateway.url, 'query ($query: String!) { reportFile(query: $query) { columns } }', {
      ...as,
      variables: { query: `{ depositSummary(${NARROWED}) { all { lines } } }` },
    });
    expect(body.data).toEqual({ reportFile: { columns: ['lines'] } });
    // The gateway names wrong parameters only to callers who may read the report.
    const reversed = `{ depositDetails(startDate: "2024-02-01", endDate: "2024-01-01") { amount } }`;
    expect(faultOf(await ask(reversed, {}, as))).toEqual([['PRIVILEGE_NOT_FOUND', 'Privilege to perform the action was not found']]);
  });
});

describe('a saved report', () => {
  test('keeps its address, where an API provision reads it, some variables by the address', async () => {
    const { body } = await save('big-gifts', BIG_GIFTS, { startDate: '2024-01-01', filter: { amount: { min: '20.00' } } });
    expect(body).toEqual({
      data: {
        saveReport: {
          report: { name: 'big-gifts', path: '/reports/big-gifts.csv', ndjson: '/reports/big-gifts.ndjson', updatedBy: 'ada' },
        },
      },
    });
    const columns = 'columns=donor_last_name,amount,designation,allocation_amount';
    for (const format of ['csv', 'ndjson', 'json']) {
      const saved = await file(`/reports/big-gifts.${format}?totals=headers`);
      const exported = await file(`/export/deposit-details.${format}?${RANGE}&amount_min=20.00&${columns}&totals=headers`);
      expect([saved.status, saved.text]).toEqual([200, exported.text]);
      expect(saved.headers.get('x-export-digest')).toMatch(/^[0-9a-f]{64}$/);
      expect(saved.headers.get('x-export-digest')).toBe(exported.headers.get('x-export-digest'));
      expect(saved.headers.get('content-disposition')).toBe(`attachment; filename="big-gifts-2024-01-01-2024-12-31.${format}"`);
    }
    const filter = encodeURIComponent('{"statuses":["Hold"]}');
    const narrowed = await file(`/reports/big-gifts.csv?endDate=2024-01-31&filter=${filter}&bom=true&totals=skip`);
    const exported = await file(`/export/deposit-details.csv?${RANGE.replace('12-31', '01-31')}&status=Hold&${columns}&bom=true`);
    expect(narrowed.text).toBe(exported.text);
    expect(narrowed.headers.get('x-export-lines')).toBeNull();
  });

  test('of a summary takes lists by repeating a name', async () => {
    await save('by-fund', BY_FUND);
    const { text } = await file('/reports/by-fund.csv?designationIds=78&designationIds=2');
    expect(text.trimEnd().split('\r\n').length).toBe(3);
    const asClerk = await file('/reports/by-fund.csv', { Provision: organization.webProvision, Cookie: clerk });
    expect([asClerk.status, asClerk.headers.get('x-export-digest')]).toEqual([200, null]);
  });

  test.each([
    ['startDate=2024-13-01', 422, 'Invalid parameter(s): variables: Variable "$startDate" got invalid value "2024-13-01"'],
    ['start_date=2024-01-01', 422, 'Invalid parameter(s): there is no parameter start_date'],
    ['designationIds=fund', 422, 'Invalid parameter(s): designationIds is not JSON at line 1, column 2'],
    ['startDate=2024-01-01&startDate=2024-01-02', 422, 'Invalid parameter(s): startDate must be given once'],
    ['bom=yes', 422, 'Invalid parameter(s): bom must be true or false'],
  ])('asked for with %s is told what is wrong', async (query, status, error) => {
    await save('by-fund', BY_FUND);
    const answer = await file(`/reports/by-fund.csv?${query}`);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(JSON.stringify(error).slice(1, -1))]);
  });

  test('does not become another report by its address', async () => {
    const query = `query ($s: Boolean = true) {
      depositSummary(${NARROWED}) @include(if: $s) { all { lines } } depositDetails(${PERIOD}) @skip(if: $s) { amount } }`;
    await save('flip', query, {});
    await save('flop', query, { s: false });
    for (const [path, fault] of [
      ['/reports/flip.csv?s=false', 'these variables turn the report into another one, as lines into a summary'],
      ['/reports/flop.csv?s=true', 'these variables turn the report into another one, as lines into a summary'],
      ['/reports/flip.csv?s=null', 'variables: Argument "if" of non-null type "Boolean!" must not be null.'],
    ] as const) {
      const { status, text } = await file(path);
      expect([status, JSON.parse(text)]).toEqual([422, { errors: [{ error: `Invalid parameter(s): ${fault}`, status }] }]);
    }
  });

  test('is of its organization alone, and for those who may read it', async () => {
    await save('ours', `{ depositDetails(${PERIOD}) { amount donorLastName } }`, {});
    const notFound = { status: 404, text: JSON.stringify({ errors: [{ error: 'Not found', status: 404 }] }) };
    expect(await file('/reports/ours.csv', { Provision: other.apiProvision })).toMatchObject(notFound);
    expect(await file('/reports/none.csv')).toMatchObject(notFound);
    expect(await file('/reports/ours')).toMatchObject(notFound);
    expect(await file('/reports/OURS.csv')).toMatchObject(notFound);
    for (const [headers, error] of [
      [{ Provision: organization.webProvision }, 'Not logged in'],
      [{ Provision: organization.webProvision, Cookie: clerk }, 'Privilege to perform the action was not found'],
      [{ Provision: other.webProvision, Cookie: gateway.cookie }, 'Provision does not match logged in provision'],
    ] as const) {
      const { status, text } = await file('/reports/ours.csv?nonsense=1', headers);
      expect([status, text]).toEqual([422, JSON.stringify({ errors: [{ error, status: 422 }] })]);
    }
  });

  test('is listed, replaced and deleted by users who may read it, and by nobody else', async () => {
    const own = await createOrganization(gateway.services);
    const as = { provision: own.webProvision, cookie: await login(gateway.url, own.webProvision) };
    const query = `{ depositDetails(${PERIOD}) { amount } }`;
    await save('b', query, {}, as);
    await save('a', query, {}, as);
    await save('b', BY_FUND, YEAR, as, await savedAt(own, 'b'));
    const list = async () =>
      (
        await graphql(gateway.url, '{ savedReports { name query variables path(format: JSON) updatedBy } }', {
          provision: own.apiProvision,
        })
      ).body.data!.savedReports;
    const a = { name: 'a', query, variables: {}, path: '/reports/a.json', updatedBy: 'ada' };
    expect(await list()).toEqual([a, { ...a, name: 'b', query: BY_FUND, variables: YEAR, path: '/reports/b.json' }]);
    const remove = (name: string, by: { provision?: string; cookie?: string }) =>
      graphql(gateway.url, `mutation { deleteReport(input: { id: "${toGlobalId('SavedReport', name)}" }) { deletedId } }`, by);
    // An API provision may read saved reports but not change them.
    expect(faultOf(await remove('a', { provision: own.apiProvision }))![0]![0]).toBe('NOT_LOGGED_IN');
    expect(faultOf(await save('c', query, {}, { provision: own.apiProvision }))![0]![0]).toBe('NOT_LOGGED_IN');
    const asClerk = { provision: organization.webProvision, cookie: clerk };
    expect(faultOf(await save('c', query, {}, asClerk))![0]![0]).toBe('PRIVILEGE_NOT_FOUND');
    expect(faultOf(await graphql(gateway.url, '{ savedReports { name } }', asClerk))![0]![0]).toBe('PRIVILEGE_NOT_FOUND');
    expect(faultOf(await remove('a', asAda()))).toEqual([['NOT_FOUND', 'Not found']]);
    expect((await remove('b', as)).body.data).toEqual({ deleteReport: { deletedId: toGlobalId('SavedReport', 'b') } });
    expect(await list()).toEqual([a]);
  });

  test.each<[string, string, string, object, string]>([
    [
      'a name that is no address',
      'My report',
      BY_FUND,
      YEAR,
      'name must be small letters and digits, parted by single hyphens, at most 80 characters',
    ],
    [
      'a query without lines',
      'x',
      '{ viewer { username } }',
      {},
      'query asks for no lines; use depositDetails, depositDetailsConnection, depositChanges or depositSummary',
    ],
    ['variables that are missing', 'x', BY_FUND, {}, 'variables: Variable "$startDate" of required type "LocalDate!" was not provided.'],
    [
      'a variable with the name of an option',
      'x',
      `query ($bom: Boolean!) { depositDetails(startDate: "2024-01-01", endDate: "2024-01-02", includePending: $bom) { amount } }`,
      { bom: true },
      'query: the variable $bom would be taken for an option of the file',
    ],
    ['a variable that its query has not', 'x', BY_FUND, { ...YEAR, enddate: '2024-01-31' }, 'variables: the query has no $enddate'],
    ['a NUL', 'x', BY_FUND, { ...YEAR, other: ['\0'] }, 'variables has a NUL character'],
    ['too long a query', 'x', `${BY_FUND}${' '.repeat(30_000)}`, YEAR, 'query and variables are longer than 30000 characters together'],
  ])('is not made of %s', async (_name, name, query, variables, message) => {
    expect(faultOf(await save(name, query, variables))).toEqual([['BAD_USER_INPUT', message]]);
    expect((await file('/reports/x.csv')).status).toBe(404);
  });

  test('may hold text that only looks like a NUL, and not objects without end', async () => {
    const byDonor = `query ($name: String) { depositSummary(${NARROWED}, filter: { donorName: $name }) { all { lines } } }`;
    expect((await save('text', byDonor, { name: '\\u0000' })).body.errors).toBeUndefined();
    const query =
      'mutation ($query: String!, $variables: JSONObject) { saveReport(input: { name: "x", query: $query, variables: $variables }) { report { name } } }';
    const body = JSON.stringify({ query, variables: { query: BY_FUND, variables: { ...YEAR, nested: 'HERE' } } });
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: organization.webProvision, Cookie: gateway.cookie },
      body: body.replace('"HERE"', `${'['.repeat(9000)}${']'.repeat(9000)}`),
    });
    expect(await response.json()).toMatchObject({ errors: [{ message: 'variables are nested too deeply' }] });
  });

  test('is refused beyond a number of them and a length of all', async () => {
    const own = await createOrganization(gateway.services);
    const as = { provision: own.webProvision, cookie: await login(gateway.url, own.webProvision) };
    const fill = (count: number, length: number) =>
      gateway.database.client.query(
        `INSERT INTO saved_report (organization_id, name, query, variables, updated_at)
         SELECT $1, 'r' || n, repeat('q', $3), '{}', now() FROM generate_series(1, $2) AS n`,
        [own.id, count, length],
      );
    await fill(500, 10);
    expect(faultOf(await save('one-more', BY_FUND, YEAR, as))).toEqual([
      ['BAD_USER_INPUT', 'there are 500 reports of 6000 characters already; delete one first'],
    ]);
    expect((await save('r7', BY_FUND, YEAR, as, await savedAt(own, 'r7'))).body.errors).toBeUndefined();
    await gateway.database.client.query('DELETE FROM saved_report WHERE organization_id = $1', [own.id]);
    await fill(34, 29_900);
    expect(faultOf(await save('one-more', BY_FUND, YEAR, as))![0]![1]).toMatch(/^there are 34 reports of \d+ characters already/);
    // The list counts in an operation's cost.
    const { headers } = await graphql(gateway.url, '{ a: savedReports { name } b: savedReports { name } }', as);
    expect(headers.get('x-graphql-cost')).toBe('2000');
  });

  test('is managed on the command line too', async () => {
    const own = await createOrganization(gateway.services);
    await importLines(gateway.services, own, depositBook(10));
    const environment = { DATABASE_URL: gateway.database.url };
    const directory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    try {
      const path = join(directory, 'fund.graphql');
      await writeFile(path, BY_FUND);
      const run = (...words: string[]) => runCommand(environment, ['report', ...words, '--organization', own.name]);
      const saved = await run('save', 'by-fund', path, '--variables', JSON.stringify(YEAR));
      expect([saved.status, saved.stdout]).toEqual([0, 'Saved report "by-fund": /reports/by-fund.csv\n']);
      const { text, headers } = await file('/reports/by-fund.ndjson', { Provision: own.apiProvision });
      expect(text.split('\n').length).toBeGreaterThan(2);
      expect((await run('list')).stdout).toMatch(
        /^NAME +TITLE +SAVED +BY +PERIOD +VARIABLES\nby-fund +by-fund +\S+ +command line +\{"endDate":"2024-12-31","startDate":"2024-01-01"\}\n$/,
      );
      const wrong = await run('save', 'by-fund', path, '--variables', '{}');
      expect([wrong.status, wrong.stderr]).toEqual([
        1,
        'Invalid parameter(s): variables: Variable "$startDate" of required type "LocalDate!" was not provided.\n',
      ]);
      expect((await run('save', 'by-fund', path, '--variables', '[]')).status).toBe(2);
      expect((await run('delete', 'by-fund')).stdout).toBe('Deleted report "by-fund"\n');
      expect(await run('delete', 'by-fund')).toMatchObject({ status: 1, stderr: 'Not found\n' });
      // The audit names the files that were taken all the same.
      const { stdout } = await runCommand(environment, ['--json', 'audit', '--organization', own.name, '--kind', 'file']);
      expect(JSON.parse(stdout)).toMatchObject([
        { report: 'deposit-summary', format: 'ndjson', outcome: 'whole', digest: headers.get('x-export-digest') },
      ]);
      expect(createHash('sha256').update(text).digest('hex')).toBe((JSON.parse(stdout) as { fileSha256: string }[])[0]!.fileSha256);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
