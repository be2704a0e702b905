import { execFile, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port';
import { NotRun } from './attack';

const DEBIAN = '/usr/lib/postgresql';
const USER = 'postgres';
const DATABASE = 'postgres';
/** The server listens on loopback and is gone after the attack. */
const PASSWORDLESS = 'trust';

/** A server of Debian's PostgreSQL that an attack restarts and kills. */
export interface Cluster {
  readonly url: string;
  readonly port: number;
  restart(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  promote(): Promise<void>;
  /** Makes a standby that follows this server. */
  follow(): Promise<Cluster>;
}

/** Runs a program of PostgreSQL, which refuses to run as root. */
export async function runAsPostgres(program: string, words: readonly string[]): Promise<void> {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  if (versions.length === 0 || spawnSync('runuser', ['--version']).error || getuid!() !== 0) {
    throw new NotRun("Debian's PostgreSQL, or root to run it as another user, is missing");
  }
  await promisify(execFile)('runuser', ['-u', USER, '--', join(DEBIAN, versions.at(-1)!, 'bin', program), ...words], { cwd: '/' });
}

/** Makes and starts a server below a directory that its account may write to. */
export async function startCluster(parent: string): Promise<Cluster> {
  const directory = join(parent, `primary`);
  const port = await freePort();
  await runAsPostgres('initdb', ['-D', directory, '-A', PASSWORDLESS, '-U', USER, '--no-sync']);
  appendFileSync(
    join(directory, 'postgresql.conf'),
    `\nlisten_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\nwal_level = replica\nmax_connections = 200\n`,
  );
  return startIn(parent, directory, port);
}

async function startIn(parent: string, directory: string, port: number): Promise<Cluster> {
  const control = (...words: string[]): Promise<void> =>
    runAsPostgres('pg_ctl', ['-D', directory, '-w', '-l', join(parent, `${port}.log`), ...words]);
  await control('start');
  return {
    ...{ port, url: `postgresql://${USER}@127.0.0.1:${port}/${DATABASE}` },
    restart: () => control('restart', '-m', 'immediate'),
    stop: () => control('stop', '-m', 'immediate'),
    start: () => control('start'),
    promote: () => control('promote'),
    follow: async () => {
      const copy = join(parent, 'standby');
      const copyPort = await freePort();
      await runAsPostgres('pg_basebackup', ['-D', copy, '-R', '-X', 'stream', '-h', '127.0.0.1', '-p', String(port), '-U', USER]);
      appendFileSync(join(copy, 'postgresql.conf'), `\nport = ${copyPort}\n`);
      return startIn(parent, copy, copyPort);
    },
  };
}

/** A directory that PostgreSQL's account may write to. */
export function makeClusterDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'trust-cluster-'));
  chmodSync(path, 0o777);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
