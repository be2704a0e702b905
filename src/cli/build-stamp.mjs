// Checks that dist was built from the present sources. It compares their contents, because a checkout or a copy changes file times. The exit
// status is 0 when dist is up to date, and 1 when it must be built.
// `node src/cli/build-stamp.mjs swap` ends a build: it records the sources in dist.next and puts that in the place of dist. A gateway that
// runs from dist never sees half a build, and a build that fails leaves dist as it was. With the word `alone` it keeps nothing of the build before.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [current, next, former] = ['dist', 'dist.next', 'dist.former'].map((name) => join(root, name));
const STAMP = 'build-stamp';
const ASSETS = 'playground-web/assets';
/** A page that is open, and a gateway that runs, load their own build's files until they are loaded anew. The names hold hashes. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .filter((file) => !file.startsWith(join(root, 'src/generated')));
const others = ['package-lock.json', 'package.json', 'tsconfig.json', 'prisma/schema.prisma'].map((name) => join(root, name));

const hash = createHash('sha256');
for (const file of [...sources, ...others].sort())
  hash.update(`${relative(root, file)}\0`).update(createHash('sha256').update(readFileSync(file)).digest());
const stamp = hash.digest('hex');

const [wish, ...more] = process.argv.slice(2);
if (wish === 'swap') swap(more.includes('alone'));
else {
  const stampFile = join(current, STAMP);
  process.exitCode = existsSync(stampFile) && readFileSync(stampFile, 'utf8').split('\n')[0] === stamp ? 0 : 1;
}

function swap(isAlone) {
  const listAssets = (build) => (existsSync(join(build, ASSETS)) ? readdirSync(join(build, ASSETS)) : []);
  writeFileSync(join(next, STAMP), [stamp, ...listAssets(next)].join('\n'));
  if (!isAlone) keepAssets();
  // An interrupted swap may have left it.
  rmSync(former, { recursive: true, force: true });
  if (existsSync(current)) renameSync(current, former);
  renameSync(next, current);
  rmSync(former, { recursive: true, force: true });
}

/** Takes the page's files of the build before along. The stamp lists its own files, whose week begins now; those of earlier builds have theirs. */
function keepAssets() {
  const assets = join(current, ASSETS);
  if (!existsSync(assets)) return;
  const stampFile = join(current, STAMP);
  const [, ...own] = existsSync(stampFile) ? readFileSync(stampFile, 'utf8').split('\n') : [];
  const now = new Date();
  for (const name of own) if (existsSync(join(assets, name))) utimesSync(join(assets, name), now, now);
  const isYoung = (file) => statSync(file).isDirectory() || now.getTime() - statSync(file).mtimeMs < KEPT_MS;
  cpSync(assets, join(next, ASSETS), { recursive: true, force: false, preserveTimestamps: true, filter: isYoung });
}
