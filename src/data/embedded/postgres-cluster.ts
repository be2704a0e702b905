import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../errors';
import { processExists } from './directory-lock';
import type { PostgresHome } from './postgres-home';
import { readIfThere, synchronise, writeStateFile } from './state-file';

export const USER = 'deposit_gateway';
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** The cluster that gateways serve. */
export const clusterDirectory = (home: Pick<PostgresHome, 'directory'>): string => join(home.directory, 'cluster');
/** A cluster that is being filled. It is worth nothing when its gateway has died. */
export const draftDirectory = (home: Pick<PostgresHome, 'directory'>): string => join(home.directory, 'cluster.filling');

/** Nothing of the caller's environment reaches PostgreSQL: PGDATA, locale or time zone would change what it does. */
export const childOptions = (home: PostgresHome) => ({ cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, ...home.account });

/** True when there is a cluster that gateways serve. */
export const hasCluster = (home: Pick<PostgresHome, 'directory'>): Promise<boolean> => exists(clusterDirectory(home));

/** Makes the cluster that gateways serve if there is none yet, and returns its password. */
export async function initialise(home: PostgresHome): Promise<string> {
  if (!(await exists(clusterDirectory(home)))) {
    const draft = `${clusterDirectory(home)}.new`;
    await makeCluster(home, draft);
    await rename(draft, clusterDirectory(home));
    await synchronise(home.directory);
  }
  return readFile(passwordFile(home), 'utf8');
}

/** Makes a cluster with the password of the home, and returns that. */
export async function makeCluster(home: PostgresHome, directory: string): Promise<string> {
  const file = passwordFile(home);
  // A power cut may have left an empty one. The password of a cluster that holds data is on the disk before the cluster is.
  if (!(await readIfThere(file))) await writeStateFile(file, randomBytes(32).toString('base64url'));
  // A command that was killed leaves its initdb running for a while. It fails, and then removes the directory that it was given.
  await removeMade(directory);
  const made = `${directory}.${randomBytes(4).toString('hex')}`;
  await run(home, 'initdb', [
    ...['--pgdata', made, '--username', USER, '--pwfile', file, '--auth', 'scram-sha-256'],
    ...['--encoding', 'UTF8', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--no-instructions'],
  ]);
  await rm(directory, { recursive: true, force: true });
  await rename(made, directory);
  return readFile(file, 'utf8');
}

/** Removes the clusters that commands were making for this directory when they were killed. */
async function removeMade(directory: string): Promise<void> {
  const prefix = `${basename(directory)}.`;
  for (const name of await readdir(dirname(directory))) {
    const isMade = name.startsWith(prefix) && /^[0-9a-f]{8}$/.test(name.slice(prefix.length));
    if (isMade) await rm(join(dirname(directory), name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The major version of the PostgreSQL that the cluster is of; undefined when there is no cluster. */
export async function findMajor(home: PostgresHome): Promise<number | undefined> {
  const text = await readIfThere(join(clusterDirectory(home), 'PG_VERSION'));
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/** Stops what a killed gateway has left running, and removes a cluster that it was filling. */
export async function tidyUp(home: PostgresHome): Promise<void> {
  await endOrphan(clusterDirectory(home));
  await endOrphan(draftDirectory(home));
  await rm(draftDirectory(home), { recursive: true, force: true });
}

/** Puts the cluster in place that was being filled. Its server must have stopped. */
export async function complete(home: PostgresHome): Promise<void> {
  await rename(draftDirectory(home), clusterDirectory(home));
  await synchronise(home.directory);
}

const passwordFile = (home: PostgresHome): string => join(home.directory, 'password');

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined;

async function run(home: PostgresHome, program: string, parameters: readonly string[]): Promise<void> {
  const child = spawn(join(home.bin, program), parameters, { ...childOptions(home), stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new OperatorError(`${program} failed: ${output.trim()}`);
}

/** Stops the PostgreSQL that a killed gateway has left running. */
async function endOrphan(cluster: string): Promise<void> {
  const pid = await findServer(cluster);
  if (pid === undefined) {
    // The file of a server that is gone is removed: PostgreSQL would take any process that has its number now for that server.
    await rm(join(cluster, 'postmaster.pid'), { force: true });
    return;
  }
  kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (await isServerOf(cluster, pid)) {
    await sleep(POLL_MS);
    if (Date.now() > deadline) throw new OperatorError(`The embedded PostgreSQL of an earlier gateway (process ${pid}) does not stop`);
  }
}

/** The process id of a cluster's server, or undefined when no such process is visible. */
export async function findServer(cluster: string): Promise<number | undefined> {
  const [line] = ((await readIfThere(join(cluster, 'postmaster.pid'))) ?? '').split('\n');
  const pid = Number(line);
  return pid > 0 && (await isServerOf(cluster, pid)) ? pid : undefined;
}

/** True when the process is still this cluster's PostgreSQL. After a restart of the machine another process may have its number. */
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  if (!processExists(pid)) return false;
  // The file is empty for a zombie process. On systems without /proc, the number alone decides.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => cluster);
  return command.split('\0').includes(cluster);
}
