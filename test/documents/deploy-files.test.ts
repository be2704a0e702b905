import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Ajv from 'ajv';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { runCommand } from '../support/command';
import { blocksOf, readDocument, ROOT } from '../support/documents';
import { day, gift, OLD_PROVISION, sourceOf } from '../support/old-service';
import { openSyncs } from '../support/syncs';

const syncs = openSyncs();
const { booksOf, withService, writeSecret } = syncs;
const UNIT = 'deposit-gateway-sync.service';
const DEPLOY = join(ROOT, 'docs/deploy');
const readFile = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');
/** The program of the unit, which is not on the machine of a test. */
const PROGRAM = '/usr/local/bin/deposit-gateway';

/** Runs the tool that a file is for, and expects that it takes it. Resolves to undefined where the tool is not installed. */
function expectTaken(command: string, ...words: string[]): string | undefined {
  const { error, status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8', env: { ...process.env, HOME: directory } });
  if (error && 'code' in error && error.code === 'ENOENT') return undefined;
  expect([command, status, status === 0 ? '' : stderr]).toEqual([command, 0, '']);
  return stdout + stderr;
}

const load = createRequire(__filename);
let directory: string;
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'gateway-deploy-'))));
afterAll(() => rmSync(directory, { recursive: true }));

/** Above this exposure, of 10, systemd calls a service less than OK. */
const EXPOSURE = { 'deposit-gateway.service': 15, [UNIT]: 31 };

test.each(Object.entries(EXPOSURE))('systemd, where it is installed, takes %s, and calls it safe', (unit, tenths) => {
  const file = join(directory, unit);
  writeFileSync(file, readFile(unit).replace(PROGRAM, process.execPath));
  expect(expectTaken('systemd-analyze', 'verify', file) ?? '').toBe('');
  expectTaken('systemd-analyze', 'security', '--offline=true', `--threshold=${tenths}`, '--no-pager', file);
});

test("nginx, HAProxy and Caddy, each if installed, take the proxies' files", () => {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ');
  const [nginx, haproxy] = [join(directory, 'nginx.conf'), join(directory, 'haproxy.cfg')];
  const http = `access_log off; ${paths}\n${readFile('nginx.conf')}`;
  writeFileSync(nginx, `pid ${directory}/nginx.pid; error_log stderr; events {}\nhttp { ${http} }`);
  const blocks = blocksOf(readDocument('docs/deploy.md')).filter(({ language }) => language === 'haproxy');
  writeFileSync(haproxy, blocks.map(({ body }) => body).join('\n'));
  expectTaken('nginx', '-t', '-e', 'stderr', '-c', nginx);
  expectTaken('haproxy', '-c', '-f', haproxy);
  expectTaken('caddy', 'validate', '--config', join(DEPLOY, 'Caddyfile'), '--adapter', 'caddyfile');
});

interface Compose {
  readonly services: Readonly<Record<string, { secrets?: string[]; volumes?: string[]; depends_on?: unknown }>>;
  readonly secrets: Readonly<Record<string, { file: string }>>;
}

describe('compose.yaml', () => {
  const read = (): Compose => parse(readFile('compose.yaml'), { merge: true }) as Compose;

  test('is what Compose allows, by its schema and by docker-compose, where that is installed', () => {
    const schema = JSON.parse(
      readFileSync(join(dirname(require.resolve('dclint/package.json')), 'schemas/compose.schema.json'), 'utf8'),
    ) as object;
    const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false, formats: { duration: true } });
    ajv.validate(schema, read());
    expect(ajv.errors).toBe(null);
    // The version of Debian is older than names of projects.
    const file = join(directory, 'compose.yaml');
    writeFileSync(file, readFile('compose.yaml').replace(/^name: .*$/m, ''));
    expectTaken('docker-compose', '-f', file, 'config');
  });

  test('leaves its secrets out of a package that is made beside them', () => {
    const copy = mkdtempSync(join(tmpdir(), 'gateway-packed-'));
    try {
      for (const path of ['package.json', 'docs/deploy']) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
      expect(spawnSync('sh', [join(copy, 'docs/deploy/create-secrets.sh')]).status).toBe(0);
      const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: copy, encoding: 'utf8' });
      const [{ files }] = JSON.parse(packed.stdout) as [{ files: { path: string }[] }];
      const paths = files.map(({ path }) => path);
      expect(paths).toContain('docs/deploy/compose.yaml');
      expect(paths.filter((path) => path.includes('secrets/'))).toEqual([]);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  test('has the files and the secrets that its services read', () => {
    const { services, secrets } = read();
    const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes.filter((volume) => volume.startsWith('.')));
    expect(mounted.map((volume) => existsSync(join(DEPLOY, volume.split(':')[0]!)))).toEqual([true, true, true]);
    copyFileSync(join(DEPLOY, 'create-secrets.sh'), join(directory, 'create-secrets.sh'));
    const create = () => spawnSync('sh', [join(directory, 'create-secrets.sh')], { encoding: 'utf8' });
    expect(create()).toMatchObject({ status: 0, stderr: '' });
    const made = readdirSync(join(directory, 'secrets')).sort();
    expect(
      Object.values(secrets)
        .map(({ file }) => file.replace('secrets/', ''))
        .sort(),
    ).toEqual(made);
    expect([...new Set(Object.values(services).flatMap((service) => service.secrets ?? []))].sort()).toEqual(made);
    const secretOf = (name: string): string => readFileSync(join(directory, 'secrets', name), 'utf8').trim();
    for (const role of ['owner', 'serving']) {
      const { username, password, hostname, pathname } = new URL(secretOf(`${role}-url`));
      expect([username, password, hostname, pathname]).toEqual([
        ...[`deposit_gateway_${role}`, secretOf(`${role}-password`)],
        ...['postgres', '/deposit_gateway'],
      ]);
      expect(password).toMatch(/^[0-9a-f]{48}$/);
    }
    expect(secretOf('owner-password')).not.toBe(secretOf('serving-password'));
    expect(statSync(join(directory, 'secrets')).mode & 0o777).toBe(0o700);
    expect(create()).toMatchObject({ status: 1, stderr: 'The folder secrets is there already.\n' });
    expect(secretOf('owner-url')).toContain(secretOf('owner-password'));
  });
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

test.each(['kubernetes.yaml', 'sync-cronjob.yaml'])('the types and the schemas of Kubernetes allow %s', (name) => {
  const manifests = parseAllDocuments(readFile(name)).map((document) => document.toJS() as Manifest);
  const models = manifests.map(({ apiVersion, kind }) => `kubernetes-models/${apiVersion}/${kind}`);
  const lines = manifests.flatMap((manifest, at) => [
    `import type { I${manifest.kind} as Kind${at} } from '${models[at]}';`,
    `export const manifest${at}: Kind${at} = ${JSON.stringify(manifest)};`,
  ]);
  // Types know what a schema does not: that a name is none of the fields.
  const file = join(ROOT, 'test', `manifests-of-${name}.ts`);
  const options = { noEmit: true, strict: true, skipLibCheck: true, module: ts.ModuleKind.Node20, types: [] };
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (path, ...rest) =>
    path === file ? ts.createSourceFile(path, lines.join('\n'), ts.ScriptTarget.ES2023) : getSourceFile(path, ...rest);
  const faults = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
  expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  for (const [at, manifest] of manifests.entries()) {
    const model = load(models[at]!) as Record<string, new (of: Manifest) => { validate: () => void }>;
    expect(() => new model[manifest.kind]!(manifest).validate()).not.toThrow();
  }
});

const quoted = (text: string, quote: string): string[] => text.match(new RegExp(`${quote}[^${quote}]*${quote}|[^\\s,[\\]${quote}]+`, 'g'))!;
const commands: readonly (readonly [string, () => string])[] = [
  [UNIT, () => quoted(/^ExecStart=\S+ (.*)$/m.exec(readFile(UNIT))![1]!, '"').join('\n')],
  ['sync-cronjob.yaml', () => quoted(/args: \[(.*)\]$/m.exec(readFile('sync-cronjob.yaml'))![1]!, "'").join('\n')],
];

test.each(commands)('an operator who deploys %s follows the old service', (_file, readWords) =>
  withService(async (service, organization) => {
    service.gifts.push(gift());
    const provision = await writeSecret('provision', OLD_PROVISION);
    const words = readWords()
      .split('\n')
      .map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
      .map((word) => (word === 'Hope Foundation' ? organization : word === 'https://old.example.org' ? service.url : word))
      .map((word) => (word.endsWith('/provision') ? provision : word));
    expect(words).toEqual(expect.arrayContaining([organization, service.url, provision]));
    // One round is enough here.
    const every = words.indexOf('--every');
    if (every >= 0) words.splice(every, 2);
    expect(await runCommand(syncs.environment, [...words, '--since', day(-20)])).toMatchObject({ status: 0, stderr: '' });
    expect(await booksOf(organization)).toEqual(sourceOf(service));
  }),
);
