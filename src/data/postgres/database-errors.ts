import { AppError, InputError } from '../../errors';
import { findSqlFault, UNKNOWN_CHARACTER } from './sql-fault';

/** SQLSTATE classes and codes (PostgreSQL manual, appendix A) and Prisma's own codes for a connection that failed or was lost. */
const CONNECTION_STATES = /^(08...|57P0[1235]|53300|28...|3D000|P100[0128]|P1017)$/;

/** System errors of a socket, and the messages of pg, which have no code, for a connection that failed or was lost. */
const CONNECTION_ERRORS = /^(ECONN\w+|ENOENT|ENOTFOUND|EPIPE|EPROTO|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|EACCES)$/;
const CONNECTION_MESSAGES =
  /timeout exceeded when trying to connect|connection terminated|connection ended|query read timeout|not queryable|after calling end on the pool|connection error|does not support SSL/i;
/** The codes by which Node tells that it does not accept a certificate (Node manual, X509 certificate error codes). */
const CERTIFICATE_ERRORS = /^(ERR_TLS_\w+|CERT_\w+|UNABLE_TO_\w+|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|HOSTNAME_MISMATCH)$/;

/**
 * Translates every database error: NO_DATA_SOURCE_CONNECTION when there was no connection, INVALID_PARAMETERS for a text that PostgreSQL
 * cannot hold, DATA_SOURCE_QUERY_FAILED when the query itself failed. An AppError stays as it is.
 */
export function toDataSourceError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (findSqlFault(error)?.sqlState === UNKNOWN_CHARACTER) return new InputError('a text has a NUL character');
  return isConnectionError(error)
    ? new AppError('NO_DATA_SOURCE_CONNECTION', { cause: error, retryAfterSeconds: 1 })
    : new AppError('DATA_SOURCE_QUERY_FAILED', { cause: error });
}

/** Throws a database error translated, as a handler of rejected promises. */
export function rethrowTranslated(error: unknown): never {
  throw toDataSourceError(error);
}

/** The reason why there is no connection, in words for an operator. They name neither the server nor the user. */
export function describeConnectionFault(error: AppError): string {
  const reason = someFault(
    error,
    ({ code, message }) =>
      REASONS.find(([codes]) => codes.test(code))?.[1] ??
      (code === POOLER_STATE ? POOLER_REASONS.find(([texts]) => texts.test(message))?.[1] : undefined),
  );
  return reason ?? 'The database cannot be reached';
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [CERTIFICATE_ERRORS, "The database's certificate is not accepted"],
  [/^28...$/, 'The database refuses the user or the password'],
  [/^3D000$/, 'There is no database of that name'],
  [/^53300$/, 'The database has no connection left'],
];

/** The state of every message that PgBouncer makes itself, up to 1.18; the text alone tells them apart. */
const POOLER_STATE = '08P01';
const POOLER_REASONS: readonly (readonly [RegExp, string])[] = [
  // A gateway that has the setting sends those settings alone that its address has in `options`.
  [
    /^unsupported startup parameter/,
    'The pooler refuses the settings of a connection: set DATABASE_POOLER to transaction, and leave out options in DATABASE_URL',
  ],
  [/^(no more connections allowed|query_wait_timeout)/, 'The pooler has no connection left'],
  [/^no such database/, 'There is no database of that name'],
  [/authentication failed|^no such user/, 'The database refuses the user or the password'],
  [/server/, 'The pooler cannot reach the database'],
];

const isConnectionError = (error: unknown): boolean =>
  someFault(
    error,
    ({ code, message }) =>
      [CONNECTION_STATES, CONNECTION_ERRORS, CERTIFICATE_ERRORS].some((codes) => codes.test(code)) ||
      CONNECTION_MESSAGES.test(message) ||
      undefined,
  ) ?? false;

/** The first answer that an error or one of its causes gives. */
function someFault<Answer>(
  error: unknown,
  ask: (fault: { readonly code: string; readonly message: string }) => Answer | undefined,
): Answer | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, originalCode, message = '', cause } = error as Fault;
  return ask({ code: originalCode ?? code ?? '', message }) ?? someFault(cause, ask);
}

/** The fields of errors of pg, Node and Prisma's adapter. The adapter keeps the SQLSTATE as `originalCode` of a cause. */
interface Fault {
  readonly code?: string;
  readonly originalCode?: string;
  readonly message?: string;
  readonly cause?: unknown;
}
