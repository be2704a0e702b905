import type { ErrorRequestHandler } from 'express';
import type { Logger } from 'pino';
import { AppError, toAppError, toErrorBody } from '../errors';
import { findJsonFault } from '../formats/json-fault';
import { breakOff } from './http-server';
import { logFailure, requestId } from './request-log';

/** How a door answers an error. */
export interface ErrorFormat {
  /** Takes off what a library has put around the error that was thrown. */
  readonly toCause?: (error: unknown) => unknown;
  readonly toAnswer: (appError: AppError, error: unknown) => { readonly status: number; readonly body: object };
}

/** The contract's shape (section 2.3); every door but GraphQL has it. */
const V2_FORMAT: ErrorFormat = { toAnswer: (appError) => ({ status: appError.status, body: toErrorBody(appError) }) };

/** Turns a thrown error into an answer, on every door. The log gets what the caller does not see. */
export function createErrorHandler(log: Logger, { toCause = (error) => error, toAnswer }: ErrorFormat = V2_FORMAT): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const cause = toCause(error);
    const appError = toBodyFault(cause) ?? toAppError(cause);
    if (appError.cause !== undefined) logFailure(log, appError, requestId(response));
    // An answer that broke off, or whose reader has left, must not get anything added.
    if (response.headersSent || response.destroyed) {
      breakOff(response);
      return;
    }
    if (appError.retryAfterSeconds !== undefined) response.set('Retry-After', String(appError.retryAfterSeconds));
    const { status, body } = toAnswer(appError, error);
    response.status(status).json(body);
  };
}

/** The search for a fault takes time in which nobody else is served, so longer bodies are not searched. */
const MAX_LOCATED_LENGTH = 20_000;

/** Names the place where a body stops being JSON. The parser's own message quotes the body, which may hold a password. */
function toBodyFault(error: unknown): AppError | undefined {
  if (!(error instanceof Error) || !('type' in error) || error.type !== 'entity.parse.failed') return undefined;
  if (!('body' in error) || typeof error.body !== 'string') return undefined;
  if (error.body.length > MAX_LOCATED_LENGTH) return new AppError('BAD_REQUEST', { fault: 'the body is not JSON' });
  return new AppError('BAD_REQUEST', { fault: `the body ${findJsonFault(error.body) ?? 'is not a JSON object'}` });
}
