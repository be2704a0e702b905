// Checks that dist was built from the present sources. It compares their contents, because a checkout or a copy changes file times.
// `node src/cli/build-stamp.mjs write` records the sources at the end of a build, and `forget` takes the record away at its start: a build
// that fails leaves a dist of no known sources. Without an argument the exit status is 0 when dist is up to date, and 1 when it must be built.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stampFile = join(root, 'dist/build-stamp');

const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .filter((file) => !file.startsWith(join(root, 'src/generated')));
const others = ['package-lock.json', 'tsconfig.json', 'prisma.config.ts', 'prisma/schema.prisma'].map((name) => join(root, name));

const hash = createHash('sha256');
for (const file of [...sources, ...others].sort())
  hash.update(`${relative(root, file)}\0`).update(createHash('sha256').update(readFileSync(file)).digest());
const stamp = hash.digest('hex');

const [wish] = process.argv.slice(2);
if (wish === 'write') writeFileSync(stampFile, stamp);
else if (wish === 'forget') rmSync(stampFile, { force: true });
else process.exitCode = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp ? 0 : 1;
