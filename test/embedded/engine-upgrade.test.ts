import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { failed, runCommand, startCommand, startServe, succeed, type Environment } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { until } from '../support/until';

const run = promisify(execFile);

/** The programs of an earlier PostgreSQL: Debian's, or those of another place. */
const OLD = process.env.OLD_POSTGRES_BIN ?? '/usr/lib/postgresql/15/bin';
/** A machine without them, such as a Mac, leaves the tests out. */
const testWithOld = existsSync(join(OLD, 'initdb')) ? test : test.skip;

let root: string;
let backup: string;

const at = (name: string): string => join(root, name);
const inDirectory = (name: string): Environment => ({ DATA_DIR: at(name), DEMO: 'off' });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-upgrade-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  backup = await makeBackup();
});
afterAll(() => rmSync(root, { recursive: true }));

let former: Promise<number> | undefined;

/** Makes a data directory as a gateway with an earlier PostgreSQL leaves it: all are copies of one. Returns the earlier major version. */
async function makeOld(name: string): Promise<number> {
  former ??= makeFormer('former');
  const major = await former;
  await run('cp', ['-a', at('former'), at(name)]);
  return major;
}

/** Makes such a directory from the backup. */
async function makeFormer(name: string): Promise<number> {
  await succeed(inDirectory(name), ['migrate']);
  const home = join(at(name), 'postgres');
  const major = Number.parseInt(/[0-9]+/.exec((await run(join(OLD, 'postgres'), ['--version'])).stdout)![0], 10);
  await rm(join(home, 'cluster'), { recursive: true });
  await mkdir(join(home, `engine-${major}.0.0`));
  await symlink(OLD, join(home, `engine-${major}.0.0`, 'bin'));
  const { uid, gid } = statSync(home);
  const account = process.getuid?.() === 0 ? { uid, gid } : {};
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' } };
  const cluster = ['--pgdata', join(home, 'cluster')];
  const login = ['--username', 'deposit_gateway', '--pwfile', join(home, 'password'), '--auth', 'scram-sha-256'];
  await run(join(OLD, 'initdb'), [...cluster, ...login, '--encoding', 'UTF8', '--locale', 'C'], options);
  const control = (...words: string[]) =>
    run(join(OLD, 'pg_ctl'), [...cluster, '--wait', '--log', join(home, 'old.log'), ...words], options);
  await control('--options', `-c listen_addresses= -c unix_socket_directories=${home}`, 'start');
  try {
    const password = await readFile(join(home, 'password'), 'utf8');
    const url = (database: string): string => `postgresql://deposit_gateway:${password}@localhost/${database}?host=${home}`;
    const { Client } = await import('pg');
    const client = new Client({ connectionString: url('postgres') });
    await client.connect();
    await client.query('CREATE DATABASE deposit_gateway');
    await client.end();
    await succeed({ DATABASE_URL: url('deposit_gateway') }, ['restore', backup]);
  } finally {
    await control('stop');
  }
  return major;
}

async function makeBackup(): Promise<string> {
  const source = inDirectory('source');
  await succeed(source, ['migrate']);
  await succeed(source, ['organization', 'create', 'Church']);
  await writeFile(at('lines.ndjson'), toNdjson(depositBook(200)));
  await succeed(source, ['import', at('lines.ndjson'), '--organization', 'Church', '--allow-mismatch']);
  await succeed(source, ['backup', at('source.backup')]);
  return at('source.backup');
}

testWithOld('an operator brings a database of an earlier PostgreSQL to this one, and keeps the earlier one', async () => {
  const major = await makeOld('old');
  const home = join(at('old'), 'postgres');
  const current = Number.parseInt(
    /engine-([0-9]+)/.exec((await readdir(home)).find((name) => !name.startsWith(`engine-${major}.`) && name.startsWith('engine-'))!)![1]!,
    10,
  );
  const refusal = `The embedded database is of PostgreSQL ${major}, and this gateway has ${current}: run \`deposit-gateway upgrade\``;
  expect(await runCommand({ ...inDirectory('old'), PORT: '0' }, ['serve'])).toEqual(failed(refusal));
  expect(await runCommand(inDirectory('old'), ['organization', 'list'])).toEqual(failed(refusal));

  const kept = join(home, `cluster-${major}`);
  expect(JSON.parse(await succeed(inDirectory('old'), ['--json', 'upgrade']))).toEqual({ from: major, to: current, kept, auditFaults: [] });
  await succeed(inDirectory('old'), ['verify', backup, '--current']);
  const [entry] = JSON.parse(
    await succeed(inDirectory('old'), ['--json', 'audit', '--organization', 'Church', '--kind', 'rights']),
  ) as object[];
  expect(entry).toMatchObject({ operation: 'upgrade' });
  expect(await succeed(inDirectory('old'), ['upgrade'])).toBe('Nothing to upgrade\n');
  expect(await readFile(join(kept, 'PG_VERSION'), 'utf8')).toBe(`${major}\n`);

  // The way back, as the document for operators tells it.
  await rename(join(home, 'cluster'), join(home, 'cluster-new'));
  await rename(kept, join(home, 'cluster'));
  expect(await runCommand(inDirectory('old'), ['organization', 'list'])).toEqual(failed(refusal));
});

testWithOld('an operator whose earlier program is gone is told so, and the database stays as it was', async () => {
  const major = await makeOld('bare');
  const home = join(at('bare'), 'postgres');
  await rm(join(home, `engine-${major}.0.0`), { recursive: true });
  const { status, stderr } = await runCommand(inDirectory('bare'), ['upgrade']);
  expect([status, stderr]).toEqual([
    1,
    `${home} lacks the program of PostgreSQL ${major}: make a backup with the earlier gateway, and restore it\n`,
  ]);
  expect((await readdir(home)).filter((name) => name.startsWith('cluster'))).toEqual(['cluster']);
});

const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

testAsRoot('an operator whose data do not lie in DATA_DIR reads in the log where they are', async () => {
  const parent = mkdtempSync(at('closed-'));
  const gateway = await startServe({ DATA_DIR: join(parent, 'data'), DEMO: 'off' });
  expect(await gateway.end('SIGTERM')).toBe(0);
  const line = gateway
    .output()
    .split('\n')
    .find((text) => text.includes('the data lie outside DATA_DIR'));
  const { place } = JSON.parse(line!) as { place: string };
  expect(existsSync(join(place, 'cluster'))).toBe(true);
  await rm(place, { recursive: true });
});

testAsRoot('an operator whose restored data do not lie in DATA_DIR is told where they are', async () => {
  const parent = mkdtempSync(at('restored-'));
  const output = await succeed({ DATA_DIR: join(parent, 'data'), DEMO: 'off' }, ['restore', backup]);
  const place = /^The data lie outside DATA_DIR, in (.*)$/m.exec(output)?.[1];
  expect(existsSync(join(place!, 'cluster'))).toBe(true);
  await rm(place!, { recursive: true });
});

testAsRoot('an operator whose restore runs in another container is refused its directory, and the restore goes on', async () => {
  const restore = startCommand(inDirectory('shared'), ['restore', backup]);
  const ended = once(restore, 'close');
  const socket = join(at('shared'), 'postgres/socket/.s.PGSQL.5433');
  await until(() => existsSync(socket) || restore.exitCode !== null);
  restore.kill('SIGSTOP');
  try {
    // A process of another process namespace sees the files of the restore, and not its processes.
    const words = ['--pid', '--fork', '--mount-proc', process.execPath, join(__dirname, '../../dist/main.js'), 'organization', 'list'];
    const result = await run('unshare', words, { env: { PATH: process.env.PATH, ...inDirectory('shared') } }).catch(
      (error: unknown) => error,
    );
    expect(result).toMatchObject({
      code: 1,
      stderr: `The embedded database in ${at('shared')} is in use by a process that cannot be seen from here, as in another container\n`,
    });
  } finally {
    restore.kill('SIGCONT');
  }
  expect(await ended).toEqual([0, null]);
  await succeed(inDirectory('shared'), ['verify', backup, '--current']);
});
