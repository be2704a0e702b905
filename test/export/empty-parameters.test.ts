import { createExportReader } from '../support/export-reader';
import { graphql, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

/** Gifts by their status, one of which has none, and one whose status is a pair of quotes. */
const STATUSES = ['Complete', '', '""', '"Odd"', '"'];
const LINES = STATUSES.map((status, n) =>
  v2Line({ transaction_id: `T${n}`, allocation_id: `A${n}`, status, payment_type: n === 0 ? '' : 'ACH' }),
);

const gateway = openGateway({ lines: LINES, loggedIn: true });
const { organization } = gateway;
const { get } = createExportReader(gateway);
const PERIOD = 'start_date=2024-01-01&end_date=2024-12-31';
const ask = (query: string, variables: object = {}) =>
  graphql(gateway.url, query, { provision: organization.webProvision, cookie: gateway.cookie, variables });

describe('a parameter with nothing in it', () => {
  test.each([
    ['donor_name=', 'donor_name must be given once, with a letter or a digit'],
    ['donor_name', 'donor_name must be given once, with a letter or a digit'],
    ['donor_name=%20', 'donor_name must be given once, with a letter or a digit'],
    ['donor_name=%22%22', 'donor_name must be given once, with a letter or a digit'],
    ['donor_name=--%25', 'donor_name must be given once, with a letter or a digit'],
    ['status=', 'status must be a text; "" stands for the empty one'],
    ['status=Complete&status=', 'status must be a text; "" stands for the empty one'],
    ['account_type=', 'account_type must be a text; "" stands for the empty one'],
    ['payment_type=', 'payment_type must be a text; "" stands for the empty one'],
    ['deposit_id=', 'deposit_id must be an id'],
    ['deposit_id=%22%22', 'deposit_id must be an id'],
    ['transaction_id=', 'transaction_id must be an id'],
    ['designation_id=', 'designation_id must be a number'],
    ['donor_id=', 'donor_id must be a number'],
    ['amount_min=', 'amount_min: "" is not an amount: write two decimals, such as "100.00"'],
    ['transaction_date_from=', 'transaction_date_from: "" is not a date: write YYYY-MM-DD, such as "2026-01-31"'],
    ['date_basis=', 'date_basis must be DEPOSIT_DATE or TRANSACTION_DATE'],
    ['pending=', 'pending must be WITH, WITHOUT or ONLY'],
    ['include_pending=', 'include_pending must be true or false'],
    ['columns=', 'columns must be names of fields of the report, each once, separated by commas'],
    ['bom=', 'bom must be true or false'],
    ['totals=', 'totals must be headers or skip'],
  ])('is refused: %s', async (query, fault) => {
    const files = ['deposit-details.csv', ...(query.startsWith('columns') ? [] : ['deposit-summary.csv'])];
    for (const file of files) {
      const { status, body } = await get(`/export/${file}?${PERIOD}&${query}`);
      expect([file, status, JSON.parse(body.toString())]).toEqual([
        file,
        422,
        { errors: [{ error: `Invalid parameter(s): ${fault}`, status: 422 }] },
      ]);
    }
  });

  test.each(['group_by=', 'fiscal_year_start='])('is refused in a summary: %s', async (query) => {
    expect((await get(`/export/deposit-summary.csv?${PERIOD}&${query}`)).status).toBe(422);
  });
});

describe('a group of lines whose value is empty', () => {
  const GROUP = `query ($statuses: [String!]) { depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", filter: { statuses: $statuses }) { nodes { transactionId } } }`;
  const fileOf = async (variables: object): Promise<{ path: string } | null> =>
    (
      await ask('query ($query: String!, $variables: JSONObject) { reportFile(query: $query, variables: $variables) { path } }', {
        query: GROUP,
        variables,
      })
    ).body.data?.reportFile as { path: string } | null;

  test.each<[string[], string, string[]]>([
    [[''], 'status=%22%22', ['T1']],
    [['', 'Complete'], 'status=%22%22&status=Complete', ['T0', 'T1']],
    [['""'], 'status=%22%22%22%22', ['T2']],
    [['"Odd"'], 'status=%22%22Odd%22%22', ['T3']],
    [['"'], 'status=%22', ['T4']],
  ])('leads to the file of its lines: %j', async (statuses, parameters, transactions) => {
    expect((await ask(GROUP, { statuses })).body.data).toEqual({
      depositDetailsConnection: { nodes: transactions.map((transactionId) => ({ transactionId })) },
    });
    const path = `/export/deposit-details.csv?${PERIOD}&include_pending=false&${parameters}&columns=transaction_id`;
    expect(await fileOf({ statuses })).toEqual({ path });
    const { body } = await get(path);
    expect(body.toString()).toBe(`transaction_id\r\n${transactions.map((id) => `"${id}"\r\n`).join('')}`);
  });

  test('may be written in quotes where it is not empty', async () => {
    const { body } = await get(`/export/deposit-details.csv?${PERIOD}&status=%22Complete%22&columns=transaction_id`);
    expect(body.toString()).toBe('transaction_id\r\n"T0"\r\n');
  });
});

describe('a condition that no address can express', () => {
  const fault = async (filter: object) => {
    const query = `query ($filter: DepositDetailFilter) { depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", filter: $filter) { nodes { amount } } }`;
    const { body } = await ask(
      'query ($query: String!, $variables: JSONObject) { reportFile(query: $query, variables: $variables) { path } }',
      {
        query,
        variables: { filter },
      },
    );
    return (
      body.errors?.[0]?.message ??
      (body.data!.reportFile as { path: string }).path.replace(`/export/deposit-details.csv?${PERIOD}&include_pending=false`, '')
    );
  };

  test('is refused where no line meets it, and left out where it is none', async () => {
    const unmet = (path: string) => `${path} has no value that a line could meet`;
    expect(await fault({ statuses: [] })).toBe(unmet('filter.statuses'));
    expect(await fault({ depositIds: [''] })).toBe(unmet('filter.depositIds'));
    expect(await fault({ donorName: ' %' })).toBe(unmet('filter.donorName'));
    expect(await fault({ donorName: '' })).toBe('&columns=amount');
    expect(await fault({ depositIds: ['', '5'] })).toBe('&deposit_id=5&columns=amount');
  });
});

test('a variable of a saved report with nothing in it is refused, and quotes stand for the empty text', async () => {
  const save = await ask('mutation ($input: SaveReportInput!) { saveReport(input: $input) { replaced } }', {
    input: {
      name: 'by-status',
      query: `query ($statuses: [String!], $donorName: String) {
        depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", filter: { statuses: $statuses, donorName: $donorName }) { nodes { transactionId } } }`,
      variables: {},
    },
  });
  expect(save.body.errors).toBeUndefined();
  const file = async (parameters: string) => {
    const { status, body } = await get(`/reports/by-status.csv?${parameters}`);
    return [status, body.toString()];
  };
  const refused = (name: string) => [
    422,
    `{"errors":[{"error":"Invalid parameter(s): ${name} has no value; \\"\\" stands for the empty text","status":422}]}`,
  ];
  expect(await file('statuses=')).toEqual(refused('statuses'));
  expect(await file('statuses=Complete&statuses=')).toEqual(refused('statuses'));
  expect(await file('donorName=')).toEqual(refused('donorName'));
  expect(await file('statuses=%22%22')).toEqual([200, 'transaction_id\r\n"T1"\r\n']);
});
