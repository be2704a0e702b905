import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failed, runCommand, succeed, type Environment } from '../support/command';

let root: string;

const at = (name: string): string => join(root, name);
const inDirectory = (name: string): Environment => ({ DATA_DIR: at(name), DEMO: 'off' });

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-missing-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
  await writeFile(at('lines.ndjson'), '');
});
afterAll(() => rmSync(root, { recursive: true }));

const CHURCH = ['--organization', 'Church'];

describe('an operator who names a directory without a database', () => {
  test.concurrent.each([
    ['organization', 'list'],
    ['organization', 'rename', 'Church', 'School'],
    ['provision', 'list'],
    ['user', 'list', ...CHURCH],
    ['session', 'list', ...CHURCH],
    ['import', 'LINES', ...CHURCH],
    ['export', ...CHURCH, '--start', '2026-01-01', '--end', '2026-01-31', '--format', 'csv'],
    ['audit', ...CHURCH],
    ['version', 'list', ...CHURCH],
    ['report', 'list', ...CHURCH],
    ['check'],
    ['migrate', '--check'],
  ])('is told so by %s %s, which makes none', async (...words) => {
    const name = `none-${words.slice(0, 2).join('-')}`;
    const given = words.map((word) => (word === 'LINES' ? at('lines.ndjson') : word));
    expect(await runCommand(inDirectory(name), given)).toEqual(failed(`There is no database in ${at(name)}`));
    expect(await readdir(root)).not.toContain(name);
  });

  test.concurrent('keeps the good backup, which no empty one replaces', async () => {
    await writeFile(at('good.backup'), 'a good backup');
    const words = ['backup', at('good.backup'), '--force'];
    expect(await runCommand(inDirectory('none'), words)).toEqual(failed(`There is no database in ${at('none')}`));
    await succeed(inDirectory('empty'), ['migrate']);
    expect(await runCommand(inDirectory('empty'), words)).toEqual(failed('The database has no organization: there is nothing to back up'));
    expect(await readFile(at('good.backup'), 'utf8')).toBe('a good backup');
  });

  test.concurrent.each([['organization', 'create', 'Church'], ['demo']])('gets one by %s', async (...words) => {
    await succeed(inDirectory(words[0]), words);
    expect(await succeed(inDirectory(words[0]), ['organization', 'list'])).toMatch(/Church|Demo/);
  });
});
