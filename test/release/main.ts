import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readVersion } from '../../src/package-files';
import { listPromises, PROMISES, RELEASED_SCHEMA, toReleasedSchema } from '../contract/promises';
import { findSection } from './changelog';
import { RELEASE, writeRelease } from './package';

// Tries everything and makes the files of a release. The steps follow one another, and the first that fails ends it.

const version = readVersion();

const git = (...words: string[]): string => execFileSync('git', words, { encoding: 'utf8' }).trimEnd();

function run(command: string, words: readonly string[], cwd = '.'): void {
  const { status } = spawnSync(command, words, { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${status}`);
}

const npm = (...words: string[]) => run('npm', ['run', ...words]);

function assertClean(): void {
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new Error(`The tree has changes that no commit has:\n${changed}`);
}

/** Measures, beside the last release when there is one. */
function bench(): void {
  const [last] = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n');
  if (!last) return npm('bench');
  const directory = mkdtempSync(join(tmpdir(), 'last-release-'));
  try {
    run('git', ['clone', '--quiet', '--no-local', '--branch', last, '.', directory]);
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], directory);
    run('npm', ['run', 'build'], directory);
    npm('bench', '--', '--earlier', directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the next releases are compared with. */
const records = (): Readonly<Record<string, string>> => ({
  [RELEASED_SCHEMA]: toReleasedSchema(version, readFileSync('schema.graphql', 'utf8')),
  [PROMISES]: `${JSON.stringify(listPromises(), null, 2)}\n`,
});

function record(): void {
  npm('check:build');
  for (const [path, text] of Object.entries(records())) writeFileSync(path, text);
  if (!existsSync(join('test/upgrade', version))) run('node', ['-r', '@swc-node/register', 'test/upgrade/record.ts']);
}

async function pack(changes: string): Promise<void> {
  assertClean();
  npm('check:build');
  const old = Object.entries(records()).find(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
  if (old) throw new Error(`${old[0]} is not of this release: npm run release -- --only record, then commit`);
  await writeRelease(changes);
  console.log(`The files of ${version} are in ${RELEASE}: tag the commit v${version}`);
}

/** The steps in their order. What is recorded is committed before it is packed. */
const steps: Readonly<Record<string, (changes: string) => void | Promise<void>>> = {
  check: () => npm('check'),
  test: () => npm('test'),
  trust: () => npm('test:trust'),
  browser: () => npm('test:browser'),
  bench,
  record,
  pack,
};

async function main(): Promise<void> {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
  if (only !== undefined && !Object.hasOwn(steps, only))
    throw new Error(`There is no step ${only}; there are: ${Object.keys(steps).join(', ')}`);
  const changes = findSection(readFileSync('CHANGELOG.md', 'utf8'), version);
  if (changes === undefined) throw new Error(`CHANGELOG.md has no section of ${version}`);
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`There is a tag v${version} already`);
  assertClean();
  for (const [name, step] of Object.entries(steps)) if (only === undefined || only === name) await step(changes);
}

main().catch((error: unknown) => {
  console.error((error as Error).message);
  process.exitCode = 1;
});
