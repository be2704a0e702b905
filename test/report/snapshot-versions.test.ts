import { BookSource } from '../../src/data/reading/book-source';
import { Database } from '../../src/data/postgres/database';
import { FairQueue } from '../../src/data/reading/fair-queue';
import { Replica } from '../../src/data/reading/replica';
import { ReportSnapshot } from '../../src/data/reading/report-snapshot';
import { RequestTimes } from '../../src/data/postgres/request-times';
import { Prisma } from '../../src/generated/prisma/client';
import { createTestDatabase, isPooled } from '../support/database';
import { testOnOneNode } from '../support/limited-tests';
import { until } from '../support/until';

// A door sees of this only that it asks again, whatever the snapshot throws, and operators see what is logged.
testOnOneNode(
  'a snapshot that begins on a replica with another version fails as a query that failed, and its source is broken',
  async () => {
    const database = await createTestDatabase();
    const open = (): Database =>
      new Database({
        address: { connectionString: database.url },
        ...{
          poolSize: 1,
          longConnections: 1,
          connectTimeoutMs: 60_000,
          answerTimeoutMs: 60_000,
          isPooled,
          onConnectionLost: () => undefined,
        },
      });
    const replica = new Replica(open(), open(), 60_000, () => undefined);
    const primary = open();
    await until(() => replica.serves);
    const state = { organizationId: 1, version: '7 1' };
    const source = new BookSource(primary, () => Promise.resolve({ state, replica }));
    const snapshot = new ReportSnapshot(source, new FairQueue({ width: 1, guests: 0, maxWaiting: 0, maxWaitMs: 0 }), {
      ...{ signal: new AbortController().signal, timeoutMs: 60_000, times: new RequestTimes() },
      caller: () => Promise.resolve({ organizationId: 1, credential: '' }),
    });
    const fails = { name: 'AppError', code: 'DATA_SOURCE_QUERY_FAILED', cause: { name: 'OtherVersion' } };
    await expect(snapshot.list(Prisma.sql`SELECT 1`)).rejects.toMatchObject(fails);
    expect([source.isBroken, source.hasFailed, replica.figures.left]).toEqual([true, true, 1]);
    // Nothing more is read from it.
    await expect(snapshot.list(Prisma.sql`SELECT 1`)).rejects.toMatchObject(fails);
    await snapshot.close();
    await Promise.all([replica.close(), primary.close()]);
    await database.drop();
  },
);
