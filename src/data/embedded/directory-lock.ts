import { link, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { kill, pid as ownPid } from 'node:process';
import { OperatorError } from '../../errors';
import { hasCode, readIfThere, writeNewFile } from './state-file';

/** The process that holds a data directory. The start time tells it from a later process with the same number. */
interface Holder {
  readonly pid: number;
  readonly startTime: string;
}

/** Thrown when another process holds the directory. */
export class DirectoryInUseError extends OperatorError {}

/** A lock that one process holds at a time. `release` or the death of its holder frees it; age never does. */
export interface DirectoryLock {
  release(): Promise<void>;
}

const LOCK_FILE = 'gateway.lock';

/** Takes the directory for this process. Throws an OperatorError that names the living process which holds it. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  // Parents are not made, so that a misspelt path is an error. Node's recursive mkdir also never ends under /proc, where nothing can be
  // made.
  await succeeds(mkdir(directory), 'EEXIST');
  const file = join(directory, LOCK_FILE);
  const own = JSON.stringify({ pid: ownPid, startTime: await findStartTime(ownPid) } satisfies Holder);
  const draft = `${file}.${ownPid}`;
  await writeNewFile(draft, own);
  try {
    // A hard link appears complete or not at all, and never replaces an existing file.
    while (!(await succeeds(link(draft, file), 'EEXIST'))) await removeIfStale(file, directory);
  } finally {
    await rm(draft, { force: true });
  }
  return {
    release: async () => {
      if ((await readIfThere(file)) === own) await rm(file, { force: true });
    },
  };
}

/** The living process that holds the directory, or undefined. */
export async function findHolder(directory: string): Promise<number | undefined> {
  const holder = toHolder(await readIfThere(join(directory, LOCK_FILE)));
  return holder && (await isAlive(holder)) ? holder.pid : undefined;
}

async function removeIfStale(file: string, directory: string): Promise<void> {
  const content = await readIfThere(file);
  if (content === undefined) return;
  const holder = toHolder(content);
  if (holder && (await isAlive(holder))) {
    throw new DirectoryInUseError(`The embedded database in ${directory} is in use by process ${holder.pid}`);
  }
  // The stale lock is moved aside before it is removed. When two processes find it stale, one moves it; the other checks what it has moved.
  const aside = `${file}.stale-${ownPid}`;
  if (!(await succeeds(rename(file, aside), 'ENOENT'))) return;
  if ((await readIfThere(aside)) !== content) await succeeds(link(aside, file), 'EEXIST');
  await rm(aside, { force: true });
}

function toHolder(content: string | undefined): Holder | undefined {
  const [, pid, startTime] = /^\{"pid":([0-9]{1,10}),"startTime":"([0-9]*)"\}$/.exec(content ?? '') ?? [];
  return pid === undefined || startTime === undefined ? undefined : { pid: Number(pid), startTime };
}

async function isAlive({ pid, startTime }: Holder): Promise<boolean> {
  return processExists(pid) && (await findStartTime(pid)) === startTime;
}

export function processExists(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Clock ticks from boot to the start of a process (proc(5), stat, field 22); empty on systems without /proc. */
async function findStartTime(pid: number): Promise<string> {
  const stat = (await readIfThere(`/proc/${pid}/stat`)) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Resolves to false when the step failed with the one expected error code. */
async function succeeds(step: Promise<void>, expectedFailure: string): Promise<boolean> {
  try {
    await step;
    return true;
  } catch (error) {
    if (hasCode(error, expectedFailure)) return false;
    throw error;
  }
}
