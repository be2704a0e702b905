import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readBackup, sumsOf, type BackupEntry } from '../support/backup-files';
import { ROOT } from '../support/documents';

/** The folder of a release's files. Git does not know it. */
export const RELEASE = 'release';
/** The two builds differ in what must not matter: the length of their paths, and the umask, the time zone and the language of the builder. */
const builds = [
  { folder: 'a', umask: 0o022, settings: { TZ: 'UTC', LANG: 'C.UTF-8' } },
  { folder: 'a-folder-with-a-name-that-is-much-longer', umask: 0o077, settings: { TZ: 'Pacific/Apia', LANG: 'de_DE.UTF-8' } },
] as const;
/** The files that a release has beside the package, by their places within it. */
const EXTRACTS = ['package/dist/sbom.cdx.json', 'package/dist/third-party-notices.txt'];
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const read = (command: string, ...words: string[]): string => execFileSync(command, words, { cwd: ROOT, encoding: 'utf8' }).trim();

/** Makes the package in a new clone, as a stranger does: with none of the settings of this process. Returns its path. */
function pack(parent: string, { folder, umask, settings }: (typeof builds)[number]): string {
  const clone = join(parent, folder);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings };
  const run = (command: string, ...words: string[]): string =>
    execFileSync(command, words, { cwd: clone, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const own = process.umask(umask);
  execFileSync('git', ['clone', '--quiet', '--no-local', ROOT, clone]);
  run('npm', 'ci', ...QUIET);
  run('npm', 'pack', ...QUIET);
  process.umask(own);
  const name = readdirSync(clone).find((each) => each.endsWith('.tgz'));
  if (name === undefined) throw new Error(`npm pack has made no package in ${clone}`);
  return join(clone, name);
}

const contentOf = (entries: readonly BackupEntry[], path: string): Buffer | undefined => entries.find(({ name }) => name === path)?.content;

/** The files that differ between two packages; the package itself when only its frame differs. */
async function findDifferences(one: string, other: string): Promise<string[]> {
  const [first, second] = await Promise.all([readBackup(one), readBackup(other)]);
  const names = new Set([...first, ...second].map(({ name }) => name));
  const differing = [...names].filter((name) => {
    const [left, right] = [contentOf(first, name), contentOf(second, name)];
    return !left || !right || !left.equals(right);
  });
  return differing.length > 0 ? differing : [basename(one)];
}

/**
 * Makes the package twice, from the commit that is checked out, compares both byte for byte, and writes the files of the release: the package,
 * its bill of materials, its notices, what changed, and the sums of all of them.
 */
export async function writeRelease(changes: string): Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const [first, second] = builds.map((build) => pack(parent, build)) as [string, string];
    const content = readFileSync(first);
    if (!content.equals(readFileSync(second))) {
      throw new Error(`Two builds differ in ${(await findDifferences(first, second)).join(', ')}`);
    }
    const packed = await readBackup(first);
    const extracts = EXTRACTS.map((path) => ({ name: basename(path), content: contentOf(packed, path)! }));
    const tools = `Node ${process.version} and npm ${read('npm', '--version')}`;
    const notes = `${changes}\n\nMade of the commit ${read('git', 'rev-parse', 'HEAD')} with ${tools}.\n`;
    const files = [{ name: basename(first), content }, ...extracts, { name: 'notes.md', content: Buffer.from(notes) }];
    rmSync(join(ROOT, RELEASE), { recursive: true, force: true });
    mkdirSync(join(ROOT, RELEASE));
    for (const file of [...files, sumsOf(files)]) writeFileSync(join(ROOT, RELEASE, file.name), file.content);
    const sum = createHash('sha256').update(content).digest('hex');
    console.log(`Two builds are equal: ${basename(first)}, ${content.length} bytes, SHA-256 ${sum}`);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}
