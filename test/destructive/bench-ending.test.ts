import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { until } from '../support/until';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(directory, 0o755);
});
afterEach(() => {
  for (const { pid } of processes()) kill(pid, 'SIGKILL');
  rmSync(directory, { recursive: true });
});

const readProc = (pid: string, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
};

/** The processes that have to do with the test's directory, by their command line or their environment. */
const processes = (): { pid: number; command: string }[] =>
  readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => ({ pid: Number(name), command: readProc(name, 'cmdline'), environment: readProc(name, 'environ') }))
    .filter(({ command, environment }) => command.includes(directory) || environment.includes(directory));

const runs = (part: string): boolean => processes().some(({ command }) => command.includes(part));

test.each([
  ['makes its data', 'SIGTERM', 143, ['--lines', '2000000', '--works', 'day'], () => runs('/postgres\0')],
  ['measures', 'SIGINT', 130, ['--lines', '2000', '--works', 'live;live;live;live', '--contenders', ''], () => runs('report-readers.ts')],
] as const)(
  'a benchmark that is ended while it %s leaves no process and no file behind',
  async (_title, signal, status, words, isThere) => {
    const bench = spawn(process.execPath, ['-r', '@swc-node/register', join(__dirname, '../bench/main.ts'), ...words], {
      env: { PATH: process.env.PATH, TMPDIR: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    bench.stderr.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    const exited = once(bench, 'exit');
    await until(() => {
      if (bench.exitCode !== null) throw new Error(`The benchmark ended with ${bench.exitCode}: ${output}`);
      return isThere();
    });
    expect(processes().length).toBeGreaterThan(1);
    bench.kill(signal);
    expect(await exited).toEqual([status, null]);
    expect(processes()).toEqual([]);
    // Its compiler keeps a cache in the same place.
    expect(readdirSync(directory).filter((name) => !name.startsWith('swc-'))).toEqual([]);
  },
);
