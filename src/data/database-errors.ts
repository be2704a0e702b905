import { AppError } from '../errors';

/** SQLSTATE classes and codes (PostgreSQL manual, appendix A) that mean: no connection, or none any more. */
const CONNECTION_STATES = /^(08...|57P0[123]|53300|28...|3D000)$/;

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
  if (!(error instanceof Error)) return false;
  const code = sqlState(error) ?? ('code' in error ? String(error.code) : '');
  return (
    CONNECTION_STATES.test(code) ||
    CONNECTION_ERRORS.test(code) ||
    CONNECTION_MESSAGES.test(error.message) ||
    isConnectionError(error.cause)
  );
}

/** The SQLSTATE of an error, also where Prisma's adapter wrapped it. */
function sqlState(error: Error): string | undefined {
  const { cause } = error;
  if (typeof cause === 'object' && cause !== null && 'originalCode' in cause) return String(cause.originalCode);
  return undefined;
}
