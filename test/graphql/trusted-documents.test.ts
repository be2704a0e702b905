import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createOrganization, login, PASSWORD, startGateway, withGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { REQUEST_ID } from '../support/request-id';

const TRUSTED = '{ authenticatedTestSystem { message } }';
const LOGIN =
  'mutation ($username: String!, $password: String!) { login(input: { username: $username, password: $password }) { viewer { username } } }';
const NAMED = 'query Named { authenticatedTestSystem { message } }';
const OTHER = '{ viewer { username } }';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hashOnly = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } } });

let directory: string;
let manifest: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'trusted-documents-'));
  manifest = join(directory, 'manifest.json');
  writeFileSync(manifest, JSON.stringify({ [sha256(TRUSTED)]: TRUSTED, [sha256(LOGIN)]: LOGIN, [sha256(NAMED)]: NAMED }));
});
const gateway = openGateway({ settings: () => ({ TRUSTED_DOCUMENTS: manifest }) });
const { organization } = gateway;
afterAll(() => rmSync(directory, { recursive: true }));

async function send(body: object, provision: string | undefined, url = gateway.url): Promise<unknown> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(provision !== undefined && { Provision: provision }) },
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

const GREETED = [200, { data: { authenticatedTestSystem: { message: 'System request authenticated' } } }];
const UNTRUSTED = [
  403,
  {
    errors: [
      { message: 'This provision may send trusted documents only', extensions: { code: 'UNTRUSTED_DOCUMENT', requestId: REQUEST_ID } },
    ],
  },
];
const fault = (code: string): unknown[] => [
  expect.any(Number),
  { errors: [expect.objectContaining({ extensions: { code, requestId: REQUEST_ID } })] },
];

describe('an app of a gateway with trusted documents', () => {
  test('may send them whole, or by their hash alone', async () => {
    expect(await send({ query: TRUSTED }, organization.webProvision)).toEqual(GREETED);
    expect(await send(hashOnly(TRUSTED), organization.webProvision)).toEqual(GREETED);
    expect(await send({ query: TRUSTED, ...hashOnly(TRUSTED) }, organization.webProvision)).toEqual(GREETED);
    expect(await send({ query: `# Laid out anew\nquery ${TRUSTED}` }, organization.webProvision)).toEqual(GREETED);
    const { data } = GREETED[1] as { data: { authenticatedTestSystem: object } };
    expect(await send({ query: '{ __typename authenticatedTestSystem { message __typename } }' }, organization.webProvision)).toEqual([
      200,
      { data: { __typename: 'Query', authenticatedTestSystem: { ...data.authenticatedTestSystem, __typename: 'AuthenticationTest' } } },
    ]);
    expect(await send({ query: LOGIN, variables: { username: 'ada', password: PASSWORD } }, organization.webProvision)).toEqual([
      200,
      { data: { login: { viewer: { username: 'ada' } } } },
    ]);
  });

  test.each([
    ['another', { query: OTHER }],
    ['a trusted one with a renamed __typename', { query: '{ authenticatedTestSystem { message kind: __typename } }' }],
    ['nothing but __typename', { query: '{ authenticatedTestSystem { __typename } }' }],
    ['a trusted one with another field', { query: '{ authenticatedTestSystem { message provision } }' }],
    ['another after a trusted one', { query: `${NAMED} query Other ${OTHER}`, operationName: 'Other' }],
    ['another before a trusted one', { query: `query Other ${OTHER} ${NAMED}`, operationName: 'Named' }],
    ['another by the hash of a trusted one', { query: OTHER, ...hashOnly(OTHER) }],
    ['introspection', { query: '{ __schema { queryType { name } } }' }],
  ])('may not send %s', async (_what, body) => {
    expect(await send(body, organization.webProvision)).toEqual(UNTRUSTED);
    const mobile = await gateway.services.provisions.create({
      organization: organization.name,
      kind: 'MOBILE',
      label: '',
      grants: [],
    });
    expect(await send(body, mobile)).toEqual(UNTRUSTED);
  });

  test('may name them by documentId, as GraphQL over HTTP has it', async () => {
    for (const documentId of [sha256(TRUSTED), `sha256:${sha256(TRUSTED)}`]) {
      expect(await send({ documentId }, organization.webProvision)).toEqual(GREETED);
      expect(await send({ documentId, query: null }, organization.webProvision)).toEqual(GREETED);
      const address = `${gateway.url}/graphql?documentId=${encodeURIComponent(documentId)}`;
      const response = await fetch(address, { headers: { Provision: organization.webProvision } });
      expect([response.status, await response.json()]).toEqual(GREETED);
    }
    const variables = { username: 'ada', password: PASSWORD };
    expect(await send({ documentId: sha256(LOGIN), variables }, organization.webProvision)).toEqual([
      200,
      { data: { login: { viewer: { username: 'ada' } } } },
    ]);
    expect(await send({ documentId: 'another' }, organization.webProvision)).toEqual(fault('PERSISTED_QUERY_NOT_FOUND'));
    expect(await send({ documentId: sha256(TRUSTED), query: OTHER }, organization.webProvision)).toEqual(UNTRUSTED);
    expect(await send({ documentId: 7 }, organization.webProvision)).toEqual(fault('BAD_REQUEST'));
  });

  test('learns nothing of documents that were not trusted, though a server has sent them', async () => {
    expect(await send({ query: OTHER, ...hashOnly(OTHER) }, organization.apiProvision)).toEqual([200, { data: { viewer: null } }]);
    expect(await send(hashOnly(OTHER), organization.webProvision)).toEqual(UNTRUSTED);
  });

  test('cannot pass a document off as another', async () => {
    const { extensions } = hashOnly(TRUSTED);
    expect(await send({ query: OTHER, extensions }, organization.webProvision)).toEqual(fault('BAD_REQUEST'));
  });
});

test('a server may send any document, and so is nobody told more than who they are', async () => {
  expect(await send({ query: '{ __typename }' }, organization.apiProvision)).toEqual([200, { data: { __typename: 'Query' } }]);
  expect(await send({ query: OTHER }, undefined)).toEqual(fault('PROVISION_HEADER_MISSING'));
  expect(await send({ query: OTHER }, '00000000-0000-4000-8000-000000000000')).toEqual(fault('INVALID_PROVISION'));
});

test('without a manifest any app may persist its queries by itself', async () => {
  await withGateway({}, async (open) => {
    const { webProvision } = await createOrganization(open.services);
    expect(await send(hashOnly(TRUSTED), webProvision, open.url)).toEqual(fault('PERSISTED_QUERY_NOT_FOUND'));
    expect(await send({ query: TRUSTED, ...hashOnly(TRUSTED) }, webProvision, open.url)).toEqual(GREETED);
    expect(await send(hashOnly(TRUSTED), webProvision, open.url)).toEqual(GREETED);
    // The provision is asked for each time, whoever persisted the query.
    expect(await send(hashOnly(TRUSTED), undefined, open.url)).toEqual([
      200,
      { errors: [{ message: 'Provision header missing', extensions: { code: 'PROVISION_HEADER_MISSING', requestId: REQUEST_ID } }] },
    ]);
    expect(await login(open.url, webProvision)).toContain('=');
  });
});

test('the manifest that is generated from codegen.yml is one', async () => {
  const generated = resolve(__dirname, '../../src/generated/operations/persisted-documents.json');
  const documents = Object.entries(JSON.parse(readFileSync(generated, 'utf8')) as Record<string, string>);
  expect(documents.length).toBeGreaterThan(2);
  await withGateway({ TRUSTED_DOCUMENTS: generated }, async (own) => {
    const { apiProvision } = await createOrganization(own.services);
    const [, query] = documents.find(([, text]) => text.includes('depositDetails'))!;
    const variables = { startDate: '2024-01-01', endDate: '2024-01-31' };
    expect(await send({ ...hashOnly(query), variables }, apiProvision, own.url)).toEqual([200, { data: { depositDetails: [] } }]);
  });
});

const flat = (id: string, text: unknown): string => JSON.stringify({ [id]: text });
const apollo = (fields: object): string =>
  JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations: [], ...fields });
const operation = (id: unknown, body: unknown): object => ({ id, name: 'Greeting', type: 'query', body });

const hash = (algorithm: string): string => createHash(algorithm).update(TRUSTED).digest('hex');
test.each([
  ['by its SHA-1', hash('sha1'), flat(hash('sha1'), TRUSTED)],
  ["by its MD5, which is Relay's", hash('md5'), flat(hash('md5'), TRUSTED)],
  ["in a manifest of Apollo's by any id", 'greet', apollo({ operations: [operation('greet', TRUSTED), operation('greet', TRUSTED)] })],
])('an app may name a document %s', async (_how, id, text) => {
  const file = join(directory, 'other.json');
  writeFileSync(file, text);
  await withGateway({ TRUSTED_DOCUMENTS: file }, async (own) => {
    const { webProvision } = await createOrganization(own.services);
    expect(await send({ documentId: id }, webProvision, own.url)).toEqual(GREETED);
    expect(await send({ extensions: { persistedQuery: { version: 1, sha256Hash: id } } }, webProvision, own.url)).toEqual(GREETED);
    expect(await send({ query: OTHER }, webProvision, own.url)).toEqual(UNTRUSTED);
  });
});

test.each([
  ['is not there', undefined, "ENOENT: no such file or directory, open 'FILE'"],
  ['is no JSON', '{', 'it breaks off at line 1, column 2'],
  ['is no JSON of several lines', 'query A {\n  a\n}\n', 'it is not JSON at line 1, column 1'],
  ['is Latin-1', Buffer.from('{"a":"\xe9"}', 'latin1'), 'it is not UTF-8 at byte 7'],
  ['is a list', '[]', 'it is no object'],
  ['holds something else', flat('a', 'b'), 'a is not the MD5, SHA-1 or SHA-256 of its document'],
  ['holds no text', flat('a', { b: 'c' }), 'a stands for something else than a document'],
  [
    'has a hash that is not of its document',
    flat(sha256(TRUSTED), OTHER),
    `${sha256(TRUSTED)} is not the MD5, SHA-1 or SHA-256 of its document`,
  ],
  [
    'holds what is no document',
    flat(sha256('{ a'), '{ a'),
    `the document of ${sha256('{ a')} does not parse: Syntax Error: Expected Name, found <EOF>.`,
  ],
  ['is of another format', apollo({ format: 'another' }), 'format is not apollo-persisted-query-manifest'],
  ['is of another version', apollo({ version: 2 }), 'version is not 1'],
  ['has no operations', apollo({ operations: {} }), 'operations is no list'],
  [
    'has an operation without a body',
    apollo({ operations: [operation('a', TRUSTED), operation('b', undefined)] }),
    'operations.1.body is no text',
  ],
  ['has two documents of one id', apollo({ operations: [operation('a', TRUSTED), operation('a', OTHER)] }), 'a stands for two documents'],
])('a gateway whose manifest %s does not start, and says so in a line', async (_what, text, reason) => {
  const file = join(directory, 'wrong.json');
  rmSync(file, { force: true });
  if (text !== undefined) writeFileSync(file, text);
  const started = await startGateway({ TRUSTED_DOCUMENTS: file }).catch((error: unknown) => error as Error);
  const message = started instanceof Error ? started.message : 'it started';
  expect(message).toMatch(/^.*$/);
  expect(message.startsWith(`TRUSTED_DOCUMENTS: ${file} is no manifest of documents: ${reason.replace('FILE', file)}`)).toBe(true);
});
