import { createOrganization, graphql, login, v2Line, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway({ lines: [v2Line({ allocation_amount: '10.50' })], loggedIn: true });
const { organization } = gateway;

const asApi = () => ({ provision: organization.apiProvision });
const asUser = () => ({ provision: organization.webProvision, cookie: gateway.cookie });
const codes = (body: { errors?: { extensions: { code: string } }[] }) => body.errors?.map(({ extensions }) => extensions.code);

const repeat = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n)).join(' ');

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
    const server = { provision: await gateway.services.provisions.create({ ...granted, grants: [] }) };
    for (const who of [asUser(), asApi(), server]) {
      expect((await graphql(gateway.url, schema, who)).body).toEqual({ data: { __schema: { queryType: { name: 'Query' } } } });
    }
  });

  test('may be switched off, or on for everyone', async () => {
    for (const [setting, expected] of [
      ['off', ['INTROSPECTION_DISABLED']],
      ['on', undefined],
    ] as const) {
      await withGateway({ INTROSPECTION: setting }, async (own) => {
        const { webProvision } = await createOrganization(own.services);
        const credentials = { provision: webProvision, cookie: await login(own.url, webProvision) };
        const { status, body } = await graphql(own.url, schema, credentials);
        expect([status, codes(body)]).toEqual([200, expected]);
      });
    }
  });

  test('is not replaced by hints in error messages', async () => {
    const { body } = await graphql(gateway.url, '{ depositDetail(startDate: "2024-01-01", endDate: "2024-01-01") { depositIdd } }', {
      provision: organization.webProvision,
    });
    expect(JSON.stringify(body)).not.toContain('Did you mean');
    expect(JSON.stringify(body)).not.toContain('depositDetails');
  });
});

describe('a request that could come from another site', () => {
  const operation = JSON.stringify({ query: 'mutation { logout { ended } }' });
  test.each([
    ['a form', 'POST', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'query=mutation%7Blogout%7Bended%7D%7D'],
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
      headers: { Cookie: gateway.cookie, ...headers } as Record<string, string>,
      body: body ?? null,
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.keys((await response.json()) as object)).toEqual(['errors']);
    expect((await graphql(gateway.url, '{ viewer { username } }', asUser())).body.errors).toBeUndefined();
  });
});

describe('an operation beyond the limits', () => {
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
  ])('is refused in a short answer: %s', async (_title, query) => {
    const { status, body } = await graphql(gateway.url, query, asApi());
    expect([200, 400]).toContain(status);
    expect(body.data).toBeUndefined();
    expect(body.errors!.length).toBeGreaterThan(0);
    expect(JSON.stringify(body).length).toBeLessThan(2100);
    expect(codes(body)!.every((code) => ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'].includes(code))).toBe(true);
  });

  test('is refused with an error that says by how much', async () => {
    const { body } = await graphql(gateway.url, `{ ${repeat(51, (n) => `a${n}: __typename`)} }`, asApi());
    expect(body.errors!.map(({ message }) => message)).toContain('The operation has 51 aliases; the limit is 50');
  });
});

test('an operation with a summary for each of 24 funds is told of groupBy', async () => {
  const summary = (n: number) => `f${n}: depositSummary(filter: { designationIds: [${n}] }) { all { lines } }`;
  const advice = 'One depositSummary answers many groups: ask for them by groupBy, in place of 24 times';
  for (const query of [`{ ${repeat(24, summary)} }`, `{ ...F } fragment F on Query { ${repeat(24, summary)} }`]) {
    const { body } = await graphql(gateway.url, query, asApi());
    expect(body.errors!.map(({ message }) => message)).toContain(`The operation has 24 root fields; the limit is 20. ${advice}`);
  }
});

describe("a frontend's operation", () => {
  test('may be many reports, which come in one answer', async () => {
    const fields = repeat(20, (n) => `r${n}: depositDetails(startDate: "2024-01-02", endDate: "2024-01-02") { amount }`);
    const { body } = await graphql(gateway.url, `{ ${fields} }`, asApi());
    expect(Object.values(body.data!)).toEqual(Array.from({ length: 20 }, () => [{ amount: '10.50' }]));
  });

  test('that is sent as a hash alone gets the error that asks for its text', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38' } };
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: organization.apiProvision },
      body: JSON.stringify({ extensions }),
    });
    expect(codes((await response.json()) as never)).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  });

  test('that is sent in a batch with another is refused', async () => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Provision: organization.apiProvision },
      body: JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }]),
    });
    expect(response.status).toBe(400);
  });
});
