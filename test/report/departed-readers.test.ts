import { BookSource } from '../../src/data/reading/book-source';
import { Database } from '../../src/data/postgres/database';
import { FairQueue } from '../../src/data/reading/fair-queue';
import { ReportSnapshot } from '../../src/data/reading/report-snapshot';
import { RequestTimes } from '../../src/data/postgres/request-times';
import { Prisma } from '../../src/generated/prisma/client';
import { createTestDatabase, isPooled } from '../support/database';

const ROUNDS = 20;

// At the doors this takes a full queue, and a reader who leaves between two statements.
test.each(['close', 'end'] as const)(
  'a reader who leaves between two statements disturbs no report that comes after, by %s',
  async (how) => {
    const test = await createTestDatabase();
    const limits = { connectTimeoutMs: 60_000, answerTimeoutMs: 60_000, isPooled, onConnectionLost: () => undefined };
    const database = new Database({ address: { connectionString: test.url }, poolSize: 1, longConnections: 1, ...limits });
    const queue = new FairQueue({ width: 1, guests: 0, maxWaiting: 10, maxWaitMs: 60_000 });
    const open = (organizationId: number, signal: AbortSignal): ReportSnapshot =>
      new ReportSnapshot(new BookSource(database), queue, {
        caller: () => Promise.resolve({ organizationId, credential: '' }),
        ...{ signal, timeoutMs: 60_000, times: new RequestTimes() },
      });
    for (let round = 0; round < ROUNDS; round++) {
      const reader = new AbortController();
      const left = open(1, reader.signal);
      await left.open();
      const next = open(2, new AbortController().signal);
      const rows = next.list(Prisma.sql`SELECT pg_sleep(0.03)`);
      reader.abort(new Error('The reader has left'));
      await left[how]().catch(() => undefined);
      await left.close();
      await expect(rows).resolves.toHaveLength(1);
      await next.close();
    }
    await database.close();
    await test.drop();
  },
);
