import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createOrganization, login, PASSWORD, startGateway, type TestGateway, type TestOrganization } from './support/gateway';

const TRUSTED = '{ authenticatedTestSystem { message } }';
const LOGIN = 'mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { username } }';
const OTHER = '{ viewer { username } }';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hashOnly = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } } });

let directory: string;
let manifest: string;
let gateway: TestGateway;
let organization: TestOrganization;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'trusted-documents-'));
  manifest = join(directory, 'manifest.json');
  writeFileSync(manifest, JSON.stringify({ [sha256(TRUSTED)]: TRUSTED, [sha256(LOGIN)]: LOGIN }));
  gateway = await startGateway({ TRUSTED_DOCUMENTS: manifest });
  organization = await createOrganization(gateway.services);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(directory, { recursive: true });
});

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
  { errors: [{ message: 'This provision may send trusted documents only', extensions: { code: 'UNTRUSTED_DOCUMENT' } }] },
];
const fault = (code: string): unknown[] => [expect.any(Number), { errors: [expect.objectContaining({ extensions: { code } })] }];

describe('an app of a gateway with trusted documents', () => {
  test('may send them whole, or by their hash alone', async () => {
    expect(await send({ query: TRUSTED }, organization.webProvision)).toEqual(GREETED);
    expect(await send(hashOnly(TRUSTED), organization.webProvision)).toEqual(GREETED);
    expect(await send({ query: TRUSTED, ...hashOnly(TRUSTED) }, organization.webProvision)).toEqual(GREETED);
    expect(await send({ query: `# Laid out anew\nquery ${TRUSTED}` }, organization.webProvision)).toEqual(GREETED);
    expect(await send({ query: LOGIN, variables: { username: 'ada', password: PASSWORD } }, organization.webProvision)).toEqual([
      200,
      { data: { login: { username: 'ada' } } },
    ]);
  });

  test.each([
    ['another', { query: OTHER }],
    ['a trusted one with another field', { query: '{ authenticatedTestSystem { message provision } }' }],
    ['two documents in one', { query: `query A ${TRUSTED} query B ${OTHER}`, operationName: 'A' }],
    ['another by the hash of a trusted one', { query: OTHER, ...hashOnly(OTHER) }],
    ['introspection', { query: '{ __schema { queryType { name } } }' }],
  ])('may not send %s', async (_what, body) => {
    expect(await send(body, organization.webProvision)).toEqual(UNTRUSTED);
    const mobile = await gateway.services.organizations.createProvision({
      organization: organization.name,
      kind: 'MOBILE',
      label: '',
      grants: [],
    });
    expect(await send(body, mobile)).toEqual(UNTRUSTED);
  });

  test('learns nothing of documents that were not trusted, though a server has sent them', async () => {
    expect(await send({ query: OTHER, ...hashOnly(OTHER) }, organization.apiProvision)).toEqual([
      200,
      expect.objectContaining({ data: null }),
    ]);
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
  const open = await startGateway();
  try {
    const { webProvision } = await createOrganization(open.services);
    expect(await send(hashOnly(TRUSTED), webProvision, open.url)).toEqual(fault('PERSISTED_QUERY_NOT_FOUND'));
    expect(await send({ query: TRUSTED, ...hashOnly(TRUSTED) }, webProvision, open.url)).toEqual(GREETED);
    expect(await send(hashOnly(TRUSTED), webProvision, open.url)).toEqual(GREETED);
    // The provision is asked for each time, whoever persisted the query.
    expect(await send(hashOnly(TRUSTED), undefined, open.url)).toEqual([200, expect.objectContaining({ data: null })]);
    expect(await login(open.url, webProvision)).toContain('=');
  } finally {
    await open.stop();
  }
});

test('the manifest that is generated from codegen.yml is one', async () => {
  const generated = resolve(__dirname, '../src/generated/operations/persisted-documents.json');
  const documents = Object.entries(JSON.parse(readFileSync(generated, 'utf8')) as Record<string, string>);
  expect(documents.length).toBeGreaterThan(2);
  const own = await startGateway({ TRUSTED_DOCUMENTS: generated });
  try {
    const { apiProvision } = await createOrganization(own.services);
    const [, query] = documents.find(([, text]) => text.includes('depositDetails'))!;
    const variables = { startDate: '2024-01-01', endDate: '2024-01-31' };
    expect(await send({ ...hashOnly(query), variables }, apiProvision, own.url)).toEqual([200, { data: { depositDetails: [] } }]);
  } finally {
    await own.stop();
  }
});

test.each([
  ['is not there', undefined, 'no such file'],
  ['is no JSON', '{', 'JSON'],
  ['holds something else', '{"a":"b"}', 'no manifest of documents'],
  [
    'has a hash that is not of its document',
    JSON.stringify({ [sha256(TRUSTED)]: OTHER }),
    `${sha256(TRUSTED)} is not the SHA-256 of its document`,
  ],
])('a gateway whose manifest %s does not start', async (_what, text, message) => {
  const file = join(directory, 'wrong.json');
  rmSync(file, { force: true });
  if (text !== undefined) writeFileSync(file, text);
  await expect(startGateway({ TRUSTED_DOCUMENTS: file })).rejects.toThrow(message);
});
