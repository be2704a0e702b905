import { AppError } from '../../errors';

/** SQLSTATE classes and codes (PostgreSQL manual, appendix A) and Prisma's own codes for a connection that failed or was lost. */
const CONNECTION_STATES = /^(08...|57P0[123]|53300|28...|3D000|P100[0128]|P1017)$/;

/** System errors of a socket, and the messages of pg, which have no code, for a connection that failed or was lost. */
const CONNECTION_ERRORS = /^(ECONN\w+|ENOENT|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|EACCES)$/;
const CONNECTION_MESSAGES =
  /timeout exceeded when trying to connect|connection terminated|connection ended|query read timeout|not queryable|after calling end on the pool|connection error/i;

/**
 * Translates every database error: NO_DATA_SOURCE_CONNECTION when there was no connection, DATA_SOURCE_QUERY_FAILED when the query
 * itself failed. An AppError stays as it is.
 */
export function toDataSourceError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return isConnectionError(error)
    ? new AppError('NO_DATA_SOURCE_CONNECTION', { cause: error, retryAfterSeconds: 1 })
    : new AppError('DATA_SOURCE_QUERY_FAILED', { cause: error });
}

/** Throws a database error translated, as a handler of rejected promises. */
export function rethrowTranslated(error: unknown): never {
  throw toDataSourceError(error);
}

function isConnectionError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, originalCode, message, cause } = error as Fault;
  const known = originalCode ?? code ?? '';
  return (
    CONNECTION_STATES.test(known) || CONNECTION_ERRORS.test(known) || CONNECTION_MESSAGES.test(message ?? '') || isConnectionError(cause)
  );
}

/** The fields of errors of pg, Node and Prisma's adapter. The adapter keeps the SQLSTATE as `originalCode` of a cause. */
interface Fault {
  readonly code?: string;
  readonly originalCode?: string;
  readonly message?: string;
  readonly cause?: unknown;
}
