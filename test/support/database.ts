import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { TEMPLATE_DATABASE } from './global-setup';

/** A migrated, empty database of a test file's own, with a connection to look into it and to break it. */
export interface TestDatabase {
  readonly url: string;
  readonly client: Client;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const url = new URL(process.env.TEST_SERVER_URL!);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = new Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE}`);
  url.pathname = `/${name}`;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  // A server that is stopped under a failing test must not hide the failure.
  for (const connection of [admin, client]) connection.on('error', () => undefined);
  return {
    url: url.href,
    client,
    drop: async () => {
      await client.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}
