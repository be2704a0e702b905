import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
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

const noneAt = (name: string) =>
  failed(`There is no database in ${at(name)}: \`deposit-gateway migrate\` makes one, and DATABASE_URL names another`);

const CHURCH = ['--organization', 'Church'];

describe('an operator who names a directory without a database', () => {
  test.concurrent.each([
    ['organization', 'create', 'Church'],
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
    expect(await runCommand(inDirectory(name), given)).toEqual(noneAt(name));
    expect(await readdir(root)).not.toContain(name);
  });

  test.concurrent('keeps the good backup, which no empty one replaces', async () => {
    await writeFile(at('good.backup'), 'a good backup');
    const words = ['backup', at('good.backup'), '--force'];
    expect(await runCommand(inDirectory('none'), words)).toEqual(noneAt('none'));
    expect(await succeed(inDirectory('empty'), ['migrate'])).toMatch(/^Applied \d{14}_books\n$/);
    expect(await runCommand(inDirectory('empty'), words)).toEqual(failed('The database has no organization: there is nothing to back up'));
    expect(await readFile(at('good.backup'), 'utf8')).toBe('a good backup');
  });

  test.concurrent('gets one by demo', async () => {
    await succeed(inDirectory('demo'), ['demo']);
    expect(await succeed(inDirectory('demo'), ['organization', 'list'])).toContain('Demo');
  });

  test.concurrent('learns which directory was meant from the place where a command was started', async () => {
    // The shell of a nightly import, whose address of the database was forgotten.
    const place = mkdtempSync(join(root, 'cron-'));
    const { status, stderr } = await runCommand({}, ['import', at('lines.ndjson'), ...CHURCH], '', undefined, place);
    expect([status, stderr]).toEqual([1, noneAt(`${basename(place)}/.data`).stderr]);
    expect(await readdir(place)).toEqual([]);
  });
});
