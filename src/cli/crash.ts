import { findSqlFault } from '../data/postgres/sql-fault';
import { OperatorError } from '../errors';
import { listPlaces } from '../stack-positions';

/**
 * Has an error that nothing catches end the process with status 1 and its places in the sources. Node would quote the line of code, which is
 * most of a file in the bundle, and the fields of the error, which may have a donor's data.
 */
export function explainCrashes(): void {
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`${describeCrash(error)}\n`);
    process.exit(1);
  });
}

/** The kind of an error and its places. The message is for operators when the system or a command made it; any other may repeat a donor's data. */
function describeCrash(error: unknown): string {
  if (!(error instanceof Error)) return 'Something else than an error was thrown';
  if (error instanceof OperatorError) return error.message;
  const reason = findSqlFault(error)?.sqlState ?? ('code' in error ? String(error.code) : '');
  const words = 'syscall' in error ? error.message : reason;
  return [`${error.name}${words && `: ${words}`}`, ...listPlaces(error)].join('\n');
}
