import fc from 'fast-check';
import { createOrganization, graphql, importLines, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const gateway = openGateway({ lines: [v2Line({ allocation_amount: '10.50' })], loggedIn: true });
const { organization } = gateway;

const asApi = () => ({ provision: organization.apiProvision });
const asUser = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
const codes = (body: { errors?: { extensions: { code: string } }[] }) => body.errors?.map(({ extensions }) => extensions.code);

describe('a frontend developer', () => {
  test('checks credentials with the messages of v2', async () => {
    const { body } = await graphql(
      gateway.url,
      '{ authenticatedTestSystem { message provision } authenticatedTestSession { message provision } }',
      asUser(),
    );
    const provision = organization.webProvision;
    expect(body).toEqual({
      data: {
        authenticatedTestSystem: { message: 'System request authenticated', provision },
        authenticatedTestSession: { message: 'Session request authenticated', provision },
      },
    });
  });

  test('asks for all fields of the report, exact and in camelCase', async () => {
    const fields = [
      ...[
        'depositId',
        'transactionDate',
        'depositDate',
        'transactionId',
        'allocationId',
        'donorId',
        'donorFirstName',
        'donorLastName',
        'address1',
      ],
      ...[
        'address2',
        'address3',
        'city',
        'state',
        'zip',
        'phone',
        'emailAddress',
        'amount',
        'feeAmount',
        'netAmount',
        'status',
        'accountType',
      ],
      ...['paymentType', 'designationId', 'designation', 'designationMemo', 'mainMemo', 'allocationAmount'],
      ...['allocationAmountInferred', 'depositStatus'],
    ];
    const query = `query ($start: LocalDate!, $end: LocalDate!) { depositDetails(startDate: $start, endDate: $end) { ${fields.join(' ')} } }`;
    const { status, headers, body } = await graphql(gateway.url, query, {
      ...asApi(),
      variables: { start: '2024-01-02', end: '2024-01-02' },
    });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const expected = {
      ...{
        depositId: '1',
        transactionDate: '2024-01-01',
        depositDate: '2024-01-02',
        transactionId: 'P10',
        allocationId: 'P100',
        donorId: 7,
      },
      ...{
        donorFirstName: 'Ada',
        donorLastName: 'Lovelace',
        address1: '12 St James Square',
        address2: '',
        address3: '',
        city: 'London',
        state: '',
      },
      ...{ zip: 'SW1Y 4JH', phone: '555-0100', emailAddress: 'ada@example.org', amount: '10.50', feeAmount: '0.50', netAmount: '10.00' },
      ...{
        status: 'Complete',
        accountType: 'Checking',
        paymentType: 'ACH',
        designationId: 3,
        designation: 'General Fund',
        designationMemo: '',
      },
      ...{ mainMemo: '', allocationAmount: '10.50', allocationAmountInferred: false, depositStatus: 'POSTED' },
    };
    expect(body).toEqual({ data: { depositDetails: [expected] } });
    expect(Object.keys((body.data?.depositDetails as object[])[0]!)).toEqual(fields);
  });

  test('gets all of a gift for its only allocation, and null for a share that is not known, of lines and of records', async () => {
    const own = await createOrganization(gateway.services);
    const shares = async () => {
      const query = `{ lines: depositDetails(startDate: "2024-01-02", endDate: "2024-01-02") { allocationAmount allocationAmountInferred }
        page: depositDetailsConnection(startDate: "2024-01-02", endDate: "2024-01-02") { nodes { allocationAmount allocationAmountInferred } }
        transaction(transactionId: "P10") { allocations { nodes { amount amountInferred } } } }`;
      const { body } = await graphql(gateway.url, query, { provision: own.apiProvision });
      const { lines, page, transaction } = body.data as {
        lines: { allocationAmount: string | null; allocationAmountInferred: boolean | null }[];
        page: { nodes: object[] };
        transaction: { allocations: { nodes: object[] } };
      };
      expect(page.nodes).toEqual(lines);
      expect(transaction.allocations.nodes).toEqual(
        lines.map(({ allocationAmount: amount, allocationAmountInferred: amountInferred }) => ({ amount, amountInferred })),
      );
      return lines;
    };
    const unknown = { allocationAmount: null, allocationAmountInferred: null };
    await importLines(gateway.services, own, [v2Line()]);
    expect(await shares()).toEqual([{ allocationAmount: '10.50', allocationAmountInferred: true }]);
    await importLines(gateway.services, own, [v2Line({ allocation_id: 'P101' })]);
    expect(await shares()).toEqual([unknown, unknown]);
    await importLines(gateway.services, own, [v2Line({ allocation_amount: '4.00' })]);
    expect(await shares()).toEqual([{ allocationAmount: '4.00', allocationAmountInferred: false }, unknown]);
  });

  test('asks who is logged in', async () => {
    const query = '{ viewer { username organization privileges } }';
    const { body } = await graphql(gateway.url, query, asUser());
    const privileges = ['authenticated_test_system', 'authenticated_test_session', 'deposit_detail_designation_detail_with_contact_info'];
    expect(body).toEqual({ data: { viewer: { username: 'ada', organization: organization.name, privileges } } });
    expect((await graphql(gateway.url, query, asApi())).body).toEqual({ data: { viewer: null } });
  });

  test('asks by GET too, with the provision as the proof that no other site sent it', async () => {
    const url = `${gateway.url}/graphql?query=${encodeURIComponent('{ authenticatedTestSystem { message } }')}`;
    const answered = await fetch(url, { headers: { Provision: organization.apiProvision } });
    expect(await answered.json()).toEqual({ data: { authenticatedTestSystem: { message: 'System request authenticated' } } });
    const mutation = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent('mutation { logout { ended } }')}`, {
      headers: { Provision: organization.apiProvision },
    });
    expect(mutation.status).toBe(405);
  });

  test.each([
    ['PROVISION_HEADER_MISSING', '{ authenticatedTestSystem { message } }', () => ({})],
    ['INVALID_PROVISION', '{ authenticatedTestSystem { message } }', () => ({ provision: 'x' })],
    ['NOT_LOGGED_IN', '{ authenticatedTestSession { message } }', asApi],
    ['PROVISION_MISMATCH', '{ authenticatedTestSession { message } }', () => ({ ...asApi(), cookie: gateway.cookie })],
    ['START_DATE_AFTER_END_DATE', '{ depositDetails(startDate: "2024-01-02", endDate: "2024-01-01") { depositId } }', asApi],
    ['GRAPHQL_VALIDATION_FAILED', '{ depositDetails(startDate: "2024-02-30", endDate: "2024-01-01") { depositId } }', asApi],
    ['GRAPHQL_VALIDATION_FAILED', '{ depositDetails(startDate: 20240101, endDate: "2024-01-01") { depositId } }', asApi],
    ['GRAPHQL_VALIDATION_FAILED', '{ nothing }', asApi],
    ['GRAPHQL_PARSE_FAILED', '{', asApi],
  ])('is told %s by its code', async (code, query, credentials) => {
    const { body } = await graphql(gateway.url, query, credentials());
    expect(codes(body)).toEqual([code]);
  });

  const ofMin = `query ($min: Decimal) { depositSummary(startDate: "2024-01-02", endDate: "2024-01-02", filter: { amount: { min: $min } }) { all { lines } } }`;
  test.each<[string, object, string]>([
    ['{ depositDetails(startDate: "2026-02-30", endDate: "2026-03-01") { amount } }', {}, '"2026-02-30" is no day of the calendar'],
    [
      '{ depositDetails(startDate: "1.2.26", endDate: "2026-03-01") { amount } }',
      {},
      '"1.2.26" is not a date: write YYYY-MM-DD, such as "2026-01-31"',
    ],
    [
      '{ depositDetails(startDate: 20260201, endDate: "2026-03-01") { amount } }',
      {},
      '20260201 is not a date: write text, YYYY-MM-DD, such as "2026-01-31"',
    ],
    [ofMin, { min: '100' }, '"100" is not an amount: write two decimals, such as "100.00"'],
    [ofMin, { min: '007.00' }, '"007.00" is not an amount: write no zeros before other digits, and no minus sign before 0.00'],
    [ofMin, { min: '-0.00' }, '"-0.00" is not an amount: write no zeros before other digits, and no minus sign before 0.00'],
    [ofMin, { min: 100 }, '100 is not an amount: write text with two decimals, such as "100.00"'],
    [
      '{ depositSummary(startDate: "2024-01-02", endDate: "2024-01-02", filter: { amount: { min: 100.5 } }) { all { lines } } }',
      {},
      '100.5 is not an amount: write text with two decimals, such as "100.00"',
    ],
  ])('is told in a sentence what is wrong with a value: %s %j', async (query, variables, sentence) => {
    const { status, body } = await graphql(gateway.url, query, { ...asApi(), variables });
    expect([status, body.errors!.length]).toEqual([400, 1]);
    expect(body.errors![0]!.message.endsWith(sentence) ? sentence : body.errors![0]!.message).toBe(sentence);
  });

  test.each([
    ['{"query":\n "{ viewer { username } }",}', 'the body is not JSON at line 2, column 28'],
    ['{"query": "{ viewer', 'the body breaks off at line 1, column 20'],
    ['"hello"', 'the body is not a JSON object'],
  ])('is told where a body is no JSON, and the body is not repeated: %s', async (text, fault) => {
    const headers = { 'Content-Type': 'application/json', Provision: organization.apiProvision };
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: text });
    expect([response.status, await response.json()]).toEqual([
      400,
      { errors: [{ message: `Bad request: ${fault}`, extensions: { code: 'BAD_REQUEST', requestId: REQUEST_ID } }] },
    ]);
  });

  test('is told a place for every body that is no JSON', async () => {
    const headers = { 'Content-Type': 'application/json', Provision: organization.apiProvision };
    const marks = ['', '"', '}', ']', '{', '[', ',', ':', '1', '-', '.', 'e', 't', 'null', '\\', ' ', '\n', 'u', '\u0001'];
    const body = fc
      .tuple(fc.json(), fc.array(fc.tuple(fc.nat(40), fc.constantFrom(...marks)), { minLength: 1 }))
      .map(([json, edits]) => edits.reduce((text, [at, mark]) => text.slice(0, at) + mark + text.slice(at + 1), `{"query":${json}}`))
      .filter((text) => !isJson(text));
    const property = fc.asyncProperty(body, async (text) => {
      const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: text });
      const { errors } = (await response.json()) as { errors: { message: string }[] };
      expect(errors[0]!.message).toMatch(/^Bad request: the body (is not JSON|breaks off) at line \d+, column \d+$/);
    });
    await fc.assert(property, { numRuns: 200 });
  });

  test.each<[number, string, object]>([
    [200, 'PERSISTED_QUERY_NOT_FOUND', { extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } }],
    [422, 'BAD_USER_INPUT', { query: 'query ($day: LocalDate!) { depositDetails(startDate: $day, endDate: $day) { amount } }' }],
    [400, 'GRAPHQL_PARSE_FAILED', { query: '{' }],
    [422, 'GRAPHQL_VALIDATION_FAILED', { query: '{ nothing }' }],
    [422, 'OPERATION_RESOLUTION_FAILURE', { query: 'query A { __typename } query B { __typename }' }],
  ])('gets the status %d with the code %s, as the table of errors says', async (status, code, request) => {
    const accept = { Accept: 'application/graphql-response+json' };
    const headers = { 'Content-Type': 'application/json', Provision: organization.apiProvision, ...accept };
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(request) });
    expect([response.status, codes((await response.json()) as never)]).toEqual([status, [code]]);
  });

  test('is told BAD_USER_INPUT of a variable that is no date', async () => {
    const query = 'query ($day: LocalDate!) { depositDetails(startDate: $day, endDate: $day) { depositId } }';
    const { body } = await graphql(gateway.url, query, { ...asApi(), variables: { day: '2024-02-30' } });
    expect(codes(body)).toEqual(['BAD_USER_INPUT']);
  });
});
