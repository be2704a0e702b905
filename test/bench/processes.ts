import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endAtLast, makeDirectory } from './endings';

/** A server under measurement. */
export interface ServerProcess {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 50;
const KB_PER_MB = 1024;
/** A tick of /proc's CPU times is a hundredth of a second on every Linux that Node runs on (sysconf, _SC_CLK_TCK). */
const MS_PER_TICK = 10;

/** Starts a process that ends with the benchmark at the latest. */
export function startProcess<Child extends ChildProcess>(start: () => Child): Child {
  const stop = endAtLast(() => stopProcess(child));
  const child = start();
  child.once('exit', () => void stop());
  return child;
}

/** Starts a script that prints `listening PORT` when it is ready. What it prints goes into a file, as a service's output does. */
export async function startServer(command: string, words: readonly string[], environment: NodeJS.ProcessEnv): Promise<ServerProcess> {
  const directory = makeDirectory();
  const output = join(directory.path, 'output');
  const file = openSync(output, 'w');
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', ...environment };
  const child = startProcess(() => spawn(command, words, { env, stdio: ['ignore', file, 'inherit'] }));
  closeSync(file);
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure = error;
  });
  const stop = async (): Promise<void> => {
    await stopProcess(child);
    await directory.remove();
  };
  // Ours logs JSON; the peers print a word and a number.
  const findPort = (): string | undefined => /^(?:listening |\{.*"url":"http:[^"]*:)(\d+)/m.exec(readFileSync(output, 'utf8'))?.[1];
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (findPort() === undefined) {
    if (failure ?? (child.exitCode !== null || Date.now() > deadline)) {
      await stop();
      throw failure ?? new Error(`${words.join(' ')} does not start`);
    }
    await sleep(POLL_MS);
  }
  return { pid: child.pid!, url: `http://127.0.0.1:${findPort()}`, stop };
}

/** Starts a script of this folder that runs until it is ended. */
export const startScript = (name: string, words: readonly string[]): ChildProcess =>
  startProcess(() =>
    spawn(process.execPath, ['-r', '@swc-node/register', join(__dirname, name), ...words], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  // One that waits for its readers does not have to: nothing of it is kept.
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

export const parentOf = (pid: number): number | undefined => readStat(pid)?.parent;

/** Milliseconds of CPU that a process has used; undefined where there is no /proc. */
export function cpuMs(pid: number): number | undefined {
  const fields = readStat(pid);
  return fields && (fields.user + fields.system) * MS_PER_TICK;
}

/** The same of a process and all its children, the ended ones too. */
export function treeCpuMs(pid: number): number | undefined {
  const parent = readStat(pid);
  if (!parent) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((child) => child?.parent === pid);
  const ticks = children.reduce((sum, child) => sum + child!.user + child!.system, parent.user + parent.system + parent.endedChildren);
  return ticks * MS_PER_TICK;
}

function readStat(pid: number) {
  const stat = readProc(pid, 'stat');
  if (stat === undefined) return undefined;
  // After the name in parentheses: state, ppid, …; utime, stime, cutime, cstime are fields 14 to 17 (proc(5)).
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return { parent: fields[1], user: fields[11]!, system: fields[12]!, endedChildren: fields[13]! + fields[14]! };
}

/** Lets the peak of a process's memory start anew. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without /proc there is no peak to read either.
  }
}

/** The peak of its memory since the reset, and the memory of now, in MB. */
export function memoryMb(pid: number): { readonly peak: number; readonly now: number } | undefined {
  const status = readProc(pid, 'status');
  const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status ?? '')?.[1]) / KB_PER_MB;
  return status === undefined ? undefined : { peak: value('VmHWM'), now: value('VmRSS') };
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}
