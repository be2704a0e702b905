import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { failed, runCommand, startCommand, succeed, type Environment } from '../support/command';
import { MAIN } from '../support/gateway-package';
import { until } from '../support/until';

// Commands run side by side, so that each takes longer.

const run = promisify(execFile);

let root: string;
let directoryNumber = 0;

const settings = (directory: string): Environment => ({ DATA_DIR: directory, DEMO: 'off' });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-directories-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  await succeed(settings(join(root, 'template')), ['migrate']);
  await succeed(settings(join(root, 'template')), ['organization', 'create', 'Church']);
  // The binaries are the same for all: copies hold a link to them.
  const home = join(root, 'template/postgres');
  const engine = (await readdir(home)).find((name) => name.startsWith('engine-'))!;
  await rename(join(home, engine), join(root, engine));
  await symlink(join(root, engine), join(home, engine));
});
afterAll(() => rmSync(root, { recursive: true }));

/** A data directory of a test's own, in which a command has made a database with the organization Church. */
async function copyData(name = `data-${++directoryNumber}`): Promise<string> {
  const directory = join(root, name);
  await run('cp', ['-a', join(root, 'template'), directory]);
  return directory;
}

const CHURCH = { status: 0, stdout: expect.stringContaining('"name":"Church"') as string, stderr: '' };
const listOrganizations = (directory: string) => runCommand(settings(directory), ['organization', 'list', '--json']);

test.concurrent.each([
  ['nothing', ''],
  ['a part of it', '{"host":"/tmp/depo'],
  ['zeros', '\0'.repeat(40)],
])('an operator starts a database of whose address a power cut has left %s', async (_title, content) => {
  const directory = await copyData();
  await writeFile(join(directory, 'address.json'), content);
  expect(await listOrganizations(directory)).toEqual(CHURCH);
});

test.concurrent('an operator starts a first database of whose password a power cut has left nothing', async () => {
  const directory = await copyData();
  await rm(join(directory, 'postgres/cluster'), { recursive: true });
  await writeFile(join(directory, 'postgres/password'), '');
  expect(await runCommand(settings(directory), ['migrate'])).toMatchObject({ status: 0 });
  expect(await listOrganizations(directory)).toMatchObject({ status: 0, stdout: '[]\n' });
});

test.concurrent('an operator has a database in a directory with a comma and quotation marks in its name', async () => {
  const directory = await copyData('Hope, "Inc"');
  expect(await listOrganizations(directory)).toEqual(CHURCH);
});

test.concurrent.each([
  [15, 'make a backup with the gateway that it is from, and restore it into a new directory'],
  [99, 'use the gateway that made it'],
])('an operator with a database of PostgreSQL %i is refused by every command, and told what to do', async (major, advice) => {
  const directory = await copyData();
  const file = join(directory, 'postgres/cluster/PG_VERSION');
  const own = (await readFile(file, 'utf8')).trim();
  await writeFile(file, `${major}\n`);
  const refusal = failed(`The embedded database in ${directory} is of PostgreSQL ${major}, and this gateway has ${own}: ${advice}`);
  const commands = [['serve'], ['migrate'], ['migrate', '--check'], ['organization', 'list'], ['demo'], ['backup', join(directory, 'b')]];
  for (const words of commands) expect([words, await runCommand(settings(directory), words)]).toEqual([words, refusal]);
  await writeFile(file, `${own}\n`);
  expect(await listOrganizations(directory)).toEqual(CHURCH);
});

const account = 12_345;
const testAsRoot = process.getuid?.() === 0 ? test.concurrent : test.skip;

testAsRoot('a gateway under its own account owns all files of commands that root starts, be it that SIGKILL ends them', async () => {
  const directory = await copyData();
  await run('chown', ['-hR', `${account}:${account}`, directory]);
  await rm(join(directory, 'postgres/server.log'));
  const command = startCommand(settings(directory), ['demo'], 'ignore');
  await until(() => existsSync(join(directory, 'address.json')));
  command.kill('SIGKILL');
  await once(command, 'close');
  expect((await readdir(directory)).sort()).toEqual(['address.json', 'gateway.lock', 'gateway.socket', 'postgres']);
  const listForeign = async () => (await run('find', [directory, '!', '-user', String(account)])).stdout;
  expect(await listForeign()).toBe('');
  await succeed(settings(directory), ['demo']);
  expect((await readdir(directory)).sort()).toEqual(['demo.json', 'postgres']);
  expect(await listForeign()).toBe('');
});

test.concurrent.each([
  [
    'parent/of/it',
    (directory: string) => `${directory} cannot be made, because ${dirname(directory)} is not there: make that first, or mend DATA_DIR`,
  ],
  ['file', (directory: string) => `${directory} is no directory, or lies in none: set DATA_DIR to one`],
  ['file/below', (directory: string) => `${directory} is no directory, or lies in none: set DATA_DIR to one`],
  ['loop', (directory: string) => `${directory} is a link that leads to itself: set DATA_DIR to a directory`],
  ['long'.repeat(70), (directory: string) => `the name of ${directory} is too long: set DATA_DIR to a shorter one`],
])('an operator is told what is wrong with a data directory: %s', async (name, describe) => {
  await mkdir(join(root, 'wrong'), { recursive: true });
  await writeFile(join(root, 'wrong/file'), '');
  await symlink('loop', join(root, 'wrong/loop')).catch(() => undefined);
  const directory = join(root, 'wrong', name);
  for (const words of [['migrate'], ['serve']])
    expect(await runCommand(settings(directory), words)).toEqual(failed(`DATA_DIR: ${describe(directory)}`));
});

/** Runs a command on a data directory, under another account when one is given. Resolves to the error, or to "done". */
async function runAs(account: number | undefined, directory: string, command: string): Promise<string> {
  const words = account ? ['setpriv', `--reuid=${account}`, `--regid=${account}`, '--clear-groups', process.execPath] : [process.execPath];
  const env = { PATH: process.env.PATH, DATA_DIR: directory };
  return run(words[0]!, [...words.slice(1), '--', MAIN, '--no-env-file', command], { env }).then(
    () => 'done',
    (error: unknown) => (error as { readonly stderr: string }).stderr,
  );
}

testAsRoot('a gateway under its own account leaves a directory to the process of root that holds it', async () => {
  const directory = join(root, 'held');
  await mkdir(directory);
  const startTime = (await readFile('/proc/self/stat', 'utf8')).split(') ')[1]!.split(' ')[19]!;
  await writeFile(join(directory, 'gateway.lock'), JSON.stringify({ pid: process.pid, startTime }));
  await run('chown', ['-R', `${account}:${account}`, directory]);
  expect(await runAs(account, directory, 'serve')).toBe(`The embedded database in ${directory} is in use by process ${process.pid}\n`);
});

test.concurrent.each([0o755, 0o700, 0o555])(
  'an operator is told that the account may not use the data directory, of mode %i',
  async (mode) => {
    const directory = join(root, `closed-${mode}`);
    await mkdir(directory);
    await chmod(directory, mode);
    const asRoot = process.getuid?.() === 0;
    // Nobody is kept from a directory of one's own that may be written.
    if (!asRoot && mode !== 0o555) return;
    expect(await runAs(asRoot ? account : undefined, directory, 'migrate')).toBe(
      `DATA_DIR: this account (uid ${asRoot ? account : process.getuid?.()}) may not read and write ${directory}: give it the directory with chown, or set DATA_DIR to one that it has\n`,
    );
  },
);
