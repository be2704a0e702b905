import { randomUUID } from 'node:crypto';
import { openGateway } from '../support/open-gateway';
import { exchange, parseAnswer } from '../support/raw-http';
import { REQUEST_ID } from '../support/request-id';

const gateway = openGateway();
const { organization } = gateway;

async function post(body: string, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, type: response.headers.get('content-type'), body: (await response.json()) as object };
}
const ask = (query: string) => post(JSON.stringify({ query }), { Provision: organization.apiProvision });
const repeat = (count: number, text: string): string => Array.from({ length: count }, () => text).join(' ');
const missing = {
  errors: [{ message: 'Provision header missing', extensions: { code: 'PROVISION_HEADER_MISSING', requestId: REQUEST_ID } }],
};
const invalid = { errors: [{ message: 'Invalid provision', extensions: { code: 'INVALID_PROVISION', requestId: REQUEST_ID } }] };

describe('a caller without a valid provision', () => {
  test.each([
    ['no JSON', '{'],
    ['no GraphQL', JSON.stringify({ query: '{' })],
    ['more than may be sent', JSON.stringify({ query: `#${'x'.repeat(200_000)}` })],
    ['fields again and again', JSON.stringify({ query: `{ ${repeat(280, 'viewer { username }')} }` })],
    ['a hash', JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } })],
  ])('is told that its provision is missing or invalid before anything is parsed: %s', async (_title, body) => {
    expect(await post(body, {})).toEqual({ status: 200, type: 'application/json; charset=utf-8', body: missing });
    expect(await post(body, { Provision: randomUUID() })).toEqual({ status: 200, type: 'application/json; charset=utf-8', body: invalid });
  });

  test('is told of its missing provision by the status too when it accepts the media type of GraphQL answers', async () => {
    expect(await post('{', { Accept: 'application/graphql-response+json, application/json;q=0.9' })).toEqual({
      ...{ status: 422, type: 'application/graphql-response+json; charset=utf-8' },
      body: missing,
    });
  });
});

describe('a document that would keep everybody waiting', () => {
  const fragments = (count: number) =>
    Array.from(
      { length: count },
      (_, n) => `fragment f${n} on Query { ${n + 1 < count ? `...f${n + 1} ...f${n + 1}` : ''} viewer { username } }`,
    );

  test.each([
    ['one field again and again', `{ ${repeat(280, 'viewer { username }')} }`, 'pairs of repeated fields'],
    [
      'in lists below',
      // Validation, which compares them, would tell of the unknown field.
      `{ unknown ${repeat(20, `deposit(depositId: "1") { ${repeat(10, 'transactions { nodes { id } }')} }`)} }`,
      'pairs of repeated fields',
    ],
    ['by fragments', `{ ...f0 } ${fragments(60).join(' ')}`, 'pairs of repeated fields'],
    ['by inline fragments', `{ ${repeat(200, '... on Query { viewer { username } }')} }`, 'pairs of repeated fields'],
  ])('is refused before it is compared with itself: %s', async (_title, query, what) => {
    const { body } = await ask(query);
    expect(body).toMatchObject({
      errors: [
        { message: expect.stringContaining(what) as string, extensions: { code: 'GRAPHQL_VALIDATION_FAILED', requestId: REQUEST_ID } },
      ],
    });
  });

  test('is refused wherever it stands in the address', async () => {
    const query = encodeURIComponent(`{ ${repeat(280, 'viewer { username }')} }`);
    for (const path of [`/graphql?query=${query}`, `/graphql?x=1#&query=${query}`]) {
      const { body } = parseAnswer(
        await exchange(
          gateway.url,
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nProvision: ${organization.apiProvision}\r\nConnection: close\r\n\r\n`,
        ),
      );
      expect(body).toMatchObject({ errors: [{ message: expect.stringContaining('pairs of repeated fields') as string }] });
    }
  });

  test('is refused when it asks for the schema over and over', async () => {
    const types = '__schema { types { name fields { name args { name type { ofType { name } } } type { ofType { ofType { name } } } } } }';
    const { body } = await ask(`{ ${Array.from({ length: 20 }, (_, n) => `a${n}: ${types}`).join(' ')} }`);
    expect(body).toEqual({
      errors: [
        {
          message: expect.stringMatching(
            /^The introspection costs \d+ values; the limit is 25000\. Most come from __schema: ask for fewer there$/,
          ) as string,
          extensions: {
            code: 'GRAPHQL_VALIDATION_FAILED',
            cost: expect.any(Number) as number,
            limit: 25_000,
            field: '__schema',
            requestId: REQUEST_ID,
          },
        },
      ],
    });
  });
});

describe("an app's document", () => {
  test('may repeat fields in its fragments', async () => {
    const parts = Array.from({ length: 30 }, (_, n) => `fragment part${n} on Viewer { __typename username organization }`);
    const { body } = await ask(`{ viewer { ${parts.map((_part, n) => `...part${n}`).join(' ')} } } ${parts.join(' ')}`);
    expect(body).toEqual({ data: { viewer: null } });
  });
});
