import fc from 'fast-check';
import {
  createOrganization,
  graphql,
  importLines,
  login,
  PASSWORD,
  startGateway,
  v2Line,
  type TestGateway,
  type TestOrganization,
} from '../support/gateway';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

let gateway: TestGateway;
let organization: TestOrganization;
let cookie: string;

beforeAll(async () => {
  gateway = await startGateway();
  organization = await createOrganization(gateway.services);
  await importLines(gateway.services, organization, [v2Line({ allocation_amount: '10.50' })]);
  cookie = await login(gateway.url, organization.webProvision);
});
afterAll(() => gateway.stop());

const asApi = () => ({ provision: organization.apiProvision });
const asUser = () => ({ provision: organization.webProvision, cookie });
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
        transaction(id: "P10") { allocations { nodes { amount amountInferred } } } }`;
      const { body } = await graphql(gateway.url, query, { provision: own.apiProvision });
      const { lines, page, transaction } = body.data as {
        lines: { allocationAmount: string | null; allocationAmountInferred: boolean }[];
        page: { nodes: object[] };
        transaction: { allocations: { nodes: object[] } };
      };
      expect(page.nodes).toEqual(lines);
      expect(transaction.allocations.nodes).toEqual(
        lines.map(({ allocationAmount: amount, allocationAmountInferred: amountInferred }) => ({ amount, amountInferred })),
      );
      return lines;
    };
    const unknown = { allocationAmount: null, allocationAmountInferred: false };
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
    expect(codes((await graphql(gateway.url, query, asApi())).body)).toEqual(['NOT_LOGGED_IN']);
  });

  test('asks by GET too, with the provision as the proof that no other site sent it', async () => {
    const url = `${gateway.url}/graphql?query=${encodeURIComponent('{ authenticatedTestSystem { message } }')}`;
    const answered = await fetch(url, { headers: { Provision: organization.apiProvision } });
    expect(await answered.json()).toEqual({ data: { authenticatedTestSystem: { message: 'System request authenticated' } } });
    const mutation = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent('mutation { logout }')}`, {
      headers: { Provision: organization.apiProvision },
    });
    expect(mutation.status).toBe(405);
  });

  test.each([
    ['PROVISION_HEADER_MISSING', '{ authenticatedTestSystem { message } }', () => ({})],
    ['INVALID_PROVISION', '{ authenticatedTestSystem { message } }', () => ({ provision: 'x' })],
    ['NOT_LOGGED_IN', '{ authenticatedTestSession { message } }', asApi],
    ['PROVISION_MISMATCH', '{ authenticatedTestSession { message } }', () => ({ ...asApi(), cookie })],
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
      { errors: [{ message: `Bad request: ${fault}`, extensions: { code: 'BAD_REQUEST' } }] },
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
    [400, 'BAD_USER_INPUT', { query: 'query ($day: LocalDate!) { depositDetails(startDate: $day, endDate: $day) { amount } }' }],
    [400, 'GRAPHQL_PARSE_FAILED', { query: '{' }],
    [400, 'GRAPHQL_VALIDATION_FAILED', { query: '{ nothing }' }],
    [400, 'OPERATION_RESOLUTION_FAILURE', { query: 'query A { __typename } query B { __typename }' }],
  ])('gets the status %d with the code %s, as the table of errors says', async (status, code, request) => {
    const headers = { 'Content-Type': 'application/json', Provision: organization.apiProvision };
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(request) });
    expect([response.status, codes((await response.json()) as never)]).toEqual([status, [code]]);
  });

  test('is told BAD_USER_INPUT of a variable that is no date', async () => {
    const query = 'query ($day: LocalDate!) { depositDetails(startDate: $day, endDate: $day) { depositId } }';
    const { body } = await graphql(gateway.url, query, { ...asApi(), variables: { day: '2024-02-30' } });
    expect(codes(body)).toEqual(['BAD_USER_INPUT']);
  });
});

describe('a login', () => {
  const attempt = (username: string, password: string, provision = organization.webProvision) =>
    graphql(
      gateway.url,
      'mutation ($u: String!, $p: String!) { login(username: $u, password: $p) { username organization sessionExpiresAt } }',
      {
        provision,
        variables: { u: username, p: password },
      },
    );

  test('sets a cookie that scripts and other sites cannot use', async () => {
    const { headers, body } = await attempt('ada', PASSWORD);
    expect(headers.get('set-cookie')).toMatch(/^session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    const { sessionExpiresAt } = body.data?.login as { sessionExpiresAt: string };
    const hours = (Date.parse(sessionExpiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
  });

  test('over https sets a cookie that is bound to this host', async () => {
    const own = await startGateway({ TRUST_PROXY: '127.0.0.1' });
    const { webProvision } = await createOrganization(own.services);
    const response = await fetch(`${own.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-Proto': 'https', Provision: webProvision },
      body: JSON.stringify({ query: `mutation { login(username: "ada", password: "${PASSWORD}") { username } }` }),
    });
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    await own.stop();
  });

  test.each([
    ['a wrong password', 'ada', 'wrong password'],
    ['an unknown user', 'nobody', PASSWORD],
    ['a user of another organization', 'ada@elsewhere', PASSWORD],
    ['a name that cannot be', 'ada\0', PASSWORD],
  ])('fails alike for %s', async (_title, username, password) => {
    const { status, headers, body } = await attempt(username, password);
    expect([status, headers.get('set-cookie')]).toEqual([200, null]);
    expect(body.data).toBeNull();
    expect(body.errors).toEqual([
      expect.objectContaining({ message: 'Username or password is not correct', extensions: { code: 'LOGIN_FAILED' } }),
    ]);
  });

  test('of a disabled user fails like any other', async () => {
    const own = await createOrganization(gateway.services);
    await gateway.services.organizations.disableUser(own.name, 'ada');
    expect(codes((await attempt('ada', PASSWORD, own.webProvision)).body)).toEqual(['LOGIN_FAILED']);
  });

  test('is refused after too many failures, with a time to come back, and others are not', async () => {
    const own = await createOrganization(gateway.services);
    await gateway.services.organizations.createUser({ organization: own.name, username: 'grace', password: PASSWORD, grants: [] });
    for (let failure = 0; failure < 10; failure++) await attempt('ada', 'wrong password', own.webProvision);
    const { status, headers, body } = await attempt('ada', PASSWORD, own.webProvision);
    expect([status, codes(body)]).toEqual([429, ['TOO_MANY_LOGIN_ATTEMPTS']]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await attempt('grace', PASSWORD, own.webProvision)).body.errors).toBeUndefined();
  });

  test('that succeeds counts for nothing', async () => {
    const own = await createOrganization(gateway.services);
    for (let success = 0; success < 12; success++) expect((await attempt('ada', PASSWORD, own.webProvision)).body.errors).toBeUndefined();
  });

  test('leaves nothing in the database but hashes', async () => {
    const own = await createOrganization(gateway.services);
    const token = (await login(gateway.url, own.webProvision)).split('=')[1]!;
    const { rows } = await gateway.database.client.query(`SELECT string_agg(s::text || u::text, '') AS dump FROM session s, "user" u`);
    const { dump } = rows[0] as { dump: string };
    expect(dump).not.toContain(token);
    expect(dump).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(dump).not.toContain(PASSWORD);
    expect(dump).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  });

  test('is written into no log', () => {
    const log = gateway.logLines.join('');
    expect(log).not.toContain(PASSWORD);
    expect(log).not.toContain(organization.webProvision);
    expect(log).not.toContain(cookie.split('=')[1]);
  });
});

describe('introspection', () => {
  const schema = '{ __schema { queryType { name } } }';
  const hidden = [
    '{ a: __schema { queryType { name } } }',
    'query { ...F } fragment F on Query { __type(name: "Query") { name } }',
    schema,
  ];

  test.each(hidden)('is refused to an app that nobody has logged in to: %s', async (query) => {
    const { status, body } = await graphql(gateway.url, query, { provision: organization.webProvision });
    expect([status, codes(body)]).toEqual([200, ['NOT_LOGGED_IN']]);
    expect(body.data).toBeUndefined();
  });

  test('is open to a logged-in user and to a server, whatever it was granted', async () => {
    const granted = { organization: organization.name, kind: 'API', label: '' } as const;
    const server = { provision: await gateway.services.organizations.createProvision({ ...granted, grants: [] }) };
    for (const who of [asUser(), asApi(), server]) {
      expect((await graphql(gateway.url, schema, who)).body).toEqual({ data: { __schema: { queryType: { name: 'Query' } } } });
    }
  });

  test('may be switched off, or on for everyone', async () => {
    for (const [setting, expected] of [
      ['off', ['INTROSPECTION_DISABLED']],
      ['on', undefined],
    ] as const) {
      const own = await startGateway({ INTROSPECTION: setting });
      const { webProvision } = await createOrganization(own.services);
      const credentials = { provision: webProvision, cookie: await login(own.url, webProvision) };
      const { status, body } = await graphql(own.url, schema, credentials);
      expect([status, codes(body)]).toEqual([200, expected]);
      await own.stop();
    }
  });

  test('is not replaced by hints in error messages', async () => {
    const { body } = await graphql(
      gateway.url,
      '{ depositDetail(startDate: "2024-01-01", endDate: "2024-01-01") { depositIdd } }',
      asApi(),
    );
    expect(JSON.stringify(body)).not.toContain('Did you mean');
    expect(JSON.stringify(body)).not.toContain('depositDetails');
  });
});

describe('a request that could come from another site', () => {
  const operation = JSON.stringify({ query: 'mutation { logout }' });
  test.each([
    ['a form', 'POST', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'query=mutation%7Blogout%7D'],
    ['text', 'POST', { 'Content-Type': 'text/plain' }, operation],
    ['text that claims to be JSON', 'POST', { 'Content-Type': 'text/plain;application/json' }, operation],
    [
      'a multipart form',
      'POST',
      { 'Content-Type': 'multipart/form-data; boundary=x' },
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${operation}\r\n--x--`,
    ],
    ['no content type', 'POST', {}, Buffer.from(operation)],
    ['a link', 'GET', {}, undefined],
  ])('is refused before anything runs: %s', async (_title, method, headers, body) => {
    const url = method === 'GET' ? `/graphql?query=${encodeURIComponent('{ viewer { username } }')}` : '/graphql';
    const response = await fetch(gateway.url + url, {
      method,
      headers: { Cookie: cookie, ...headers } as Record<string, string>,
      body: body ?? null,
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.keys((await response.json()) as object)).toEqual(['errors']);
    expect((await graphql(gateway.url, '{ viewer { username } }', asUser())).body.errors).toBeUndefined();
  });
});

describe('an operation beyond the limits', () => {
  const repeat = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n)).join(' ');
  const bomb = `{ ...F0 } ${repeat(16, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F16 on Query { __typename }`;
  test.each([
    ['aliases', `{ ${repeat(51, (n) => `a${n}: __typename`)} }`],
    [
      'aliases in a fragment',
      `{ depositDetails(startDate: "2024-01-02", endDate: "2024-01-02") { ...F } } fragment F on DepositDetail { ${repeat(51, (n) => `a${n}: amount`)} }`,
    ],
    ['root fields', `{ ${repeat(21, (n) => `a${n}: authenticatedTestSystem { message }`)} }`],
    ['tokens', `{ ${repeat(3000, () => '__typename')} }`],
    ['a fragment bomb', bomb],
    ['a fragment that holds itself', '{ ...F } fragment F on Query { __typename ...F }'],
    ['depth', `{ ${'a { '.repeat(500)} a ${'} '.repeat(500)} }`],
    ['directives', `{ __typename ${'@include(if: true) '.repeat(2000)} }`],
    ['a long name', `{ ${'x'.repeat(90_000)} }`],
  ])('is refused shortly: %s', async (_title, query) => {
    const { status, body } = await graphql(gateway.url, query, asApi());
    expect([200, 400]).toContain(status);
    expect(body.data).toBeUndefined();
    expect(body.errors!.length).toBeGreaterThan(0);
    expect(JSON.stringify(body).length).toBeLessThan(2100);
    expect(codes(body)!.every((code) => ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'].includes(code))).toBe(true);
  });

  test('says by how much', async () => {
    const { body } = await graphql(gateway.url, `{ ${repeat(51, (n) => `a${n}: __typename`)} }`, asApi());
    expect(body.errors!.map(({ message }) => message)).toContain('The operation has 51 aliases; the limit is 50');
  });

  test('may be many reports, still in one answer', async () => {
    const fields = repeat(20, (n) => `r${n}: depositDetails(startDate: "2024-01-02", endDate: "2024-01-02") { amount }`);
    const { body } = await graphql(gateway.url, `{ ${fields} }`, asApi());
    expect(Object.values(body.data!)).toEqual(Array.from({ length: 20 }, () => [{ amount: '10.50' }]));
  });

  test('as a hash alone is told that it must be sent', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38' } };
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: organization.apiProvision },
      body: JSON.stringify({ extensions }),
    });
    expect(codes((await response.json()) as never)).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  });

  test('several at once are no batch', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: organization.apiProvision },
      body: JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }]),
    });
    expect(response.status).toBe(400);
  });
});
