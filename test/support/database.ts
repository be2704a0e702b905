import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { RoleAddresses } from '../../src/app';

/** The migrated database that every test file clones. */
export const TEMPLATE_DATABASE = 'gateway_template';
/** Every gateway of a test serves as this role, and `prisma/roles/grants.sql` gives it its rights. */
export const SERVING_ROLE = 'deposit_gateway_serving';
export const SERVING_PASSWORD = 'serving';

/** PostgreSQL's code for a database that has sessions. */
const OBJECT_IN_USE = '55006';

/** A migrated, empty database of one test file, with a connection for reading and damaging its data. */
export interface TestDatabase {
  /** The address for gateways and commands: that of the pooler when TEST_POOLER is set. */
  readonly url: string;
  readonly client: Client;
  drop(): Promise<void>;
}

/** Makes a database of the template, which is the migrated one unless another is named. */
export async function createTestDatabase(template = TEMPLATE_DATABASE): Promise<TestDatabase> {
  const url = new URL(process.env.TEST_SERVER_URL!);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admins = process.env.TEST_NODE_URLS!.split(' ').map((node) => new Client({ connectionString: node }));
  for (const admin of admins) {
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  }
  url.pathname = `/${name}`;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  // Without a listener, the connection error of a stopped server would replace the failure of the test.
  for (const connection of [...admins, client]) connection.on('error', () => undefined);
  return {
    url: throughPooler(url),
    client,
    drop: async () => {
      await client.end();
      for (const admin of admins) {
        await dropAtLast(admin, name);
        await admin.end();
      }
    },
  };
}

/** PostgreSQL waits five seconds for the sessions that it ends, which are too few beside much other work. */
async function dropAtLast(admin: Client, name: string, attempts = 4): Promise<void> {
  try {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  } catch (error) {
    if ((error as { code?: string }).code !== OBJECT_IN_USE || attempts === 1) throw error;
    await dropAtLast(admin, name, attempts - 1);
  }
}

/** True when gateways and commands of tests reach their database by way of a pooler. */
export const isPooled = Boolean(process.env.TEST_POOLER);
/** True when the books of the tests are distributed over the nodes of a Citus. */
export const isDistributed = process.env.TEST_CITUS_WORKERS !== undefined;

/** Limits with room for a busy machine. Tests of these limits set their own. */
export const PATIENT = { DATABASE_CONNECT_MILLISECONDS: '120000', DATABASE_ANSWER_MILLISECONDS: '120000' };

/** The settings that gateways and commands of tests take beside their addresses. */
export const databaseSettings = (): Readonly<Record<string, string>> => ({
  ...PATIENT,
  ...(isPooled && { DATABASE_POOLER: 'transaction' }),
  ...(isDistributed && { DATABASE_ENGINE: 'citus' }),
});

function throughPooler({ href, pathname }: URL): string {
  const pooler = process.env.TEST_POOLER_URL;
  return pooler === undefined ? href : Object.assign(new URL(pooler), { pathname }).href;
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
