import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startCommand, startServe, succeed, type Environment } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { MAIN } from '../support/gateway-package';
import { until } from '../support/until';

const run = promisify(execFile);

let root: string;
let backup: string;

const at = (name: string): string => join(root, name);
const inDirectory = (name: string): Environment => ({ DATA_DIR: at(name), DEMO: 'off' });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-places-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  backup = await makeBackup();
});
afterAll(() => rmSync(root, { recursive: true }));

async function makeBackup(): Promise<string> {
  const source = inDirectory('source');
  await succeed(source, ['migrate']);
  await succeed(source, ['organization', 'create', 'Church']);
  await writeFile(at('lines.ndjson'), toNdjson(depositBook(200)));
  await succeed(source, ['import', at('lines.ndjson'), '--organization', 'Church', '--allow-mismatch']);
  await succeed(source, ['backup', at('source.backup')]);
  return at('source.backup');
}

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
    const words = ['--pid', '--fork', '--mount-proc', process.execPath, MAIN, 'organization', 'list'];
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
