// Checks that dist was built from the present sources. It compares their contents, because a checkout or a copy changes file times. The exit
// status is 0 when dist is up to date, and 1 when it must be built.
// `node src/cli/build-stamp.mjs swap` ends a build: it records the sources in dist.next and puts that in the place of dist. A gateway that
// runs from dist never sees half a build, and a build that fails leaves dist as it was.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
const others = ['package-lock.json', 'tsconfig.json', 'prisma/schema.prisma'].map((name) => join(root, name));

const hash = createHash('sha256');
for (const file of [...sources, ...others].sort())
  hash.update(`${relative(root, file)}\0`).update(createHash('sha256').update(readFileSync(file)).digest());
const stamp = hash.digest('hex');

const [wish] = process.argv.slice(2);
if (wish === 'swap') swap();
else {
  const stampFile = join(current, STAMP);
  process.exitCode = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp ? 0 : 1;
}

function swap() {
  writeFileSync(join(next, STAMP), stamp);
  const assets = join(current, ASSETS);
  const isYoung = (file) => statSync(file).isDirectory() || Date.now() - statSync(file).mtimeMs < KEPT_MS;
  if (existsSync(assets)) cpSync(assets, join(next, ASSETS), { recursive: true, force: false, preserveTimestamps: true, filter: isYoung });
  // An interrupted swap may have left it.
  rmSync(former, { recursive: true, force: true });
  if (existsSync(current)) renameSync(current, former);
  renameSync(next, current);
  rmSync(former, { recursive: true, force: true });
}
