import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { kill, pid as ownPid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../errors';
import { giveToOwnerOf, hasCode, readIfThere, writeStateFile } from './state-file';

/** The process that holds a data directory. The start time tells it from a later process with the same number. */
interface Holder {
  readonly pid: number;
  readonly startTime: string;
}

/** Thrown when another process that can be seen from here holds the directory. */
export class DirectoryInUseError extends OperatorError {}

/** A lock that one process holds at a time. `release` or the death of its holder frees it; age never does. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** A socket on which this process listens, in the directory that it wants. */
interface Claim {
  readonly name: string;
  close(): Promise<void>;
}

/** Tells who holds the directory. */
const LOCK_FILE = 'gateway.lock';
/** The socket of the holder. */
const HELD = 'gateway.socket';
/** The socket of a process that wants to hold the directory. It is a draft until the process listens on it. */
const CLAIM = /^gateway\.[0-9a-f]{8}\.(?:claim|draft)$/;
const LONGEST_NAME = 'gateway.00000000.draft';
const PAUSE_MS = 20;
/** They take 13 seconds on average. */
const MAX_ROUNDS = 50;
/** A holder that cannot be seen from here, as in another container. */
const HIDDEN = 'hidden';
/** The path of a unix socket's address holds 104 bytes with its end mark on macOS, and 108 on Linux (unix(7)). */
const MAX_SOCKET_PATH = 103;

export const isSocketPath = (path: string): boolean => Buffer.byteLength(path) <= MAX_SOCKET_PATH;

/**
 * Takes the directory for this process. Throws an OperatorError when a living process holds it.
 *
 * The number of a process means nothing in another container that has the directory, so the lock is a socket on which its holder listens.
 * The kernel connects every process of the machine to it, and refuses them from the death of the holder on. A process puts up a socket of
 * its own first, and looks for those of others then: of two, the one that was later finds the other. Nobody takes the directory who finds
 * another one; both try again after pauses of different lengths. The name of a claim never comes twice, so that a dead one can be removed at
 * any time. Machines that share a network disk do not reach the sockets of each other: nothing keeps them apart.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  // Parents are not made, so that a misspelt path is an error. Node's recursive mkdir also never ends under /proc, where nothing can be
  // made.
  await succeeds(mkdir(directory), 'EEXIST');
  return withShortPath(directory, async (path) => {
    const own = JSON.stringify({ pid: ownPid, startTime: await findStartTime(ownPid) } satisfies Holder);
    for (let round = 1; ; round++) {
      const holder = await findAnyHolder(directory, path, own);
      if (holder === HIDDEN) throw hiddenHolder(directory);
      if (holder !== undefined) throw new DirectoryInUseError(`The embedded database in ${directory} is in use by process ${holder}`);
      const claim = await putUpClaim(path);
      if (claim && (await isAlone(path, claim.name))) return hold(directory, claim, own);
      await claim?.close();
      // A process that was paused with its claim up keeps the directory from others.
      if (round === MAX_ROUNDS) throw hiddenHolder(directory);
      await sleep(Math.random() * round * PAUSE_MS);
    }
  });
}

async function hold(directory: string, claim: Claim, own: string): Promise<DirectoryLock> {
  const release = async (): Promise<void> => {
    await rm(join(directory, LOCK_FILE), { force: true });
    // The name goes before the socket ends: by then another process may have put its own socket there.
    await rm(join(directory, HELD), { force: true });
    await claim.close();
  };
  try {
    // A process that finds the holder's socket finds its number, too.
    await writeStateFile(join(directory, LOCK_FILE), own);
    await rename(join(directory, claim.name), join(directory, HELD));
    return { release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The living process that holds the directory, or undefined when there is none that can be seen from here. */
export async function findHolder(directory: string): Promise<number | undefined> {
  const holder = toHolder(await readIfThere(join(directory, LOCK_FILE)));
  return holder && (await isAlive(holder)) ? holder.pid : undefined;
}

/** Throws an OperatorError when a process holds the directory that cannot be seen from here. */
export async function assertNoHiddenHolder(directory: string): Promise<void> {
  const holder = await withShortPath(directory, (path) => findAnyHolder(directory, path));
  if (holder === HIDDEN) throw hiddenHolder(directory);
}

export const hiddenHolder = (directory: string): OperatorError =>
  new OperatorError(`The embedded database in ${directory} is in use by a process that cannot be seen from here, as in another container`);

/** The last one is of a listener that ends meanwhile. */
const ENDED = ['ECONNREFUSED', 'ENOENT', 'ECONNRESET'];

/** True when a process listens on the socket, be it that it is starting or stopping. */
export async function answers(socket: string): Promise<boolean> {
  const connection = connect(socket);
  try {
    await once(connection, 'connect');
    return true;
  } catch (error) {
    if (ENDED.some((code) => hasCode(error, code))) return false;
    // The listener has so many waiting that the kernel takes no more, or the socket is of root, who has yet to give it away.
    if (hasCode(error, 'EAGAIN') || hasCode(error, 'EACCES')) return true;
    throw error;
  } finally {
    connection.destroy();
  }
}

/** The living process that holds the directory, which may be HIDDEN, or undefined when there is none. */
async function findAnyHolder(directory: string, path: string, own?: string): Promise<number | typeof HIDDEN | undefined> {
  const read = () => readIfThere(join(directory, LOCK_FILE));
  const content = await read();
  const holder = toHolder(content);
  // A process of an ended container may have had the number and the start time of this one.
  if (holder && content !== own && (await isAlive(holder))) return holder.pid;
  if (content === undefined || !(await answers(join(path, HELD)))) return undefined;
  // A holder that comes or goes just now changes the file, and may be seen in the next round.
  return content === (await read()) ? HIDDEN : undefined;
}

/** Undefined when another process has taken the draft for a dead one before this process listened on it. */
async function putUpClaim(directory: string): Promise<Claim | undefined> {
  const id = randomBytes(4).toString('hex');
  const [draft, name] = [`gateway.${id}.draft`, `gateway.${id}.claim`];
  const server = createServer((connection) => connection.destroy()).unref();
  const place = join(directory, draft);
  server.listen(place);
  await once(server, 'listening');
  // A process that has no file left to take a connection with still listens.
  server.on('error', () => undefined);
  const isUp = await succeeds(
    giveToOwnerOf(directory, { chown: (uid, gid) => chown(place, uid, gid) }).then(() => rename(place, join(directory, name))),
    'ENOENT',
  );
  const close = async (): Promise<void> => {
    await rm(join(directory, name), { force: true });
    server.close();
  };
  if (isUp) return { name, close };
  await close();
  return undefined;
}

/** True when no other living process holds the directory or claims it. Dead claims are removed. */
async function isAlone(directory: string, own: string): Promise<boolean> {
  let isAlone = true;
  for (const name of await readdir(directory)) {
    if (name === own || !CLAIM.test(name)) continue;
    if (!(await answers(join(directory, name)))) await rm(join(directory, name), { force: true });
    // The process of a draft has yet to look for this one.
    else if (!name.endsWith('.draft')) isAlone = false;
  }
  // A claim that has become the holder's meanwhile is found here.
  return isAlone && !(await answers(join(directory, HELD)));
}

/** Uses a path to the directory that is short enough for the address of a socket: its own, or that of a link which is removed after it. */
async function withShortPath<Result>(directory: string, use: (path: string) => Promise<Result>): Promise<Result> {
  if (isSocketPath(join(directory, LONGEST_NAME))) return use(directory);
  const parent = await mkdtemp(join(tmpdir(), 'deposit-gateway-'));
  try {
    const path = join(parent, 'data');
    await symlink(resolve(directory), path);
    return await use(path);
  } finally {
    await rm(parent, { recursive: true });
  }
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
