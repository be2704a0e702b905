import type { Connection } from 'pg';

/**
 * Ends a connection that gives no answer within so many milliseconds: whatever waits for one fails. Returns what to call when the answer
 * is there. pg's own `query_timeout` would also end what was answered in time, when a busy process comes to its timers before its sockets.
 */
export function limitAnswer({ stream }: Connection, timeoutMs: number): () => void {
  let waiting = true;
  const giveUp = (): void => {
    if (waiting) stream.destroy(new Error('Query read timeout'));
  };
  // Immediates come after the sockets were read.
  const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
  return () => {
    waiting = false;
    clearTimeout(timer);
  };
}
