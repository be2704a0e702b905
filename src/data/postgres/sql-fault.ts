/** The place of a fault that PostgreSQL found in a statement. It holds names of the schema, never a value. */
export interface SqlFault {
  readonly sqlState: string;
  readonly relation?: string;
}

/** insufficient_privilege and undefined_table (PostgreSQL manual, appendix A). Their messages name objects and hold no values. */
export const MISSING_GRANT = '42501';
export const MISSING_TABLE = '42P01';
/** character_not_in_repertoire: a text has a NUL, which JSON may hold and PostgreSQL's text cannot. */
export const UNKNOWN_CHARACTER = '22021';
/** unique_violation: another transaction wrote a row of the same key. The message names the constraint and the detail has the values. */
export const DUPLICATE_KEY = '23505';
/** foreign_key_violation: the row that a new one belongs to was deleted. */
export const MISSING_PARENT = '23503';
/** lock_not_available: the statement has waited for a lock as long as lock_timeout allows. */
export const LOCK_TIMEOUT = '55P03';
/** deadlock_detected: the statement and another one have waited for each other. */
export const DEADLOCK = '40P01';
/** query_canceled: the statement has taken as long as statement_timeout allows. */
export const QUERY_CANCELED = '57014';
/** disk_full: the server could not write, and has undone the transaction. */
export const DISK_FULL = '53100';
/** cannot_connect_now: the server lives, and starts, recovers or stops. */
export const CANNOT_CONNECT_NOW = '57P03';
/** read_only_sql_transaction: the server follows another one, or writes nothing for another reason. */
export const READ_ONLY = '25006';

/** internal_error. Citus gives it to each error of a node that it copies rows to, with the node's own message. */
const COPY_ON_NODE = 'XX000';
const DUPLICATE_KEY_MESSAGE = /^duplicate key value violates unique constraint /;

/** Each SQLSTATE has a digit, which tells it apart from a system error such as EPIPE. */
const SQL_STATE = /^(?=.*\d)[0-9A-Z]{5}$/;
/** Prisma's own codes look like states; PostgreSQL's class P0 is not among them. */
const PRISMA_CODE = /^P[1-9]/;

/** Finds the SQLSTATE in an error or its causes, as pg or Prisma's adapter keeps it. Prisma keeps the adapter's error in `meta`. */
export function findSqlFault(error: unknown): SqlFault | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, originalCode, message, originalMessage, meta, cause } = error as Fault;
  const sqlState = originalCode ?? code;
  if (typeof sqlState !== 'string' || !SQL_STATE.test(sqlState) || PRISMA_CODE.test(sqlState)) {
    return findSqlFault(meta?.driverAdapterError ?? cause);
  }
  const text = originalMessage ?? message ?? '';
  if (sqlState === COPY_ON_NODE && DUPLICATE_KEY_MESSAGE.test(text)) return { sqlState: DUPLICATE_KEY };
  if (sqlState !== MISSING_GRANT && sqlState !== MISSING_TABLE) return { sqlState };
  const relation = /(?:table|view|relation|sequence|schema) "?([\w.]+)"?/.exec(text)?.[1];
  return relation === undefined ? { sqlState } : { sqlState, relation };
}

interface Fault {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly message?: string;
  readonly originalMessage?: string;
  readonly meta?: { readonly driverAdapterError?: unknown };
  readonly cause?: unknown;
}
