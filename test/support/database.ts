import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { TEMPLATE_DATABASE } from './global-setup';

/** A migrated, empty database of one test file, with a connection for reading and damaging its data. */
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
  // Without a listener, the connection error of a stopped server would replace the failure of the test.
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
