import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { RoleAddresses } from '../../src/app';
import { SERVING_PASSWORD, SERVING_ROLE, TEMPLATE_DATABASE } from './global-setup';

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

/** The address of the same database with the role that serves. */
export function asServing(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = SERVING_ROLE;
  url.password = SERVING_PASSWORD;
  return url.href;
}

/** The addresses of a database that a gateway in this process is created with. */
export const rolesOf = (databaseUrl: string): RoleAddresses => ({
  serving: { connectionString: asServing(databaseUrl) },
  owner: { connectionString: databaseUrl },
});
