import { isNativeError } from 'node:util/types';
import { DISK_FULL, findSqlFault } from '../data/postgres/sql-fault';
import { AppError, describeError, OperatorError, reasonOf } from '../errors';
import { listPlaces } from '../stack-positions';

/** The words for an operator on an error that ends a command: one line where its message is made for operators, and else those of a crash. */
export function describeCommandFailure(error: unknown): string {
  if (!(error instanceof AppError)) return (isNativeError(error) ? findMessage(error) : undefined) ?? describeCrash(error);
  const { cause, message } = error;
  if (cause === undefined) return describeError(error);
  // Without a connection no statement has read or written anything.
  const isConnection = error.code === 'NO_DATA_SOURCE_CONNECTION' && isNativeError(cause);
  return `${message}: ${isConnection ? reasonOf(cause) : describeCommandFailure(cause)}`;
}

/** The words for an operator on an error that ends the process: its kind, its code and its places, or its message where it may be told. */
export function describeCrash(error: unknown): string {
  if (!isNativeError(error)) return 'Something else than an error was thrown';
  if (error instanceof OperatorError) return error.message;
  const words = findMessage(error) ?? findSqlFault(error)?.sqlState ?? ('code' in error ? String(error.code) : '');
  return [`${error.name}${words && `: ${words}`}`, ...listPlaces(error)].join('\n');
}

/**
 * The message of an error that was made for operators or by the system, or with which PostgreSQL names a table that is missing or lacks a
 * grant. Any other message may repeat a donor's data.
 */
function findMessage(error: Error): string | undefined {
  if (error instanceof OperatorError || 'syscall' in error) return error.message;
  const { sqlState, relation } = findSqlFault(error) ?? {};
  if (sqlState === DISK_FULL) return 'the disk of the database has no room left';
  return relation === undefined ? undefined : reasonOf(error);
}
