import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getuid } from 'node:process';

const OWNER_ONLY = 0o600;
const ROOT = 0;

/** Replaces a small file, which is there whole or not at all, also after a power cut. Its owner alone may read it. */
export async function writeStateFile(file: string, content: string): Promise<void> {
  const draft = `${file}.new`;
  await writeNewFile(draft, content);
  await rename(draft, file);
  await synchronise(dirname(file));
}

/** Writes a file in place of one that a killed process has left, and brings it to the disk. */
async function writeNewFile(file: string, content: string): Promise<void> {
  // Nobody else can write into a file that root has left.
  await rm(file, { force: true });
  const handle = await open(file, 'wx', OWNER_ONLY);
  try {
    await giveToOwnerOf(dirname(file), handle);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a file that root writes to the owner of its directory, whose gateway reads it when the command of root has been killed. */
export async function giveToOwnerOf(directory: string, file: Pick<FileHandle, 'chown'>): Promise<void> {
  if (getuid?.() !== ROOT) return;
  const { uid, gid } = await stat(directory);
  await file.chown(uid, gid);
}

/** The value of a JSON file; undefined when there is no file, and when a power cut has left a part of it. */
export async function readStateFile<Value extends object>(file: string): Promise<Value | undefined> {
  const content = await readIfThere(file);
  if (content === undefined) return undefined;
  try {
    return JSON.parse(content) as Value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined;
    throw error;
  }
}

/** Makes the names within a directory last. */
export async function synchronise(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync().catch((error: unknown) => {
      // Some network disks cannot do this for a directory.
      if (!hasCode(error, 'EINVAL') && !hasCode(error, 'ENOTSUP')) throw error;
    });
  } finally {
    await handle.close();
  }
}

export const hasCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;
