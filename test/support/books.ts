import type { Client } from 'pg';
import { BookStore } from '../../src/data/books/book-store';
import { Database } from '../../src/data/postgres/database';

/** Brings an organization's lines in line with its books after a test has changed these by SQL. */
export async function repairLines({ host, port, user, password, database: name }: Client, organizationId: number): Promise<void> {
  const database = new Database({
    address: { host, port, user: user!, password: password!, database: name! },
    ...{ poolSize: 1, longConnections: 1, connectTimeoutMs: 60_000, answerTimeoutMs: 60_000, onConnectionLost: () => undefined },
  });
  await new BookStore(database).repair(organizationId);
  await database.close();
}
