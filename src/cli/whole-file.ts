import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, lstat, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pid } from 'node:process';
import { processExists } from '../data/embedded/directory-lock';
import { hasCode, synchronise } from '../data/embedded/state-file';
import { OperatorError } from '../errors';

/** A file of donors' data, which no other account may read. */
const OWNER_ONLY = 0o600;
const MS_PER_DAY = 86_400_000;

/**
 * Writes a file that is there whole or not at all, under a name beside it until it is on the disk. `write` gets the function that takes the
 * content. Throws an OperatorError when the file is there already, unless it may be replaced.
 */
export async function writeWhole<Result>(
  file: string,
  mayReplace: boolean,
  write: (put: (content: AsyncIterable<Buffer>) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const target = await findTarget(file, mayReplace);
  await removeDrafts(target);
  // Commands on two machines, or in two containers, may have the same number and write to the same disk.
  const draft = `${target}.${hostname()}-${pid}-${randomBytes(4).toString('hex')}.part`;
  const handle = await open(draft, 'wx', OWNER_ONLY).catch(failWriting(file));
  const removeDraft = (): void => rmSync(draft, { force: true });
  // A signal may end the command by `process.exit`, which runs no `finally`.
  process.on('exit', removeDraft);
  try {
    const result = await write(async (content) => {
      for await (const block of content) await handle.writeFile(block).catch(failWriting(file));
      await handle.sync().catch(failWriting(file));
      await (mayReplace ? rename(draft, target) : placeNew(draft, target, file)).catch(failWriting(file));
      await synchronise(dirname(target)).catch(failWriting(file));
    });
    return result;
  } finally {
    await handle.close();
    removeDraft();
    process.off('exit', removeDraft);
  }
}

/** Gives a draft its name, which nobody else may have taken meanwhile. */
async function placeNew(draft: string, target: string, file: string): Promise<void> {
  try {
    // A link never replaces a file; a rename does.
    await link(draft, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Some disks, such as those of memory sticks, have no links.
    if (code !== 'EEXIST' && code !== 'EPERM' && code !== 'ENOTSUP') throw error;
    await findTarget(file, false);
    await rename(draft, target);
  }
}

/**
 * The path of the file to write: the one that a link leads to. Throws an OperatorError when something else than a file is there, which a
 * rename would replace, or a file that may not be replaced.
 */
async function findTarget(file: string, mayReplace: boolean): Promise<string> {
  const place = resolve(file);
  const found = await stat(place).catch(orNothing).catch(failWriting(file));
  if (!found) {
    if (await lstat(place).catch(orNothing)) throw new OperatorError(`${file} is a link to a file that is not there`);
    return place;
  }
  if (found.isDirectory()) throw new OperatorError(`${file} is a directory`);
  if (!found.isFile()) throw new OperatorError(`${file} is a device, a pipe or a socket, and no file`);
  if (!mayReplace) throw new OperatorError(`${file} is there already: --force replaces it`);
  return realpath(place).catch(failWriting(file));
}

/** Returns undefined for a file that is not there, and throws any other error. */
function orNothing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

/** Removes the drafts of commands that were killed. */
async function removeDrafts(target: string): Promise<void> {
  const prefix = `${basename(target)}.`;
  for (const name of await readdir(dirname(target)).catch(() => [])) {
    const [, machine, owner] = (name.startsWith(prefix) && /^(.+)-([0-9]{1,10})-[0-9a-f]{8}\.part$/.exec(name.slice(prefix.length))) || [];
    const draft = join(dirname(target), name);
    if (machine !== undefined && (await isLeft(draft, machine, Number(owner)))) await rm(draft, { force: true });
  }
}

/**
 * True for a draft whose process has ended. One of this machine with this process's number is of an earlier process, as in a container. The
 * processes of another machine are not known here: a draft of theirs counts as left when nobody has written to it for a day.
 */
async function isLeft(draft: string, machine: string, owner: number): Promise<boolean> {
  if (machine === hostname() && owner !== pid) return !processExists(owner);
  const found = await stat(draft).catch(() => undefined);
  return found !== undefined && found.mtimeMs < (machine === hostname() ? performance.timeOrigin : Date.now() - MS_PER_DAY);
}

const failWriting = (file: string) => (error: unknown) => {
  if (error instanceof OperatorError) throw error;
  throw new OperatorError(`Cannot write ${file}: ${(error as Error).message}`, { cause: error });
};
