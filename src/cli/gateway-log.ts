import { pino, type Logger } from 'pino';

/** Characters of log that may wait in memory for a slow reader. */
const MAX_WAITING = 1024 * 1024;
/** Several processes write into one pipe. Pieces of this length stay in one (POSIX, PIPE_BUF on Linux), and pino ends each with a line. */
const MAX_PIECE = 4096;

/**
 * A log that no request waits for. When its reader is too slow, lines are lost, and a later line says how many. With `isShared`, other
 * processes write to the same place.
 */
export function createLog(level: string, isShared: boolean): Logger {
  const output = pino.destination({ sync: false, maxLength: MAX_WAITING, ...(isShared && { maxWrite: MAX_PIECE }) });
  const log = pino({ level }, output);
  let lost = 0;
  output.on('drop', () => lost++);
  output.on('drain', () => {
    if (lost > 0) log.warn({ lines: lost }, 'log lines were lost');
    lost = 0;
  });
  return log;
}
