import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDatabaseProxy } from '../support/database-proxy';
import { readDocument, sectionOf, tableOf } from '../support/documents';
import { createOrganization, v2Line, withGateway } from '../support/gateway';
import { ask, readAll, type Asking } from '../support/http-client';
import { EVERYTHING, fillReport } from '../support/long-report';
import { openGateway } from '../support/open-gateway';
import { exchange } from '../support/raw-http';

const rows = tableOf(sectionOf(readDocument('docs/frontend.md'), 'GraphQL over HTTP'), 'the edition asks');
const gateway = openGateway({ lines: [v2Line()] });

const TYPED = 'application/graphql-response+json; charset=utf-8';
const PLAIN = 'application/json; charset=utf-8';
const NAME = '{ __typename }';
const NAMED = { data: { __typename: 'Query' } };
/** Data beside the error of a field. */
const PARTIAL = '{ deposits(first: 0) { totalCount } dataVersion { number } }';

interface Answer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly allow: string | undefined;
  readonly body: { data?: unknown; errors?: { message: string; extensions: { code: string } }[] };
}

async function send(path: string, { headers = {}, body, ...asking }: Asking, url = gateway.url): Promise<Answer> {
  const given = { Provision: gateway.organization.apiProvision, Accept: TYPED, ...headers };
  const length = body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) };
  const answer = await ask(`${url}${path}`, { ...asking, headers: { ...given, ...length }, ...(body !== undefined && { body }) });
  const text = (await readAll(answer)).body.toString();
  const { 'content-type': type, allow } = answer.headers;
  return { status: answer.statusCode, type, allow, body: (text === '' ? {} : JSON.parse(text)) as Answer['body'] };
}

const JSON_BODY = { 'Content-Type': 'application/json' };
const post = (body: object | string, headers: Readonly<Record<string, string>> = {}, url?: string): Promise<Answer> =>
  send(
    '/graphql',
    { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers: { ...JSON_BODY, ...headers } },
    url,
  );
const get = (parameters: Readonly<Record<string, string>>, asking: Asking = {}): Promise<Answer> =>
  send(`/graphql?${new URLSearchParams(parameters).toString()}`, asking);
/** The status of an answer, with the code of its first error. */
const fault = ({ status, body }: Answer) => [status, body.errors?.[0]?.extensions.code];
const statusOf = async (answer: Promise<Answer>): Promise<number | undefined> => (await answer).status;

/** A mutation whose effect would be seen: it ends the session, if it runs. */
const MUTATION = 'mutation { logout { ended } }';

/** Documents that are not valid, each by another rule of GraphQL. */
const INVALID = [
  'query A { __typename } query A { __typename }',
  'query A { __typename } { __typename }',
  '{ dataVersion }',
  '{ __typename { x } }',
  '{ nothing }',
  '{ ...f }',
  'fragment f on Query { __typename } { __typename }',
  'fragment f on Query { ...f } { ...f }',
  'fragment f on Nothing { __typename } { ...f }',
  'fragment f on LocalDate { __typename } { ...f }',
  '{ dataVersion { ... on Query { __typename } } }',
  'query ($a: Int) { __typename }',
  '{ deposits(first: $a) { totalCount } }',
  'query ($a: Int, $a: Int) { deposits(first: $a) { totalCount } }',
  'query ($a: String) { deposits(first: $a) { totalCount } }',
  'query ($a: DataVersion) { __typename }',
  '{ __typename @nothing }',
  '{ __typename @skip(if: true) @skip(if: true) }',
  '{ __typename @skip }',
  '{ deposits(nothing: 1) { totalCount } }',
  '{ deposits(first: 1, first: 1) { totalCount } }',
  '{ deposits(first: "x") { totalCount } }',
  '{ a: __typename a: dataVersion { number } }',
  '{ depositSummary(filter: { amount: { min: "1.00", min: "1.00" } }) { all { lines } } }',
  'type T { x: Int }',
];

/** Tries each row of the table, by what the edition asks. */
const tried: Readonly<Record<string, () => Promise<unknown>>> = {
  'The schema MUST be served at a URL.': async () => expect(await post({ query: NAME })).toMatchObject({ status: 200, body: NAMED }),
  'A refused client SHOULD get a 4xx or 5xx.': async () => {
    const stranger = { Provision: crypto.randomUUID() };
    expect(fault(await post('{"query":', stranger))).toEqual([422, 'INVALID_PROVISION']);
  },
  'A well-formed request SHOULD NOT be refused for what it holds.': async () => {
    const query = '{ dataVersion { number } donors(first: 1) { totalCount } }';
    const refused = await post({ query }, { Provision: gateway.organization.webProvision });
    expect([refused.status, Object.keys(refused.body.data as object)]).toEqual([294, ['dataVersion', 'donors']]);
    await withGateway({ COST_PER_MINUTE: '1' }, async ({ url, services }) => {
      const { apiProvision } = await createOrganization(services);
      expect(fault(await post({ query: PARTIAL }, { Provision: apiProvision }, url))).toEqual([429, 'BUDGET_EXCEEDED']);
    });
  },
  'JSON MUST be supported.': async () => {
    expect((await post({ query: NAME })).body).toEqual(NAMED);
    expect(await statusOf(post(`query=${NAME}`, { 'Content-Type': 'application/x-www-form-urlencoded' }))).toBe(415);
  },
  'UTF-8 MUST be assumed where no charset is given.': async () => {
    const { body } = await post({ query: '{ deposit(depositId: "é") { id } }' }, { Accept: 'application/graphql-response+json' });
    expect(body).toEqual({ data: { deposit: null } });
    expect((await post({ query: '{ é }' })).body.errors![0]!.message).toBe('Syntax Error: Unexpected character: U+00E9.');
  },
  'POST MUST be accepted.': async () => {
    expect([await statusOf(post({ query: NAME })), await statusOf(get({ query: NAME }))]).toEqual([200, 200]);
  },
  'A GET MUST have its parameters in the address, variables and extensions in JSON.': async () => {
    const query = 'query null($n: Int) { deposits(first: $n) { totalCount } }';
    const given = { query, operationName: 'null', variables: '{"n":1}', extensions: '{}' };
    expect(await get(given)).toMatchObject({ status: 200, body: { data: { deposits: { totalCount: 1 } } } });
    for (const name of ['variables', 'extensions']) {
      for (const value of ['x', '[1]', '"x"']) expect(fault(await get({ ...given, [name]: value }))).toEqual([422, 'BAD_REQUEST']);
    }
  },
  'An empty parameter of a GET must mean that it is not given.': async () => {
    const empty = { operationName: '', variables: '', extensions: '' };
    expect(await get({ query: 'query Named { __typename }', ...empty })).toMatchObject({ status: 200, body: NAMED });
  },
  'A mutation by GET MUST get a 4xx; 405 is RECOMMENDED.': async () => {
    expect(await get({ query: MUTATION })).toMatchObject({ status: 405, allow: 'POST', body: { errors: [{}] } });
  },
  'A POST without Content-Type SHOULD be refused with a 4xx.': async () => {
    expect(fault(await send('/graphql', { method: 'POST', body: JSON.stringify({ query: NAME }) }))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]);
  },
  'Unknown members of a body MUST be ignored.': async () => {
    expect(await post({ query: NAME, id: 1, documentId: 'x', other: { query: '{' } })).toMatchObject({ status: 200, body: NAMED });
  },
  'null for an optional member of a body must mean that it is not given.': async () => {
    const given = { query: 'query Named { __typename }', operationName: null, variables: null, extensions: null };
    expect(await post(given)).toMatchObject({ status: 200, body: NAMED });
  },
  'A server must comply with HTTP (RFC 9110).': async () => {
    expect(await get({ query: NAME }, { method: 'HEAD' })).toMatchObject({ status: 405, allow: 'GET, POST', body: {} });
  },
  'A body MUST be a result of GraphQL.': async () => {
    const bodies = await Promise.all([NAME, PARTIAL, '{'].map(async (query) => Object.keys((await post({ query })).body).sort()));
    expect(bodies).toEqual([['data'], ['data', 'errors'], ['errors']]);
  },
  'The media type MUST be named, its charset SHOULD be.': async () => {
    for (const query of [NAME, PARTIAL, '{']) expect((await post({ query })).type).toBe(TYPED);
  },
  'application/graphql-response+json MUST be supported.': async () => {
    expect((await post({ query: NAME }, { Accept: 'application/graphql-response+json' })).type).toBe(TYPED);
  },
  'The type MUST be the one that Accept puts highest.': async () => {
    const accepted: readonly (readonly [accept: string, type: string])[] = [
      ['application/graphql-response+json, application/json;q=0.9', TYPED],
      ['application/json;q=0.9, application/graphql-response+json', TYPED],
      ['application/graphql-response+json;q=0.5, application/json', PLAIN],
      ['text/html, application/graphql-response+json;q=0.1', TYPED],
      ['text/html, */*;q=0.1', PLAIN],
    ];
    for (const [Accept, type] of accepted) expect([Accept, (await post({ query: NAME }, { Accept })).type]).toEqual([Accept, type]);
  },
  'Accept without a type of the server SHOULD be answered 406.': async () => {
    const refused = await post({ query: NAME }, { Accept: 'text/html' });
    expect([fault(refused), refused.body.data]).toEqual([[406, 'NOT_ACCEPTABLE'], undefined]);
  },
  'A client of application/json SHOULD get the same statuses, and JSON where it is 2xx.': async () => {
    const inJson = await Promise.all([NAME, PARTIAL, '{', '{ nothing }'].map((query) => post({ query }, { Accept: 'application/json' })));
    expect(inJson.map(({ status, type }) => [status, type])).toEqual(Array(4).fill([200, PLAIN]));
  },
  'All validation rules of GraphQL SHOULD be applied.': async () => {
    for (const query of INVALID) expect([query, ...fault(await post({ query }))]).toEqual([query, 422, 'GRAPHQL_VALIDATION_FAILED']);
  },
  'Where no result can be made, a 4xx or 5xx SHOULD, and the type of GraphQL MUST NOT, be used.': async () => {
    const [unknown, long] = await Promise.all([send('/graphq', {}), post({ query: NAME }, { X: 'x'.repeat(20_000) })]);
    expect([unknown.status, unknown.type, long.status, long.type]).toEqual([404, PLAIN, 431, PLAIN]);
  },
  'A result with data that is not null MUST be 2xx.': async () => {
    expect(await Promise.all([NAME, PARTIAL].map((query) => statusOf(post({ query }))))).toEqual([200, 294]);
    await withGateway({ DATABASE_URL: gateway.database.url, REPORT_CONCURRENCY: '1', REPORT_QUEUE: '0' }, async ({ url, services }) => {
      const own = await createOrganization(services);
      await fillReport(gateway.database.client, own.id, 5000, `repeat('m', 2500)`);
      const headers = { Provision: own.apiProvision };
      const reader = await ask(url + EVERYTHING, { headers });
      const query = '{ dataVersion { number } depositDetailsConnection(orderBy: { field: AMOUNT }) { nodes { amount } } }';
      const answers = await Promise.all([TYPED, 'application/json'].map((Accept) => post({ query }, { ...headers, Accept }, url)));
      reader.destroy();
      const data = { dataVersion: { number: 1 }, depositDetailsConnection: null };
      expect(answers.map(({ status, body }) => [status, body.data])).toEqual([
        [294, data],
        [429, data],
      ]);
    });
  },
  'A result with data and no errors SHOULD be 200.': async () => expect(await statusOf(post({ query: NAME }))).toBe(200),
  'A result with data, even null, and errors SHOULD be 294.': async () => {
    expect(await statusOf(post({ query: PARTIAL }))).toBe(294);
    const nothing = await post({ query: 'mutation { deleteReport(input: { id: "x" }) { deletedId } }' });
    expect(nothing).toMatchObject({ status: 294, body: { data: null } });
    await whileLoginsAreRefused(async (login) => {
      const refused = await post({ query: `mutation { ${login} }` }, asWeb());
      expect(refused).toMatchObject({ status: 429, body: { errors: [{ extensions: { code: 'TOO_MANY_LOGIN_ATTEMPTS' } }] } });
    });
  },
  'A result without data MUST be 4xx or 5xx.': async () => {
    expect(await statusOf(post({ query: '{ nothing }' }))).toBe(422);
    const extensions = { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } };
    expect(fault(await post({ extensions }))).toEqual([200, 'PERSISTED_QUERY_NOT_FOUND']);
  },
  'An unsupported method SHOULD be answered 405.': async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect(await send('/graphql', { method, headers: JSON_BODY })).toMatchObject({ status: 405, allow: 'GET, POST' });
    }
  },
  'An unsupported Content-Type SHOULD be answered 415.': async () => {
    expect(await statusOf(post({ query: NAME }, { 'Content-Type': 'application/graphql' }))).toBe(415);
  },
  'A request that does not come in time SHOULD be answered 408.': async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nProvision: ${gateway.organization.apiProvision}\r\nContent-Type: application/json\r\n`;
    expect(await exchange(gateway.url, `${head}Content-Length: 100\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 408 /);
  },
  'An address that is too long SHOULD be answered 414.': async () => expect(await statusOf(get({ query: 'x'.repeat(20_000) }))).toBe(431),
  'Headers that are too long SHOULD be answered 431.': async () => {
    expect(await statusOf(post({ query: NAME }, { X: 'x'.repeat(16 * 1024) }))).toBe(431);
  },
  'A body that is too long SHOULD be answered 413.': async () => {
    expect(await statusOf(post({ query: 'x'.repeat(100 * 1024) }))).toBe(413);
  },
  'A body that is no JSON SHOULD be answered 400.': async () => {
    for (const body of ['NONSENSE', '{"query":']) expect(await statusOf(post(body))).toBe(400);
  },
  'JSON that is no well-formed request SHOULD be answered 422.': async () => {
    const members = [{ qeury: NAME }, { query: 1 }, { query: NAME, variables: [7] }, { query: NAME, operationName: 7 }, {}, []];
    for (const body of [...members.map((member) => JSON.stringify(member)), '"text"', '7', 'null']) {
      expect([body, ...fault(await post(body))]).toEqual([body, 422, 'BAD_REQUEST']);
    }
  },
  'A document that does not parse SHOULD be answered 400.': async () => expect(await statusOf(post({ query: '{' }))).toBe(400),
  'A document that is not valid SHOULD be answered 422, and not executed.': async () => {
    expect(await post({ query: `{ ${NAME.slice(1, -1)} nothing }` })).toMatchObject({ status: 422, body: { errors: [{}] } });
  },
  'An operation that is not clear SHOULD be answered 422, and not executed.': async () => {
    const query = 'query A { __typename } query B { __typename }';
    for (const operationName of [undefined, 'C']) {
      expect((await post({ query, operationName })).body).not.toHaveProperty('data');
      expect(await statusOf(post({ query, operationName }))).toBe(422);
    }
  },
  'Variables that do not fit SHOULD be answered 422, and the operation not executed.': async () => {
    const query = 'query ($n: Int!) { deposits(first: $n) { totalCount } }';
    for (const variables of [{}, { n: 'x' }, { n: null }]) {
      const refused = await post({ query, variables });
      expect([fault(refused), refused.body.data]).toEqual([[422, 'BAD_USER_INPUT'], undefined]);
    }
  },
  'A client that may not send the request SHOULD get 401, 403 or the like.': async () => {
    const folder = mkdtempSync(join(tmpdir(), 'manifest-'));
    try {
      writeFileSync(join(folder, 'manifest.json'), '{}');
      await withGateway({ TRUSTED_DOCUMENTS: join(folder, 'manifest.json') }, async ({ url, services }) => {
        const { webProvision } = await createOrganization(services);
        expect(fault(await post({ query: NAME }, { Provision: webProvision }, url))).toEqual([403, 'UNTRUSTED_DOCUMENT']);
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(await statusOf(post({ query: NAME }, { Provision: 'x' }))).toBe(422);
  },
  'A server that cannot execute now SHOULD answer 503.': async () => {
    const proxy = await startDatabaseProxy(gateway.database.url);
    await withGateway({ DATABASE_URL: proxy.url }, async ({ url }) => {
      await proxy.close();
      expect(fault(await post({ query: NAME }, {}, url))).toEqual([503, 'NO_DATA_SOURCE_CONNECTION']);
    });
    await withGateway({ UNDER_MAINTENANCE: 'on' }, async ({ url }) => {
      expect(fault(await post({ query: NAME }, {}, url))).toEqual([422, 'UNDER_MAINTENANCE']);
    });
  },
};

const asWeb = () => ({ Provision: gateway.organization.webProvision });

/** Guesses a password until the gateway refuses further logins, and gives the field of such a login. */
async function whileLoginsAreRefused(run: (login: string) => Promise<void>): Promise<void> {
  const login = `login(input: { username: "${crypto.randomUUID()}", password: "wrong" }) { viewer { username } }`;
  for (let guess = 0; guess < 10; guess++) await post({ query: `mutation { ${login} }` }, asWeb());
  await run(login);
}

test('a reader finds each rule of the edition in the document, and each of them is tried', () => {
  expect(rows.map(([rule]) => rule)).toEqual(Object.keys(tried));
  expect(rows.filter(([, answer]) => !answer)).toEqual([]);
});

test.each(Object.entries(tried))('%s', (_rule, run) => run());
