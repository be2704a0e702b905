import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAudit } from '../support/audit-reader';
import { done, runCommand } from '../support/command';
import { createExportReader } from '../support/export-reader';
import { createOrganization, graphql, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

/** A line on the first day of each of the fifteen months up to this one, so that every period of months and years has its own lines. */
const monthAt = (step: number, day = 1): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + step, day)).toISOString().slice(0, 10);
};
const LINES = Array.from({ length: 15 }, (_, step) =>
  v2Line({ deposit_id: `D${step}`, transaction_id: `T${step}`, allocation_id: `A${step}`, deposit_date: monthAt(-step) }),
);
const gateway = openGateway({ settings: { CORS_ORIGINS: 'https://app.example.org' }, lines: LINES, loggedIn: true });
const { organization } = gateway;
const { get, receiptOf } = createExportReader(gateway);
const asAda = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
const setZone = (timeZone: string) => gateway.services.organizations.setTimeZone(organization.name, timeZone);
afterEach(() => setZone('UTC'));

/** Does something within one day of UTC: again, where midnight has come in between. */
async function withinDay<Value>(act: () => Promise<Value>): Promise<Value> {
  for (;;) {
    const day = monthAt(0, new Date().getUTCDate());
    const value = await act();
    if (monthAt(0, new Date().getUTCDate()) === day) return value;
  }
}

const LAST_MONTH = () => [monthAt(-1), monthAt(0, 0)] as const;
const rangeOf = async (path: string): Promise<unknown> => (await get(path)).headers['x-export-range'];
const refusal = (fault: string): string => JSON.stringify({ errors: [{ error: `Invalid parameter(s): ${fault}`, status: 422 }] });

describe('a file of a named period', () => {
  test.each(['deposit-details', 'deposit-summary'])('is that of its dates, and says them: %s', (name) =>
    withinDay(async () => {
      const [start, end] = LAST_MONTH();
      const found = await get(`/export/${name}.csv?period=last-month&totals=headers`);
      const dated = await get(`/export/${name}.csv?start_date=${start}&end_date=${end}&totals=headers`);
      expect([found.status, found.body.toString()]).toEqual([200, dated.body.toString()]);
      expect(found.headers['x-export-lines']).toBe('1');
      expect(found.headers['x-export-range']).toBe(`${start}/${end}`);
      expect(found.headers['content-disposition']).toBe(`attachment; filename="${name}-${start}-${end}.csv"`);
      expect(found.headers.etag).toBe(dated.headers.etag);
      const again = await get(`/export/${name}.csv?period=last-month`, { 'If-None-Match': found.headers.etag! });
      expect(again.status).toBe(304);
    }),
  );

  test('says its dates to pages of other origins', async () => {
    const headers = { Provision: organization.apiProvision, Origin: 'https://app.example.org' };
    const response = await fetch(`${gateway.url}/export/deposit-details.csv?period=today`, { headers });
    await response.text();
    expect(response.headers.get('access-control-expose-headers')!.split(',')).toEqual(
      expect.arrayContaining(['X-Export-Range', 'Content-Disposition']),
    );
  });

  test('has the day of the organization: two zones that are a day apart never agree', async () => {
    const dayIn = async (zone: string): Promise<string> => {
      await setZone(zone);
      return String(await rangeOf('/export/deposit-details.csv?period=today')).split('/')[0]!;
    };
    const west = await dayIn('Pacific/Pago_Pago');
    const east = await dayIn('Pacific/Kiritimati');
    expect(east > west).toBe(true);
    expect(Date.parse(east) - Date.parse(west)).toBeLessThanOrEqual(2 * 86_400_000);
  });

  test('follows the fiscal year that the organization has set', async () => {
    const { name } = organization;
    await gateway.services.organizations.setFiscalYear(name, new Date().getUTCMonth() + 1);
    await withinDay(async () => {
      expect(await rangeOf('/export/deposit-summary.csv?period=this-fiscal-year')).toBe(`${monthAt(0)}/${monthAt(12, 0)}`);
    });
    await gateway.services.organizations.setFiscalYear(name, 1);
  });

  test('is of every date for all time', async () => {
    const { headers } = await get('/export/deposit-details.csv?period=all-time&totals=headers');
    expect([headers['x-export-range'], headers['x-export-lines']]).toEqual(['0001-01-01/9999-12-31', '15']);
  });

  const NAMES =
    'today, yesterday, this-week, last-week, this-month, last-month, this-quarter, last-quarter, this-year, last-year, last-12-months, week-to-date, month-to-date, quarter-to-date, year-to-date, this-fiscal-year, last-fiscal-year, fiscal-year-to-date or all-time';
  test.each([
    ['period=next-month', `period must be ${NAMES}`],
    ['period=', `period must be ${NAMES}`],
    ['period=today&period=yesterday', `period must be ${NAMES}`],
    ['period=today&start_date=2026-01-01', 'period stands in place of start_date and end_date: give it without start_date'],
    ['period=today&end_date=2026-01-01', 'period stands in place of start_date and end_date: give it without end_date'],
    ['end_date=2026-01-01', 'start_date is missing'],
  ])('is refused with a sentence for %s', async (query, fault) => {
    const { status, body } = await get(`/export/deposit-details.csv?${query}`);
    expect([status, body.toString()]).toEqual([422, refusal(fault)]);
  });

  test('stands in the audit and in its receipt with its dates', async () => {
    await gateway.services.provisions.changeGrants(organization.apiProvision, { verb: 'grant', privileges: ['audit_records'] });
    await withinDay(async () => {
      const [startDate, endDate] = LAST_MONTH();
      const { headers } = await get('/export/deposit-details.csv?period=last-month');
      expect(await receiptOf(headers['x-export-id'] as string)).toMatchObject({ startDate, endDate, outcome: 'whole' });
      expect((await readAudit(gateway, organization, '{ kinds: [FILE] }')).at(-1)).toMatchObject({ startDate, endDate });
    });
  });
});

const SAVE = `mutation ($input: SaveReportInput!) { saveReport(input: $input) { report {
  period variables path downloadUrl parameters { name value } } } }`;
const QUERY = `query Gifts($startDate: LocalDate!, $endDate: LocalDate!, $statuses: [String!]) {
  depositDetailsConnection(startDate: $startDate, endDate: $endDate, filter: { statuses: $statuses }) { nodes { amount } } }`;
const save = (name: string, input: object = {}) =>
  graphql(gateway.url, SAVE, { ...asAda(), variables: { input: { name, query: QUERY, period: 'LAST_MONTH', ...input } } });
interface Saved {
  readonly report: { readonly downloadUrl: string };
}

describe('a saved report of a named period', () => {
  test('has the dates of now, and tells its period', () =>
    withinDay(async () => {
      const [startDate, endDate] = LAST_MONTH();
      const name = `kept-${Date.now()}`;
      const { body } = await save(name, { variables: { statuses: ['Complete'] } });
      expect(body.data?.saveReport).toEqual({
        report: {
          period: 'LAST_MONTH',
          variables: { startDate, endDate, statuses: ['Complete'] },
          path: `/reports/${name}.csv`,
          downloadUrl: expect.stringContaining(`/reports/${name}.csv?expires=`) as string,
          parameters: [
            { name: 'startDate', value: startDate },
            { name: 'endDate', value: endDate },
            { name: 'statuses', value: ['Complete'] },
          ],
        },
      });
      const list = `{ savedReports(filter: { names: ["${name}"] }) { id period variables } }`;
      const { savedReports } = (await graphql(gateway.url, list, asAda())).body.data as { savedReports: { id: string }[] };
      const kept = { period: 'LAST_MONTH', variables: { startDate, endDate, statuses: ['Complete'] } };
      expect(savedReports).toEqual([{ id: savedReports[0]!.id, ...kept }]);
      const node = `{ node(id: "${savedReports[0]!.id}") { ... on SavedReport { period variables } } }`;
      expect((await graphql(gateway.url, node, asAda())).body.data).toEqual({ node: kept });

      const file = await get(`/reports/${name}.csv`);
      expect(file.headers['x-export-range']).toBe(`${startDate}/${endDate}`);
      expect(file.headers['content-disposition']).toBe(`attachment; filename="${name}-${startDate}-${endDate}.csv"`);
      const link = (body.data!.saveReport as Saved).report.downloadUrl;
      expect((await fetch(gateway.url + link)).headers.get('x-export-range')).toBe(`${startDate}/${endDate}`);
    }));

  test('has the month before the one that is now, whenever it was saved', async () => {
    await save('monthly');
    // A year and a zone later, the saved row is the same.
    await gateway.database.client.query(`UPDATE saved_report SET updated_at = updated_at - interval '1 year'`);
    const { rows } = await gateway.database.client.query(`SELECT period, variables FROM saved_report WHERE name = 'monthly'`);
    expect(rows).toEqual([{ period: 'last-month', variables: {} }]);
    await withinDay(async () => expect(await rangeOf('/reports/monthly.csv')).toBe(LAST_MONTH().join('/')));
  });

  test('gives way to the dates and to the period of its address', async () => {
    await save('narrowed');
    await withinDay(async () => {
      const [start, end] = LAST_MONTH();
      expect(await rangeOf('/reports/narrowed.csv?startDate=2024-01-01&endDate=2024-01-31')).toBe('2024-01-01/2024-01-31');
      expect(await rangeOf('/reports/narrowed.csv?startDate=2024-01-01')).toBe(`2024-01-01/${end}`);
      expect(await rangeOf('/reports/narrowed.csv?period=all-time')).toBe('0001-01-01/9999-12-31');
      expect(await rangeOf('/reports/narrowed.csv?period=last-month&statuses=Complete')).toBe(`${start}/${end}`);
    });
  });

  test('opens to a provision that is bound to it, with its period alone', async () => {
    await save('bound');
    const { provisions } = gateway.services;
    const grants = ['deposit_detail_designation_detail_with_contact_info'];
    const Provision = await provisions.create({
      organization: organization.name,
      kind: 'API',
      label: '',
      grants,
      bounds: { reports: ['bound'] },
    });
    await withinDay(async () => {
      const { status, headers } = await get('/reports/bound.csv', { Provision });
      expect([status, headers['x-export-range']]).toEqual([200, LAST_MONTH().join('/')]);
    });
    const { status, body } = await get('/reports/bound.csv?period=all-time', { Provision });
    expect([status, body.toString()]).toEqual([422, refusal('this provision opens the report with its saved values alone')]);
  });

  test('keeps its variables in the address, where one without a period takes one', async () => {
    const YEAR = { startDate: '2024-01-01', endDate: '2024-12-31' };
    const { body } = await save('dated', { period: null, variables: YEAR });
    expect(body.data).toMatchObject({ saveReport: { report: { period: null, variables: YEAR } } });
    await withinDay(async () => expect(await rangeOf('/reports/dated.csv?period=last-month')).toBe(LAST_MONTH().join('/')));
  });

  test('is not moved by its address alone, where it compares with dates of its own', async () => {
    const query = `query Both($startDate: LocalDate!, $endDate: LocalDate!, $compareWith: PeriodInput) {
      depositSummary(startDate: $startDate, endDate: $endDate, groupBy: [DONOR], compareWith: $compareWith) {
        groups(first: 10) { nodes { key { donorId } all { transactions } compared { all { transactions } } } } } }`;
    const compareWith = { startDate: '2023-01-01', endDate: '2023-12-31' };
    const variables = { startDate: '2024-01-01', endDate: '2024-12-31', compareWith };
    expect((await save('both', { query, period: null, variables })).body.errors).toBeUndefined();
    const { status, body } = await get('/reports/both.csv?period=last-month');
    expect([status, body.toString()]).toEqual([
      422,
      refusal('period: the report compares with 2023-01-01 to 2023-12-31, which would not move along'),
    ]);
    // As it was saved, and with both periods from the address.
    expect((await get('/reports/both.csv')).status).toBe(200);
    const other = encodeURIComponent('{"startDate":"2022-01-01","endDate":"2022-12-31"}');
    expect((await get(`/reports/both.csv?period=last-month&compareWith=${other}`)).status).toBe(200);
  });

  test('is saved and listed on the command line too', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    try {
      const path = join(directory, 'gifts.graphql');
      await writeFile(path, QUERY);
      const own = await createOrganization(gateway.services);
      const run = (...words: string[]) =>
        runCommand({ DATABASE_URL: gateway.database.url }, ['report', ...words, '--organization', own.name]);
      expect(await run('save', 'monthly', path, '--period', 'last-month')).toEqual(done('Saved report "monthly": /reports/monthly.csv'));
      expect((await run('list')).stdout).toMatch(
        /^NAME +TITLE +SAVED +BY +PERIOD +VARIABLES\nmonthly +monthly +\S+ +command line +last-month +\{\}\n$/,
      );
      await withinDay(async () => {
        const { headers } = await get('/reports/monthly.csv', { Provision: own.apiProvision });
        expect(headers['x-export-range']).toBe(LAST_MONTH().join('/'));
      });
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test.each<[string, object, string]>([
    [
      'variables for no dates',
      { query: '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { amount } }' },
      'period: the query has no variable $startDate to take its dates',
    ],
    ['a date beside it', { variables: { endDate: '2024-12-31' } }, 'variables: $endDate takes its value from the period'],
    [
      'a variable of its name',
      { query: QUERY.replaceAll('$statuses', '$period') },
      'query: the variable $period would be taken for an option of the file',
    ],
  ])('is not saved with %s', async (_title, input, fault) => {
    const { body } = await save('refused', input);
    expect(body.errors?.map(({ message }) => message)).toEqual([fault]);
  });

  test.each([
    ['undated.csv?period=today', 'period: the query has no variable $startDate to take its dates'],
    ['half.csv?period=today&startDate=2024-01-01', 'period stands in place of startDate and endDate: give it without startDate'],
    ['half.csv?period=noon', /^period must be today, yesterday,/],
  ])('is refused with a sentence at %s', async (file, fault) => {
    const replaces = async (name: string) => (await gateway.services.savedReports.find(organization.id, name))?.updatedAt;
    await save('half', { replaces: await replaces('half') });
    const undated = '{ depositDetails(startDate: "2024-01-01", endDate: "2024-12-31") { amount } }';
    await save('undated', { query: undated, period: null, replaces: await replaces('undated') });
    const { status, body } = await get(`/reports/${file}`);
    const [{ error }] = (JSON.parse(body.toString()) as { errors: [{ error: string }] }).errors;
    expect([status, error.replace('Invalid parameter(s): ', '')]).toEqual([
      422,
      typeof fault === 'string' ? fault : expect.stringMatching(fault),
    ]);
  });
});
