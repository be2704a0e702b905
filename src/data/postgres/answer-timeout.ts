import type { Connection } from 'pg';

/**
 * Ends a connection that gives no answer within `timeoutMs`; all that waits for the answer then fails. Returns a function to call when the
 * answer has arrived. pg's own `query_timeout` is not used: a busy process may run its timers before it reads its sockets, and pg would
 * then fail a statement whose answer arrived in time.
 */
export function limitAnswer({ stream }: Connection, timeoutMs: number): () => void {
  let waiting = true;
  const giveUp = (): void => {
    if (waiting) stream.destroy(new Error('Query read timeout'));
  };
  // An immediate runs after the sockets were read.
  const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
  return () => {
    waiting = false;
    clearTimeout(timer);
  };
}
