import type { Config } from '../config';

/**
 * The time after which HAProxy has taken a gateway out by its own settings, three checks at 2 seconds, and one interval more. Docker kills
 * a container 10 seconds after it has told it to stop.
 */
const SHARED_DRAIN_MS = 8000;

/**
 * The time of a drain after a signal. The value that an operator has set holds for every signal. Otherwise nobody waits for a balancer with
 * the embedded database, where no other gateway can take over, at a Ctrl-C (SIGINT), and when the terminal closes (SIGHUP).
 */
export const drainMsOf = (
  { DATABASE_URL, DRAIN_MILLISECONDS }: Pick<Config, 'DATABASE_URL' | 'DRAIN_MILLISECONDS'>,
  signal: string,
): number => DRAIN_MILLISECONDS ?? (DATABASE_URL === '' || signal !== 'SIGTERM' ? 0 : SHARED_DRAIN_MS);
