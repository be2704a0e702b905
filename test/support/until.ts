import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** Enough for what should come at once, on a machine that is busy with other things. */
const SOON_MS = 120_000;

/** Waits for a condition to hold, and fails when it does not within the time. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = SOON_MS): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs} ms: ${condition.toString()}`);
    await sleep(POLL_MS);
  }
}
