import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** A bound for events that come at once on a quiet machine. */
const SOON_MS = 120_000;

/** Waits until a condition holds, and fails after the time. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = SOON_MS): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs} ms: ${condition.toString()}`);
    await sleep(POLL_MS);
  }
}
