import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { failed, runCommand, succeed, withoutDatabase, type CommandResult, type Environment } from '../support/command';
import { MAIN } from '../support/gateway-package';
import { until } from '../support/until';

/** A container sees neither the processes nor the shared memory of the others. */
const CONTAINER = ['--pid', '--ipc', '--mount-proc', '--fork', '--kill-child'];
const canIsolate = process.getuid?.() === 0 && spawnSync('unshare', [...CONTAINER, 'true']).status === 0;

let root: string;

const settings = (directory: string): Environment => ({ DATA_DIR: directory, DEMO: 'off' });

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gateway-containers-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(root, 0o755);
});
afterAll(async () => {
  await Promise.all(containers.map((container) => container.end('SIGKILL')));
  rmSync(root, { recursive: true });
});

const containers: Container[] = [];
function startContainer(directory: string): Container {
  const container = new Container(directory);
  containers.push(container);
  return container;
}

/** A gateway in a container of its own. */
class Container {
  private readonly child: ChildProcess;
  private stdout = '';
  private stderr = '';
  private readonly closed: Promise<unknown>;

  constructor(directory: string) {
    const env = { PATH: process.env.PATH, ...settings(directory), PORT: '0', DRAIN_MILLISECONDS: '0' };
    this.child = spawn('unshare', [...CONTAINER, process.execPath, '--', MAIN, '--no-env-file', 'serve'], { env });
    this.child.stdout!.setEncoding('utf8').on('data', (piece: string) => (this.stdout += piece));
    this.child.stderr!.setEncoding('utf8').on('data', (piece: string) => (this.stderr += piece));
    this.closed = once(this.child, 'close');
  }

  /** Waits until the gateway serves or has ended, and resolves to its output and its exit status, which is null while it serves. */
  async result(): Promise<CommandResult> {
    await until(() => this.stdout.includes('"msg":"listening"') || this.hasEnded);
    if (this.hasEnded) await this.closed;
    return { status: this.child.exitCode, stdout: this.stdout, stderr: withoutDatabase(this.stderr) };
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this.child;
    kill(Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')), signal);
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.hasEnded) await this.signal(signal);
    await this.closed;
    return this.child.exitCode;
  }

  private get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

const serving = { status: null, stdout: expect.stringContaining('"msg":"listening"') as string, stderr: '' };

(canIsolate ? test : test.skip)('an operator who starts two containers on one directory has one that serves', async () => {
  const directory = join(root, 'data');
  const first = startContainer(directory);
  await until(() => existsSync(join(directory, 'postgres')));
  // The first one has the directory, and no database in it that could answer.
  await first.signal('SIGSTOP');
  const second = startContainer(directory);
  const refusal = failed(
    `The embedded database in ${directory} is in use by a process that cannot be seen from here, as in another container`,
  );
  expect(await second.result()).toEqual(refusal);
  await first.signal('SIGCONT');
  expect(await first.result()).toEqual(serving);

  await first.end('SIGKILL');
  const third = startContainer(directory);
  expect(await third.result()).toEqual(serving);
  expect(await third.end('SIGTERM')).toBe(0);
});

test('an operator reads why a database does not start, and in the log of that start too', async () => {
  const directory = join(root, 'damaged');
  await succeed(settings(directory), ['migrate']);
  const home = join(directory, 'postgres');
  const [segments, aside] = [join(home, 'cluster/pg_wal'), join(home, 'aside')];
  await rename(segments, aside);
  const result = await runCommand(settings(directory), ['organization', 'list']);
  expect(result).toEqual(
    failed(`The embedded PostgreSQL did not start: required WAL directory "pg_wal" does not exist (${join(home, 'server.log')} has more)`),
  );
  await rename(aside, segments);
  await succeed(settings(directory), ['organization', 'list']);
  expect(await readFile(join(home, 'server.log.1'), 'utf8')).toContain('FATAL:  required WAL directory "pg_wal" does not exist');
});

test('an operator finds no programs of PostgreSQL but those of the gateway that runs', async () => {
  const directory = join(root, 'updated');
  await succeed(settings(directory), ['migrate']);
  const listEngines = async () => (await readdir(join(directory, 'postgres'))).filter((name) => name.includes('engine-'));
  const own = await listEngines();
  for (const name of ['engine-17.6.0/bin', 'new-engine-17.6.0.4711/bin'])
    await mkdir(join(directory, 'postgres', name), { recursive: true });
  await succeed(settings(directory), ['organization', 'list']);
  expect([own.length, await listEngines()]).toEqual([1, own]);
});

const disk = () => join(root, 'disk');
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

(canMount ? test : test.skip)(
  'an operator whose disk is full at the first start gives it room, and finds nothing of the tries',
  async () => {
    await mkdir(disk());
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=755', 'tmpfs', disk()]);
    try {
      const directory = join(disk(), 'data');
      const refusal = `DATA_DIR: there is no room left for ${directory}: free some, or set DATA_DIR to a directory on another disk`;
      for (const _try of ['first', 'second']) {
        expect(await runCommand(settings(directory), ['migrate'])).toEqual(failed(refusal));
        expect([await readdir(directory), await readdir(join(directory, 'postgres'))]).toEqual([['postgres'], []]);
      }
      execFileSync('mount', ['-o', 'remount,size=400m', disk()]);
      await succeed(settings(directory), ['migrate']);
    } finally {
      execFileSync('umount', ['-l', disk()]);
    }
  },
);
