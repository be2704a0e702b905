import { errorMonitor } from 'node:events';
import { isatty } from 'node:tty';
import { pino, type Logger } from 'pino';

const STANDARD_OUTPUT = 1;
/** Bytes of log that may wait in memory for a slow reader. */
const MAX_WAITING = 1024 * 1024;
/** Several processes write into one pipe. Pieces of this length stay in one (POSIX, PIPE_BUF on Linux), and pino ends each with a line. */
const MAX_PIECE = 4096;
/** The longest time that a line waits for others. Each write wakes a thread, which costs about a sixth of a short answer. */
const GATHERING_MS = 10;

/**
 * A log that no request waits for. Lines that come at about the same time are written together. When the log's reader is too slow, lines
 * are lost, and a later line says how many. With `isShared`, other processes write to the same place.
 */
export function createLog(level: string, isShared: boolean): Logger {
  const gathering = { sync: false, maxLength: MAX_WAITING, minLength: MAX_PIECE - 1 };
  const output = pino.destination({ ...gathering, ...(isShared && { maxWrite: MAX_PIECE }) });
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isBroken = false;
  const isTerminal = isatty(STANDARD_OUTPUT);
  const gather = (): void => {
    if (waitingBytes > 0 && !isBroken) timer ??= setTimeout(flush, GATHERING_MS).unref();
  };
  const flush = (): void => {
    timer = undefined;
    // Nothing happens while an earlier piece is still being written. The event `drain` follows it.
    if (waitingBytes > 0) output.flush();
  };
  const write = (line: string): void => {
    waitingBytes += Buffer.byteLength(line);
    output.write(line);
    gather();
  };
  // pino calls the two others itself, for a fatal line and for `log.flush()`.
  const destination = { write, flush: (done?: (error?: Error) => void) => output.flush(done), flushSync: () => output.flushSync() };
  const log = pino({ level }, destination);
  let lost = 0;
  // pino drops all lines when nobody reads them any more, and ends the process by any other error.
  output.on(errorMonitor, (error: NodeJS.ErrnoException) => {
    isBroken = true;
    clearTimeout(timer);
    // A terminal that has closed is a pipe without a reader to pino, which would otherwise try to write for ever.
    if (isTerminal && error.code === 'EIO') error.code = 'EPIPE';
  });
  output.on('write', (bytes) => {
    waitingBytes -= bytes;
  });
  output.on('drop', (line: string) => {
    waitingBytes -= Buffer.byteLength(line);
    lost++;
  });
  output.on('drain', () => {
    if (lost > 0) log.warn({ lines: lost }, 'log lines were lost');
    lost = 0;
    gather();
  });
  return log;
}
