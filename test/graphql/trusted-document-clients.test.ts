import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache, type ApolloLink } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';
import { Client, fetchExchange, type Exchange, type TypedDocumentNode } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import type { persistedExchange } from '@urql/exchange-persisted';
import { parse } from 'graphql';
import { ClientError, GraphQLClient } from 'graphql-request';
import { fetchQuery } from 'relay-runtime';
import { createEnvironment } from '../frontend/src/relay/environment';
import { readExample, runExample } from '../support/documents';
import { createOrganization, importLines, login, startGateway, v2Line } from '../support/gateway';
import { compileRelay, type RelayProject } from '../support/relay-project';
import { REQUEST_ID } from '../support/request-id';

const FUND =
  'query Fund($id: SafeInt!) { designation(designationId: $id) { ...Named } } fragment Named on Designation { designationId id name }';
const NOT_LISTED = parse('query NotListed { viewer { username } }');
const VARIABLES = { id: 3 };
/** The fund as an app shows it by its fragment. A cache without __typename would show nothing. */
const SHOWN = { designation: { id: 'RGVzaWduYXRpb246Mw', designationId: 3, name: 'General Fund' } };

/** An app's directory: its documents in src, and the files that the generators make of them. */
let app: string;
let relay: RelayProject;
let fund: TypedDocumentNode<unknown, typeof VARIABLES>;

type ApolloManifest = Awaited<ReturnType<Parameters<typeof generatePersistedQueryIdsFromManifest>[0]['loadManifest']>>;

interface Example {
  readonly config: object;
  readonly link: ApolloLink;
  readonly persisted: ReturnType<typeof persistedExchange>;
}
/** The code generator's transform cannot be loaded here; the generator itself loads it below. */
const UNLOADED = { addTypenameSelectionDocumentTransform: {} };
const runExamples = (url: string, Provision: string): Promise<Example> =>
  runExample<Example>(readExample('docs/frontend.md', 'Trusted documents', 'ts'), { ...UNLOADED, uri: url, url, Provision }, [
    ...(['config', 'link', 'persisted'] as const),
  ]);

beforeAll(async () => {
  app = mkdtempSync(join(tmpdir(), 'app-'));
  mkdirSync(join(app, 'src'));
  symlinkSync(resolve(__dirname, '../../node_modules'), join(app, 'node_modules'));
  cpSync(resolve(__dirname, '../../schema.graphql'), join(app, 'schema.graphql'));
  writeFileSync(join(app, 'src/fund.graphql'), FUND);
  const { config } = await runExamples('', '');
  const transform = 'addTypenameSelectionDocumentTransform';
  const settings = JSON.stringify(config).replace('[{}]', `[require('@graphql-codegen/client-preset').${transform}]`);
  writeFileSync(join(app, 'codegen.cjs'), `module.exports = ${settings};`);
  const run = (command: string, ...args: string[]): void => {
    execFileSync(process.execPath, [command, ...args], { cwd: app, stdio: 'pipe' });
  };
  run(resolve(__dirname, '../../node_modules/.bin/graphql-codegen'), '--config', 'codegen.cjs');
  run(require.resolve('@apollo/generate-persisted-query-manifest/cli.js'));
  const made = /FundDocument = (\{.*\}) as unknown as/.exec(readFileSync(join(app, 'src/gql/graphql.ts'), 'utf8'))![1]!;
  fund = JSON.parse(made) as typeof fund;
  relay = compileRelay(
    { fund: FUND.replace('Fund', 'fundQuery').replaceAll('Named', 'fund_named') },
    { persistConfig: { file: './persisted.json' } },
  );
});
afterAll(() => {
  rmSync(app, { recursive: true });
  relay.remove();
});

const MANIFESTS = {
  codegen: () => join(app, 'src/gql/persisted-documents.json'),
  apollo: () => join(app, 'persisted-query-manifest.json'),
  relay: () => join(relay.directory, 'persisted.json'),
} as const;

interface TrustingGateway {
  readonly url: string;
  /** The clients as the documents configure them, in an app with a logged-in user. */
  readonly example: Example;
  /** The bodies that the app has sent, or the address of a request without one. */
  readonly sent: string[];
}

async function withGateway(manifest: keyof typeof MANIFESTS, use: (gateway: TrustingGateway) => Promise<void>): Promise<void> {
  const open = await startGateway();
  const trusting = await startGateway({ DATABASE_URL: open.database.url, TRUSTED_DOCUMENTS: MANIFESTS[manifest]() });
  const { fetch: send } = globalThis;
  try {
    const organization = await createOrganization(open.services);
    await importLines(open.services, organization, [v2Line()]);
    const cookie = await login(open.url, organization.webProvision);
    const sent: string[] = [];
    globalThis.fetch = (input, init) => {
      sent.push(typeof init?.body === 'string' ? init.body : decodeURIComponent(input instanceof Request ? input.url : input.toString()));
      const headers = new Headers(init?.headers);
      headers.set('Cookie', cookie);
      headers.set('Provision', organization.webProvision);
      return send(input, { ...init, headers });
    };
    const url = `${trusting.url}/graphql`;
    await use({ url, sent, example: await runExamples(url, organization.webProvision) });
  } finally {
    globalThis.fetch = send;
    await trusting.stop();
    await open.stop();
  }
}

const isById = (sent: readonly string[]): boolean => sent.length > 0 && !sent.some((text) => text.includes('designation('));

/** The fund as Apollo Client shows it from the answer and then from its cache. */
async function askApollo(link: ApolloLink): Promise<unknown[]> {
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  const { data } = await client.query({ query: fund, variables: VARIABLES });
  const cached = client.readQuery({ query: fund, variables: VARIABLES });
  client.stop();
  return [data, cached];
}

/** The fund as urql shows it from the answer and then from its cache. */
async function askUrql(url: string, exchanges: readonly Exchange[]): Promise<unknown[]> {
  const client = new Client({ url, preferGetMethod: false, exchanges: [cacheExchange(), ...exchanges, fetchExchange] });
  const { data, error } = await client.query(fund, VARIABLES).toPromise();
  expect(error).toBeUndefined();
  return [data, client.readQuery(fund, VARIABLES)?.data];
}

describe('an app of a gateway with trusted documents', () => {
  const complete: unknown = expect.objectContaining({ designation: expect.objectContaining(SHOWN.designation) as unknown });

  test("works with Apollo Client and graphql-codegen's manifest, by hash as the documents show it and by text", async () => {
    await withGateway('codegen', async ({ url, sent, example: { link } }) => {
      const [shown, cached] = await askApollo(link);
      expect([shown, cached]).toEqual([complete, shown]);
      expect(isById(sent)).toBe(true);
      expect(await askApollo(new HttpLink({ uri: url }))).toEqual([complete, shown]);
      expect(isById(sent)).toBe(false);
      const client = new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink({ uri: url }) });
      const refused: unknown = await client.query({ query: NOT_LISTED }).catch((error: unknown) => error);
      expect(CombinedGraphQLErrors.is(refused) && refused.errors[0]!.extensions).toEqual({
        code: 'UNTRUSTED_DOCUMENT',
        requestId: REQUEST_ID,
      });
      client.stop();
    });
  });

  test("works with Apollo Client and Apollo's manifest, by id and by text", async () => {
    await withGateway('apollo', async ({ url, sent }) => {
      const loadManifest = (): ApolloManifest => JSON.parse(readFileSync(MANIFESTS.apollo(), 'utf8')) as ApolloManifest;
      const ids = new PersistedQueryLink(generatePersistedQueryIdsFromManifest({ loadManifest }));
      const [shown, cached] = await askApollo(ids.concat(new HttpLink({ uri: url })));
      expect([shown, cached]).toEqual([complete, shown]);
      expect(isById(sent)).toBe(true);
      expect(await askApollo(new HttpLink({ uri: url }))).toEqual([complete, shown]);
    });
  });

  test('works with urql, by hash as the documents show it and by text', async () => {
    await withGateway('codegen', async ({ url, sent, example: { persisted } }) => {
      const [shown, cached] = await askUrql(url, [persisted]);
      expect([shown, cached]).toEqual([complete, shown]);
      expect(isById(sent)).toBe(true);
      expect(await askUrql(url, [])).toEqual([complete, shown]);
      const client = new Client({ url, preferGetMethod: false, exchanges: [fetchExchange] });
      const { error } = await client.query(NOT_LISTED, {}).toPromise();
      expect(error?.graphQLErrors.map(({ extensions }) => extensions.code)).toEqual(['UNTRUSTED_DOCUMENT']);
    });
  });

  test('works with graphql-request, which has no cache and adds nothing', async () => {
    await withGateway('codegen', async ({ url }) => {
      const client = new GraphQLClient(url);
      expect(await client.request(parse(FUND), VARIABLES)).toEqual(SHOWN);
      const refused: unknown = await client.request(NOT_LISTED).catch((error: unknown) => error);
      expect(refused instanceof ClientError && refused.response.errors?.[0]?.extensions.code).toBe('UNTRUSTED_DOCUMENT');
    });
  });

  test("works with Relay and its compiler's manifest, by documentId as the documents show it", async () => {
    await withGateway('relay', async ({ url, sent }) => {
      const environment = createEnvironment(url, '');
      const operation = relay.operation('fundQuery');
      expect(operation.params.text).toBeNull();
      await fetchQuery(environment, operation, VARIABLES).toPromise();
      expect(environment.getStore().getSource().get(SHOWN.designation.id)).toMatchObject(SHOWN.designation);
      expect(isById(sent)).toBe(true);
    });
  });
});
