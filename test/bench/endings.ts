import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

type End = () => Promise<void>;

/** The functions that end the works in progress of the benchmark, in the order in which the works were started. */
const ends = new Set<End>();
let isEnding = false;

/**
 * Has something that is about to be started ended with the benchmark at the latest. Returns the function that ends it, once however often
 * it is called. Throws when the benchmark is ending.
 */
export function endAtLast(end: End): End {
  if (isEnding) throw new Error('The benchmark is ending: nothing more is started');
  let ended: Promise<void> | undefined;
  const endOnce: End = () => (ended ??= end().finally(() => ends.delete(endOnce)));
  ends.add(endOnce);
  return endOnce;
}

/** Makes a temporary directory, which `remove` removes, or the end of the benchmark. */
export function makeDirectory(): { readonly path: string; remove(): Promise<void> } {
  const remove = endAtLast(() => rm(path, { recursive: true }));
  const path = mkdtempSync(join(tmpdir(), 'deposit-gateway-bench-'));
  // Started by root, PostgreSQL runs under another account.
  chmodSync(path, 0o755);
  return { path, remove };
}

/** Ends all of it, the last first. The work that still uses it fails meanwhile, which is no news. */
export async function endAll(): Promise<void> {
  isEnding = true;
  const ignore = (): void => undefined;
  process.on('uncaughtException', ignore);
  for (const end of [...ends].reverse()) await end().catch((error: unknown) => console.error(error));
  process.off('uncaughtException', ignore);
}

/** Resolves at a signal to end, to the exit status that tells of it (bash manual, Exit Status). The signal does not end the process by itself. */
export const untilSignal = (): Promise<number> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(128 + constants.signals[signal]));
  });
