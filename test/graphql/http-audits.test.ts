import { randomUUID } from 'node:crypto';
import { serverAudits } from 'graphql-http';
import { graphql, openSession } from '../support/gateway';
import { ask, readAll } from '../support/http-client';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';

const gateway = openGateway({ loggedIn: true });
/** Audits that want 400 where the first edition says 422: a request without a query, and variables. */
const OF_FORMER_EDITION = ['423L', '86EE'];
const headers: Record<string, Readonly<Record<string, string>>> = {};

beforeAll(async () => {
  const { webProvision, apiProvision } = gateway.organization;
  headers['a logged-in user'] = { Provision: webProvision, Cookie: gateway.cookie };
  headers['an app with a bearer token'] = {
    Provision: webProvision,
    Authorization: `Bearer ${await openSession(gateway.url, webProvision)}`,
  };
  headers['a server'] = { Provision: apiProvision };
});

describe.each(['a logged-in user', 'an app with a bearer token', 'a server'])('%s', (who) => {
  const audits = serverAudits({
    url: () => `${gateway.url}/graphql`,
    fetchFn: (url: string, init?: RequestInit) => {
      const all = new Headers(init?.headers);
      for (const [name, value] of Object.entries(headers[who]!)) all.set(name, value);
      return fetch(url, { ...init, headers: all });
    },
  });

  test('asks in all 61 audits of GraphQL over HTTP', () => expect(audits).toHaveLength(61));

  test.each(audits.map(({ name, id, fn }) => [name, id, fn] as const))(
    'finds that the gateway passes an audit of GraphQL over HTTP, or has the status of the newer edition: %s',
    async (_name, id, run) => {
      const result = await run();
      if (OF_FORMER_EDITION.includes(id)) expect(result).toMatchObject({ response: { status: 422 } });
      else expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
    },
  );
});

const RESPONSE_JSON = 'application/graphql-response+json';
/** What clients accept: Apollo Client, urql and graphql-request name both types; curl and fetch by itself take any. */
const ACCEPTS = [`${RESPONSE_JSON}, application/json;q=0.9`, RESPONSE_JSON, 'application/json', '*/*', undefined];
const FIELDS = 'a: __typename';
const BODY = { query: `{ ${FIELDS} }` };
const PARTIAL = { query: `{ ${FIELDS} deposits(first: 0) { totalCount } }` };
/** A request and its statuses: in the media type of GraphQL, for JSON alone, and for any type. */
const CASES: readonly [what: string, code: string | undefined, statuses: readonly number[], body: unknown, init?: RequestInit][] = [
  ['a whole answer', undefined, [200, 200, 200], BODY],
  ['a field that fails beside others', 'BAD_USER_INPUT', [294, 200, 200], PARTIAL],
  ['a field that fails alone', 'BAD_USER_INPUT', [294, 200, 200], { query: '{ deposits(first: 0) { totalCount } }' }],
  [
    'a field whose value a variable makes wrong',
    'BAD_USER_INPUT',
    [294, 200, 200],
    { query: 'query ($n: Int = 0) { deposits(first: $n) { totalCount } }' },
  ],
  [
    'a mutation that fails, so that all data is null',
    'NOT_LOGGED_IN',
    [294, 200, 200],
    { query: 'mutation { deleteReport(input: { id: "x" }) { deletedId } }' },
  ],
  [
    'an unknown hash of a document',
    'PERSISTED_QUERY_NOT_FOUND',
    [200, 200, 200],
    { extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } },
  ],
  ['a document that does not parse', 'GRAPHQL_PARSE_FAILED', [400, 200, 400], { query: '{' }],
  ['a document with too many tokens', 'GRAPHQL_PARSE_FAILED', [400, 200, 400], { query: `{ ${'a '.repeat(3000)} }` }],
  ['a document that is not valid', 'GRAPHQL_VALIDATION_FAILED', [422, 200, 400], { query: '{ nothing }' }],
  [
    'a document beyond a limit',
    'GRAPHQL_VALIDATION_FAILED',
    [422, 200, 400],
    { query: `{ ${Array.from({ length: 51 }, (_, n) => `a${n}: __typename`).join(' ')} }` },
  ],
  [
    'a document that repeats fields too often',
    'GRAPHQL_VALIDATION_FAILED',
    [422, 200, 400],
    { query: `{ ${'viewer { username } '.repeat(280)} }` },
  ],
  [
    'a document that costs too much',
    'GRAPHQL_VALIDATION_FAILED',
    [422, 200, 400],
    { query: '{ deposits(first: 1000) { nodes { transactions(first: 1000) { nodes { id } } } } }' },
  ],
  ['a subscription', 'GRAPHQL_VALIDATION_FAILED', [422, 200, 400], { query: 'subscription { x }' }],
  [
    'a variable that is missing',
    'BAD_USER_INPUT',
    [422, 200, 400],
    { query: 'query ($day: LocalDate!) { deposits(startDate: $day) { totalCount } }' },
  ],
  [
    'a variable of another type',
    'BAD_USER_INPUT',
    [422, 200, 400],
    { query: 'query ($n: Int) { deposits(first: $n) { totalCount } }', variables: { n: 'x' } },
  ],
  [
    'a scalar that the gateway refuses',
    'BAD_USER_INPUT',
    [422, 200, 400],
    { query: 'query ($day: LocalDate!) { deposits(startDate: $day) { totalCount } }', variables: { day: '2024-02-30' } },
  ],
  [
    'two operations and no name',
    'OPERATION_RESOLUTION_FAILURE',
    [422, 200, 400],
    { query: 'query A { a: __typename } query B { b: __typename }' },
  ],
  [
    'a name that no operation has',
    'OPERATION_RESOLUTION_FAILURE',
    [422, 200, 400],
    { query: 'query A { a: __typename }', operationName: 'C' },
  ],
  ['no query', 'BAD_REQUEST', [422, 400, 400], { qeury: '{ __typename }' }],
  ['variables in a list', 'BAD_REQUEST', [422, 400, 400], { ...BODY, variables: [7] }],
  ['a batch', 'BAD_REQUEST', [422, 400, 400], [BODY, BODY]],
  ['no JSON', 'BAD_REQUEST', [400, 400, 400], '{"query":'],
  ['too long a body', 'PAYLOAD_TOO_LARGE', [413, 413, 413], { query: 'x'.repeat(101 * 1024) }],
  ['a method of another kind', 'BAD_REQUEST', [405, 405, 405], BODY, { method: 'PUT' }],
  ['text', 'UNSUPPORTED_MEDIA_TYPE', [415, 415, 415], BODY, { headers: { 'Content-Type': 'text/plain' } }],
  [
    'a form',
    'UNSUPPORTED_MEDIA_TYPE',
    [415, 415, 415],
    'query=%7B__typename%7D',
    { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
  ],
  ['files', 'UNSUPPORTED_MEDIA_TYPE', [415, 415, 415], BODY, { headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }],
  ['a document alone', 'UNSUPPORTED_MEDIA_TYPE', [415, 415, 415], '{ __typename }', { headers: { 'Content-Type': 'application/graphql' } }],
  ['the type of answers', 'UNSUPPORTED_MEDIA_TYPE', [415, 415, 415], BODY, { headers: { 'Content-Type': RESPONSE_JSON } }],
  ['a type that ends as JSON', 'UNSUPPORTED_MEDIA_TYPE', [415, 415, 415], BODY, { headers: { 'Content-Type': 'application/jsonp' } }],
  ['another charset', 'UNSUPPORTED_MEDIA_TYPE', [415, 415, 415], BODY, { headers: { 'Content-Type': 'application/json; charset=latin1' } }],
  ['JSON by another spelling', undefined, [200, 200, 200], BODY, { headers: { 'Content-Type': 'Application/JSON;charset="UTF-8"' } }],
];

describe('a client', () => {
  const post = async (accept: string | undefined, body: unknown, { headers, ...init }: RequestInit = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const all = { 'Content-Type': 'application/json', Provision: gateway.organization.apiProvision, ...(headers as object) };
    const answer = await ask(`${gateway.url}/graphql`, {
      method: init.method ?? 'POST',
      body: text,
      headers: { ...all, 'Content-Length': String(Buffer.byteLength(text)), ...(accept !== undefined && { Accept: accept }) },
    });
    const { errors } = JSON.parse((await readAll(answer)).body.toString()) as { errors?: { extensions: { code: string } }[] };
    return [answer.statusCode, answer.headers['content-type'], errors?.[0]?.extensions.code];
  };

  test.each(CASES)(
    'gets the status of the edition in its media type, and in JSON that of before: %s',
    async (_what, code, statuses, ...asked) => {
      const [inResponseJson, inJson, inAny] = statuses;
      const json = 'application/json; charset=utf-8';
      expect(await Promise.all(ACCEPTS.map((accept) => post(accept, ...asked)))).toEqual([
        [inResponseJson, `${RESPONSE_JSON}; charset=utf-8`, code],
        [inResponseJson, `${RESPONSE_JSON}; charset=utf-8`, code],
        [inJson, json, code],
        [inAny, json, code],
        [inAny, json, code],
      ]);
    },
  );

  test('is told by Allow which method a mutation, or any operation, takes', async () => {
    const headers = { Provision: gateway.organization.apiProvision, Accept: RESPONSE_JSON };
    const get = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent('mutation { logout { ended } }')}`, { headers });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const put = await fetch(`${gateway.url}/graphql`, { method: 'DELETE', headers });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  test('with an unknown provision learns that first, whatever type its body has', async () => {
    const headers = { 'Content-Type': 'text/plain', Accept: RESPONSE_JSON, Provision: randomUUID() };
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(BODY) });
    expect([response.status, await response.json()]).toEqual([
      422,
      { errors: [expect.objectContaining({ extensions: { code: 'INVALID_PROVISION', requestId: REQUEST_ID } })] },
    ]);
  });
});

/** The warnings and errors of the log, from a line on. */
const failuresSince = (line: number): string[] =>
  gateway.logLines.slice(line).filter((text) => (JSON.parse(text) as { level: number }).level > 30);

describe('an operation that does not fit the schema', () => {
  test.each(['subscription { x }', 'subscription S { __typename }', 'query Q { __typename } subscription S { x }'])(
    'is refused as invalid, and is no failure of the gateway, when the schema lacks its kind: %s',
    async (query) => {
      const logged = gateway.logLines.length;
      const { status, body } = await graphql(gateway.url, query, { provision: gateway.organization.apiProvision });
      expect([status, body]).toEqual([
        400,
        {
          errors: [
            {
              message: 'There are no subscriptions here',
              locations: expect.any(Array) as unknown,
              extensions: { code: 'GRAPHQL_VALIDATION_FAILED', requestId: REQUEST_ID },
            },
          ],
        },
      ]);
      expect(failuresSince(logged)).toEqual([]);
    },
  );

  test.each([
    ['mutation { nothing }', 'Cannot query field "nothing" on type "Mutation".'],
    ['mutation M($n: Nothing!) { logout { ended } }', 'Unknown type "Nothing".'],
    ['mutation { ... on Nothing { logout { ended } } }', 'Unknown type "Nothing".'],
  ])('is refused as invalid, and is no failure of the gateway, when the schema lacks its type or field: %s', async (query, message) => {
    const logged = gateway.logLines.length;
    const { status, body } = await graphql(gateway.url, query, { provision: gateway.organization.webProvision });
    expect([status, body.errors?.[0]]).toEqual([
      400,
      { message, locations: expect.any(Array) as unknown, extensions: { code: 'GRAPHQL_VALIDATION_FAILED', requestId: REQUEST_ID } },
    ]);
    expect(failuresSince(logged)).toEqual([]);
  });
});
