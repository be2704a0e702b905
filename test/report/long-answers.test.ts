import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Database } from '../../src/data/postgres/database';
import { Prisma } from '../../src/generated/prisma/client';

/** The most bytes that the system hands over at once. */
const PIECE_LENGTH = 64 * 1024;
const ROWS = 20_000;

test('pg reads a long answer in pieces, each in another turn of the event loop', async () => {
  const database = new Database({
    address: { connectionString: process.env.TEST_SERVER_URL! },
    ...{ poolSize: 1, longConnections: 1, connectTimeoutMs: 60_000, answerTimeoutMs: 60_000 },
    onConnectionLost: () => undefined,
  });
  try {
    let socket!: Socket;
    database.pool.once('connect', (client) => {
      socket = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
    });
    await database.list(Prisma.sql`SELECT 1`);

    const under = { way: true };
    const rows = database
      .list<{ text: string }>(Prisma.sql`SELECT repeat('x', 1000) || n AS text FROM generate_series(1, ${ROWS}::int) AS n`)
      .finally(() => (under.way = false));
    let most = 0;
    for (let read = socket.bytesRead; under.way; read = socket.bytesRead) {
      await nextTurn();
      most = Math.max(most, socket.bytesRead - read);
    }
    expect((await rows).at(-1)!.text).toBe(`${'x'.repeat(1000)}${ROWS}`);
    expect(most).toBeLessThanOrEqual(2 * PIECE_LENGTH);
  } finally {
    await database.close();
  }
});
