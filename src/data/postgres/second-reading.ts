import type { Prisma } from '../../generated/prisma/client';
import { beginCopy } from './copy-reading';
import { describeConnectionFault, toDataSourceError } from './database-errors';
import { LaneConnection, type LaneUse } from './lane-connection';
import { SetAside } from './replica';
import type { SeenVersions } from './seen-versions';
import { toOpening, type SharedState } from './snapshot-statements';
import { findSqlFault } from './sql-fault';

/**
 * The longest wait for a second connection, and again for its first answer, in milliseconds. A pooler that has no connection left takes the
 * statements all the same, and answers when one is free.
 */
const PATIENCE_MS = 1000;

/**
 * Reads a COPY of a state that another connection has opened. Resolves to its output when the first of it is there, or to undefined when
 * the other connection should read it instead: there is no second lane, or the second connection has failed, which is told as a lost
 * connection. The output must be read to its end or closed. It throws an AppError, or the signal's reason when the answer is given up.
 */
export async function readBeside(
  select: Prisma.Sql,
  state: SharedState,
  use: LaneUse & { readonly seen: SeenVersions },
): Promise<AsyncGenerator<Buffer> | undefined> {
  const { database } = state;
  const { source, queue, times, signal, seen } = use;
  let lane: LaneConnection | undefined;
  try {
    lane = await LaneConnection.openBeside(use, PATIENCE_MS);
    if (!lane) return undefined;
    signal.addEventListener('abort', () => void lane?.abandon(), { once: true });
    signal.throwIfAborted();
    const output = await beginCopy(select, {
      lane,
      source,
      times,
      isQuiet: queue.isQuiet,
      isLast: true,
      opening: toOpening(database, state),
      seen,
      answerTimeoutMs: Math.min(PATIENCE_MS, database.answerTimeoutMs),
    });
    return readToEnd(output, lane, use);
  } catch (error) {
    lane?.drop();
    signal.throwIfAborted();
    // The whole answer is read again where it is broken. Operators know of a replica that is set aside.
    if (source.isBroken) throw error;
    if (!(error instanceof SetAside)) database.noteLoss(new Error(`A second connection for a report failed: ${toReason(error)}`));
    return undefined;
  }
}

async function* readToEnd(output: AsyncGenerator<Buffer>, lane: LaneConnection, { source, signal }: LaneUse): AsyncGenerator<Buffer> {
  try {
    yield* output;
    signal.throwIfAborted();
    lane.release();
  } catch (error) {
    lane.drop();
    signal.throwIfAborted();
    source.noteFailure(error);
    throw toDataSourceError(error);
  } finally {
    // A reader that has left ends the reading without an error.
    await lane.abandon();
  }
}

/** The reason without the database's message, which may repeat a value of the books. */
function toReason(error: unknown): string {
  const sqlState = findSqlFault(error)?.sqlState;
  if (sqlState !== undefined) return `SQLSTATE ${sqlState}`;
  const appError = toDataSourceError(error);
  return appError.code === 'NO_DATA_SOURCE_CONNECTION' ? describeConnectionFault(appError) : appError.message;
}
