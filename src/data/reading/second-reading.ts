import type { Prisma } from '../../generated/prisma/client';
import { beginCopy } from './copy-reading';
import { describeConnectionFault, toDataSourceError } from '../postgres/database-errors';
import { LaneConnection, type LaneUse } from './lane-connection';
import { OtherVersion, SetAside } from './replica';
import type { SeenVersions } from './seen-versions';
import { toOpening } from './snapshot-statements';
import { findSqlFault } from '../postgres/sql-fault';

/**
 * The longest wait for a second connection, and again for its first answer, in milliseconds. A pooler that has no connection left takes the
 * statements all the same, and answers when one is free.
 */
const PATIENCE_MS = 1000;

/**
 * Reads a COPY of the state that another connection has opened and named. Resolves to its output when the first of it is there, or to undefined when
 * the other connection should read it instead: there is no second lane, or the second connection has failed, which is told as a lost
 * connection. The output must be read to its end or closed. It throws an AppError, or the signal's reason when the answer is given up.
 */
export async function readBeside(
  select: Prisma.Sql,
  name: string | undefined,
  use: LaneUse & { readonly seen: SeenVersions },
): Promise<AsyncGenerator<Buffer> | undefined> {
  const { source, queue, times, signal, seen } = use;
  let lane: LaneConnection | undefined;
  try {
    lane = await LaneConnection.openBeside(use, PATIENCE_MS);
    if (!lane) return undefined;
    signal.addEventListener('abort', () => void lane?.abandon(), { once: true });
    signal.throwIfAborted();
    const { placement, answerTimeoutMs } = lane.database;
    const output = await beginCopy(select, {
      lane,
      source,
      times,
      isQuiet: queue.isQuiet,
      isLast: true,
      isBeside: true,
      opening: toOpening(placement, name),
      seen,
      answerTimeoutMs: Math.min(PATIENCE_MS, answerTimeoutMs),
    });
    return readToEnd(output, lane, use);
  } catch (error) {
    lane?.drop();
    signal.throwIfAborted();
    // An answer that is read again as a whole needs no other connection now.
    if (source.isBroken) throw toDataSourceError(error);
    // Nothing is lost where the books of a distributed database have changed meanwhile. Operators know of a replica that is set aside.
    if (!(error instanceof OtherVersion || error instanceof SetAside)) {
      const database = await source.database();
      database.noteLoss(new Error(`A second connection for a report failed: ${toReason(error)}`));
    }
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
