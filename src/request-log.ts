import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { AppError } from './errors';

/** Why a report was given up, where that is nobody's failure. */
export class ReaderLeft extends Error {
  override readonly name = 'ReaderLeft';
}

/** Gives every request an id, and the log one line for it: no headers, no query, nothing that could be personal. */
export function logRequests(log: Logger): RequestHandler {
  return ({ method, path }, response, next) => {
    const startedAt = performance.now();
    const id = randomUUID();
    response.locals.requestId = id;
    response.once('close', () => {
      // Without headers there was no answer, whatever its status would have been.
      const status = response.headersSent ? response.statusCode : undefined;
      const line = { requestId: id, method, path, status, ms: Math.round(performance.now() - startedAt) };
      const text = response.writableFinished ? 'request completed' : 'request broken off';
      if (status !== undefined && status >= 500) log.error(line, text);
      else log.info(line, text);
    });
    next();
  };
}

/** The id by which an answer is found in the log. */
export const requestId = (response: Response): string => response.locals.requestId as string;

/** The one place where a masked failure is written down. A database's message may repeat a value, so only its kind and place are kept. */
export function logFailure(log: Logger, { code, cause }: AppError, id: string): void {
  if (cause instanceof ReaderLeft) {
    log.debug({ requestId: id }, 'the reader has left');
    return;
  }
  const fault = cause instanceof Error ? cause : new Error('Something else than an error was thrown');
  const at = fault.stack?.split('\n').filter((line) => /^ {4}at /.test(line));
  log.error(
    { requestId: id, code, name: fault.name, sqlState: 'code' in fault ? fault.code : undefined, at: at?.slice(0, 6) },
    'request failed',
  );
}
