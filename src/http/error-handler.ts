import type { ErrorRequestHandler, Request } from 'express';
import type { Logger } from 'pino';
import { AppError, toAppError, toErrorBody } from '../errors';
import { breakOff } from './http-server';
import { logFailure, ReaderLeft } from './request-log';
import { recordOf } from './request-record';

interface ErrorAnswer {
  readonly status: number;
  /** The media type of the body; JSON without one. */
  readonly type?: string;
  readonly body: object;
}

/** The form in which a door answers an error. */
export interface ErrorFormat {
  /** Takes off the errors that a library has wrapped around the one that was thrown. */
  readonly toCause?: (error: unknown) => unknown;
  readonly toAnswer: (appError: AppError, error: unknown, requestId: string, request: Request) => ErrorAnswer;
}

/** The contract's error body (section 2.3), for every door but GraphQL. */
export const REST_FORMAT: ErrorFormat = { toAnswer: (appError) => ({ status: appError.status, body: toErrorBody(appError) }) };

/** Turns a thrown error into an answer, on every door. The log gets the cause that the caller does not see. */
export function createErrorHandler(log: Logger, { toCause = (error) => error, toAnswer }: ErrorFormat = REST_FORMAT): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const cause = toCause(error);
    const appError = toPathFault(cause) ?? toAppError(cause);
    const record = recordOf(response);
    // A reader who has left is no failure.
    if (!(appError.cause instanceof ReaderLeft)) record.addCode(appError.code);
    if (appError.cause !== undefined) logFailure(log, appError, record.id);
    // Nothing may be added to an answer that broke off or whose reader has left.
    if (response.headersSent || response.destroyed) {
      breakOff(response);
      return;
    }
    if (appError.retryAfterSeconds !== undefined) response.set('Retry-After', String(appError.retryAfterSeconds));
    const { status, type = 'json', body } = toAnswer(appError, error, record.id, request);
    response.status(status).type(type).json(body);
  };
}

/** Express decodes the parts of a path before it calls a door, and throws what JavaScript throws for escapes that cannot be read. */
const toPathFault = (error: unknown): AppError | undefined =>
  error instanceof URIError ? new AppError('BAD_REQUEST', { fault: 'the path has escapes that are not UTF-8' }) : undefined;
