import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/data/embedded/embedded-postgres';

export const TEMPLATE_DATABASE = 'gateway_template';
/** Every gateway of a test serves as this role, and `prisma/roles/grants.sql` gives it its rights. */
export const SERVING_ROLE = 'deposit_gateway_serving';
export const SERVING_PASSWORD = 'serving';

declare global {
  var stopTestDatabase: (() => Promise<void>) | undefined;
}

/** Starts a PostgreSQL, or takes the server of TEST_DATABASE_URL, and makes the migrated database that every test file clones. */
export default async function setUp(): Promise<void> {
  const server = new URL(process.env.TEST_DATABASE_URL ?? (await startServer()));
  await withClient(server, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${TEMPLATE_DATABASE} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVING_ROLE]);
    await client.query(`${rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${SERVING_ROLE} LOGIN PASSWORD '${SERVING_PASSWORD}'`);
  });
  process.env.TEST_SERVER_URL = server.href;
  server.pathname = `/${TEMPLATE_DATABASE}`;
  execFileSync(process.execPath, ['dist/main.js', 'migrate'], { env: { ...process.env, DATABASE_URL: server.href } });
}

async function startServer(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  // PostgreSQL runs under another account when root starts it, and that account must reach the directory.
  chmodSync(directory, 0o755);
  const postgres = await EmbeddedPostgres.start(
    directory,
    () => Promise.resolve(),
    (error) => {
      throw error;
    },
  );
  globalThis.stopTestDatabase = async () => {
    await postgres.stop('fast');
    rmSync(directory, { recursive: true, force: true });
  };
  const { host, port, user, password, database } = postgres.address;
  const url = `postgresql://${user}:${String(password)}@localhost:${port}/${database}?host=${host}`;
  await withClient(new URL(url), async (client) => {
    // Test data need not survive a power cut, and fsync is slow.
    await client.query('ALTER SYSTEM SET fsync = off');
    await client.query('ALTER SYSTEM SET max_connections = 300');
    await client.query('SELECT pg_reload_conf()');
  });
  return url;
}

async function withClient(url: URL, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
