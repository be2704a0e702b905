import type { Prisma } from '../../generated/prisma/client';
import type { BookSource } from './book-source';
import { CopyQuery } from './copy-query';
import { withoutValues } from '../postgres/copy-values';
import type { LaneConnection } from './lane-connection';
import type { RequestTimes } from '../postgres/request-times';
import type { SeenVersions } from './seen-versions';
import { COMMIT, toSettings } from './snapshot-statements';
import type { Statement } from '../postgres/statement-messages';
import type { VersionStamp } from '../postgres/version-stamp';

export interface CopyReading {
  readonly lane: LaneConnection;
  /** The statements that open the transaction; none when it is open. */
  readonly opening: readonly Statement[];
  /** True while no other report is read. */
  readonly isQuiet: boolean;
  /** True when the transaction ends with the COPY. */
  readonly isLast: boolean;
  /** True on a second connection, which is to read the state of the first. */
  readonly isBeside?: boolean;
  readonly source: BookSource;
  /** Gets the data versions that the COPY sees. */
  readonly seen: SeenVersions;
  readonly times: RequestTimes;
  /** Milliseconds within which the statements before the COPY must be answered. */
  readonly answerTimeoutMs: number;
}

/**
 * Sends a COPY of a SELECT. Resolves to its output when the first of it is there, or its end. The output must be read to its end or closed.
 * Throws pg's errors, SetAside, and those of a data version that is another than before.
 */
export async function beginCopy(select: Prisma.Sql, reading: CopyReading): Promise<AsyncGenerator<Buffer>> {
  const { lane, opening, isQuiet, isLast, isBeside, source, seen, times, answerTimeoutMs } = reading;
  const { placement } = lane.database;
  const { organizationId } = lane.caller;
  const { text, settings } = placement.toCopy(select);
  const endSpan = times.spans?.wait({ name: 'COPY', sql: withoutValues(select) });
  let hasRows = false;
  /** Waits for output, but for no replica that has fallen silent. One that has given rows has a while to go on. */
  const during = (output: Promise<void>): Promise<void> =>
    times.database.during(source.whileServing(output, hasRows ? lane.database.answerTimeoutMs : 0));
  let version: VersionStamp | undefined;
  let lastVersion: VersionStamp | undefined;
  const copy = new CopyQuery({
    before: [...opening, toSettings(settings, organizationId, isQuiet)],
    text,
    after: isLast ? [...placement.closing(organizationId), COMMIT] : [],
    answerTimeoutMs,
    waiting: { during },
    onAnswer: (answer) => void (version = answer),
    onAnswerAfter: (answer) => void (lastVersion = answer),
  });
  const onEnd = (): void => {
    if (lastVersion !== undefined) seen.note(lastVersion);
  };
  try {
    const output = lane.client.query(copy).read();
    const first = await output.next();
    hasRows = true;
    if (isBeside) seen.assertSame(version!);
    else seen.note(version!);
    return readOn(first, output, { onEnd, endSpan });
  } catch (error) {
    endSpan?.(error);
    throw error;
  }
}

async function* readOn(
  first: IteratorResult<Buffer>,
  rest: AsyncGenerator<Buffer>,
  { onEnd, endSpan }: { readonly onEnd: () => void; readonly endSpan: ((error?: unknown) => void) | undefined },
): AsyncGenerator<Buffer> {
  let failure: unknown;
  try {
    if (!first.done) {
      yield first.value;
      yield* rest;
    }
    onEnd();
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // A reader that has left ends the reading without an error.
    endSpan?.(failure);
  }
}
