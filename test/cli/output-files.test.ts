import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failed, runCommand, succeed, type Environment } from '../support/command';
import { createTestDatabase, type TestDatabase } from '../support/database';

let root: string;
let database: TestDatabase;
let environment: Environment;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'gateway-outputs-'));
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url };
  for (const name of ['Church', 'School']) await succeed(environment, ['organization', 'create', name]);
});
afterAll(async () => {
  await database.drop();
  rmSync(root, { recursive: true });
});

const makeDirectory = (): string => mkdtempSync(join(root, 'files-'));
const exportOf = (organization: string) =>
  ['export', '--organization', organization, '--start', '2026-01-01', '--end', '2026-01-31', '--format', 'csv', '--out'] as const;

const writers = [
  ['an export', (file: string) => [...exportOf('Church'), file]],
  ['a backup', (file: string) => ['backup', file]],
  ['a backup that replaces', (file: string) => ['backup', file, '--force']],
] as const;
const targets = [
  ['a directory', 'is a directory', (file: string) => mkdirSync(file)],
  ['a pipe', 'is a device, a pipe or a socket, and no file', (file: string) => execFileSync('mkfifo', [file])],
  ['a link that leads nowhere', 'is a link to a file that is not there', (file: string) => symlinkSync(`${file}.gone`, file)],
] as const;
const refusals = writers.flatMap(([writer, words]) =>
  targets.map(([target, reason, make]) => [writer, target, reason, words, make] as const),
);

test.each(refusals)('an operator who writes %s to %s is told so, and nothing is read', async (_writer, _target, reason, words, make) => {
  const directory = makeDirectory();
  const file = join(directory, 'target');
  make(file);
  const stateOf = (): string => execFileSync('ls', ['-lAR', '--time-style=full-iso', directory]).toString();
  const before = stateOf();
  expect(await runCommand(environment, words(file))).toEqual(failed(`${file} ${reason}`));
  expect(stateOf()).toBe(before);
  const { rows } = await database.client.query(
    `SELECT operation FROM audit_record JOIN organization o ON o.id = organization_id WHERE o.name = 'Church' AND kind = 'read'`,
  );
  expect(rows).toEqual([]);
});

const testAsRoot = process.getuid?.() === 0 ? test : test.skip;

testAsRoot('an operator who exports to a device finds the device as it was', async () => {
  const file = join(makeDirectory(), 'null');
  execFileSync('mknod', [file, 'c', '1', '3']);
  expect(await runCommand(environment, [...exportOf('Church'), file])).toEqual(
    failed(`${file} is a device, a pipe or a socket, and no file`),
  );
  expect(statSync(file).isCharacterDevice()).toBe(true);
});

test('an operator who exports to a link finds the file in the place that the link leads to', async () => {
  const directory = makeDirectory();
  const elsewhere = makeDirectory();
  const [link, real] = [join(directory, 'report.csv'), join(elsewhere, 'real.csv')];
  writeFileSync(real, 'an earlier report');
  symlinkSync(real, link);
  await succeed(environment, [...exportOf('School'), link]);
  expect(readlinkSync(link)).toBe(real);
  expect(readFileSync(real, 'utf8')).toMatch(/^deposit_id,/);
  expect([readdirSync(directory), readdirSync(elsewhere)]).toEqual([['report.csv'], ['real.csv']]);
});
