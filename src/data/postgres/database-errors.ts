import { AppError } from '../../errors';

/** SQLSTATE classes and codes (PostgreSQL manual, appendix A), and Prisma's own codes, that mean: no connection, or none any more. */
const CONNECTION_STATES = /^(08...|57P0[123]|53300|28...|3D000|P100[0128]|P1017)$/;

/** System errors of a socket, and what pg says without any code when a connection could not be had or went away. */
const CONNECTION_ERRORS = /^(ECONN\w+|ENOENT|ENOTFOUND|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|EACCES)$/;
const CONNECTION_MESSAGES =
  /timeout exceeded when trying to connect|connection terminated|connection ended|query read timeout|not queryable|after calling end on the pool|connection error/i;

/** The one translation of database errors: whether the data source was there and the query failed, or it was not there. */
export function toDataSourceError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return isConnectionError(error)
    ? new AppError('NO_DATA_SOURCE_CONNECTION', { cause: error, retryAfterSeconds: 1 })
    : new AppError('DATA_SOURCE_QUERY_FAILED', { cause: error });
}

function isConnectionError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, originalCode, message, cause } = error as Fault;
  const known = originalCode ?? code ?? '';
  return (
    CONNECTION_STATES.test(known) || CONNECTION_ERRORS.test(known) || CONNECTION_MESSAGES.test(message ?? '') || isConnectionError(cause)
  );
}

/** What the errors of pg, of Node, and of Prisma's adapter may say; the adapter keeps the SQLSTATE as `originalCode` of a cause. */
interface Fault {
  readonly code?: string;
  readonly originalCode?: string;
  readonly message?: string;
  readonly cause?: unknown;
}
