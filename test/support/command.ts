import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { kill } from 'node:process';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runProgram } from '../../src/cli/commands/program';
import type { Terminal } from '../../src/cli/terminal';
import { asServing, databaseSettings, PATIENT } from './database';
import { ROOT } from './documents';
import { MAIN, PACKAGE } from './gateway-package';
import { until } from './until';

/** Compiles Prisma's WebAssembly with the quick compiler alone, which takes a third off the time of a short command. */
const NODE_FLAGS = ['--liftoff-only'];
const START_TIMEOUT_MS = 300_000;

export type Environment = Readonly<Record<string, string>>;

/** The exit status and the output of a command. */
export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The result of a command that succeeded and said so in one line. */
export const done = (line: string): CommandResult => ({ status: 0, stdout: `${line}\n`, stderr: '' });

/** The result of a command that failed and said so in one line. */
export const failed = (line: string): CommandResult => ({ status: 1, stdout: '', stderr: `${line}\n` });

/** The result of a command that was used wrongly and said so in one line. */
export const misused = (line: string): CommandResult => ({ status: 2, stdout: '', stderr: `${line}\n` });

/** False for a command of the embedded database, which is neither distributed nor behind a pooler. */
const namesDatabase = (environment: Environment): boolean => Object.keys(environment).some((name) => name.includes('DATABASE_URL'));

/** A test never reads the settings of the machine that it runs on. An earlier build knows no file of settings. */
const withoutDefaultFile = (main: string, words: readonly string[]): readonly string[] =>
  main !== MAIN || words.some((word) => word.startsWith('--env-file')) ? words : ['--no-env-file', ...words];

const toEnvironment = (environment: Environment): Environment => ({
  PATH: process.env.PATH!,
  ...PATIENT,
  ...(namesDatabase(environment) && databaseSettings()),
  ...environment,
});

/** Starts the real `deposit-gateway`, or that of another build, which gets PATH alone of the test's own environment. */
export function startCommand(
  environment: Environment,
  words: readonly string[],
  stdio: StdioOptions = 'pipe',
  main: string = MAIN,
  cwd?: string,
): ChildProcess {
  return spawn(process.execPath, [...NODE_FLAGS, '--', main, ...withoutDefaultFile(main, words)], {
    env: toEnvironment(environment),
    stdio,
    cwd,
  });
}

/** What a command has written on standard error, without its words on the database that it has used. */
export const withoutDatabase = (stderr: string): string =>
  stderr.replace(/^(Database: .*|\{"database":\{[^}]*\}\})\n/m, '').replace(/,"database":\{[^}]*\}(?=\}\n$)/, '');

/** Runs a command to its end, with `input` on its standard input. Its words on the database are left out. */
export async function runCommand(...run: Parameters<typeof runWhole>): Promise<CommandResult> {
  const { stderr, ...result } = await runWhole(...run);
  return { ...result, stderr: withoutDatabase(stderr) };
}

/**
 * Runs a command to its end, with `input` on its standard input. It runs in this process, as src/main.ts runs it, because a new process takes
 * ten times as long. Commands of the embedded database, of an installed package, of another build or of another directory get a process of their own.
 */
export async function runWhole(
  environment: Environment,
  words: readonly string[],
  input: string | Buffer = '',
  main?: string,
  cwd?: string,
): Promise<CommandResult> {
  const isElsewhere = main !== undefined || cwd !== undefined || PACKAGE !== ROOT;
  if (isElsewhere || !namesDatabase(environment)) return runProcess(environment, words, input, main, cwd);
  const [stdin, stdout, stderr] = [new PassThrough().end(input), new Collector(), new Collector()];
  const terminal = { input: stdin, output: stdout, errors: stderr } as unknown as Terminal;
  const status = await runProgram(withoutDefaultFile(MAIN, words), toEnvironment(environment), terminal);
  return { status, stdout: stdout.text, stderr: stderr.text };
}

/** Copies what is written, because the writer may use its memory again. */
class Collector extends Writable {
  private readonly pieces: Buffer[] = [];

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.pieces.push(Buffer.from(piece));
    done();
  }
}

/** Runs a command in a process of its own. */
export async function runProcess(
  environment: Environment,
  words: readonly string[],
  input: string | Buffer = '',
  main?: string,
  cwd?: string,
): Promise<CommandResult> {
  const child = startCommand(environment, words, 'pipe', main, cwd);
  const closed = once(child, 'close') as Promise<[number | null]>;
  // The command may end without reading its input.
  child.stdin!.on('error', () => undefined).end(input);
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout!), text(child.stderr!), closed]);
  return { status, stdout, stderr };
}

/** Runs a command that a test needs to succeed, and returns what it printed. */
export async function succeed(environment: Environment, words: readonly string[], input = '', main?: string): Promise<string> {
  const { status, stdout, stderr } = await runCommand(environment, words, input, main);
  if (status !== 0) throw new Error(`deposit-gateway ${words.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

/** A running `deposit-gateway serve`. */
export interface ServeProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** The output so far. */
  output(): string;
  /** Sends the signal and resolves to the exit status, or to null when the signal itself ended the process. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the real `deposit-gateway` in a terminal that script(1) makes. */
export function startCommandInTerminal(environment: Environment, words: readonly string[]): ChildProcess {
  const command = [process.execPath, ...NODE_FLAGS, '--', MAIN, '--no-env-file', ...words].map((word) => `'${word}'`).join(' ');
  return spawn('script', ['--quiet', '--return', '--command', `exec ${command}`, '/dev/null'], {
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', ...(namesDatabase(environment) && databaseSettings()), ...environment },
  });
}

/** The two addresses of a database that a test gives by its owner's. */
function toRoles({ DATABASE_URL: owner, OWNER_DATABASE_URL }: Environment): Environment {
  return owner && !OWNER_DATABASE_URL ? { DATABASE_URL: asServing(owner), OWNER_DATABASE_URL: owner } : {};
}

/**
 * Starts `serve` on a free port, of this build or of another one, and waits until it listens. Its output goes to a pipe, or to a terminal that
 * script(1) makes.
 */
export async function startServe(environment: Environment, outlet: 'pipe' | 'terminal' = 'pipe', main?: string): Promise<ServeProcess> {
  const settings = { PORT: '0', DRAIN_MILLISECONDS: '0', ...environment, ...toRoles(environment) };
  const child = outlet === 'pipe' ? startCommand(settings, ['serve'], 'pipe', main) : startCommandInTerminal(settings, ['serve']);
  let output = '';
  const collect = (piece: string): void => {
    // A terminal ends its lines with CR and LF.
    output += piece.replaceAll('\r', '');
  };
  child.stdout!.setEncoding('utf8').on('data', collect);
  child.stderr!.setEncoding('utf8').on('data', collect);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const listening = (): string | undefined => /^\{.*"msg":"listening"\}$/m.exec(output)?.[0];
  await until(() => {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${output}`);
    return listening() !== undefined;
  }, START_TIMEOUT_MS);
  const { url, pid } = JSON.parse(listening()!) as { url: string; pid: number };
  return {
    child,
    url,
    output: () => output,
    end: async (signal) => {
      // In a terminal, the child is script(1), which passes the status on, but not every signal.
      if (child.exitCode === null && child.signalCode === null) kill(pid, signal);
      return (await closed)[0];
    },
  };
}
