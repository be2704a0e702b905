import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runCommand, startCommand, startServe, succeed, withoutDatabase, type Environment, type ServeProcess } from '../support/command';
import { depositBook } from '../support/deposit-book';
import { toNdjson } from '../support/deposit-files';
import { MAIN } from '../support/gateway-package';
import { until } from '../support/until';

/** Commands that the suite kills. `KILLED_BACKUPS=20` kills more. */
const KILLS = Number(process.env.KILLED_BACKUPS ?? 2);

let root: string;
let source: Environment;
let gateway: ServeProcess;

const at = (name: string): string => join(root, name);

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-killed-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  source = { DATA_DIR: at('source'), DEMO: 'off' };
  gateway = await startServe(source);
  await succeed(source, ['organization', 'create', 'Church']);
  await writeFile(at('lines.ndjson'), toNdjson(depositBook(2000)));
  await succeed(source, ['import', at('lines.ndjson'), '--organization', 'Church', '--allow-mismatch']);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  rmSync(root, { recursive: true });
});

/** Runs a command and kills it at any moment of the time that it takes. */
async function kill(environment: Environment, words: readonly string[], durationMs: number): Promise<void> {
  const child = startCommand(environment, words, 'ignore');
  const closed = once(child, 'close');
  await Promise.race([closed, setTimeout(Math.random() * durationMs)]);
  child.kill('SIGKILL');
  await closed;
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

test('a backup that is killed at any moment is there whole or not at all, and the next one leaves nothing of it', async () => {
  const directory = mkdtempSync(at('files-'));
  const file = join(directory, 'church.backup');
  const durationMs = await measure(() => succeed(source, ['backup', file]));
  for (let round = 0; round < KILLS; round++) {
    rmSync(file, { force: true });
    await kill(source, ['backup', file], durationMs);
    if ((await readdir(directory)).includes('church.backup')) await succeed(source, ['verify', file]);
  }
  await succeed(source, ['backup', file, '--force']);
  expect(await readdir(directory)).toEqual(['church.backup']);
});

test('a backup in a container, whose process number is always the same, replaces what a killed one has left', async () => {
  const directory = mkdtempSync(at('container-'));
  const file = join(directory, 'church.backup');
  const words = [process.execPath, MAIN, 'backup', file].map((word) => `'${word}'`).join(' ');
  const script = `touch '${file}.${hostname()}'-$$-00c0ffee.part; exec ${words}`;
  await promisify(execFile)('sh', ['-c', script], { env: { PATH: process.env.PATH, ...source } });
  expect(await readdir(directory)).toEqual(['church.backup']);
});

test('a restore that is killed at any moment has been made or not at all, and the next one makes it', async () => {
  const file = at('whole.backup');
  await succeed(source, ['backup', file]);
  const inDirectory = (name: string): Environment => ({ DATA_DIR: at(name), DEMO: 'off' });
  const durationMs = await measure(() => succeed(inDirectory('first'), ['restore', file]));
  for (let round = 0; round < KILLS; round++) {
    const killed = inDirectory(`killed-${round}`);
    await kill(killed, ['restore', file], durationMs);
    const { status, stderr } = await runCommand(killed, ['restore', file]);
    expect(status === 0 || stderr.includes('has a database already')).toBe(true);
    const names = await readdir(join(at(`killed-${round}`), 'postgres'));
    expect(names.filter((name) => name.startsWith('cluster'))).toEqual(['cluster']);
    await succeed(killed, ['verify', file, '--current']);
  }
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'an operator whose verify is ended by %s finds no copy of the donors',
  async (signal) => {
    const file = at(`${signal}.backup`);
    await succeed(source, ['backup', file]);
    const TMPDIR = at(signal);
    mkdirSync(TMPDIR);
    const child = startCommand({ ...source, TMPDIR }, ['verify', file], 'ignore');
    const closed = once(child, 'close') as Promise<[number | null]>;
    let server: number | undefined;
    await until(async () => {
      const [name] = await readdir(TMPDIR);
      const lines = await readFile(join(TMPDIR, String(name), 'postgres/cluster.filling/postmaster.pid'), 'utf8').catch(() => '');
      server = Number(lines.split('\n')[0]);
      return server > 0 || child.exitCode !== null;
    });
    child.kill(signal);
    expect((await closed)[0]).toBe(1);
    expect(await readdir(TMPDIR)).toEqual([]);
    expect(existsSync(`/proc/${server}`)).toBe(false);
  },
);

test.each([8, 120])('an operator whose disk is full after %i blocks is told so, and finds no part of a backup', async (blocks) => {
  const directory = mkdtempSync(at('full-'));
  const words = [process.execPath, MAIN, 'backup', join(directory, 'x.backup')];
  // A limit of a file's size, like a disk's, fails the write.
  const script = `trap '' XFSZ; ulimit -f ${blocks}; exec ${words.map((word) => `'${word}'`).join(' ')}`;
  const { code, stderr } = await promisify(execFile)('sh', ['-c', script], { env: { PATH: process.env.PATH, ...source } }).then(
    (output) => ({ ...output, code: 0 }),
    (error: unknown) => error as { readonly code: number; readonly stderr: string },
  );
  expect(code).toBe(1);
  expect(withoutDatabase(stderr)).toBe(`Cannot write ${join(directory, 'x.backup')}: EFBIG: file too large, write\n`);
  expect(await readdir(directory)).toEqual([]);
});
