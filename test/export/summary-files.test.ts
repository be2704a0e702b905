import { depositBook } from '../support/deposit-book';
import { graphql, login, PASSWORD, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

/** A name that a spreadsheet would run as a formula and at which CSV and COPY would break. */
const ODD_NAME = '=SUM(A1)\t"q"\n\\N \\ é';
const ODD_LINE = v2Line({ designation: ODD_NAME, designation_id: 78, donor_id: 999, deposit_id: 'D88', transaction_id: 'T88' });
const CONTROLS = v2Line({
  ...{ designation: '\b\f\n\r\t\v\u0001\\ ', designation_id: 79, donor_id: 999 },
  ...{ deposit_id: 'D89', transaction_id: 'T89', allocation_id: 'A89' },
});
const gateway = openGateway({ lines: [...depositBook(60), ODD_LINE, CONTROLS], loggedIn: true });
const { organization } = gateway;
let clerk: string;

beforeAll(async () => {
  await gateway.services.users.create({ organization: organization.name, username: 'clerk', password: PASSWORD, grants: [] });
  clerk = await login(gateway.url, organization.webProvision, 'clerk');
});

const RANGE = 'start_date=2024-01-01&end_date=2024-12-31&include_pending=true';
const PERIOD = 'startDate: "2024-01-01", endDate: "2024-12-31", pending: WITH';

async function file(path: string, headers: Readonly<Record<string, string>> = { Provision: organization.apiProvision }) {
  const response = await fetch(gateway.url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const asAda = () => ({ provision: organization.webProvision, cookie: gateway.cookie });

describe('a file of a summary', () => {
  const totals = (groupBy: string, fields: string) =>
    graphql(
      gateway.url,
      `{ depositSummary(${PERIOD}, groupBy: [${groupBy}]) { digest all { lines byLine { amount } } ${fields} } }`,
      asAda(),
    );

  test('has a row for each group, the figures of GraphQL, and control totals of its lines', async () => {
    const { body } = await totals(
      'MONTH, DESIGNATION',
      'groups(first: 1000) { nodes { key { month designationId designation } all { lines byTransaction { amount } } pending { byAllocation { amount } } } }',
    );
    const {
      digest,
      all,
      groups: { nodes: groups },
    } = body.data!.depositSummary as {
      digest: string;
      all: { lines: number; byLine: { amount: string } };
      groups: {
        nodes: { key: object; all: { lines: number; byTransaction: { amount: string } }; pending: { byAllocation: { amount: string } } }[];
      };
    };
    const columns = 'month,designation_id,designation,lines,transaction_amount,pending_allocation_amount';
    const { headers, text } = await file(`/export/deposit-summary.json?${RANGE}&group_by=MONTH&group_by=DESIGNATION&columns=${columns}`);
    expect(JSON.parse(text)).toEqual({
      response: groups.map(({ key, all: { lines, byTransaction }, pending }) => {
        const { month, designationId, designation } = key as Record<string, unknown>;
        return {
          ...{ month, designation_id: designationId, designation, lines },
          ...{ transaction_amount: byTransaction.amount, pending_allocation_amount: pending.byAllocation.amount },
        };
      }),
    });
    expect(groups.length).toBeGreaterThan(3);
    expect(headers.get('x-export-rows')).toBe(String(groups.length));
    expect([headers.get('x-export-lines'), headers.get('x-export-amount-by-line'), headers.get('x-export-digest')]).toEqual([
      String(all.lines),
      all.byLine.amount,
      digest,
    ]);
    expect(headers.get('content-disposition')).toBe('attachment; filename="deposit-summary-2024-01-01-2024-12-31.json"');
  });

  test('says posted and pending as a file of lines does, and posted first, as lists of deposits do', async () => {
    const query = `{ deposits(first: 1000, pending: WITH, orderBy: { field: STATUS, direction: ASC }) { nodes { status } } }`;
    const { body } = await graphql(gateway.url, query, asAda());
    const { nodes } = (body.data as { deposits: { nodes: { status: string }[] } }).deposits;
    const statuses = [...new Set(nodes.map(({ status }) => status))];
    expect(statuses).toEqual(['POSTED', 'PENDING']);
    const groups = await totals('DEPOSIT_STATUS', 'groups(first: 9) { nodes { key { depositStatus } } }');
    expect(groups.body.data).toMatchObject({
      depositSummary: { groups: { nodes: statuses.map((depositStatus) => ({ key: { depositStatus } })) } },
    });
    const columns = 'group_by=DEPOSIT_STATUS&columns=deposit_status';
    expect((await file(`/export/deposit-summary.csv?${RANGE}&${columns}`)).text).toBe('deposit_status\r\n"posted"\r\n"pending"\r\n');
    expect((await file(`/export/deposit-summary.json?${RANGE}&${columns}`)).text).toBe(
      '{"response":[{"deposit_status":"posted"},{"deposit_status":"pending"}]}',
    );
    const ofLines = await file(`/export/deposit-details.ndjson?${RANGE}&columns=deposit_status`);
    expect(new Set(ofLines.text.trimEnd().split('\n'))).toEqual(new Set(['{"deposit_status":"posted"}', '{"deposit_status":"pending"}']));
  });

  test('escapes control characters in JSON as a file of lines does', async () => {
    const [ofLines, ofGroups] = await Promise.all([
      file(`/export/deposit-details.ndjson?${RANGE}&designation_id=79&columns=designation`),
      file(`/export/deposit-summary.ndjson?${RANGE}&designation_id=79&group_by=DESIGNATION&columns=designation`),
    ]);
    expect(ofGroups.text).toBe('{"designation":"\\b\\f\\n\\r\\t\\u000b\\u0001\\\\ "}\n');
    expect(ofLines.text).toBe(ofGroups.text);
  });

  test('is one row of all lines where nothing groups them', async () => {
    const { text } = await file(`/export/deposit-summary.csv?${RANGE}&columns=lines,transactions,line_amount`);
    const { body } = await totals('', '');
    const { all } = body.data!.depositSummary as { all: { lines: number; byLine: { amount: string } } };
    const unique = new Set([...depositBook(60)].map((line) => (line as { transaction_id: string }).transaction_id)).size + 2;
    expect(text).toBe(`lines,transactions,line_amount\r\n${all.lines},${unique},"${all.byLine.amount}"\r\n`);
  });

  test('guards names that a spreadsheet would run, and not amounts', async () => {
    const { text } = await file(
      `/export/deposit-summary.csv?${RANGE}&group_by=DESIGNATION&designation_id=78&columns=designation,line_amount`,
    );
    expect(text).toBe(`designation,line_amount\r\n"'=SUM(A1)\t""q""\n\\N \\ é","10.50"\r\n`);
    const json = await file(`/export/deposit-summary.json?${RANGE}&group_by=DESIGNATION&designation_id=78&columns=designation`);
    expect(JSON.parse(json.text)).toEqual({ response: [{ designation: ODD_NAME }] });
  });

  test('by the dates of transactions has the figures of GraphQL, and says so in its name, its headers and its receipt', async () => {
    const days = 'start_date=2024-01-03&end_date=2024-01-09&pending=WITH';
    const [first, second] = await Promise.all(
      ['&date_basis=TRANSACTION_DATE', '&date_basis=DEPOSIT_DATE'].map((basis) =>
        file(`/export/deposit-summary.csv?${days}${basis}&columns=lines&group_by=DAY`),
      ),
    );
    const { body } = await graphql(
      gateway.url,
      `
        {
          depositSummary(startDate: "2024-01-03", endDate: "2024-01-09", pending: WITH, dateBasis: TRANSACTION_DATE, groupBy: [DAY]) {
            digest
            groups(first: 100) {
              nodes {
                all {
                  lines
                }
              }
            }
          }
        }
      `,
      asAda(),
    );
    const summary = body.data!.depositSummary as { digest: string; groups: { nodes: { all: { lines: number } }[] } };
    expect(first!.text).toBe(['lines', ...summary.groups.nodes.map(({ all }) => all.lines), ''].join('\r\n'));
    expect(second!.text).not.toBe(first!.text);
    const said = ({ headers }: NonNullable<typeof first>) =>
      ['content-disposition', 'x-export-range', 'x-export-date-basis', 'x-export-digest'].map((name) => headers.get(name));
    expect(said(first!)).toEqual([
      'attachment; filename="deposit-summary-by-transaction-date-2024-01-03-2024-01-09.csv"',
      ...['2024-01-03/2024-01-09', 'TRANSACTION_DATE', summary.digest],
    ]);
    expect(said(second!).slice(0, 3)).toEqual([
      ...['attachment; filename="deposit-summary-2024-01-03-2024-01-09.csv"', '2024-01-03/2024-01-09', null],
    ]);
    const receipt = await file(`/export/receipts/${first!.headers.get('x-export-id')!}`);
    expect(JSON.parse(receipt.text)).toMatchObject({
      ...{ startDate: '2024-01-03', endDate: '2024-01-09' },
      conditions: ['pending', 'date_basis=TRANSACTION_DATE', 'group_by=DAY'],
    });
    const lines = await file(`/export/deposit-details.csv?${days}&date_basis=TRANSACTION_DATE&columns=transaction_date&totals=headers`);
    expect(lines.headers.get('x-export-digest')).toBe(summary.digest);
    const given = lines.text.match(/2024-\d\d-\d\d/g)!;
    expect([given.length > 9, given.every((day) => day >= '2024-01-03' && day <= '2024-01-09')]).toEqual([true, true]);
  });

  test('is for every member, without what tells of donors', async () => {
    const as = { Provision: organization.webProvision, Cookie: clerk };
    const { status, headers, text } = await file(`/export/deposit-summary.csv?${RANGE}&columns=lines,donors`, as);
    expect([status, headers.get('x-export-digest'), text.split('\r\n')[0]]).toEqual([200, null, 'lines,donors']);
    expect(text).toMatch(/^lines,donors\r\n\d+,\r\n$/);
    const byDonor = await file(`/export/deposit-summary.csv?${RANGE}&donor_id=1`, as);
    expect([byDonor.status, byDonor.text]).toEqual([422, expect.stringContaining('Privilege to perform the action was not found')]);
    expect((await file(`/export/deposit-summary.csv?${RANGE}`, { Provision: organization.webProvision })).text).toContain('Not logged in');
  });

  test.each([
    [
      'group_by=FUND',
      'group_by must be DAY, WEEK, MONTH, QUARTER, YEAR, DEPOSIT, TRANSACTION, DEPOSIT_STATUS, DESIGNATION, STATUS, ACCOUNT_TYPE, PAYMENT_TYPE, DONOR, CITY or STATE',
    ],
    ['date_basis=gift', 'date_basis must be DEPOSIT_DATE or TRANSACTION_DATE'],
    ['columns=month', 'columns must be names of fields of the report, each once, separated by commas'],
    ['group_by=MONTH&columns=amount', 'columns must be names of fields of the report, each once, separated by commas'],
  ])('asked for with %s is told what is wrong', async (query, fault) => {
    const { status, text } = await file(`/export/deposit-summary.csv?${RANGE}&${query}`);
    expect([status, text]).toEqual([422, JSON.stringify({ errors: [{ error: `Invalid parameter(s): ${fault}`, status }] })]);
  });
});
