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

/** Moves the instants of an organization's data versions, as of books from a backup. Citus refuses the sum of an instant and an interval. */
export async function moveVersions(client: Client, organizationId: number, hours: number): Promise<void> {
  await client.query(
    `UPDATE data_version SET recorded_at = (recorded_at AT TIME ZONE 'UTC' + $2 * interval '1 hour') AT TIME ZONE 'UTC' WHERE organization_id = $1`,
    [organizationId, hours],
  );
}
