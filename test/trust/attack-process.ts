import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { endAll } from '../bench/endings';
import { killTargets, NotRun, type Attack, type Finding } from './attack';

/** The message of an attack's process: its findings, the reason why it was not run, or its failure. */
type Outcome = { readonly findings: readonly Finding[] } | { readonly notRun: string } | { readonly failure: string };

const KILL_MS = 5000;

/** Runs the attack of a file of this folder in a process of its own, so that attacks do not disturb each other, for so long at most. */
export async function runAttack(file: string, minutes: number): Promise<readonly Finding[]> {
  const child = fork(__filename, [file], { execArgv: ['-r', '@swc-node/register'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  let outcome = { failure: 'its process ended without findings' } as Outcome;
  child.on('message', (message) => (outcome = message as Outcome));
  const late = setTimeout(() => {
    outcome = { failure: `not done within ${minutes} minutes` };
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), KILL_MS).unref();
  }, minutes * 60_000);
  await exited;
  clearTimeout(late);
  if ('findings' in outcome) return outcome.findings;
  if ('notRun' in outcome) throw new NotRun(outcome.notRun);
  return [{ name: 'the attack itself', figure: outcome.failure, holds: false }];
}

async function main(file: string): Promise<void> {
  process.on('SIGTERM', () => {
    killTargets();
    void endAll().finally(() => process.exit(1));
  });
  const { run } = createRequire(__filename)(`./${file}`) as { run: Attack };
  const outcome: Outcome = await run().then(
    (findings) => ({ findings }),
    (error: unknown) => (error instanceof NotRun ? { notRun: error.message } : { failure: String((error as Error).stack) }),
  );
  process.send!(outcome, () => {
    killTargets();
    process.exit(0);
  });
}

const [file] = process.argv.slice(2);
if (require.main === module && file !== undefined) void main(file);
